//! The prefix of every key of a namespace (`spec/commands.md`, "Where things stand").

use crate::error::Error;

/// Where the server notifies a connection of changed keys.
pub(crate) const INVALIDATE: &[u8] = b"__redis__:invalidate";
/// The default text after a name.
pub(crate) const SEPARATOR: &str = ":";
const KEYSPACE: &[u8] = b"__keyspace@";
const KEYEVENT: &[u8] = b"__keyevent@";

/// A prefix, added to names and removed from them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prefix {
    text: Vec<u8>,
    /// The same with the special characters of a pattern escaped.
    pattern: Vec<u8>,
}

impl Prefix {
    /// The prefix of nested namespaces, the outermost first.
    ///
    /// # Errors
    /// `InvalidArgument` for no name, or an empty one.
    pub fn new<N: AsRef<str>>(names: &[N]) -> Result<Self, Error> {
        Self::with_separator(names, SEPARATOR)
    }

    /// The same with another text than a colon after each name.
    ///
    /// # Errors
    /// `InvalidArgument` as for `new`, and for an empty separator: a namespace would contain every other
    /// one whose name begins with its own.
    pub fn with_separator<N: AsRef<str>>(names: &[N], separator: &str) -> Result<Self, Error> {
        if separator.is_empty() {
            let message = "a separator is text that is not empty".to_owned();
            return Err(Error::InvalidArgument(message));
        }
        if names.is_empty() || names.iter().any(|name| name.as_ref().is_empty()) {
            let message = "a namespace has a name, and nested ones have one each".to_owned();
            return Err(Error::InvalidArgument(message));
        }
        let mut text = Vec::new();
        for name in names {
            text.extend_from_slice(name.as_ref().as_bytes());
            text.extend_from_slice(separator.as_bytes());
        }
        let mut pattern = Vec::with_capacity(text.len());
        for &byte in &text {
            if b"*?[]\\".contains(&byte) {
                pattern.push(b'\\');
            }
            pattern.push(byte);
        }
        Ok(Self { text, pattern })
    }

    /// The namespace with its separator.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    pub(crate) fn key(&self, name: &[u8]) -> Vec<u8> {
        join(&self.text, name)
    }

    pub(crate) fn glob(&self, glob: &[u8]) -> Vec<u8> {
        join(&self.pattern, glob)
    }

    pub(crate) fn channel(&self, name: &[u8]) -> Result<Vec<u8>, Error> {
        if name == INVALIDATE {
            return Ok(name.to_vec());
        }
        Ok(notification(name, &self.text)?.unwrap_or_else(|| self.key(name)))
    }

    /// A channel to publish to. The server's own notification channels are rejected: a message there
    /// would reach every namespace.
    pub(crate) fn publish(&self, name: &[u8]) -> Result<Vec<u8>, Error> {
        if name != INVALIDATE && !tells_of_events(name) {
            return self.channel(name);
        }
        Err(Error::InvalidArgument(format!(
            "every namespace hears what is published to {}, where the server tells of keys; choose \
             another channel",
            String::from_utf8_lossy(name)
        )))
    }

    pub(crate) fn channel_pattern(&self, glob: &[u8]) -> Result<Vec<u8>, Error> {
        Ok(notification(glob, &self.pattern)?.unwrap_or_else(|| self.glob(glob)))
    }

    /// A pattern of SORT's BY; one without an asterisk means "do not sort".
    pub(crate) fn by(&self, pattern: &[u8]) -> Result<Vec<u8>, Error> {
        if pattern.contains(&b'*') {
            self.sort_pattern(pattern)
        } else {
            Ok(pattern.to_vec())
        }
    }

    /// A pattern of SORT's GET; `#` is the element itself.
    pub(crate) fn get(&self, pattern: &[u8]) -> Result<Vec<u8>, Error> {
        if pattern == b"#" {
            Ok(pattern.to_vec())
        } else {
            self.sort_pattern(pattern)
        }
    }

    /// SORT inserts an element at a pattern's first asterisk, whatever is before it.
    fn sort_pattern(&self, pattern: &[u8]) -> Result<Vec<u8>, Error> {
        if self.text.contains(&b'*') {
            let message = "SORT's BY and GET cannot be used in a namespace with an asterisk: it \
                           would be taken for the element";
            return Err(Error::InvalidNamespace(message.to_owned()));
        }
        Ok(self.key(pattern))
    }

    pub(crate) fn is_of(&self, name: &[u8]) -> bool {
        name.starts_with(&self.text)
    }

    /// The name without the prefix; a name of another namespace unchanged.
    pub(crate) fn strip<'a>(&self, name: &'a [u8]) -> &'a [u8] {
        name.strip_prefix(&self.text[..]).unwrap_or(name)
    }

    pub(crate) fn strip_channel(&self, name: &[u8]) -> Vec<u8> {
        without(name, &self.text)
    }

    pub(crate) fn strip_channel_pattern(&self, glob: &[u8]) -> Vec<u8> {
        without(glob, &self.pattern)
    }
}

/// Whether a channel's messages name the keys.
pub(crate) fn tells_of_events(channel: &[u8]) -> bool {
    channel.starts_with(KEYEVENT)
}

fn join(prefix: &[u8], name: &[u8]) -> Vec<u8> {
    let mut joined = Vec::with_capacity(prefix.len() + name.len());
    joined.extend_from_slice(prefix);
    joined.extend_from_slice(name);
    joined
}

/// The channel of keyspace notifications for a key with the prefix; None for any other channel.
fn notification(name: &[u8], prefix: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    if !name.starts_with(b"__key") {
        return Ok(None);
    }
    if name.starts_with(KEYEVENT) {
        return Ok(Some(name.to_vec()));
    }
    let Some((head, key)) = keyspace(name) else {
        let message = format!(
            "a channel of notifications begins with __keyspace@<db>__: or __keyevent@<db>__:, and \
             {} may be both",
            String::from_utf8_lossy(name)
        );
        return Err(Error::InvalidArgument(message));
    };
    Ok(Some([head, prefix, key].concat()))
}

/// `__keyspace@<db>__:` and the key after it.
fn keyspace(name: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = name.strip_prefix(KEYSPACE)?;
    let database = rest.iter().position(|&byte| byte == b'_')?;
    rest[database..].strip_prefix(b"__:")?;
    Some(name.split_at(KEYSPACE.len() + database + b"__:".len()))
}

fn without(name: &[u8], prefix: &[u8]) -> Vec<u8> {
    if let Some((head, key)) = keyspace(name) {
        let key = key.strip_prefix(prefix).unwrap_or(key);
        return [head, key].concat();
    }
    name.strip_prefix(prefix).unwrap_or(name).to_vec()
}
