//! The judge: for every rule a history that breaks it, and one that nearly does.

use super::behind;
use super::history::History;
use super::judge::judge;
use crate::judge::Kind;
use crate::log::{Log, Op, Record};
use crate::value::{self, Serial};
use std::collections::BTreeMap;
use std::ops::Range;

/// How far a read may be behind, in these histories.
const BOUND: u64 = 100;

/// The key of all histories, and its namespace.
const KEY: u8 = 7;
const NAMESPACE: u8 = 3;

/// A worker of each host, a second one of the first, and a program that is of no host.
const HERE: u16 = 2;
const BESIDE: u16 = 4;
const THERE: u16 = 1;
const PLAIN: u16 = behind::NUMBER;

/// Values, each with the process that made it.
fn of(worker: u16, number: u32) -> Serial {
    value::serial(worker, number)
}

/// A history of one key, written down operation by operation.
#[derive(Default)]
struct Hand(BTreeMap<u16, Vec<Record>>);

impl Hand {
    fn new() -> Hand {
        Hand::default().add(0, Op::Bound, 0, begun(BOUND))
    }

    fn set(self, worker: u16, number: u32, at: Range<u64>) -> Hand {
        self.unanswered(worker, number, at.start)
            .add(worker, Op::SetDone, of(worker, number), at)
    }

    /// A set that was never acknowledged.
    fn unanswered(self, worker: u16, number: u32, begin: u64) -> Hand {
        self.add(worker, Op::Set, of(worker, number), begun(begin))
    }

    fn load(self, worker: u16, number: u32, at: Range<u64>) -> Hand {
        self.add(worker, Op::Load, of(worker, number), begun(at.start))
            .add(worker, Op::LoadDone, of(worker, number), at)
    }

    fn delete(self, worker: u16, at: Range<u64>) -> Hand {
        self.add(worker, Op::Delete, 0, begun(at.start))
            .add(worker, Op::DeleteDone, 0, at)
    }

    fn clear(self, worker: u16, at: Range<u64>) -> Hand {
        self.add_to(NAMESPACE, worker, Op::Clear, 0, begun(at.start))
            .add_to(NAMESPACE, worker, Op::ClearDone, 0, at)
    }

    /// What only the driver does.
    fn driver(self, op: Op, at: Range<u64>) -> Hand {
        self.add(0, op, 0, at)
    }

    fn read(self, worker: u16, value: Serial, at: Range<u64>) -> Hand {
        self.add(worker, Op::Read, value, at)
    }

    fn miss(self, worker: u16, at: Range<u64>) -> Hand {
        self.add(worker, Op::Read, 0, at)
    }

    fn add(self, worker: u16, op: Op, serial: Serial, at: Range<u64>) -> Hand {
        self.add_to(KEY, worker, op, serial, at)
    }

    fn add_to(mut self, key: u8, worker: u16, op: Op, serial: Serial, at: Range<u64>) -> Hand {
        self.0.entry(worker).or_default().push(Record {
            op,
            key,
            serial,
            begin: at.start,
            end: at.end,
        });
        self
    }

    fn history(&self) -> History {
        let logs = self.0.iter();
        let logs: Vec<Log> = logs
            .map(|(worker, records)| Log::of(*worker, records))
            .collect();
        History::of(&logs)
    }

    fn found(&self) -> Vec<Kind> {
        let judged = judge(&self.history());
        let kinds = judged.violations.iter().map(|found| found.kind);
        kinds.collect()
    }

    fn delays(&self) -> Vec<u64> {
        let judged = judge(&self.history());
        judged.delays.iter().map(|delay| delay.took).collect()
    }
}

/// The first host's value is superseded by the second one's at 40.
fn superseded() -> Hand {
    Hand::new().set(HERE, 1, 10..20).set(THERE, 2, 30..40)
}

#[test]
fn a_read_may_be_behind_another_host_by_the_bound() {
    let read = |at| superseded().read(HERE, of(HERE, 1), at).found();
    assert_eq!(read(140..150), []);
    assert_eq!(read(141..150), [Kind::Stale]);
}

