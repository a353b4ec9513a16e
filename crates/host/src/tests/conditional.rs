//! Writes on a condition: of several adds one wins, no increment is lost, and no version comes back.

use super::memory::{Interleaved, Killable, Killed, Plain};
use super::setup::{engine, enter, entry, text, World};
use crate::block::Appender;
use crate::engine::{Engine, Key, Participant};
use crate::hash::key_hash;
use crate::layout::header;
use crate::lease::Lease;
use crate::read::Hit;
use crate::shared_memory::SharedMemory;
use shuttle::thread;
use std::collections::HashSet;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

const KEY: &[u8] = b"::k";
/// In a slot of the key's buckets.
const NEIGHBOUR: &[u8] = b"::n3";

/// One process, which may have several threads.
struct Process<M> {
    engine: Arc<Engine<M, World>>,
    me: Participant,
}

impl<M> Clone for Process<M> {
    fn clone(&self) -> Self {
        Process {
            engine: self.engine.clone(),
            me: self.me,
        }
    }
}

impl<M: SharedMemory> Process<M> {
    fn new(memory: M, blocks: u64, world: &World, id: u32) -> Process<M> {
        let engine = engine(memory, blocks, world);
        let me = enter(&engine, id);
        Process {
            engine: Arc::new(engine),
            me,
        }
    }

    fn key(&self) -> Key<'static> {
        self.engine.key(KEY)
    }

    fn floor(&self) -> impl Fn(u64) -> u64 + Copy + '_ {
        let root = key_hash(self.engine.seed, b"::").as_u64();
        move |_| self.engine.floor_of(&[root])
    }

    fn clear(&self) {
        let root = key_hash(self.engine.seed, b"::").as_u64();
        self.engine.raise_floor(root, root);
    }

    fn put(&self, appender: &mut Appender, key: &[u8], value: &str) {
        let key = self.engine.key(key);
        self.engine
            .put(appender, self.me, key, &entry(value))
            .unwrap();
    }

    fn add(&self, appender: &mut Appender, value: &str) -> bool {
        let entry = entry(value);
        self.engine
            .add(appender, self.me, self.key(), self.floor(), &entry)
            .unwrap()
    }

    fn read(&self) -> Option<(Hit, String)> {
        let mut out = Vec::new();
        let hit = self.engine.peek(self.key(), self.floor(), &mut out)?;
        Some((hit, text(&out)))
    }

    fn value(&self) -> Option<String> {
        self.read().map(|(_, value)| value)
    }

    fn replace(&self, appender: &mut Appender, hit: Hit, value: &str) -> bool {
        self.engine
            .replace(appender, self.me, self.key(), hit, &entry(value))
            .unwrap()
    }

    /// As the packages do it: over what was read, or by an add.
    fn increment(&self, appender: &mut Appender) -> u64 {
        loop {
            let read = self.read();
            let count: u64 = read.as_ref().map_or(0, |(_, text)| text.parse().unwrap());
            let sum = (count + 1).to_string();
            let stored = match read {
                Some((hit, _)) => self.replace(appender, hit, &sum),
                None => self.add(appender, &sum),
            };
            if stored {
                return count + 1;
            }
        }
    }

    fn compare_and_set(&self, appender: &mut Appender, version: u64, value: &str) -> bool {
        while let Some((hit, _)) = self.read() {
            match self.engine.version(self.key(), hit) {
                Some(there) if there != version => return false,
                Some(_) if self.replace(appender, hit, value) => return true,
                Some(_) | None => {}
            }
        }
        false
    }

    fn version(&self) -> u64 {
        loop {
            let (hit, _) = self.read().expect("an entry");
            if let Some(version) = self.engine.version(self.key(), hit) {
                return version;
            }
        }
    }
}

fn evictions(memory: &impl SharedMemory) -> u64 {
    memory.load(header::EVICTED_BY_AGE) + memory.load(header::EVICTED_BY_CONFLICT)
}

fn explore(iterations: usize, test: impl Fn() + Send + Sync + 'static) {
    let test = Arc::new(test);
    let random = test.clone();
    shuttle::check_random(move || random(), iterations);
    shuttle::check_pct(move || test(), iterations / 2, 3);
}

type Work<M, T> = Box<dyn FnOnce(Process<M>, &mut Appender) -> T + Send>;

/// Each piece of work runs in a thread of its own, in the process beside it.
fn run<M: SharedMemory + 'static, T: Send + 'static>(
    work: Vec<(&Process<M>, Work<M, T>)>,
) -> Vec<T> {
    let threads: Vec<_> = work
        .into_iter()
        .map(|(process, work)| {
            let process = process.clone();
            thread::spawn(move || work(process, &mut Appender::default()))
        })
        .collect();
    threads.into_iter().map(|it| it.join().unwrap()).collect()
}

