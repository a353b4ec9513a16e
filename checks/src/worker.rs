//! The Rust worker; `workers/` has the same in the other languages.

use crate::log::{Op, Record, Writer};
use crate::namespaces;
use crate::outcome::Fallible;
use crate::value::{self, Serial};
use fastrand::Rng;
use polycache::{Cache, TypedCache, Value};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What every worker takes, in this order.
#[derive(clap::Args)]
pub struct Options {
    /// The cache's directory
    cache: PathBuf,
    /// The log to write
    log: PathBuf,
    /// The worker's number, 1 and up
    worker: u16,
    /// Seed of its choices
    seed: u64,
    /// Reads after which it ends
    reads: u64,
    /// How many keys there are
    keys: u8,
    /// Milliseconds after which a load's lease falls to others
    lease_timeout: u64,
    /// About so many operations lie between two clears
    operations_a_clear: u32,
}

/// Nanoseconds of CLOCK_MONOTONIC, which all languages can read.
pub fn now() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is valid for the call to write to.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The time before an operation. The swap keeps the processor from beginning the operation before it has
/// read the clock, which would matter for a read of a hundred nanoseconds.
fn begin() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let time = now();
    LAST.swap(time, Ordering::SeqCst);
    time
}

/// Works until it has done this many reads.
pub fn run(options: &Options) -> Fallible<()> {
    let cache = Cache::builder()
        .path(&options.cache)
        .lease_timeout(Duration::from_millis(options.lease_timeout))
        .build()?;
    let mut worker = Worker::new(&cache, &options.log, options.worker)?;
    let names: Vec<String> = (0..options.keys).map(value::key).collect();
    let mut random = Rng::with_seed(options.seed);
    let mut reads = 0;
    while reads < options.reads {
        if random.u32(..options.operations_a_clear) == 0 {
            worker.clear(random.u8(..namespaces::COUNT))?;
        }
        let key = random.u8(..options.keys);
        let name = &names[usize::from(key)];
        match random.u8(..100) {
            0..70 => {
                worker.get(key, name)?;
                reads += 1;
            }
            70..90 => worker.set(key, name)?,
            90..95 => worker.delete(key, name)?,
            _ => {
                worker.get_or_set(key, name, random.u64(..30_000))?;
                reads += 1;
            }
        }
    }
    worker.finish()
}

/// Reads every key once: what is left after all workers have ended.
pub fn read_all(cache: &Cache, log: &Path, keys: u8) -> Fallible<()> {
    let mut reader = Worker::new(cache, log, 0)?;
    for key in 0..keys {
        reader.get(key, &value::key(key))?;
    }
    reader.finish()
}

struct Worker {
    /// By namespace.
    caches: Vec<Cache>,
    /// For every second worker, which reads through a memory tier over the directory.
    typed: Option<Vec<TypedCache<String>>>,
    log: Writer,
    number: u16,
    /// Values made.
    counter: u32,
    text: String,
    scratch: String,
}

impl Worker {
    fn new(cache: &Cache, log: &Path, number: u16) -> Fallible<Worker> {
        let caches = namespaces::open(cache)?;
        let typed = || caches.iter().map(Cache::typed).collect();
        let typed = (number % 2 == 1).then(typed).transpose()?;
        Ok(Worker {
            caches,
            typed,
            log: Writer::open(log)?,
            number,
            counter: 0,
            text: String::new(),
            scratch: String::new(),
        })
    }

    fn finish(mut self) -> Fallible<()> {
        self.log.flush()?;
        self.now(Op::Finished, 0, 0, now(), 0)
    }

