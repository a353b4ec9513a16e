//! What a store tells: of this handle, of all processes, and of the space of namespaces.

use super::remote::RemoteWord;
use super::Store;
use crate::counters::{CellOwner, Counter};
use crate::directory::identity;
use crate::error::Error;
use crate::keys;
use crate::layout::{header, RECORD_HEADER};
use crate::platform;
use crate::shared_memory::SharedMemory;
use crate::stats::{Counts, MachineStats, ProcessStats, Stats, Usage};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::fs::File;

impl Store {
    /// Counts and sizes. Walks the index: some milliseconds for the default limit.
    ///
    /// # Errors
    /// `Closed`; `Io` when the cache was replaced.
    pub fn stats(&self) -> Result<Stats, Error> {
        let inner = self.open_inner()?;
        inner.look_before_walk()?;
        inner.add_hits(0);
        let engine = &inner.engine;
        let shared = |at| engine.memory.load(at);
        let own = |counter| inner.tally.own(counter);
        let stats = Stats {
            hits: own(Counter::Hits),
            misses: own(Counter::Misses),
            writes: own(Counter::Writes),
            deletes: own(Counter::Deletes),
            invalidated_loads: own(Counter::InvalidatedLoads),
            unstored: own(Counter::Unstored),
            wait_timeouts: own(Counter::WaitTimeouts),
            entries: engine.count_values(),
            bytes: engine.geometry.index_bytes(engine.levels())
                + engine.allocated_blocks() * engine.geometry.block_size,
            limit: engine.geometry.limit,
            max_record: engine.geometry.max_record() - RECORD_HEADER as u64,
            evicted_by_age: shared(header::EVICTED_BY_AGE),
            evicted_by_conflict: shared(header::EVICTED_BY_CONFLICT),
            evicted_by_failed_put: shared(header::EVICTED_BY_FAILED_PUT),
            expired: shared(header::EXPIRED),
            reinserted: shared(header::REINSERTED),
            blocks_claimed: shared(header::BLOCKS_CLAIMED),
            floor_overflows: shared(header::FLOOR_OVERFLOWS),
            failed_flushes: shared(header::FAILED_FLUSHES),
        };
        inner.missed()?;
        Ok(stats)
    }

    /// What all processes of the machine did with the directory since it was made, and what it holds. Walks the index,
    /// as [`Store::stats`] does.
    ///
    /// # Errors
    /// `Closed`; `Io` when the cache was replaced, or the file of locks cannot be looked at.
    pub fn machine_stats(&self) -> Result<MachineStats, Error> {
        let inner = self.open_inner()?;
        let Stats {
            entries,
            bytes,
            limit,
            evicted_by_age,
            evicted_by_conflict,
            evicted_by_failed_put,
            expired,
            ..
        } = self.stats()?;
        let processes = self.processes()?;
        let counted = inner.engine.counted();
        let all = |counter| counted[counter as usize];
        let remote = |word: RemoteWord| inner.engine.memory.load(word.at());
        Ok(MachineStats {
            since: inner.engine.created(),
            hits: all(Counter::Hits).saturating_add(all(Counter::MemoryHits)),
            memory_hits: all(Counter::MemoryHits),
            misses: all(Counter::Misses),
            writes: all(Counter::Writes),
            deletes: all(Counter::Deletes),
            loads: all(Counter::Loads),
            failed_loads: all(Counter::FailedLoads),
            invalidated_loads: all(Counter::InvalidatedLoads),
            unstored: all(Counter::Unstored),
            wait_timeouts: all(Counter::WaitTimeouts),
            entries,
            bytes,
            limit,
            evicted_by_age,
            evicted_by_conflict,
            evicted_by_failed_put,
            expired,
            near_hits: remote(RemoteWord::NearHits),
            remote_hits: remote(RemoteWord::RemoteHits),
            joined_hits: remote(RemoteWord::JoinedHits),
            round_trips: remote(RemoteWord::RoundTrips),
            faults: remote(RemoteWord::Faults),
            last_fault_at: remote(RemoteWord::LastFault),
            last_open_at: remote(RemoteWord::LastOpen),
            processes,
        })
    }