#[test]
fn of_several_adds_one_wins() {
    explore(1500, || {
        let (memory, world) = (Interleaved::new(), World::default());
        let process = |id| Process::new(memory.clone(), 16, &world, id);
        let (first, second, third) = (process(1), process(2), process(3));
        // A neighbour that leaves makes the adders choose different slots.
        first.put(&mut Appender::default(), NEIGHBOUR, "neighbour");
        let won = run(vec![
            (
                &first,
                Box::new(|it: Process<_>, by: &mut _| it.add(by, "a")) as Work<_, bool>,
            ),
            (
                &second,
                Box::new(|it: Process<_>, by: &mut _| it.add(by, "b")),
            ),
            (
                &third,
                Box::new(|it: Process<_>, _: &mut _| {
                    it.engine.delete(it.engine.key(NEIGHBOUR));
                    false
                }),
            ),
        ]);
        let winner = if won[0] { "a" } else { "b" };
        assert_eq!(won.iter().filter(|won| **won).count(), 1, "{won:?}");
        assert_eq!(first.value().as_deref(), Some(winner));
        assert_eq!(first.engine.check().damaged, Vec::<String>::new());
    });
}

/// The entry stands until the clear. So an add that stored came after the clear, and is there.
#[test]
fn an_add_beside_a_clear_is_not_cleared_with_the_entry_before_it() {
    explore(3000, || {
        let (memory, world) = (Interleaved::new(), World::default());
        let process = |id| Process::new(memory.clone(), 16, &world, id);
        let (adder, clearer) = (process(1), process(2));
        adder.put(&mut Appender::default(), KEY, "old");
        let added = run(vec![
            (
                &adder,
                Box::new(|it: Process<_>, by: &mut _| it.add(by, "new")) as Work<_, bool>,
            ),
            (
                &clearer,
                Box::new(|it: Process<_>, _: &mut _| {
                    it.clear();
                    false
                }),
            ),
        ])[0];
        assert_eq!(adder.value(), added.then(|| "new".to_owned()));
    });
}

/// The same where the cleared entry's word is gone before the add looks.
#[test]
fn an_add_beside_a_clear_is_not_cleared_with_an_entry_that_is_gone() {
    explore(3000, || {
        let (memory, world) = (Interleaved::new(), World::default());
        let process = |id| Process::new(memory.clone(), 16, &world, id);
        let (adder, clearer) = (process(1), process(2));
        adder.put(&mut Appender::default(), KEY, "old");
        let added = run(vec![
            (
                &adder,
                Box::new(|it: Process<_>, by: &mut _| it.add(by, "new")) as Work<_, bool>,
            ),
            (
                &clearer,
                Box::new(|it: Process<_>, _: &mut _| {
                    it.clear();
                    // A load takes the dead entry's word away, and ends without a value.
                    let lease = it
                        .engine
                        .lease(it.me, it.key(), it.floor(), 480, &mut Vec::new());
                    if let Lease::Acquired(token) = lease {
                        it.engine.release(token);
                    }
                    false
                }),
            ),
        ])[0];
        assert_eq!(adder.value(), added.then(|| "new".to_owned()));
    });
}

/// Two processes of two threads each count. Their space goes round meanwhile, and a third process is killed in
/// the middle of its own increment, which may count or not.
#[test]
fn no_increment_is_lost_by_threads_kills_and_moves() {
    let judgements = Arc::new((AtomicU64::new(0), AtomicU64::new(0)));
    let judged = judgements.clone();
    explore(400, move || {
        use shuttle::rand::Rng;
        let (memory, world) = (Interleaved::new(), World::default());
        let process = |id| Process::new(memory.clone(), 8, &world, id);
        let (first, second) = (process(1), process(2));
        let accesses = shuttle::rand::thread_rng().gen_range(0..400);
        let me = enter(&first.engine, 3);
        let killable = Killable::new(memory.clone(), accesses);
        let doomed = Process {
            engine: Arc::new(engine(killable, 8, &world)),
            me,
        };
        // Neighbours of one block, which is mostly dead once they are overwritten: the count is moved.
        first.increment(&mut Appender::default());
        let count = |it: Process<_>, by: &mut Appender| {
            (0..2).for_each(|_| {
                it.increment(by);
            });
        };
        let churn = |it: Process<_>, by: &mut Appender| {
            // Some live and some dead in each block, so that cleaning moves what lives.
            for round in 0..16 {
                it.put(by, b"::other", "long enough to fill about half of a block");
                it.put(by, format!("::n{}", round % 5).as_bytes(), "lives");
            }
        };
        let death = world.clone();
        let killed = thread::spawn(move || {
            let work = AssertUnwindSafe(|| doomed.increment(&mut Appender::default()));
            let ended = catch_unwind(work);
            death.dies(3);
            match ended {
                Ok(_) => true,
                Err(why) if why.is::<Killed>() => false,
                Err(other) => std::panic::resume_unwind(other),
            }
        });
        run(vec![
            (&first, Box::new(count) as Work<_, ()>),
            (&first, Box::new(count)),
            (&second, Box::new(count)),
            (&second, Box::new(churn)),
        ]);
        let acknowledged = killed.join().unwrap();
        assert_eq!(first.engine.check().damaged, Vec::<String>::new());
        // A count that was evicted began anew.
        if evictions(&memory) > 0 {
            return;
        }
        let sum: u64 = first.value().unwrap().parse().unwrap();
        let least = 7 + u64::from(acknowledged);
        assert!((least..=8).contains(&sum), "{sum} of {least}");
        judged.0.fetch_add(1, Ordering::Relaxed);
        let moved = memory.load(header::REINSERTED);
        judged.1.fetch_add(moved, Ordering::Relaxed);
    });
    let (judged, moved) = (
        judgements.0.load(Ordering::Relaxed),
        judgements.1.load(Ordering::Relaxed),
    );
    assert!(judged > 300 && moved > 100, "{judged} runs, {moved} moves");
}

