//! Orders of steps that random schedules seldom find: what one process does in the middle of a step of
//! another, which is when that one asks its environment something.

use super::memory::Plain;
use super::setup::{engine, enter, entry, geometry, text, World};
use crate::block::{Appender, Notes};
use crate::engine::{Engine, Environment, Participant};
use crate::error::Error;
use crate::layout::header;
use crate::shared_memory::SharedMemory;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

const BLOCKS: u64 = 8;
const NO_FLOOR: fn(u64) -> u64 = |_| 0;

/// What others do, each once.
type Meanwhile = Mutex<Option<Box<dyn FnOnce() + Send>>>;

/// A process in whose steps others interfere.
#[derive(Default)]
struct Interrupted {
    world: World,
    closed: AtomicBool,
    /// Its handle is closed when it first asks whether it is, and then this happens.
    when_asked_whether_closed: Meanwhile,
    /// What happens when it asks for the time, which an insert does before it publishes its record.
    when_asked_for_ticks: Meanwhile,
    /// What happens before it is told whether this participant lives.
    when_asking_about: Vec<(u32, Meanwhile)>,
}

impl Environment for Interrupted {
    fn id_alive(&self, id: u32) -> bool {
        for (other, meanwhile) in &self.when_asking_about {
            if *other == id {
                happens(meanwhile);
            }
        }
        self.world.id_alive(id)
    }
    fn allocate(&self, block: u64) -> Result<(), Error> {
        self.world.allocate(block)
    }
    fn ticks(&self) -> u32 {
        happens(&self.when_asked_for_ticks);
        self.world.ticks()
    }
    fn now(&self) -> u64 {
        self.world.now()
    }
    fn is_closed(&self) -> bool {
        if happens(&self.when_asked_whether_closed) {
            self.closed.store(true, Ordering::SeqCst);
        }
        self.closed.load(Ordering::SeqCst)
    }
}

fn happens(meanwhile: &Meanwhile) -> bool {
    let first = meanwhile.lock().unwrap().take();
    first.map(|happens| happens()).is_some()
}

fn once(what: impl FnOnce() + Send + 'static) -> Meanwhile {
    Mutex::new(Some(Box::new(what)))
}

fn interrupted(memory: Arc<Plain>, environment: Interrupted) -> Engine<Arc<Plain>, Interrupted> {
    Engine {
        memory,
        environment,
        geometry: geometry(BLOCKS),
        seed: 0x5eed,
        notes: Notes::default(),
    }
}

fn get<E: Environment>(engine: &Engine<Arc<Plain>, E>, key: &str) -> Option<String> {
    let mut out = Vec::new();
    let hit = engine.get(engine.key(key.as_bytes()), NO_FLOOR, &mut out);
    hit.map(|_| text(&out))
}

fn state_at(block: u64) -> usize {
    geometry(BLOCKS).descriptor_at(block)
}

const OPEN: u64 = 1;

/// The state of a block to which this participant appends.
fn appending(by: Participant) -> u64 {
    4 | u64::from(by.id) << 4 | by.incarnation << 16
}

/// The handle was closed and counted as dead before it could see that, and its block was taken.
#[test]
fn a_closed_handle_leaves_a_block_that_another_participant_holds() {
    let (memory, world) = (Plain::new(), World::default());
    let other = Arc::new(engine(memory.clone(), BLOCKS, &world));
    let (me, by) = (enter(&other, 1), enter(&other, 2));
    let mut appender = Appender::default();
    let before = other.put(&mut appender, by, other.key(b"::a"), &entry("before"));
    before.unwrap();

    let appended = Arc::new(Mutex::new(None));
    let environment = Interrupted {
        world: world.clone(),
        when_asked_whether_closed: once({
            let (other, world, appended) = (other.clone(), world.clone(), appended.clone());
            move || {
                world.dies(1);
                let key = other.key(b"::b");
                let record = other.append(&mut Appender::default(), by, key, &entry("b"), Some(0));
                *appended.lock().unwrap() = Some(record.unwrap());
            }
        }),
        ..Interrupted::default()
    };
    let closing = interrupted(memory, environment);
    let refused = closing.put(&mut appender, me, closing.key(b"::k"), &entry("too late"));
    assert!(matches!(refused, Err(Error::Closed)), "{refused:?}");
    assert!(!closing.holds_any_block(me));

    assert!(other.holds_any_block(by));
    let first = appended.lock().unwrap().take().unwrap();
    let third = enter(&other, 3);
    let second = other
        .append(
            &mut appender,
            third,
            other.key(b"::c"),
            &entry("c"),
            Some(0),
        )
        .unwrap();
    assert_ne!(first.location, second.location);
    other.appended(&second, third);
    other.appended(&first, by);
    assert_eq!(get(&*other, "::a").as_deref(), Some("before"));
}

