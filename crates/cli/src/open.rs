//! Opening the cache that the command line names.

use crate::arguments::Arguments;
use crate::dictionaries;
use crate::encryption;
use crate::failure::Failure;
use polycache::{Builder, Cache, Smart};
use std::path::Path;

/// The cache's options so far.
pub fn builder(arguments: &Arguments) -> Result<Builder, Failure> {
    let builder = Cache::builder()
        .path(path(arguments)?)
        .namespaces(&arguments.namespace);
    Ok(match encryption::keys()? {
        None => builder,
        Some(keys) => builder.encryption(keys),
    })
}

/// The cache, which must be there: looking into a directory must not make one.
pub fn existing(arguments: &Arguments) -> Result<Cache, Failure> {
    let path = path(arguments)?;
    let layout = format!("v{}", polycache_host::layout::VERSION);
    if !path.join(layout).join("index").exists() {
        return Err(Failure::no_cache(path));
    }
    let builder = builder(arguments)?;
    let builder = match dictionaries::read()? {
        None => builder,
        // They go with a compressor, though nothing is written with it here.
        Some(all) => builder.compressor(Smart).dictionaries(all),
    };
    Ok(builder.build()?)
}

fn path(arguments: &Arguments) -> Result<&Path, Failure> {
    arguments.path.as_deref().ok_or_else(|| {
        Failure::Usage("which cache? Name its directory by --path or by POLYCACHE_PATH".into())
    })
}
