//! Hostile samples for the trainer: an error, or a dictionary that works.

use crate::{entry_of, LIMITS};
use polycache_entry::{train, Compressor, Dictionaries, Limits};

const ZSTD: Compressor = Compressor::Zstd { level: 3 };
/// The samples of a mutated payload would seldom be enough.
const TIMES: u8 = 64;
const MOST: usize = 1 << 16;

/// The first two bytes are the dictionary's maximum size; the next one says how often the samples are
/// repeated. Each sample is a byte with its length, then that many bytes.
pub fn check(data: &[u8]) {
    let Some(([low, high, times], rest)) = data.split_first_chunk::<3>() else {
        return;
    };
    let max_size = usize::from(u16::from_le_bytes([*low, *high]));
    let once = samples(rest);
    let times = usize::from(times % TIMES + 1).min(MOST / rest.len().max(1) + 1);
    let samples = once.repeat(times);
    let dictionary = match train(&samples, max_size) {
        Ok(dictionary) => dictionary,
        Err(error) => {
            assert_eq!(error.code(), "invalid_argument");
            return;
        }
    };
    assert!(dictionary.len() <= max_size);
    let dictionaries = Dictionaries::new([dictionary], ZSTD).expect("what was trained is one");
    let limits = Limits {
        dictionaries: Some(dictionaries),
        ..LIMITS
    };
    for sample in once {
        entry_of(sample, ZSTD, &limits);
    }
}

fn samples(mut bytes: &[u8]) -> Vec<&[u8]> {
    let mut all = Vec::new();
    while let Some((length, rest)) = bytes.split_first() {
        let (sample, rest) = rest.split_at(rest.len().min(usize::from(*length)));
        all.push(sample);
        bytes = rest;
    }
    all
}
