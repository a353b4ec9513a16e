//! Rewrites the commands and the replies of one connection.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use redis::Value;

use crate::error::Error;
use crate::packed::Out;
use crate::prefix::{Prefix, SEPARATOR};
use crate::rules::{Row, Words};
use crate::table::{Command, Table};

/// Called for every command; returns the present names, the outermost first.
type Ask = dyn Fn() -> Vec<String> + Send + Sync;

/// A namespace and the command table: how a connection is namespaced.
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
    source: Source,
    separator: Arc<str>,
    table: Arc<Table>,
}

#[derive(Clone)]
enum Source {
    Fixed(Arc<Prefix>, Arc<[String]>),
    Asked(Arc<Ask>),
}

impl Namespace {
    /// A namespace with one name.
    ///
    /// # Errors
    /// `InvalidArgument` for an empty name.
    pub fn new(name: impl AsRef<str>) -> Result<Self, Error> {
        Self::nested([name])
    }

    /// Nested namespaces, the outermost first.
    ///
    /// # Errors
    /// `InvalidArgument` for no name, or an empty one.
    pub fn nested<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> Result<Self, Error> {
        let names: Arc<[String]> = names.into_iter().map(|n| n.as_ref().to_owned()).collect();
        Ok(Self {
            source: Source::Fixed(Arc::new(Prefix::new(&names)?), names),
            separator: SEPARATOR.into(),
            table: Table::default(),
        })
    }

    /// A namespace whose names a function returns for every command. If it returns none, nothing is
    /// sent.
    pub fn asked(ask: impl Fn() -> Vec<String> + Send + Sync + 'static) -> Self {
        Self {
            source: Source::Asked(Arc::new(ask)),
            separator: SEPARATOR.into(),
            table: Table::default(),
        }
    }

    /// Sets the text after each name. Default: `:`.
    ///
    /// ```
    /// use polycache_redis_namespace::Namespace;
    ///
    /// let app = Namespace::new("app")?.separator("-")?;
    /// assert_eq!(app.prefix()?.text(), b"app-");
    /// # Ok::<(), polycache_redis_namespace::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidArgument` for an empty separator: a namespace would contain every other one whose name
    /// begins with its own.
    pub fn separator(mut self, separator: &str) -> Result<Self, Error> {
        let names: &[String] = match &self.source {
            Source::Fixed(_, names) => names,
            // The names are not known yet.
            Source::Asked(_) => &["name".to_owned()],
        };
        let prefix = Prefix::with_separator(names, separator)?;
        if let Source::Fixed(fixed, _) = &mut self.source {
            *fixed = Arc::new(prefix);
        }
        self.separator = separator.into();
        Ok(self)
    }

    /// Passes a command through unchanged: one that touches the whole server (`"FLUSHALL"`), or an
    /// unknown one without keys. Default: none.
    #[must_use]
    pub fn allow(mut self, name: &str) -> Self {
        Arc::make_mut(&mut self.table).allow(name);
        self
    }

    /// Describes where another command has its keys, in JSON as in `spec/commands.json`:
    /// `.command("JSON.GET", r#"[["key", 1, 1, 1]]"#)`. Default: none.
    ///
    /// # Errors
    /// `InvalidArgument` for invalid rules.
    pub fn command(mut self, name: &str, at: &str) -> Result<Self, Error> {
        Arc::make_mut(&mut self.table).add(name, at)?;
        Ok(self)
    }

    /// The present prefix.
    ///
    /// # Errors
    /// `InvalidArgument` if a function returned no name.
    pub fn prefix(&self) -> Result<Arc<Prefix>, Error> {
        match &self.source {
            Source::Fixed(prefix, _) => Ok(prefix.clone()),
            Source::Asked(ask) => Prefix::with_separator(&ask(), &self.separator).map(Arc::new),
        }
    }

    /// The present prefix, for immediate use.
    fn current(&self) -> Result<Cow<'_, Prefix>, Error> {
        match &self.source {
            Source::Fixed(prefix, _) => Ok(Cow::Borrowed(prefix)),
            Source::Asked(ask) => Prefix::with_separator(&ask(), &self.separator).map(Cow::Owned),
        }
    }

    /// The command in these words.
    pub(crate) fn find<'w>(
        &self,
        mut words: impl Iterator<Item = Option<&'w [u8]>>,
    ) -> Result<&Arc<Command>, Error> {
        let name = words.next().unwrap_or(Some(b"")).ok_or_else(not_encoded)?;
        self.table.find(name, words.next().flatten())
    }
}

