//! Where iterations over keys stand. A tier's cursor is a number, a store's is bytes.

use crate::Error;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Iterations that may be under way at once; those that were given up are among them.
const MOST: usize = 1 << 12;

#[derive(Default)]
pub struct Scans(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    last: u64,
    /// The oldest first.
    cursors: VecDeque<(u64, Vec<u8>)>,
}

impl Scans {
    /// The store's cursor of a number, 0 for a new iteration. It is no longer kept.
    pub fn take(&self, number: u64) -> Result<Option<Vec<u8>>, Error> {
        if number == 0 {
            return Ok(None);
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = kept.cursors.iter().position(|(one, _)| *one == number);
        match place.and_then(|place| kept.cursors.remove(place)) {
            Some((_, cursor)) => Ok(Some(cursor)),
            None => Err(Error::invalid(
                "too many iterations over keys are under way; end some, and begin anew",
            )),
        }
    }

    /// A number by which a cursor is found again.
    pub fn keep(&self, cursor: Vec<u8>) -> u64 {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.last += 1;
        let number = kept.last;
        kept.cursors.push_back((number, cursor));
        if kept.cursors.len() > MOST {
            kept.cursors.pop_front();
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_found_once_by_its_number() {
        let scans = Scans::default();
        assert_eq!(scans.take(0).unwrap(), None);
        let (one, other) = (scans.keep(b"a".to_vec()), scans.keep(b"b".to_vec()));
        assert_eq!(scans.take(one).unwrap(), Some(b"a".to_vec()));
        assert_eq!(scans.take(one).unwrap_err().code(), "invalid_argument");
        assert_eq!(scans.take(other).unwrap(), Some(b"b".to_vec()));
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let scans = Scans::default();
        let numbers: Vec<u64> = (0..=MOST).map(|_| scans.keep(Vec::new())).collect();
        assert!(scans.take(numbers[0]).is_err());
        assert!(scans.take(numbers[1]).is_ok());
    }
}
