//! Flushes: everything that was changed reaches the disk, and then the mark that says so.

use super::environment::Process;
use super::{Inner, Store};
use crate::error::Error;
use crate::flusher::{self, Flush};
use crate::layout::{header, FLUSH_LOCK};
use crate::platform;
use crate::shared_memory::SharedMemory;
use memmap2::MmapRaw;
use std::fs::File;
use std::io;
use std::sync::atomic::{fence, Ordering};
use std::time::{Duration, Instant};

/// Ticks a second.
const TICKS: u64 = 16;
/// While another process flushes, this one asks again after so long.
const ASK_AGAIN: Duration = Duration::from_millis(100);
/// After a flush that failed, so many times what it took pass before any process tries again. The next one writes
/// everything anew, and the disk may refuse that for good: it is to have time for other work.
const REST: u32 = 19;
/// No rest is longer.
const LONGEST_REST: Duration = Duration::from_secs(3600);
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
        let now = platform::ticks();
        process.dirty_since.store(now, Ordering::SeqCst);
        process.is_dirty.store(true, Ordering::SeqCst);
        if process.is_asked_for.swap(true, Ordering::SeqCst) {
            let refused = process.refused.load(Ordering::SeqCst);
            if refused == 0 {
                return;
            }
            // Some time ago the system refused the thread. One caller asks for it again.
            let is_due = u64::from(now.wrapping_sub((refused - 1) as u32)) >= ticks(every);
            let asks = is_due && {
                let mine = (process.refused).compare_exchange(
                    refused,
                    0,
                    Ordering::SeqCst,
                    Ordering::SeqCst,
                );
                mine.is_ok()
            };
            if !asks {
                // The next change looks here again.
                return process.is_dirty.store(false, Ordering::SeqCst);
            }
        }
        if !flusher::schedule(&*self.io, self.weak.clone(), every) {
            let refused = u64::from(now) + 1;
            process.refused.store(refused, Ordering::SeqCst);
            process.is_dirty.store(false, Ordering::SeqCst);
        }
    }

    fn flush(&self) -> Result<(), Error> {
        let engine = &self.engine;
        let failed = engine.failed_since();
        let flushed = self.write_all(failed.is_some());
        match (&flushed, failed) {
            (Ok(()), Some(failed)) => engine.note_mended(failed),
            (Ok(()), None) => {}
            (Err(_), _) => engine.note_failed_flush(),
        }
        flushed.map_err(Error::io("cannot write the cache to its disk"))
    }

    /// Writes what was changed, and then the mark. `again`: what was written before may not be on the disk, because
    /// that refused a page; so all is written once more.
    fn write_all(&self, again: bool) -> io::Result<()> {
        let engine = &self.engine;
        let is_first = engine.mark_tick().is_none();
        let mark = engine.begin_mark();
        for part in self.parts() {
            for (at, len) in part.pieces(PIECE) {
                if again {
                    self.io.make_dirty(part.mapping, at, len)?;
                }
                self.io.write_back(part.file, at, len)?;
            }
            // The first flush makes the files' lengths durable, too.
            if is_first || !part.ranges.is_empty() {
                self.io.sync(part.mapping)?;
            }
        }
        if is_first {
            // The names of the files.
            for folder in [&*self.path, &self.path.join("blocks")] {
                self.io.sync_directory(folder)?;
            }
        }
        engine.complete_mark(mark);
        // A page, mostly. The flush is complete when the mark is on the disk as well.
        self.io.sync(engine.memory.index())
    }

    /// What there is to write: of each file the parts that have disk space. Records come first, so that few words on
    /// the disk point to what is not there.
    fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        let engine = &self.engine;
        let (memory, environment) = (&engine.memory, &engine.environment);
        let files = environment.files.iter().zip(memory.windows()).zip(0..);
        let blocks = files.map(|((file, mapping), window)| Part {
            file,
            mapping,
            ranges: joined(engine.allocated_in(window)),
        });
        let geometry = &engine.geometry;
        let levels = (0..engine.levels()).flat_map(|level| geometry.level_ranges(level));
        let index = Part {
            file: &environment.index,
            mapping: memory.index(),
            ranges: joined(levels),
        };
        blocks.chain([index])
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
        let begin = Instant::now();
        for part in self.parts() {
            for (at, len) in part.pieces(LAST_PIECE) {
                // A disk that takes no more makes this wait.
                if begin.elapsed() > PATIENCE {
                    return;
                }
                // The kernel writes the rest later anyway.
                if self.io.begin_sync(part.file, at, len).is_err() {
                    return self.engine.note_failed_flush();
                }
            }
        }
    }
}

/// A file, and offsets and lengths of what has disk space in it.
struct Part<'a> {
    file: &'a File,
    mapping: &'a MmapRaw,
    ranges: Vec<(u64, u64)>,
}

impl Part<'_> {
    /// What is written one after the other: at most so many bytes at a time.
    fn pieces(&self, most: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.ranges.iter().flat_map(move |(from, len)| {
            let pieces = (0..*len).step_by(most as usize);
            pieces.map(move |at| (from + at, most.min(len - at)))
        })
    }
}

/// The same with one range for those that follow each other.
fn joined(ranges: impl Iterator<Item = (u64, u64)>) -> Vec<(u64, u64)> {
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for (at, len) in ranges {
        match joined.last_mut() {
            Some((from, before)) if *from + *before == at => *before += len,
            _ => joined.push((at, len)),
        }
    }
    joined
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
        let rest = u64::from(self.engine.rest_left());
        if rest > 0 {
            // Another process' flush may end it before.
            return Some(every.min(Duration::from_millis(rest * 1000 / TICKS).max(ASK_AGAIN)));
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
        let begun = Instant::now();
        let flushed = self.flush();
        if flushed.is_err() {
            let rest = begun.elapsed().saturating_mul(REST).min(LONGEST_REST);
            self.engine.rest(ticks(rest) as u32);
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;
    use polycache_entry::{encode, EntryOptions, Value};

    /// A flush that fails each time would otherwise write the whole cache in each interval.
    #[test]
    fn a_disk_that_refuses_is_left_alone_for_a_while() {
        let dir = tempfile::tempdir().unwrap();
        let every = Duration::from_secs(24 * 3600);
        let store = Store::open(&Options {
            flush_every: Some(every),
            ..Options::new(dir.path())
        })
        .unwrap();
        let mut entry = Vec::new();
        encode(&Value::from("v"), &EntryOptions::default(), &mut entry).unwrap();
        let namespace = store.namespace(&["n"]).unwrap();
        store.put(&namespace, b"k", &entry).unwrap();
        let inner = store.open_inner().unwrap();
        let memory = &inner.engine.memory;
        let blocks = inner.path.join("blocks");
        let elsewhere = inner.path.join("elsewhere");
        // The first flush writes the names of the files, too: it cannot.
        std::fs::rename(&blocks, &elsewhere).unwrap();
        assert_eq!(inner.flush_due(), Some(every));
        assert_ne!(memory.load(header::FLUSH_AGAIN), 0);
        std::fs::rename(&elsewhere, &blocks).unwrap();
        inner.engine.rest(1 << 20);
        assert!(inner.flush_due().is_some());
        assert_eq!(memory.load(header::FAILED_FLUSHES), 1);
        assert_eq!(inner.engine.mark_tick(), None);
        // It is over, by time or because a program's own flush is complete.
        inner.engine.rest(0);
        assert_eq!(inner.flush_due(), None);
        assert!(inner.engine.mark_tick().is_some());
        assert_eq!(memory.load(header::FLUSH_AGAIN), 0);
    }
}
