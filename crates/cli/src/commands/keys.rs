//! `polycache keys`.

use crate::arguments::{Arguments, Keys};
use crate::failure::Failure;
use crate::output::{Output, Style};
use crate::{human, json, key, open, Outcome};
use polycache::{split_full_key, Cache, Error, Facts, TtlLeft};
use serde_json::{json, Map};
use std::collections::HashMap;

/// Places of the index that are looked at in one go.
const PAGE: u64 = 4096;

pub fn run(arguments: &Arguments, keys: &Keys, output: &mut Output) -> Result<Outcome, Failure> {
    let prefix = key::parse(&keys.prefix, keys.form)?;
    let cache = open::existing(arguments)?;
    let mut listing = Listing {
        keys,
        left: keys.limit_output.unwrap_or(u64::MAX),
        output,
        nested: HashMap::new(),
    };
    if keys.long && !listing.output.json {
        listing.head()?;
    }
    let mut page = Vec::new();
    let mut cursor = Some(0);
    while let (Some(at), true) = (cursor, listing.left > 0) {
        cursor = if keys.all_namespaces {
            cache.full_keys_page(at, PAGE, &mut page)?
        } else {
            cache.keys_page(&prefix, at, PAGE, &mut page)?
        };
        for found in page.drain(..) {
            if !keys.all_namespaces {
                listing.add(&cache, None, &found, &found)?;
                continue;
            }
            // What is no full key is not of this cache's making.
            let Some((parts, short)) = split_full_key(&found) else {
                continue;
            };
            if parts.starts_with(&arguments.namespace) && short.starts_with(&prefix) {
                let cache = listing.nested(&cache, &arguments.namespace, &parts)?;
                listing.add(&cache, Some(&parts), short, &found)?;
            }
        }
    }
    Ok(Outcome::Done)
}

struct Listing<'a> {
    keys: &'a Keys,
    /// Keys that may still be printed.
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

    /// Prints one key; `shown` is what stands for it in a line of text.
    fn add(
        &mut self,
        cache: &Cache,
        namespace: Option<&[String]>,
        key: &[u8],
        shown: &[u8],
    ) -> Result<(), Failure> {
        if self.left == 0 {
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
            if let Some(parts) = namespace {
                object.insert("namespace".into(), json!(parts));
            }
            if let Some(facts) = &facts {
                json::add_facts(&mut object, facts);
            }
            return Ok(self.output.json(&object)?);
        }
        let shown = key::show(shown);
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
