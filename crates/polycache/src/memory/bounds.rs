//! What a memory tier may hold.

use crate::Error;

/// Entries and bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub max_entries: u64,
    pub max_bytes: u64,
}

/// The largest limit, in every language.
const MOST_ENTRIES: u64 = 1 << 24;

impl Bounds {
    /// The defaults are those of every language (`spec/memory.md`).
    ///
    /// # Errors
    /// `InvalidArgument` for 0, and for more than 2^24 entries.
    pub fn new(max_entries: Option<u64>, max_bytes: Option<u64>) -> Result<Bounds, Error> {
        let bounds = Bounds {
            max_entries: max_entries.unwrap_or(10_000),
            max_bytes: max_bytes.unwrap_or(64 << 20),
        };
        if !(1..=MOST_ENTRIES).contains(&bounds.max_entries) {
            return Err(Error::InvalidArgument(format!(
                "max_entries is {}; it must be 1 to 2^24",
                bounds.max_entries
            )));
        }
        if bounds.max_bytes == 0 {
            return Err(Error::invalid("max_bytes is 0; it must be at least 1"));
        }
        Ok(bounds)
    }
}
