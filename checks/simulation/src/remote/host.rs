//! A process of a host: its directory over the simulated memory, as the machines of one key see it.

use super::network::{full_key, namespaces, Network};
use super::reads::ReadNames;
use super::scenario::Scenario;
use crate::memory::Shared;
use crate::switch::{access, linger};
use crate::world::{Outside, World};
use polycache_host::engine::{Engine, Participant};
use polycache_host::hash::key_hash;
use polycache_host::{Appender, Lease, Namespace, Notes, Token};
use polycache_operations::{Holder, Lease as GuardLease, Leases};
use polycache_remote::{
    Board, BoardWords, Breaker, Copied, Guards, HolderId, Judged, LastClear, Near, Place, Prefixes,
};
use std::cell::RefCell;
use std::convert::Infallible;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// What the processes of a host share.
pub struct Host {
    pub number: usize,
    pub world: Arc<World>,
    pub memory: Arc<Shared>,
    pub board: BoardWords,
    pub seed: u64,
    /// What its listener is to hear of for cached reads.
    pub wanted: RefCell<Prefixes>,
}

impl Host {
    pub fn board(&self) -> Board<'_> {
        Board::new(&self.board, 1)
    }
}

/// A process.
pub struct Process {
    pub number: usize,
    pub host: Rc<Host>,
    pub engine: Engine<Arc<Shared>, Outside>,
    pub me: Participant,
    pub scenario: Rc<Scenario>,
    pub network: Rc<RefCell<Network>>,
    pub breaker: Breaker,
    last_clear: LastClear,
    keys: Vec<KeyNames>,
    all: Namespace,
    pub(super) reads: ReadNames,
}

/// The names of a key's copies in the directory.
struct KeyNames {
    /// Those of the root, and of each namespace around the key; the key is in the last.
    namespaces: Vec<Namespace>,
    name: Vec<u8>,
    floors: Vec<Vec<u8>>,
    numbers: Namespace,
    guards: Namespace,
}

/// The number by which other hosts know a host.
pub fn host_id(number: usize) -> u64 {
    number as u64 + 1
}

impl Process {
    pub fn new(
        number: usize,
        id: u32,
        host: &Rc<Host>,
        scenario: &Rc<Scenario>,
        network: &Rc<RefCell<Network>>,
    ) -> Process {
        let engine = Engine {
            memory: host.memory.clone(),
            environment: Outside {
                world: host.world.clone(),
                memory: host.memory.clone(),
                block_size: scenario.geometry.block_size,
            },
            geometry: scenario.geometry,
            seed: host.seed,
            notes: Notes::default(),
        };
        host.world.set_alive(id, true);
        let at = scenario.geometry.participants_at + id as usize * 8;
        let incarnation = host.memory.peek(at) + 1;
        host.memory.preset(at, incarnation);
        let near = |prefix: &[u8]| Namespace::new([b"%r:", prefix].concat(), host.seed);
        let keys = (0..scenario.keys.len())
            .map(|key| {
                let prefixes = namespaces(scenario, key);
                KeyNames {
                    namespaces: prefixes.iter().map(|prefix| near(prefix)).collect(),
                    name: scenario.keys[key].1.clone().into_bytes(),
                    floors: prefixes,
                    numbers: near(b"%n::"),
                    guards: Namespace::new(b"%load::".to_vec(), host.seed),
                }
            })
            .collect();
        Process {
            number,
            host: host.clone(),
            engine,
            me: Participant { id, incarnation },
            scenario: scenario.clone(),
            network: network.clone(),
            breaker: Breaker::default(),
            last_clear: LastClear::default(),
            keys,
            all: near(b"::"),
            reads: ReadNames {
                replies: near(b"%r::"),
                marks: near(b"%g::"),
                numbers: near(b"%n::"),
            },
        }
    }

    /// Time on the clock that is never set.
    pub fn now(&self) -> Duration {
        Duration::from_nanos(self.network.borrow().now)
    }

