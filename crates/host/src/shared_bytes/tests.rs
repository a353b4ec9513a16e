//! Every length and offset, for the processor's own functions and for the bytewise ones that define
//! them.

use super::bytewise;

/// Around the lengths at which a function switches its method: long ones are read ahead, and written past the cache.
const LENGTHS: [usize; 25] = [
    0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 1000, 4096, 5119, 5120, 5121, 5247, 5248, 8191,
    8192, 8255, 10_270, 16401,
];

fn source(len: usize) -> Vec<u8> {
    (0..len).map(|n| (n % 251) as u8 + 1).collect()
}

/// Copies to every offset of a line and checks that no neighbouring byte changed.
fn every_place_is_copied(copy: impl Fn(&[u8], *mut u8)) {
    for len in LENGTHS {
        let from = source(len + 7);
        for offset in 0..130 {
            let mut to = vec![0u8; offset + len + 130];
            copy(&from[7..], to[offset..].as_mut_ptr());
            assert!(to[..offset].iter().all(|byte| *byte == 0));
            assert_eq!(to[offset..offset + len], from[7..]);
            assert!(to[offset + len..].iter().all(|byte| *byte == 0));
        }
    }
}

#[test]
fn every_length_and_place_is_written_and_nothing_beside_it() {
    // SAFETY: the buffers are long enough, here and below.
    every_place_is_copied(|from, to| unsafe { super::write(from, to) });
    // SAFETY: as above.
    every_place_is_copied(|from, to| unsafe { bytewise::write(from, to) });
}

#[test]
fn every_length_and_place_is_read() {
    // SAFETY: as above.
    every_place_is_copied(|from, to| unsafe { super::read(from.as_ptr(), to, from.len()) });
    // SAFETY: as above.
    every_place_is_copied(|from, to| unsafe { bytewise::read(from.as_ptr(), to, from.len()) });
}

#[test]
fn one_different_byte_is_seen_wherever_it_is() {
    for len in (0..80).chain([1000]) {
        let mut shared = source(len);
        let asked = shared.clone();
        // SAFETY: both have the same length.
        let equal = |shared: &[u8]| unsafe { super::equal(shared.as_ptr(), &asked) };
        assert!(equal(&shared));
        for place in 0..len {
            shared[place] ^= 0x80;
            assert!(!equal(&shared), "byte {place} of {len}");
            shared[place] ^= 0x80;
        }
    }
}

#[test]
fn arrays_are_read_at_any_alignment() {
    fn read<const N: usize>(from: &[u8]) {
        // SAFETY: as above.
        let array: [u8; N] = unsafe { super::read_array(from.as_ptr()) };
        assert_eq!(array, from[..N]);
    }
    let from = source(80);
    for place in 0..16 {
        read::<0>(&from[place..]);
        read::<1>(&from[place..]);
        read::<8>(&from[place..]);
        read::<24>(&from[place..]);
        read::<31>(&from[place..]);
        read::<32>(&from[place..]);
    }
}

#[test]
fn a_word_is_stored_at_any_place() {
    for place in 0..16 {
        let (mut here, mut bytewise) = (source(40), source(40));
        // SAFETY: as above.
        unsafe {
            super::write_word(0x0123_4567_89ab_cdef, here[place..].as_mut_ptr());
            bytewise::store_word(0x0123_4567_89ab_cdef, bytewise[place..].as_mut_ptr());
        }
        assert_eq!(here, bytewise);
        assert_eq!(
            here[place..place + 8],
            0x0123_4567_89ab_cdefu64.to_ne_bytes()
        );
        assert_eq!(here[place + 8..], source(40)[place + 8..]);
    }
}

#[test]
fn loads_mean_what_their_bytes_say() {
    let from = source(40);
    for place in 0..16 {
        let at = from[place..].as_ptr();
        // SAFETY: as above.
        unsafe {
            assert_eq!(super::machine::load_pair(at), bytewise::load_pair(at));
            assert_eq!(super::machine::load_word(at), bytewise::load_word(at));
            assert_eq!(super::machine::load_half(at), bytewise::load_half(at));
            assert_eq!(super::machine::load_byte(at), bytewise::load_byte(at));
        }
    }
}
