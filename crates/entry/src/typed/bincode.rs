//! Bincode, as version 2 of the crate of that name writes it in its standard configuration:
//! little-endian, integers in as few bytes as they need, no names and no types.
//!
//! The format is the one of <https://docs.rs/crate/bincode/2.0.1/source/docs/spec.md>; the code is
//! ours. That crate is no longer maintained (RUSTSEC-2025-0141), reserves memory by lengths it has
//! not checked, and follows any depth of nesting until the stack ends; so do those that took its
//! place, as far as they read serde types. `bench/codec` proves against it that the bytes are the
//! same.

mod read;
mod write;

pub(super) use read::read;
pub(super) use write::write;

/// The first byte of an integer that takes 2 more; smaller ones are the integer itself.
const TWO_BYTES: u8 = 251;
const FOUR_BYTES: u8 = 252;
const EIGHT_BYTES: u8 = 253;
const SIXTEEN_BYTES: u8 = 254;

/// The most elements of lists and maps that take no bytes, such as `()`. A reader that is told of
/// more than there can be would count for ages.
const MAX_EMPTY: usize = 65_536;
const TOO_MANY_EMPTY: &str = "more than 65,536 elements without content";
const TOO_DEEP: &str = "nested deeper than 128 lists, maps, tuples, structs and variants";
