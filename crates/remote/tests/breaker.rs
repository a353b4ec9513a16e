//! The circuit breaker.

use polycache_remote::{Breaker, Fault, Permit};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_millis(250);

fn ms(number: u64) -> Duration {
    Duration::from_millis(number)
}

/// A breaker that five faults have opened at 0 ms, for 500 ms.
fn open() -> Breaker {
    let breaker = Breaker::default();
    for _ in 0..5 {
        assert_eq!(breaker.ask(ms(0), TIMEOUT), Permit::Send);
        breaker.tell(Err(Fault::Unreachable), ms(0), 0);
    }
    breaker
}

#[test]
fn five_faults_in_a_row_open_it() {
    let breaker = Breaker::default();
    for outcome in [Err(Fault::Unreachable), Err(Fault::Unavailable), Ok(())].repeat(4) {
        breaker.tell(outcome, ms(0), 0);
    }
    assert_eq!(breaker.ask(ms(0), TIMEOUT), Permit::Send);
    assert!(open().is_open());
}

#[test]
fn errors_of_a_command_alone_do_not_count() {
    let breaker = Breaker::default();
    for _ in 0..50 {
        breaker.tell(Err(Fault::Refused), ms(0), 0);
    }
    assert!(!breaker.is_open());
}

#[test]
fn while_it_is_open_one_command_at_a_time_is_a_trial() {
    let breaker = open();
    assert_eq!(breaker.ask(ms(499), TIMEOUT), Permit::Refused);
    assert_eq!(breaker.ask(ms(500), TIMEOUT), Permit::Trial);
    assert_eq!(breaker.ask(ms(501), TIMEOUT), Permit::Refused);
    breaker.tell(Ok(()), ms(510), 0);
    assert_eq!(breaker.ask(ms(510), TIMEOUT), Permit::Send);
}

#[test]
fn a_trial_whose_caller_is_gone_does_not_keep_it_open() {
    let breaker = open();
    assert_eq!(breaker.ask(ms(500), TIMEOUT), Permit::Trial);
    assert_eq!(breaker.ask(ms(749), TIMEOUT), Permit::Refused);
    assert_eq!(breaker.ask(ms(750), TIMEOUT), Permit::Trial);
}

#[test]
fn each_failed_trial_doubles_the_pause_up_to_eight_seconds() {
    let breaker = open();
    let mut now = ms(500);
    for pause in [1000, 2000, 4000, 8000, 8000] {
        assert_eq!(breaker.ask(now, TIMEOUT), Permit::Trial);
        breaker.tell(Err(Fault::Unreachable), now, 0);
        assert_eq!(breaker.ask(now + ms(pause - 1), TIMEOUT), Permit::Refused);
        now += ms(pause);
    }
}

#[test]
fn faults_of_commands_that_were_under_way_prolong_nothing() {
    let breaker = open();
    for _ in 0..10 {
        breaker.tell(Err(Fault::Unreachable), ms(250), 0);
    }
    assert_eq!(breaker.ask(ms(500), TIMEOUT), Permit::Trial);
}

#[test]
fn handles_come_back_at_different_times() {
    let breaker = Breaker::default();
    for _ in 0..5 {
        breaker.tell(Err(Fault::Unreachable), ms(0), 1023);
    }
    assert_eq!(breaker.ask(ms(374), TIMEOUT), Permit::Refused);
    assert_eq!(breaker.ask(ms(376), TIMEOUT), Permit::Trial);
}
