//! Messages between callers, listeners and servers, with their delays; and the servers' rounds.

use super::scenario::Scenario;
use super::server::Cluster;
use super::truth::{Serial, Time, Truth};
use crate::world::Flag;
use fastrand::Rng;
use polycache_host::keys::prefix;
use polycache_remote::{
    Command, Heard, Kind, Map, Names, Pushed, Record, RemoteName, Reply, Script, Verb,
};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

/// What will happen at a time.
#[derive(Debug)]
enum Happening {
    /// A command reaches its server.
    Arrives {
        request: u64,
        place: usize,
        command: Command,
        process: usize,
    },
    /// A reply reaches its caller.
    Replies {
        request: u64,
        place: usize,
        reply: Reply,
    },
    /// A server sends what it pushes.
    Round { server: usize },
    /// A listener hears something.
    Hears { process: usize, heard: Heard },
    /// A connection for pushes reaches its server.
    Tracks {
        process: usize,
        arming: u64,
        node: usize,
        name: u64,
        prefixes: Vec<Vec<u8>>,
    },
    /// A moving slot goes on.
    Moves,
}

/// A request that waits for replies.
struct Request {
    replies: Vec<Option<Reply>>,
    flag: Arc<Flag>,
}

/// A connection of a listener.
#[derive(Clone, Debug)]
struct Connection {
    process: usize,
    arming: u64,
    node: usize,
    server: usize,
    /// Nothing arrives, and nobody is told.
    silent: bool,
    /// The time of the last message: none overtakes another.
    last: Time,
}

/// Everything between the callers and the servers, and these.
pub struct Network {
    scenario: Rc<Scenario>,
    pub now: Time,
    pub rng: Rng,
    pub cluster: Cluster,
    pub truth: Truth,
    pub name: RemoteName,
    /// What went wrong in the simulation itself.
    pub faults: Vec<String>,
    pub log: Vec<String>,
    whole: bool,
    pub met: BTreeMap<&'static str, u64>,
    queue: BinaryHeap<Reverse<(Time, u64)>>,
    happenings: BTreeMap<u64, Happening>,
    numbers: u64,
    requests: BTreeMap<u64, Request>,
    /// By process and server: when the last command arrived, and the last reply.
    order: BTreeMap<(usize, usize), (Time, Time)>,
    connections: BTreeMap<u64, Connection>,
    /// What listeners have heard, by process, with what wakes them.
    pub mail: BTreeMap<usize, (VecDeque<Heard>, Arc<Flag>)>,
    /// By name on the server: the key's number.
    keys: BTreeMap<Vec<u8>, usize>,
    /// By name on the server: when the floor was last raised.
    raised: BTreeMap<Vec<u8>, Time>,
    /// Changes before it may have been lost.
    last_failover: Time,
    /// By number of a clear: when the clock gave it out. A loader that begins after that counts as later.
    counted: BTreeMap<Vec<u8>, Time>,
}

impl Network {
    pub fn new(scenario: &Rc<Scenario>, whole: bool) -> Network {
        let mut rng = Rng::with_seed(scenario.seed ^ 0x6e65_7477_6f72_6b21);
        let name = RemoteName::new("p");
        let keys: BTreeMap<Vec<u8>, usize> = (0..scenario.keys.len())
            .map(|key| (name.value(&full_key(scenario, key)), key))
            .collect();
        let cluster = Cluster::new(scenario.nodes, || rng.u64(0..4000));
        let truth = Truth {
            states: vec![Vec::new(); keys.len()],
            changes: vec![Vec::new(); keys.len()],
            ..Truth::default()
        };
        let mut network = Network {
            scenario: scenario.clone(),
            now: 1_000_000_000,
            rng,
            cluster,
            truth,
            name,
            faults: Vec::new(),
            log: Vec::new(),
            whole,
            met: BTreeMap::new(),
            queue: BinaryHeap::new(),
            happenings: BTreeMap::new(),
            numbers: 0,
            requests: BTreeMap::new(),
            order: BTreeMap::new(),
            connections: BTreeMap::new(),
            mail: BTreeMap::new(),
            keys,
            raised: BTreeMap::new(),
            last_failover: 0,
            counted: BTreeMap::new(),
        };
        for key in 0..scenario.keys.len() {
            network.truth.state(key, 0, None, false);
        }
        network
    }

