//! Which thread or task of this process a load belongs to.

use pyo3::prelude::*;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// How often this process or those that it stems from were forked.
static FORKS: AtomicU64 = AtomicU64::new(0);
/// The thread that forked last, which is the only one that the child has.
static FORKER: AtomicUsize = AtomicUsize::new(0);

/// Tells the threads of a process apart; the thread that forks is the same in the child.
fn this_thread() -> usize {
    thread_local!(static HERE: u8 = const { 0 });
    HERE.with(|here| std::ptr::from_ref(here).addr())
}

/// Called in a child, by the thread that forked it.
#[pyfunction]
pub fn forked() {
    FORKS.fetch_add(1, Ordering::SeqCst);
    FORKER.store(this_thread(), Ordering::SeqCst);
}

/// What runs a load.
pub struct Owner {
    thread: usize,
    forks: u64,
    /// Of asyncio's, by weak references: a task without another reference is never resumed.
    task: Option<Task>,
}

/// A task and its event loop, weakly.
pub struct Task {
    task: Py<PyAny>,
    event_loop: Py<PyAny>,
}

impl Owner {
    /// This thread, or a task of its loop: weak references to both.
    pub fn new(task: Option<(Py<PyAny>, Py<PyAny>)>) -> Owner {
        Owner {
            thread: this_thread(),
            forks: FORKS.load(Ordering::SeqCst),
            task: task.map(|(task, event_loop)| Task { task, event_loop }),
        }
    }

    /// False in a child that was forked while the load ran: the load is its parent's.
    pub fn is_in_its_process(&self) -> bool {
        self.forks == FORKS.load(Ordering::SeqCst)
    }

    /// True when it can't go on: its event loop was closed, or its thread stayed with the parent.
    pub fn is_gone(&self, py: Python<'_>) -> PyResult<bool> {
        if let Some(task) = &self.task {
            let event_loop = task.event_loop.bind(py).call0()?;
            if event_loop.is_none() || event_loop.call_method0("is_closed")?.is_truthy()? {
                return Ok(true);
            }
        }
        Ok(!self.is_in_its_process() && self.thread != FORKER.load(Ordering::SeqCst))
    }

    /// True of the load that the caller runs itself: this thread, or this task.
    pub fn is(&self, caller: &Bound<'_, PyAny>) -> PyResult<bool> {
        match &self.task {
            None => Ok(caller.is_none() && self.thread == this_thread()),
            Some(_) if caller.is_none() => Ok(false),
            Some(own) => Ok(own.task.bind(caller.py()).call0()?.is(caller)),
        }
    }

    /// True when both are the same thread, or the same task.
    pub fn is_same(&self, other: &Owner) -> bool {
        match (&self.task, &other.task) {
            (None, None) => self.thread == other.thread && self.forks == other.forks,
            // A task has one weak reference without a callback.
            (Some(own), Some(other)) => own.task.is(&other.task),
            _ => false,
        }
    }

    /// True when the caller, a task or None, would keep the load from going on by waiting for it: it blocks the
    /// load's event loop, or the load's thread runs the caller's.
    pub fn is_blocked_by(&self, caller: &Bound<'_, PyAny>) -> bool {
        self.thread == this_thread() && (self.task.is_none() || caller.is_none())
    }

    /// True of a load in another event loop than this one, or in one when the caller has none: when that is closed
    /// no caller is told.
    pub fn is_elsewhere(&self, py: Python<'_>, here: &Bound<'_, PyAny>) -> PyResult<bool> {
        match &self.task {
            None => Ok(false),
            Some(own) => Ok(!own.event_loop.bind(py).call0()?.is(here)),
        }
    }
}

/// How often this process or those that it stems from were forked.
pub fn forks() -> u64 {
    FORKS.load(Ordering::SeqCst)
}
