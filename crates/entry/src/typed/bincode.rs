//! Bincode, as version 2 of the crate of that name writes it in its standard configuration:
//! little-endian, integers in as few bytes as they need, no names and no types.
//!
//! The format is the one of <https://docs.rs/crate/bincode/2.0.1/source/docs/spec.md>; the code is
//! ours, because no crate that writes it reads hostile bytes safely through serde (November 2026):
//!
//! - bincode 2.0.1 is no longer maintained (RUSTSEC-2025-0141), reserves memory by lengths it has not
//!   checked and follows any depth of nesting until the stack ends; so does its fork cu-bincode 2.2.0.
//! - bincode-next 3.1.1 does too, and reads a list that was cut off as a shorter list.
//! - wincode 0.6.3 has traits of its own; its bridge to serde (serde-wincode 0.1.2) takes neither
//!   `i128` nor recursive types.
//! - oxicode 0.2.6 checks lengths and depth. But its memory limit is a constant of the type, so that
//!   [`Limits`](crate::Limits) cannot set it (500 bytes take 64 MiB without), its errors don't say
//!   where, and it executes 1.8 times the instructions to write and 1.3 times to read.
//!
//! postcard 1.1.3 is maintained, but it is another format (307 bytes where Bincode takes 272, 7,598 where
//! it takes 7,784), and no safer: 100,000 bytes of nested lists end the process by a stack overflow, bytes
//! after the value go unnoticed, and errors say neither where nor why. It executes 0.8 to 1.6 times our
//! instructions to write and 0.9 to 1.2 times to read.
//!
//! `bench/codec` proves against bincode 2.0.1 that the bytes are the same. Against that crate, encoding takes
//! 66 to 100 % of its time and decoding 89 to 101 %, but 141 % for the smallest struct (82 beside 59 ns).

mod read;
mod write;

use crate::weight::{COMPOUND, VALUE};
pub(super) use read::read;
pub(super) use write::write;

/// The first byte of an integer that takes 2 more; smaller ones are the integer itself.
const TWO_BYTES: u8 = 251;
const FOUR_BYTES: u8 = 252;
const EIGHT_BYTES: u8 = 253;
const SIXTEEN_BYTES: u8 = 254;

/// The most elements of lists and maps that take no bytes, such as `()`. A reader of a false, huge count
/// would otherwise count for a very long time.
const MAX_EMPTY: usize = 65_536;
/// What a list or a map weighs. Its elements, structs and variants are as large as the reader's type makes them,
/// and take a byte each at least.
const LIST: u64 = VALUE + COMPOUND;
const TOO_MANY_EMPTY: &str = "more than 65,536 elements without content";
const TOO_DEEP: &str = "nested deeper than 128 lists, maps, tuples, structs and variants";
