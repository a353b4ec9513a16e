//! An operation is stalled at each of its memory accesses in turn, while others clear so many namespaces
//! that floors end and their cells are given away. Random schedules seldom stall a process for so long.

use super::memory::Plain;
use super::setup::{engine, enter, entry, text, World};
use crate::block::Appender;
use crate::engine::{Engine, Participant};
use crate::hash::key_hash;
use crate::layout::header;
use crate::lease::{Lease, Token};
use crate::shared_memory::SharedMemory;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Eight cells; every other clear ends a survey. So after so many nothing of before is left.
const MOST_CLEARS: u64 = 12;
const BLOCKS: u64 = 16;

type Meanwhile = Box<dyn FnOnce() + Send>;

/// One process's view of the memory: before its n-th access something else happens.
#[derive(Clone)]
struct Stalled {
    memory: Arc<Plain>,
    /// Only accesses that write bytes of a record count.
    at_writes: bool,
    accesses: Arc<AtomicU64>,
    meanwhile: Arc<Mutex<Option<(u64, Meanwhile)>>>,
}

impl Stalled {
    fn new(memory: &Arc<Plain>, at_writes: bool) -> Stalled {
        Stalled {
            memory: memory.clone(),
            at_writes,
            accesses: Arc::default(),
            meanwhile: Arc::default(),
        }
    }

    fn now(&self) -> &Plain {
        if !self.at_writes {
            self.count_access();
        }
        &self.memory
    }

    fn count_access(&self) {
        let access = self.accesses.fetch_add(1, Ordering::Relaxed);
        let mut meanwhile = self.meanwhile.lock().unwrap();
        if meanwhile.as_ref().is_some_and(|(at, _)| *at == access) {
            let (_, happens) = meanwhile.take().unwrap();
            happens();
        }
    }
}

impl SharedMemory for Stalled {
    fn load(&self, at: usize) -> u64 {
        self.now().load(at)
    }
    fn store(&self, at: usize, value: u64) {
        self.now().store(at, value);
    }
    fn compare_exchange(&self, at: usize, old: u64, new: u64) -> bool {
        self.now().compare_exchange(at, old, new)
    }
    fn fetch_add(&self, at: usize, by: u64) -> u64 {
        self.now().fetch_add(at, by)
    }
    fn fetch_max(&self, at: usize, value: u64) {
        self.now().fetch_max(at, value);
    }
    fn visited(&self, at: usize) -> u8 {
        self.now().visited(at)
    }
    fn set_visited(&self, at: usize, visited: u8) {
        self.now().set_visited(at, visited);
    }
    fn read(&self, at: u64, len: usize, out: &mut Vec<u8>) {
        self.now().read(at, len, out);
    }
    fn read_array<const N: usize>(&self, at: u64) -> [u8; N] {
        self.now().read_array(at)
    }
    fn equal(&self, at: u64, bytes: &[u8]) -> bool {
        self.now().equal(at, bytes)
    }
    fn write(&self, at: u64, bytes: &[u8]) {
        self.count_access();
        self.memory.write(at, bytes);
    }
    fn fence(&self) {}
}

struct Process<M> {
    engine: Engine<M, World>,
    me: Participant,
    names: [u64; 2],
}

impl<M: SharedMemory> Process<M> {
    fn new(memory: M, id: u32) -> Process<M> {
        let mut engine = engine(memory, BLOCKS, &World::default());
        engine.geometry.floors = 8;
        let me = enter(&engine, id);
        let name = |prefix: &str| key_hash(engine.seed, prefix.as_bytes()).as_u64();
        let names = [name("::"), name("a::")];
        Process { engine, me, names }
    }

    fn put(&self) {
        let key = self.engine.key(b"a::k");
        self.engine
            .put(&mut Appender::default(), self.me, key, &entry("v"))
            .unwrap();
    }

    /// It takes two blocks.
    fn put_large(&self) {
        let key = self.engine.key(b"a::k");
        let large = entry(&"l".repeat(300));
        self.engine
            .put(&mut Appender::default(), self.me, key, &large)
            .unwrap();
    }

    fn clear(&self) {
        self.engine.raise_floor(self.names[1], self.names[0]);
    }

    fn clear_others(&self, count: u64, series: u64) {
        for other in 0..count {
            let name = key_hash(series, &other.to_le_bytes()).as_u64();
            self.engine.raise_floor(name, self.names[0]);
        }
    }

    fn get(&self) -> Option<String> {
        let key = self.engine.key(b"a::k");
        let mut out = Vec::new();
        let hit = self
            .engine
            .get(key, |_| self.engine.floor_of(&self.names), &mut out);
        hit.map(|_| text(&out))
    }

    fn lease(&self) -> Token {
        let key = self.engine.key(b"a::k");
        let floor = |_| self.engine.floor_of(&self.names);
        match self.engine.lease(self.me, key, floor, 480, &mut Vec::new()) {
            Lease::Acquired(token) => token,
            other => panic!("{other:?}"),
        }
    }

    fn fill(&self, token: Token) {
        let key = self.engine.key(b"a::k");
        if token.born < self.engine.floor_of(&self.names) {
            return self.engine.release(token);
        }
        self.engine
            .fill(
                &mut Appender::default(),
                self.me,
                key,
                token,
                &entry("loaded"),
            )
            .unwrap();
    }
}

