//! Reads the field Cache-Control (RFC 9111 5.2).

use crate::variant::list;
use http::header::{HeaderMap, CACHE_CONTROL};

/// Directives by name in lower case; those without an argument have an empty one.
#[derive(Debug, Default)]
pub(super) struct Directives(Vec<(String, Vec<u8>)>);

impl Directives {
    /// Those of a message.
    pub fn of(fields: &HeaderMap) -> Directives {
        list(fields, CACHE_CONTROL)
            .map_or_else(Directives::default, |field| Directives::read(&field))
    }

    /// Of a repeated directive the first counts. What follows after an error of syntax is not read, but names in it still
    /// count: a cache that is in doubt does not store.
    fn read(mut field: &[u8]) -> Directives {
        let mut found = Directives::default();
        while !field.is_empty() {
            match directive(field) {
                Some((named, rest)) => {
                    if let Some((name, argument)) = named {
                        found.add(name, argument);
                    }
                    field = rest;
                }
                None => {
                    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'-';
                    for word in field.split(|byte| !is_letter(byte)) {
                        if !word.is_empty() {
                            found.add(word, b"");
                        }
                    }
                    break;
                }
            }
        }
        found
    }

    fn add(&mut self, name: &[u8], argument: &[u8]) {
        let name = String::from_utf8_lossy(name).to_ascii_lowercase();
        if !self.has(&name) {
            self.0.push((name, argument.to_vec()));
        }
    }

    pub fn has(&self, name: &str) -> bool {
        self.argument(name).is_some()
    }

    fn argument(&self, name: &str) -> Option<&[u8]> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, argument)| &argument[..])
    }

    /// The seconds of a directive: `None` where it is absent, 0 where they are no whole number (RFC 9111 4.2.1).
    pub fn seconds(&self, name: &str) -> Option<i64> {
        self.argument(name)
            .map(|text| whole_seconds(text).unwrap_or(0))
    }
}

/// A whole number of seconds; one that is too large is as good as for ever.
pub(super) fn whole_seconds(text: &[u8]) -> Option<i64> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let most = 1 << 31;
    let text = std::str::from_utf8(text).ok()?;
    Some(text.parse().map_or(most, |seconds: i64| seconds.min(most)))
}

type Named<'a> = (&'a [u8], &'a [u8]);

/// The first element of a list, which may be empty, and what follows its comma; `None` for an error of syntax.
fn directive(field: &[u8]) -> Option<(Option<Named<'_>>, &[u8])> {
    let (name, rest) = token(blanks(field));
    if name.is_empty() {
        return Some((None, end(rest)?));
    }
    let (argument, rest) = match rest.strip_prefix(b"=") {
        None => (&b""[..], rest),
        Some(rest) => match rest.strip_prefix(b"\"") {
            Some(rest) => quoted(rest)?,
            // A sign with nothing behind it is an error.
            None => Some(token(rest)).filter(|(argument, _)| !argument.is_empty())?,
        },
    };
    Some((Some((name, argument)), end(blanks(rest))?))
}

fn blanks(text: &[u8]) -> &[u8] {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let first = text.iter().position(|byte| !is_blank(byte));
    &text[first.unwrap_or(text.len())..]
}

fn token(text: &[u8]) -> (&[u8], &[u8]) {
    let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+.^_`|~-".contains(byte);
    let end = text.iter().position(|byte| !is_token(byte));
    text.split_at(end.unwrap_or(text.len()))
}

/// What stands before the closing quote, escapes as they are, and what behind it.
fn quoted(text: &[u8]) -> Option<Named<'_>> {
    let mut at = 0;
    loop {
        match text.get(at)? {
            b'"' => return Some((&text[..at], &text[at + 1..])),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

fn end(text: &[u8]) -> Option<&[u8]> {
    match text.split_first() {
        None => Some(text),
        Some((b',', rest)) => Some(rest),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::Directives;

    #[test]
    fn what_is_in_doubt_counts() {
        for (field, name, seconds) in [
            ("max-age=5", "max-age", Some(5)),
            (" Max-Age = 5", "max-age", Some(0)),
            (", ,max-age=\"7\" , x", "max-age", Some(7)),
            ("max-age=1, max-age=9", "max-age", Some(1)),
            ("max-age=", "max-age", Some(0)),
            ("max-age=-1", "max-age", Some(0)),
            ("max-age=99999999999999999999", "max-age", Some(1 << 31)),
            ("x=\"a, private\"", "private", None),
            ("x=\"a, private", "private", Some(0)),
            ("x y, PRIVATE", "private", Some(0)),
            ("x=\"\\\"\", no-store", "no-store", Some(0)),
            ("private=\"x-a\"", "private", Some(0)),
            ("", "private", None),
        ] {
            let found = Directives::read(field.as_bytes());
            assert_eq!(found.seconds(name), seconds, "{field}");
        }
    }
}