/// A block was empty when a writer looked for one. Another one took it, published a record, and was
/// killed before it left the block.
#[test]
fn an_empty_block_got_a_record_from_a_writer_that_was_killed() {
    let (memory, world) = (Plain::new(), World::default());
    let killed = Arc::new(engine(memory.clone(), BLOCKS, &world));
    let (me, victim, stopped) = (enter(&killed, 1), enter(&killed, 2), enter(&killed, 3));
    let takes_the_block = once({
        let memory = memory.clone();
        move || memory.store(state_at(0), appending(victim))
    });
    let publishes_and_dies = once({
        let (killed, memory, world) = (killed.clone(), memory.clone(), world.clone());
        move || {
            memory.store(header::WRITE_LANES, 1);
            memory.store(state_at(0), OPEN);
            let key = killed.key(b"::k");
            let put = killed.put(&mut Appender::default(), victim, key, &entry("published"));
            put.unwrap();
            memory.store(state_at(0), appending(victim));
            world.dies(2);
        }
    });
    // The writer asks about this one's block after it saw that the one before is empty.
    memory.store(state_at(1), appending(stopped));
    let environment = Interrupted {
        world: world.clone(),
        when_asking_about: vec![(3, takes_the_block), (2, publishes_and_dies)],
        ..Interrupted::default()
    };
    let writer = interrupted(memory.clone(), environment);
    let key = writer.key(b"::mine");
    let put = writer.put(&mut Appender::at(1), me, key, &entry("mine"));
    put.unwrap();

    let asked = &writer.environment.when_asking_about;
    assert!(asked.iter().all(|(_, due)| due.lock().unwrap().is_none()));
    assert_eq!(get(&writer, "::k").as_deref(), Some("published"));
    assert_eq!(get(&writer, "::mine").as_deref(), Some("mine"));
    assert_eq!(writer.check().damaged, Vec::<String>::new());
    // The block can be filled further.
    assert_eq!(memory.load(state_at(0)), OPEN);
}

/// Writers stopped in the middle of an append hold the block of every lane, and keep it.
#[test]
fn a_writer_goes_round_holders_that_were_stopped() {
    let engine = engine(Plain::new(), BLOCKS, &World::default());
    let key = engine.key(b"::k");
    let lanes = engine.geometry.write_lanes() as u32;
    let stopped: Vec<_> = (2..2 + lanes)
        .map(|id| {
            let by = enter(&engine, id);
            let record = engine.append(
                &mut Appender::default(),
                by,
                key,
                &entry("stopped"),
                Some(0),
            );
            (by, record.unwrap())
        })
        .collect();
    let me = enter(&engine, 1);
    let mut appender = Appender::default();
    for _ in 0..2 {
        let put = engine.put(&mut appender, me, key, &entry("written"));
        put.unwrap();
    }
    for (by, _) in &stopped {
        assert!(engine.holds_any_block(*by));
    }
    // They wake up, and each record is where it was written.
    for (by, appended) in &stopped {
        engine.never_published(appended);
        engine.appended(appended, *by);
    }
    assert_eq!(get(&engine, "::k").as_deref(), Some("written"));
    assert_eq!(engine.check().damaged, Vec::<String>::new());
}

/// A writer is stopped between its append and the publication, while the others fill every block that
/// they can several times. Their keys are so many that none of these blocks has dead records, so the one
/// of the stopped writer would be emptied first.
#[test]
fn a_block_stands_until_its_record_is_published() {
    let (memory, world) = (Plain::new(), World::default());
    let others = engine(memory.clone(), BLOCKS, &world);
    let (me, other) = (enter(&others, 1), enter(&others, 2));
    let meanwhile = once(move || {
        let mut appender = Appender::default();
        for round in 0..BLOCKS * 4 {
            let key = format!("::o{}", round % 13);
            let text = format!("{round}, and a text that fills more than half a block, so that every record needs another one");
            let put = others.put(
                &mut appender,
                other,
                others.key(key.as_bytes()),
                &entry(&text),
            );
            put.unwrap();
        }
        assert!(others.memory.load(header::BLOCKS_CLAIMED) > BLOCKS * 2);
    });
    let environment = Interrupted {
        world,
        when_asked_for_ticks: meanwhile,
        ..Interrupted::default()
    };
    let writer = interrupted(memory, environment);
    let key = writer.key(b"::k");
    let put = writer.put(&mut Appender::default(), me, key, &entry("published late"));
    put.unwrap();
    assert_eq!(get(&writer, "::k").as_deref(), Some("published late"));
    assert_eq!(writer.check().damaged, Vec::<String>::new());
}
