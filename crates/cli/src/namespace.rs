//! Namespaces on the command line: parts joined by colons, as at the start of a full key
//! (`spec/keys.md`).

use crate::failure::Failure;
use crate::text::is_unsafe;
use std::fmt::Write;

/// The parts of the options `--namespace`, each of which may give several.
pub fn parse(options: &[String]) -> Result<Vec<String>, Failure> {
    let parts = options.iter().flat_map(|option| option.split(':'));
    parts.map(part).collect()
}

/// A text from which [`parse`] makes the same parts.
pub fn show<S: AsRef<str>>(parts: &[S]) -> String {
    let parts: Vec<_> = parts.iter().map(|part| escaped(part.as_ref())).collect();
    parts.join(":")
}

fn part(written: &str) -> Result<String, Failure> {
    let wrong = || {
        Failure::Usage(
            "a namespace is parts joined by colons, as `keys -A` prints it: shop:eu. In a part %3A is a \
             colon, %25 a percent sign, and no part is empty"
                .into(),
        )
    };
    let mut pieces = written.split('%');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        let digits = piece.get(..2).ok_or_else(wrong)?;
        bytes.extend(crate::key::from_hex(digits.as_bytes()).ok_or_else(wrong)?);
        bytes.extend_from_slice(&piece.as_bytes()[2..]);
    }
    match String::from_utf8(bytes) {
        Ok(part) if !part.is_empty() => Ok(part),
        _ => Err(wrong()),
    }
}

fn escaped(part: &str) -> String {
    let mut shown = String::with_capacity(part.len());
    for character in part.chars() {
        if matches!(character, '%' | ':') || is_unsafe(character) {
            for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                // Writing to a String does not fail.
                let _ = write!(shown, "%{byte:02X}");
            }
        } else {
            shown.push(character);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_parsed_to_the_same_parts() {
        for parts in [
            &[][..],
            &["shop"],
            &["shop", "eu"],
            &["a:b", "%", "%3A", "ключ", "with space"],
            &["\u{1b}[2J", "\n", "\u{202e}"],
        ] {
            let shown = show(parts);
            assert!(!shown.contains(is_unsafe), "{shown}");
            let option = Some(shown).filter(|shown| !shown.is_empty());
            assert_eq!(parse(option.as_slice()).unwrap(), parts);
        }
        assert_eq!(show(&["a:b", "50%"]), "a%3Ab:50%25");
    }

    #[test]
    fn options_go_on_from_each_other() {
        let parts = parse(&["shop:eu".into(), "users".into()]).unwrap();
        assert_eq!(parts, ["shop", "eu", "users"]);
    }

    #[test]
    fn what_is_no_namespace_is_refused() {
        for wrong in ["", ":", "a:", ":a", "a::b", "%", "%3", "%zz", "%ff", "a%€"] {
            assert_eq!(
                parse(&[wrong.into()]).unwrap_err().exit_code(),
                2,
                "{wrong}"
            );
        }
    }
}
