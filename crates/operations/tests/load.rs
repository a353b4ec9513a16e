//! The state machine of a load, over tiers of one key that the test controls.

use polycache_operations::{Bounds, Done, Event, Holder, Lease, Leases, Load, Step};
use std::time::Duration;

/// One key. A fence is the number of the lease that it fills.
#[derive(Default)]
struct Key {
    value: Option<Vec<u8>>,
    lease: Option<u64>,
    last: u64,
    overdue: bool,
    full: bool,
    died: Option<u64>,
}

impl Key {
    fn holder(&self) -> Option<Holder> {
        self.lease.map(|word| Holder { slot: 0, word })
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Fence {
    lease: u64,
    beside: bool,
}

impl Leases for Key {
    type Fence = Fence;
    type Error = &'static str;

    fn lease(&mut self) -> Result<Lease<Fence>, &'static str> {
        if self.value.is_some() {
            return Ok(Lease::Hit);
        }
        if self.full {
            return Ok(Lease::Bypass);
        }
        if let Some(holder) = self.holder() {
            let overdue = self.overdue;
            return Ok(Lease::Busy { holder, overdue });
        }
        self.last += 1;
        self.lease = Some(self.last);
        Ok(Lease::Acquired(Fence {
            lease: self.last,
            beside: false,
        }))
    }

    fn beside(&mut self, holder: Holder) -> Result<Option<Fence>, &'static str> {
        let stands = self.holder() == Some(holder);
        Ok(stands.then_some(Fence {
            lease: holder.word,
            beside: true,
        }))
    }

    fn has_inherited(&self, from: Holder, _: Holder) -> bool {
        self.died == Some(from.word)
    }

    fn fill(&mut self, fence: Fence, entry: &[u8]) -> Result<bool, &'static str> {
        let stands = self.lease == Some(fence.lease);
        if entry == b"too large" {
            self.release(fence);
            return Err("too large");
        }
        if stands {
            self.lease = None;
            self.value = Some(entry.to_vec());
        }
        Ok(stands)
    }

    fn release(&mut self, fence: Fence) {
        if self.lease == Some(fence.lease) && !fence.beside {
            self.lease = None;
        }
    }
}

const WAIT: Duration = Duration::from_secs(60);

fn load() -> Load<Fence> {
    Load::new(Bounds { wait_timeout: WAIT }, Duration::ZERO)
}

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Another caller that holds the lease.
fn holder(key: &mut Key) -> Load<Fence> {
    let mut first = load();
    assert_eq!(first.step(key, Event::Start, ms(0)), Ok(Step::Load));
    first
}

fn waits(step: Result<Step, &'static str>) -> bool {
    matches!(step, Ok(Step::Wait { .. }))
}

#[test]
fn the_first_loads_and_the_next_finds() {
    let mut key = Key::default();
    let mut first = holder(&mut key);
    assert!(first.fence().is_some() && !first.is_waiting());
    let filled = first.step(&mut key, Event::Loaded(b"v"), ms(5));
    assert_eq!(filled, Ok(Step::Done(Done::Filled)));
    let found = load().step(&mut key, Event::Start, ms(6));
    assert_eq!(found, Ok(Step::Done(Done::Hit)));
}

#[test]
fn waiting_backs_off_and_ends_at_its_bound() {
    let mut key = Key::default();
    let _first = holder(&mut key);
    let mut second = load();
    let mut now = Duration::ZERO;
    let mut steps = 0;
    loop {
        match second.step(&mut key, Event::Woken, now).unwrap() {
            Step::Wait { until, .. } => {
                let pause = until - now;
                assert!(pause <= ms(20) && until <= WAIT, "{pause:?}");
                now = until;
                steps += 1;
            }
            done => {
                assert_eq!((done, now), (Step::Done(Done::TimedOut), WAIT));
                break;
            }
        }
    }
    // Every 20 ms, except at the beginning.
    assert!((3000..3100).contains(&steps), "{steps}");
}

