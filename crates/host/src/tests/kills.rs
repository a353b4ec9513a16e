//! A process is killed at each of its memory accesses in turn; the others find nothing to repair.

use super::memory::{Killable, Killed, Plain};
use super::setup::{engine, enter, entry, text, World};
use crate::block::Appender;
use crate::engine::{Engine, Participant};
use crate::lease::Lease;
use crate::shared_memory::SharedMemory;
use std::panic::{catch_unwind, AssertUnwindSafe};

const NO_FLOOR: fn(u64) -> u64 = |_| 0;
const BLOCKS: u64 = 8;

struct Process<M> {
    engine: Engine<M, World>,
    me: Participant,
    appender: Appender,
}

impl<M: SharedMemory> Process<M> {
    fn new(memory: M, world: &World, me: Participant) -> Process<M> {
        Process {
            engine: engine(memory, BLOCKS, world),
            me,
            appender: Appender::default(),
        }
    }

    fn put(&mut self, key: &str, value: &str) {
        let key = self.engine.key(key.as_bytes());
        self.engine
            .put(&mut self.appender, self.me, key, &entry(value))
            .unwrap();
    }

    fn get(&self, key: &str) -> Option<String> {
        let mut out = Vec::new();
        let key = self.engine.key(key.as_bytes());
        self.engine.get(key, NO_FLOOR, &mut out).map(|_| text(&out))
    }

    fn load(&mut self, key: &str, value: &str) -> bool {
        let key = self.engine.key(key.as_bytes());
        match self
            .engine
            .lease(self.me, key, NO_FLOOR, 480, &mut Vec::new())
        {
            Lease::Acquired(token) => self
                .engine
                .fill(&mut self.appender, self.me, key, token, &entry(value))
                .unwrap(),
            Lease::Hit(_) => true, // the victim got as far as that
            Lease::Busy { .. } | Lease::Bypass => false,
        }
    }
}

/// What the killed process does, and which of it was acknowledged.
type Work = fn(&mut Process<Killable>, &mut Vec<(&'static str, Option<&'static str>)>);

pub(super) fn print_no_kills() {
    std::panic::set_hook(Box::new(|info| {
        if !info.payload().is::<Killed>() {
            eprintln!("{info}");
        }
    }));
}

fn kill_everywhere(work: Work) {
    print_no_kills();
    let mut accesses = 0;
    loop {
        let memory = Plain::new();
        let world = World::default();
        let survivor_engine = engine(memory.clone(), BLOCKS, &world);
        let me = enter(&survivor_engine, 1);
        let victim_id = enter(&survivor_engine, 2);
        let mut survivor = Process::new(memory.clone(), &world, me);
        survivor.put("::stays", "untouched");
        survivor.put("::k", "before");
        let mut victim = Process::new(Killable::new(memory, accesses), &world, victim_id);
        let mut acknowledged = vec![("::k", Some("before"))];
        let outcome = catch_unwind(AssertUnwindSafe(|| work(&mut victim, &mut acknowledged)));
        world.dies(2);
        let killed = matches!(&outcome, Err(payload) if payload.is::<Killed>());
        assert!(killed || outcome.is_ok(), "after {accesses} accesses");

        // Nothing damaged and no foreign value: the last acknowledged value, or the one being written.
        assert_eq!(
            survivor.engine.check().damaged,
            Vec::<String>::new(),
            "after {accesses}"
        );
        assert_eq!(
            survivor.get("::stays").as_deref(),
            Some("untouched"),
            "after {accesses}"
        );
        let last = acknowledged
            .iter()
            .rev()
            .find(|(key, _)| *key == "::k")
            .unwrap()
            .1;
        let found = survivor.get("::k");
        let allowed = [
            last.map(str::to_owned),
            Some("after".into()),
            Some("later".into()),
            None,
        ];
        assert!(allowed.contains(&found), "after {accesses}: {found:?}");
        if found.is_none() {
            let doing_delete = acknowledged.len() > 1 || killed;
            assert!(
                doing_delete,
                "after {accesses}: an acknowledged value was lost"
            );
        }
        // No caller waits for a dead process: the key can be loaded and stored at once.
        survivor.engine.delete(survivor.engine.key(b"::k"));
        assert!(survivor.load("::k", "loaded"), "after {accesses}");
        assert!(survivor.load("::fresh", "loaded"), "after {accesses}");
        for round in 0..40 {
            survivor.put(
                "::k",
                &format!("round {round}, and a text that makes blocks go round fast enough"),
            );
        }
        assert!(survivor.get("::k").unwrap().starts_with("round 39"));
        assert_eq!(
            survivor.engine.check().damaged,
            Vec::<String>::new(),
            "after {accesses}"
        );
        if !killed {
            assert!(accesses > 50, "the work was not interrupted in the middle");
            return;
        }
        accesses += 1;
    }
}

#[test]
fn killed_while_putting() {
    kill_everywhere(|process, acknowledged| {
        process.put("::k", "after");
        acknowledged.push(("::k", Some("after")));
        process.put("::new", "insert");
        process.put("::k", "later");
        acknowledged.push(("::k", Some("later")));
    });
}

#[test]
fn killed_while_deleting_and_loading() {
    kill_everywhere(|process, acknowledged| {
        process.engine.delete(process.engine.key(b"::k"));
        acknowledged.push(("::k", None));
        process.load("::k", "after");
        acknowledged.push(("::k", Some("after")));
        process.load("::fresh", "loaded");
    });
}

#[test]
fn killed_while_recycling() {
    kill_everywhere(|process, _| {
        // Both are visited, so recycling keeps them.
        for round in 0..12 {
            process.get("::stays");
            process.put("::k", "after");
            process.put(
                if round % 2 == 0 { "::a" } else { "::b" },
                "a text that takes about half a block, so that every other put claims the next one of the ring",
            );
        }
    });
}

/// One process after another is killed, each a little later in its work. What each held is used again.
#[test]
fn kills_take_no_space() {
    print_no_kills();
    let (memory, world) = (Plain::new(), World::default());
    let survivor_engine = engine(memory.clone(), BLOCKS, &world);
    let me = enter(&survivor_engine, 1);
    let mut survivor = Process::new(memory.clone(), &world, me);
    let mut held_by_killed = 0;
    for id in 2..60 {
        let victim_id = enter(&survivor_engine, id);
        let accesses = u64::from(id) * 7;
        let mut victim = Process::new(Killable::new(memory.clone(), accesses), &world, victim_id);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            for round in 0..8 {
                victim.put("::v", &format!("round {round}, and a text that makes blocks go round fast enough, so that this one cleans as well"));
            }
        }));
        held_by_killed += u64::from(survivor_engine.holds_any_block(victim_id));
        world.dies(id);
        assert!(outcome.unwrap_err().is::<Killed>());
        survivor.put("::k", &format!("after {id}"));
    }
    assert!(held_by_killed > BLOCKS);
    for id in 2..60 {
        survivor.get("::k");
        survivor.put(
            "::v",
            "a text that fills half a block or more, as those of the victims did",
        );
        assert_eq!(survivor.get("::k").as_deref(), Some("after 59"), "{id}");
    }
    assert_eq!(survivor.engine.check().damaged, Vec::<String>::new());
}
