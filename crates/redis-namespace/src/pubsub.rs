//! Subscriptions inside a namespace.

use std::sync::Arc;
use std::time::Duration;

use redis::{Connection, Msg, RedisResult, Value};

use crate::connection::Namespaced;
use crate::error::Error;
use crate::prefix::Prefix;
use crate::replies;
use crate::session::Namespace;

/// A message with the names that its subscriber knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The channel that it came on.
    pub channel: Vec<u8>,
    /// The pattern that matched the channel, for a subscription to a pattern.
    pub pattern: Option<Vec<u8>>,
    /// The payload; for a notification of an event, the key.
    pub payload: Vec<u8>,
}

impl Namespaced<Connection> {
    /// Subscriptions of this connection. The namespace is the present one.
    ///
    /// # Errors
    /// `InvalidArgument` if a function returned no name.
    pub fn as_pubsub(&mut self) -> Result<PubSub<'_>, Error> {
        let prefix = self.namespace.prefix()?;
        Ok(PubSub {
            pubsub: self.connection.as_pubsub(),
            prefix,
        })
    }
}

impl Namespace {
    /// A message from another kind of subscription (`redis::aio::PubSub`), with the names of the
    /// namespace; None when it concerns another namespace's key.
    ///
    /// # Errors
    /// `InvalidArgument` if a function returned no name.
    pub fn message(&self, message: &Msg) -> RedisResult<Option<Message>> {
        told(message, &*self.prefix()?)
    }

    /// The full name of a channel, for another kind of subscription.
    ///
    /// # Errors
    /// `InvalidArgument` for one that may be a notification of two kinds.
    pub fn channel(&self, name: impl AsRef<[u8]>) -> Result<Vec<u8>, Error> {
        self.prefix()?.channel(name.as_ref())
    }

    /// The same for a pattern of channels.
    ///
    /// # Errors
    /// `InvalidArgument` for one that may be a notification of two kinds.
    pub fn channel_pattern(&self, pattern: impl AsRef<[u8]>) -> Result<Vec<u8>, Error> {
        self.prefix()?.channel_pattern(pattern.as_ref())
    }
}

/// `redis::PubSub` with channels of a namespace.
pub struct PubSub<'a> {
    pubsub: redis::PubSub<'a>,
    prefix: Arc<Prefix>,
}

impl PubSub<'_> {
    /// Subscribes to a channel.
    ///
    /// # Errors
    /// Those of redis-rs, and `InvalidArgument` for a channel that may be a notification of two kinds.
    pub fn subscribe(&mut self, channel: impl AsRef<[u8]>) -> RedisResult<()> {
        self.pubsub
            .subscribe(&self.prefix.channel(channel.as_ref())?[..])
    }

    /// Subscribes to all matching channels.
    ///
    /// # Errors
    /// As for `subscribe`.
    pub fn psubscribe(&mut self, pattern: impl AsRef<[u8]>) -> RedisResult<()> {
        self.pubsub
            .psubscribe(&self.prefix.channel_pattern(pattern.as_ref())?[..])
    }

    /// Ends a subscription to a channel.
    ///
    /// # Errors
    /// As for `subscribe`.
    pub fn unsubscribe(&mut self, channel: impl AsRef<[u8]>) -> RedisResult<()> {
        self.pubsub
            .unsubscribe(&self.prefix.channel(channel.as_ref())?[..])
    }

    /// Ends a subscription to a pattern.
    ///
    /// # Errors
    /// As for `subscribe`.
    pub fn punsubscribe(&mut self, pattern: impl AsRef<[u8]>) -> RedisResult<()> {
        self.pubsub
            .punsubscribe(&self.prefix.channel_pattern(pattern.as_ref())?[..])
    }

    /// The next message of this namespace; messages about other namespaces' keys are left out.
    ///
    /// # Errors
    /// Those of redis-rs, including a timeout.
    pub fn get_message(&mut self) -> RedisResult<Message> {
        loop {
            let message = self.pubsub.get_message()?;
            if let Some(message) = told(&message, &self.prefix)? {
                return Ok(message);
            }
        }
    }

    /// Sets how long `get_message` waits; without it, forever.
    ///
    /// # Errors
    /// Those of redis-rs.
    pub fn set_read_timeout(&self, timeout: Option<Duration>) -> RedisResult<()> {
        self.pubsub.set_read_timeout(timeout)
    }
}

fn told(message: &Msg, prefix: &Prefix) -> RedisResult<Option<Message>> {
    let channel: Vec<u8> = message.get_channel()?;
    let pattern: Option<Vec<u8>> = message.get_pattern()?;
    let kind = if pattern.is_some() {
        "pmessage"
    } else {
        "message"
    };
    let mut event = vec![Value::BulkString(kind.into())];
    event.extend(pattern.map(Value::BulkString));
    event.push(Value::BulkString(channel));
    event.push(Value::BulkString(message.get_payload_bytes().to_vec()));
    let Some(event) = replies::message(&event, prefix) else {
        return Ok(None);
    };
    let mut words = event.into_iter().skip(1).map(|word| match word {
        Value::BulkString(bytes) => bytes,
        _ => Vec::new(),
    });
    let pattern = if kind == "pmessage" {
        words.next()
    } else {
        None
    };
    let (channel, payload) = (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    );
    Ok(Some(Message {
        channel,
        pattern,
        payload,
    }))
}
