//! Every access at which a process that writes large values may be killed.

use super::{long, Process, BLOCKS};
use crate::block::Appender;
use crate::layout::header;
use crate::tests::kills::print_no_kills;
use crate::tests::memory::{Killable, Killed, Plain};
use crate::tests::setup::{engine, enter, World};
use std::panic::{catch_unwind, AssertUnwindSafe};

/// What the killed process does, and which values of `::k` were acknowledged.
type Work = fn(&mut Process<Killable>, &mut Vec<Option<String>>);

/// Kills a process at each of its accesses in turn. Then `::k` has the last acknowledged value or a later one, its
/// neighbour is untouched, and no block is lost: values of a quarter of all blocks still find room, four at a time.
fn kill_everywhere(work: Work) {
    print_no_kills();
    let mut accesses = 0;
    loop {
        let memory = Plain::new();
        let world = World::default();
        let join = |id| {
            let engine = engine(memory.clone(), BLOCKS, &world);
            let me = enter(&engine, id);
            Process {
                engine,
                me,
                appender: Appender::default(),
            }
        };
        let mut survivor = join(1);
        survivor.put("::s", &long("stays", 2));
        survivor.put("::k", &long("before", 3));
        (0..3).for_each(|_| drop(survivor.get("::s")));
        let me = enter(&survivor.engine, 2);
        let mut victim = Process {
            engine: engine(Killable::new(memory.clone(), accesses), BLOCKS, &world),
            me,
            appender: Appender::default(),
        };
        let mut acknowledged = vec![Some(long("before", 3))];
        let outcome = catch_unwind(AssertUnwindSafe(|| work(&mut victim, &mut acknowledged)));
        world.dies(2);
        let killed = matches!(&outcome, Err(payload) if payload.is::<Killed>());
        assert!(killed || outcome.is_ok(), "after {accesses} accesses");
        let damaged = survivor.engine.check().damaged;
        assert_eq!(damaged, Vec::<String>::new(), "after {accesses}");
        let found = survivor.get("::k");
        let last = acknowledged.last().unwrap();
        let is_later = found
            .as_ref()
            .is_some_and(|value| value.starts_with("after"));
        assert!(
            found == *last || is_later || found.is_none(),
            "after {accesses}: {found:?}"
        );
        if found.is_none() {
            let evicted = survivor.count(header::EVICTED_BY_AGE) > 0;
            assert!(
                killed || evicted,
                "after {accesses}: an acknowledged value was lost"
            );
        }
        assert_eq!(
            survivor.get("::s"),
            Some(long("stays", 2)),
            "after {accesses}"
        );
        // Four values of three blocks fit beside each other, and each set finds the room of the last one.
        for round in 0..12 {
            let key = format!("::{}", round % 4);
            survivor.put(&key, &long(&format!("round {round}"), 3));
            let read = survivor.get(&key);
            assert_eq!(
                read,
                Some(long(&format!("round {round}"), 3)),
                "after {accesses}"
            );
        }
        let damaged = survivor.engine.check().damaged;
        assert_eq!(damaged, Vec::<String>::new(), "after {accesses}");
        // Nothing is held or forgotten: when all is deleted, every block can be had.
        for key in ["::s", "::k", "::l", "::0", "::1", "::2", "::3"] {
            survivor.delete(key);
        }
        let evicted = survivor.count(header::EVICTED_BY_AGE);
        let count = BLOCKS / 4 - 1;
        for key in 0..count {
            survivor.put(&format!("::{key}"), &long("a", 4));
        }
        for key in 0..count {
            let read = survivor.get(&format!("::{key}"));
            assert_eq!(read, Some(long("a", 4)), "after {accesses}: {key}");
        }
        assert_eq!(
            survivor.count(header::EVICTED_BY_AGE),
            evicted,
            "after {accesses}"
        );
        if !killed {
            assert!(accesses > 100, "the work was not interrupted in the middle");
            return;
        }
        accesses += 1;
    }
}

#[test]
fn killed_while_putting() {
    kill_everywhere(|process, acknowledged| {
        process.put("::k", &long("after", 4));
        acknowledged.push(Some(long("after", 4)));
        process.put("::l", &long("a new key", 2));
        process.put("::k", &long("after that", 2));
        acknowledged.push(Some(long("after that", 2)));
    });
}

#[test]
fn killed_while_touching_and_deleting() {
    kill_everywhere(|process, acknowledged| {
        assert!(process.touch("::k", 2_000_000));
        assert!(process.touch("::k", 3_000_000));
        process.delete("::k");
        acknowledged.push(None);
        process.put("::k", &long("after", 3));
        acknowledged.push(Some(long("after", 3)));
    });
}

#[test]
fn killed_while_cleaning() {
    kill_everywhere(|process, acknowledged| {
        for round in 0..3 {
            for _ in 0..3 {
                process.get("::s");
            }
            process.put("::k", &long(&format!("after {round}"), 4));
            acknowledged.push(Some(long(&format!("after {round}"), 4)));
        }
    });
}
