//! Where a read found an entry.

use polycache_host::Hit;

/// Where a read found an entry. A memory tier keeps it beside the object that the entry became, and serves the object
/// while the place [stands](super::Tier::stands).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub hit: Hit,
    /// The number of the database that the entry is a copy of, as its handle counts them from 1 on; [`DIRECTORY`] for an
    /// entry of the directory's own; [`NONE`].
    pub database: u64,
}

/// No database.
const DIRECTORY: u64 = 0;
/// The place is not known.
const NONE: u64 = u64::MAX;

impl Place {
    /// Of an entry whose place nobody knows: no read can tell whether it would find the same.
    pub const UNKNOWN: Place = Place {
        hit: Hit {
            slot: 0,
            word: 0,
            epoch: 0,
        },
        database: NONE,
    };

    pub fn is_known(&self) -> bool {
        self.database != NONE
    }
}

impl From<Hit> for Place {
    #[inline]
    fn from(hit: Hit) -> Place {
        Place {
            hit,
            database: DIRECTORY,
        }
    }
}
