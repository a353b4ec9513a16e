//! A Redis Cluster, by the settings of a `ClusterClient` of the crate `redis`.
//!
//! Written here although the crate has a `ClusterConnection`: that one sends a write again when its connection ends, so
//! an increment could count twice; it sleeps 1.3 s and more before it tries again, 16 times unless the program says
//! otherwise, while our caller waits for `timeout`; and it hands out no pushes. Its connections to nodes are used.

mod call;
#[cfg(feature = "reads")]
mod reads;
mod settings;
mod slots;

#[cfg(feature = "reads")]
pub(crate) use reads::Primaries;

use super::deadline::Deadline;
use super::hearing::hear;
use super::replies::{failure, has_code, reply, scan, scanned};
use super::transport::{Ear, Failure, Transport};
use call::{Call, Peer};
use polycache_host::PerProcess;
use polycache_remote::{slot_of_key, Command, Fault, Map, Node, Reply};
use redis::cluster::{ClusterClient, NodeAddress};
use redis::{cmd, ErrorKind, RedisError, RedisResult, Value};
use slots::{own, Slots};
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often a command is sent at most, to follow MOVED and ASK and to send a script's text.
const ATTEMPTS: usize = 6;

/// A client of all primaries.
pub(super) struct RedisCluster {
    client: ClusterClient,
    seeds: Vec<Arc<Peer>>,
    /// A thread that the child of a fork lacks may have locked it.
    state: PerProcess<Mutex<State>>,
    /// A node said or showed that the slots are others.
    is_stale: AtomicBool,
    /// Who is asked for the slots first: one that is behind must not be asked for ever.
    turn: AtomicUsize,
}

#[derive(Default)]
struct State {
    slots: Arc<Slots>,
    peers: HashMap<NodeAddress, Arc<Peer>>,
}

/// A command under way.
struct Errand {
    /// Its place among all commands.
    index: usize,
    to: NodeAddress,
    /// The slot is about to move there.
    asks: bool,
    by_digest: bool,
}

impl fmt::Debug for RedisCluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisCluster").finish_non_exhaustive()
    }
}