    /// The processes that have the directory open, the one with the most reads first.
    fn processes(&self) -> Result<Vec<ProcessStats>, Error> {
        let mut processes: HashMap<u32, ProcessStats> = HashMap::new();
        for CellOwner {
            process,
            since,
            counted,
            ..
        } in self.living_owners()?
        {
            let found = processes.entry(process).or_insert(ProcessStats {
                pid: process,
                since,
                ..ProcessStats::default()
            });
            let of = |counter| counted[counter as usize];
            let hits = of(Counter::Hits).saturating_add(of(Counter::MemoryHits));
            found.handles += 1;
            found.since = found.since.min(since);
            for (sum, count) in [
                (&mut found.hits, hits),
                (&mut found.memory_hits, of(Counter::MemoryHits)),
                (&mut found.misses, of(Counter::Misses)),
                (&mut found.writes, of(Counter::Writes)),
                (&mut found.deletes, of(Counter::Deletes)),
                (&mut found.loads, of(Counter::Loads)),
                (&mut found.failed_loads, of(Counter::FailedLoads)),
            ] {
                *sum = sum.saturating_add(count);
            }
        }
        let mut processes: Vec<_> = processes.into_values().collect();
        processes.sort_by_key(|one| (Reverse(one.hits.saturating_add(one.misses)), one.pid));
        Ok(processes)
    }

    /// The participants that live and have a cell.
    pub(super) fn living_owners(&self) -> Result<Vec<CellOwner>, Error> {
        let Some(locks) = self.locks()? else {
            return Ok(Vec::new());
        };
        let locks = platform::descriptor(&locks);
        let lives = |id| platform::is_locked(locks, u64::from(id), 1);
        Ok(self.0.engine.cell_owners(lives))
    }

    /// The file of locks, opened once more: a lock of this handle's own shows only through another description.
    /// `None` when the path has another file by now.
    fn locks(&self) -> Result<Option<File>, Error> {
        let inner = &self.0;
        let failed = || Error::io("cannot look at the file of locks");
        let folder = inner.io.open_directory(&inner.path).map_err(failed())?;
        let locks = inner.io.open_to_read(&folder, "participants");
        let locks = locks.map_err(failed())?;
        let status = inner.io.status(&locks).map_err(failed())?;
        let is_ours = inner.identities.get(1) == Some(&identity(&status));
        Ok(is_ours.then_some(locks))
    }

    /// The `most` namespaces whose entries take the most space, the largest first. Reads every entry's key: about
    /// 0.2 µs for each entry.
    ///
    /// # Errors
    /// `Closed`; `Io` when the cache was replaced.
    pub fn usage(&self, most: usize) -> Result<Vec<Usage>, Error> {
        let inner = self.open_inner()?;
        inner.look_before_walk()?;
        let engine = &inner.engine;
        let mut found: HashMap<Vec<u8>, (u64, u64)> = HashMap::new();
        for slot in 0..engine.open_slots() {
            let Some((prefix, bytes)) = engine.usage_at(slot) else {
                continue;
            };
            let (entries, total) = found.entry(prefix).or_default();
            *entries += 1;
            *total += bytes;
        }
        inner.missed()?;
        let mut usage: Vec<_> = found
            .into_iter()
            .filter_map(|(prefix, (entries, bytes))| {
                let (namespace, _) = keys::split(&prefix)?;
                Some(Usage {
                    namespace,
                    entries,
                    bytes,
                })
            })
            .collect();
        usage.sort_by(|a, b| (b.bytes, &a.namespace).cmp(&(a.bytes, &b.namespace)));
        usage.truncate(most);
        Ok(usage)
    }

    /// Adds what the store did not see to what the machine counts, and not to this handle's own counts: hits of a
    /// memory tier, reads that other callers' loads answered, and all of a caller that counts for itself
    /// ([`Options::counts`]).
    ///
    /// [`Options::counts`]: crate::Options::counts
    pub fn add_counts(&self, counts: &Counts) {
        let Counts {
            memory_hits,
            hits,
            misses,
            writes,
            deletes,
            invalidated_loads,
            unstored,
            wait_timeouts,
        } = *counts;
        for (counter, by) in [
            (Counter::MemoryHits, memory_hits),
            (Counter::Hits, hits),
            (Counter::Misses, misses),
            (Counter::Writes, writes),
            (Counter::Deletes, deletes),
            (Counter::InvalidatedLoads, invalidated_loads),
            (Counter::Unstored, unstored),
            (Counter::WaitTimeouts, wait_timeouts),
        ] {
            if by > 0 {
                self.0.add(counter, by);
            }
        }
    }
}
