//! Namespaces for every command of Redis and Valkey: adds a prefix to keys, patterns and channels on
//! redis-rs' connections, and removes it from replies.
//!
//! The positions of keys in a command come from `spec/commands.json`, which is made from what live
//! servers say about their commands. An unknown command is refused ([`Error::UnknownCommand`]), and so
//! is one that touches the whole server ([`Error::CommandNotAllowed`]), unless it is allowed by name.
//! `SCAN` without a pattern, `KEYS`, `DBSIZE`, `RANDOMKEY` and `FLUSHDB` stay inside the namespace.
//!
//! The KEYS of a Lua script are rewritten; a script that builds other keys has to know the prefix.

#[cfg(feature = "aio")]
mod aio;
mod command_table;
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

pub use command_table::{CommandTable, KeysFound};
pub use connection::Namespaced;
pub use error::Error;
pub use prefix::Prefix;
pub use pubsub::{Message, PubSub};
pub use session::Namespace;
