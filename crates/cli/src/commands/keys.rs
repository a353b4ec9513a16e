//! `polycache keys`.

use crate::arguments::{Arguments, Keys};
use crate::failure::Failure;
use crate::output::{Output, Style};
use crate::{human, json, key, namespace, open, pattern, Outcome};
use polycache::bindings::Bindings;
use polycache::{split_full_key, Cache, Error, Facts, TtlLeft};
use serde_json::{json, Map};
use std::collections::HashMap;

/// Places of the index that are visited at once.
const PAGE: u64 = 4096;

pub fn run(arguments: &Arguments, keys: &Keys, output: &mut Output) -> Result<Outcome, Failure> {
    let prefix = key::parse(&keys.prefix, keys.form)?;
    let own = namespace::parse(&arguments.namespace)?;
    let cache = open::to_read(arguments)?;
    let mut listing = Listing {
        keys,
        left: keys.limit_output.unwrap_or(u64::MAX),
        output,
        nested: HashMap::new(),
    };
    if keys.long && !listing.output.json {
        listing.head()?;
    }
    // The prefix to search the index for.
    let from = match &keys.glob {
        Some(pattern) if prefix.is_empty() => pattern::beginning(pattern).as_bytes(),
        _ => &prefix,
    };
    let mut page = Vec::new();
    let mut cursor = Some(0);
    while let (Some(at), true) = (cursor, listing.left > 0) {
        cursor = if keys.all_namespaces {
            cache.full_keys_page(at, PAGE, &mut page)?
        } else {
            cache.keys_page(from, at, PAGE, &mut page)?
        };
        for found in page.drain(..) {
            if !keys.all_namespaces {
                listing.add(&cache, None, &found)?;
                continue;
            }
            // Bytes that are not a full key were not written by this cache.
            let Some((parts, short)) = split_full_key(&found) else {
                continue;
            };
            if parts.starts_with(&own) && short.starts_with(&prefix) {
                let cache = listing.nested(&cache, &own, &parts)?;
                listing.add(&cache, Some(&parts), short)?;
            }
        }
    }
    Ok(Outcome::Done)
}

struct Listing<'a> {
    keys: &'a Keys,
    /// Number of keys that may still be printed.
    left: u64,
    output: &'a mut Output,
    /// The caches of the namespaces met so far.
    nested: HashMap<Vec<String>, Cache>,
}

impl Listing<'_> {
    /// The cache of the namespace `parts`, which begins with `own`, the namespace of `cache`.
    fn nested(&mut self, cache: &Cache, own: &[String], parts: &[String]) -> Result<Cache, Error> {
        if let Some(nested) = self.nested.get(parts) {
            return Ok(nested.clone());
        }
        let nested = parts[own.len()..]
            .iter()
            .try_fold(cache.clone(), |cache, part| cache.namespace(part))?;
        self.nested.insert(parts.to_vec(), nested.clone());
        Ok(nested)
    }

    fn head(&mut self) -> Result<(), Failure> {
        let head = row("SIZE", "AGE", "LEFT", "KEY");
        let head = self.output.paint(Style::Dim, &head);
        Ok(self.output.line(&head)?)
    }

    /// Prints one key, if it matches.
    fn add(&mut self, cache: &Cache, parts: Option<&[String]>, key: &[u8]) -> Result<(), Failure> {
        let pattern = self.keys.glob.as_ref();
        if self.left == 0 || pattern.is_some_and(|pattern| !pattern::matches(pattern, key)) {
            return Ok(());
        }
        let mut facts = None;
        if self.keys.long {
            facts = cache.facts(key)?;
            if facts.is_none() {
                return Ok(()); // Deleted since it was found.
            }
        }
        self.left -= 1;
        if self.output.json {
            let mut object = Map::new();
            object.insert("key".into(), json::key(key));
            if let Some(parts) = parts {
                object.insert("namespace".into(), json!(parts));
            }
            if let Some(facts) = &facts {
                json::add_facts(&mut object, facts);
            }
            return Ok(self.output.json(&object)?);
        }
        let mut shown = key::show(key);
        if let Some(parts) = parts {
            shown = format!("{}::{shown}", namespace::show(parts));
        }
        let line = facts.map_or(shown.clone(), |facts| long(&facts, &shown));
        Ok(self.output.line(&line)?)
    }
}

fn long(facts: &Facts, key: &str) -> String {
    let left = match facts.ttl {
        TtlLeft::Forever => "-".into(),
        TtlLeft::For(left) => human::duration(left),
    };
    row(
        &human::size(facts.size),
        &human::duration(facts.age),
        &left,
        key,
    )
}

fn row(size: &str, age: &str, left: &str, key: &str) -> String {
    format!("{size:>9}  {age:>8}  {left:>8}  {key}")
}
