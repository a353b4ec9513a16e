//! The Rust worker; `workers/` has the same in the other languages.

use crate::log::{Op, Record, Writer};
use crate::namespaces;
use crate::outcome::Fallible;
use crate::reached::reached;
use crate::value::{self, Serial};
use fastrand::Rng;
use polycache::{Cache, Error, TypedCache, Value};
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
    /// For `make check-remote`: a URL, or `sentinel:port,port` or `cluster:port,port`
    remote: Option<String>,
    /// Milliseconds that the server may take
    #[arg(default_value_t = 250)]
    timeout: u64,
    /// Milliseconds that copies may be old
    #[arg(default_value_t = 1000)]
    staleness: u64,
    /// It works on while this file is there
    go_on: Option<PathBuf>,
    /// Microseconds to sleep after each operation
    #[arg(default_value_t = 0)]
    pace: u64,
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

/// Of 100 operations: where sets begin after gets, then deletes, then loads.
const OF_A_HOST: [u8; 3] = [70, 90, 95];
/// A write is a round trip, and makes a read of each host one.
const OF_A_SERVER: [u8; 3] = [85, 95, 97];

/// Over a server, so many keys are in the middle of things: each is read and written thousands of times a second.
const HOT: u8 = 16;
/// As many others get so many of 100 operations, nine of ten of them reads: what one host writes there, the other one is
/// about to read.
const WARM: u8 = 12;
/// All keys together get so many: long enough without one, for a copy that should be gone to show.
const COLD: u8 = 3;
/// And so many are written by both hosts.
const SHARED: u8 = 8;

/// After a write that the server did not answer.
const BREATH: Duration = Duration::from_millis(5);