    /// This process, as other hosts know it.
    pub fn holder(&self) -> HolderId {
        HolderId {
            host: host_id(self.host.number),
            participant: u64::from(self.me.id) << 48 | self.me.incarnation,
        }
    }

    /// The participants of the host that live, as they are told to others.
    pub fn living(&self) -> Vec<u64> {
        (1..64)
            .filter(|id| self.host.world.is_alive(*id))
            .map(|id| {
                let at = self.scenario.geometry.participants_at + id as usize * 8;
                u64::from(id) << 48 | self.host.memory.peek(at)
            })
            .collect()
    }

    /// A number of a key, for the operation at hand.
    pub fn key(&self, key: usize) -> AtKey<'_> {
        AtKey { process: self, key }
    }

    fn raise(&self, namespace: &Namespace) {
        let root = key_hash(self.host.seed, b"::").as_u64();
        let name = namespace.names().last().copied().unwrap_or(root);
        self.engine.raise_floor(name, root);
    }

    /// Removes all copies.
    pub fn clear_all(&self) {
        self.raise(&self.all);
    }

    /// Voids the copy of a floor, then removes all copies of its namespace.
    pub fn clear_namespace(&self, prefix: &[u8]) {
        self.void_number(prefix);
        let namespace = Namespace::new([b"%r:", prefix].concat(), self.host.seed);
        self.raise(&namespace);
    }

    /// Voids the copy of the clock.
    pub fn void_clock(&self) {
        self.void_number(b"clock");
    }

    fn void_number(&self, name: &[u8]) {
        let namespace = &self.keys[0].numbers;
        let full = namespace.full_key(name);
        self.engine.delete(self.engine.key(&full));
    }

    /// Voids the copy of a full key.
    pub fn void(&self, full_key: &[u8]) {
        let key = (0..self.keys.len()).find(|key| self.full(*key) == full_key);
        if let Some(key) = key {
            self.key(key).void(Place::Value);
        }
    }

    fn full(&self, key: usize) -> Vec<u8> {
        full_key(&self.scenario, key)
    }
}

/// A key of a process.
pub struct AtKey<'a> {
    pub process: &'a Process,
    pub key: usize,
}

impl AtKey<'_> {
    fn names(&self) -> &KeyNames {
        &self.process.keys[self.key]
    }

    fn place(&self, place: Place) -> (&Namespace, &[u8]) {
        let names = self.names();
        match place {
            Place::Value => (
                names.namespaces.last().expect("the root at least"),
                &names.name,
            ),
            Place::Clock => (&names.numbers, b"clock"),
            Place::Floor(floor) => (&names.numbers, &names.floors[floor]),
            Place::Armed | Place::Guard(_) => unreachable!("an operation of the cache"),
        }
    }

    fn floor<'n>(&'n self, namespace: &'n Namespace) -> impl Fn(u64) -> u64 + 'n {
        let engine = &self.process.engine;
        move |epoch| namespace.floor(epoch, |names| engine.floor_of(names))
    }

    fn ticks(&self) -> u32 {
        (self.process.scenario.lease_timeout.as_millis() * 16 / 1000) as u32
    }
}

