//! The option `removal_listener` of a `MemoryCache`.

use super::key::Key;
use super::options::{cause, Stored};
use crate::exit::attached;
use polycache_memory::RemovalCause;
use pyo3::prelude::*;

/// Is told of entries that left.
pub struct Listener(pub Py<PyAny>);

impl Listener {
    /// Called by the engine without a lock, in an attached thread. Its exceptions have no caller to go
    /// to: `sys.unraisablehook` is given them.
    pub fn tell(&self, key: Key, stored: Stored, why: RemovalCause) {
        attached(|py| {
            let arguments = (
                key.object.into_bound(py),
                stored.object.into_bound(py),
                cause(why),
            );
            if let Err(error) = self.0.bind(py).call1(arguments) {
                error.write_unraisable(py, Some(self.0.bind(py)));
            }
        });
    }
}
