//! What an entry says of its value.

use crate::cache::{seconds, Cache};
use crate::error::OrRaise;
use crate::key::key;
use crate::to_ruby::make;
use magnus::{Error, RHash, Ruby, Value};
use polycache_entry::CompressorId;

impl Cache {
    /// The key's value with the facts of its entry, or nil; not a use of it.
    pub(crate) fn facts(ruby: &Ruby, this: &Cache, name: Value) -> Result<Option<RHash>, Error> {
        this.read_clock(ruby)?;
        let key = key(ruby, name)?;
        let Some(entry) = this.run(|cache| cache.entry(&key))?.or_raise(ruby)? else {
            return Ok(None);
        };
        let value = this.give(ruby, make(ruby, &entry.value)?)?;
        let facts = entry.facts;
        let hash = ruby.hash_new();
        hash.aset(ruby.sym_new("value"), value)?;
        hash.aset(ruby.sym_new("ttl"), seconds(facts.ttl))?;
        hash.aset(ruby.sym_new("created"), facts.created)?;
        hash.aset(ruby.sym_new("expires"), facts.expires)?;
        hash.aset(ruby.sym_new("size"), facts.size)?;
        hash.aset(ruby.sym_new("serializer"), facts.serializer.name())?;
        hash.aset(
            ruby.sym_new("compressor"),
            compressor_name(facts.compressor),
        )?;
        hash.aset(ruby.sym_new("version"), u64::from(facts.version))?;
        Ok(Some(hash))
    }
}

/// The name of what made an entry's payload smaller.
pub(crate) fn compressor_name(compressor: CompressorId) -> &'static str {
    match compressor {
        CompressorId::None => "none",
        CompressorId::Zstd => "zstd",
    }
}
