//! Cached reads (`spec/reads.md`): what stands on this host, and what may be kept. The reads themselves are sent by the
//! program's own client (`python/src/polycache/reads`).

use crate::cache::Cache;
use crate::{errors, options};
use polycache::bindings::remote::{CachedReads, ReadBegun, ReadOrigin, ReadTicket, Uncached};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Mutex;
use std::time::Duration;

/// One hit in so many tells the near tier that the reply is in use; a power of two.
const LOOKS: u64 = 16;

/// The cached reads of a cache with a server.
#[pyclass(frozen, module = "polycache._native")]
pub struct Reads {
    reads: CachedReads,
    hits: AtomicU64,
}

/// Where a reply was found.
#[pyclass(frozen, name = "ReadOrigin", module = "polycache._native")]
pub struct Origin(ReadOrigin);

/// A read that was begun, until it ends.
#[pyclass(frozen, name = "ReadTicket", module = "polycache._native")]
pub struct Ticket {
    pending: Mutex<Option<ReadTicket>>,
    /// Why the reply will not be kept: 0, it will be; else as `WHYS` of `stats.py` counts.
    #[pyo3(get)]
    why: u8,
    /// The key that GETEX is to ask for after the read.
    asks: Option<Vec<u8>>,
}

#[pymethods]
impl Ticket {
    /// The key that the same connection is asked for by GETEX after the read; None: nothing.
    #[getter]
    fn asks<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.asks.as_deref().map(|key| PyBytes::new(py, key))
    }
}

impl Ticket {
    fn take(&self, py: Python<'_>) -> PyResult<ReadTicket> {
        // Nobody panics while holding it.
        let taken = self.pending.lock().ok().and_then(|mut one| one.take());
        taken.ok_or_else(|| errors::invalid_argument(py, "the read has ended"))
    }
}

fn slices(keys: &[Vec<u8>]) -> Vec<&[u8]> {
    keys.iter().map(Vec::as_slice).collect()
}

#[pymethods]
impl Reads {
    /// Those of keys with these prefixes.
    #[new]
    fn new(py: Python<'_>, cache: &Bound<'_, Cache>, prefixes: Vec<Vec<u8>>) -> PyResult<Reads> {
        let Some(engine) = cache.get().engine() else {
            let why = "cached reads need a cache with the option remote";
            return Err(errors::invalid_argument(py, why));
        };
        let reads = CachedReads::new(engine, prefixes).map_err(|why| errors::raise(py, why))?;
        Ok(Reads {
            reads,
            hits: AtomicU64::new(0),
        })
    }

    /// The option `max_staleness` in seconds.
    #[staticmethod]
    fn seconds(max_staleness: &Bound<'_, PyAny>) -> PyResult<f64> {
        options::staleness(max_staleness).map(|most| most.as_secs_f64())
    }

    /// Asks the server who it is, unless that is known; whether it answers.
    fn know(&self, py: Python<'_>) -> bool {
        py.detach(|| self.reads.know())
    }

    /// Whether that is known.
    fn is_known(&self) -> bool {
        self.reads.is_known()
    }

    /// The reply that this host has and may be served, and where it was found.
    fn near<'py>(
        &self,
        py: Python<'py>,
        name: &[u8],
        keys: Vec<Vec<u8>>,
    ) -> Option<(Bound<'py, PyBytes>, Origin)> {
        let mut out = Vec::new();
        let found = py.detach(|| self.reads.near(name, &slices(&keys), &mut out));
        found.map(|origin| (PyBytes::new(py, &out), Origin(origin)))
    }

    /// Whether a reply that was found there may be served again.
    fn stands(&self, origin: &Bound<'_, Origin>) -> bool {
        let origin = &origin.get().0;
        if !self.reads.stands(origin) {
            return false;
        }
        if self.hits.fetch_add(1, Ordering::Relaxed) % LOOKS == 0 {
            self.reads.mark_visited(origin);
        }
        true
    }

    /// Begins a read whose caller has waited so many seconds for others: a ticket that ends it, or the seconds after which
    /// to begin again; None: look again.
    fn begin<'py>(
        &self,
        py: Python<'py>,
        name: &[u8],
        keys: Vec<Vec<u8>>,
        waited: f64,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let waited = Duration::try_from_secs_f64(waited).unwrap_or_default();
        let begun = py.detach(|| self.reads.begin(name, &slices(&keys), waited));
        let mut ticket = match begun {
            ReadBegun::There => return Ok(None),
            ReadBegun::Wait(ms) => {
                let seconds = (ms / 1000.0).max(0.0);
                return Ok(Some(seconds.into_pyobject(py)?.into_any()));
            }
            ReadBegun::Ask(ticket) => *ticket,
        };
        let why = match ticket.why() {
            None => 0,
            Some(Uncached::Deaf) => 1,
            Some(Uncached::NotHeard) => 2,
            Some(Uncached::Busy) => 3,
        };
        let asks = ticket.asks.take();
        let made = Ticket {
            pending: Mutex::new(Some(ticket)),
            why,
            asks,
        };
        Ok(Some(Bound::new(py, made)?.into_any()))
    }

    /// Ends a read with its reply and when that expires (milliseconds since 1970; 0: never); no reply: it is not to be
    /// kept. `answer` is what GETEX found. Whether the reply is kept.
    #[allow(clippy::too_many_arguments)] // As many as `fill` of the bindings, and Python's.
    fn fill(
        &self,
        py: Python<'_>,
        name: &[u8],
        keys: Vec<Vec<u8>>,
        ticket: &Bound<'_, Ticket>,
        answer: Option<&[u8]>,
        reply: Option<&[u8]>,
        expires: u64,
    ) -> PyResult<bool> {
        let ticket = ticket.get().take(py)?;
        let reply = reply.map(|bytes| (bytes, expires));
        let fill = || self.reads.fill(name, &slices(&keys), ticket, answer, reply);
        Ok(py.detach(fill))
    }

    /// Ends a read without a reply.
    fn fail(
        &self,
        py: Python<'_>,
        name: &[u8],
        keys: Vec<Vec<u8>>,
        ticket: &Bound<'_, Ticket>,
    ) -> PyResult<()> {
        let ticket = ticket.get().take(py)?;
        py.detach(|| self.reads.fail(name, &slices(&keys), ticket));
        Ok(())
    }

    /// Removes what is kept of reads of this key, from this host.
    fn forget(&self, py: Python<'_>, key: &[u8]) {
        py.detach(|| self.reads.forget(key));
    }
}
