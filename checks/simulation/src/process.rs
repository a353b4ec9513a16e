//! A process: what `polycache_host::Store` is for a directory, over the simulated memory.

use crate::history::{History, Instant, Note, Serial, Who};
use crate::memory::Shared;
use crate::scenario::{Scenario, NAMESPACES};
use crate::switch::{access, undisturbed};
use crate::world::{Outside, World};
use polycache_entry::{encode, EntryOptions, Header, Serializer, Value, Verify};
use polycache_host::engine::{Engine, Participant};
use polycache_host::hash::key_hash;
use polycache_host::keys::KeyBuffer;
use polycache_host::layout::header;
use polycache_host::{Appender, Error, Hit, Lease, Namespace, Notes, OwnLeases, Token};
use polycache_operations::{Flights, Holder};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// One process with a handle on the directory.
pub struct Process {
    pub number: u32,
    pub engine: Engine<Arc<Shared>, Outside>,
    pub me: Participant,
    pub scenario: Rc<Scenario>,
    pub world: Arc<World>,
    pub history: Rc<RefCell<History>>,
    /// The loads of its callers; an error is the number of the load that failed.
    pub flights: Flights<usize, Serial, u32, Token>,
    namespaces: Vec<Namespace>,
    /// The keys of its leases.
    own_leases: OwnLeases,
}

impl Process {
    /// A process that joins the directory as this participant.
    pub fn new(
        number: u32,
        id: u32,
        scenario: &Rc<Scenario>,
        world: &Arc<World>,
        memory: &Arc<Shared>,
        history: &Rc<RefCell<History>>,
    ) -> Process {
        let engine = Engine {
            memory: memory.clone(),
            environment: Outside {
                world: world.clone(),
                memory: memory.clone(),
                block_size: scenario.geometry.block_size,
            },
            geometry: scenario.geometry,
            seed: scenario.directory_seed,
            notes: Notes::default(),
        };
        world.set_alive(id, true);
        let at = scenario.geometry.participants_at + id as usize * 8;
        let incarnation = memory.peek(at) + 1;
        memory.preset(at, incarnation);
        Process {
            number,
            engine,
            me: Participant { id, incarnation },
            scenario: scenario.clone(),
            world: world.clone(),
            history: history.clone(),
            flights: Flights::default(),
            namespaces: (0..NAMESPACES.len())
                .map(|one| scenario.namespace(one))
                .collect(),
            own_leases: OwnLeases::default(),
        }
    }

    /// Writes a line of the history.
    pub fn note(&self, who: Who, key: Option<usize>, note: Note) -> Instant {
        let time = self.world.now();
        self.history.borrow_mut().note(time, Some(who), key, note)
    }

    /// Entries evicted so far.
    pub fn evicted(&self) -> u64 {
        let peek = |at| self.engine.memory.peek(at);
        // A clear that finds no cell, because a stopped writer is waited for, clears other namespaces too.
        [
            header::EVICTED_BY_AGE,
            header::EVICTED_BY_CONFLICT,
            header::FLOOR_OVERFLOWS,
        ]
        .map(peek)
        .iter()
        .sum()
    }

    fn namespace_of(&self, key: usize) -> &Namespace {
        &self.namespaces[self.scenario.keys[key].namespace]
    }

    fn full_key(&self, key: usize) -> KeyBuffer {
        self.namespace_of(key)
            .full_key(self.scenario.keys[key].name.as_bytes())
    }

