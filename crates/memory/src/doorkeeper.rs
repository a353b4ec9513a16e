//! Admission where a miss is cheap: in front of another tier, a value that is not kept is read there
//! again.

use crate::ghosts::Ghosts;
use crate::sync::Mutex;

/// Admits a value when it comes for the second time within a while. A full cache in front of another
/// tier asks the doorkeeper before it keeps what that tier gave. A program that reads far more keys than
/// the cache holds, each rarely, then pays for a look here instead of an insertion and an eviction.
///
/// ```
/// use polycache_memory::Doorkeeper;
///
/// let doorkeeper = Doorkeeper::new();
/// assert!(!doorkeeper.admits(7, 100)); // turned away
/// assert!(doorkeeper.admits(7, 100)); // and admitted
/// assert!(!doorkeeper.admits(7, 100)); // which forgot it
/// ```
#[derive(Debug, Default)]
pub struct Doorkeeper(Mutex<Ghosts>);

impl Doorkeeper {
    /// A doorkeeper that has turned no value away yet.
    #[must_use]
    pub fn new() -> Doorkeeper {
        Doorkeeper::default()
    }

    /// Whether the value at this place of the other tier is among the last `entries` that were turned
    /// away: as many as the cache holds. Otherwise it is turned away too, and remembered.
    ///
    /// While another thread is asking, the value is turned away without being remembered: no thread
    /// waits here.
    #[inline]
    pub fn admits(&self, place: u64, entries: usize) -> bool {
        let Ok(mut turned_away) = self.0.try_lock() else {
            return false;
        };
        let hash = spread(place);
        if turned_away.take(hash, entries).is_some() {
            return true;
        }
        turned_away.keep(entries);
        turned_away.bury(hash, 0);
        false
    }

    /// Forgets everything.
    pub fn clear(&self) {
        if let Ok(mut turned_away) = self.0.try_lock() {
            *turned_away = Ghosts::default();
        }
    }
}

/// Other numbers for places up to 2^32. Their lower bits, which choose a chain, differ wherever any bits
/// of the places do.
fn spread(place: u64) -> u32 {
    (place as u32).wrapping_mul(0x9e37_79b1).rotate_left(16)
}

#[cfg(test)]
mod tests {
    use super::Doorkeeper;

    #[test]
    fn a_set_that_fits_is_let_in_whole_when_it_comes_again() {
        for entries in [1, 7, 100, 5000] {
            let doorkeeper = Doorkeeper::new();
            // Places are in buckets of 8, and the first of each bucket is taken first.
            let places = (0..entries as u64).map(|number| 8 * number);
            assert!(places
                .clone()
                .all(|place| !doorkeeper.admits(place, entries)));
            assert!(
                places
                    .clone()
                    .all(|place| doorkeeper.admits(place, entries)),
                "{entries}"
            );
        }
    }

    #[test]
    fn a_larger_set_is_not_let_in() {
        let doorkeeper = Doorkeeper::new();
        for _ in 0..3 {
            assert!((0..101).all(|place| !doorkeeper.admits(place, 100)));
        }
    }

    #[test]
    fn it_remembers_as_many_as_there_are_entries_when_these_become_more() {
        let doorkeeper = Doorkeeper::new();
        for entries in 1..100 {
            assert!(!doorkeeper.admits(1000, entries));
            for other in 1..entries as u64 {
                assert!(!doorkeeper.admits(other, entries));
            }
            assert!(doorkeeper.admits(1000, entries), "{entries}");
            doorkeeper.clear();
        }
    }

    #[test]
    fn places_far_apart_are_told_apart() {
        let doorkeeper = Doorkeeper::new();
        for bit in 0..32 {
            assert!(!doorkeeper.admits(1 << bit, 1000));
        }
    }
}
