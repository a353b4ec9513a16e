//! The dictionary of all subjects that have one: trained from records like the one that is compressed.

use crate::{records, Outcome};
use std::sync::OnceLock;

/// Suits small values.
const SIZE: usize = 8 * 1024;
const SAMPLES: usize = 2000;

/// Trained once a process, from the same samples every time.
pub fn dictionary() -> Outcome<&'static [u8]> {
    static TRAINED: OnceLock<Vec<u8>> = OnceLock::new();
    if let Some(trained) = TRAINED.get() {
        return Ok(trained);
    }
    let mut samples: Vec<Vec<u8>> = Vec::new();
    for record in records::records(SAMPLES) {
        samples.push(serde_json::to_vec(&record)?);
    }
    let trained = polycache_entry::train(&samples, SIZE)?;
    Ok(TRAINED.get_or_init(|| trained))
}

/// One that it was not trained with, as JSON.
pub fn record() -> Outcome<Vec<u8>> {
    let all = records::records(SAMPLES + 1);
    Ok(serde_json::to_vec(&all[SAMPLES])?)
}
