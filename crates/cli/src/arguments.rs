//! The command line.

use crate::pattern;
use clap::{Args, Parser, Subcommand, ValueEnum};
use polycache::{compressor, duration, serializer, size, Compressor, Serializer};
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  a key has no entry; check found damage; clear was declined; stats had no answer from the server
  2  the command line is wrong, or the value cannot be stored; clear without a terminal and
     without -y
  3  there is no cache in the directory (only `set` creates one)
  4  the cache or the operating system failed; the message says what to do

JSON:
  With --json each command prints one object (get, keys, usage, top: one a line); errors go to stderr as
  {\"error\": {\"code\", \"message\", \"retryable\"}}. Sizes are bytes, times milliseconds since 1970,
  durations milliseconds, null is never. A value that JSON cannot hold is an object of one key:
    {\"$bytes\": hex}  {\"$int\": digits}, beyond 2^53  {\"$float\": \"nan\" | \"inf\" | \"-inf\"}
    {\"$set\": [..]}  {\"$timestamp\": \"2026-01-31T12:00:00.5Z\"}  {\"$decimal\": text}
    {\"$uuid\": text}  {\"$named\": [type, value]}, of a type that a program has registered
    {\"$map\": [[key, value], ..]}, for a map that looks like one of these

Encryption:
  POLYCACHE_ENCRYPTION=ID:HEX sets the encryption keys, separated by commas. The first one
  encrypts. Without them `get` shows only the facts of an encrypted entry.

Dictionaries:
  POLYCACHE_DICTIONARIES=FILE sets the dictionaries for `get`, separated by colons.

Keys:
  A KEY is text; hex:00ff, or --hex 00ff, is bytes. Write a key that itself begins with hex: in
  hexadecimal. Keys with control characters are printed in hexadecimal, too.

Changes:
  Only set, delete and clear change anything, and serve with -r, which keeps copies; only set and serve with -r
  create a cache. The other commands change no byte of its files.";

/// Inspect and change a polycache directory
///
/// A cache is a directory that processes in Rust, TypeScript, Python and Ruby share. This command is
/// one more such process: the others see what it sets or deletes on their next read.
#[derive(Debug, Parser)]
#[command(name = "polycache", version, after_long_help = EXIT_CODES)]
pub struct Arguments {
    /// The cache's directory
    #[arg(
        short = 'd',
        long,
        value_name = "DIR",
        env = "POLYCACHE_PATH",
        hide_env_values = true,
        global = true
    )]
    pub path: Option<PathBuf>,
    /// The Redis or Valkey of the cache, as a URL: redis://user:password@host:6379/0
    ///
    /// Then the command works with what is there, and with no directory: for get, set, delete, keys and clear. `stats` tells
    /// of both. POLYCACHE_REMOTE keeps a password out of the list of processes.
    #[arg(
        short = 'r',
        long,
        value_name = "URL",
        env = "POLYCACHE_REMOTE",
        hide_env_values = true,
        global = true
    )]
    pub remote: Option<String>,
    /// What the names of the cache's keys on the server begin with
    #[arg(long, value_name = "TEXT", default_value = "polycache", global = true)]
    pub remote_prefix: String,
    /// The namespace, as `keys -A` prints it: shop, or shop:eu for eu nested in shop
    ///
    /// In a part, %3A is a colon and %25 a percent sign. -n shop -n eu is the same as -n shop:eu. `stats`, `top` and `check`
    /// tell of the whole directory all the same.
    #[arg(short, long, value_name = "NAMESPACE", global = true)]
    pub namespace: Vec<String>,
    /// The files' mode where a group shares the cache, in octal: 660, or 640 for a group that only reads
    ///
    /// `set` gives it to a cache that it creates. With it every command uses a cache that another user of the group
    /// made.
    #[arg(long, value_name = "MODE", value_parser = mode, global = true)]
    pub mode: Option<u32>,
    /// Print JSON for programs (see `polycache --help`)
    #[arg(long, global = true)]
    pub json: bool,
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// A file mode in octal.
fn mode(text: &str) -> Result<u32, String> {
    u32::from_str_radix(text.trim_start_matches("0o"), 8)
        .map_err(|_| "write it in octal digits, like 660".into())
}

/// A bound that leaves something.
fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("it is a whole number from 1 on".into()),
        Ok(number) => Ok(number),
    }
}

