//! Where commands have their keys, for programs that put no prefix on them.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::error::Error;
use crate::rules::{Kind, Words};
use crate::table::Table;

/// The command table of `spec/commands.json`, for those who only ask where the keys of a command are.
///
/// ```
/// use polycache_redis_namespace::CommandTable;
///
/// let found = CommandTable::new().keys_of(&[b"MGET", b"a", b"b"])?;
/// assert_eq!(found.keys, [b"a", b"b"]);
/// # Ok::<(), polycache_redis_namespace::Error>(())
/// ```
#[derive(Clone)]
pub struct CommandTable(Arc<Table>);

impl fmt::Debug for CommandTable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("CommandTable").finish_non_exhaustive()
    }
}

impl Default for CommandTable {
    fn default() -> Self {
        Self::new()
    }
}

/// The keys of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeysFound<'a> {
    /// In the order of the command's words.
    pub keys: Vec<&'a [u8]>,
    /// It reads keys that it does not name: patterns of SORT's BY and GET.
    pub looks_elsewhere: bool,
}

impl CommandTable {
    /// The commands of Redis and Valkey themselves.
    #[must_use]
    pub fn new() -> Self {
        Self(Table::default())
    }

    /// With a command of a module, whose keys stand where `at` says, as in `spec/commands.json`.
    ///
    /// # Errors
    /// `InvalidArgument` for no name, and where `at` says nothing of the kind.
    pub fn command(mut self, name: &str, at: &str) -> Result<Self, Error> {
        Arc::make_mut(&mut self.0).add(name, at)?;
        Ok(self)
    }

    /// The keys of a command, whose words these are.
    ///
    /// # Errors
    /// `UnknownCommand`; `CommandNotAllowed` for one that touches the whole server; `InvalidArgument` for a number of keys
    /// that is none.
    pub fn keys_of<'a>(&self, words: &[&'a [u8]]) -> Result<KeysFound<'a>, Error> {
        let name = words.first().copied().unwrap_or_default();
        let command = self.0.find(name, words.get(1).copied())?;
        let mut words: Words<'a> = words.iter().copied().map(Cow::Borrowed).collect();
        let mut found = KeysFound::default();
        command.each(&mut words, &mut |word: &mut Cow<'a, [u8]>, kind| {
            // All are borrowed, because nobody replaces one.
            let Cow::Borrowed(word) = *word else {
                return Ok(());
            };
            match kind {
                Kind::Key => found.keys.push(word),
                Kind::By => found.looks_elsewhere = true,
                Kind::Get => found.looks_elsewhere |= word != b"#",
                Kind::Pattern | Kind::Channel | Kind::Publish | Kind::ChannelPattern => {}
            }
            Ok(())
        })?;
        Ok(found)
    }
}
