//! The listener step by step: when all copies are cleared, and when V moves.

use polycache_remote::{proof_of, Act, Heard, Listener, Map, Node, Prefixes, RemoteName};
use std::time::Duration;

const ARMING: u64 = 1;

fn ms(number: u64) -> Duration {
    Duration::from_millis(number)
}

fn map(names: &[&str]) -> Map {
    Map {
        nodes: names.iter().map(|name| Node::single(name)).collect(),
    }
}

/// A listener that was told of these primaries.
fn told(names: &[&str]) -> Listener {
    let mut listener = Listener::new(RemoteName::new("p"), 7, ms(1000), 1);
    let acts = listener.step(Heard::Woken, ms(0));
    assert!(acts.contains(&Act::AskMap));
    let acts = listener.step(Heard::Map(Some(map(names))), ms(1));
    let prefixes = vec![b"p:".to_vec(), b"p%0000000000000007:".to_vec()];
    assert!(acts.contains(&Act::Listen {
        arming: ARMING,
        map: map(names),
        prefixes
    }));
    listener
}

/// A listener that is armed, at 2 ms; with what it did then.
fn armed(names: &[&str]) -> (Listener, Vec<Act>) {
    let mut listener = told(names);
    let mut acts = Vec::new();
    for node in 0..names.len() {
        let arming = ARMING;
        acts = listener.step(Heard::Armed { arming, node }, ms(2));
    }
    (listener, acts)
}

/// The beacons among acts.
fn beacons(acts: &[Act]) -> Vec<Vec<u8>> {
    let sent = acts.iter().filter_map(|act| match act {
        Act::Send(command) => Some(command.key.to_vec()),
        _ => None,
    });
    sent.collect()
}

fn pushed(node: usize, key: Vec<u8>) -> Heard {
    Heard::Pushed {
        arming: ARMING,
        node,
        keys: Some(vec![key]),
    }
}

fn moved(acts: &[Act]) -> Option<Duration> {
    acts.iter().find_map(|act| match act {
        Act::MoveTo(time) => Some(*time),
        _ => None,
    })
}

#[test]
fn copies_are_cleared_once_every_primary_is_armed() {
    let mut listener = told(&["a", "b"]);
    let arming = ARMING;
    let acts = listener.step(Heard::Armed { arming, node: 0 }, ms(2));
    assert!(!acts.contains(&Act::ClearAll));
    let acts = listener.step(Heard::Armed { arming, node: 1 }, ms(2));
    let clear = acts.iter().position(|act| *act == Act::ClearAll);
    let first = acts.iter().position(|act| matches!(act, Act::Send(_)));
    assert!(clear.is_some() && clear < first, "{acts:?}");
    assert_eq!(beacons(&acts).len(), 2);
}

#[test]
fn v_moves_to_when_the_round_began_after_two_beacons_at_each_primary() {
    let (mut listener, acts) = armed(&["a", "b"]);
    let first = beacons(&acts);
    let second = beacons(&listener.step(pushed(0, first[0].clone()), ms(3)));
    assert_eq!(second.len(), 1);
    assert!(!listener
        .step(pushed(0, second[0].clone()), ms(4))
        .contains(&Act::AskMap));
    let third = beacons(&listener.step(pushed(1, first[1].clone()), ms(5)));
    let acts = listener.step(pushed(1, third[0].clone()), ms(6));
    assert!(acts.contains(&Act::AskMap));
    assert_eq!(moved(&acts), None);
    let acts = listener.step(Heard::Map(Some(map(&["a", "b"]))), ms(7));
    assert_eq!(moved(&acts), Some(ms(2)));
}

#[test]
fn a_beacon_counts_at_its_own_primary_and_once() {
    let (mut listener, acts) = armed(&["a", "b"]);
    let first = beacons(&acts);
    assert!(beacons(&listener.step(pushed(1, first[0].clone()), ms(3))).is_empty());
    assert_eq!(
        beacons(&listener.step(pushed(0, first[0].clone()), ms(3))).len(),
        1
    );
    assert!(beacons(&listener.step(pushed(0, first[0].clone()), ms(3))).is_empty());
}

/// Hears a whole round of the only primary; what it did when it was told of this map.
fn round(then: Option<Map>) -> Vec<Act> {
    let (mut listener, acts) = armed(&["a"]);
    let second = beacons(&listener.step(pushed(0, beacons(&acts)[0].clone()), ms(3)));
    listener.step(pushed(0, second[0].clone()), ms(4));
    listener.step(Heard::Map(then), ms(5))
}

#[test]
fn v_stands_still_while_slots_move_and_all_is_armed_again_when_they_have() {
    assert_eq!(moved(&round(Some(map(&["a"])))), Some(ms(2)));
    let acts = round(None);
    assert_eq!((moved(&acts), acts.contains(&Act::End)), (None, false));
    let acts = round(Some(map(&["c"])));
    assert_eq!((moved(&acts), acts.contains(&Act::End)), (None, true));
}

#[test]
fn a_silent_connection_is_given_up_after_the_staleness() {
    let (mut listener, _) = armed(&["a"]);
    assert!(!listener.step(Heard::Woken, ms(1001)).contains(&Act::End));
    let acts = listener.step(Heard::Woken, ms(1002));
    assert!(acts.contains(&Act::End) && acts.contains(&Act::AskMap));
}

