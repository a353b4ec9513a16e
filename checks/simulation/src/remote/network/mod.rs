//! Messages between callers, listeners and servers, with their delays; and the servers' rounds.

mod changes;
mod troubles;
mod values;

pub use values::{entry_of, full_key, namespaces, serial_of, serial_of_record};

use super::scenario::Scenario;
use super::server::{alias, real, Cluster};
use super::truth::{Serial, Time, Truth};
use crate::world::Flag;
use fastrand::Rng;
use polycache_remote::{
    Command, Heard, Kind, Map, Names, Pushed, Record, RemoteName, Reply, Script, Verb,
};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use values::brief;

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
    /// A command reaches a server that another one has taken the place of, which does not know that yet.
    ArrivesLate {
        request: u64,
        place: usize,
        command: Command,
        server: usize,
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
            records: vec![Vec::new(); keys.len()],
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
            network.truth.record(key, 0, None);
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

    /// As [`Network::send`], by a client that still speaks to a server that was replaced a short time ago, if there is one.
    pub fn send_late(&mut self, commands: &[Command], flag: &Arc<Flag>) -> Option<u64> {
        let server = self.cluster.owner(&commands.first()?.key);
        self.cluster.servers[server].deposed.as_ref()?;
        self.numbers += 1;
        let request = self.numbers;
        let replies = vec![None; commands.len()];
        let flag = flag.clone();
        self.requests.insert(request, Request { replies, flag });
        let time = self.now + self.delay();
        for (place, command) in commands.iter().cloned().enumerate() {
            self.at(
                time,
                Happening::ArrivesLate {
                    request,
                    place,
                    command,
                    server,
                },
            );
        }
        Some(request)
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
            Happening::ArrivesLate {
                request,
                place,
                command,
                server,
            } => {
                let deposed = self.cluster.servers[server].deposed.as_ref();
                let found = deposed.and_then(|data| data.get(&*real(&command.key)).cloned());
                let reply = found.map_or(Reply::Nil, |there| Reply::Bytes(there.bytes));
                let time = self.now + self.delay();
                self.at(
                    time,
                    Happening::Replies {
                        request,
                        place,
                        reply,
                    },
                );
            }
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
        let key = self.keys.get(&*command.key).copied();
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
