//! What a cache may hold.

use crate::budget::Budget;

/// Entries and weight that may be held, and how much of both is.
#[derive(Debug)]
pub(crate) struct Bounds {
    pub entries: Budget,
    /// None: every entry weighs 1, and entries are what is counted.
    pub weight: Option<Budget>,
}

impl Bounds {
    /// Makes room `new` out of `left`, which was given up already, and of what is free: a number of
    /// entries and their weight. Does nothing and returns false when there is not enough.
    pub fn exchange(&self, left: (u64, u64), new: (u64, u64)) -> bool {
        let missing = new.0.saturating_sub(left.0);
        if !self.entries.take(missing) {
            return false;
        }
        if let Some(weight) = &self.weight {
            if !weight.take(new.1.saturating_sub(left.1)) {
                self.entries.give_back(missing);
                return false;
            }
            weight.give_back(left.1.saturating_sub(new.1));
        }
        self.entries.give_back(left.0.saturating_sub(new.0));
        true
    }

    pub fn give_back(&self, left: (u64, u64)) {
        self.entries.give_back(left.0);
        if let Some(weight) = &self.weight {
            weight.give_back(left.1);
        }
    }

    /// The weight that is held.
    pub fn weight(&self) -> u64 {
        self.weight.as_ref().unwrap_or(&self.entries).used()
    }
}
