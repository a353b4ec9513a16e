//! Opens the cache that the command line names.

use crate::arguments::Arguments;
use crate::dictionaries;
use crate::encryption;
use crate::failure::Failure;
use crate::{namespace, text};
use polycache::{Builder, Cache, Error, Smart};
use polycache_host::Mode;
use std::path::Path;
use std::time::Duration;

/// How long a server may take to answer.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The cache's options so far.
pub fn builder(arguments: &Arguments) -> Result<Builder, Failure> {
    let builder = Cache::builder().namespaces(namespace::parse(&arguments.namespace)?);
    let builder = match &arguments.remote {
        // What is there now, for a person who can wait.
        Some(url) => on_server(builder, arguments, url).max_staleness(Duration::ZERO),
        None => builder.path(path(arguments)?).mode(arguments.mode),
    };
    Ok(match encryption::keys()? {
        None => builder,
        Some(keys) => builder.encryption(keys),
    })
}

fn on_server(builder: Builder, arguments: &Arguments, url: &str) -> Builder {
    builder
        .remote(url)
        .prefix(arguments.remote_prefix.as_str())
        .timeout(TIMEOUT)
}

/// Opens the server as a host that hears of writes, with copies in memory.
pub fn as_host(arguments: &Arguments, url: &str) -> Result<Cache, Failure> {
    Ok(on_server(Cache::builder(), arguments, url).build()?)
}

/// Opens what `serve` serves: a directory to be read, or a server with copies in memory or in a directory.
pub fn to_serve(arguments: &Arguments, directory: Option<&Path>) -> Result<Cache, Failure> {
    let builder = Cache::builder().namespaces(namespace::parse(&arguments.namespace)?);
    let builder = match encryption::keys()? {
        None => builder,
        Some(keys) => builder.encryption(keys),
    };
    let builder = match dictionaries::read()? {
        None => builder,
        // Dictionaries need a compressor, although nothing is written with it here.
        Some(all) => builder.compressor(Smart).dictionaries(all),
    };
    match (&arguments.remote, directory) {
        (None, None) => Err(no_cache()),
        (None, Some(path)) => {
            let builder = builder.path(path).mode(arguments.mode);
            Ok(builder.opens(Mode::Read).build()?)
        }
        (Some(url), directory) => {
            let builder = builder
                .remote(url.as_str())
                .prefix(arguments.remote_prefix.as_str());
            match directory {
                None => Ok(builder.build()?),
                Some(path) => or_make(builder.path(path).mode(arguments.mode)),
            }
        }
    }
}

/// Opens the directory for reading, whether or not a server is named.
pub fn directory_to_read(arguments: &Arguments) -> Result<Cache, Failure> {
    let builder = Cache::builder().path(path(arguments)?).mode(arguments.mode);
    Ok(builder.opens(Mode::Read).build()?)
}

/// Refuses a command that tells of a directory.
pub fn needs_directory(arguments: &Arguments, command: &str) -> Result<(), Failure> {
    match arguments.remote {
        Some(_) => Err(Failure::Usage(format!(
            "{command} tells of a directory: leave out --remote and POLYCACHE_REMOTE. `stats` tells of a server"
        ))),
        None => Ok(()),
    }
}

/// Fails if a read had no answer from the server, which looks like a miss.
pub fn answered(cache: &Cache) -> Result<(), Failure> {
    match cache.remote_stats() {
        Some(stats) if stats.faults > 0 => {
            let why = format!("the server did not answer ({})", stats.last_fault);
            Err(Error::RemoteUnavailable(why).into())
        }
        _ => Ok(()),
    }
}

/// Where the cache is, for a person.
pub fn place(cache: &Cache) -> String {
    match cache.remote_stats() {
        Some(_) => "the server".into(),
        None => text::path(cache.path()),
    }
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
    arguments.path.as_deref().ok_or_else(no_cache)
}

fn no_cache() -> Failure {
    Failure::Usage(
        "which cache? Name its directory by --path or by POLYCACHE_PATH, or its server by --remote"
            .into(),
    )
}
