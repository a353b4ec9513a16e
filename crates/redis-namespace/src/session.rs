//! Rewrites what one connection sends and what it gets back.

use std::fmt;
use std::sync::Arc;

use redis::Value;

use crate::error::Error;
use crate::prefix::Prefix;
use crate::rules::Words;
use crate::table::{Command, Table};

/// Asked at every command for the names of the moment, the outermost first.
type Ask = dyn Fn() -> Vec<String> + Send + Sync;

/// A namespace, and what is known of commands: how a connection is namespaced.
///
/// ```
/// use polycache_redis_namespace::Namespace;
///
/// let shop = Namespace::new("shop")?.allow("CONFIG GET");
/// let eu = Namespace::nested(["shop", "eu"])?;
/// # Ok::<(), polycache_redis_namespace::Error>(())
/// ```
#[derive(Clone)]
pub struct Namespace {
    prefix: Source,
    table: Arc<Table>,
}

#[derive(Clone)]
enum Source {
    Fixed(Arc<Prefix>),
    Asked(Arc<Ask>),
}

impl Namespace {
    /// A namespace of one name.
    ///
    /// # Errors
    /// `InvalidArgument` for an empty name.
    pub fn new(name: impl AsRef<str>) -> Result<Self, Error> {
        Self::nested([name])
    }

    /// Nested namespaces, the outermost first.
    ///
    /// # Errors
    /// `InvalidArgument` without a name, or with an empty one.
    pub fn nested<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> Result<Self, Error> {
        let names: Vec<N> = names.into_iter().collect();
        let prefix = Source::Fixed(Arc::new(Prefix::new(&names)?));
        Ok(Self {
            prefix,
            table: Table::default(),
        })
    }

    /// A namespace that is asked for at every command. Where it gives no name, nothing is sent.
    pub fn asked(ask: impl Fn() -> Vec<String> + Send + Sync + 'static) -> Self {
        Self {
            prefix: Source::Asked(Arc::new(ask)),
            table: Table::default(),
        }
    }

    /// Lets a command pass as it is: one that touches the whole server (`"FLUSHALL"`), or one that
    /// is not known and has no keys.
    #[must_use]
    pub fn allow(mut self, name: &str) -> Self {
        Arc::make_mut(&mut self.table).allow(name);
        self
    }

    /// Says where a further command has its keys, in JSON as in `spec/commands.json`:
    /// `.command("JSON.GET", r#"[["key", 1, 1, 1]]"#)`.
    ///
    /// # Errors
    /// `InvalidArgument` for rules that are none.
    pub fn command(mut self, name: &str, at: &str) -> Result<Self, Error> {
        Arc::make_mut(&mut self.table).add(name, at)?;
        Ok(self)
    }

    /// The prefix of this moment.
    ///
    /// # Errors
    /// `InvalidArgument` where a function gave no name.
    pub fn prefix(&self) -> Result<Arc<Prefix>, Error> {
        match &self.prefix {
            Source::Fixed(prefix) => Ok(prefix.clone()),
            Source::Asked(ask) => Prefix::new(&ask()).map(Arc::new),
        }
    }

    /// The command that the words are.
    pub(crate) fn find(&self, words: &Words<'_>) -> Result<&Arc<Command>, Error> {
        let name = words.first().map_or(&b""[..], |name| name);
        self.table.find(name, words.get(1).map(|word| &word[..]))
    }
}

impl fmt::Debug for Namespace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.prefix {
            Source::Fixed(prefix) => {
                write!(
                    out,
                    "Namespace({:?})",
                    String::from_utf8_lossy(prefix.text())
                )
            }
            Source::Asked(_) => out.write_str("Namespace(asked)"),
        }
    }
}

/// What has been sent, for when its reply comes.
pub(crate) struct Sent {
    pub(crate) command: Arc<Command>,
    pub(crate) prefix: Arc<Prefix>,
}

impl Sent {
    fn take_off(&self, reply: Value) -> Value {
        match self.command.reply {
            Some(kind) => kind.take_off(reply, &self.prefix),
            None => reply,
        }
    }
}

/// What has been queued since MULTI: its replies come with EXEC.
#[derive(Default)]
pub(crate) struct Session {
    queued: Option<Vec<Sent>>,
}

impl Session {
    /// Puts prefixes on the words of a command that is sent as one.
    pub(crate) fn rewrite(
        &self,
        namespace: &Namespace,
        words: &mut Words<'_>,
    ) -> Result<Sent, Error> {
        let command = namespace.find(words)?.clone();
        if command.is_emulated() {
            return Err(alone(&command));
        }
        let prefix = namespace.prefix()?;
        command.rewrite(words, &prefix)?;
        Ok(Sent { command, prefix })
    }

    /// Whether the words are of a command that is made of others, which a transaction cannot hold.
    pub(crate) fn emulated(
        &self,
        namespace: &Namespace,
        words: &Words<'_>,
    ) -> Result<Option<Sent>, Error> {
        let command = namespace.find(words)?;
        if !command.is_emulated() {
            return Ok(None);
        }
        if self.queued.is_some() {
            return Err(alone(command));
        }
        Ok(Some(Sent {
            command: command.clone(),
            prefix: namespace.prefix()?,
        }))
    }

    /// The reply without prefixes.
    pub(crate) fn after(&mut self, sent: Sent, reply: Value) -> Value {
        match &sent.command.name[..] {
            "MULTI" => self.queued = Some(Vec::new()),
            "DISCARD" | "RESET" => self.queued = None,
            "EXEC" => return executed(self.queued.take().unwrap_or_default(), reply),
            _ => match &mut self.queued {
                Some(queued) if is_queued(&reply) => {
                    queued.push(sent);
                    return reply;
                }
                _ => return sent.take_off(reply),
            },
        }
        reply
    }

    /// Replies of a pipeline, of which redis-rs gives those from `offset` on: all, or the EXEC of a
    /// transaction.
    pub(crate) fn after_all(
        &mut self,
        sent: Vec<Sent>,
        offset: usize,
        replies: Vec<Value>,
    ) -> Vec<Value> {
        let mut replies = replies.into_iter();
        let mut found = Vec::with_capacity(replies.len());
        for (at, sent) in sent.into_iter().enumerate() {
            if at < offset {
                match &mut self.queued {
                    Some(queued) => queued.push(sent),
                    None if sent.command.name == "MULTI" => self.queued = Some(Vec::new()),
                    None => {}
                }
            } else if let Some(reply) = replies.next() {
                found.push(self.after(sent, reply));
            }
        }
        found.extend(replies);
        found
    }
}

fn is_queued(reply: &Value) -> bool {
    matches!(reply, Value::SimpleString(text) if text == "QUEUED")
}

fn executed(queued: Vec<Sent>, reply: Value) -> Value {
    match reply {
        Value::Array(replies) if replies.len() == queued.len() => {
            let each = queued.iter().zip(replies);
            Value::Array(each.map(|(sent, reply)| sent.take_off(reply)).collect())
        }
        other => other,
    }
}

fn alone(command: &Command) -> Error {
    Error::CommandNotAllowed(format!(
        "{} inside a namespace is several commands, so it cannot be part of a pipeline or a \
         transaction; call it by itself",
        command.name
    ))
}
