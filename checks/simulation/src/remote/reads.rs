//! Cached reads: of the keys that the cache itself writes, as another program would read them.

use super::caller::Caller;
use super::host::{host_id, Process};
use super::network::{full_key, serial_of_record};
use super::server::{alias, real};
use super::truth::{CachedRead, Read, Serial, Time};
use crate::switch::{access, linger};
use polycache_host::{Appender, Lease, Namespace, Token};
use polycache_remote::{
    begin, near_reply, Armed, Begun, Command, Copied, HolderId, Judged, Kept, Near, Place,
    Prefixes, Reply, Ticket,
};

/// The namespaces of what is kept for them.
pub struct ReadNames {
    pub replies: Namespace,
    pub marks: Namespace,
    pub numbers: Namespace,
}

/// A read of a process.
struct AtRead<'a> {
    process: &'a Process,
    name: Vec<u8>,
    keys: Vec<Vec<u8>>,
}

impl Process {
    /// What the leader tells of its arming, if it is not told.
    pub fn tell_armed(&self, armed: &Armed) {
        let at = AtRead {
            process: self,
            name: Vec::new(),
            keys: Vec::new(),
        };
        let now = self.network.borrow().now_ms();
        let told = at.read(Place::Armed);
        if told.and_then(|entry| Armed::parse(&entry)).as_ref() == Some(armed) {
            return;
        }
        let full = self.reads.numbers.full_key(b"armed");
        access();
        let _ = self.engine.put(
            &mut Appender::default(),
            self.me,
            self.engine.key(&full),
            &armed.entry(now),
        );
        access();
    }

    /// A push of a key that may have a guard.
    pub fn void_guard(&self, key: &[u8]) {
        let full = self.reads.marks.full_key(key);
        self.engine.delete(self.engine.key(&full));
    }
}

impl AtRead<'_> {
    fn place(&self, place: Place) -> (&Namespace, &[u8]) {
        let names = &self.process.reads;
        match place {
            Place::Value => (&names.replies, &self.name),
            Place::Armed => (&names.numbers, b"armed"),
            Place::Guard(key) => (&names.marks, &self.keys[key]),
            Place::Clock | Place::Floor(_) => unreachable!("a cached read knows no floors"),
        }
    }

    fn floor<'n>(&'n self, namespace: &'n Namespace) -> impl Fn(u64) -> u64 + 'n {
        let engine = &self.process.engine;
        move |epoch| namespace.floor(epoch, |names| engine.floor_of(names))
    }

    fn read(&self, place: Place) -> Option<Vec<u8>> {
        let (namespace, name) = self.place(place);
        let full = namespace.full_key(name);
        let mut entry = Vec::new();
        let engine = &self.process.engine;
        engine
            .get(engine.key(&full), self.floor(namespace), &mut entry)
            .map(|_| entry)
    }
}

impl Near for AtRead<'_> {
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
        let found = self.read(place);
        linger();
        found
    }

    fn lease(&mut self, place: Place) -> Copied<Token> {
        let (namespace, name) = self.place(place);
        let full = namespace.full_key(name);
        let mut entry = Vec::new();
        let engine = &self.process.engine;
        let ticks = (self.process.scenario.lease_timeout.as_millis() * 16 / 1000) as u32;
        let lease = engine.lease(
            self.process.me,
            engine.key(&full),
            self.floor(namespace),
            ticks,
            &mut entry,
        );
        linger();
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

    fn clear(&mut self, _: usize) {}

    fn now(&self) -> u64 {
        self.process.network.borrow().now_ms()
    }

    fn random(&mut self) -> u64 {
        self.process.network.borrow_mut().rng.u64(..)
    }

    fn me(&self) -> HolderId {
        self.process.holder()
    }

    fn lives(&self, _: HolderId) -> Option<bool> {
        None
    }
}

/// What a reply holds of each key.
type Values = Vec<Option<Serial>>;

impl Caller {
    /// A cached read of a key, or with one server of two.
    pub(super) fn read(&self, key: usize) {
        let process = &*self.process;
        let scenario = &process.scenario;
        let mut numbers = vec![key];
        if scenario.nodes == 1 && scenario.keys.len() > 1 && self.rng.borrow_mut().bool() {
            numbers = vec![0, 1];
        }
        let of: u64 = numbers.iter().map(|number| 1 << number).sum();
        let names = numbers.iter();
        let keys: Vec<Vec<u8>> = names
            .map(|number| {
                process
                    .network
                    .borrow()
                    .name
                    .value(&full_key(scenario, *number))
            })
            .filter_map(|key| alias(&key))
            .collect();
        let at = &mut AtRead {
            process,
            name: of.to_le_bytes().to_vec(),
            keys: keys.clone(),
        };
        let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        let began = self.time();
        loop {
            if let Some(entry) = near_reply(at, &keys) {
                let values = unpack(Kept::parse(&entry).expect("it was served").reply(&entry));
                return self.saw_all(of, &numbers, &values, began, true);
            }
            let since = std::time::Duration::from_nanos(began);
            match begin(at, &keys, since, process.now()) {
                Begun::There => {}
                Begun::Wait(until) => self.wait(until.as_nanos() as u64),
                Begun::Ask(ticket) => return self.ask(at, &keys, &numbers, ticket, (of, began)),
            }
        }
    }

