//! When [`Compressor::Smart`](super::Compressor::Smart) compresses, and how.

use super::Compressor;
use zstd::zstd_safe::{CParameter, ParamSwitch};

/// Searches for repetitions at fewer places than level 1, and codes the rest with Huffman codes as level
/// 1 does (negative levels alone do not). On JSON and text it saves a percentage point less than level
/// 1, and takes less time at every size.
pub(super) const PARAMETERS: [CParameter; 2] = [
    CParameter::CompressionLevel(LEVEL),
    CParameter::LiteralCompressionMode(ParamSwitch::Enable),
];

/// Also the level of a dictionary's parameters.
pub(super) const LEVEL: i32 = -2;

/// Number of places in a payload that are sampled, and bytes at each.
const PLACES: usize = 16;
const BYTES: usize = 64;

/// False for a payload that is small, or looks random: compressed or encrypted already.
pub(super) fn is_worth_trying(payload: &[u8], has_dictionary: bool) -> bool {
    let from = if has_dictionary {
        Compressor::SMART_FROM_WITH_DICTIONARY
    } else {
        Compressor::SMART_FROM
    };
    payload.len() >= from && !looks_random(payload)
}

/// Whether compressing `length` bytes to `compressed` is worth decompressing them at every read.
pub(super) fn is_worth_keeping(length: usize, compressed: usize) -> bool {
    const LENGTH_FIELD: usize = 8;
    compressed + LENGTH_FIELD <= length - length / 8
}

/// Whether every byte is about equally frequent, in a sample over the whole payload. The sum of their
/// squared counts is then least: near `n + n²/256` for `n` random bytes (with a standard deviation of a
/// fiftieth of that for the 1,024 bytes here), 3 times that for base64 and some 10 times for text or
/// JSON. Random bytes that repeat count as random.
fn looks_random(payload: &[u8]) -> bool {
    let mut counts = [0u32; 256];
    let mut sampled = 0;
    let (step, length) = (payload.len() / PLACES, payload.len());
    for place in 0..PLACES {
        let start = place * step;
        let sample = &payload[start..length.min(start + BYTES.min(step))];
        for byte in sample {
            counts[usize::from(*byte)] += 1;
        }
        sampled += sample.len() as u32;
    }
    let squares: u32 = counts.iter().map(|count| count * count).sum();
    let random = sampled + sampled * sampled / 256;
    squares < random + random / 4
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A xorshift generator: noise that is the same in every run.
    fn noise(length: usize) -> Vec<u8> {
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let next = |_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        };
        (0..length).map(next).collect()
    }

    #[test]
    fn noise_is_told_from_what_compresses() {
        for length in [512, 513, 600, 1000, 1024, 5000, 100_000] {
            assert!(looks_random(&noise(length)), "{length}");
            let base64: Vec<u8> = noise(length).iter().map(|byte| b'0' + byte % 64).collect();
            assert!(!looks_random(&base64), "{length}");
            let numbers: Vec<u8> = (0..length as u32 / 4).flat_map(u32::to_be_bytes).collect();
            assert!(!looks_random(&numbers), "{length}");
        }
        let mut half = noise(10_000);
        half[5000..].fill(b'x');
        assert!(!looks_random(&half));
    }

    #[test]
    fn small_ones_are_not_tried() {
        assert!(!is_worth_trying(&[0; 511], false));
        assert!(is_worth_trying(&[0; 512], false));
        assert!(!is_worth_trying(&[0; 63], true));
        assert!(is_worth_trying(&[0; 64], true));
    }
}
