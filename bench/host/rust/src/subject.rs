//! What a subject is.

use crate::protocol::Place;
use std::error::Error;

/// Whatever went wrong ends up as text in the subject's row.
pub type Outcome<T> = Result<T, Box<dyn Error>>;

/// A store under measurement.
pub trait Subject: Sized {
    /// Its name in the report; ours begin with `polycache`.
    const NAME: &'static str;
    /// True for a store that keeps within its byte limit by recycling: it is filled beyond the
    /// limit before anything is timed.
    const BOUNDED: bool = false;

    /// Opens an empty store, or another handle on the one that is there.
    fn open(place: &Place) -> Outcome<Self>;

    /// What is measured.
    fn operations() -> Vec<Operation<Self>>;

    /// Names and versions of what is measured; the commit names ours.
    fn versions(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// The bytes that are stored for a value; made before the timing.
    fn stored(&self, value: &str) -> Vec<u8> {
        value.as_bytes().to_vec()
    }

    /// Writes everything, in the fastest way there is.
    fn fill(&mut self, batch: &Batch<'_>) -> Outcome<()>;

    /// The key's value, to check what the operations read and wrote.
    fn value(&mut self, key: &[u8]) -> Outcome<Option<String>>;

    /// How often the store's space has been used over, for a bounded store.
    fn turns(&self) -> Outcome<f64> {
        Ok(0.0)
    }
}

/// What an operation does with its batch.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Put,
    Get,
    Mixed,
}

/// The keys and values of one round, put together before the timing.
#[derive(Clone, Copy)]
pub struct Batch<'a> {
    pub writes: &'a [(&'a [u8], &'a [u8])],
    pub reads: &'a [&'a [u8]],
}

/// One row of the report.
pub struct Operation<S> {
    pub name: &'static str,
    pub kind: Kind,
    pub durability: &'static str,
    /// Runs the batch and returns how many reads found nothing.
    pub run: fn(&mut S, &Batch<'_>) -> Outcome<u64>,
}

/// An operation, in a line.
pub fn operation<S>(
    name: &'static str,
    kind: Kind,
    durability: &'static str,
    run: fn(&mut S, &Batch<'_>) -> Outcome<u64>,
) -> Operation<S> {
    Operation {
        name,
        kind,
        durability,
        run,
    }
}
