//! Namespaces for every command of Redis and Valkey: a prefix is put on keys, patterns and channels
//! of redis-rs' connections, and taken off replies.
//!
//! Where keys stand in a command comes from `spec/commands.json`, which is made from what live
//! servers say of their commands. One that is not known is refused ([`Error::UnknownCommand`]), and
//! so is one that touches the whole server ([`Error::CommandNotAllowed`]), unless it is allowed by
//! name. `SCAN` without a pattern, `KEYS`, `DBSIZE`, `RANDOMKEY` and `FLUSHDB` stay inside.
//!
//! A Lua script gets its KEYS rewritten; one that makes up keys of its own has to know the prefix
//! itself.

#[cfg(feature = "aio")]
mod aio;
mod connection;
mod error;
mod packed;
mod prefix;
mod pubsub;
mod replies;
mod rules;
mod scope;
mod session;
mod table;
#[cfg(test)]
mod tests;

pub use connection::Namespaced;
pub use error::Error;
pub use prefix::Prefix;
pub use pubsub::{Message, PubSub};
pub use session::Namespace;