    /// Writes a line of the log, and counts.
    pub fn note(&mut self, what: &'static str, more: impl FnOnce() -> String) {
        *self.met.entry(what).or_default() += 1;
        if self.whole {
            self.log.push(format!("{:>12} {what} {}", self.now, more()));
        }
    }

    /// The names of a key's operations.
    pub fn names(&self, key: usize) -> Names {
        let namespaces = namespaces(&self.scenario, key);
        let prefixes: Vec<&[u8]> = namespaces.iter().map(Vec::as_slice).collect();
        Names::new(&self.name, &prefixes, &full_key(&self.scenario, key))
    }

    fn at(&mut self, time: Time, happening: Happening) {
        self.numbers += 1;
        self.queue.push(Reverse((time, self.numbers)));
        self.happenings.insert(self.numbers, happening);
    }

    /// When the next thing happens.
    pub fn next(&self) -> Option<Time> {
        self.queue.peek().map(|Reverse((time, _))| *time)
    }

    fn delay(&mut self) -> Time {
        let usual = self.rng.u64(0..=self.scenario.delay);
        if self.rng.u32(..1000) >= self.scenario.chaos.slow {
            return usual;
        }
        let longest = 1_000_000_000 >> self.rng.u32(0..6);
        usual + self.rng.u64(0..=longest)
    }

    /// A caller sends commands, each to the server that owns its key. Returns the request's number.
    pub fn send(&mut self, process: usize, commands: Vec<Command>, flag: &Arc<Flag>) -> u64 {
        self.numbers += 1;
        let request = self.numbers;
        let replies = vec![None; commands.len()];
        let flag = flag.clone();
        self.requests.insert(request, Request { replies, flag });
        for (place, command) in commands.into_iter().enumerate() {
            let server = self.cluster.owner(&command.key);
            let delay = self.delay();
            let (arrives, _) = self.order.entry((process, server)).or_default();
            *arrives = (*arrives).max(self.now + delay);
            let time = *arrives;
            self.at(
                time,
                Happening::Arrives {
                    request,
                    place,
                    command,
                    process,
                },
            );
        }
        request
    }

    /// The replies, once all are there.
    pub fn take_replies(&mut self, request: u64) -> Option<Vec<Reply>> {
        let whole = self
            .requests
            .get(&request)
            .is_some_and(|request| request.replies.iter().all(Option::is_some));
        whole.then(|| {
            let request = self.requests.remove(&request);
            request
                .into_iter()
                .flat_map(|request| request.replies)
                .flatten()
                .collect()
        })
    }

    /// Nobody waits for them any more.
    pub fn forget(&mut self, request: u64) {
        self.requests.remove(&request);
    }

    /// A listener asks for the map.
    pub fn ask_map(&mut self, process: usize) {
        let (there, back) = (self.delay(), self.delay());
        // It is read when it is asked for; a map is no younger than the question.
        let hung = self
            .cluster
            .servers
            .iter()
            .any(|server| server.hung_until > self.now + there);
        let map = if hung { None } else { self.cluster.map() };
        let heard = Heard::Map(map);
        self.at(self.now + there + back, Happening::Hears { process, heard });
    }

    /// A listener opens its connections; its earlier ones are closed.
    pub fn listen(&mut self, process: usize, arming: u64, map: &Map, prefixes: &[Vec<u8>]) {
        self.hang_up(process);
        for (node, one) in map.nodes.iter().enumerate() {
            let time = self.now + self.delay() * 3;
            let name = one.name.parse().unwrap_or(u64::MAX);
            self.at(
                time,
                Happening::Tracks {
                    process,
                    arming,
                    node,
                    name,
                    prefixes: prefixes.to_vec(),
                },
            );
        }
    }

    /// The connections of a process' listener are gone.
    pub fn hang_up(&mut self, process: usize) {
        let gone: Vec<u64> = self
            .connections
            .iter()
            .filter(|(_, one)| one.process == process)
            .map(|(number, _)| *number)
            .collect();
        for number in gone {
            self.connections.remove(&number);
            for server in &mut self.cluster.servers {
                server.trackers.retain(|(one, _)| *one != number);
            }
        }
    }

