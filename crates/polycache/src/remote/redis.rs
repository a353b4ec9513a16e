//! The crate `redis` as the remote tier's client, for one server at a time.

use super::deadline::Deadline;
#[cfg(feature = "fibers")]
use super::fibers::{self, Endpoint};
use super::hearing::{hear, CONNECT};
use super::pool::{open, Pool};
use super::replies::{failure, has_code, reply, scan, scanned};
use super::round_trip::round_trip;
use super::transport::{by_digest_or_text, Ear, Failure, Transport};
use polycache_host::PerProcess;
use polycache_remote::{fold_reads, Command, Map, Node, Reply};
use redis::{Client, Connection, RedisError, RedisResult, Value};
#[cfg(feature = "fibers")]
use smallvec::smallvec;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(feature = "fibers")]
use std::sync::Arc;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Where the primary is.
pub(super) trait Primary: Send + Sync {
    /// A client of the server that is the primary now.
    ///
    /// # Errors
    /// Nobody knows it, or not in time.
    fn find(&self, timeout: Duration) -> RedisResult<Client>;

    /// The server, where it is known without asking anybody.
    #[cfg(feature = "fibers")]
    fn endpoint(&self) -> Option<Endpoint> {
        None
    }

    /// A client of it, where it is one server and nobody needs to be asked.
    #[cfg(feature = "reads")]
    fn one_server(&self) -> Option<Client> {
        None
    }

    /// Looks whether a new connection leads to a primary.
    ///
    /// # Errors
    /// It does not.
    fn verify(&self, _: &mut Connection) -> RedisResult<()> {
        Ok(())
    }
}

/// One server, which is taken for a primary: writes show it when it is none.
impl Primary for Client {
    fn find(&self, _: Duration) -> RedisResult<Client> {
        Ok(self.clone())
    }

    #[cfg(feature = "reads")]
    fn one_server(&self) -> Option<Client> {
        Some(self.clone())
    }

    #[cfg(feature = "fibers")]
    fn endpoint(&self) -> Option<Endpoint> {
        Endpoint::of(self)
    }
}

/// A client of one primary.
pub(super) struct RedisRs<P> {
    primary: P,
    pool: Pool,
    /// Where the last connection was made to.
    address: PerProcess<Mutex<String>>,
    /// Whether the server refused an MGET, so that no reads are folded any more.
    refuses_folded: AtomicBool,
    #[cfg(feature = "fibers")]
    endpoint: Option<Arc<Endpoint>>,
}

impl<P> fmt::Debug for RedisRs<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisRs").finish_non_exhaustive()
    }
}

impl<P: Primary> RedisRs<P> {
    pub fn new(primary: P) -> RedisRs<P> {
        RedisRs {
            #[cfg(feature = "fibers")]
            endpoint: primary.endpoint().map(Arc::new),
            primary,
            pool: Pool::default(),
            address: PerProcess::new(),
            refuses_folded: AtomicBool::new(false),
        }
    }

    fn address(&self) -> MutexGuard<'_, String> {
        self.address
            .get()
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// A client of the primary. Connections to another one are not used again.
    fn find(&self, timeout: Duration) -> RedisResult<Client> {
        let client = self.primary.find(timeout)?;
        let found = client.get_connection_info().addr().to_string();
        let mut address = self.address();
        if *address != found {
            *address = found;
            drop(address);
            self.pool.clear();
        }
        Ok(client)
    }

    fn connect(&self, deadline: Deadline) -> RedisResult<Connection> {
        let client = self.find(deadline.left()?)?;
        let mut connection = open(&client, deadline)?;
        deadline.limit(&connection)?;
        self.primary.verify(&mut connection)?;
        Ok(connection)
    }

    /// Sends packed commands. A connection is used again only when all replies were read. Commands that only
    /// `read` are sent again on a new connection if theirs was closed, or leads to a replica.
    fn exchange(
        &self,
        packed: Vec<u8>,
        count: usize,
        read: bool,
        deadline: Deadline,
    ) -> RedisResult<Vec<Value>> {
        #[cfg(feature = "fibers")]
        if let (true, Some(endpoint)) = (fibers::is_inside(), &self.endpoint) {
            return exchange_in_fiber(endpoint, packed, count, read, deadline);
        }
        let request =
            |connection: &mut Connection| round_trip(connection, &packed, count, deadline);
        let mut connection = match self.pool.take(deadline)? {
            Some(connection) => connection,
            None => self.connect(deadline)?,
        };
        let mut replies = request(&mut connection);
        if leads_nowhere(&replies) {
            // The others are of the same server.
            self.pool.clear();
            if read {
                connection = self.connect(deadline)?;
                replies = request(&mut connection);
            }
        }
        if !leads_nowhere(&replies) && replies.is_ok() {
            self.pool.give_back(connection);
        }
        replies
    }
}

