//! The command line.

use clap::{Args, Parser, Subcommand, ValueEnum};
use polycache::{compressor, duration, serializer, size, Compressor, Serializer};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  the key is not there; check found damage; clear was declined
  2  the command line is wrong, or names a value that cannot be stored
  3  there is no cache in the directory (only `set` makes one)
  4  the cache or the operating system failed; the message says what to do

JSON:
  With --json each command prints one object (keys: one a line); errors go to stderr as
  {\"error\": {\"code\", \"message\", \"retryable\"}}. Sizes are bytes, times milliseconds since 1970,
  durations milliseconds, null is never. What JSON cannot hold is an object of one key:
    {\"$bytes\": hex}  {\"$int\": digits}, beyond 2^53  {\"$float\": \"nan\" | \"inf\" | \"-inf\"}
    {\"$set\": [..]}  {\"$timestamp\": \"2026-01-31T12:00:00.5Z\"}  {\"$decimal\": text}
    {\"$uuid\": text}  {\"$map\": [[key, value], ..]}, for a map that looks like one of these

Encryption:
  POLYCACHE_ENCRYPTION=ID:HEX has the keys that values are encrypted with, several separated by
  commas: the first encrypts. Without them `get` shows what an encrypted entry says of itself.

Dictionaries:
  POLYCACHE_DICTIONARIES=FILE has those that `get` reads entries with, several separated by colons.

Keys:
  A KEY is text; hex:00ff, or --hex 00ff, is bytes. A key that begins with hex: itself is written
  in hexadecimal, and so are keys with control characters when they are printed.";

/// Look into a polycache directory and change it
///
/// A cache is a directory that processes in Rust, TypeScript, Python and Ruby share. This command is
/// one more such process: what it sets or deletes is seen by the others on their next read.
#[derive(Debug, Parser)]
#[command(name = "polycache", version, after_long_help = EXIT_CODES)]
pub struct Arguments {
    /// The cache's directory
    #[arg(
        short = 'd',
        long,
        value_name = "DIR",
        env = "POLYCACHE_PATH",
        global = true
    )]
    pub path: Option<PathBuf>,
    /// A part of the namespace; give it again for a nested one
    #[arg(short, long, value_name = "PART", global = true)]
    pub namespace: Vec<String>,
    /// Print JSON for programs (see `polycache --help`)
    #[arg(long, global = true)]
    pub json: bool,
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print a key's value, with its size, age and time to live
    ///
    /// Exits with 1 when the key is not there.
    ///
    /// JSON: {"key", "found": true, "value", "type", "serializer", "compressor", "size" as stored,
    /// "payload" uncompressed, "encryption_key" its id or null, "created", "expires", "ttl"}, or
    /// {"key", "found": false}. Without "type" and "value", and with an error, when the entry cannot
    /// be decrypted.
    Get(Get),
    /// Store a value under a key, making the cache when there is none
    ///
    /// JSON: {"key", "size", "created", "expires", "ttl"}.
    Set(Set),
    /// Delete keys; loads of them that are under way are not stored
    ///
    /// Exits with 1 when none of them was there.
    ///
    /// JSON: {"deleted": how many were there}.
    Delete(Delete),
    /// List the keys of the namespace, in no order
    ///
    /// JSON, one line a key: {"key"}, with --long also "size", "created", "expires", "ttl"; with
    /// --all-namespaces also "namespace", a list of its parts.
    Keys(Keys),
    /// Show what the whole directory holds and what became of the rest
    ///
    /// JSON: {"path", "entries", "bytes", "limit", "max_record", "evicted_by_age",
    /// "evicted_by_conflict", "evicted_by_failed_put", "expired", "reinserted", "blocks_claimed",
    /// "floor_overflows"}.
    Stats,
    /// Verify every entry of the directory against its checksums
    ///
    /// Others may go on using the cache. Exits with 1 when something is damaged.
    ///
    /// JSON: {"whole", "damaged": [text, ..], "leases"}.
    Check,
    /// Clear the namespace and everything nested in it; without one, the whole cache
    ///
    /// Asks first when a person is there to answer. Exits with 1 when the answer was no.
    ///
    /// JSON: {"cleared": true or false}.
    Clear(Clear),
    /// Train a dictionary from samples, for the option `dictionaries` of a cache with small values
    ///
    /// Samples are values as the cache's serializer writes them, such as JSON; a hundred or more. No
    /// cache is needed.
    ///
    /// JSON: {"path", "id", "bytes", "samples"}.
    TrainDictionary(TrainDictionary),
}

/// Options of `get`.
#[derive(Debug, Args)]
pub struct Get {
    /// The key; hex:00ff is bytes
    pub key: OsString,
    #[command(flatten)]
    pub form: KeyForm,
    /// Print the value alone: text and bytes as they are, anything else as JSON in one line
    #[arg(long, conflicts_with = "json")]
    pub raw: bool,
}

/// Options of `set`.
#[derive(Debug, Args)]
pub struct Set {
    /// The key; hex:00ff is bytes
    pub key: OsString,
    /// The value, `-` to read it from the standard input; for bytes in hexadecimal (from the
    /// standard input as they are)
    #[arg(allow_hyphen_values = true)]
    pub value: OsString,
    #[command(flatten)]
    pub form: KeyForm,
    /// How long it lives, like 250ms, 30s, 5m, 2h, 1d; without it until it is evicted
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    pub ttl: Option<Duration>,
    /// What the value is
    #[arg(long = "type", value_name = "TYPE", value_enum, default_value_t = Type::Text)]
    pub kind: Type,
    /// How it becomes bytes: messagepack, json, text or bytes
    #[arg(long, value_parser = serializer::parse, default_value = "messagepack")]
    pub serializer: Serializer,
    /// What makes them fewer: none, smart (where it is worth it), zstd, or zstd:1 to zstd:22
    #[arg(long, value_parser = compressor::parse, default_value = "none")]
    pub compressor: Compressor,
    /// Byte limit of the directory, like 64MiB; without it what the directory has, 256MiB for a new
    /// one
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub limit: Option<u64>,
}

/// What a value on the command line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Type {
    /// Text, as it is
    Text,
    /// The value that the JSON stands for: null, bool, number, text, list or map
    Json,
    /// Bytes
    Bytes,
}

/// Options of `delete`.
#[derive(Debug, Args)]
pub struct Delete {
    /// The keys; hex:00ff is bytes
    #[arg(required = true, value_name = "KEY")]
    pub keys: Vec<OsString>,
    #[command(flatten)]
    pub form: KeyForm,
}

/// Options of `keys`.
#[derive(Debug, Args)]
pub struct Keys {
    /// What the keys begin with
    #[arg(default_value = "")]
    pub prefix: OsString,
    #[command(flatten)]
    pub form: KeyForm,
    /// Also print each entry's size, age and time to live
    #[arg(short, long)]
    pub long: bool,
    /// Also list nested namespaces; prints full keys, parts:of:the:namespace::key
    #[arg(short = 'A', long)]
    pub all_namespaces: bool,
    /// Print at most this many
    #[arg(long, value_name = "N")]
    pub limit_output: Option<u64>,
}

/// Options of `clear`.
#[derive(Debug, Args)]
pub struct Clear {
    /// Don't ask
    #[arg(short, long)]
    pub yes: bool,
}

/// Options of `train-dictionary`.
#[derive(Debug, Args)]
pub struct TrainDictionary {
    /// The samples, each a file
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Every line of the files is a sample
    #[arg(long)]
    pub lines: bool,
    /// The file that the dictionary is written to
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Most bytes that it may have, like 16KiB
    #[arg(long, value_name = "SIZE", value_parser = size::parse, default_value = "16KiB")]
    pub size: u64,
}

/// How keys are written.
#[derive(Clone, Copy, Debug, Args)]
pub struct KeyForm {
    /// Keys are hexadecimal digits
    #[arg(long)]
    pub hex: bool,
}
