//! What all processes of the machine do with a directory, as objects of JavaScript.

use crate::error;
use napi::{Env, Result, Task};
use napi_derive::napi;
use polycache_host::Store;

/// An object of JavaScript with the counts of a struct of the store, which says what they are. Without `..`: one that
/// is added does not compile until it is shown.
macro_rules! counts {
    ($(#[$doc:meta])* $object:ident { $($name:ident),+ $(,)? } $(with { $other:ident: Vec<$of:ident> })?) => {
        $(#[$doc])*
        #[napi(object)]
        #[allow(missing_docs)]
        pub struct $object {
            $(pub $name: f64,)+
            $(pub $other: Vec<$of>,)?
        }

        impl From<polycache_host::$object> for $object {
            fn from(counts: polycache_host::$object) -> $object {
                let polycache_host::$object { $($name,)+ $($other,)? } = counts;
                $object {
                    $($name: $name as f64,)+
                    $($other: $other.into_iter().map($of::from).collect(),)?
                }
            }
        }
    };
}

counts! {
    /// What all processes of the machine did with a directory, and what it holds.
    MachineStats {
        since, hits, memory_hits, misses, writes, deletes, loads, failed_loads, invalidated_loads, unstored,
        wait_timeouts, entries, bytes, limit, evicted_by_age, evicted_by_conflict, evicted_by_failed_put, expired,
        near_hits, remote_hits, joined_hits, round_trips, faults, last_fault_at, last_open_at,
    } with { processes: Vec<ProcessStats> }
}

counts! {
    /// What one process has done with a directory since it opened it.
    ProcessStats {
        pid, handles, since, hits, memory_hits, misses, writes, deletes, loads, failed_loads,
    }
}

/// What the entries of one namespace take.
#[napi(object)]
pub struct NamespaceUsage {
    /// The namespace's parts.
    pub namespace: Vec<String>,
    /// Entries that a read would find.
    pub entries: f64,
    /// Bytes of their records.
    pub bytes: f64,
}

impl From<polycache_host::Usage> for NamespaceUsage {
    fn from(one: polycache_host::Usage) -> NamespaceUsage {
        NamespaceUsage {
            namespace: one.namespace,
            entries: one.entries as f64,
            bytes: one.bytes as f64,
        }
    }
}

/// Finds the namespaces that take the most space, at most so many.
pub struct Usage(pub(crate) Store, pub(crate) usize);

impl Task for Usage {
    type Output = Vec<polycache_host::Usage>;
    type JsValue = Vec<NamespaceUsage>;

    fn compute(&mut self) -> Result<Self::Output> {
        self.0.usage(self.1).map_err(error::host)
    }

    fn resolve(&mut self, _: Env, usage: Self::Output) -> Result<Self::JsValue> {
        Ok(usage.into_iter().map(NamespaceUsage::from).collect())
    }
}
