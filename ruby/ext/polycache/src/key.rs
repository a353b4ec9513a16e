//! Keys as Ruby writes them.

use crate::error;
use crate::string::{content, symbol_name, to_utf8, Content};
use magnus::{prelude::*, Error, RString, Ruby, Symbol, Value};
use smallvec::SmallVec;

/// A key's bytes: a copy, because other code may change the string while the key is in use. Most
/// keys need no allocation.
pub(crate) type Key = SmallVec<[u8; 128]>;

/// The bytes of a key: a string's, or a symbol's text.
///
/// # Errors
/// `InvalidKey`.
#[inline]
pub(crate) fn key(ruby: &Ruby, value: Value) -> Result<Key, Error> {
    if let Some(string) = RString::from_value(value) {
        // SAFETY: the string is an argument of the method, and nothing happens before it is copied.
        match unsafe { content(ruby, string) } {
            Content::Text(text) | Content::Ascii(text) => {
                return Ok(Key::from_slice(text.as_bytes()))
            }
            Content::Bytes(bytes) => return Ok(Key::from_slice(bytes)),
            Content::Invalid | Content::Foreign => {}
        }
    }
    other_key(ruby, value)
}

#[cold]
fn other_key(ruby: &Ruby, value: Value) -> Result<Key, Error> {
    let refused = |why: &str| {
        let message = format!("a key is a String or a Symbol{why}: {}", value.inspect());
        Err(error::to_ruby(ruby, &polycache::Error::InvalidKey(message)))
    };
    let string = match (RString::from_value(value), Symbol::from_value(value)) {
        (Some(string), _) => string,
        (None, Some(symbol)) => symbol_name(symbol),
        (None, None) => return refused(""),
    };
    // SAFETY: `string` is on the stack, and nothing happens before it is copied.
    let valid = !matches!(unsafe { content(ruby, string) }, Content::Invalid);
    let Some(string) = valid.then(|| to_utf8(ruby, string)).transpose()?.flatten() else {
        return refused(" whose text has a UTF-8 form (a string of bytes has the encoding BINARY)");
    };
    // SAFETY: as above.
    match unsafe { content(ruby, string) } {
        Content::Text(text) | Content::Ascii(text) => Ok(Key::from_slice(text.as_bytes())),
        _ => refused(" whose text has a UTF-8 form"),
    }
}

/// Text that has to be text: a namespace's part, the name of a serializer.
///
/// # Errors
/// `InvalidArgument`, which names the option.
pub(crate) fn text(ruby: &Ruby, option: &str, value: Value) -> Result<String, Error> {
    RString::from_value(value)
        .is_some()
        .then_some(value)
        .or_else(|| Symbol::from_value(value).map(|symbol| symbol.as_value()))
        .and_then(|value| key(ruby, value).ok())
        .and_then(|bytes| String::from_utf8(bytes.into_vec()).ok())
        .ok_or_else(|| {
            error::invalid(
                ruby,
                format!(
                    "{option} is text (a String or a Symbol), not {}",
                    value.inspect()
                ),
            )
        })
}
