//! What a Ruby string holds: text or bytes, by its encoding.

use magnus::{
    encoding::EncodingCapable,
    prelude::*,
    rb_sys::{AsRawValue, FromRawValue},
    Error, RString, Ruby, Symbol, Value,
};

/// The content of a string, in place.
pub(crate) enum Content<'a> {
    /// UTF-8, and valid.
    Text(&'a str),
    /// US-ASCII, and valid.
    Ascii(&'a str),
    /// The encoding is BINARY.
    Bytes(&'a [u8]),
    /// The encoding is UTF-8 or US-ASCII, and the bytes are not.
    Invalid,
    /// Another encoding: [`to_utf8`] first.
    Foreign,
}

/// The content of `string`.
///
/// # Safety
/// While the answer is in use the string must stay reachable and unchanged: no Ruby code may run
/// and, unless the string is on the stack, nothing may be allocated, because compaction moves
/// short strings.
#[inline]
pub(crate) unsafe fn content<'a>(ruby: &Ruby, string: RString) -> Content<'a> {
    let raw = string.as_raw();
    // SAFETY: it is a string; its bytes stay where they are, as the caller promises.
    let bytes: &'a [u8] = unsafe {
        let start = rb_sys::RSTRING_PTR(raw).cast::<u8>();
        std::slice::from_raw_parts(start, rb_sys::RSTRING_LEN(raw) as usize)
    };
    let encoding = string.enc_get();
    if encoding == ruby.utf8_encindex() {
        std::str::from_utf8(bytes).map_or(Content::Invalid, Content::Text)
    } else if encoding == ruby.ascii8bit_encindex() {
        Content::Bytes(bytes)
    } else if encoding == ruby.usascii_encindex() {
        match std::str::from_utf8(bytes) {
            Ok(text) if text.is_ascii() => Content::Ascii(text),
            _ => Content::Invalid,
        }
    } else {
        Content::Foreign
    }
}

/// The string in UTF-8; `None` when it has no such form. Runs Ruby code.
///
/// # Errors
/// What else Ruby raises, an interrupt for example.
pub(crate) fn to_utf8(ruby: &Ruby, string: RString) -> Result<Option<RString>, Error> {
    match string.funcall("encode", (ruby.utf8_encoding(),)) {
        Ok(converted) => Ok(Some(converted)),
        Err(error) if error.is_kind_of(ruby.exception_encoding_error()) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The string that Ruby keeps for a symbol; nothing is allocated.
pub(crate) fn symbol_name(symbol: Symbol) -> RString {
    // SAFETY: it is a symbol, and its name is a string that lives as long.
    let name = unsafe { Value::from_raw(rb_sys::rb_sym2str(symbol.as_raw())) };
    RString::from_value(name).expect("a symbol's name is a string")
}
