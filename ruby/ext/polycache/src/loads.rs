//! The loads of a handle that are under way in this process, for callers that may join one.
//!
//! All of it happens under Ruby's global lock, so no thread ever waits for the lock here. Nothing of Ruby's is called
//! while it is held, because the garbage collector looks in here as well.

use crate::process;
use magnus::{gc::Marker, value::Opaque, Value};
use polycache::bindings::{Bindings, Token};
use polycache::Cache;
use rb_sys::VALUE;
use smallvec::SmallVec;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Namespace and key.
pub(crate) type FullKey = SmallVec<[u8; 32]>;

/// The loads of a handle.
#[derive(Default)]
pub(crate) struct Loads(Mutex<Known>);

#[derive(Default)]
struct Known {
    running: Vec<Running>,
    last: u64,
}

/// One load: its caller waits for another process, or its loader runs.
struct Running {
    id: u64,
    key: FullKey,
    caller: Caller,
    /// None while its caller waits for another process.
    loader: Option<Loader>,
    /// The callers that joined, a `Polycache::Flight`.
    flight: Option<Opaque<Value>>,
}

/// Since when a loader runs, and by what it may fill; without that no caller joins.
#[derive(Clone, Copy)]
pub(crate) struct Loader {
    pub(crate) since: Instant,
    pub(crate) fence: Option<Token>,
}

/// The caller that loads. Threads and fibers are compared, and not used otherwise.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Caller {
    pub(crate) process: u32,
    thread: VALUE,
    fiber: VALUE,
}

impl Caller {
    /// The caller that runs now.
    pub(crate) fn now() -> Caller {
        // SAFETY: Ruby's current thread and fiber; the caller is one of Ruby's threads.
        let (thread, fiber) = unsafe { (rb_sys::rb_thread_current(), rb_sys::rb_fiber_current()) };
        Caller {
            process: process::number(),
            thread,
            fiber,
        }
    }

    /// Whether that load can go on while this caller waits for it. The fibers of a thread take turns
    /// under a scheduler only.
    fn can_wait_for(&self, other: &Caller, scheduled: bool) -> bool {
        if scheduled {
            self.fiber != other.fiber
        } else {
            self.thread != other.thread
        }
    }
}

/// A load that may be joined.
pub(crate) struct Open {
    pub(crate) id: u64,
    pub(crate) flight: Option<Opaque<Value>>,
    /// How long it may still be waited for.
    pub(crate) left: Duration,
}

/// The callers that waited for a load that has ended.
#[derive(Default)]
pub(crate) struct Ended {
    /// The callers that joined it.
    pub(crate) joined: Vec<Opaque<Value>>,
    /// If it was stored: the callers that joined another load of the key. They look for the value, and are not handed
    /// it: the key may have been set or deleted before they called.
    pub(crate) others: Vec<Opaque<Value>>,
}

/// The caller would wait for itself.
pub(crate) struct OwnKey;

impl Loads {
    fn lock(&self) -> MutexGuard<'_, Known> {
        // A thread that panicked left it whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lists a load, whose loader runs, or whose caller waits for another process.
    pub(crate) fn begin(&self, key: FullKey, caller: Caller, loader: Option<Loader>) -> u64 {
        let mut known = self.lock();
        known.last += 1;
        let id = known.last;
        known.running.push(Running {
            id,
            key,
            caller,
            loader,
            flight: None,
        });
        id
    }

    /// The loader of a load that is listed begins.
    pub(crate) fn loads(&self, id: u64, loader: Loader) {
        let mut known = self.lock();
        if let Some(running) = known.find(id) {
            running.loader = Some(loader);
        }
    }

    /// Takes a load from the list.
    pub(crate) fn end(&self, id: u64, stored: bool) -> Ended {
        let mut known = self.lock();
        let Some(at) = known.running.iter().rposition(|running| running.id == id) else {
            return Ended::default();
        };
        let ended = known.running.swap_remove(at);
        let mut others = Vec::new();
        if stored {
            for other in &mut known.running {
                if other.key == ended.key && other.caller.process == ended.caller.process {
                    others.extend(other.flight.take());
                }
            }
        }
        Ended {
            joined: Vec::from_iter(ended.flight),
            others,
        }
    }

    /// The newest load of the key that is open.
    ///
    /// # Errors
    /// It is the caller's own.
    pub(crate) fn open(
        &self,
        cache: &Cache,
        key: &FullKey,
        caller: Caller,
        scheduled: bool,
    ) -> Result<Option<Open>, OwnKey> {
        let timeout = cache.lease_timeout();
        let joins_within = cache.joins_within();
        let mut known = self.lock();
        let mut newest: Option<Open> = None;
        // Loads of a parent's threads, and those of fibers that were never resumed, do not end.
        known.running.retain(|running| {
            running.caller.process == caller.process
                && (!running.left(timeout).is_zero() || running.is_open(cache))
        });
        for running in &known.running {
            if running.key != *key || !running.is_open(cache) {
                continue;
            }
            if !caller.can_wait_for(&running.caller, scheduled) {
                return Err(OwnKey);
            }
            // A load shows what was there when it began.
            let is_late = joins_within.is_some_and(|most| running.age() > most);
            let left = running.left(timeout);
            if !is_late
                && !left.is_zero()
                && newest.as_ref().is_none_or(|newest| newest.id < running.id)
            {
                newest = Some(Open {
                    id: running.id,
                    flight: running.flight,
                    left,
                });
            }
        }
        Ok(newest)
    }

    /// Lets others join a load; the flight that they join. None when the load has ended.
    pub(crate) fn join(&self, id: u64, flight: Opaque<Value>) -> Option<Opaque<Value>> {
        let mut known = self.lock();
        let running = known.find(id)?;
        Some(*running.flight.get_or_insert(flight))
    }

    /// Shows Ruby's objects to the garbage collector.
    pub(crate) fn mark(&self, marker: &Marker) {
        for running in &self.lock().running {
            if let Some(flight) = running.flight {
                marker.mark(flight);
            }
        }
    }
}

impl Running {
    /// How long others may still wait for it. A caller that waits for another process sees by itself when that takes
    /// too long.
    fn left(&self, timeout: Duration) -> Duration {
        timeout.saturating_sub(self.age())
    }

    /// How long its loader has run.
    fn age(&self) -> Duration {
        self.loader
            .map_or(Duration::ZERO, |loader| loader.since.elapsed())
    }

    /// Whether the key was neither set, deleted, cleared nor filled since.
    fn is_open(&self, cache: &Cache) -> bool {
        match self.loader {
            None => true,
            Some(loader) => match self.key.strip_prefix(cache.prefix()) {
                Some(key) => loader
                    .fence
                    .is_some_and(|fence| cache.stands_by(key, fence)),
                // Another namespace's, whose callers see to it.
                None => true,
            },
        }
    }
}

impl Known {
    fn find(&mut self, id: u64) -> Option<&mut Running> {
        self.running
            .iter_mut()
            .rev()
            .find(|running| running.id == id)
    }
}
