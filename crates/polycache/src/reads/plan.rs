//! What is to be known of a command before its reply is kept: `reads.json`, a copy of `spec/reads.json`.

use crate::Error;
use polycache_redis_namespace::{CommandTable, Error as TableError};
use serde::Deserialize;
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

const FILE: &str = include_str!("reads.json");

#[derive(Deserialize)]
struct Said {
    reads: HashSet<String>,
    /// Those whose replies may show fields of hashes.
    hashes: HashSet<String>,
    /// Those whose replies are texts of JSON documents.
    documents: HashSet<String>,
    /// Why others cannot be cached.
    refused: HashMap<String, String>,
    /// Where commands of modules have their keys.
    modules: HashMap<String, serde_json::Value>,
}

struct Rules {
    said: Said,
    table: CommandTable,
}

fn rules() -> &'static Rules {
    static RULES: OnceLock<Rules> = OnceLock::new();
    RULES.get_or_init(|| {
        let said: Said = serde_json::from_str(FILE).expect("a test reads the same file");
        let modules = said.modules.iter();
        let table = modules.fold(CommandTable::new(), |table, (name, at)| {
            let table = table.command(name, &at.to_string());
            table.expect("a test reads the same file")
        });
        Rules { said, table }
    })
}

/// What a command reads.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plan<'a> {
    pub keys: Vec<&'a [u8]>,
    /// Whether it may show fields of a hash, which may expire by themselves.
    pub shows_fields: bool,
    /// Whether its reply is the text of a JSON document.
    pub is_document: bool,
}

impl<'a> Plan<'a> {
    /// # Errors
    /// `UncacheableRead`, `InvalidArgument` for a number of keys that is none.
    pub fn of(words: &[&'a [u8]]) -> Result<Plan<'a>, Error> {
        let rules = rules();
        let name = upper(words.first().copied().unwrap_or_default());
        if !rules.said.reads.contains(&name) {
            return Err(refusal(&rules.said, &name, words.get(1).copied()));
        }
        if name == "XREAD" && words.iter().any(|word| word.eq_ignore_ascii_case(b"BLOCK")) {
            return Err(Error::UncacheableRead(
                "XREAD with BLOCK waits for what comes: leave BLOCK out".into(),
            ));
        }
        let found = rules.table.keys_of(words).map_err(|error| match error {
            TableError::InvalidArgument(what) => Error::InvalidArgument(what),
            other => Error::UncacheableRead(other.to_string()),
        })?;
        let refused = match found.keys.len() {
            _ if found.looks_elsewhere => {
                format!("{name} with BY or GET reads keys that it does not name")
            }
            0 => format!("this {name} names no key"),
            _ => {
                return Ok(Plan {
                    keys: found.keys,
                    shows_fields: rules.said.hashes.contains(&name),
                    is_document: rules.said.documents.contains(&name),
                })
            }
        };
        Err(Error::UncacheableRead(refused))
    }
}

/// Why commands of this name cannot be cached.
fn refusal(said: &Said, name: &str, next: Option<&[u8]>) -> Error {
    let with_next = next.map(|next| format!("{name}|{}", upper(next)));
    let why = (said.refused.get(name)).or_else(|| said.refused.get(&with_next?));
    let why = why.map_or(
        "it is not known to be a read whose reply its keys alone decide",
        String::as_str,
    );
    Error::UncacheableRead(format!("{name} cannot be cached: {why}"))
}

fn upper(word: &[u8]) -> String {
    String::from_utf8_lossy(word).to_ascii_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan<'a>(words: &[&'a str]) -> Result<Plan<'a>, Error> {
        let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        Plan::of(&words)
    }

    fn why(words: &[&str]) -> String {
        match plan(words) {
            Err(Error::UncacheableRead(why)) => why,
            other => panic!("{words:?}: {other:?}"),
        }
    }

    #[test]
    fn the_list_is_that_of_the_specification() {
        let specified = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/reads.json");
        let specified = std::fs::read_to_string(specified).expect("it is there");
        let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
        assert_eq!(json(FILE), json(&specified));
    }

    #[test]
    fn keys_are_where_the_command_table_says() {
        assert_eq!(plan(&["mget", "a", "b"]).unwrap().keys, [b"a", b"b"]);
        assert_eq!(plan(&["JSON.GET", "a", "$"]).unwrap().keys, [b"a"]);
        let streams = ["XREAD", "COUNT", "2", "STREAMS", "a", "b", "0", "0"];
        assert_eq!(plan(&streams).unwrap().keys, [b"a", b"b"]);
        let script = plan(&["EVAL_RO", "return 1", "1", "a", "b"]).unwrap();
        assert!(script.keys == [b"a"] && script.shows_fields && !script.is_document);
        assert!(plan(&["json.get", "a"]).unwrap().is_document);
    }

    #[test]
    fn what_cannot_be_cached_says_why() {
        assert!(why(&["SRANDMEMBER", "s"]).contains("random"));
        assert!(why(&["ttl", "s"]).contains("time"));
        assert!(why(&["XINFO", "stream", "s"]).contains("consumer groups"));
        assert!(why(&["SET", "s", "1"]).contains("not known"));
        assert!(why(&["XREAD", "block", "0", "STREAMS", "s", "0"]).contains("BLOCK"));
        assert!(why(&["SORT_RO", "s", "BY", "w_*"]).contains("does not name"));
        assert!(why(&["EVAL_RO", "return 1", "0"]).contains("no key"));
        assert!(why(&[]).contains("cannot be cached"));
        assert!(matches!(
            plan(&["EVAL_RO", "return 1", "x"]),
            Err(Error::InvalidArgument(_))
        ));
    }
}