#[test]
fn an_attempt_that_fails_at_once_is_repeated_after_a_pause() {
    let asks = |acts: Vec<Act>| acts.contains(&Act::AskMap);
    let mut listener = told(&["a"]);
    let arming = ARMING;
    assert!(!asks(listener.step(Heard::Ended { arming }, ms(2))));
    assert!(!asks(listener.step(Heard::Woken, ms(251))));
    assert!(asks(listener.step(Heard::Woken, ms(252))));
    // A connection that was armed is replaced at once.
    let (mut listener, _) = armed(&["a"]);
    assert!(asks(listener.step(Heard::Ended { arming }, ms(3))));
}

#[test]
fn what_an_earlier_arming_pushes_is_not_heard() {
    let (mut listener, acts) = armed(&["a"]);
    let acts_of_end = listener.step(Heard::Ended { arming: ARMING }, ms(3));
    assert!(acts_of_end.contains(&Act::End));
    assert!(beacons(&listener.step(pushed(0, beacons(&acts)[0].clone()), ms(4))).is_empty());
}

#[test]
fn pushes_void_what_they_name() {
    let (mut listener, _) = armed(&["a"]);
    let mut push = |keys: Option<&[&str]>| {
        let keys = keys.map(|keys| keys.iter().map(|key| key.as_bytes().to_vec()).collect());
        let (arming, node) = (ARMING, 0);
        listener.step(Heard::Pushed { arming, node, keys }, ms(3))
    };
    let acts = push(Some(&[
        "p:a::k",
        "p:%clock",
        "p:%floor:a::",
        "p:%id",
        "other:a::k",
    ]));
    assert!(acts.starts_with(&[
        Act::Void(b"a::k".to_vec()),
        Act::VoidClock,
        Act::Clear(b"a::".to_vec()),
        Act::AskIdentity
    ]));
    assert!(push(None).starts_with(&[Act::ClearAll, Act::AskIdentity]));
}

fn prefixes(all: &[&str]) -> Prefixes {
    all.iter().map(|one| one.as_bytes().to_vec()).collect()
}

/// A listener that is armed for cached reads of these keys; what it asked for, and what it did then.
fn armed_for(wanted: &[&str]) -> (Listener, Vec<Vec<u8>>, Vec<Act>) {
    let mut listener = Listener::new(RemoteName::new("p"), 7, ms(1000), 1);
    let _ = listener.step(Heard::Wanted(prefixes(wanted)), ms(0));
    let acts = listener.step(Heard::Map(Some(map(&["one"]))), ms(1));
    let asked = acts.iter().find_map(|act| match act {
        Act::Listen { prefixes, .. } => Some(prefixes.clone()),
        _ => None,
    });
    let acts = listener.step(Heard::Armed { arming: 1, node: 0 }, ms(2));
    (listener, asked.expect("it listens"), acts)
}

fn told_mark(acts: &[Act]) -> Option<u64> {
    acts.iter().find_map(|act| match act {
        Act::TellArmed { mark, .. } => Some(*mark),
        _ => None,
    })
}

#[test]
fn no_prefix_that_is_asked_for_begins_with_another() {
    let own = ["p%0000000000000007:", "p:"];
    let (_, asked, _) = armed_for(&["a", "ab", "p:shop"]);
    assert_eq!(
        asked,
        ["a", own[0], own[1]].map(|one| one.as_bytes().to_vec())
    );
    let (_, asked, _) = armed_for(&[""]);
    assert_eq!(asked, [b"".to_vec()]);
}

#[test]
fn the_arming_is_told_after_all_copies_were_cleared_with_its_proof() {
    let (mut listener, _, acts) = armed_for(&["a"]);
    let cleared = acts.iter().position(|act| *act == Act::ClearAll);
    let told = acts
        .iter()
        .position(|act| matches!(act, Act::TellArmed { .. }));
    assert!(cleared.expect("cleared") < told.expect("told"));
    let mark = told_mark(&acts).expect("told");
    let proof = acts.iter().any(|act| match act {
        Act::Send(command) => command.args.first() == Some(&proof_of(mark).into()),
        _ => false,
    });
    assert!(proof);
    // FLUSHALL takes it away.
    let all = Heard::Pushed {
        arming: 1,
        node: 0,
        keys: None,
    };
    let again = told_mark(&listener.step(all, ms(3)));
    assert!(again.is_some() && again != Some(mark));
}

#[test]
fn a_push_removes_the_guard_of_any_key_but_those_of_remote_tiers() {
    let (mut listener, ..) = armed_for(&[""]);
    let acts = listener.step(pushed(0, b"a".to_vec()), ms(3));
    assert!(acts.contains(&Act::VoidGuard(b"a".to_vec())));
    let acts = listener.step(pushed(0, b"p:::k".to_vec()), ms(3));
    assert!(acts.contains(&Act::VoidGuard(b"p:::k".to_vec())));
    assert!(acts.contains(&Act::Void(b"::k".to_vec())));
    let acts = listener.step(pushed(0, b"p%0000000000000009:{0}1".to_vec()), ms(3));
    assert!(!acts.iter().any(|act| matches!(act, Act::VoidGuard(_))));
}

#[test]
fn other_keys_are_heard_of_by_arming_again() {
    let (mut listener, ..) = armed_for(&["a"]);
    let acts = listener.step(Heard::Wanted(prefixes(&["a"])), ms(3));
    assert!(!acts.contains(&Act::End));
    let acts = listener.step(Heard::Wanted(prefixes(&["a", "b"])), ms(4));
    assert!(acts.contains(&Act::End) && acts.contains(&Act::AskMap));
}
