//! The entry format of Polycache: what a tier stores under a key.
//!
//! An entry is a [`Header`] of 24 bytes or more and a payload: a [`Value`] that a [`Serializer`]
//! wrote and a [`Compressor`] may have shrunk. The same bytes lie in the host tier and in the
//! remote tier, and processes in Rust, TypeScript, Python and Ruby read them. The contract is
//! `spec/entry.md`; `spec/vectors/` holds examples of every rule.
//!
//! ```
//! use polycache_entry::{decode_payload, decode_value, encode, EntryOptions, Limits, Value, Verify};
//!
//! let mut entry = Vec::new();
//! let options = EntryOptions { created: 1_700_000_000_000, ..EntryOptions::default() };
//! encode(&Value::from("hello"), &options, &mut entry)?;
//!
//! let mut scratch = Vec::new();
//! let limits = Limits::default();
//! let (header, payload) = decode_payload(&entry, Verify::Checksum, &limits, &mut scratch)?;
//! assert_eq!(decode_value(header.serializer, payload, &limits)?, Value::from("hello"));
//! # Ok::<(), polycache_entry::Error>(())
//! ```
//!
//! Every function here accepts bytes from any source: damaged and hostile ones give a typed [`Error`],
//! and the memory used is bounded by the number of bytes really there.

mod compressor;
mod encryption;
mod entry;
mod error;
mod header;
mod renewed;
mod serializer;
mod streamed;
#[cfg(feature = "vectors")]
pub mod tagged;
mod typed;
mod utf8;
mod value;
mod weight;

pub use compressor::{train, Compressor, CompressorId, Dictionaries};
pub use encryption::{decrypt_payload, Encryption, EntryEncryption};
pub use entry::{
    decode_payload, decode_value, encode, encode_payload, encode_typed, plain_payload,
    trusted_payload, EntryOptions, Limits,
};
pub use error::Error;
pub use header::{
    created, expires, has_time_to_idle, is_due, is_valid_at, kept_until, times_of, Header, Idle,
    Tag, Tags, TagsIter, Verify, CLOCK_TOLERANCE_MS, HEADER_LEN, MAGIC, MAX_TIME_MS, VERSION,
};
pub use renewed::{prolonged, renewed};
pub use serializer::{Serializer, MAX_DEPTH};
pub use streamed::{seal_head, Checksum};
pub use typed::{deserialize, serialize, Structs};
pub use value::{
    from_value, to_value, Named, Value, MAX_DIGITS, MAX_NAME, MAX_TIMESTAMP_SECONDS,
    MIN_TIMESTAMP_SECONDS,
};