    fn get(&mut self, key: u8, name: &str) -> Fallible<()> {
        let begun = begin();
        let mut parse =
            |text: &str| value::parse(name, text, &mut self.scratch).ok_or_else(|| text.to_owned());
        let namespace = usize::from(namespaces::of(key));
        let read = match &self.typed {
            Some(typed) => typed[namespace]
                .get(name)
                .map(|read| read.map(|text| parse(&text))),
            None => self.caches[namespace].get_with(name.as_bytes(), |value| match value {
                Value::Text(text) => parse(&text),
                other => Err(format!("{other:?}")),
            }),
        };
        let end = now();
        match read {
            Ok(None) => self.read(Op::Read, key, 0, begun, end),
            Ok(Some(Ok(serial))) => self.read(Op::Read, key, serial, begun, end),
            Ok(Some(Err(found))) => self.foreign(key, name, &found, begun, end),
            Err(error) => self.foreign(key, name, &error.to_string(), begun, end),
        }
    }

    fn set(&mut self, key: u8, name: &str) -> Fallible<()> {
        let serial = self.make(name);
        let begun = begin();
        self.now(Op::Set, key, serial, begun, 0)?;
        self.cache(key).set(name, &self.text)?;
        self.now(Op::SetDone, key, serial, begun, now())
    }

    fn delete(&mut self, key: u8, name: &str) -> Fallible<()> {
        let begun = begin();
        self.now(Op::Delete, key, 0, begun, 0)?;
        self.cache(key).delete(name)?;
        self.now(Op::DeleteDone, key, 0, begun, now())
    }

    fn clear(&mut self, namespace: u8) -> Fallible<()> {
        let begun = begin();
        self.now(Op::Clear, namespace, 0, begun, 0)?;
        self.caches[usize::from(namespace)].clear()?;
        self.now(Op::ClearDone, namespace, 0, begun, now())
    }

    fn cache(&self, key: u8) -> &Cache {
        &self.caches[usize::from(namespaces::of(key))]
    }

    /// The loader takes `pause` nanoseconds, so that others can set and delete meanwhile.
    fn get_or_set(&mut self, key: u8, name: &str, pause: u64) -> Fallible<()> {
        let serial = self.make(name);
        let text = self.text.clone();
        let mut loaded = 0;
        let begun = begin();
        let namespace = usize::from(namespaces::of(key));
        let cache = self.caches[namespace].clone();
        let typed = self.typed.as_ref().map(|typed| typed[namespace].clone());
        let load = || -> Fallible<String> {
            loaded = begin();
            self.now(Op::Load, key, serial, loaded, 0)?;
            self.read(Op::Read, key, 0, begun, loaded)?;
            while now() < loaded + pause {
                std::hint::spin_loop();
            }
            Ok(text)
        };
        let found = match typed {
            Some(typed) => typed.get_or_set(name, load),
            None => cache.get_or_set(name, load),
        };
        let end = now();
        match found {
            Ok(_) if loaded > 0 => self.now(Op::LoadDone, key, serial, loaded, end),
            Ok(text) => match value::parse(name, &text, &mut self.scratch) {
                Some(serial) => self.read(Op::Read, key, serial, begun, end),
                None => self.foreign(key, name, &text, begun, end),
            },
            Err(error) if loaded > 0 => Err(error.into()),
            Err(error) => self.foreign(key, name, &error.to_string(), begun, end),
        }
    }

    /// Puts the next value of this worker into `text`.
    fn make(&mut self, name: &str) -> Serial {
        self.counter += 1;
        let serial = value::serial(self.number, self.counter);
        value::write(name, serial, &mut self.text);
        serial
    }

    fn now(&mut self, op: Op, key: u8, serial: Serial, begin: u64, end: u64) -> Fallible<()> {
        Ok(self.log.now(record(op, key, serial, begin, end))?)
    }

    fn read(&mut self, op: Op, key: u8, serial: Serial, begin: u64, end: u64) -> Fallible<()> {
        Ok(self.log.buffered(record(op, key, serial, begin, end))?)
    }

    fn foreign(&mut self, key: u8, name: &str, found: &str, begin: u64, end: u64) -> Fallible<()> {
        let shown: String = found.chars().take(400).collect();
        eprintln!("{name} gave, by a read begun at {begin}: {shown}");
        self.now(Op::Foreign, key, 0, begin, end)
    }
}

fn record(op: Op, key: u8, serial: Serial, begin: u64, end: u64) -> Record {
    Record {
        op,
        key,
        serial,
        begin,
        end,
    }
}
