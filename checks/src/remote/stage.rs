//! What a run takes place on: a server or a Cluster, two hosts, and their workers.

use super::history::HOSTS;
use super::topology::Servers;
use super::KEYS;
use crate::languages::Language;
use crate::log::{self, Log, Op, Record, Writer, RECORD};
use crate::outcome::Fallible;
use crate::process::Worker;
use crate::worker::now;
use polycache::Cache;
use polycache_check_proxy::{Names, Proxy};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bytes of a host's directory: nothing is evicted from it.
const LIMIT: u64 = 64 << 20;

/// About so many operations of a worker lie between two clears: copies that should be gone must not be removed by one.
const OPERATIONS_A_CLEAR: u32 = 20_000;

/// How old a load may be before others load beside it.
const LEASE_TIMEOUT: Duration = Duration::from_secs(5);

/// A directory, and its own way to the servers.
pub struct Host {
    directory: PathBuf,
    /// One to each server, where there may be trouble.
    pub proxies: Vec<Proxy>,
    /// How its workers call the servers.
    remote: String,
}

/// All of it.
pub struct Stage {
    folder: PathBuf,
    /// The servers.
    pub servers: Servers,
    /// The hosts.
    pub hosts: Vec<Host>,
    /// What the workers are told.
    pub setting: Setting,
    /// The workers that run.
    pub workers: Vec<Worker>,
    /// The log of what the driver does.
    log: Writer,
    last: u16,
    counted: Vec<Counted>,
}

/// What the workers are told.
#[derive(Clone, Copy)]
pub struct Setting {
    /// The option `max_staleness`.
    pub staleness: Duration,
    /// The option `timeout`.
    pub timeout: Duration,
    /// Their sleep after each operation.
    pub pace: Duration,
    /// Of the workers' choices.
    pub seed: u64,
}

/// A log that is read while it is written.
struct Counted {
    path: PathBuf,
    host: usize,
    read: u64,
    hits: u64,
}

impl Stage {
    /// Two empty hosts; with `proxies` each has its own way to the servers.
    pub fn new(
        folder: &Path,
        servers: Servers,
        setting: Setting,
        proxies: bool,
    ) -> Fallible<Stage> {
        let logs = folder.join("logs");
        std::fs::create_dir_all(&logs)?;
        File::create(folder.join("go-on"))?;
        let mut log = Writer::open(&log::path(&logs, 0, "driver"))?;
        let bound = setting.staleness.as_nanos() as u64;
        log.now(record(Op::Bound, 0, bound, 0))?;
        let mut hosts = Vec::new();
        for number in 0..HOSTS {
            let directory = folder.join(format!("host-{number}"));
            // The first to open it decides the limit.
            Cache::builder().path(&directory).limit(LIMIT).build()?;
            let ports = servers.ports();
            let proxies = match proxies {
                true => ways(&ports)?,
                false => Vec::new(),
            };
            let by: Vec<u16> = proxies.iter().map(|proxy| proxy.port).collect();
            let remote = servers.name(if by.is_empty() { &ports } else { &by });
            hosts.push(Host {
                directory,
                proxies,
                remote,
            });
        }
        Ok(Stage {
            folder: folder.to_owned(),
            servers,
            hosts,
            setting,
            workers: Vec::new(),
            log,
            last: 0,
            counted: Vec::new(),
        })
    }

    /// Starts one more worker on a host.
    pub fn start(&mut self, language: Language, host: usize) -> Fallible<()> {
        // Its number tells its host.
        self.last += 1;
        while usize::from(self.last) % HOSTS != host {
            self.last += 1;
        }
        let number = self.last;
        let log = log::path(&self.folder.join("logs"), number, language.name());
        let at = &self.hosts[host];
        let mut command = language.command()?;
        let seed = self.setting.seed + u64::from(number);
        command
            .arg(&at.directory)
            .arg(&log)
            // It works for as long as the file is there.
            .args([u64::from(number), seed, 0, u64::from(KEYS)].map(|n| n.to_string()))
            .arg(LEASE_TIMEOUT.as_millis().to_string())
            .arg(OPERATIONS_A_CLEAR.to_string())
            .arg(&at.remote)
            .arg(self.setting.timeout.as_millis().to_string())
            .arg(self.setting.staleness.as_millis().to_string())
            .arg(self.folder.join("go-on"))
            .arg(self.setting.pace.as_micros().to_string());
        self.counted.push(Counted {
            path: log.clone(),
            host,
            read: 0,
            hits: 0,
        });
        let worker = Worker::start(number, language, command, log)?;
        self.workers.push(worker);
        Ok(())
    }

    /// Workers end from now on.
    pub fn end(&self) -> Fallible<()> {
        Ok(std::fs::remove_file(self.folder.join("go-on"))?)
    }

    /// The places of a host's workers in `workers`.
    pub fn of_host(&self, host: usize) -> Vec<usize> {
        let all = self.workers.iter().enumerate();
        let mine = all.filter(|(_, worker)| usize::from(worker.number) % HOSTS == host);
        mine.map(|(place, _)| place).collect()
    }

    /// Reads that have found a value so far, on each host.
    pub fn hits(&mut self) -> [u64; HOSTS] {
        let mut hits = [0; HOSTS];
        for counted in &mut self.counted {
            hits[counted.host] += counted.count();
        }
        hits
    }

    /// Logs what the driver did.
    pub fn note(&mut self, op: Op, key: u8, begin: u64) -> Fallible<()> {
        Ok(self.log.now(record(op, key, begin, now()))?)
    }

    /// A log for another writer.
    pub fn log_of(&self, number: u16, name: &str) -> Fallible<Writer> {
        let path = log::path(&self.folder.join("logs"), number, name);
        Ok(Writer::open(&path)?)
    }

    /// All logs.
    pub fn logs(&self) -> Fallible<Vec<Log>> {
        Ok(log::read_all(&self.folder.join("logs"))?)
    }
}

/// A proxy to each of these servers. What they tell of each other leads to proxies, too.
fn ways(ports: &[u16]) -> Fallible<Vec<Proxy>> {
    let each = ports.iter().map(|port| Proxy::new(*port));
    let proxies = each.collect::<Result<Vec<_>, _>>()?;
    let pairs = ports.iter().zip(&proxies);
    let names = Names::new(pairs.map(|(port, proxy)| (*port, proxy.port)))?;
    proxies.iter().for_each(|proxy| proxy.rename(&names));
    Ok(proxies)
}

impl Counted {
    fn count(&mut self) -> u64 {
        // It is not there before the worker has begun.
        self.count_more().unwrap_or(self.hits)
    }

    fn count_more(&mut self) -> std::io::Result<u64> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.read))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        for record in bytes.chunks_exact(RECORD) {
            let is_hit =
                record[24] == Op::Read as u8 && record[16..24].iter().any(|byte| *byte > 0);
            self.hits += u64::from(is_hit);
            self.read += RECORD as u64;
        }
        Ok(self.hits)
    }
}

fn record(op: Op, key: u8, begin: u64, end: u64) -> Record {
    Record {
        op,
        key,
        serial: 0,
        begin,
        end,
    }
}
