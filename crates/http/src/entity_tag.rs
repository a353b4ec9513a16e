//! Entity tags and the conditions that compare them (RFC 9110 8.8.3, 13.1).

use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use base64::Engine;
use ring::digest::{digest, SHA256};

/// The strong entity tag of bytes, in its quotes: the first 128 bits of their SHA-256, as base64url. So all processes and
/// languages that serve the same bytes agree.
#[must_use]
pub fn entity_tag(bytes: &[u8]) -> String {
    let hash = digest(&SHA256, bytes);
    format!("\"{}\"", URL_SAFE_NO_PAD.encode(&hash.as_ref()[..16]))
}

/// Whether text is a tag, in its quotes.
pub(crate) fn is_entity_tag(text: &str) -> bool {
    matches!(tag_at(text.as_bytes()), Some(length) if length == text.len())
}

/// Whether the field If-None-Match names the tag, by weak comparison: `W/` makes no difference. `*` names every one. Bytes
/// that are no list of tags name none, so that the answer is the whole one.
pub(crate) fn none_match_names(field: &[u8], tag: Option<&str>) -> bool {
    let Some(tag) = tag else {
        return field.trim_ascii() == b"*";
    };
    field == tag.as_bytes()
        || field.trim_ascii() == b"*"
        || any_tag(field, |one| opaque(one) == opaque(tag.as_bytes()))
}

/// Whether the field If-Match names the tag, by strong comparison: a weak tag is equal to none. `*` names every one.
pub(crate) fn match_names(field: &[u8], tag: Option<&str>) -> bool {
    if field.trim_ascii() == b"*" {
        return true;
    }
    let Some(tag) = tag else {
        return false;
    };
    !tag.starts_with("W/") && any_tag(field, |one| one == tag.as_bytes())
}

fn opaque(tag: &[u8]) -> &[u8] {
    tag.strip_prefix(b"W/").unwrap_or(tag)
}

/// How long the tag is with which bytes begin.
fn tag_at(bytes: &[u8]) -> Option<usize> {
    let rest = opaque(bytes).strip_prefix(b"\"")?;
    let end = rest.iter().position(|byte| *byte == b'"')?;
    let legal = |byte: &u8| matches!(byte, 0x21 | 0x23..=0x7e | 0x80..=0xff);
    let length = bytes.len() - rest.len() + end + 1;
    rest[..end].iter().all(legal).then_some(length)
}

/// Whether one of a list's tags passes. An element may be empty (RFC 9110 5.6.1), and a tag may have a comma in it.
fn any_tag(field: &[u8], test: impl Fn(&[u8]) -> bool) -> bool {
    let mut rest = field.trim_ascii_start();
    let mut found = false;
    while !rest.is_empty() {
        if let Some(length) = tag_at(rest) {
            found |= test(&rest[..length]);
            rest = rest[length..].trim_ascii_start();
        }
        match rest.split_first() {
            None => {}
            Some((b',', more)) => rest = more.trim_ascii_start(),
            Some(_) => return false,
        }
    }
    found
}