/// Does `before`, then `stalled`, during which `meanwhile` happens; then judges by what a reader finds at
/// once and after so many clears that every floor of before has ended.
fn at_every_access<T>(
    before: impl Fn(&Process<Arc<Plain>>) -> T,
    stalled: impl Fn(&Process<Stalled>, &T),
    meanwhile: impl Fn(&Process<Arc<Plain>>, u64) + Copy + Send + 'static,
    judge: impl Fn(Option<String>, Option<String>, &str),
) {
    for clears in 0..=MOST_CLEARS {
        for access in 0.. {
            let memory = Plain::new();
            let other = Process::new(memory.clone(), 1);
            let known = before(&other);
            let slow = Process::new(Stalled::new(&memory, false), 2);
            slow.engine.memory.accesses.store(0, Ordering::Relaxed);
            let process = Process::new(memory.clone(), 3);
            *slow.engine.memory.meanwhile.lock().unwrap() =
                Some((access, Box::new(move || meanwhile(&process, clears))));
            stalled(&slow, &known);
            if slow.engine.memory.meanwhile.lock().unwrap().is_some() {
                break;
            }
            let at_once = other.get();
            other.clear_others(2 * MOST_CLEARS, 99);
            let later = other.get();
            judge(
                at_once,
                later,
                &format!("{clears} clears at access {access}"),
            );
            assert_eq!(memory.load(header::EVICTED_BY_AGE), 0);
        }
    }
}

fn clear_and_others(process: &Process<Arc<Plain>>, clears: u64) {
    process.clear();
    process.clear_others(clears, 7);
}

#[test]
fn a_put_that_a_clear_overtook_is_found_for_good_or_never() {
    at_every_access(
        |_| (),
        |slow, ()| slow.put(),
        clear_and_others,
        |at_once, later, when| assert_eq!(at_once, later, "{when}"),
    );
}

/// Surveys do not wait for it until it has written its bytes.
#[test]
fn a_put_of_a_large_value_that_a_clear_overtook_is_found_for_good_or_never() {
    at_every_access(
        |_| (),
        |slow, ()| slow.put_large(),
        clear_and_others,
        |at_once, later, when| assert_eq!(at_once, later, "{when}"),
    );
}

/// A writer takes long for the bytes of a large value. Meanwhile cells are free again after a while. For the head's
/// fixed part, which says when the value was born, it takes no longer than any writer, and is waited for.
#[test]
fn floors_end_while_a_large_value_is_written() {
    let mut end = Vec::new();
    for write in 0.. {
        let memory = Plain::new();
        let slow = Process::new(Stalled::new(&memory, true), 2);
        let process = Process::new(memory.clone(), 3);
        let ended = Arc::new(Mutex::new(None));
        let found = ended.clone();
        let clear = move || {
            process.clear_others(MOST_CLEARS, 7);
            let load = |at| process.engine.memory.load(at);
            let floors = (load(header::FLOORS_ENDED), load(header::FLOOR_OVERFLOWS));
            *found.lock().unwrap() = Some(floors);
        };
        *slow.engine.memory.meanwhile.lock().unwrap() = Some((write, Box::new(clear)));
        slow.put_large();
        let Some((ended, overflows)) = *ended.lock().unwrap() else {
            break;
        };
        assert_eq!(ended == 0, overflows > 0, "at write {write}");
        end.push(ended > 0);
    }
    // A chunk's header, four words, and its bytes; the key, the head's part of the entry, its list.
    assert_eq!(end[..8], [true; 8]);
    // The head's fixed part, four words, and the bond of the word that publishes it.
    assert_eq!(end[8..], [false; 5]);
}

#[test]
fn a_load_that_a_clear_overtook_is_never_found() {
    at_every_access(
        Process::lease,
        |slow, token| slow.fill(*token),
        |process, clears| {
            // One that comes after the fill is of another test.
            if process.get().is_none() {
                clear_and_others(process, clears);
            }
        },
        |at_once, later, when| {
            let found = [at_once, later];
            let stays = found[0].is_some() && found[0] == found[1];
            assert!(found == [None, None] || stays, "{when}: {found:?}");
        },
    );
    // The clear before the fill.
    at_every_access(
        |other| {
            let token = other.lease();
            other.clear();
            token
        },
        |slow, token| slow.fill(*token),
        |process, clears| process.clear_others(clears, 7),
        |at_once, later, when| assert_eq!((at_once, later), (None, None), "{when}"),
    );
}

#[test]
fn a_clear_that_surveys_overtook_clears_for_good() {
    at_every_access(
        |other| other.put(),
        |slow, ()| slow.clear(),
        |process, clears| process.clear_others(clears, 7),
        |at_once, later, when| assert_eq!((at_once, later), (None, None), "{when}"),
    );
}

#[test]
fn a_read_that_surveys_overtook_finds_nothing_that_was_cleared() {
    at_every_access(
        |other| {
            other.put();
            other.clear();
        },
        |slow, ()| assert_eq!(slow.get(), None),
        |process, clears| process.clear_others(clears, 7),
        |at_once, later, when| assert_eq!((at_once, later), (None, None), "{when}"),
    );
}

#[test]
fn a_read_beside_clears_of_others_finds_what_stands() {
    at_every_access(
        |other| other.put(),
        |slow, ()| assert!(slow.get().is_some()),
        |process, clears| process.clear_others(clears, 7),
        |at_once, later, when| assert!(at_once.is_some() && later.is_some(), "{when}"),
    );
}
