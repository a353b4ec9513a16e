//! What stands under a key on the server: an entry, or the token of a load, behind a head of 16 bytes.

use crate::presence::HolderId;
use polycache_entry::{is_valid_at, Header, Verify};

/// Bytes of a head: they tell one write from every other.
pub const HEAD_LEN: usize = 16;
/// Bytes that hold a head and the fixed part of an entry's header.
pub const LARGEST_HEADER: u64 = 40;

const MAGIC: u8 = 0xC1;
const VALUE: u8 = 0x81;
const PENDING: u8 = 0x82;

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind<'a> {
    /// A value, by its entry.
    Value(&'a [u8]),
    /// A load that runs, by whom.
    Pending(HolderId),
}

/// A record as it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// The number of the last clear that its writer knew.
    pub born: u64,
    /// A random number, by which no two writes look alike.
    pub mark: u64,
    /// What it is.
    pub kind: Kind<'a>,
}

/// Makes a head: `pending` for a load's token.
fn make_head(pending: bool, born: u64, mark: u64) -> [u8; HEAD_LEN] {
    let mut head = [0; HEAD_LEN];
    head[0] = MAGIC;
    head[1] = if pending { PENDING } else { VALUE };
    head[2..8].copy_from_slice(&born.to_le_bytes()[..6]);
    head[8..].copy_from_slice(&mark.to_le_bytes());
    head
}

/// The head of a pending record with these numbers.
#[must_use]
pub fn pending_head(born: u64, mark: u64) -> [u8; HEAD_LEN] {
    make_head(true, born, mark)
}

/// The head of a record's bytes; all of them where there are fewer.
#[must_use]
pub fn head(record: &[u8]) -> &[u8] {
    &record[..record.len().min(HEAD_LEN)]
}

/// The number of the last clear that the writer of a head knew.
pub(crate) fn born(head: &[u8]) -> u64 {
    let mut number = [0; 8];
    if let Some(bytes) = head.get(2..8) {
        number[..6].copy_from_slice(bytes);
    }
    u64::from_le_bytes(number)
}

/// The head of a value's record.
pub(crate) fn value_head(born: u64, mark: u64) -> [u8; HEAD_LEN] {
    make_head(false, born, mark)
}

/// The record of an entry.
pub(crate) fn with_head(head: [u8; HEAD_LEN], entry: &[u8]) -> Vec<u8> {
    [head.as_slice(), entry].concat()
}

/// A value's record.
pub(crate) fn value(born: u64, mark: u64, entry: &[u8]) -> Vec<u8> {
    with_head(value_head(born, mark), entry)
}

/// A load's record.
pub(crate) fn pending(born: u64, mark: u64, holder: HolderId) -> Vec<u8> {
    [
        make_head(true, born, mark).as_slice(),
        &holder.host.to_le_bytes(),
        &holder.participant.to_le_bytes(),
    ]
    .concat()
}

impl<'a> Record<'a> {
    /// Reads a record; `None` for bytes that are none of ours.
    #[must_use]
    pub fn parse(bytes: &'a [u8]) -> Option<Record<'a>> {
        let (head, rest) = bytes.split_first_chunk::<HEAD_LEN>()?;
        let [MAGIC, kind, ..] = head else {
            return None;
        };
        let mut mark = [0; 8];
        mark.copy_from_slice(&head[8..]);
        let kind = match *kind {
            VALUE => Kind::Value(rest),
            PENDING => {
                let (host, rest) = rest.split_first_chunk::<8>()?;
                Kind::Pending(HolderId {
                    host: u64::from_le_bytes(*host),
                    participant: u64::from_le_bytes(*rest.first_chunk::<8>()?),
                })
            }
            _ => return None,
        };
        Some(Record {
            born: born(head),
            mark: u64::from_le_bytes(mark),
            kind,
        })
    }

    /// The numbers of a head: `born` and `mark`.
    #[must_use]
    pub fn parse_head(head: &[u8]) -> Option<(u64, u64)> {
        let head = head.first_chunk::<HEAD_LEN>()?;
        let mut mark = [0; 8];
        mark.copy_from_slice(&head[8..]);
        Some((born(head), u64::from_le_bytes(mark)))
    }

    /// Whether a read at `now` (milliseconds since 1970) finds its value there, under these floors. The
    /// bytes may end behind the fixed part of the entry's header.
    #[must_use]
    pub fn is_served(&self, floor: u64, now: u64) -> bool {
        let Kind::Value(entry) = self.kind else {
            return false;
        };
        self.born >= floor && is_valid_at(entry, now)
    }
}

/// Whether the bytes are a whole entry, so that a copy of them may be kept.
pub(crate) fn is_whole(entry: &[u8]) -> bool {
    Header::parse(entry, Verify::Checksum).is_ok()
}

/// Milliseconds for which the server keeps an entry without an expiry of its own. With one, a server that is full
/// evicts it by `volatile-lru`, which spares the floors: without its floor a cleared entry would come back.
pub(crate) const YEAR: u64 = 365 * 24 * 60 * 60 * 1000;

/// Milliseconds for which the server keeps an entry that is written at `now`. Readers look at the entry's own time;
/// the server's is later, so that no host whose clock is behind misses the entry.
pub(crate) fn time_to_live(entry: &[u8], now: u64) -> Option<u64> {
    let header = Header::parse(entry, Verify::Trusted).ok()?;
    match header.expires {
        0 => Some(YEAR),
        expires => {
            let left = expires.saturating_sub(now);
            Some(left + (left / 8).clamp(5_000, 60_000))
        }
    }
}