#[test]
fn what_a_host_wrote_itself_it_reads_at_once() {
    let read = |at| superseded().read(THERE, of(HERE, 1), at).found();
    assert_eq!(read(40..50), []);
    assert_eq!(read(41..50), [Kind::Backwards]);
    let deleted = |worker| Hand::new().set(HERE, 1, 10..20).delete(worker, 30..40);
    let read = |history: Hand| history.read(BESIDE, of(HERE, 1), 41..50).found();
    assert_eq!(read(deleted(HERE)), [Kind::Backwards]);
    assert_eq!(read(deleted(THERE)), []);
}

#[test]
fn what_a_host_read_it_does_not_unread() {
    let seen = superseded().read(HERE, of(THERE, 2), 45..50);
    let again = |at| {
        let later = Hand(seen.0.clone()).read(BESIDE, of(HERE, 1), at);
        later.found()
    };
    assert_eq!(again(50..60), []);
    assert_eq!(again(51..60), [Kind::Backwards]);
    // The other host may be behind all the same.
    let behind = superseded()
        .read(THERE, of(THERE, 2), 45..50)
        .read(HERE, of(HERE, 1), 51..60);
    assert_eq!(behind.found(), []);
}

#[test]
fn a_read_is_as_good_as_an_acknowledgement() {
    let history = |read| {
        Hand::new()
            .set(HERE, 1, 10..20)
            .unanswered(THERE, 2, 30)
            .read(THERE, of(THERE, 2), 35..40)
            .read(HERE, of(HERE, 1), read)
    };
    assert_eq!(history(140..150).found(), []);
    assert_eq!(history(141..150).found(), [Kind::Stale]);
}

#[test]
fn writes_at_the_same_time_may_be_executed_in_either_order() {
    let history = Hand::new().set(HERE, 1, 10..35).set(THERE, 2, 30..40);
    let read = history.read(HERE, of(HERE, 1), 500..510);
    assert_eq!(read.found(), []);
    // Once the first was read before the second began, there is no doubt any more.
    let seen = read.read(HERE, of(HERE, 1), 20..25);
    assert_eq!(seen.found(), [Kind::Stale]);
}

#[test]
fn a_set_without_an_answer_shows_nothing_and_may_be_executed_late() {
    let history = Hand::new().set(HERE, 1, 10..20).unanswered(THERE, 2, 30);
    let read = history
        .read(HERE, of(HERE, 1), 500..510)
        .read(HERE, of(THERE, 2), 600..610);
    assert_eq!(read.found(), []);
}

#[test]
fn what_was_deleted_or_cleared_does_not_come_back_beyond_the_bound() {
    let set = || Hand::new().set(HERE, 1, 10..20);
    let read = |history: Hand, at| history.read(HERE, of(HERE, 1), at).found();
    assert_eq!(read(set().delete(THERE, 30..40), 140..150), []);
    assert_eq!(
        read(set().delete(THERE, 30..40), 141..150),
        [Kind::Undeleted]
    );
    assert_eq!(read(set().clear(THERE, 30..40), 140..150), []);
    assert_eq!(
        read(set().clear(THERE, 30..40), 141..150),
        [Kind::Uncleared]
    );
    let flush = |history: Hand| history.driver(Op::Flush, 30..40);
    assert_eq!(read(flush(set()), 140..150), []);
    assert_eq!(read(flush(set()), 141..150), [Kind::Uncleared]);
    // A set that may have come after it stays.
    assert_eq!(read(set().clear(THERE, 15..40), 500..510), []);
    assert_eq!(read(set().delete(THERE, 15..40), 500..510), []);
}

#[test]
fn a_write_during_a_load_wins() {
    let loaded = |begin| {
        Hand::new()
            .load(HERE, 1, begin..60)
            .delete(THERE, 30..40)
            .read(HERE, of(HERE, 1), 500..510)
    };
    assert_eq!(loaded(20).found(), [Kind::Undeleted]);
    assert_eq!(loaded(31).found(), []);
}

#[test]
fn a_failover_may_lose_what_was_written_shortly_before() {
    let history = |loss| {
        superseded()
            .driver(Op::Loss, loss)
            .read(THERE, of(HERE, 1), 500..510)
    };
    assert_eq!(history(35..60).found(), []);
    assert_eq!(history(20..30).found(), []);
    let stale = [Kind::Stale, Kind::Backwards];
    assert_eq!(history(41..60).found(), stale);
    assert_eq!(history(10..29).found(), stale);
}

