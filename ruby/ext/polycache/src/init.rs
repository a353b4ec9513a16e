//! What `require "polycache/polycache"` runs.

use crate::{
    cache, codings, command, copies, entry, lease, load, memory_reader, process, reads, reply,
    value_with_origin,
};
use magnus::{Error, Module, Ruby};

// The file is polycache/polycache.so, so Ruby looks for `Init_polycache`.
#[magnus::init(name = "polycache")]
fn init(ruby: &Ruby) -> Result<(), Error> {
    let polycache = ruby.define_module("Polycache")?;
    let native = polycache.define_module("Native")?;
    process::watch();
    cache::define(ruby, native)?;
    command::define(native)?;
    value_with_origin::define(ruby, native)?;
    memory_reader::define(ruby, native)?;
    lease::define(ruby, native)?;
    load::define(ruby, native)?;
    copies::define(ruby, native)?;
    reads::define(ruby, native)?;
    reply::define(native)?;
    codings::define(native)?;
    entry::define(native)
}
