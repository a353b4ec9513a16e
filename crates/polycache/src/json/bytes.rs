//! Texts as the packages of other languages have them.

use super::write_text;

/// Bytes that are taken for UTF-8, with U+FFFD for what is none.
pub fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    write_text(&String::from_utf8_lossy(bytes), out);
}

/// UTF-8 in which surrogates that stand alone are three bytes each, as Python's `surrogatepass` has them. They are escaped,
/// as ECMA-262's `QuoteJSONString` does.
pub fn write_text_with_surrogates(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = bytes;
    while let Some(at) = rest.windows(3).position(is_surrogate) {
        let (before, after) = rest.split_at(at);
        write_part(before, out);
        let (surrogate, after) = after.split_at(3);
        let [_, high, low] = *surrogate else { return };
        let unit = 0xd000 | u16::from(high & 0x3f) << 6 | u16::from(low & 0x3f);
        out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
        rest = after;
    }
    write_part(rest, out);
    out.push(b'"');
}

fn is_surrogate(bytes: &[u8]) -> bool {
    matches!(bytes, [0xed, 0xa0..=0xbf, 0x80..=0xbf])
}

/// A text without its quotes.
fn write_part(bytes: &[u8], out: &mut Vec<u8>) {
    let mut quoted = Vec::new();
    write_bytes(bytes, &mut quoted);
    out.extend_from_slice(quoted.get(1..quoted.len() - 1).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).expect("JSON is UTF-8")
    }

    #[test]
    fn bytes_that_are_no_utf8_are_replaced() {
        assert_eq!(
            written(|out| write_bytes(b"a\xff\"", out)),
            "\"a\u{fffd}\\\"\""
        );
    }

    #[test]
    fn surrogates_that_stand_alone_are_escaped() {
        let with = |bytes: &[u8]| written(|out| write_text_with_surrogates(bytes, out));
        assert_eq!(with(b"\xed\xa0\x80"), "\"\\ud800\"");
        assert_eq!(with(b"a\xed\xbf\xbfb\""), "\"a\\udfffb\\\"\"");
        assert_eq!(with("ä\u{d7ff}".as_bytes()), "\"ä\u{d7ff}\"");
        assert_eq!(with(b""), "\"\"");
    }
}