#[test]
fn a_primary_that_was_stopped_must_not_give_old_values_when_it_goes_on() {
    // It stops at 30, its replica takes over, and it goes on between 60 and 70.
    let history = |write| {
        Hand::new()
            .set(HERE, 1, 10..20)
            .driver(Op::Loss, 25..30)
            .set(THERE, 2, write)
            .driver(Op::Loss, 60..70)
            .read(HERE, of(HERE, 1), 500..510)
    };
    assert_eq!(history(40..50).found(), [Kind::Stale]);
    // Which of the two executed these, nobody knows.
    assert_eq!(history(26..50).found(), []);
    assert_eq!(history(40..65).found(), []);
}

#[test]
fn reads_while_a_cluster_is_flushed_are_not_judged() {
    let read = |at| {
        Hand::new()
            .driver(Op::Unsteady, 490..600)
            .set(HERE, 1, 10..20)
            .clear(THERE, 30..40)
            .read(HERE, of(HERE, 1), at)
            .found()
    };
    assert_eq!(read(500..510), []);
    assert_eq!(read(480..485), [Kind::Uncleared]);
}

#[test]
fn another_programs_writes_count_as_another_hosts() {
    let history = |at| {
        Hand::new()
            .set(HERE, 1, 10..20)
            .set(PLAIN, 1, 30..40)
            .read(HERE, of(HERE, 1), at)
    };
    assert_eq!(history(140..150).found(), []);
    assert_eq!(history(141..150).found(), [Kind::Stale]);
}

#[test]
fn nothing_is_read_that_was_not_written() {
    let read = |at| {
        Hand::new()
            .set(THERE, 1, 30..40)
            .read(HERE, of(THERE, 1), at)
    };
    assert_eq!(read(20..30).found(), []);
    assert_eq!(read(20..29).found(), [Kind::Foreign]);
    let never = Hand::new().read(HERE, of(THERE, 1), 10..20);
    assert_eq!(never.found(), [Kind::Foreign]);
    let torn = Hand::new().add(HERE, Op::Foreign, 0, 10..20);
    assert_eq!(torn.found(), [Kind::Foreign]);
}

#[test]
fn garbage_is_read_only_where_somebody_left_it() {
    let read = |at| {
        Hand::new()
            .add(PLAIN, Op::Garbage, 0, begun(30))
            .add(PLAIN, Op::DeleteDone, 0, 30..40)
            .add(HERE, Op::Malformed, 0, at)
            .found()
    };
    assert_eq!(read(25..35), []);
    assert_eq!(read(20..29), [Kind::Foreign]);
}

#[test]
fn without_trouble_no_write_is_lost() {
    let set = || Hand::new().set(HERE, 1, 200..220);
    let missed = |history: Hand| history.miss(THERE, 230..240).found();
    assert_eq!(missed(set()), [Kind::Vanished]);
    assert_eq!(
        Hand::new()
            .set(HERE, 1, 200..231)
            .miss(THERE, 230..240)
            .found(),
        []
    );
    // What may have ended it, before the miss or beside the set.
    assert_eq!(missed(set().delete(THERE, 225..260)), []);
    assert_eq!(missed(set().delete(THERE, 190..210)), []);
    assert_eq!(missed(set().unanswered(THERE, 2, 190)), []);
    assert_eq!(missed(set().delete(THERE, 150..199)), [Kind::Vanished]);
    // A clear counts as later for as long as its floor may be unknown.
    assert_eq!(missed(set().clear(THERE, 90..101)), []);
    assert_eq!(missed(set().clear(THERE, 90..99)), [Kind::Vanished]);
    // With trouble, reads miss when the server does not answer.
    assert_eq!(missed(set().driver(Op::Trouble, 10..20)), []);
}

#[test]
fn delays_are_from_a_write_to_the_last_stale_read() {
    let history = superseded()
        .read(HERE, of(HERE, 1), 45..50)
        .read(HERE, of(HERE, 1), 70..80)
        .set(THERE, 3, 100..110);
    let mut delays = history.delays();
    delays.sort_unstable();
    assert_eq!(delays, [0, 30]);
}

/// Of what is logged before it is done.
fn begun(begin: u64) -> Range<u64> {
    begin..0
}
