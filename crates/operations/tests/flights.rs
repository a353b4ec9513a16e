//! Which caller joins which load of a process, and which callers are told the result.

use polycache_operations::{Flights, Joined, Landed, Leader, Part};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::task::{Poll, Wake, Waker};
use std::time::Duration;

type All = Flights<String, u32, &'static str, u64>;
const LEASE: Duration = Duration::from_secs(30);

#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn leads(all: &All, now: u64) -> Leader<String, u32, &'static str, u64> {
    match all.take_part("k".to_owned(), 1, at(now), LEASE, |fence, _| *fence != 0) {
        Part::Leads(leader) => leader,
        Part::Joins(_) => panic!("it joins"),
    }
}

fn joins(all: &All, now: u64) -> Joined<u32, &'static str, u64> {
    match all.take_part("k".to_owned(), 2, at(now), LEASE, |fence, _| *fence != 0) {
        Part::Joins(joined) => joined,
        Part::Leads(_) => panic!("it leads"),
    }
}

fn poll(joined: &mut Joined<u32, &'static str, u64>) -> Poll<Landed<u32, &'static str>> {
    joined.poll(&Waker::from(Arc::new(Woken::default())))
}

#[test]
fn all_who_joined_get_what_the_load_brings() {
    for landed in [
        Landed::Value(7),
        Landed::Failed("down"),
        Landed::Unshared,
        Landed::Absent,
        Landed::Nothing,
    ] {
        let all = All::default();
        let leader = leads(&all, 0);
        let woken = Arc::new(Woken::default());
        let mut waiting: Vec<_> = (0..100).map(|_| joins(&all, 1)).collect();
        for joined in &mut waiting {
            assert!(joined.poll(&Waker::from(woken.clone())).is_pending());
        }
        assert!(waiting[0].is_run_by(1) && !waiting[0].is_run_by(2));
        leader.lands(landed.clone(), false);
        assert_eq!(woken.0.load(Ordering::SeqCst), 100);
        for mut joined in waiting {
            assert_eq!(poll(&mut joined), Poll::Ready(landed.clone()));
        }
        assert_eq!(all.count(), 0);
        drop(leads(&all, 2));
    }
}

#[test]
fn a_leader_that_is_gone_leaves_the_key_to_those_who_joined() {
    let all = All::default();
    let leader = leads(&all, 0);
    let mut joined = joins(&all, 0);
    drop(leader);
    assert_eq!(poll(&mut joined), Poll::Ready(Landed::Nothing));
    leads(&all, 0).lands(Landed::Value(1), true);
}

#[test]
fn nobody_joins_a_load_that_is_not_open() {
    // Its fence is invalid, it has none, or its loader takes too long.
    for (fence, later) in [(Some(0), 1), (None, 1), (Some(5), 30)] {
        let all = All::default();
        let first = leads(&all, 0);
        drop(joins(&all, 29));
        first.loads(fence, at(0));
        let second = leads(&all, later);
        drop((first, second));
    }
    let all = All::default();
    let first = leads(&all, 0);
    first.loads(Some(5), at(10));
    assert_eq!(joins(&all, 39).patience(at(39), LEASE), at(40));
    drop(first);
}

#[test]
fn what_one_load_stores_is_looked_for_by_those_who_wait_for_another() {
    let all = All::default();
    let slow = leads(&all, 0);
    slow.loads(Some(5), at(0));
    let mut of_slow = joins(&all, 0);
    let beside = leads(&all, 30);
    beside.loads(Some(5), at(30));
    let mut of_beside = joins(&all, 31);
    let woken = Arc::new(Woken::default());
    assert!(of_beside.poll(&Waker::from(woken.clone())).is_pending());
    slow.lands(Landed::Value(1), true);
    assert_eq!(poll(&mut of_slow), Poll::Ready(Landed::Value(1)));
    // Without the value: it may have been set, deleted or cleared since, before this caller came.
    assert_eq!(woken.0.load(Ordering::SeqCst), 1);
    assert_eq!(poll(&mut of_beside), Poll::Ready(Landed::Nothing));
    // If it finds nothing it joins again, and is not told of that value a second time.
    let mut again = joins(&all, 31);
    assert!(poll(&mut again).is_pending());
    beside.lands(Landed::Value(2), false);
    assert_eq!(poll(&mut again), Poll::Ready(Landed::Value(2)));
    assert_eq!(all.count(), 0);
}

#[test]
fn a_failure_is_told_to_those_only_who_joined_that_load() {
    let all = All::default();
    let slow = leads(&all, 0);
    slow.loads(Some(5), at(0));
    let mut of_slow = joins(&all, 0);
    let beside = leads(&all, 30);
    beside.lands(Landed::Failed("down"), false);
    assert!(poll(&mut of_slow).is_pending());
    slow.lands(Landed::Value(1), true);
    assert_eq!(poll(&mut of_slow), Poll::Ready(Landed::Value(1)));
}
