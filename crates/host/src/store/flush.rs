//! Flushes: everything that was changed reaches the disk, and then the mark that says so.

use super::environment::Process;
use super::{Inner, Store};
use crate::error::Error;
use crate::flusher::{self, Flush};
use crate::layout::{header, FLUSH_LOCK};
use crate::platform;
use crate::shared_memory::SharedMemory;
use std::sync::atomic::{fence, Ordering};
use std::time::{Duration, Instant};

/// Ticks a second.
const TICKS: u64 = 16;
/// While another process flushes, this one asks again after so long.
const ASK_AGAIN: Duration = Duration::from_millis(100);
/// Bytes of a file that are written at a time. A process that ends meanwhile waits for them: the kernel does not let
/// go of a thread that waits for the disk.
const PIECE: u64 = 8 << 20;
/// The same while a handle closes, which looks at the clock in between.
const LAST_PIECE: u64 = 1 << 20;
/// After how long a closing handle leaves the rest to the kernel.
const PATIENCE: Duration = Duration::from_millis(10);

impl Store {
    /// Writes everything to the disk, and waits for it. When it returns, a power loss takes nothing back of what
    /// was stored, deleted or cleared before the call.
    ///
    /// # Errors
    /// `Io`, `Closed`.
    pub fn flush(&self) -> Result<(), Error> {
        let inner = self.open_inner()?;
        inner.may_change()?;
        inner.flush()
    }
}

impl Inner {
    /// To be called after a change of the cache. The first one since the last flush began asks for the next.
    #[inline(always)]
    pub(super) fn changed(&self, process: &Process) {
        // Not relaxed: the change must not become visible after this look, or a flush that begins in
        // between would miss it. The same instruction on x86-64.
        if !process.is_dirty.load(Ordering::SeqCst) {
            self.first_change(process);
        }
    }

    /// As `changed`, for a change that needs no participant. A forked child becomes one.
    pub(super) fn changed_by_any(&self) {
        if let Ok(process) = self.process() {
            self.changed(process);
        }
    }

    #[cold]
    fn first_change(&self, process: &Process) {
        let Some(every) = self.flush_every else {
            return;
        };
        // Before `is_dirty`: what a slow thread notes here late must not count without it.
        process
            .dirty_since
            .store(platform::ticks(), Ordering::SeqCst);
        process.is_dirty.store(true, Ordering::SeqCst);
        if !process.is_asked_for.swap(true, Ordering::SeqCst) {
            flusher::schedule(self.weak.clone(), every);
        }
    }

    fn flush(&self) -> Result<(), Error> {
        let failed = || Error::io("cannot write the cache to its disk");
        let engine = &self.engine;
        let is_first = engine.mark_tick().is_none();
        let mark = engine.begin_mark();
        let memory = &engine.memory;
        // Records first, so that few words on the disk point to what is not there.
        let files = self.engine.environment.files.iter();
        let index = (&self.engine.environment.index, memory.index());
        for (file, mapping) in files.zip(memory.windows()).chain([index]) {
            for (at, len) in pieces(mapping.len(), PIECE) {
                self.io.write_back(file, at, len).map_err(failed())?;
            }
            self.io.sync(mapping).map_err(failed())?;
        }
        if is_first {
            // The names of the files.
            for folder in [&*self.path, &self.path.join("blocks")] {
                self.io.sync_directory(folder).map_err(failed())?;
            }
        }
        engine.complete_mark(mark);
        // A page, mostly. The flush is complete when the mark is on the disk as well.
        self.io.sync(memory.index()).map_err(failed())
    }