/// Works until it has done this many reads; over a server, until as many have found a value.
pub fn run(options: &Options) -> Fallible<()> {
    let mut cache = Cache::builder()
        .path(&options.cache)
        .lease_timeout(Duration::from_millis(options.lease_timeout));
    if let Some(remote) = &options.remote {
        cache = cache
            .remote(reached(remote)?)
            .timeout(Duration::from_millis(options.timeout))
            .max_staleness(Duration::from_millis(options.staleness));
    }
    let cache = cache.build()?;
    let mut worker = Worker::new(&cache, &options.log, options.worker)?;
    worker.remote = options.remote.is_some();
    let [set, delete, load] = match worker.remote {
        true => OF_A_SERVER,
        false => OF_A_HOST,
    };
    let names: Vec<String> = (0..options.keys).map(value::key).collect();
    let mut random = Rng::with_seed(options.seed);
    let (mut reads, mut operations) = (0, 0u32);
    let mut goes_on = true;
    while reads < options.reads || goes_on {
        if operations % 256 == 0 {
            goes_on = options.go_on.as_ref().is_some_and(|file| file.exists());
        }
        operations = operations.wrapping_add(1);
        if options.pace > 0 {
            std::thread::sleep(Duration::from_micros(options.pace));
        }
        if random.u32(..options.operations_a_clear) == 0 {
            worker.clear(random.u8(..namespaces::COUNT))?;
        }
        let key = match random.u8(..100) {
            part if !worker.remote || part < COLD => random.u8(..options.keys),
            part if part < COLD + WARM => random.u8(HOT..2 * HOT),
            _ => random.u8(..HOT),
        };
        let name = &names[usize::from(key)];
        let dice = match worker.remote && (HOT..2 * HOT).contains(&key) && random.u8(..10) > 0 {
            true => 0,
            false => random.u8(..100),
        };
        let read = if dice < set || worker.only_reads(key) {
            worker.get(key, name)?
        } else if dice < delete {
            worker.set(key, name)?;
            continue;
        } else if dice < load {
            worker.delete(key, name)?;
            continue;
        } else {
            worker.get_or_set(key, name, random.u64(..30_000))?
        };
        reads += u64::from(read || !worker.remote);
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
    /// Its cache has a server, which may be away.
    remote: bool,
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
            remote: false,
            counter: 0,
            text: String::new(),
            scratch: String::new(),
        })
    }

    fn finish(mut self) -> Fallible<()> {
        self.log.flush()?;
        let stats = self.caches.first().and_then(Cache::remote_stats);
        let stats = stats.unwrap_or_default();
        self.now(Op::Finished, 0, stats.remote_hits, now(), stats.near_hits)
    }

    /// Whether a value was found.
    fn get(&mut self, key: u8, name: &str) -> Fallible<bool> {
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
            Ok(None) => self.read(Op::Read, key, 0, begun, end)?,
            Ok(Some(Ok(serial))) => {
                self.read(Op::Read, key, serial, begun, end)?;
                return Ok(true);
            }
            Ok(Some(Err(found))) => self.foreign(key, name, &found, begun, end)?,
            Err(error) => self.failed(key, name, &error, begun, end)?,
        }
        Ok(false)
    }

    fn set(&mut self, key: u8, name: &str) -> Fallible<()> {
        let serial = self.make(name);
        let begun = begin();
        self.now(Op::Set, key, serial, begun, 0)?;
        match self.cache(key).set(name, &self.text) {
            Ok(()) => self.now(Op::SetDone, key, serial, begun, now()),
            Err(error) => self.unacknowledged(error),
        }
    }

    fn delete(&mut self, key: u8, name: &str) -> Fallible<()> {
        let begun = begin();
        self.now(Op::Delete, key, 0, begun, 0)?;
        match self.cache(key).delete(name) {
            Ok(_) => self.now(Op::DeleteDone, key, 0, begun, now()),
            Err(error) => self.unacknowledged(error),
        }
    }

    fn clear(&mut self, namespace: u8) -> Fallible<()> {
        let begun = begin();
        self.now(Op::Clear, namespace, 0, begun, 0)?;
        match self.caches[usize::from(namespace)].clear() {
            Ok(()) => self.now(Op::ClearDone, namespace, 0, begun, now()),
            Err(error) => self.unacknowledged(error),
        }
    }

    /// Most keys are written by one host alone: what a host writes itself is never old there.
    fn only_reads(&self, key: u8) -> bool {
        self.remote && key >= SHARED && u16::from(key / 4 % 2) != self.number % 2
    }

    /// A write that failed: where there is a server, it may happen later, or not.
    fn unacknowledged(&self, error: Error) -> Fallible<()> {
        match error {
            Error::RemoteUnavailable(_) if self.remote => {
                std::thread::sleep(BREATH);
                Ok(())
            }
            error => Err(error.into()),
        }
    }

    fn cache(&self, key: u8) -> &Cache {
        &self.caches[usize::from(namespaces::of(key))]
    }

    /// The loader takes `pause` nanoseconds, so that others can set and delete meanwhile. Whether a value was there.
    fn get_or_set(&mut self, key: u8, name: &str, pause: u64) -> Fallible<bool> {
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
            Ok(_) if loaded > 0 => self.now(Op::LoadDone, key, serial, loaded, end)?,
            Ok(text) => match value::parse(name, &text, &mut self.scratch) {
                Some(serial) => {
                    self.read(Op::Read, key, serial, begun, end)?;
                    return Ok(true);
                }
                None => self.foreign(key, name, &text, begun, end)?,
            },
            Err(error) if loaded > 0 => return Err(error.into()),
            Err(error) => self.failed(key, name, &error, begun, end)?,
        }
        Ok(false)
    }

    /// A read that failed.
    fn failed(&mut self, key: u8, name: &str, error: &Error, begin: u64, end: u64) -> Fallible<()> {
        match error {
            Error::MalformedEntry(_) if self.remote => self.read(Op::Malformed, key, 0, begin, end),
            error => self.foreign(key, name, &error.to_string(), begin, end),
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
