//! Bytes as text.

/// These bytes as text, if they are valid UTF-8.
///
/// Most text is short ASCII. The standard library checks short text byte by byte; a check that all of it
/// is ASCII takes a few instructions.
#[inline]
pub(crate) fn text(bytes: &[u8]) -> Option<&str> {
    if bytes.is_ascii() {
        // SAFETY: `bytes` is ASCII, as just checked, and ASCII is valid UTF-8.
        return Some(unsafe { std::str::from_utf8_unchecked(bytes) });
    }
    std::str::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn it_agrees_with_the_standard_library() {
        for len in 0..40 {
            let ascii = "a".repeat(len);
            assert_eq!(text(ascii.as_bytes()), Some(&*ascii));
            for at in 0..len {
                for other in ["\u{7f}", "\u{80}", "é", "€", "🦀"] {
                    let mixed = format!("{}{other}{}", &ascii[..at], &ascii[at..]);
                    assert_eq!(text(mixed.as_bytes()), Some(&*mixed));
                }
                for other in 0x80..=0xff {
                    let mut bytes = ascii.clone().into_bytes();
                    bytes[at] = other;
                    assert_eq!(text(&bytes), None, "{bytes:?}");
                }
            }
        }
    }
}