impl fmt::Debug for Namespace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Source::Fixed(prefix, _) => {
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

/// A sent command, kept until its reply comes.
pub(crate) struct Sent {
    pub(crate) command: Arc<Command>,
    pub(crate) prefix: Arc<Prefix>,
}

/// Commands queued since MULTI: their replies come with EXEC. None stands for a command whose reply
/// stays unchanged.
#[derive(Default)]
pub(crate) struct Session {
    queued: Option<Vec<Option<Sent>>>,
}

impl Session {
    /// Writes a command with its prefixes from its words. `bytes` is about their size.
    pub(crate) fn rewrite<'w>(
        &self,
        namespace: &Namespace,
        command: &Arc<Command>,
        words: &mut impl ExactSizeIterator<Item = Option<&'w [u8]>>,
        bytes: usize,
        out: &mut impl Out,
    ) -> Result<Option<Sent>, Error> {
        if command.emulated {
            return Err(alone(command));
        }
        if let Some(keys) = command.keys {
            copy(words, keys, namespace.current()?.text(), bytes, out)?;
            return Ok(None);
        }
        let mut words: Words<'_> = words
            .map(|word| word.map(Cow::Borrowed))
            .collect::<Option<_>>()
            .ok_or_else(not_encoded)?;
        let prefix = namespace.prefix()?;
        command.rewrite(&mut words, &prefix)?;
        out.words(&words);
        let command = command.clone();
        Ok(command.tracked.then_some(Sent { command, prefix }))
    }

    /// A command that consists of others, which a transaction cannot contain.
    pub(crate) fn emulated(
        &self,
        namespace: &Namespace,
        command: &Arc<Command>,
    ) -> Result<Sent, Error> {
        if self.queued.is_some() {
            return Err(alone(command));
        }
        Ok(Sent {
            command: command.clone(),
            prefix: namespace.prefix()?,
        })
    }

    /// The reply without prefixes.
    pub(crate) fn after(&mut self, sent: Option<Sent>, reply: Value) -> Value {
        let refused = matches!(reply, Value::ServerError(_));
        match sent.as_ref().map(|sent| &sent.command.name[..]) {
            // Within a transaction it is refused, and changes nothing.
            Some("MULTI") if refused => {}
            Some("MULTI") => self.queued = Some(Vec::new()),
            Some("DISCARD" | "RESET") => self.queued = None,
            Some("EXEC") => return executed(self.queued.take().unwrap_or_default(), reply),
            _ => match &mut self.queued {
                Some(queued) if is_queued(&reply) => queued.push(sent),
                Some(_) if refused => {}
                _ => {
                    // The server has executed it, so there is no transaction.
                    self.queued = None;
                    return take_off(sent.as_ref(), reply);
                }
            },
        }
        reply
    }

    /// The command got an error. For whatever reason the server rejects EXEC, the queued commands will
    /// not be executed.
    pub(crate) fn failed(&mut self, sent: Option<&Sent>) {
        if sent.is_some_and(|sent| matches!(&sent.command.name[..], "EXEC" | "DISCARD" | "RESET")) {
            self.queued = None;
        }
    }

    /// Commands were sent and their replies not seen. If the server refuses to queue one of them, it
    /// aborts the transaction, so a successful EXEC contains all of them.
    pub(crate) fn unseen(&mut self, sent: Vec<Option<Sent>>) {
        for sent in sent {
            match sent.as_ref().map(|sent| &sent.command.name[..]) {
                Some("MULTI") => _ = self.queued.get_or_insert_with(Vec::new),
                Some("EXEC" | "DISCARD" | "RESET") => self.queued = None,
                _ => {
                    if let Some(queued) = &mut self.queued {
                        queued.push(sent);
                    }
                }
            }
        }
    }

    /// Replies of a pipeline. redis-rs returns those from `offset` on: all of them, or only that of a
    /// transaction's EXEC.
    pub(crate) fn after_all(
        &mut self,
        sent: Vec<Option<Sent>>,
        offset: usize,
        replies: Vec<Value>,
    ) -> Vec<Value> {
        let mut replies = replies.into_iter();
        let mut found = Vec::with_capacity(replies.len());
        for (at, sent) in sent.into_iter().enumerate() {
            if at < offset {
                match &mut self.queued {
                    Some(queued) => queued.push(sent),
                    None if sent.is_some_and(|sent| sent.command.name == "MULTI") => {
                        self.queued = Some(Vec::new());
                    }
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

/// Copies a command whose keys are in a row, without building a list of its words.
fn copy<'w>(
    words: &mut impl ExactSizeIterator<Item = Option<&'w [u8]>>,
    keys: Row,
    prefix: &[u8],
    bytes: usize,
    out: &mut impl Out,
) -> Result<(), Error> {
    let count = words.len();
    let mut places = keys.places(count);
    out.begin(count, bytes + places.len() * prefix.len());
    let mut key = places.next();
    for at in 0..count {
        let word = words.next().flatten().ok_or_else(not_encoded)?;
        if key == Some(at) {
            out.word(prefix, word);
            key = places.next();
        } else {
            out.word(b"", word);
        }
    }
    Ok(())
}

fn take_off(sent: Option<&Sent>, reply: Value) -> Value {
    match sent {
        Some(Sent { command, prefix }) => match command.reply {
            Some(kind) => kind.take_off(reply, prefix),
            None => reply,
        },
        None => reply,
    }
}

fn is_queued(reply: &Value) -> bool {
    matches!(reply, Value::SimpleString(text) if text == "QUEUED")
}

fn executed(queued: Vec<Option<Sent>>, reply: Value) -> Value {
    match reply {
        Value::Array(replies) if replies.len() == queued.len() => {
            let each = queued.iter().zip(replies);
            Value::Array(
                each.map(|(sent, reply)| take_off(sent.as_ref(), reply))
                    .collect(),
            )
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

pub(crate) fn not_encoded() -> Error {
    Error::InvalidArgument("these bytes are not encoded commands".to_owned())
}