    /// The handle is closed, and its process may end now. What is not on the disk by now begins to be written,
    /// for a moment: at most once in `flush_every`, or short processes, one after the other, would keep the disk
    /// busy. The rest is left to other processes and to the kernel.
    pub(super) fn begin_last_flush(&self, process: &Process) {
        let Some(every) = self.flush_every else {
            return;
        };
        if ![&process.is_asked_for, &process.is_flushing]
            .map(|is| is.load(Ordering::SeqCst))
            .contains(&true)
        {
            return;
        }
        let memory = &self.engine.memory;
        let (now, begun) = (platform::ticks(), memory.load(header::WRITE_BACK_TICK));
        let is_due = |tick: u32| u64::from(now.wrapping_sub(tick)) >= ticks(every);
        let flushed_lately = self.engine.mark_tick().is_some_and(|tick| !is_due(tick));
        if flushed_lately || (begun != 0 && !is_due((begun - 1) as u32)) {
            return;
        }
        memory.store(header::WRITE_BACK_TICK, u64::from(now) + 1);
        let files = self.engine.environment.files.iter();
        let index = (&self.engine.environment.index, memory.index());
        let files = files.zip(memory.windows()).chain([index]);
        let begin = Instant::now();
        for (file, at, len) in files.flat_map(|(file, mapping)| {
            pieces(mapping.len(), LAST_PIECE).map(move |(at, len)| (file, at, len))
        }) {
            // A disk that takes no more makes this wait.
            if begin.elapsed() > PATIENCE {
                return;
            }
            // The kernel writes it later anyway.
            let _ = self.io.begin_sync(file, at, len);
        }
    }
}

/// The parts of a file, with their lengths, that are written one at a time.
fn pieces(len: usize, piece: u64) -> impl Iterator<Item = (u64, u64)> {
    let len = len as u64;
    (0..len)
        .step_by(piece as usize)
        .map(move |at| (at, piece.min(len - at)))
}

fn ticks(time: Duration) -> u64 {
    (time.as_millis() as u64 * TICKS).div_ceil(1000)
}

impl Flush for Inner {
    fn flush_due(&self) -> Option<Duration> {
        let every = self.flush_every?;
        // SAFETY: as in `process`.
        let process = unsafe { &*self.engine.environment.process.load(Ordering::Acquire) };
        if !self.is_open() || process.forks != platform::forks() {
            return None;
        }
        let since = process.dirty_since.load(Ordering::SeqCst);
        // Another process's flush that began later has written this one's changes up to then.
        if let Some(tick) = self.engine.mark_tick() {
            if (tick.wrapping_sub(since) as i32) > 0 {
                if !process.is_dirty.swap(false, Ordering::SeqCst) {
                    process.is_asked_for.store(false, Ordering::SeqCst);
                    // A caller that changed something in between did not ask.
                    let asks = process.is_dirty.load(Ordering::SeqCst)
                        && !process.is_asked_for.swap(true, Ordering::SeqCst);
                    return asks.then_some(every);
                }
                // Perhaps there were changes after that flush began, but none after this moment.
                let now = platform::ticks();
                process.dirty_since.store(now, Ordering::SeqCst);
                let age = u64::from(now.wrapping_sub(tick)) * 1000 / TICKS;
                let left = every.saturating_sub(Duration::from_millis(age));
                return Some(left.max(ASK_AGAIN));
            }
        }
        let locks = process.membership.file()?;
        match self.io.lock(locks, FLUSH_LOCK) {
            Ok(true) => {}
            Ok(false) => return Some(ASK_AGAIN),
            Err(_) => return Some(every),
        }
        process.is_flushing.store(true, Ordering::SeqCst);
        // Before the flush begins: a change from here on asks for another one.
        process.is_asked_for.store(false, Ordering::SeqCst);
        process.is_dirty.store(false, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        let flushed = self.flush();
        // If the unlock fails, closing the descriptor drops the lock.
        let _ = self.io.unlock(locks, FLUSH_LOCK);
        // A caller that changed something meanwhile has asked for the next flush by itself.
        let is_asked_for = flushed.is_ok() || {
            process.is_dirty.store(true, Ordering::SeqCst);
            process.is_asked_for.swap(true, Ordering::SeqCst)
        };
        process.is_flushing.store(false, Ordering::SeqCst);
        (!is_asked_for).then_some(every)
    }
}