/// A process is killed at each of its accesses in turn while it counts.
#[test]
fn killed_while_counting() {
    let mut accesses = 0;
    loop {
        let (memory, world) = (Plain::new(), World::default());
        let survivor = Process::new(memory.clone(), 8, &world, 1);
        enter(&survivor.engine, 2);
        let victim = Process {
            engine: Arc::new(engine(Killable::new(memory.clone(), accesses), 8, &world)),
            me: Participant {
                id: 2,
                incarnation: 1,
            },
        };
        let mut counted = 0;
        let work = AssertUnwindSafe(|| {
            let mut appender = Appender::default();
            for _ in 0..3 {
                counted = victim.increment(&mut appender);
            }
        });
        let killed = catch_unwind(work).is_err();
        world.dies(2);
        let found = survivor.value().map_or(0, |text| text.parse().unwrap());
        assert!(
            (counted..=counted + 1).contains(&found),
            "after {accesses}: {found} of {counted}"
        );
        // Nobody waits for the dead: the next one counts on.
        let mut appender = Appender::default();
        assert_eq!(
            survivor.increment(&mut appender),
            found + 1,
            "after {accesses}"
        );
        assert!(!survivor.add(&mut appender, "present"), "after {accesses}");
        assert!(survivor.engine.delete(survivor.key()));
        assert!(survivor.add(&mut appender, "absent"), "after {accesses}");
        assert_eq!(survivor.engine.check().damaged, Vec::<String>::new());
        if !killed {
            assert!(accesses > 50, "the work was not interrupted in the middle");
            return;
        }
        accesses += 1;
    }
}

#[test]
fn of_several_that_saw_a_version_one_sets() {
    explore(1000, || {
        let (memory, world) = (Interleaved::new(), World::default());
        let process = |id| Process::new(memory.clone(), 12, &world, id);
        let (first, second) = (process(1), process(2));
        let mut appender = Appender::default();
        first.put(&mut appender, KEY, "seen");
        let seen = first.version();
        let set = |value: &'static str| -> Work<_, bool> {
            Box::new(move |it: Process<_>, by: &mut _| it.compare_and_set(by, seen, value))
        };
        let back: Work<_, bool> = Box::new(|it: Process<_>, by: &mut _| {
            // The same bytes again are another entry.
            it.put(by, KEY, "between");
            it.put(by, KEY, "seen");
            false
        });
        let won = run(vec![
            (&first, set("a")),
            (&second, set("b")),
            (&second, back),
        ]);
        assert!(!(won[0] && won[1]), "{won:?}");
        assert!(!first.compare_and_set(&mut appender, seen, "late"));
    });
}

/// Places in blocks are used again and again, by this key and others; versions are not.
#[test]
fn no_version_comes_back() {
    let (memory, world) = (Plain::new(), World::default());
    let process = Process::new(memory.clone(), 6, &world, 1);
    let mut appender = Appender::default();
    let mut versions = HashSet::new();
    for round in 0..5_000 {
        process.put(&mut appender, KEY, "the same");
        assert!(versions.insert(process.version()), "round {round}");
        if round % 3 == 0 {
            process.put(&mut appender, NEIGHBOUR, "another");
        }
    }
    assert!(
        memory.load(header::BLOCKS_CLAIMED) > 1_000,
        "no place was used again"
    );
}

/// A writer is killed at every access in turn, also after it took an empty block and before it gave it a number. A
/// lane may still name that block from an earlier use.
#[test]
fn no_version_comes_back_after_a_kill() {
    for accesses in 0..20_000 {
        let (memory, world) = (Plain::new(), World::default());
        let process = Process::new(memory.clone(), 8, &world, 1);
        let me = enter(&process.engine, 2);
        process.put(&mut Appender::at(2), KEY, "first");
        let version = process.version();
        process.engine.delete(process.key());
        let doomed = Process {
            engine: Arc::new(engine(Killable::new(memory, accesses), 8, &world)),
            me,
        };
        let killed = catch_unwind(AssertUnwindSafe(|| {
            for round in 0..40 {
                let key = format!("::x{}", round % 3);
                let text = "long enough to fill about half of a block, really";
                doomed.put(&mut Appender::default(), key.as_bytes(), text);
            }
        }));
        world.dies(2);
        process.put(&mut Appender::at(2), KEY, "second");
        assert_ne!(process.version(), version, "killed after {accesses}");
        if killed.is_ok() {
            return;
        }
    }
    panic!("it was killed each time");
}
