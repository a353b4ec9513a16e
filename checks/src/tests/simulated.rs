//! A map with evictions and loads, whose operations are observed through windows of random length: all
//! it does is coherent, unless a fault is planted in it.

use super::hand::{Hand, OWN, ROOT};
use fastrand::Rng;

/// Ways to be incoherent.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    /// Reads return the value before the last.
    OldRead,
    /// A delete returns and the value stays.
    DeleteIgnored,
    /// A clear returns and the value stays.
    ClearIgnored,
    /// A set returns and nothing is stored.
    SetIgnored,
    /// Evictions are not counted.
    EvictionUncounted,
    /// A load stores its value though a set or delete came between.
    LoadNotInvalidated,
    /// A read misses what is there.
    FalseMiss,
}

/// The history of one key, and the evictions that were counted.
fn simulate(random: &mut Rng, fault: Fault) -> (Hand, u64) {
    let mut hand = Hand::new();
    let (mut held, mut before) = (0, 0);
    let mut evictions = 0;
    let mut values = 0;
    let mut begun = [0; 4];
    for round in 1..80 {
        let now = round * 10;
        // A worker's operation begins after its last one ended, and takes effect now.
        let worker = random.usize(..begun.len());
        let window = |random: &mut Rng| {
            let begin = random.u64(now - 30.min(now)..=now).max(begun[worker]);
            begin..now + random.u64(1..30)
        };
        if begun[worker] >= now {
            continue;
        }
        let at = window(random);
        begun[worker] = at.end + 1;
        let number = worker as u16 + 1;
        let faulty = random.bool();
        match random.u8(..12) {
            0..5 => {
                let given = match fault {
                    Fault::OldRead if faulty => before,
                    Fault::FalseMiss if faulty => 0,
                    _ => held,
                };
                hand = match given {
                    0 => hand.miss(number, at),
                    value => hand.read(number, value, at),
                };
            }
            5..7 => {
                values += 1;
                hand = hand.set(number, values, at);
                if fault != Fault::SetIgnored || !faulty {
                    (before, held) = (held, values);
                }
            }
            7 => {
                hand = hand.clear(number, if random.bool() { OWN } else { ROOT }, at);
                if fault != Fault::ClearIgnored || !faulty {
                    held = 0;
                }
            }
            8 => {
                hand = hand.delete(number, at);
                if fault != Fault::DeleteIgnored || !faulty {
                    held = 0;
                }
            }
            9 => {
                evictions += u64::from(held != 0 && fault != Fault::EvictionUncounted);
                held = 0;
            }
            _ if held != 0 => hand = hand.read(number, held, at),
            _ => {
                values += 1;
                let invalidated = random.bool();
                hand = hand.load(number, values, at.start, now..now + 5);
                if invalidated {
                    hand = hand.delete(9, now + 1..now + 3);
                }
                begun[worker] = now + 6;
                if !invalidated || fault == Fault::LoadNotInvalidated {
                    held = values;
                }
            }
        }
    }
    (hand, evictions)
}

fn is_sound(random: &mut Rng, fault: Fault) -> bool {
    let (hand, evictions) = simulate(random, fault);
    let judged = hand.judged();
    judged.violations.is_empty() && judged.needed_evictions <= evictions
}

#[test]
fn what_a_coherent_cache_does_is_sound() {
    let mut random = Rng::with_seed(1);
    for round in 0..5_000 {
        let (hand, evictions) = simulate(&mut random, Fault::None);
        let judged = hand.judged();
        assert!(
            judged.violations.is_empty(),
            "round {round}: {:?}",
            judged.violations
        );
        assert!(judged.needed_evictions <= evictions, "round {round}");
    }
}

#[test]
fn every_fault_is_found() {
    let mut random = Rng::with_seed(2);
    for fault in [
        Fault::OldRead,
        Fault::DeleteIgnored,
        Fault::ClearIgnored,
        Fault::SetIgnored,
        Fault::EvictionUncounted,
        Fault::LoadNotInvalidated,
        Fault::FalseMiss,
    ] {
        let found = (0..500).filter(|_| !is_sound(&mut random, fault)).count();
        // One key and at most eighty operations each; a run has millions.
        assert!(found > 100, "{fault:?}: found in {found} of 500 histories");
    }
}
