//! A read: its command, and how it is called in memory and on this host.

use super::plan::Plan;
use crate::Error;
use redis::{Arg, Cmd};

/// A command that may be cached.
#[derive(Debug)]
pub(super) struct Call {
    /// As it is sent, which also tells it from all others of these reads.
    pub packed: Box<[u8]>,
    pub keys: Vec<Box<[u8]>>,
    pub shows_fields: bool,
    /// Whether its reply is the text of a JSON document.
    pub is_document: bool,
    /// How it is called on this host: its keys, the shape of its reply, all of its words. As in the other languages.
    pub name: Vec<u8>,
}

impl Call {
    /// # Errors
    /// `UncacheableRead`, `InvalidArgument`.
    pub fn new(command: &Cmd, shape: &str) -> Result<Call, Error> {
        let words: Option<Vec<&[u8]>> = command
            .args_iter()
            .map(|word| match word {
                Arg::Simple(word) => Some(word),
                _ => None,
            })
            .collect();
        let words = words.ok_or_else(|| {
            Error::UncacheableRead("it cannot be cached: it is one step of a walk".into())
        })?;
        let Plan {
            keys,
            shows_fields,
            is_document,
        } = Plan::of(&words)?;
        let mut name = (keys.len() as u16).to_le_bytes().to_vec();
        let shape = std::iter::once(shape.as_bytes());
        for word in keys.iter().copied().chain(shape).chain(words) {
            name.extend_from_slice(&(word.len() as u32).to_le_bytes());
            name.extend_from_slice(word);
        }
        Ok(Call {
            packed: command.get_packed_command().into(),
            keys: keys.into_iter().map(Into::into).collect(),
            shows_fields,
            is_document,
            name,
        })
    }

    /// The keys, as the driver takes them.
    pub fn key_slices(&self) -> Vec<&[u8]> {
        self.keys.iter().map(AsRef::as_ref).collect()
    }
}
