//! Changed seeds, the same in every run.

/// A xorshift generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

/// Bytes with a meaning in one of the formats: lengths, markers, the ends of their ranges.
const TELLING: [u8; 20] = [
    0, 1, 2, 0x7F, 0x80, 0x90, 0xA0, 0xC1, 0xC4, 0xC7, 0xD9, 0xDC, 0xDD, 0xDF, 0xFB, 0xFC, 0xFD,
    0xFE, 0xFF, b':',
];

/// `count` times a seed with one to eight changes.
///
/// # Panics
/// When there are no seeds.
pub fn each(seeds: &[Vec<u8>], count: usize, mut check: impl FnMut(&[u8])) {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for _ in 0..count {
        let mut bytes = seeds[random.below(seeds.len())].clone();
        for _ in 0..=random.below(8) {
            change(&mut bytes, seeds, &mut random);
        }
        check(&bytes);
    }
}

fn change(bytes: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut Random) {
    let place = random.below(bytes.len());
    match random.below(8) {
        0 if !bytes.is_empty() => bytes[place] ^= 1 << random.below(8),
        1 if !bytes.is_empty() => bytes[place] = TELLING[random.below(TELLING.len())],
        2 => bytes.insert(place, TELLING[random.below(TELLING.len())]),
        3 if !bytes.is_empty() => drop(bytes.remove(place)),
        4 => bytes.truncate(place),
        // A length that is far too large.
        5 => {
            let many = bytes.len().min(place + 1 + random.below(8));
            bytes[place..many].fill(0xFF);
        }
        // The same again, which nests or repeats.
        6 => {
            let end = bytes.len().min(place + 1 + random.below(4));
            let part = bytes[place..end].repeat(1 + random.below(64));
            bytes.splice(place..place, part);
        }
        _ => {
            let other = &seeds[random.below(seeds.len())];
            let from = random.below(other.len());
            let to = other.len().min(from + 1 + random.below(64));
            let to_replace = bytes.len().min(place + (to - from));
            bytes.splice(place..to_replace, other[from..to].iter().copied());
        }
    }
}