/// A time between two looks, which leaves the processor to others.
fn interval(text: &str) -> Result<Duration, String> {
    match duration::parse(text) {
        Ok(interval) if interval < Duration::from_millis(10) => Err("it is 10ms or more".into()),
        Ok(interval) => Ok(interval),
        Err(error) => Err(error.to_string()),
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print the values of keys, with their size, age and time to live
    ///
    /// Exits with 1 when a key has no entry.
    ///
    /// JSON, one line a key: {"key", "found": true, "value", "type", "serializer", "compressor", "size" as stored,
    /// "payload" uncompressed, "encryption_key" its id or null, "created", "expires", "ttl"}, or
    /// {"key", "found": false}. Without "type" and "value", and with an error, when the entry cannot
    /// be decrypted.
    Get(Get),
    /// Store a value under a key; create the cache if there is none
    ///
    /// JSON: {"key", "size", "created", "expires", "ttl"}.
    Set(Set),
    /// Delete keys; what is being loaded for them is not stored
    ///
    /// Exits with 1 when none of them had an entry.
    ///
    /// JSON: {"deleted": how many had an entry}.
    Delete(Delete),
    /// List the keys of the namespace, in no order
    ///
    /// JSON, one line a key: {"key"}, with --long also "size", "created", "expires", "ttl"; with
    /// --all-namespaces also "namespace", a list of its parts.
    Keys(Keys),
    /// Show what all processes did with the directory, what it holds and what was removed from it; with -r, how the server is
    ///
    /// Where programs use a server, too: which tier answered, what they asked the server, and which process hears of writes
    /// to it. With -r the command asks the server itself, as one more host would, and waits up to two seconds for it to
    /// tell of a write: it leaves keys of its own there that expire. It exits with 1 when the server does not answer. With
    /// -r and without a directory it tells of the server alone.
    ///
    /// JSON: {"path", "since", "hits", "memory_hits", "misses", "hit_ratio" (null without a read), "writes", "deletes",
    /// "loads", "failed_loads", "invalidated_loads", "unstored", "wait_timeouts", "entries", "bytes", "limit",
    /// "max_record", "evicted_by_age", "evicted_by_conflict", "evicted_by_failed_put", "expired", "reinserted",
    /// "blocks_claimed", "floor_overflows", "failed_flushes", "near_hits", "remote_hits", "joined_hits", "round_trips", "faults",
    /// "last_fault_at" (null: never), "last_open_at" (when a process last found its circuit breaker open), "processes": [{"pid", "handles", "since", "hits",
    /// "memory_hits", "misses", "writes", "deletes", "loads", "failed_loads"}, ..], "listeners": [{"identity" of the server's
    /// data, "pid" (null: nobody listens), "since", "lag" (null: no copies are served), "refuses_tracking"}, ..]}. With -r
    /// also "server": {"answers", "fault" (null, or why not), "round_trip", "lag" (null: it told of no write),
    /// "refuses_tracking", "identity"}.
    Stats,
    /// Show what all processes do with the directory, again and again; q ends it
    ///
    /// On a terminal it fills the screen. Otherwise it prints a line each time: what was done since the last one. Changes
    /// nothing. Hits include those that a process found in its own memory; the column `memory` tells how many these were.
    ///
    /// JSON, one line each time: that of `stats` without "listeners", and "interval" in milliseconds, "per_second": {"hits", "misses", "writes",
    /// "deletes", "loads", "failed_loads", "evicted_by_age", "evicted_by_conflict", "evicted_by_failed_put", "expired"},
    /// "namespaces": as `usage` prints them.
    Top(Top),
    /// Show which namespaces take the most space
    ///
    /// A namespace is shown without those that are nested in it. With -n, that namespace and those nested in it. Reads every
    /// key, so it takes a second for a few million entries.
    ///
    /// JSON, one line a namespace: {"namespace", a list of its parts, "entries", "bytes"}.
    Usage(Usage),
    /// Verify every entry of the directory against its checksums
    ///
    /// Other processes can go on using the cache. Exits with 1 when an entry is damaged.
    ///
    /// JSON: {"whole", "damaged": [text, ..], "leases"}.
    Check,
    /// Clear the namespace and everything nested in it; without one, the whole cache
    ///
    /// Asks first; without a terminal it needs -y. Exits with 1 when the answer was no.
    ///
    /// JSON: {"cleared": true or false}.
    Clear(Clear),
    /// Serve the cache over HTTP: entries, streams and reads of Redis, metrics, and a page to look at
    ///
    /// Without -r it serves a directory, and changes no byte of it. With -r it serves what is on that server and what the server's own
    /// keys hold; a directory, which is made if there is none, then has the copies. It listens at 127.0.0.1 unless clients
    /// must show a token. It ends by SIGTERM or SIGINT, when open requests are answered, and exits with 0.
    ///
    /// GET /entries/NAMESPACE/KEY, /streams/KEY?start&end&count, /streams/KEY/live, /reads/COMMAND/KEY/.., /stats, /metrics,
    /// /healthz and the page /. docs/serve.md tells of each.
    ///
    /// JSON, one line when it listens: {"url", "path" (null without a directory)}.
    Serve(Serve),
    /// Train a dictionary from samples, for the option `dictionaries` of a cache with small values
    ///
    /// Give a hundred samples or more: values as the cache's serializer writes them, such as JSON. No cache is needed.
    ///
    /// JSON: {"path", "id", "bytes", "samples"}.
    TrainDictionary(TrainDictionary),
    /// Print completions for a shell
    ///
    /// bash: polycache completions bash > ~/.local/share/bash-completion/completions/polycache.
    /// zsh: a file _polycache in a folder of $fpath. fish: ~/.config/fish/completions/polycache.fish.
    Completions(Completions),
    /// Print the manual page of polycache or of a command, for `man -l -`
    Man(Man),
}

/// Options of `get`.
#[derive(Debug, Args)]
pub struct Get {
    /// The keys; hex:00ff is bytes
    #[arg(required = true, value_name = "KEY")]
    pub keys: Vec<OsString>,
    #[command(flatten)]
    pub form: KeyForm,
    /// Print only the value of one key: text and bytes as they are, other types as one line of JSON
    ///
    /// On a terminal, control characters are escaped; a pipe or a file gets every byte.
    #[arg(long, conflicts_with = "json")]
    pub raw: bool,
}

/// Options of `set`.
#[derive(Debug, Args)]
pub struct Set {
    /// The key; hex:00ff is bytes
    pub key: OsString,
    /// The value, or `-` to read it from standard input; with --type bytes it is hexadecimal, but
    /// from standard input raw
    #[arg(allow_hyphen_values = true)]
    pub value: OsString,
    #[command(flatten)]
    pub form: KeyForm,
    /// Time to live, like 250ms, 30s, 5m, 2h, 1d; without it, until it is evicted
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    pub ttl: Option<Duration>,
    /// Type of the value
    #[arg(long = "type", value_name = "TYPE", value_enum, default_value_t = Type::Text)]
    pub kind: Type,
    /// Serializer: messagepack, json, text or bytes
    #[arg(long, value_parser = serializer::parse, default_value = "messagepack")]
    pub serializer: Serializer,
    /// Compressor: none, smart (where it is worth it), zstd, or zstd:1 to zstd:22
    #[arg(long, value_parser = compressor::parse, default_value = "none")]
    pub compressor: Compressor,
    /// Byte limit of the directory, like 64MiB; without it, the directory's own, or 256MiB if new
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
    /// Prefix of the keys
    #[arg(default_value = "")]
    pub prefix: OsString,
    /// List only keys that match: * is any text, ? one character, [a-z] one of these, [!a-z] none of
    /// them; quote it for the shell
    #[arg(short, long, value_name = "PATTERN", value_parser = pattern::parse)]
    pub glob: Option<glob::Pattern>,
    #[command(flatten)]
    pub form: KeyForm,
    /// Also print each entry's size, age and time to live
    #[arg(short, long)]
    pub long: bool,
    /// Also list nested namespaces; prints NAMESPACE::KEY, in the form that -n and `get` take
    #[arg(short = 'A', long)]
    pub all_namespaces: bool,
    /// Print at most this many
    #[arg(long, value_name = "N")]
    pub limit_output: Option<u64>,
}

/// Options of `top`.
#[derive(Debug, Args)]
pub struct Top {
    /// How long to wait between two looks, like 500ms, 1s, 1m; 10ms or more
    #[arg(long, value_name = "DURATION", value_parser = interval, default_value = "1s")]
    pub interval: Duration,
    /// Look twice, print what was done in between, and end
    #[arg(long)]
    pub once: bool,
    /// Show at most this many namespaces
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub namespaces: usize,
}

/// Options of `usage`.
#[derive(Debug, Args)]
pub struct Usage {
    /// Print at most this many namespaces
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub most: usize,
}

/// Options of `clear`.
#[derive(Debug, Args)]
pub struct Clear {
    /// Don't ask
    #[arg(short, long)]
    pub yes: bool,
}

/// Options of `serve`.
#[derive(Debug, Args)]
pub struct Serve {
    /// The cache's directory, as --path
    #[arg(value_name = "PATH")]
    pub directory: Option<PathBuf>,
    /// Where to listen; port 0 is any free one
    ///
    /// An address that other machines reach needs a token.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080")]
    pub listen: SocketAddr,
    /// A file with the token that clients must show: Authorization: Bearer TOKEN
    ///
    /// Or in POLYCACHE_TOKEN. It has 16 characters or more; `openssl rand -hex 32` makes one.
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// A name beside localhost by which clients may call the server, as the field Host has it; may be given again
    #[arg(long, value_name = "NAME")]
    pub host: Vec<String>,
    /// What the keys of Redis begin with that /streams and /reads show; may be given again; without it, all
    #[arg(long, value_name = "PREFIX")]
    pub keys: Vec<String>,
    /// Let clients run scripts in Redis by /reads/EVAL_RO and /reads/EVALSHA_RO, which are refused without it
    ///
    /// A script reads every key of the database, whatever --keys says, and may run for ever, in which time Redis answers nobody.
    #[arg(long)]
    pub allow_scripts: bool,
    /// Connections at once; further ones are answered 503
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = at_least_one)]
    pub max_connections: usize,
    /// Clients that listen to streams at once; further ones are answered 503
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = at_least_one)]
    pub max_listeners: usize,
    /// Entries of a stream in one answer
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub max_count: u64,
    /// What one reply of Redis may take in memory, about, like 16MiB; a larger one is answered 403
    ///
    /// A reply counts its bytes, and 32 for each of its lines, as Redis sends it. The rest of one that is too large is not
    /// read. Over TLS (rediss://) there is no such bound.
    #[arg(long, value_name = "SIZE", value_parser = size::parse, default_value = "16MiB")]
    pub max_reply: u64,
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
    /// The file to write the dictionary to
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Maximum size of the dictionary, like 16KiB
    #[arg(long, value_name = "SIZE", value_parser = size::parse, default_value = "16KiB")]
    pub size: u64,
}

/// Options of `completions`.
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// Options of `man`.
#[derive(Debug, Args)]
pub struct Man {
    /// The command; without it, polycache itself
    pub of: Option<String>,
}

/// How keys are written.
#[derive(Clone, Copy, Debug, Args)]
pub struct KeyForm {
    /// Keys are hexadecimal digits
    #[arg(long)]
    pub hex: bool,
}
