//! The bounds of a cache.

use crate::budget::Budget;

/// The bounds on entries and bytes, and how much of each is used.
#[derive(Debug)]
pub(crate) struct Bounds {
    pub entries: Budget,
    /// None when nothing is weighed.
    pub bytes: Option<Budget>,
}

impl Bounds {
    /// Makes room `new` (a number of entries and their bytes) out of `left`, which was already given up,
    /// and of free room. Does nothing and returns false when there is not enough.
    #[inline]
    pub fn exchange(&self, left: (u64, u64), new: (u64, u64)) -> bool {
        let missing = new.0.saturating_sub(left.0);
        if !self.entries.take(missing) {
            return false;
        }
        if let Some(bytes) = &self.bytes {
            if !bytes.take(new.1.saturating_sub(left.1)) {
                self.entries.give_back(missing);
                return false;
            }
            bytes.give_back(left.1.saturating_sub(new.1));
        }
        self.entries.give_back(left.0.saturating_sub(new.0));
        true
    }

    pub fn give_back(&self, left: (u64, u64)) {
        self.entries.give_back(left.0);
        if let Some(bytes) = &self.bytes {
            bytes.give_back(left.1);
        }
    }

    /// True when there is no room for another entry of the mean weight.
    #[inline]
    pub fn is_full(&self) -> bool {
        let entries = self.entries.used();
        if entries >= self.entries.bound() {
            return true;
        }
        let Some(bytes) = self.bytes.as_ref().filter(|_| entries > 0) else {
            return false;
        };
        let used = bytes.used();
        used.saturating_add(used / entries) > bytes.bound()
    }

    /// The bytes in use; 0 when nothing is weighed.
    pub fn bytes(&self) -> u64 {
        self.bytes.as_ref().map_or(0, Budget::used)
    }
}
