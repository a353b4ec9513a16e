//! A connection of redis-rs inside a namespace.

use redis::{Cmd, ConnectionLike, RedisResult, Value};

use crate::error::Error;
use crate::packed::{pack, unpack};
use crate::rules::Words;
use crate::scope::{Scope, Step};
use crate::session::{Namespace, Sent, Session};

/// Any connection of redis-rs whose keys, patterns and channels all lie in a namespace. It is a
/// `ConnectionLike` itself, so commands, pipelines and scripts work with it as they do without; with
/// the feature `aio` it is one of `redis::aio` too.
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
/// Namespaces nest by wrapping: the inner one is the wrapper of the outer one's connection.
pub struct Namespaced<C> {
    pub(crate) connection: C,
    pub(crate) namespace: Namespace,
    pub(crate) session: Session,
}

impl<C> Namespaced<C> {
    /// The connection inside the namespace.
    pub fn new(connection: C, namespace: Namespace) -> Self {
        Self {
            connection,
            namespace,
            session: Session::default(),
        }
    }

    /// The connection as it was.
    pub fn into_inner(self) -> C {
        self.connection
    }

    /// The connection itself, whose commands are as they are written.
    pub fn inner(&mut self) -> &mut C {
        &mut self.connection
    }

    /// The namespace.
    pub fn namespace(&self) -> &Namespace {
        &self.namespace
    }
}

/// The one command that is encoded in these bytes.
pub(crate) fn one(packed: &[u8]) -> Result<Words<'_>, Error> {
    all(packed)?.into_iter().next().ok_or_else(not_encoded)
}

/// The commands that are encoded in these bytes.
pub(crate) fn all(packed: &[u8]) -> Result<Vec<Words<'_>>, Error> {
    unpack(packed).ok_or_else(not_encoded)
}

fn not_encoded() -> Error {
    Error::InvalidArgument("these bytes are no encoded commands".to_owned())
}

/// All commands rewritten, before any is sent.
pub(crate) fn rewrite_all(
    namespace: &Namespace,
    session: &Session,
    commands: &mut [Words<'_>],
) -> Result<Vec<Sent>, Error> {
    commands
        .iter_mut()
        .map(|words| session.rewrite(namespace, words))
        .collect()
}

impl<C: ConnectionLike> ConnectionLike for Namespaced<C> {
    fn req_packed_command(&mut self, packed: &[u8]) -> RedisResult<Value> {
        let mut words = one(packed)?;
        if let Some(sent) = self.session.emulated(&self.namespace, &words)? {
            return emulate(&mut self.connection, sent);
        }
        let sent = self.session.rewrite(&self.namespace, &mut words)?;
        let mut rewritten = Vec::with_capacity(packed.len() + 2 * sent.prefix.text().len());
        pack(&words, &mut rewritten);
        let reply = self.connection.req_packed_command(&rewritten)?;
        Ok(self.session.after(sent, reply))
    }

    fn req_packed_commands(
        &mut self,
        packed: &[u8],
        offset: usize,
        count: usize,
    ) -> RedisResult<Vec<Value>> {
        let mut commands = all(packed)?;
        let sent = rewrite_all(&self.namespace, &self.session, &mut commands)?;
        let mut rewritten = Vec::with_capacity(2 * packed.len());
        for words in &commands {
            pack(words, &mut rewritten);
        }
        let replies = self
            .connection
            .req_packed_commands(&rewritten, offset, count)?;
        Ok(self.session.after_all(sent, offset, replies))
    }

    fn req_command(&mut self, command: &Cmd) -> RedisResult<Value> {
        self.req_packed_command(&command.get_packed_command())
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
