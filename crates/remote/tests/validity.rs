//! V and who leads.

use polycache_remote::{Board, Judged, Validity};
use std::time::Duration;

const D: Duration = Duration::from_millis(100);

fn ms(number: u64) -> Duration {
    Duration::from_millis(number)
}

#[test]
fn copies_are_fresh_for_the_staleness() {
    let validity = Validity::new();
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
    let validity = Validity::new();
    validity.move_to(0, ms(500));
    let judged = validity.judge();
    validity.move_to(0, ms(900));
    assert!(!judged.is_fresh(ms(900), D));
}

#[test]
fn a_leader_of_an_earlier_generation_changes_nothing() {
    let validity = Validity::new();
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
    let board = Board::default();
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
    let board = Board::default();
    let mine = board.lead(1, ms(1000), |_| true).expect("nobody leads");
    board.resign(mine);
    assert!(board.lead(2, ms(1000), |_| true).is_some());
}