impl Near for AtKey<'_> {
    type Fence = Token;

    fn judge(&self) -> Judged {
        access();
        let judged = self.process.host.board().judge();
        linger();
        judged
    }

    fn is_fresh(&self, judged: Judged) -> bool {
        let staleness = self.process.scenario.staleness;
        !staleness.is_zero() && judged.is_fresh(self.process.now(), staleness)
    }

    fn copy(&mut self, place: Place) -> Option<Vec<u8>> {
        let (namespace, name) = self.place(place);
        let full = namespace.full_key(name);
        let mut entry = Vec::new();
        let engine = &self.process.engine;
        engine
            .get(engine.key(&full), self.floor(namespace), &mut entry)
            .map(|_| entry)
    }

    fn last_clear(&self) -> Option<&LastClear> {
        Some(&self.process.last_clear)
    }

    fn lease(&mut self, place: Place) -> Copied<Token> {
        let (namespace, name) = self.place(place);
        let full = namespace.full_key(name);
        let mut entry = Vec::new();
        let engine = &self.process.engine;
        let lease = engine.lease(
            self.process.me,
            engine.key(&full),
            self.floor(namespace),
            self.ticks(),
            &mut entry,
        );
        match lease {
            Lease::Hit(_) => Copied::There(entry),
            Lease::Acquired(token) => Copied::Acquired(token),
            Lease::Busy { .. } => Copied::Busy,
            Lease::Bypass => Copied::Bypass,
        }
    }

    fn fill(&mut self, place: Place, fence: Token, entry: &[u8]) -> bool {
        let (namespace, name) = self.place(place);
        let engine = &self.process.engine;
        if fence.born < self.floor(namespace)(engine.epoch()) {
            engine.release(fence);
            return false;
        }
        let full = namespace.full_key(name);
        access();
        let filled = engine.fill(
            &mut Appender::default(),
            self.process.me,
            engine.key(&full),
            fence,
            entry,
        );
        access();
        filled.unwrap_or(false)
    }

    fn release(&mut self, _: Place, fence: Token) {
        self.process.engine.release(fence);
    }

    fn stands(&self, place: Place, fence: &Token) -> bool {
        let (namespace, _) = self.place(place);
        self.process.engine.may_fill(*fence, self.floor(namespace))
    }

    fn void(&mut self, place: Place) {
        let (namespace, name) = self.place(place);
        let full = namespace.full_key(name);
        let engine = &self.process.engine;
        engine.delete(engine.key(&full));
    }

    fn clear(&mut self, floor: usize) {
        self.process.raise(&self.names().namespaces[floor]);
    }

    fn now(&self) -> u64 {
        self.process.network.borrow().now_ms()
    }

    fn random(&mut self) -> u64 {
        self.process.network.borrow_mut().rng.u64(..)
    }

    fn me(&self) -> HolderId {
        self.process.holder()
    }

    fn lives(&self, holder: HolderId) -> Option<bool> {
        (holder.host == host_id(self.process.host.number))
            .then(|| self.process.living().contains(&holder.participant))
    }
}

/// The guard of a key's loads.
pub struct Guard<'a>(pub AtKey<'a>);

impl Leases for Guard<'_> {
    type Fence = Token;
    type Error = Infallible;

    fn lease(&mut self) -> Result<GuardLease<Token>, Infallible> {
        let at = &self.0;
        let full = at
            .names()
            .guards
            .full_key(&full_key(&at.process.scenario, at.key));
        let engine = &at.process.engine;
        let mut unused = Vec::new();
        let floor = at.floor(&at.names().guards);
        let lease = engine.lease(
            at.process.me,
            engine.key(&full),
            floor,
            at.ticks(),
            &mut unused,
        );
        Ok(match lease {
            Lease::Hit(_) => GuardLease::Hit,
            Lease::Acquired(token) => GuardLease::Acquired(token),
            Lease::Bypass => GuardLease::Bypass,
            Lease::Busy {
                slot,
                word,
                overdue,
            } => GuardLease::Busy {
                holder: Holder { slot, word },
                overdue,
            },
        })
    }

    fn beside(&mut self, holder: Holder) -> Result<Option<Token>, Infallible> {
        let at = &self.0;
        let full = at
            .names()
            .guards
            .full_key(&full_key(&at.process.scenario, at.key));
        let engine = &at.process.engine;
        Ok(engine.beside(engine.key(&full), holder.slot, holder.word, |_, _| false))
    }

    fn has_inherited(&self, from: Holder, holder: Holder) -> bool {
        polycache_host::has_inherited(from, holder)
    }

    fn fill(&mut self, fence: Token, _: &[u8]) -> Result<bool, Infallible> {
        self.release(fence);
        Ok(false)
    }

    fn release(&mut self, fence: Token) {
        self.0.process.engine.release(fence);
    }
}

impl Guards for Guard<'_> {
    fn is_beside(&self, fence: &Token) -> bool {
        fence.beside
    }
}
