//! One loader for all callers of the host.

use crate::cache::Cache;
use crate::error::OrRaise;
use crate::found::Found;
use crate::from_ruby::with_value;
use crate::key::key;
use crate::to_ruby::to_ruby;
use crate::{duration, error};
use magnus::{Error, Ruby, Value};
use polycache::{Leased, Origin, Token};

impl Cache {
    /// The key's value; or what the block loads, when the lease is ours; or `busy`, when another
    /// caller loads: then wait and ask again.
    ///
    /// The block runs in `protect`, so the lease ends however the block is left: by an error,
    /// `break`, `throw`, a killed thread. No interrupt is looked at between lease and block.
    pub(crate) fn fetch(
        ruby: &Ruby,
        this: &Cache,
        name: Value,
        ttl: Value,
        busy: Value,
    ) -> Result<Value, Error> {
        Cache::fetch_by(ruby, this, name, ttl, busy, |value, _| value)
    }

    /// As [`Cache::fetch`], but a hit is a [`Found`].
    pub(crate) fn fetch_found(
        ruby: &Ruby,
        this: &Cache,
        name: Value,
        ttl: Value,
        busy: Value,
    ) -> Result<Value, Error> {
        Cache::fetch_by(ruby, this, name, ttl, busy, |value, origin| {
            Found::wrap(ruby, value, origin)
        })
    }

    fn fetch_by(
        ruby: &Ruby,
        this: &Cache,
        name: Value,
        ttl: Value,
        busy: Value,
        hit: impl FnOnce(Value, Origin) -> Value,
    ) -> Result<Value, Error> {
        if !ruby.block_given() {
            return Err(error::invalid(
                ruby,
                "fetch takes a block that loads the value",
            ));
        }
        // Before anything is loaded: what is wrong with the arguments.
        let key = key(ruby, name)?;
        let ttl = duration::ttl(ruby, ttl)?;
        this.tick(ruby)?;
        let leased = this
            .cache
            .lease_with_origin(&key, |value| to_ruby(ruby, &value));
        match leased.or_raise(ruby)? {
            Leased::Hit((value, origin)) => value.map(|value| hit(value, origin)),
            Leased::Busy { .. } => Ok(busy),
            Leased::Bypass => ruby.yield_values(()),
            Leased::Acquired(token) => {
                let lease = Lease {
                    cache: &this.cache,
                    token,
                    process: std::process::id(),
                };
                let loaded: Value = ruby.yield_values(())?;
                this.tick(ruby)?;
                if lease.is_ours() {
                    // Voided or not, the value belongs to this caller.
                    with_value(ruby, loaded, |value| {
                        this.cache.fill_value(&key, token, value, ttl)
                    })?
                    .or_raise(ruby)?;
                }
                Ok(loaded)
            }
        }
    }
}

/// A lease that is given back when it goes out of scope; after a fill that does nothing.
struct Lease<'a> {
    cache: &'a polycache::Cache,
    token: Token,
    process: u32,
}

impl Lease<'_> {
    /// False in a child that the block forked: the lease is its parent's.
    fn is_ours(&self) -> bool {
        self.process == std::process::id()
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        if self.is_ours() {
            self.cache.release(self.token);
        }
    }
}