    fn floor(&self, key: usize) -> impl Fn(u64) -> u64 + '_ {
        let namespace = self.namespace_of(key);
        move |epoch| namespace.floor(epoch, |names| self.engine.floor_of(names))
    }

    /// The present value.
    pub fn get(&self, key: usize) -> Option<Serial> {
        let full = self.full_key(key);
        let mut entry = Vec::new();
        self.engine
            .get(self.engine.key(&full), self.floor(key), &mut entry)
            .and_then(|_| self.read(key, &entry))
    }

    /// The value of an entry.
    pub fn read(&self, key: usize, entry: &[u8]) -> Option<Serial> {
        let mut history = self.history.borrow_mut();
        let text = Header::parse(entry, Verify::Checksum)
            .map(|header| String::from_utf8_lossy(header.stored(entry)).into_owned());
        match text {
            Ok(text) => history.recognise(key, &text),
            Err(error) => {
                let fault = format!("a reader of key {key} got a damaged entry: {error}");
                history.faults.push(fault);
                None
            }
        }
    }

    /// The entry of a value.
    pub fn entry(&self, value: Serial) -> Vec<u8> {
        let text = self.history.borrow().text(value);
        let options = EntryOptions {
            serializer: Serializer::Text,
            ..EntryOptions::default()
        };
        let mut out = Vec::new();
        encode(&Value::Text(text.into()), &options, &mut out).expect("text has an entry");
        out
    }

    /// Stores an entry.
    pub fn put(&self, key: usize, entry: &[u8]) -> Result<(), Error> {
        let full = self.full_key(key);
        self.with_appender(|appender| {
            let key = self.engine.key(&full);
            self.engine.put(appender, self.me, key, entry)
        })
    }

    /// Deletes the key.
    pub fn delete(&self, key: usize) {
        let full = self.full_key(key);
        self.engine.delete(self.engine.key(&full));
    }

    /// The present entry and its place; not a use of it.
    pub fn peek(&self, key: usize) -> Option<(Hit, Vec<u8>)> {
        let full = self.full_key(key);
        let mut entry = Vec::new();
        let hit = self
            .engine
            .peek(self.engine.key(&full), self.floor(key), &mut entry)?;
        Some((hit, entry))
    }

    /// Removes just what was seen.
    pub fn remove(&self, key: usize, hit: Hit) -> bool {
        let full = self.full_key(key);
        self.engine.remove(self.engine.key(&full), hit)
    }

    /// Stores an entry in the place of just what was seen.
    pub fn replace(&self, key: usize, hit: Hit, entry: &[u8]) -> Result<bool, Error> {
        let full = self.full_key(key);
        self.with_appender(|appender| {
            let key = self.engine.key(&full);
            self.engine.replace(appender, self.me, key, hit, entry)
        })
    }

    /// Invalidates the loads of a key that is not there.
    pub fn invalidate_loads(&self, key: usize) -> bool {
        let full = self.full_key(key);
        self.engine
            .invalidate_loads(self.engine.key(&full), self.floor(key))
    }

    /// Clears the namespace and those nested in it.
    pub fn clear(&self, namespace: usize) {
        let names = self.namespaces[namespace].names();
        let root = key_hash(self.engine.seed, b"::").as_u64();
        let name = names.last().copied().unwrap_or(root);
        self.engine.raise_floor(name, root);
        // Other tenants' namespaces, so that floors end and their cells are given away.
        let clears = self.engine.clears();
        for other in 0..clears % 13 {
            let tenant = key_hash(self.engine.seed, &(clears << 8 | other).to_le_bytes());
            self.engine.raise_floor(tenant.as_u64(), root);
        }
    }

    /// Reads the key or takes the lease to load it.
    pub fn lease(&self, key: usize, entry: &mut Vec<u8>) -> Lease {
        let full = self.full_key(key);
        let ticks = self.scenario.lease_ticks();
        let with_hash = self.engine.key(&full);
        let lease = self
            .engine
            .lease(self.me, with_hash, self.floor(key), ticks, entry);
        let (own, seed) = (&self.own_leases, self.engine.seed);
        match lease {
            Lease::Acquired(token) => own.note(seed, token.slot, token.word, with_hash.hash),
            Lease::Busy {
                slot,
                word,
                overdue,
            } => {
                let overdue = overdue || own.is_of_another(seed, slot, word, with_hash.hash);
                return Lease::Busy {
                    slot,
                    word,
                    overdue,
                };
            }
            Lease::Hit(_) | Lease::Bypass => {}
        }
        lease
    }

    /// The right to load beside the holder of a lease.
    pub fn beside(&self, key: usize, slot: u64, word: u64) -> Option<Token> {
        let full = self.full_key(key);
        let (key, seed) = (self.engine.key(&full), self.engine.seed);
        let is_of_another = |slot, word| self.own_leases.is_of_another(seed, slot, word, key.hash);
        self.engine.beside(key, slot, word, is_of_another)
    }

    /// Stores the loaded value; false when the lease is invalid.
    pub fn fill(&self, key: usize, token: Token, entry: &[u8]) -> Result<bool, Error> {
        self.forget(token);
        if token.born < self.floor(key)(self.engine.epoch()) {
            self.engine.release(token);
            return Ok(false);
        }
        let full = self.full_key(key);
        let filled = self.with_appender(|appender| {
            let key = self.engine.key(&full);
            self.engine.fill(appender, self.me, key, token, entry)
        });
        self.note_survey(token);
        filled
    }

    /// Notes a load that stores nothing, because a survey's target lies above it.
    fn note_survey(&self, token: Token) {
        if self.engine.memory.peek(header::FLOOR_TARGET) > token.born {
            let Token { slot, word, .. } = token;
            let holder = Holder { slot, word };
            self.history.borrow_mut().surveyed.push(holder);
        }
    }

    /// Ends the lease without a value.
    pub fn release(&self, token: Token) {
        self.forget(token);
        self.engine.release(token);
    }

    fn forget(&self, token: Token) {
        if !token.beside {
            let seed = self.engine.seed;
            self.own_leases.forget(seed, token.slot, token.word);
        }
    }

    /// True while the lease may still fill. The caller holds a mutex of its process.
    pub fn may_fill(&self, key: usize, token: &Token) -> bool {
        self.note_survey(*token);
        undisturbed(|| self.engine.may_fill(*token, self.floor(key)))
    }

    /// Appends as a thread does that met no other writer so far.
    fn with_appender<R>(&self, work: impl FnOnce(&mut Appender) -> R) -> R {
        access();
        let result = work(&mut Appender::default());
        access();
        result
    }

    /// Closes the handle: returns its lock. Its callers are done, so it holds no block.
    pub fn close(&self) {
        self.world.set_alive(self.me.id, false);
    }
}
