//! Opens the cache that the command line names.

use crate::arguments::Arguments;
use crate::dictionaries;
use crate::encryption;
use crate::failure::Failure;
use crate::namespace;
use polycache::{Builder, Cache, Error, Smart};
use polycache_host::Mode;
use std::path::Path;

/// The cache's options so far.
pub fn builder(arguments: &Arguments) -> Result<Builder, Failure> {
    let builder = Cache::builder()
        .path(path(arguments)?)
        .namespaces(namespace::parse(&arguments.namespace)?)
        .mode(arguments.mode);
    Ok(match encryption::keys()? {
        None => builder,
        Some(keys) => builder.encryption(keys),
    })
}

/// Opens the cache for reading; no byte of it is changed.
pub fn to_read(arguments: &Arguments) -> Result<Cache, Failure> {
    let builder = builder(arguments)?.opens(Mode::Read);
    let builder = match dictionaries::read()? {
        None => builder,
        // Dictionaries need a compressor, although nothing is written with it here.
        Some(all) => builder.compressor(Smart).dictionaries(all),
    };
    Ok(builder.build()?)
}

/// Opens the cache for changes to its entries; it must exist.
pub fn existing(arguments: &Arguments) -> Result<Cache, Failure> {
    Ok(builder(arguments)?.opens(Mode::Existing).build()?)
}

/// Opens the cache with these options and creates it if there is none. An existing cache is opened as it
/// was created, and a damaged one is left to its owner.
pub fn or_make(builder: Builder) -> Result<Cache, Failure> {
    match builder.clone().opens(Mode::Existing).build() {
        // Whether a boot empties it is for the programs to say that use it.
        Err(Error::NoCache(_)) => Ok(builder.empty_at_boot(true).build()?),
        opened => Ok(opened?),
    }
}

fn path(arguments: &Arguments) -> Result<&Path, Failure> {
    arguments.path.as_deref().ok_or_else(|| {
        Failure::Usage("which cache? Name its directory by --path or by POLYCACHE_PATH".into())
    })
}