    /// Connections of listeners end, with notice or without.
    pub fn cut(&mut self, silent: bool) {
        let numbers: Vec<u64> = self.connections.keys().copied().collect();
        if numbers.is_empty() {
            return;
        }
        let number = numbers[self.rng.usize(..numbers.len())];
        self.end(number, silent);
    }

    fn end(&mut self, number: u64, silent: bool) {
        let time = self.now + self.delay();
        let Some(connection) = self.connections.get_mut(&number) else {
            return;
        };
        self.met
            .entry(if silent { "silent" } else { "cut" })
            .and_modify(|times| *times += 1)
            .or_insert(1);
        connection.silent = true;
        if !silent {
            let (process, arming) = (connection.process, connection.arming);
            let heard = Heard::Ended { arming };
            self.at(time, Happening::Hears { process, heard });
        }
    }

    /// A replica takes the place of a server.
    pub fn fail_over(&mut self) {
        let server = self.rng.usize(..self.cluster.servers.len());
        let lacks = [0, 0, 1, 3][self.rng.usize(..4)];
        self.cluster.fail_over(server, lacks);
        self.last_failover = self.now;
        let silent = self.rng.u32(..3) == 0;
        let numbers: Vec<u64> = self
            .connections
            .iter()
            .filter(|(_, one)| one.server == server)
            .map(|(number, _)| *number)
            .collect();
        for number in numbers {
            self.end(number, silent);
        }
        self.note("failover", || format!("of {server}, lacks {lacks}"));
        self.recompute(false);
        // What comes back may have been cleared, which some hosts know by copies.
        let keys: Vec<(Vec<u8>, usize)> = self.keys.clone().into_iter().collect();
        for (name, key) in keys {
            self.cleared_already(key, &name);
        }
    }

    /// A server does nothing for a while.
    pub fn hang(&mut self) {
        let server = self.rng.usize(..self.cluster.servers.len());
        let until = self.now + (self.rng.u64(0..2_000_000_000) >> self.rng.u32(0..6));
        self.cluster.servers[server].hung_until = until;
        self.note("hang", || format!("of {server} until {until}"));
    }

    /// A slot begins to move to another server.
    pub fn reshard(&mut self) {
        let names: Vec<Vec<u8>> = self.keys.keys().cloned().collect();
        let key = &names[self.rng.usize(..names.len())];
        let to = self.rng.usize(..self.cluster.servers.len());
        self.cluster.begin_move(key, to);
        if self.cluster.moving.is_some() {
            self.note("reshard", || format!("to {to}"));
            let time = self.now + self.delay() * 20;
            self.at(time, Happening::Moves);
        }
    }

    /// Another program, or the server's own eviction, changes a key.
    pub fn meddle(&mut self, evicts: bool) {
        let names: Vec<Vec<u8>> = self.keys.keys().cloned().collect();
        let name = names[self.rng.usize(..names.len())].clone();
        let server = self.cluster.owner(&name);
        let number = self.keys[&name];
        if evicts {
            self.cluster.servers[server].remove(&name);
            self.note("evicts", || format!("k{number}"));
        } else if self.rng.u32(..20) == 0 {
            for server in 0..self.cluster.servers.len() {
                self.cluster.servers[server].flush();
                self.push_all(server);
            }
            self.note("flushes", String::new);
            self.truth.flushes.push(self.now);
            for key in 0..self.truth.changes.len() {
                self.truth.changes[key].push(self.now);
            }
            self.recompute(false);
            return;
        } else if self.rng.bool() {
            self.cluster.servers[server].remove(&name);
            self.note("foreign delete", || format!("k{number}"));
        } else {
            // Another machine, which the simulation does not have.
            let serial = self.truth.value(None);
            let clock = self
                .cluster
                .get(&self.name.clock(), self.now)
                .map_or(0, |text| String::from_utf8_lossy(text).parse().unwrap_or(0));
            let mut bytes = vec![0xC1, 0x81];
            bytes.extend_from_slice(&u64::to_le_bytes(clock)[..6]);
            bytes.extend_from_slice(&self.rng.u64(..).to_le_bytes());
            bytes.extend_from_slice(&entry_of(number, serial, 0, self.now_ms()));
            let set = Command {
                verb: Verb::Set,
                key: name.clone(),
                args: vec![bytes],
            };
            self.cluster.execute(server, &set, self.now);
            self.note("foreign set", || format!("k{number} v{serial}"));
        }
        self.truth.changes[number].push(self.now);
        self.written(server, &name);
    }