impl RedisCluster {
    pub fn new(client: ClusterClient) -> RedisCluster {
        let seeds = settings::seeds(&client).into_iter().filter_map(|seed| {
            let address = NodeAddress::try_from(seed.get_connection_info().addr()).ok()?;
            Some(Arc::new(Peer::new(seed, address.host())))
        });
        RedisCluster {
            seeds: seeds.collect(),
            client,
            state: PerProcess::new(),
            is_stale: AtomicBool::new(true),
            turn: AtomicUsize::new(0),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state
            .get()
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn peer(&self, address: &NodeAddress) -> RedisResult<Arc<Peer>> {
        if let Some(peer) = self.state().peers.get(address) {
            return Ok(peer.clone());
        }
        let client = settings::node(&self.client, address).ok_or_else(|| {
            RedisError::from((
                ErrorKind::InvalidClientConfig,
                "a node's address cannot be used",
            ))
        })?;
        let peer = Arc::new(Peer::new(client, address.host()));
        let mut state = self.state();
        Ok(state.peers.entry(address.clone()).or_insert(peer).clone())
    }

    /// Who owns which slots, as far as it is known; asked for where it is not, or may be wrong.
    fn slots(&self, deadline: Deadline) -> Result<Arc<Slots>, Failure> {
        let known = self.state().slots.clone();
        // One caller asks, the others go by what was known.
        let asks = self.is_stale.swap(false, Ordering::AcqRel);
        if !asks && !known.members.is_empty() {
            return Ok(known);
        }
        let asked = self.ask_anyone(&known, deadline);
        if asked.is_err() {
            self.is_stale.store(true, Ordering::Release);
        }
        asked
    }

    /// The slots, as the first node tells them that answers.
    fn ask_anyone(&self, known: &Slots, deadline: Deadline) -> Result<Arc<Slots>, Failure> {
        let members = known.members.iter();
        let mut peers: Vec<_> = members
            .filter_map(|member| self.peer(&member.address).ok())
            .collect();
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        if !peers.is_empty() {
            let first = turn % peers.len();
            peers.rotate_left(first);
        }
        peers.extend(self.seeds.iter().cloned());
        let mut why = Failure::unreachable("the Cluster has no node");
        for peer in peers {
            if deadline.left().is_err() {
                break;
            }
            // One that hangs leaves time for another one.
            let call = Call::begin(&peer, cluster("SLOTS"), 1, true, deadline.half());
            match call.end().map_err(failure) {
                Ok(answer) => match Slots::parse(&answer[0], &peer.host) {
                    Some(slots) => return Ok(self.learn(slots)),
                    None => {
                        why = Failure::unreachable(format!(
                            "a node does not tell the slots: {:?}",
                            reply(answer.into_iter().next().unwrap_or(Value::Nil))
                        ));
                    }
                },
                Err(error) => why = error,
            }
        }
        Err(why)
    }

    fn learn(&self, slots: Slots) -> Arc<Slots> {
        let slots = Arc::new(slots);
        let mut state = self.state();
        let lists = |address: &NodeAddress| slots.members.iter().any(|one| one.address == *address);
        state.peers.retain(|address, _| lists(address));
        state.slots = slots.clone();
        slots
    }

    fn doubt(&self) {
        self.is_stale.store(true, Ordering::Release);
    }

    /// Sends each node its part, then reads all replies. Returns what is to be sent again: elsewhere, or as text.
    fn attempt(
        &self,
        commands: &[Command],
        errands: Vec<Errand>,
        replies: &mut [Option<Reply>],
        deadline: Deadline,
    ) -> Result<Vec<Errand>, Failure> {
        let mut groups: Vec<(NodeAddress, Vec<Errand>)> = Vec::new();
        for errand in errands {
            match groups.iter_mut().find(|(to, _)| *to == errand.to) {
                Some((_, group)) => group.push(errand),
                None => groups.push((errand.to.clone(), vec![errand])),
            }
        }
        let mut peers = Vec::with_capacity(groups.len());
        for (address, _) in &groups {
            peers.push(self.peer(address).map_err(failure)?);
        }
        let calls: Vec<Call<'_>> = peers
            .iter()
            .zip(&groups)
            .map(|(peer, (_, group))| {
                let (packed, count) = pack(commands, group);
                let reads = group.iter().all(|one| commands[one.index].reads());
                Call::begin(peer, packed, count, reads, deadline)
            })
            .collect();
        let mut again = Vec::new();
        let mut failed = None;
        for (ended, (_, group)) in Call::end_all(calls).into_iter().zip(groups) {
            match ended {
                Ok(answers) => self.sort(group, answers, replies, &mut again),
                Err(error) => {
                    self.doubt();
                    failed = Some(failure(error));
                }
            }
        }
        match failed {
            Some(failure) => Err(failure),
            None => Ok(again),
        }
    }

    /// Takes a node's replies; puts into `again` what it did not execute.
    fn sort(
        &self,
        group: Vec<Errand>,
        answers: Vec<Value>,
        replies: &mut [Option<Reply>],
        again: &mut Vec<Errand>,
    ) {
        let unknown = answers.iter().any(|answer| has_code(answer, "NOSCRIPT"));
        let mut answers = answers.into_iter();
        for mut errand in group {
            if errand.asks {
                answers.next();
            }
            let answer = answers.next().unwrap_or(Value::Nil);
            if has_code(&answer, "MOVED") || has_code(&answer, "ASK") {
                // A MOVED shows that what we know is old; an ASK is about one command.
                errand.asks = has_code(&answer, "ASK");
                if !errand.asks {
                    self.doubt();
                }
                if let Some(to) = redirected(&answer, &errand.to) {
                    errand.to = to;
                    again.push(errand);
                    continue;
                }
            } else if unknown && errand.by_digest {
                // All of them once more: their order is part of what they mean.
                errand.by_digest = false;
                again.push(errand);
                continue;
            } else if has_code(&answer, "CLUSTERDOWN") {
                self.doubt();
            }
            replies[errand.index] = Some(reply(answer));
        }
    }

    /// What each primary says of all slots and of its own; `None` unless all of these are primaries that answer,
    /// agree, and move nothing.
    fn agreed(&self, asked: &Slots, deadline: Deadline) -> Option<Slots> {
        let peers: RedisResult<Vec<_>> = asked
            .members
            .iter()
            .map(|member| self.peer(&member.address))
            .collect();
        let peers = peers.ok()?;
        let question = [cluster("SLOTS"), cluster("NODES")].concat();
        let calls: Vec<_> = peers
            .iter()
            .map(|peer| Call::begin(peer, question.clone(), 2, true, deadline))
            .collect();
        let mut agreed: Option<Slots> = None;
        // Each is heard to the end, so that its connection can be used again.
        let answers = Call::end_all(calls);
        for (answer, (peer, member)) in answers.into_iter().zip(peers.iter().zip(&asked.members)) {
            let answer = answer.ok()?;
            let own = own(&answer[1])?;
            let slots = Slots::parse(&answer[0], &peer.host)?;
            let agrees = agreed.as_ref().is_none_or(|other| other.agree(&slots));
            if own.id != member.id || !own.is_primary || own.moves || !agrees {
                return None;
            }
            agreed.get_or_insert(slots);
        }
        agreed
    }
}

impl Transport for RedisCluster {
    fn is_cluster(&self) -> bool {
        true
    }

    fn send(&self, commands: &[Command], timeout: Duration) -> Result<Vec<Reply>, Failure> {
        let deadline = Deadline::after(timeout);
        let slots = self.slots(deadline)?;
        let mut errands = Vec::with_capacity(commands.len());
        for (index, command) in commands.iter().enumerate() {
            let Some(owner) = slots.owner(slot_of_key(&command.key)) else {
                self.doubt();
                return Err(unavailable("no primary owns the key's slot"));
            };
            errands.push(Errand {
                index,
                to: owner.clone(),
                asks: false,
                by_digest: true,
            });
        }
        let mut replies: Vec<Option<Reply>> = vec![None; commands.len()];
        for _ in 0..ATTEMPTS {
            if errands.is_empty() {
                break;
            }
            deadline.left().map_err(failure)?;
            errands = self.attempt(commands, errands, &mut replies, deadline)?;
        }
        let replies: Option<Vec<Reply>> = replies.into_iter().collect();
        replies.ok_or_else(|| unavailable("the nodes send a command from one to the other"))
    }

    fn scan(
        &self,
        primary: usize,
        cursor: u64,
        pattern: &[u8],
        timeout: Duration,
    ) -> Result<(u64, Vec<Vec<u8>>), Failure> {
        let deadline = Deadline::after(timeout);
        let slots = self.slots(deadline)?;
        let Some(member) = slots.members.get(primary) else {
            // There are fewer than before.
            return Ok((0, Vec::new()));
        };
        let peer = self.peer(&member.address).map_err(failure)?;
        let call = Call::begin(&peer, scan(cursor, pattern), 1, true, deadline);
        let mut answer = call.end().map_err(|error| {
            self.doubt();
            failure(error)
        })?;
        scanned(answer.pop())
    }

    fn map(&self, timeout: Duration) -> Option<Map> {
        let deadline = Deadline::after(timeout);
        // Twice: those that were asked first may name others.
        for _ in 0..2 {
            let asked = self.slots(deadline).ok()?;
            let Some(agreed) = self.agreed(&asked, deadline) else {
                self.doubt();
                return None;
            };
            if agreed.agree(&asked) {
                let nodes = agreed.members.into_iter();
                let nodes: Option<Vec<Node>> =
                    nodes.map(|one| Node::new(&one.id, one.slots)).collect();
                return Some(Map { nodes: nodes? });
            }
            self.learn(agreed);
        }
        None
    }

    #[cfg(feature = "fibers")]
    fn serves_fibers(&self) -> bool {
        let mut seeds = self.seeds.iter();
        seeds.all(|seed| seed.endpoint.is_some())
    }

    #[cfg(feature = "fibers")]
    fn leave_fibers(&self) {
        for peer in self.seeds.iter().chain(self.state().peers.values()) {
            if let Some(endpoint) = &peer.endpoint {
                super::fibers::retire(endpoint);
            }
        }
    }

    #[cfg(feature = "reads")]
    fn cluster(&self) -> Option<ClusterClient> {
        Some(self.client.clone())
    }

    fn close(&self) {
        for peer in self.seeds.iter().chain(self.state().peers.values()) {
            peer.close();
        }
    }

    fn listen(&self, node: &Node, prefixes: &[Vec<u8>], ear: &Ear) {
        let slots = self.state().slots.clone();
        let member = slots.members.iter().find(|one| one.id == node.name);
        if let Some(peer) = member.and_then(|one| self.peer(&one.address).ok()) {
            hear(&peer.client, |_| Ok(()), prefixes, ear);
        }
    }
}

/// The commands for one node, and how many replies they have.
fn pack(commands: &[Command], group: &[Errand]) -> (Vec<u8>, usize) {
    let (mut packed, mut count) = (Vec::new(), 0);
    for errand in group {
        if errand.asks {
            packed.extend(cmd("ASKING").get_packed_command());
            count += 1;
        }
        commands[errand.index].pack(errand.by_digest, &mut packed);
        count += 1;
    }
    (packed, count)
}

fn cluster(question: &str) -> Vec<u8> {
    cmd("CLUSTER").arg(question).get_packed_command()
}

/// Where a MOVED or ASK leads: `<slot> <host>:<port>`, without a host that of the node that was asked.
fn redirected(answer: &Value, asked: &NodeAddress) -> Option<NodeAddress> {
    let Value::ServerError(error) = answer else {
        return None;
    };
    let (host, port) = error.details()?.split(' ').nth(1)?.rsplit_once(':')?;
    let host = match host {
        "" => asked.host(),
        "?" => return None,
        host => host,
    };
    Some(NodeAddress::new(host, port.parse().ok()?))
}

fn unavailable(why: &str) -> Failure {
    Failure {
        fault: Fault::Unavailable,
        why: why.to_owned(),
    }
}
