//! A history of one key, written down operation by operation.

use crate::judge::{judge, Judged, Kind};
use crate::log::{Log, Op, Record};
use crate::value;
use std::collections::BTreeMap;
use std::ops::Range;

/// The key of all histories.
const KEY: u8 = 7;

/// The key's namespace, one that encloses all, and one beside the key's.
pub const OWN: u8 = 3;
pub const ROOT: u8 = 0;
pub const OTHER: u8 = 1;

/// Logs by worker. Values are named by a small number; worker 1 makes those below 100, worker 2 those
/// below 200 and so on.
#[derive(Default)]
pub struct Hand {
    logs: BTreeMap<u16, Vec<Record>>,
}

impl Hand {
    /// Nothing happened yet.
    pub fn new() -> Hand {
        Hand::default()
    }

    /// A set that was acknowledged.
    pub fn set(self, worker: u16, value: u32, at: Range<u64>) -> Hand {
        self.add(worker, Op::Set, value, at.start..0)
            .add(worker, Op::SetDone, value, at)
    }

    /// A set whose worker was killed before its acknowledgement.
    pub fn set_and_killed(self, worker: u16, value: u32, at: Range<u64>) -> Hand {
        self.add(worker, Op::Set, value, at.start..0)
            .add(worker, Op::Died, 0, at.end..0)
    }

    /// A delete that was acknowledged.
    pub fn delete(self, worker: u16, at: Range<u64>) -> Hand {
        self.add(worker, Op::Delete, 0, at.start..0)
            .add(worker, Op::DeleteDone, 0, at)
    }

    /// A delete whose worker was killed before its acknowledgement.
    pub fn delete_and_killed(self, worker: u16, at: Range<u64>) -> Hand {
        self.add(worker, Op::Delete, 0, at.start..0)
            .add(worker, Op::Died, 0, at.end..0)
    }

    /// A clear of a namespace that was acknowledged.
    pub fn clear(self, worker: u16, namespace: u8, at: Range<u64>) -> Hand {
        self.add_to(namespace, worker, Op::Clear, 0, at.start..0)
            .add_to(namespace, worker, Op::ClearDone, 0, at)
    }

    /// A clear whose worker was killed before its acknowledgement.
    pub fn clear_and_killed(self, worker: u16, namespace: u8, at: Range<u64>) -> Hand {
        self.add_to(namespace, worker, Op::Clear, 0, at.start..0)
            .add(worker, Op::Died, 0, at.end..0)
    }

    /// A miss at `begin`, then a load that made the value.
    pub fn load(self, worker: u16, value: u32, begin: u64, at: Range<u64>) -> Hand {
        self.add(worker, Op::Load, value, at.start..0)
            .add(worker, Op::Read, 0, begin..at.start)
            .add(worker, Op::LoadDone, value, at)
    }

    /// A read that returned a value.
    pub fn read(self, worker: u16, value: u32, at: Range<u64>) -> Hand {
        self.add(worker, Op::Read, value, at)
    }

    /// A read that missed.
    pub fn miss(self, worker: u16, at: Range<u64>) -> Hand {
        self.add(worker, Op::Read, 0, at)
    }

    /// A read that returned something other than a value of the key.
    pub fn foreign(self, worker: u16, at: Range<u64>) -> Hand {
        self.add(worker, Op::Foreign, 0, at)
    }

    fn add(self, worker: u16, op: Op, value: u32, at: Range<u64>) -> Hand {
        self.add_to(KEY, worker, op, value, at)
    }

    fn add_to(mut self, key: u8, worker: u16, op: Op, value: u32, at: Range<u64>) -> Hand {
        let serial = match value {
            0 => 0,
            _ => value::serial(1 + (value / 100) as u16, value),
        };
        self.logs.entry(worker).or_default().push(Record {
            op,
            key,
            serial,
            begin: at.start,
            end: at.end,
        });
        self
    }

    /// The verdict.
    pub fn judged(&self) -> Judged {
        let logs: Vec<Log> = self
            .logs
            .iter()
            .map(|(worker, records)| Log::of(*worker, records))
            .collect();
        judge(&logs)
    }

    /// The kinds of violations that are found.
    pub fn found(&self) -> Vec<Kind> {
        let judged = self.judged();
        judged.violations.iter().map(|found| found.kind).collect()
    }

    /// How many evictions the misses prove.
    pub fn evictions(&self) -> u64 {
        self.judged().needed_evictions
    }
}
