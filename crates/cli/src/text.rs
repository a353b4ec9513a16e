//! The content of a cache must not control the terminal that shows it, nor make one text look like
//! another.

use std::io::{self, Write};
use std::path::Path;

/// Control characters of ASCII and of ISO 8859 (C0, DEL, C1), the marks that change text direction, and
/// the two less known line ends.
pub fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// `text` on one line, with unsafe characters as `\u{1b}` and the like.
pub fn line(text: &str) -> String {
    escaped(text, |_| false)
}

/// As [`line`], except for line ends and tabs.
pub fn block(text: &str) -> String {
    escaped(text, |character| matches!(character, '\n' | '\t'))
}

/// A path in the form of [`line`].
pub fn path(path: &Path) -> String {
    line(&path.to_string_lossy())
}

fn escaped(text: &str, keep: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_unsafe(character) && !keep(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// JSON on one line, with unsafe characters written as escapes: the same JSON to every program.
pub struct SafeJson;

impl serde_json::ser::Formatter for SafeJson {
    fn write_string_fragment<W: Write + ?Sized>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(is_unsafe) {
            let (safe, from) = rest.split_at(at);
            writer.write_all(safe.as_bytes())?;
            let mut characters = from.chars();
            // All of them are among the first 65,536 characters, which JSON escapes with one number
            // each.
            if let Some(character) = characters.next() {
                write!(writer, "\\u{:04x}", u32::from(character))?;
            }
            rest = characters.as_str();
        }
        writer.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Serialize;

    #[test]
    fn a_line_is_one_line_and_a_block_keeps_its_lines() {
        let text = "a\n\t\u{1b}[2J\u{9b}\u{7f}\u{202e}\u{2066}\u{200f}ü";
        let escaped = "\\u{1b}[2J\\u{9b}\\u{7f}\\u{202e}\\u{2066}\\u{200f}ü";
        assert_eq!(line(text), format!("a\\n\\t{escaped}"));
        assert_eq!(block(text), format!("a\n\t{escaped}"));
    }

    #[test]
    fn json_is_the_same_to_a_program_and_harmless_to_a_terminal() {
        let every: String = (0..0x3000).filter_map(char::from_u32).collect();
        let mut bytes = Vec::new();
        let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, SafeJson);
        every.serialize(&mut serializer).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert!(!text.contains(is_unsafe), "{text}");
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), every);
    }
}
