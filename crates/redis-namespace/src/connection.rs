//! A connection of redis-rs inside a namespace.

use std::sync::Arc;

use redis::{Cmd, ConnectionLike, RedisResult, Value};

use crate::error::Error;
use crate::packed::{words_of, Packed};
use crate::scope::{Scope, Step};
use crate::session::{not_encoded, Namespace, Sent, Session};
use crate::table::Command;

/// A connection of redis-rs whose keys, patterns and channels are all in a namespace. It is a
/// `ConnectionLike` itself, so commands, pipelines and scripts work with it unchanged; with the feature
/// `aio` it also implements the trait of `redis::aio`.
///
/// ```no_run
/// use polycache_redis_namespace::{Namespace, Namespaced};
/// use redis::TypedCommands;
///
/// let connection = redis::Client::open("redis://127.0.0.1/")?.get_connection()?;
/// let mut shop = Namespaced::new(connection, Namespace::new("shop")?);
/// shop.set("user:1", "Ada")?; // SET shop:user:1
/// # Ok::<(), redis::RedisError>(())
/// ```
///
/// It also wraps a cluster connection: the connection finds the node by the prefixed key, and asks all
/// primaries for `KEYS`. `SCAN`, `DBSIZE`, `RANDOMKEY` and `FLUSHDB` are refused there, because they
/// would see the keys of only one node. Pipelines need the async connection: redis-rs' `ClusterPipeline`
/// accepts only its own connection.
///
/// Namespaces nest by wrapping: the inner one is the wrapper of the outer one's connection.
pub struct Namespaced<C> {
    pub(crate) connection: C,
    pub(crate) namespace: Namespace,
    pub(crate) session: Session,
    cluster: bool,
}

impl<C> Namespaced<C> {
    /// The connection inside the namespace.
    pub fn new(connection: C, namespace: Namespace) -> Self {
        Self {
            connection,
            namespace,
            session: Session::default(),
            // Nothing else tells the type; a test with a cluster fails if its name changes.
            cluster: std::any::type_name::<C>().contains("ClusterConnection"),
        }
    }

    /// The command in these words, if it can be sent on this connection.
    pub(crate) fn find<'w>(
        &self,
        words: impl Iterator<Item = Option<&'w [u8]>>,
    ) -> Result<&Arc<Command>, Error> {
        let command = self.namespace.find(words)?;
        if self.cluster {
            command.refuse_on_cluster()?;
        }
        Ok(command)
    }

    /// Returns the original connection.
    pub fn into_inner(self) -> C {
        self.connection
    }

    /// The original connection, whose commands are sent unchanged.
    pub fn inner(&mut self) -> &mut C {
        &mut self.connection
    }

    /// The namespace.
    pub fn namespace(&self) -> &Namespace {
        &self.namespace
    }
}

impl<C: ConnectionLike> Namespaced<C> {
    /// Sends a command and returns its reply. `bytes` is about the size of its words.
    fn request<'w>(
        &mut self,
        mut words: impl Clone + ExactSizeIterator<Item = Option<&'w [u8]>>,
        bytes: usize,
    ) -> RedisResult<Value> {
        let command = self.find(words.clone())?;
        if command.emulated {
            let sent = self.session.emulated(&self.namespace, command)?;
            return emulate(&mut self.connection, sent);
        }
        let mut rewritten = Vec::new();
        let sent =
            self.session
                .rewrite(&self.namespace, command, &mut words, bytes, &mut rewritten)?;
        match self.connection.req_packed_command(&rewritten) {
            Ok(reply) => Ok(self.session.after(sent, reply)),
            Err(error) => {
                self.session.failed(sent.as_ref());
                Err(error)
            }
        }
    }
}

impl<C: ConnectionLike> ConnectionLike for Namespaced<C> {
    fn req_packed_command(&mut self, packed: &[u8]) -> RedisResult<Value> {
        let words = Packed::only(packed).ok_or_else(not_encoded)?;
        self.request(words, packed.len())
    }

    fn req_packed_commands(
        &mut self,
        packed: &[u8],
        offset: usize,
        count: usize,
    ) -> RedisResult<Vec<Value>> {
        let mut rewritten = Vec::with_capacity(2 * packed.len());
        let mut sent = Vec::with_capacity(offset + count);
        let mut rest = packed;
        // All commands are rewritten before any is sent.
        while !rest.is_empty() {
            let mut words = Packed::first(rest).ok_or_else(not_encoded)?;
            let command = self.find(words.clone())?;
            sent.push(self.session.rewrite(
                &self.namespace,
                command,
                &mut words,
                0,
                &mut rewritten,
            )?);
            rest = words.rest();
        }
        match self
            .connection
            .req_packed_commands(&rewritten, offset, count)
        {
            Ok(replies) => Ok(self.session.after_all(sent, offset, replies)),
            Err(error) => {
                self.session.unseen(sent);
                Err(error)
            }
        }
    }

    fn req_command(&mut self, command: &Cmd) -> RedisResult<Value> {
        if command.in_scan_mode() {
            return self.req_packed_command(&command.get_packed_command());
        }
        let words = words_of(command);
        let bytes = words.clone().flatten().map(<[u8]>::len).sum();
        self.request(words, bytes)
    }

    fn get_db(&self) -> i64 {
        self.connection.get_db()
    }

    fn supports_pipelining(&self) -> bool {
        self.connection.supports_pipelining()
    }

    fn check_connection(&mut self) -> bool {
        self.connection.check_connection()
    }

    fn is_open(&self) -> bool {
        self.connection.is_open()
    }
}

fn emulate(connection: &mut impl ConnectionLike, sent: Sent) -> RedisResult<Value> {
    let (mut scope, mut next) = Scope::new(sent);
    loop {
        match scope.step(connection.req_command(&next)?)? {
            Step::Send(command) => next = command,
            Step::Done(reply) => return Ok(reply),
        }
    }
}
