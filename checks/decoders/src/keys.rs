//! Full keys: what can be split can be joined again.

use polycache_host::keys::{ancestors, prefix, split};

/// Any bytes as a full key; and as a namespace of the parts between their commas with a key.
pub fn check(data: &[u8]) {
    if let Some((parts, key)) = split(data) {
        let prefix = prefix(&parts).expect("no part is empty");
        assert_eq!([&prefix, key].concat(), data);
        assert_eq!(ancestors(data).count(), parts.len() + 1);
        assert_eq!(ancestors(data).last(), Some(prefix));
    }
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let mut parts: Vec<&str> = text.split(',').filter(|part| !part.is_empty()).collect();
    let key = parts.pop().unwrap_or_default();
    let full = [&prefix(&parts).expect("no part is empty"), key.as_bytes()].concat();
    let back = split(&full).expect("it is a full key");
    assert_eq!(
        (back.0.as_slice(), back.1),
        (parts_of(&parts).as_slice(), key.as_bytes())
    );
}

fn parts_of(parts: &[&str]) -> Vec<String> {
    parts.iter().map(|part| (*part).to_owned()).collect()
}
