//! What stands among the near copies for a cached read: its reply, and the guards of its keys.

use super::Noted;
use polycache_entry::{encode, EntryOptions, Header, Serializer, Value, Verify};

/// Keys that one cached read may name.
pub const MOST_KEYS: usize = 1024;

/// Bytes of a mark.
const MARK: usize = 8;

/// A reply with what it was read under, and how long it lives: `spec/reads.md`, "Among the near copies".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The mark of the arming.
    pub armed: u64,
    /// Those of the guards of its keys.
    pub guards: Vec<u64>,
    /// Milliseconds since 1970; 0: never.
    pub expires: u64,
    /// Where the reply begins in the payload.
    begins: usize,
}

impl Kept {
    /// What an entry says; `None` for one that is no cached read's.
    #[must_use]
    pub fn parse(entry: &[u8]) -> Option<Kept> {
        let expires = Header::parse(entry, Verify::Trusted).ok()?.expires;
        let payload = payload(entry)?;
        let (armed, rest) = word(payload)?;
        let (count, rest) = rest.split_first_chunk()?;
        let count = usize::from(u16::from_le_bytes(*count));
        let (marks, _) = rest.split_at_checked(count * MARK)?;
        let guards = marks
            .chunks_exact(MARK)
            .filter_map(|mark| Some(word(mark)?.0));
        Some(Kept {
            armed,
            guards: guards.collect(),
            expires,
            begins: MARK + 2 + count * MARK,
        })
    }

    /// The reply, out of the same entry.
    #[must_use]
    pub fn reply<'e>(&self, entry: &'e [u8]) -> &'e [u8] {
        payload(entry)
            .and_then(|payload| payload.get(self.begins..))
            .unwrap_or_default()
    }

    pub(super) fn has_expired(&self, now: u64) -> bool {
        self.expires != 0 && now >= self.expires
    }
}

pub(super) fn entry_of(noted: &Noted, reply: &[u8], created: u64, expires: u64) -> Vec<u8> {
    let mut payload = Vec::with_capacity(MARK * (noted.guards.len() + 1) + 2 + reply.len());
    payload.extend_from_slice(&noted.armed.to_le_bytes());
    payload.extend_from_slice(&(noted.guards.len() as u16).to_le_bytes());
    for mark in &noted.guards {
        payload.extend_from_slice(&mark.to_le_bytes());
    }
    payload.extend_from_slice(reply);
    entry(payload, created, expires)
}

/// The entry of a guard.
pub(super) fn mark_entry(mark: u64, created: u64) -> Vec<u8> {
    entry(mark.to_le_bytes().to_vec(), created, 0)
}

pub(super) fn parse_mark(entry: &[u8]) -> Option<u64> {
    Some(word(payload(entry)?)?.0)
}

/// Bytes as an entry.
pub(super) fn entry(payload: Vec<u8>, created: u64, expires: u64) -> Vec<u8> {
    let options = EntryOptions {
        serializer: Serializer::Bytes,
        created,
        expires,
        ..EntryOptions::default()
    };
    let mut entry = Vec::with_capacity(payload.len() + 64);
    encode(&Value::Bytes(payload.into()), &options, &mut entry)
        .map(|()| entry)
        .unwrap_or_default()
}

/// The bytes of such an entry.
pub(super) fn payload(entry: &[u8]) -> Option<&[u8]> {
    // It is not compressed, so nothing is put here.
    let header = Header::parse(entry, Verify::Trusted).ok()?;
    (header.serializer == Serializer::Bytes).then(|| header.stored(entry))
}

fn word(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (word, rest) = bytes.split_first_chunk()?;
    Some((u64::from_le_bytes(*word), rest))
}
