//! The time to idle: how long an entry stays without a read.

use super::{take_u64, time_at, u16_at, HEADER_LEN, MAX_TIME_MS, TIME_TO_IDLE};
use crate::{EntryOptions, Error};

/// Bytes of the field TIME_TO_IDLE, which is the last one of a header.
pub(super) const FIELD_LEN: usize = 16;

/// A read prolongs an entry only when this part of its time to idle has passed, and an entry lives this part longer
/// than it. So one read in each part writes, and no entry expires that was read within its time to idle.
const PARTS: u64 = 8;

/// How long an entry stays without a read (`spec/entry.md`, "Time to idle").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idle {
    /// The time to idle, in milliseconds: 1 to 2^48 - 1.
    pub time: u64,
    /// When the time to live ends, whatever is read, in milliseconds since 1970; 0 means never.
    pub ends: u64,
}

impl Idle {
    /// When an entry expires that was written or prolonged `now`, unless it is prolonged again.
    #[must_use]
    pub fn expires(&self, now: u64) -> u64 {
        now.saturating_add(self.time)
            .saturating_add(self.slack())
            .min(self.last())
    }

    /// The latest time at which an entry may expire.
    fn last(&self) -> u64 {
        match self.ends {
            0 => MAX_TIME_MS,
            ends => ends,
        }
    }

    fn slack(&self) -> u64 {
        self.time / PARTS
    }

    /// From when on a read prolongs an entry of these times.
    fn prolonged_from(&self, created: u64, expires: u64) -> u64 {
        if expires >= self.last() {
            // It stays until then, whatever is read.
            return u64::MAX;
        }
        // A moment in which it was prolonged already gives no other time.
        created + self.slack().max(1)
    }

    pub(super) fn of(options: &EntryOptions<'_>) -> Result<Option<Idle>, Error> {
        match options.time_to_idle {
            0 => Ok(None),
            time if time > MAX_TIME_MS || options.expires > MAX_TIME_MS => Err(Error::invalid(
                "time_to_idle is at most 2^48 - 1 ms, and expires is below 2^48",
            )),
            time => Ok(Some(Idle {
                time,
                ends: options.expires,
            })),
        }
    }

    pub(super) fn take(fields: &mut &[u8], expires: u64) -> Result<Idle, Error> {
        let (time, ends) = (take_u64(fields)?, take_u64(fields)?);
        let expires_in_time = expires != 0 && (ends == 0 || expires <= ends);
        if !(1..=MAX_TIME_MS).contains(&time) || ends > MAX_TIME_MS || !expires_in_time {
            return Err(Error::malformed(
                "a time to idle is 1 to 2^48 - 1 ms, and the entry expires at the end of its time to live at the latest",
            ));
        }
        Ok(Idle { time, ends })
    }

    pub(super) fn field(&self) -> [u8; FIELD_LEN] {
        let mut field = [0; FIELD_LEN];
        field[..8].copy_from_slice(&self.time.to_le_bytes());
        field[8..].copy_from_slice(&self.ends.to_le_bytes());
        field
    }

    /// That of an entry that was not parsed, whose bytes may be anything.
    #[cold]
    fn find(entry: &[u8]) -> Option<Idle> {
        let fixed = entry.first_chunk::<HEADER_LEN>()?;
        let header_len = usize::from(u16_at(fixed, 22));
        let mut field = entry.get(header_len.checked_sub(FIELD_LEN)?..header_len)?;
        Idle::take(&mut field, time_at(fixed, 16)).ok()
    }
}

/// Whether `entry` says that it has a time to idle. Never fails: checks nothing, and returns false for fewer than 24
/// bytes.
#[inline]
pub fn has_time_to_idle(entry: &[u8]) -> bool {
    entry
        .first_chunk::<HEADER_LEN>()
        .is_some_and(|fixed| u16_at(fixed, 14) & TIME_TO_IDLE != 0)
}

/// Whether a read of `entry` at `now_ms`, in milliseconds since 1970, is to prolong it.
pub fn is_due(entry: &[u8], now_ms: u64) -> bool {
    has_time_to_idle(entry) && now_ms >= prolonged_from(entry)
}

/// Until when, in milliseconds since 1970, a copy of `entry` may be served without a look at the tier that it came from:
/// it expires, or a read is to prolong it there. 0 means for ever.
#[inline]
pub fn kept_until(entry: &[u8]) -> u64 {
    let expires = super::expires(entry);
    if has_time_to_idle(entry) {
        return expires.min(prolonged_from(entry));
    }
    expires
}

#[cold]
fn prolonged_from(entry: &[u8]) -> u64 {
    let (created, expires) = (super::created(entry), super::expires(entry));
    Idle::find(entry).map_or(u64::MAX, |idle| idle.prolonged_from(created, expires))
}

/// When the time to live of `entry` ends, in milliseconds since 1970, 0 for never, and its time to idle in milliseconds, 0 for
/// none.
pub fn times_of(entry: &[u8]) -> (u64, u64) {
    if has_time_to_idle(entry) {
        if let Some(Idle { time, ends }) = Idle::find(entry) {
            return (ends, time);
        }
    }
    (super::expires(entry), 0)
}