    /// Milliseconds since 1970.
    pub fn now_ms(&self) -> u64 {
        1_700_000_000_000 + self.now / 1_000_000
    }

    /// Everything that is due happens.
    pub fn happen(&mut self) {
        while let Some(Reverse((time, number))) = self.queue.peek().copied() {
            if time > self.now {
                return;
            }
            self.queue.pop();
            if let Some(happening) = self.happenings.remove(&number) {
                self.happens(happening);
            }
        }
    }

    fn happens(&mut self, happening: Happening) {
        match happening {
            Happening::Arrives {
                request,
                place,
                command,
                process,
            } => self.arrives(request, place, command, process),
            Happening::Replies {
                request,
                place,
                reply,
            } => {
                if let Some(request) = self.requests.get_mut(&request) {
                    request.replies[place] = Some(reply);
                    if request.replies.iter().all(Option::is_some) {
                        std::task::Wake::wake(request.flag.clone());
                    }
                }
            }
            Happening::Round { server } => self.round(server),
            Happening::Hears { process, heard } => {
                if let Some((mail, flag)) = self.mail.get_mut(&process) {
                    mail.push_back(heard);
                    std::task::Wake::wake(flag.clone());
                }
            }
            Happening::Tracks {
                process,
                arming,
                node,
                name,
                prefixes,
            } => self.tracks(process, arming, node, name, prefixes),
            Happening::Moves => {
                let written = self.cluster.go_on_moving();
                for (server, key) in written {
                    self.written(server, &key);
                }
                if self.cluster.moving.is_some() {
                    let time = self.now + self.delay() * 10;
                    self.at(time, Happening::Moves);
                }
            }
        }
    }

    fn arrives(&mut self, request: u64, place: usize, command: Command, process: usize) {
        // Clients follow redirections.
        let server = self.cluster.owner(&command.key);
        let hung = self.cluster.servers[server].hung_until;
        if hung > self.now {
            let again = Happening::Arrives {
                request,
                place,
                command,
                process,
            };
            return self.at(hung, again);
        }
        let key = self.keys.get(&command.key).copied();
        let before = self.cluster.get(&command.key, self.now).map(<[u8]>::to_vec);
        let (reply, changed) = self.cluster.execute(server, &command, self.now);
        if let (Verb::Run(Script::Clear), Reply::Int(number)) = (command.verb, &reply) {
            self.counted
                .insert(number.to_string().into_bytes(), self.now);
        }
        if changed {
            self.executed(key, &command, before.as_deref());
            self.written(server, &command.key);
        }
        if self.whole {
            let key = String::from_utf8_lossy(&command.key).into_owned();
            let verb = command.verb;
            self.log.push(format!(
                "{:>12} executes {verb:?} {key} of p{process} at {server}: {}",
                self.now,
                brief(&reply)
            ));
        }
        let delay = self.delay();
        let (_, replied) = self.order.entry((process, server)).or_default();
        *replied = (*replied).max(self.now + delay);
        let time = *replied;
        self.at(
            time,
            Happening::Replies {
                request,
                place,
                reply,
            },
        );
    }

    /// Notes a change, for the rule that what a load stores is younger than every change.
    fn executed(&mut self, key: Option<usize>, command: &Command, before: Option<&[u8]>) {
        if let Some(key) = key {
            let now = self.now;
            let replaced = before.and_then(Record::parse);
            let is_pending = replaced.is_some_and(|record| matches!(record.kind, Kind::Pending(_)));
            let by_load = matches!(command.verb, Verb::Run(Script::Exchange)) && is_pending;
            let of_load = matches!(command.verb, Verb::Run(Script::Acquire | Script::Remove));
            if by_load {
                let stored = self.serial_at(&command.key).and_then(|serial| {
                    self.truth.values[serial as usize].map(|began| (serial, began))
                });
                if let Some((serial, began)) = stored {
                    let reset = self.last_failover > began;
                    let later = self.truth.changes[key].iter().any(|at| *at > began)
                        && self.served(key) == Some(serial)
                        && !reset;
                    if later {
                        self.faults.push(format!(
                            "the loaded v{serial} of k{key} was stored at {now} after a change since {began}"
                        ));
                    }
                }
            } else if !of_load {
                self.truth.changes[key].push(now);
            }
        }
    }

