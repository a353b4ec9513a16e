//! The key hash: HalfSipHash-1-3 with 64-bit output (`spec/keys.md`).
//!
//! Source: J.-P. Aumasson and D. J. Bernstein, "SipHash: a fast short-input PRF", and the
//! reference implementation's HalfSipHash variant. It was chosen because JavaScript computes it
//! exactly with 32-bit operations, and because its seed stops chosen collisions.

/// The 64-bit hash of a full key: `lo` chooses the first bucket of each level, `hi` the second one and the tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyHash {
    /// First output word.
    pub lo: u32,
    /// Second output word.
    pub hi: u32,
}

impl KeyHash {
    /// The ten bits that a slot's word keeps.
    #[inline(always)]
    #[must_use]
    pub fn tag(self) -> u32 {
        self.hi >> 22
    }

    /// Both words as one number, `hi` in the upper half; identifies the floor of a namespace.
    #[must_use]
    pub fn as_u64(self) -> u64 {
        (u64::from(self.hi) << 32) | u64::from(self.lo)
    }
}

struct State(u32, u32, u32, u32);

impl State {
    #[inline(always)]
    fn round(&mut self) {
        let State(v0, v1, v2, v3) = self;
        *v0 = v0.wrapping_add(*v1);
        *v1 = v1.rotate_left(5) ^ *v0;
        *v0 = v0.rotate_left(16);
        *v2 = v2.wrapping_add(*v3);
        *v3 = v3.rotate_left(8) ^ *v2;
        *v0 = v0.wrapping_add(*v3);
        *v3 = v3.rotate_left(7) ^ *v0;
        *v2 = v2.wrapping_add(*v1);
        *v1 = v1.rotate_left(13) ^ *v2;
        *v2 = v2.rotate_left(16);
    }

    #[inline(always)]
    fn absorb(&mut self, word: u32) {
        self.3 ^= word;
        self.round();
        self.0 ^= word;
    }
}

/// Hashes a full key with the seed of its directory.
#[inline]
#[must_use]
pub fn key_hash(seed: u64, key: &[u8]) -> KeyHash {
    let (k0, k1) = (seed as u32, (seed >> 32) as u32);
    let mut state = State(k0, k1 ^ 0xee, 0x6c79_6765 ^ k0, 0x7465_6462 ^ k1);
    let mut words = key.chunks_exact(4);
    for word in &mut words {
        state.absorb(u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
    }
    let mut last = (key.len() as u32) << 24;
    for (place, byte) in words.remainder().iter().enumerate() {
        last |= u32::from(*byte) << (8 * place);
    }
    state.absorb(last);
    state.2 ^= 0xee;
    (0..3).for_each(|_| state.round());
    let lo = state.1 ^ state.3;
    state.1 ^= 0xdd;
    (0..3).for_each(|_| state.round());
    KeyHash {
        lo,
        hi: state.1 ^ state.3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Avalanche: flipping any bit of the key changes about half of the output bits.
    #[test]
    fn every_key_bit_reaches_both_words() {
        let key = *b"users::user:1234";
        let base = key_hash(7, &key).as_u64();
        for bit in 0..key.len() * 8 {
            let mut other = key;
            other[bit / 8] ^= 1 << (bit % 8);
            let changed = (base ^ key_hash(7, &other).as_u64()).count_ones();
            assert!((10..54).contains(&changed), "bit {bit} changed {changed}");
        }
    }

    #[test]
    fn length_is_part_of_the_hash() {
        assert_ne!(key_hash(1, b"a"), key_hash(1, b"a\0"));
        assert_ne!(key_hash(1, b""), key_hash(2, b""));
    }
}
