//! The option `encryption`: an Array of keys, each `{ id: Integer, key: String of 32 bytes }`.

use crate::error::invalid;
use magnus::{encoding::EncodingCapable, Error, Integer, RArray, RHash, RString, Ruby, Value};
use zeroize::Zeroizing;

/// Ids and keys, copied: Ruby may move its strings.
pub(crate) type Keys = Vec<(u32, Zeroizing<Vec<u8>>)>;

/// Reads the option. Nothing that is wrong is shown, because it may be a key.
///
/// # Errors
/// `InvalidArgument`.
pub(crate) fn keys(ruby: &Ruby, value: Value) -> Result<Keys, Error> {
    let list = RArray::from_value(value).ok_or_else(|| wrong(ruby))?;
    list.into_iter()
        .map(|one| key(ruby, one).ok_or_else(|| wrong(ruby)))
        .collect()
}

fn key(ruby: &Ruby, one: Value) -> Option<(u32, Zeroizing<Vec<u8>>)> {
    let fields = RHash::from_value(one)?;
    if fields.len() != 2 {
        return None;
    }
    let id = Integer::from_value(fields.get(ruby.sym_new("id"))?)?;
    let key = RString::from_value(fields.get(ruby.sym_new("key"))?)?;
    // Text of 32 letters would be a weak key, and a mistake.
    if key.enc_get() != ruby.ascii8bit_encindex() {
        return None;
    }
    // SAFETY: the bytes are copied at once.
    let bytes = unsafe { key.as_slice() }.to_vec();
    Some((id.to_u32().ok()?, Zeroizing::new(bytes)))
}

#[cold]
fn wrong(ruby: &Ruby) -> Error {
    invalid(
        ruby,
        "encryption is an Array of { id: Integer, key: String }: ids are 0 to 4294967295, keys 32 bytes \
         with the encoding BINARY",
    )
}
