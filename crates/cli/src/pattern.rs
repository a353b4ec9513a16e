//! Patterns of keys: the shell's, without folders.

use glob::{MatchOptions, Pattern};

/// A slash and a leading dot are ordinary characters.
const OPTIONS: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: false,
    require_literal_leading_dot: false,
};

/// The pattern that an argument denotes.
pub fn parse(argument: &str) -> Result<Pattern, String> {
    // To the library two stars mean folders; here they mean the same as one.
    let mut single = argument.to_owned();
    while single.contains("**") {
        single = single.replace("**", "*");
    }
    Pattern::new(&single).map_err(|error| format!("not a pattern: {}", error.msg))
}

/// Whether a key matches. Bytes that are not text match as the replacement character.
pub fn matches(pattern: &Pattern, key: &[u8]) -> bool {
    pattern.matches_with(&String::from_utf8_lossy(key), OPTIONS)
}

/// The common prefix of all keys that match.
pub fn beginning(pattern: &Pattern) -> &str {
    let pattern = pattern.as_str();
    &pattern[..pattern.find(['*', '?', '[']).unwrap_or(pattern.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_the_shells_without_folders() {
        let yes = [
            ("user:*", "user:1/x"),
            ("*", ""),
            ("*", ".hidden"),
            ("a**b", "a/b"),
            ("**", "a/b"),
            ("user:?", "user:\u{fc}"),
            ("[ab]x", "bx"),
            ("[!ab]x", "cx"),
            ("[*]", "*"),
            ("plain", "plain"),
        ];
        for (pattern, key) in yes {
            let pattern = parse(pattern).unwrap();
            assert!(matches(&pattern, key.as_bytes()), "{pattern} {key}");
            assert!(key.starts_with(beginning(&pattern)));
        }
        let no = [
            ("user:*", "User:1"),
            ("?", ""),
            ("plain", "plainer"),
            ("[!ab]x", "ax"),
        ];
        for (pattern, key) in no {
            assert!(
                !matches(&parse(pattern).unwrap(), key.as_bytes()),
                "{pattern} {key}"
            );
        }
        assert!(matches(&parse("a?").unwrap(), b"a\xff"));
        assert!(parse("[").is_err());
    }
}
