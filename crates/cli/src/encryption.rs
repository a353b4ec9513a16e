//! Encryption keys, from the environment: other users can see a command line, and the shell saves it.

use crate::failure::Failure;
use crate::key::from_hex;
use zeroize::Zeroizing;

/// `ID:HEX`, separated by commas: a number, and 64 hexadecimal digits. The first one encrypts.
pub const VARIABLE: &str = "POLYCACHE_ENCRYPTION";

/// Ids and keys.
pub type Keys = Vec<(u32, Zeroizing<Vec<u8>>)>;

/// The keys in the environment, if any. An invalid text is not shown, because it may be a key.
pub fn keys() -> Result<Option<Keys>, Failure> {
    let Some(text) = std::env::var_os(VARIABLE).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let keys = text.to_str().and_then(parse);
    keys.map(Some).ok_or_else(|| {
        Failure::Usage(format!(
            "{VARIABLE} is ID:KEY, a number and a key of 64 hexadecimal digits; separate several by commas"
        ))
    })
}

fn parse(text: &str) -> Option<Keys> {
    let key = |one: &str| {
        let (id, key) = one.trim().split_once(':')?;
        Some((id.parse().ok()?, Zeroizing::new(from_hex(key.as_bytes())?)))
    };
    text.split(',').map(key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_ids_with_hexadecimal_digits() {
        let keys = parse("20261122:00ff, 1:0a").unwrap();
        let keys: Vec<_> = keys.iter().map(|(id, key)| (*id, key.to_vec())).collect();
        assert_eq!(keys, [(20_261_122, vec![0, 255]), (1, vec![10])]);
        for wrong in [
            "",
            "1",
            "1:",
            "1:0",
            "1:zz",
            "-1:00",
            "4294967296:00",
            "1:00,",
            ":00",
        ] {
            // No digits give no bytes, which no cache accepts as a key.
            let refused = parse(wrong).is_none_or(|keys| keys[0].1.is_empty());
            assert!(refused, "{wrong}");
        }
    }
}