    /// Sends it, as the user's client would, and keeps the reply.
    fn ask(
        &self,
        at: &mut AtRead<'_>,
        keys: &[&[u8]],
        numbers: &[usize],
        ticket: Ticket<Token>,
        (of, began): (u64, Time),
    ) {
        let process = &self.process;
        if ticket.why() == Some(polycache_remote::Uncached::NotHeard) {
            self.want(keys);
        }
        let armed = at.read(Place::Armed).and_then(|entry| Armed::parse(&entry));
        let tag = armed.and_then(|armed| armed.tag_of(&real(keys[0])).map(str::to_owned));
        let proof = {
            let network = process.network.borrow();
            let host = host_id(process.host.number);
            network.name.proof(host, &tag.unwrap_or_default())
        };
        let mut commands: Vec<Command> =
            keys.iter().map(|key| Command::get(key.to_vec())).collect();
        commands.push(Command::get(proof));
        let is_late = self.rng.borrow_mut().u32(..100) < process.scenario.late;
        let late = match is_late {
            true => process
                .network
                .borrow_mut()
                .send_late(&commands, &self.flag),
            false => None,
        };
        let mut send = || {
            process
                .network
                .borrow_mut()
                .send(process.number, commands.clone(), &self.flag)
        };
        let request = late.unwrap_or_else(&mut send);
        let deadline = self.time() + process.scenario.timeout.as_nanos() as u64;
        let replies = loop {
            let replies = process.network.borrow_mut().take_replies(request);
            if replies.is_some() || self.time() >= deadline {
                break replies;
            }
            self.wait(deadline);
        };
        let Some(mut replies) = replies else {
            process.network.borrow_mut().forget(request);
            self.note("cached read fails", String::new);
            return ticket.fail(at);
        };
        let proof = replies.pop();
        let proof = match &proof {
            Some(Reply::Bytes(proof)) => Some(proof.as_slice()),
            _ => None,
        };
        let values: Values = replies
            .iter()
            .map(|reply| match reply {
                Reply::Bytes(record) => serial_of_record(record),
                _ => None,
            })
            .collect();
        linger();
        let filled = ticket.fill(at, proof, &pack(&values), 0);
        self.note(if filled { "kept" } else { "not kept" }, || {
            format!("{of:b} {values:?}")
        });
        // A client that speaks to another server is told what that holds, with a cache or without.
        if late.is_none() {
            self.saw_all(of, numbers, &values, began, false);
        }
    }

    /// Has the host's listener hear of these keys.
    fn want(&self, keys: &[&[u8]]) {
        let process = &self.process;
        let prefixes = match process.scenario.hears_all {
            true => vec![Vec::new()],
            // Their namespace, and not always the other's.
            false => keys.iter().map(|key| key.to_vec()).collect(),
        };
        let mut wanted = process.host.wanted.borrow_mut();
        // What is only wanted for a while ends some time.
        *wanted = match self.rng.borrow_mut().u32(..4) {
            0 => Prefixes::new(prefixes),
            _ => wanted.join(prefixes),
        };
    }

    fn saw_all(&self, of: u64, numbers: &[usize], values: &Values, begin: Time, near: bool) {
        let end = self.time();
        let host = self.process.host.number;
        self.note(if near { "cached hit" } else { "cached read" }, || {
            format!("{of:b} {values:?} since {begin}")
        });
        let reads = numbers.iter().zip(values).map(|(key, value)| CachedRead {
            of,
            read: Read {
                key: *key,
                host,
                begin,
                end,
                value: *value,
                near,
            },
        });
        let mut network = self.process.network.borrow_mut();
        network.truth.cached_reads.extend(reads);
    }
}

fn pack(values: &Values) -> Vec<u8> {
    let numbers = values.iter().map(|value| value.map_or(u64::MAX, u64::from));
    numbers.flat_map(u64::to_le_bytes).collect()
}

fn unpack(bytes: &[u8]) -> Values {
    let words = bytes.chunks_exact(8);
    let numbers = words.filter_map(|word| Some(u64::from_le_bytes(word.try_into().ok()?)));
    numbers.map(|number| u32::try_from(number).ok()).collect()
}