    /// A key was written: what it holds now, and who is told.
    fn written(&mut self, server: usize, key: &[u8]) {
        match self.name.understand(key) {
            Pushed::Value(_) => {
                if let Some(number) = self.keys.get(key).copied() {
                    self.recompute_one(number, false);
                    self.cleared_already(number, key);
                }
            }
            Pushed::Floor(namespace) => {
                let cleared: Vec<usize> = (0..self.truth.changes.len())
                    .filter(|key| {
                        namespaces(&self.scenario, *key)
                            .iter()
                            .any(|one| one == namespace)
                    })
                    .collect();
                let number = self.cluster.get(key, self.now).map(<[u8]>::to_vec);
                let counted = number.and_then(|number| self.counted.get(&number).copied());
                for key in cleared {
                    self.truth.changes[key].push(counted.unwrap_or(self.now));
                }
                self.raised.insert(key.to_vec(), self.now);
                self.recompute(true);
            }
            _ => {}
        }
        let one = &mut self.cluster.servers[server];
        let wanted = one
            .trackers
            .iter()
            .any(|(_, prefixes)| prefixes.iter().any(|prefix| key.starts_with(prefix)));
        if wanted {
            let first = one.written.is_empty();
            one.written.insert(key.to_vec());
            if first {
                let time = self.now + self.rng.u64(0..self.scenario.round);
                self.at(time, Happening::Round { server });
            }
        }
    }

    fn recompute(&mut self, by_clear: bool) {
        for key in 0..self.truth.states.len() {
            self.recompute_one(key, by_clear);
        }
    }

    fn recompute_one(&mut self, key: usize, by_clear: bool) {
        let value = self.served(key);
        self.truth.state(key, self.now, value, by_clear);
    }

    /// A value may be stored by somebody who did not know of a clear yet: on that host it stands until
    /// the clear is heard of.
    fn cleared_already(&mut self, key: usize, name: &[u8]) {
        let Some(serial) = self.serial_at(name) else {
            return;
        };
        if self.served(key).is_some() {
            return;
        }
        let now = self.now;
        self.truth.state(key, now, Some(serial), false);
        self.truth.state(key, now, None, true);
    }

    /// A set that is acknowledged stands, or something came after it: a clear that was executed no more
    /// than `max_staleness` before the set began, at the earliest.
    pub fn acknowledged(&mut self, key: usize, serial: Serial, begin: Time) {
        let name = self.name.value(&full_key(&self.scenario, key));
        if self.serial_at(&name) != Some(serial) || self.served(key).is_some() {
            return;
        }
        // A failover may lose the second of the two commands of a set.
        if self.last_failover > begin {
            return;
        }
        let raised = namespaces(&self.scenario, key)
            .iter()
            .filter_map(|one| self.raised.get(&self.name.floor(one)))
            .max()
            .copied()
            .unwrap_or(0);
        let staleness = self.scenario.staleness.as_nanos() as u64;
        if raised < begin.saturating_sub(staleness) {
            self.faults.push(format!(
                "v{serial} of k{key}, set since {begin}, is lost to a clear of {raised}"
            ));
        }
    }

    /// What a read of the key finds on its primary.
    fn served(&self, key: usize) -> Option<Serial> {
        let name = self.name.value(&full_key(&self.scenario, key));
        let bytes = self.cluster.get(&name, self.now)?;
        let record = Record::parse(bytes)?;
        let Kind::Value(_) = record.kind else {
            return None;
        };
        (record.born >= self.floor(key)).then(|| self.serial_at(&name))?
    }

    fn floor(&self, key: usize) -> u64 {
        namespaces(&self.scenario, key)
            .iter()
            .filter_map(|one| self.cluster.get(&self.name.floor(one), self.now))
            .filter_map(|text| String::from_utf8_lossy(text).parse().ok())
            .max()
            .unwrap_or(0)
    }

    fn serial_at(&self, name: &[u8]) -> Option<Serial> {
        let bytes = self.cluster.get(name, self.now)?;
        let Kind::Value(entry) = Record::parse(bytes)?.kind else {
            return None;
        };
        serial_of(entry)
    }