#[test]
fn whoever_waited_through_a_failed_load_does_not_wait_for_the_next() {
    let mut key = Key::default();
    let mut first = holder(&mut key);
    let (mut second, mut third) = (load(), load());
    assert!(waits(second.step(&mut key, Event::Start, ms(0))));
    assert!(waits(third.step(&mut key, Event::Start, ms(0))));
    let failed = first.step(&mut key, Event::Failed, ms(500));
    assert_eq!(failed, Ok(Step::Done(Done::Released)));
    assert_eq!(second.step(&mut key, Event::Woken, ms(510)), Ok(Step::Load));
    // Beside the second.
    assert_eq!(third.step(&mut key, Event::Woken, ms(520)), Ok(Step::Load));
    assert!(third.fence().unwrap().beside);
    // One that comes now waits.
    assert!(waits(load().step(&mut key, Event::Start, ms(520))));
    // The one beside fails, and takes nothing from the holder.
    assert_eq!(
        third.step(&mut key, Event::Failed, ms(600)),
        Ok(Step::Done(Done::Released))
    );
    let filled = second.step(&mut key, Event::Loaded(b"v"), ms(700));
    assert_eq!(filled, Ok(Step::Done(Done::Filled)));
}

#[test]
fn the_successor_of_one_that_died_is_waited_for() {
    let mut key = Key::default();
    let _died = holder(&mut key);
    let (mut second, mut third) = (load(), load());
    assert!(waits(second.step(&mut key, Event::Start, ms(0))));
    assert!(waits(third.step(&mut key, Event::Start, ms(0))));
    key.died = key.lease.take();
    assert_eq!(second.step(&mut key, Event::Woken, ms(1)), Ok(Step::Load));
    assert!(waits(third.step(&mut key, Event::Woken, ms(2))));
    // Its failure counts again.
    let failed = second.step(&mut key, Event::Failed, ms(3));
    assert_eq!(failed, Ok(Step::Done(Done::Released)));
    assert!(load().step(&mut key, Event::Start, ms(4)).is_ok());
    assert_eq!(third.step(&mut key, Event::Woken, ms(5)), Ok(Step::Load));
}

#[test]
fn beside_an_overdue_load_the_first_to_end_fills() {
    let mut key = Key::default();
    let mut first = holder(&mut key);
    let mut second = load();
    assert!(waits(second.step(&mut key, Event::Start, ms(0))));
    key.overdue = true;
    assert_eq!(
        second.step(&mut key, Event::Woken, ms(1000)),
        Ok(Step::Load)
    );
    let filled = first.step(&mut key, Event::Loaded(b"slow"), ms(1500));
    assert_eq!(filled, Ok(Step::Done(Done::Filled)));
    let refused = second.step(&mut key, Event::Loaded(b"beside"), ms(2500));
    assert_eq!(refused, Ok(Step::Done(Done::Refused)));
    assert_eq!(key.value.as_deref(), Some(&b"slow"[..]));
}

#[test]
fn a_write_refuses_both() {
    let mut key = Key::default();
    let mut first = holder(&mut key);
    key.overdue = true;
    let mut second = load();
    assert_eq!(second.step(&mut key, Event::Start, ms(0)), Ok(Step::Load));
    key.lease = None; // Deleted.
    for load in [&mut first, &mut second] {
        let refused = load.step(&mut key, Event::Loaded(b"old"), ms(1));
        assert_eq!(refused, Ok(Step::Done(Done::Refused)));
    }
}

#[test]
fn without_room_for_a_lease_nothing_is_stored() {
    let mut key = Key {
        full: true,
        ..Key::default()
    };
    let mut load = load();
    assert_eq!(load.step(&mut key, Event::Start, ms(0)), Ok(Step::Load));
    assert!(load.fence().is_none() && !load.is_waiting());
    let done = load.step(&mut key, Event::Loaded(b"v"), ms(1));
    assert_eq!(done, Ok(Step::Done(Done::Unstored)));
}

#[test]
fn what_cannot_be_stored_frees_the_lease() {
    for event in [
        Event::Unstorable,
        Event::Cancelled,
        Event::Loaded(b"too large"),
    ] {
        let mut key = Key::default();
        let mut first = holder(&mut key);
        let _ = first.step(&mut key, event, ms(1));
        assert_eq!(key.lease, None, "{event:?}");
        // Whatever it is told now, it is over.
        let over = first.step(&mut key, Event::Woken, ms(2));
        assert_eq!(over, Ok(Step::Done(Done::Released)));
    }
}
