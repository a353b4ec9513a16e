//! Media types whose bytes are compressed already (`spec/http/compressed-types.json`).

use http::HeaderValue;

const TYPES: [&str; 27] = [
    "application/epub+zip",
    "application/gzip",
    "application/java-archive",
    "application/vnd.oasis.opendocument.presentation",
    "application/vnd.oasis.opendocument.spreadsheet",
    "application/vnd.oasis.opendocument.text",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/vnd.rar",
    "application/x-7z-compressed",
    "application/x-bzip2",
    "application/x-gzip",
    "application/x-xz",
    "application/zip",
    "application/zstd",
    "font/woff",
    "font/woff2",
    "image/apng",
    "image/avif",
    "image/gif",
    "image/heic",
    "image/heif",
    "image/jpeg",
    "image/jxl",
    "image/png",
    "image/webp",
];
const FAMILIES: [&str; 2] = ["audio", "video"];

/// Whether a content coding would only cost time.
pub(crate) fn is_compressed(content_type: &HeaderValue) -> bool {
    let text = content_type.as_bytes();
    let media = text.split(|byte| *byte == b';').next().unwrap_or_default();
    let media = media.trim_ascii();
    let is = |one: &&str| media.eq_ignore_ascii_case(one.as_bytes());
    let slash = media.iter().position(|byte| *byte == b'/');
    let family = slash.and_then(|at| media.get(..at));
    let is_of = |family: &[u8]| {
        let mut known = FAMILIES.iter();
        known.any(|one| family.eq_ignore_ascii_case(one.as_bytes()))
    };
    TYPES.iter().any(is) || family.is_some_and(is_of)
}

#[cfg(test)]
mod tests {
    use super::{is_compressed, FAMILIES, TYPES};
    use http::HeaderValue;
    use serde_json::Value;

    #[test]
    fn they_are_those_of_the_specification() {
        let text = include_str!("../../../spec/http/compressed-types.json");
        let spec: Value = serde_json::from_str(text).unwrap();
        let listed = |name: &str| -> Vec<String> {
            let texts = spec[name].as_array().unwrap().iter();
            texts.map(|one| one.as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(listed("types"), TYPES);
        assert_eq!(listed("families"), FAMILIES);
        let families = FAMILIES.map(|family| format!("{family}/x-any"));
        let is = |text: &String| is_compressed(&HeaderValue::from_str(text).unwrap());
        for text in listed("types").iter().chain(&families) {
            assert!(is(text), "{text}");
        }
        for text in &listed("others") {
            assert!(!is(text), "{text}");
        }
    }
}
