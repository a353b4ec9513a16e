//! What is asked for a cached read, and what is told (`spec/reads.md`, "A read").

use super::LargeReply;
use redis::{cmd, Cmd, Value};

/// A read, and what goes with it in one round trip.
pub(crate) struct Asked<'a> {
    /// Questions before it; none if its reply will not be kept.
    pub before: &'a [Cmd],
    /// The command, packed.
    pub read: &'a [u8],
    /// One of its keys: by it a Cluster's primary is found.
    #[cfg_attr(not(feature = "redis-cluster"), allow(dead_code))]
    pub key: &'a [u8],
    /// What GETEX is asked after it: the proof, or if its reply will not be kept who the database is.
    pub asks: Option<&'a [u8]>,
}

/// The answers.
pub(crate) struct Told {
    pub answers: Vec<Value>,
    /// That to the read, which may be an error.
    pub reply: Value,
    pub answer: Option<Value>,
    /// Held while a large reply is in memory.
    pub _large: Option<LargeReply>,
}

impl Asked<'_> {
    #[cfg(feature = "redis-cluster")]
    pub fn is_to_be_kept(&self) -> bool {
        !self.before.is_empty()
    }

    /// All of it.
    pub fn packed(&self) -> Vec<u8> {
        let mut packed = Vec::new();
        let before = self.before.iter();
        before.for_each(|one| one.write_packed_command(&mut packed));
        packed.extend_from_slice(self.read);
        if let Some(key) = self.asks {
            cmd("GETEX").arg(key).write_packed_command(&mut packed);
        }
        packed
    }

    /// How many replies that has.
    pub fn count(&self) -> usize {
        self.before.len() + 1 + usize::from(self.asks.is_some())
    }

    /// These.
    pub fn told(&self, replies: Vec<Value>) -> Told {
        let mut replies = replies.into_iter();
        Told {
            answers: replies.by_ref().take(self.before.len()).collect(),
            reply: replies.next().unwrap_or_default(),
            answer: replies.next(),
            _large: None,
        }
    }
}
