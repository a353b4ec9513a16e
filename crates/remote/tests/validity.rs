//! V and who leads.

use polycache_remote::{Board, BoardWords, Judged, Validity};
use std::sync::atomic::AtomicU64;
use std::time::Duration;

fn board(all: &[BoardWords], identity: u64, now: Duration) -> Option<Board<'_>> {
    let place = Board::find(all.iter(), identity, now)?;
    Some(Board::new(&all[place], identity))
}

const D: Duration = Duration::from_millis(100);

fn ms(number: u64) -> Duration {
    Duration::from_millis(number)
}

#[test]
fn copies_are_fresh_for_the_staleness() {
    let word = AtomicU64::new(0);
    let validity = Validity::new(&word);
    assert_eq!(validity.judge(), Judged::NEVER);
    assert!(!Judged::NEVER.is_fresh(ms(0), D));
    assert!(validity.move_to(0, ms(500)));
    let judged = validity.judge();
    assert!(judged.is_fresh(ms(500), D) && judged.is_fresh(ms(600), D));
    assert!(!judged.is_fresh(ms(601), D));
    // Another boot's.
    assert!(!judged.is_fresh(ms(499), D));
}

#[test]
fn what_was_judged_before_stays_as_it_was() {
    let word = AtomicU64::new(0);
    let validity = Validity::new(&word);
    validity.move_to(0, ms(500));
    let judged = validity.judge();
    validity.move_to(0, ms(900));
    assert!(!judged.is_fresh(ms(900), D));
}

#[test]
fn a_leader_of_an_earlier_generation_changes_nothing() {
    let word = AtomicU64::new(0);
    let validity = Validity::new(&word);
    validity.move_to(0, ms(500));
    assert_eq!(validity.take_over(0), Some(1));
    assert_eq!(validity.judge(), Judged::NEVER);
    assert!(!validity.move_to(0, ms(600)) && !validity.end(0));
    assert_eq!(validity.take_over(0), None);
    assert_eq!(validity.judge(), Judged::NEVER);
    assert!(validity.move_to(1, ms(700)));
    assert!(validity.judge().is_fresh(ms(700), D));
}

#[test]
fn a_leader_is_replaced_when_it_is_dead_or_was_not_seen() {
    let words = Default::default();
    let board = board(std::slice::from_ref(&words), 7, ms(0)).expect("it is free");
    let (all, none) = (|_| true, |_| false);
    let first = board.lead(1, ms(1000), all).expect("nobody leads");
    assert_eq!(board.lead(2, ms(1100), all), None);
    let second = board.lead(2, ms(1100), none).expect("it is dead");
    assert!(!board.see(first, ms(1101)) && board.see(second, ms(1200)));
    assert_eq!(board.lead(3, ms(1499), all), None);
    assert!(board.lead(3, ms(1500), all).is_some());
}

#[test]
fn a_leader_that_resigns_is_followed_at_once() {
    let words = Default::default();
    let board = board(std::slice::from_ref(&words), 7, ms(0)).expect("it is free");
    let mine = board.lead(1, ms(1000), |_| true).expect("nobody leads");
    board.resign(mine);
    assert!(board.lead(2, ms(1000), |_| true).is_some());
}

#[test]
fn each_database_has_its_board() {
    let words: [BoardWords; 2] = Default::default();
    let find = |identity, now| board(&words, identity, now);
    let first = find(7, ms(1000)).expect("it is free");
    find(8, ms(1000)).expect("it is free");
    first.lead(1, ms(1000), |_| true).expect("nobody leads");
    assert!(find(9, ms(2000)).is_none());
    let same = find(7, ms(2000)).expect("it is there");
    assert_eq!(same.lead(2, ms(1100), |_| true), None);
}

/// What a process judges that has not looked for a while.
#[test]
fn who_lost_its_board_serves_no_copy_and_leads_no_more() {
    let words: [BoardWords; 1] = Default::default();
    let find = |identity, now| board(&words, identity, now);
    let old = find(7, ms(1000)).expect("it is free");
    let led = old.lead(1, ms(1000), |_| true).expect("nobody leads");
    assert!(old.validity().move_to(led, ms(1000)));
    let later = ms(61_000);
    let new = find(8, later).expect("the first one was not used for long");
    assert_eq!(old.judge(), Judged::NEVER);
    assert!(!old.validity().move_to(led, later) && !old.see(led, later));
    assert_eq!(old.lead(1, later, |_| true), None);
    let mine = new
        .lead(2, later + ms(400), |_| true)
        .expect("nobody leads");
    assert!(new.validity().move_to(mine, later));
    assert_eq!(old.judge(), Judged::NEVER);
    assert!(new.judge().is_fresh(later, D));
}

#[test]
fn a_board_whose_database_is_gone_is_free_at_once() {
    let words: [BoardWords; 1] = Default::default();
    let old = board(&words, 7, ms(1000)).expect("it is free");
    let led = old.lead(1, ms(1000), |_| true).expect("nobody leads");
    assert!(old.validity().move_to(led, ms(1000)));
    old.abandon();
    assert_eq!(old.judge(), Judged::NEVER);
    // A beacon that was sent before a FLUSHALL is heard before it.
    assert!(!old.validity().move_to(led, ms(1001)) && !old.see(led, ms(1001)));
    assert!(board(&words, 8, ms(1001)).is_some());
    assert!(!old.is_mine());
}

#[test]
fn no_leader_stays_when_another_database_gets_a_board() {
    let words: [BoardWords; 3] = Default::default();
    let old = board(&words, 7, ms(1000)).expect("it is free");
    let led = old.lead(1, ms(1000), |_| true).expect("nobody leads");
    assert!(old.validity().move_to(led, ms(1000)));
    let new = board(&words, 8, ms(1001)).expect("another is free");
    assert_eq!(old.judge(), Judged::NEVER);
    assert!(!old.validity().move_to(led, ms(1002)) && !old.see(led, ms(1002)));
    // Who finds the board later ends nothing.
    let led = new.lead(1, ms(1002), |_| true).expect("nobody leads");
    board(&words, 8, ms(1003)).expect("it is there");
    assert!(new.see(led, ms(1003)));
}

#[test]
fn a_board_that_a_killed_process_left_half_changed_is_free() {
    let words: [BoardWords; 1] = Default::default();
    words[0][0].store(u64::MAX, std::sync::atomic::Ordering::SeqCst);
    assert!(board(&words, 7, ms(1)).is_some());
}
