//! Operations of the engine without its locks, where the interpreter has a lock of its own.
//!
//! The engine is called by attached threads only, and nothing within an operation lets go of the GIL or uses a cache,
//! as the head of `memory` says: an operation that a thread begins finds no other under way, and none begins before it
//! ends. Nor is one under way around it in the same thread: what the engine calls without a lock (a listener, the end
//! of an object that left) it calls after its last look at the shard. What others did before happened before this, as
//! the GIL is a mutex. In a child that another thread forked, nothing is half done either, because that thread had the
//! GIL. A process has one interpreter that uses this extension (`interpreter.rs`), hence one GIL.
//!
//! Without a GIL the engine's own locks are taken; `build.rs` tells the two builds apart.

use super::key::Key;
use super::options::{Engine, Stored};

/// The key's value.
///
/// # Safety
/// In a thread that is attached to the interpreter, and not within an operation of the engine.
#[inline(always)]
pub unsafe fn get(engine: &Engine, key: &Key) -> Option<Stored> {
    #[cfg(not(Py_GIL_DISABLED))]
    // SAFETY: as the head of this file argues.
    return unsafe { engine.get_exclusively(key) };
    #[cfg(Py_GIL_DISABLED)]
    engine.get(key)
}

/// Stores a value in the place of the key's other one, which it leaves in `value`, if `free` says so; false
/// when that, or more than that, is to be asked of the engine's other methods.
///
/// # Safety
/// As of [`get`].
#[inline(always)]
pub unsafe fn swap(
    engine: &Engine,
    key: &Key,
    value: &mut Stored,
    free: impl FnOnce() -> bool,
) -> bool {
    #[cfg(not(Py_GIL_DISABLED))]
    // SAFETY: as the head of this file argues; `free` uses no cache.
    return unsafe { engine.swap_exclusively(key, value, free) };
    #[cfg(Py_GIL_DISABLED)]
    {
        let _ = (engine, key, value, free);
        false
    }
}
