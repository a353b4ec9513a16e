//! MessagePack, with the extension types of the format.

mod extension;
mod read;
mod write;

pub(crate) use extension::{write_extension, Extension, NAMED};
pub(crate) use read::first_text;
pub(super) use read::read;
pub(crate) use write::{
    infallible, write, write_bytes, write_list_len, write_map_len, write_text, write_unsigned,
};
