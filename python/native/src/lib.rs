//! The native extension of the Python package: what has to be fast or must not differ between
//! languages. Waiting, loaders and asyncio are Python (`python/src/polycache`).
//!
//! No user code runs while the engine is in an operation: keys, values and durations are read
//! before it begins, results are built from a private copy.

mod atomic;
mod byte_store;
mod cache;
mod classes;
mod clock;
mod command;
mod duration;
mod encryption;
mod entries;
mod errors;
mod exit;
mod expires_at;
mod fast;
mod files;
mod flight;
mod flights;
mod from_python;
mod handle;
mod host;
mod interpreter;
mod jitter;
mod key;
mod load;
mod lock;
mod machine;
mod many;
mod memory;
mod named;
mod options;
mod own;
mod reads;
mod remote;
mod reply_json;
mod statistics;
mod tiers;
mod to_python;
mod types;

use pyo3::prelude::*;

/// The native half of polycache; import from `polycache` instead.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::atomic::{
        add, compare_and_set, count, delete_found, find_to_update, replace, set_found,
        FoundByUpdate,
    };
    #[pymodule_export]
    use crate::cache::Cache;
    #[pymodule_export]
    use crate::command::cli;
    #[pymodule_export]
    use crate::entries::{decode_entry, encode_entry, full_key, key_hash};
    #[pymodule_export]
    use crate::expires_at::Lifetime;
    #[pymodule_export]
    use crate::files::{begin_file, open_file, put_file};
    #[pymodule_export]
    use crate::load::Load;
    #[pymodule_export]
    use crate::lock::{Attempt, Lock};
    #[pymodule_export]
    use crate::memory::fast::quickened;
    #[pymodule_export]
    use crate::memory::{Arguments, MemoryCache};
    #[pymodule_export]
    use crate::named::Named;
    #[pymodule_export]
    use crate::own::forked;
    #[pymodule_export]
    use crate::reads::{Origin, Reads, Ticket};
    #[pymodule_export]
    use crate::reply_json::reply_json;

    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        crate::interpreter::claim(module.py())?;
        crate::exit::hold_ended_threads();
        crate::classes::missing(module.py())?;
        crate::errors::prepare(module.py())?;
        crate::named::prepare(module.py());
        use pyo3::types::PyModuleMethods;
        module.add("UPDATE_ATTEMPTS", polycache::bindings::UPDATE_ATTEMPTS)?;
        module.add("QuickCache", crate::fast::class(module)?)?;
        module.add("QuickMemoryCache", crate::memory::fast::class(module)?)?;
        module.add("QuickArguments", crate::memory::quick_arguments(module)?)
    }
}
