//! What the parts of a request's path stand for.

use http::StatusCode;
use percent_encoding::percent_decode_str;
use polycache_http::Problem;

/// How `polycache` writes keys that are no plain text, too.
const HEX: &str = "hex:";

/// The key that one part of a path stands for: its text with `%` and two digits decoded, or `hex:` and the digits of bytes.
///
/// # Errors
/// 400 for what proxies and clients take for something else (`.`, `..`, control characters, nothing), and for what is no
/// encoding: such keys are written `hex:`.
pub(crate) fn key(part: &str) -> Result<Vec<u8>, Problem> {
    let bytes = decoded(part)?;
    match bytes.strip_prefix(HEX.as_bytes()) {
        None => Ok(bytes),
        Some(digits) => from_hex(digits).ok_or_else(|| {
            refused("After hex: a key is hexadecimal digits, two a byte, like hex:00ff.")
        }),
    }
}

/// The text that one part of a path stands for.
///
/// # Errors
/// Those of [`key`], and for what is no UTF-8.
pub(crate) fn text(part: &str) -> Result<String, Problem> {
    String::from_utf8(decoded(part)?).map_err(|_| refused("A part of the path is no UTF-8."))
}

fn decoded(part: &str) -> Result<Vec<u8>, Problem> {
    if part.is_empty() {
        return Err(refused(
            "A part of the path is empty. The empty key is written hex:",
        ));
    }
    let mut pieces = part.split('%');
    pieces.next();
    if !pieces
        .all(|piece| piece.len() >= 2 && piece.bytes().take(2).all(|byte| byte.is_ascii_hexdigit()))
    {
        return Err(refused(
            "In a path a percent sign is written %25, and another byte as % and two hexadecimal digits.",
        ));
    }
    let bytes: Vec<u8> = percent_decode_str(part).collect();
    if bytes == b"." || bytes == b".." {
        return Err(refused(
            "Clients and proxies shorten paths with a part . or .. before they send them: write the key as \
             hex:2e or hex:2e2e.",
        ));
    }
    if bytes.iter().any(u8::is_ascii_control) {
        return Err(refused(
            "A part of the path has a control character: write the key as hex: and its bytes in hexadecimal digits.",
        ));
    }
    Ok(bytes)
}

fn from_hex(digits: &[u8]) -> Option<Vec<u8>> {
    let value = |digit: u8| char::from(digit).to_digit(16);
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    digits
        .chunks_exact(2)
        .map(|pair| Some((value(pair[0])? * 16 + value(pair[1])?) as u8))
        .collect()
}

/// 400 for the path.
pub(crate) fn refused(detail: &str) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, detail).with("parameter", "path")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_decoded_once() {
        let parts: [(&str, &[u8]); 8] = [
            ("user:1", b"user:1"),
            ("a%2Fb", b"a/b"),
            ("100%25", b"100%"),
            ("%252F", b"%2F"),
            ("%FF", b"\xff"),
            ("a+b", b"a+b"),
            ("hex:00fF", b"\x00\xff"),
            ("hex:", b""),
        ];
        for (part, is) in parts {
            assert_eq!(key(part).unwrap(), is, "{part}");
        }
        assert_eq!(text("%D0%BA").unwrap(), "к");
    }

    #[test]
    fn tricks_are_refused() {
        for part in [
            "", ".", "..", "%2e%2E", "%2E", "%00", "a%00b", "%0d%0a", "%7f", "%", "%1", "%zz",
            "a%", "%%", "hex:0", "hex:zz", "hex:%2e", "%€a",
        ] {
            assert_eq!(key(part).expect_err(part).status(), 400, "{part}");
        }
        assert_eq!(text("%FF").unwrap_err().status(), 400);
    }
}
