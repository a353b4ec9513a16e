//! A worker's log, 32 bytes per operation: the same in every language, little-endian.
//!
//! ```text
//!  0 begin u64 | 8 end u64 | 16 counter u32, worker u32 of the value | 24 operation u8, key u8, 6 zero
//! ```
//!
//! Times are CLOCK_MONOTONIC in nanoseconds. A write is logged twice, before it begins and after it
//! was acknowledged, each by one write(2): a SIGKILL loses none of it. Reads are buffered.

use crate::value::Serial;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Bytes of a record.
pub const RECORD: usize = 32;

/// Bytes of reads that are buffered before they are written.
const BUFFER: usize = 128 * RECORD;

/// What a record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Op {
    /// A read returned this value; serial 0 is a miss. A load begins with a miss.
    Read = 1,
    /// A set begins, `end` is 0.
    Set = 2,
    /// The set was acknowledged.
    SetDone = 3,
    /// A delete begins.
    Delete = 4,
    /// The delete was acknowledged.
    DeleteDone = 5,
    /// A loader begins to make this value.
    Load = 6,
    /// Its caller has the value, and does not know whether it was stored.
    LoadDone = 7,
    /// A read returned a value that was never stored under this key, or an error.
    Foreign = 8,
    /// The worker finished. Over a server `end` is how many reads a copy answered, and the value how many the
    /// server did.
    Finished = 9,
    /// The worker was killed and has ended; written by the driver.
    Died = 10,
    /// A clear begins; the namespace's number is in place of the key.
    Clear = 11,
    /// The clear was acknowledged.
    ClearDone = 12,
    /// A read found something on the server that is no value of ours.
    Malformed = 13,
    /// Everything was removed by another program or by a server's end; written by the driver, as what follows.
    Flush = 14,
    /// Writes of this time may have been lost, or not, by a failover.
    Loss = 15,
    /// Reads that began in this time are not judged.
    Unsteady = 16,
    /// This trouble was made; its number is in place of the key.
    Trouble = 17,
    /// The run's bound, `max_staleness`, in place of the begin.
    Bound = 18,
    /// Another program begins to overwrite the key with what is no value of ours. A `DeleteDone` follows.
    Garbage = 19,
}

impl Op {
    fn from(byte: u8) -> Option<Op> {
        use Op::*;
        [
            Read, Set, SetDone, Delete, DeleteDone, Load, LoadDone, Foreign, Finished, Died, Clear,
            ClearDone, Malformed, Flush, Loss, Unsteady, Trouble, Bound, Garbage,
        ]
        .into_iter()
        .find(|op| *op as u8 == byte)
    }
}

/// One line of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// What happened.
    pub op: Op,
    /// The key; for a clear, the namespace.
    pub key: u8,
    /// The value.
    pub serial: Serial,
    /// When it began.
    pub begin: u64,
    /// When it ended; 0 where only the beginning is logged.
    pub end: u64,
}

impl Record {
    fn encode(self) -> [u8; RECORD] {
        let mut bytes = [0; RECORD];
        bytes[..8].copy_from_slice(&self.begin.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.end.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.serial.to_le_bytes());
        bytes[24] = self.op as u8;
        bytes[25] = self.key;
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Record> {
        let word = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        Some(Record {
            begin: word(0)?,
            end: word(8)?,
            serial: word(16)?,
            op: Op::from(*bytes.get(24)?)?,
            key: *bytes.get(25)?,
        })
    }
}

/// A log being written.
pub struct Writer {
    file: File,
    reads: Vec<u8>,
}

impl Writer {
    /// Appends to the log of this path.
    pub fn open(path: &Path) -> io::Result<Writer> {
        Ok(Writer {
            file: OpenOptions::new().create(true).append(true).open(path)?,
            reads: Vec::with_capacity(BUFFER),
        })
    }

    /// Logs what may be lost if the process is killed.
    pub fn buffered(&mut self, record: Record) -> io::Result<()> {
        self.reads.extend_from_slice(&record.encode());
        if self.reads.len() >= BUFFER {
            self.flush()?;
        }
        Ok(())
    }

    /// Logs what must not be lost.
    pub fn now(&mut self, record: Record) -> io::Result<()> {
        self.file.write_all(&record.encode())
    }

    /// Writes the buffered records.
    pub fn flush(&mut self) -> io::Result<()> {
        self.file.write_all(&self.reads)?;
        self.reads.clear();
        Ok(())
    }
}

/// One worker's log, as read back.
pub struct Log {
    /// The worker's number.
    pub worker: u16,
    /// Its language.
    pub language: String,
    /// Its bytes; at least one whole record.
    bytes: Vec<u8>,
}

impl Log {
    /// The file name of a worker's log.
    pub fn file_name(worker: u16, language: &str) -> String {
        format!("{worker}.{language}.log")
    }

    /// A log of these records.
    #[cfg(test)]
    pub fn of(worker: u16, records: &[Record]) -> Log {
        let bytes = records.iter().flat_map(|record| record.encode()).collect();
        Log {
            worker,
            language: "rust".into(),
            bytes,
        }
    }

    /// Its records, in order; a kill may have cut off the last one.
    pub fn records(&self) -> impl Iterator<Item = Record> + '_ {
        self.bytes.chunks_exact(RECORD).map(|bytes| {
            Record::decode(bytes).unwrap_or_else(|| {
                panic!("the log of worker {} is damaged: {bytes:?}", self.worker)
            })
        })
    }
}

/// The logs of a folder, by worker.
pub fn read_all(folder: &Path) -> io::Result<Vec<Log>> {
    let mut logs = Vec::new();
    for file in std::fs::read_dir(folder)? {
        let path = file?.path();
        if let Some((worker, language)) = parse_name(&path) {
            let bytes = std::fs::read(&path)?;
            logs.push(Log {
                worker,
                language,
                bytes,
            });
        }
    }
    logs.sort_by_key(|log| log.worker);
    Ok(logs)
}

fn parse_name(path: &Path) -> Option<(u16, String)> {
    let name = path.file_name()?.to_str()?.strip_suffix(".log")?;
    let (worker, language) = name.split_once('.')?;
    Some((worker.parse().ok()?, language.to_owned()))
}

/// The path of a worker's log.
pub fn path(folder: &Path, worker: u16, language: &str) -> PathBuf {
    folder.join(Log::file_name(worker, language))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_what_every_language_writes() {
        let record = Record {
            op: Op::SetDone,
            key: 63,
            serial: crate::value::serial(0x0102, 0x0304_0506),
            begin: 0x1122_3344_5566_7788,
            end: 1,
        };
        let bytes = record.encode();
        assert_eq!(bytes[..8], [0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11]);
        assert_eq!(
            bytes[16..],
            [6, 5, 4, 3, 2, 1, 0, 0, 3, 63, 0, 0, 0, 0, 0, 0]
        );
        assert_eq!(Record::decode(&bytes), Some(record));
    }
}