/// As [`RedisRs::exchange`], on the connection that all fibers of the thread share.
#[cfg(feature = "fibers")]
fn exchange_in_fiber(
    endpoint: &Arc<Endpoint>,
    packed: Vec<u8>,
    count: usize,
    read: bool,
    deadline: Deadline,
) -> RedisResult<Vec<Value>> {
    let request = |packed| {
        let request = fibers::Request {
            to: endpoint.clone(),
            packed,
            count,
            deadline,
        };
        fibers::exchange(smallvec![request])
            .pop()
            .unwrap_or_else(|| Err(deadline.missed()))
    };
    // Those that only read may be sent again.
    let again = read.then(|| packed.clone());
    let replies = request(packed);
    if !leads_nowhere(&replies) {
        return replies;
    }
    fibers::retire(endpoint);
    match again {
        Some(packed) => request(packed),
        None => replies,
    }
}

/// Whether the connection was closed, or leads to a server that is the primary no more.
fn leads_nowhere(replies: &RedisResult<Vec<Value>>) -> bool {
    match replies {
        Ok(replies) => replies.iter().any(|reply| has_code(reply, "READONLY")),
        Err(error) => RedisError::is_connection_dropped(error),
    }
}

impl<P: Primary> Transport for RedisRs<P> {
    fn send(&self, commands: &[Command], timeout: Duration) -> Result<Vec<Reply>, Failure> {
        let deadline = Deadline::after(timeout);
        // One connection, and the server goes through its commands in their order.
        let reads = commands.iter().all(Command::reads);
        let ask = |packed, count, reads| -> Result<Vec<Reply>, Failure> {
            let replies = self.exchange(packed, count, reads, deadline);
            Ok(replies.map_err(failure)?.into_iter().map(reply).collect())
        };
        let may_fold = !self.refuses_folded.load(Ordering::Relaxed);
        if let Some(mut folded) = may_fold.then(|| fold_reads(commands)).flatten() {
            let packed = std::mem::take(&mut folded.packed);
            let refused = match folded.unfold(ask(packed, folded.count(), reads)?) {
                Ok(replies) => return Ok(replies),
                Err(refused) => refused,
            };
            if refused.for_good {
                self.refuses_folded.store(true, Ordering::Relaxed);
            }
            // A write is not sent again.
            let folded = &commands[folded.kept..];
            let packed = Command::pack_all(folded, true);
            let mut replies = refused.replies;
            replies.extend(ask(packed, folded.len(), true)?);
            return Ok(replies);
        }
        by_digest_or_text(|by_digest| {
            let packed = Command::pack_all(commands, by_digest);
            ask(packed, commands.len(), reads)
        })
    }

    fn scan(
        &self,
        _: usize,
        cursor: u64,
        pattern: &[u8],
        timeout: Duration,
    ) -> Result<(u64, Vec<Vec<u8>>), Failure> {
        let packed = scan(cursor, pattern);
        let exchanged = self.exchange(packed, 1, true, Deadline::after(timeout));
        let mut replies = exchanged.map_err(failure)?;
        scanned(replies.pop())
    }

    fn map(&self, _: Duration) -> Option<Map> {
        // Beacons tell when the connections no longer lead to one server.
        Some(Map {
            nodes: vec![Node::single(&self.address())],
        })
    }

    #[cfg(feature = "fibers")]
    fn serves_fibers(&self) -> bool {
        self.endpoint.is_some()
    }

    #[cfg(feature = "fibers")]
    fn leave_fibers(&self) {
        if let Some(endpoint) = &self.endpoint {
            fibers::retire(endpoint);
        }
    }

    fn close(&self) {
        self.pool.close();
    }

    fn listen(&self, _: &Node, prefixes: &[Vec<u8>], ear: &Ear) {
        if let Ok(client) = self.find(CONNECT) {
            let verify = |connection: &mut Connection| self.primary.verify(connection);
            hear(&client, verify, prefixes, ear);
        }
    }

    #[cfg(feature = "reads")]
    fn one_server(&self) -> Option<Client> {
        self.primary.one_server()
    }
}