    fn tracks(
        &mut self,
        process: usize,
        arming: u64,
        node: usize,
        name: u64,
        prefixes: Vec<Vec<u8>>,
    ) {
        let server = self
            .cluster
            .servers
            .iter()
            .position(|server| server.name == name);
        let time = self.now + self.delay();
        let Some(server) = server else {
            let heard = Heard::Ended { arming };
            return self.at(time, Happening::Hears { process, heard });
        };
        self.numbers += 1;
        let number = self.numbers;
        self.cluster.servers[server]
            .trackers
            .push((number, prefixes));
        self.connections.insert(
            number,
            Connection {
                process,
                arming,
                node,
                server,
                silent: false,
                last: time,
            },
        );
        let heard = Heard::Armed { arming, node };
        self.at(time, Happening::Hears { process, heard });
    }

    /// A server has gone round its loop: it sends the keys of each prefix, in any order of prefixes.
    fn round(&mut self, server: usize) {
        let written = std::mem::take(&mut self.cluster.servers[server].written);
        let trackers = self.cluster.servers[server].trackers.clone();
        for (number, mut prefixes) in trackers {
            self.rng.shuffle(&mut prefixes);
            for prefix in prefixes {
                let keys: Vec<Vec<u8>> = written
                    .iter()
                    .filter(|key| key.starts_with(&prefix))
                    .cloned()
                    .collect();
                if !keys.is_empty() {
                    self.push(number, Some(keys));
                }
            }
        }
    }

    fn push_all(&mut self, server: usize) {
        let trackers: Vec<u64> = self.cluster.servers[server]
            .trackers
            .iter()
            .map(|(number, _)| *number)
            .collect();
        for number in trackers {
            self.push(number, None);
        }
    }

    fn push(&mut self, number: u64, keys: Option<Vec<Vec<u8>>>) {
        let delay = self.delay();
        let Some(connection) = self.connections.get_mut(&number) else {
            return;
        };
        if connection.silent {
            return;
        }
        connection.last = connection.last.max(self.now + delay);
        let Connection {
            process,
            arming,
            node,
            last,
            ..
        } = *connection;
        let heard = Heard::Pushed { arming, node, keys };
        self.at(last, Happening::Hears { process, heard });
    }
}

/// The prefixes of the root's and of each namespace's full keys around a key.
pub fn namespaces(scenario: &Scenario, key: usize) -> Vec<Vec<u8>> {
    let parts = &scenario.keys[key].0;
    (0..=parts.len())
        .map(|depth| prefix(&parts[..depth]).expect("no empty part"))
        .collect()
}

/// The full key.
pub fn full_key(scenario: &Scenario, key: usize) -> Vec<u8> {
    let (parts, name) = &scenario.keys[key];
    let mut full = prefix(parts).expect("no empty part");
    full.extend_from_slice(name.as_bytes());
    full
}

/// The entry of a value; `expires` in milliseconds since 1970, 0 for never.
pub fn entry_of(key: usize, serial: Serial, expires: u64, now: u64) -> Vec<u8> {
    let options = polycache_entry::EntryOptions {
        serializer: polycache_entry::Serializer::Text,
        created: now,
        expires,
        ..polycache_entry::EntryOptions::default()
    };
    let text = polycache_entry::Value::Text(format!("{key}:{serial}:{key}").into());
    let mut out = Vec::new();
    polycache_entry::encode(&text, &options, &mut out).expect("text has an entry");
    out
}

/// The value of an entry.
pub fn serial_of(entry: &[u8]) -> Option<Serial> {
    let header = polycache_entry::Header::parse(entry, polycache_entry::Verify::Checksum).ok()?;
    let text = std::str::from_utf8(header.stored(entry)).ok()?;
    text.split(':').nth(1)?.parse().ok()
}

fn brief(reply: &Reply) -> String {
    match reply {
        Reply::Bytes(bytes) => match Record::parse(bytes).map(|record| record.kind) {
            Some(Kind::Value(entry)) => format!("v{:?}", serial_of(entry)),
            Some(Kind::Pending(holder)) => format!("pending {:?}", holder.participant),
            None => String::from_utf8_lossy(bytes).into_owned(),
        },
        other => format!("{other:?}"),
    }
}
