//! JSON as JavaScript's `JSON.stringify` writes it (`spec/reads.md`, "As JSON"): the same reply is the same bytes, and has
//! one entity tag, in every language.

#[cfg(feature = "bindings-remote")]
mod bytes;
mod members;
mod number;
mod text;

#[cfg(feature = "bindings-remote")]
pub use bytes::{write_bytes, write_text_with_surrogates};
pub use members::Members;
pub use number::{write_double, write_integer};
pub use text::write_text;

/// A list of what `write` writes of each one.
///
/// # Errors
/// Those of `write`.
pub fn write_list<T, E>(
    list: impl IntoIterator<Item = T>,
    out: &mut Vec<u8>,
    mut write: impl FnMut(T, &mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    out.push(b'[');
    for (at, one) in list.into_iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write(one, out)?;
    }
    out.push(b']');
    Ok(())
}
