//! The command table: `commands.json`, a copy of `spec/commands.json`, and the user's additions.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use crate::error::Error;
use crate::prefix::Prefix;
use crate::replies::Reply;
use crate::rules::{put_prefix, Put, Row, Rule, Words};

const FILE: &str = include_str!("commands.json");
/// Longer than the name of any command.
const LONGEST: usize = 64;

/// How a command is handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Do {
    Rewrite,
    Pass,
    /// It has its own way of staying inside the namespace.
    Scope,
    /// It touches the whole server.
    Refuse,
}

/// A command or subcommand.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) name: String,
    pub(crate) does: Do,
    rules: Vec<Rule>,
    pub(crate) reply: Option<Reply>,
    /// It gets a pattern if it has none.
    narrowed: bool,
    /// It consists of other commands.
    pub(crate) emulated: bool,
    /// Its reply must be rewritten.
    pub(crate) tracked: bool,
    /// The positions of its keys, if they are in a row and nothing else is needed, as for most commands.
    pub(crate) keys: Option<Row>,
}

impl Command {
    fn new(name: String, does: Do, rules: Vec<Rule>, reply: Option<Reply>) -> Self {
        let narrowed = matches!(
            &name[..],
            "SCAN" | "PUBSUB|CHANNELS" | "PUBSUB|SHARDCHANNELS"
        );
        let emulated = does == Do::Scope && matches!(&name[..], "DBSIZE" | "FLUSHDB" | "RANDOMKEY");
        let transactional = matches!(&name[..], "MULTI" | "EXEC" | "DISCARD" | "RESET");
        let keys = match &rules[..] {
            [] => Some(Row::EMPTY),
            [one] => one.keys(),
            _ => None,
        };
        let tracked = reply.is_some() || transactional;
        Self {
            name,
            does,
            rules,
            reply,
            narrowed,
            emulated,
            tracked,
            keys: keys.filter(|_| !tracked && !narrowed && does != Do::Scope),
        }
    }

    /// Refuses commands that one node of a cluster would execute, as if for the whole cluster.
    pub(crate) fn refuse_on_cluster(&self) -> Result<(), Error> {
        if !self.emulated && self.name != "SCAN" {
            return Ok(());
        }
        Err(Error::CommandNotAllowed(format!(
            "{} would see the keys of one node of the cluster; send it on a connection to each of \
             the primaries, or ask for KEYS, which all of them answer",
            self.name
        )))
    }

    /// Adds the prefixes to the words.
    pub(crate) fn rewrite(&self, words: &mut Words<'_>, prefix: &Prefix) -> Result<(), Error> {
        self.each(words, &mut |word, kind| put_prefix(word, kind, prefix))?;
        if self.narrowed {
            self.narrow(words, prefix);
        }
        Ok(())
    }

    /// Gives `put` the words that the rules name, one by one.
    pub(crate) fn each<'w>(
        &self,
        words: &mut Words<'w>,
        put: &mut impl Put<'w>,
    ) -> Result<(), Error> {
        (self.rules.iter()).try_for_each(|rule| rule.apply(words, put))
    }

    /// Without a pattern SCAN would scan all namespaces, and PUBSUB CHANNELS would list all channels.
    fn narrow(&self, words: &mut Words<'_>, prefix: &Prefix) {
        match &self.name[..] {
            // Each of SCAN's options has one argument.
            "SCAN"
                if !words
                    .iter()
                    .skip(2)
                    .step_by(2)
                    .any(|word| is(word, b"MATCH")) =>
            {
                words.push((&b"MATCH"[..]).into());
                words.push(prefix.glob(b"*").into());
            }
            "PUBSUB|CHANNELS" | "PUBSUB|SHARDCHANNELS" if words.len() == 2 => {
                words.push(prefix.glob(b"*").into());
            }
            _ => {}
        }
    }
}

fn is(word: &[u8], name: &[u8]) -> bool {
    word.eq_ignore_ascii_case(name)
}

#[derive(Debug, Default, Clone)]
struct Entry {
    command: Option<Arc<Command>>,
    subcommands: HashMap<Vec<u8>, Arc<Command>>,
}

/// Commands by name.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    entries: HashMap<Vec<u8>, Entry, BuildHasherDefault<Fnv>>,
}

impl Table {
    /// Only the table of `spec/commands.json`.
    pub(crate) fn default() -> Arc<Self> {
        static TABLE: OnceLock<Arc<Table>> = OnceLock::new();
        TABLE
            .get_or_init(|| Arc::new(Self::read(FILE).expect("a test reads the same file")))
            .clone()
    }

