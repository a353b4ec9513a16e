//! MessagePack, with the extension types of the format.

mod extension;
mod read;
mod write;

pub(crate) use extension::{write_extension, Extension};
pub(super) use read::read;
pub(super) use write::write;
