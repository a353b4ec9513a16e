//! Commands of the program's own, on connections to the primaries of a Cluster that are made for them.

use super::call::Call;
use super::{redirected, RedisCluster, ATTEMPTS};
use crate::remote::deadline::Deadline;
use crate::remote::replies::has_code;
use crate::remote::{Asked, Told};
use polycache_host::without_signals;
use polycache_remote::slot_of_key;
use redis::cluster::{ClusterClient, NodeAddress};
use redis::{cmd, ErrorKind, RedisError, RedisResult, Value};
use std::time::Duration;

/// Answers that send a command elsewhere, or to be tried again.
const FOLLOWED: [&str; 4] = ["MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN"];
/// How long the first pause is before a command is sent again that no node executes; each is twice as long.
const PAUSE: Duration = Duration::from_millis(20);

/// The primaries of a Cluster. No replica is read from.
#[derive(Debug)]
pub(crate) struct Primaries {
    cluster: RedisCluster,
    /// How long a read may take, whatever it consists of.
    timeout: Duration,
}

impl Primaries {
    pub fn new(client: ClusterClient, timeout: Duration) -> Primaries {
        Primaries {
            cluster: RedisCluster::new(client),
            timeout,
        }
    }

    /// Whether the client asks for RESP3.
    pub fn speaks_resp3(&self) -> bool {
        let mut seeds = self.cluster.seeds.iter();
        seeds.any(|seed| {
            let settings = seed.client.get_connection_info().redis_settings();
            settings.protocol().supports_resp3()
        })
    }

    /// The primary of the keys answers, on one connection. If it redirects the read, the node that it names answers, and
    /// nothing but the reply is told (`spec/reads.md`, "Over a Cluster").
    ///
    /// # Errors
    /// The client's.
    pub fn ask(&self, asked: &Asked<'_>) -> RedisResult<Told> {
        // A signal would end the wait for a reply, which then looks like a fault.
        without_signals(|| self.ask_undisturbed(asked))
    }

    fn ask_undisturbed(&self, asked: &Asked<'_>) -> RedisResult<Told> {
        let deadline = Deadline::after(self.timeout);
        let slot = slot_of_key(asked.key);
        if asked.is_to_be_kept() {
            if let Some(told) = self.by_primary(slot, asked, deadline) {
                return Ok(told);
            }
        }
        let reply = self.follow(slot, asked.read, deadline)?;
        // After the reply: another primary has this key, and may have answered before the one that was read from.
        let identity = asked.asks.filter(|_| !asked.is_to_be_kept());
        let answer = identity.and_then(|key| {
            let packed = cmd("GETEX").arg(key).get_packed_command();
            self.follow(slot_of_key(key), &packed, deadline).ok()
        });
        Ok(Told {
            answers: vec![Value::Nil; asked.before.len()],
            reply,
            answer,
            _large: None,
        })
    }

    /// `None`: the primary that is known did not answer, or sends the read elsewhere.
    fn by_primary(&self, slot: u16, asked: &Asked<'_>, deadline: Deadline) -> Option<Told> {
        let address = self.owner(slot, deadline).ok()?;
        let peer = self.cluster.peer(&address).ok()?;
        let call = Call::begin(&peer, asked.packed(), asked.count(), true, deadline);
        match call.end() {
            Ok(answers) => {
                let told = asked.told(answers);
                let is_followed = FOLLOWED.iter().any(|code| has_code(&told.reply, code));
                if is_followed {
                    self.cluster.doubt();
                }
                (!is_followed).then_some(told)
            }
            Err(_) => {
                self.cluster.doubt();
                None
            }
        }
    }

    fn owner(&self, slot: u16, deadline: Deadline) -> RedisResult<NodeAddress> {
        let unknown = |why: String| {
            let kind = ErrorKind::ClusterConnectionNotFound;
            RedisError::from((kind, "no primary of the slot is known", why))
        };
        let slots = self.cluster.slots(deadline);
        let slots = slots.map_err(|failure| unknown(failure.why))?;
        slots.owner(slot).cloned().ok_or_else(|| {
            self.cluster.doubt();
            unknown(format!("nobody owns {slot}"))
        })
    }

    /// The reply to a command that only reads, from whatever primary it is sent to.
    fn follow(&self, slot: u16, packed: &[u8], deadline: Deadline) -> RedisResult<Value> {
        let mut redirection: Option<(NodeAddress, bool)> = None;
        let mut attempt = 0;
        loop {
            let (to, asks) = match redirection.take() {
                Some(told) => told,
                None => match self.owner(slot, deadline) {
                    Ok(owner) => (owner, false),
                    Err(error) if attempt + 1 == ATTEMPTS => return Err(error),
                    Err(_) => {
                        attempt = pause(attempt, deadline)?;
                        continue;
                    }
                },
            };
            let answer = self.send(&to, packed, asks, deadline);
            let (is_moved, is_asked) = match &answer {
                Ok(answer) => (has_code(answer, "MOVED"), has_code(answer, "ASK")),
                Err(_) => (false, false),
            };
            match &answer {
                Ok(answer) if !FOLLOWED.iter().any(|code| has_code(answer, code)) => {}
                _ if attempt + 1 == ATTEMPTS => {}
                Ok(answer) if is_moved || is_asked => {
                    // An ASK is about one command.
                    if is_moved {
                        self.cluster.doubt();
                    }
                    redirection = redirected(answer, &to).map(|to| (to, is_asked));
                    attempt += 1;
                    continue;
                }
                _ => {
                    self.cluster.doubt();
                    attempt = pause(attempt, deadline)?;
                    continue;
                }
            }
            return answer;
        }
    }

    fn send(
        &self,
        to: &NodeAddress,
        packed: &[u8],
        asks: bool,
        deadline: Deadline,
    ) -> RedisResult<Value> {
        let mut words = match asks {
            true => cmd("ASKING").get_packed_command(),
            false => Vec::new(),
        };
        words.extend_from_slice(packed);
        let peer = self.cluster.peer(to)?;
        let call = Call::begin(&peer, words, 1 + usize::from(asks), true, deadline);
        Ok(call.end()?.pop().unwrap_or_default())
    }

    /// Keeps no connection from now on.
    pub fn close(&self) {
        crate::remote::Transport::close(&self.cluster);
    }
}

/// Waits before the next attempt, and gives its number.
fn pause(attempt: usize, deadline: Deadline) -> RedisResult<usize> {
    let time = PAUSE * 2u32.saturating_pow(attempt as u32);
    std::thread::sleep(time.min(deadline.left()?));
    Ok(attempt + 1)
}