    fn read(text: &str) -> Option<Self> {
        let said: Value = serde_json::from_str(text).ok()?;
        let mut table = Self {
            entries: HashMap::default(),
        };
        for (name, said) in said.get("commands")?.as_object()? {
            let does = match said.get("do")?.as_str()? {
                "rewrite" => Do::Rewrite,
                "pass" => Do::Pass,
                "scope" => Do::Scope,
                "server" => Do::Refuse,
                _ => return None,
            };
            let rules = said.get("at").map_or(Some(Vec::new()), rules)?;
            let reply = match said.get("reply") {
                Some(reply) => Some(Reply::read(reply.as_str()?)?),
                None => None,
            };
            table.put(Command::new(name.clone(), does, rules, reply));
        }
        Some(table)
    }

    /// Passes commands through unchanged: ones that touch the whole server, or unknown ones without
    /// keys. A container stands for all of its subcommands that would be refused.
    pub(crate) fn allow(&mut self, name: &str) {
        let name = name.to_uppercase().replace(' ', "|");
        let container = self.entries.get(name.as_bytes()).into_iter();
        let refused: Vec<String> = container
            .flat_map(|entry| entry.subcommands.values())
            .filter(|command| command.does == Do::Refuse)
            .map(|command| command.name.clone())
            .collect();
        let names = if refused.is_empty() {
            vec![name]
        } else {
            refused
        };
        for name in names {
            self.put(Command::new(name, Do::Pass, Vec::new(), None));
        }
    }

    /// Describes where a command has its keys, as in `spec/commands.json`.
    pub(crate) fn add(&mut self, name: &str, at: &str) -> Result<(), Error> {
        if name.is_empty() {
            return Err(Error::InvalidArgument("a command has a name".to_owned()));
        }
        let read = serde_json::from_str(at).ok().and_then(|at| rules(&at));
        let Some(rules) = read else {
            return Err(Error::InvalidArgument(format!(
                "{at} says not where keys stand; for a first key it is [[\"key\", 1, 1, 1]]"
            )));
        };
        let name = name.to_uppercase().replace(' ', "|");
        self.put(Command::new(name, Do::Rewrite, rules, None));
        Ok(())
    }

    fn put(&mut self, command: Command) {
        match command.name.clone().split_once('|') {
            Some((container, sub)) => {
                let entry = self
                    .entries
                    .entry(container.as_bytes().to_vec())
                    .or_default();
                entry
                    .subcommands
                    .insert(sub.as_bytes().to_vec(), Arc::new(command));
            }
            None => {
                let entry = self
                    .entries
                    .entry(command.name.clone().into_bytes())
                    .or_default();
                entry.command = Some(Arc::new(command));
            }
        }
    }

    /// The command with this name and following word.
    pub(crate) fn find(&self, name: &[u8], next: Option<&[u8]>) -> Result<&Arc<Command>, Error> {
        let entry = uppercase(name, |name| self.entries.get(name));
        let command = entry.and_then(|entry| {
            if entry.subcommands.is_empty() {
                return entry.command.as_ref();
            }
            let sub = next.and_then(|next| uppercase(next, |next| entry.subcommands.get(next)));
            sub.or(entry.command.as_ref())
        });
        match command {
            Some(command) if command.does == Do::Refuse => Err(Error::CommandNotAllowed(format!(
                "{name} touches the whole server, other namespaces included. If that is meant, \
                 allow it: .allow({name:?})",
                name = command.name.replace('|', " ")
            ))),
            Some(command) => Ok(command),
            None => Err(unknown(name, next.filter(|_| entry.is_some()))),
        }
    }
}

fn rules(at: &Value) -> Option<Vec<Rule>> {
    at.as_array()?.iter().map(Rule::read).collect()
}

fn unknown(name: &[u8], sub: Option<&[u8]>) -> Error {
    let mut full = String::from_utf8_lossy(name).to_uppercase();
    if let Some(sub) = sub {
        full = format!("{full} {}", String::from_utf8_lossy(sub).to_uppercase());
    }
    Error::UnknownCommand(format!(
        "{full} is not known, so it cannot be said which of its words are keys. If it has none, \
         .allow({full:?}); else say where they stand, for a first key \
         .command({:?}, r#\"[[\"key\", 1, 1, 1]]\"#)",
        full.replace(' ', "|")
    ))
}

/// Looks up a word in upper case, which redis-rs uses, without allocating a String.
fn uppercase<'t, T>(word: &[u8], look: impl Fn(&[u8]) -> Option<&'t T>) -> Option<&'t T> {
    let found = look(word);
    if found.is_some() {
        return found;
    }
    let mut upper = [0; LONGEST];
    let upper = upper.get_mut(..word.len())?;
    upper.copy_from_slice(word);
    upper.make_ascii_uppercase();
    look(upper)
}

/// FNV-1a: names are short, and only the user chooses them.
#[derive(Debug, Clone)]
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    // Of a length, before the bytes.
    fn write_usize(&mut self, number: usize) {
        self.0 = (self.0 ^ number as u64).wrapping_mul(0x0100_0000_01b3);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
