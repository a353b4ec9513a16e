//! Keys on the command line and in the output.

use crate::arguments::KeyForm;
use crate::failure::Failure;
use crate::text::is_unsafe;
use polycache_json::hex;
use std::ffi::OsStr;

const PREFIX: &str = "hex:";

/// The key that an argument denotes.
pub fn parse(argument: &OsStr, form: KeyForm) -> Result<Vec<u8>, Failure> {
    let bytes = argument.as_encoded_bytes();
    let digits = match bytes.strip_prefix(PREFIX.as_bytes()) {
        Some(digits) => digits,
        None if form.hex => bytes,
        None => return Ok(bytes.to_vec()),
    };
    from_hex(digits).ok_or_else(|| {
        let digits = String::from_utf8_lossy(digits);
        Failure::Usage(format!(
            "{digits:?} are not hexadecimal digits, two a byte, like 00ff"
        ))
    })
}

/// A key on one line, in a form from which [`parse`] makes the same key.
pub fn show(key: &[u8]) -> String {
    match std::str::from_utf8(key) {
        Ok(text) if !text.is_empty() && !text.starts_with(PREFIX) && !text.contains(is_unsafe) => {
            text.to_owned()
        }
        _ => format!("{PREFIX}{}", hex(key)),
    }
}

/// The bytes of hexadecimal digits in either case.
pub fn from_hex(digits: &[u8]) -> Option<Vec<u8>> {
    let value = |digit: u8| char::from(digit).to_digit(16);
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    digits
        .chunks_exact(2)
        .map(|pair| Some((value(pair[0])? * 16 + value(pair[1])?) as u8))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_parsed_to_the_same_key() {
        let keys: [&[u8]; 9] = [
            b"user:1",
            b"",
            b"hex:00",
            b"a\nb",
            b"\xff\x00",
            "ключ".as_bytes(),
            b"%3A::",
            "a\u{9b}".as_bytes(),
            "a\u{202e}b".as_bytes(),
        ];
        for key in keys {
            let shown = show(key);
            assert_eq!(
                parse(OsStr::new(&shown), KeyForm { hex: false }).unwrap(),
                key,
                "{shown}"
            );
        }
    }

    #[test]
    fn hex_is_two_digits_a_byte() {
        let hex = |text: &str| parse(OsStr::new(text), KeyForm { hex: true });
        assert_eq!(hex("00Ff").unwrap(), [0, 255]);
        assert_eq!(hex("hex:00ff").unwrap(), [0, 255]);
        for wrong in ["0", "0g", "0x00", "00 ff", "+1"] {
            assert_eq!(hex(wrong).unwrap_err().exit_code(), 2, "{wrong}");
        }
    }
}
