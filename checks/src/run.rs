//! A run: a folder with a cache and logs, and worker processes.

use crate::languages::Language;
use crate::log::{self, Log, Op, Record, Writer, RECORD};
use crate::outcome::Fallible;
use crate::worker::{self, now};
use polycache::Cache;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::time::Duration;

/// The ground that the workers share.
#[derive(Clone, Copy)]
pub struct Ground {
    /// Its name.
    pub name: &'static str,
    /// The cache's byte limit.
    pub limit: u64,
    /// About this many operations lie between two clears by one worker.
    pub operations_a_clear: u32,
    /// It is so small that blocks must have been recycled often.
    pub recycles: bool,
}

/// Small, so that blocks are recycled all the time. Clears are rare enough that most reads hit.
pub const CROWDED: Ground = Ground {
    name: "crowded",
    limit: 2 << 20,
    operations_a_clear: 2000,
    recycles: true,
};

/// So large that a key is written again long before its record is recycled: nothing is evicted, and a
/// single lost write shows. Clears are frequent.
pub const ROOMY: Ground = Ground {
    name: "roomy",
    limit: 64 << 20,
    operations_a_clear: 200,
    recycles: false,
};

/// Few, so that processes contend.
pub const KEYS: u8 = 64;

/// How long a worker's loads may take. With the short timeout others take over from a stopped worker;
/// with the long one they can continue only because they detect a dead worker.
pub const LEASE_TIMEOUTS: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(30)];

/// The folder and its open cache.
pub struct Run {
    folder: PathBuf,
    ground: Ground,
    seed: u64,
    last: u16,
    /// The cache of all workers.
    pub cache: Cache,
}

impl Run {
    /// Creates the folder and an empty cache, and prints the seed.
    pub fn new(name: &str, ground: Ground, seed: Option<u64>) -> Fallible<Run> {
        let seed = seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
        println!("{}: seed {seed}", ground.name);
        let folder = format!("polycache-{name}-{}-{}", ground.name, std::process::id());
        let folder = std::env::temp_dir().join(folder);
        std::fs::create_dir_all(folder.join("logs"))?;
        let cache = Cache::builder()
            .path(folder.join("cache"))
            .limit(ground.limit)
            .build()?;
        Ok(Run {
            folder,
            ground,
            seed,
            last: 0,
            cache,
        })
    }

    /// The seed of the driver's own choices.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Starts the next worker.
    pub fn start(
        &mut self,
        language: Language,
        reads: u64,
        lease_timeout: Duration,
    ) -> Fallible<Worker> {
        self.last = self.last.checked_add(1).ok_or("too many workers")?;
        let number = self.last;
        let log = log::path(&self.folder.join("logs"), number, language.name());
        let output = log.with_extension("out");
        let file = File::create(&output)?;
        let child = language
            .command()?
            .arg(self.folder.join("cache"))
            .arg(&log)
            .args([u64::from(number), self.seed + u64::from(number), reads].map(|n| n.to_string()))
            .args([u64::from(KEYS), lease_timeout.as_millis() as u64].map(|n| n.to_string()))
            .arg(self.ground.operations_a_clear.to_string())
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            .spawn()?;
        Ok(Worker {
            number,
            language,
            child,
            log,
            output,
            ended: None,
        })
    }

    /// The logs of all workers, and of a reader that reads every key after they have ended.
    pub fn read_logs(&self) -> Fallible<Vec<Log>> {
        let folder = self.folder.join("logs");
        worker::read_all(&self.cache, &log::path(&folder, 0, "driver"), KEYS)?;
        Ok(log::read_all(&folder)?)
    }

    /// Bytes of disk space that the cache's files take.
    pub fn cache_size(&self) -> Fallible<u64> {
        disk_space(&self.folder.join("cache"))
    }

    /// Removes the folder of a sound run; prints where the folder of any other is.
    pub fn end(self, sound: bool) -> Fallible<()> {
        self.cache.close();
        if sound {
            std::fs::remove_dir_all(&self.folder)?;
        } else {
            println!("cache and logs are kept in {}", self.folder.display());
        }
        Ok(())
    }
}

fn disk_space(path: &Path) -> Fallible<u64> {
    use std::os::unix::fs::MetadataExt;
    let found = std::fs::metadata(path)?;
    let mut bytes = found.blocks() * 512;
    if found.is_dir() {
        for file in std::fs::read_dir(path)? {
            bytes += disk_space(&file?.path())?;
        }
    }
    Ok(bytes)
}

/// A worker process; killed when it is dropped.
pub struct Worker {
    /// Its number in values and logs.
    pub number: u16,
    /// Its language.
    pub language: Language,
    child: Child,
    log: PathBuf,
    output: PathBuf,
    ended: Option<ExitStatus>,
}

impl Worker {
    /// How it ended, if it has.
    pub fn ended(&mut self) -> Fallible<Option<ExitStatus>> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait()?;
        }
        Ok(self.ended)
    }

    /// Records that it has logged so far.
    pub fn logged(&self) -> u64 {
        std::fs::metadata(&self.log).map_or(0, |file| file.len() / RECORD as u64)
    }

    /// Kills it with SIGKILL, waits until the kernel has removed it, and logs that. False when it had
    /// already ended.
    pub fn kill(&mut self) -> Fallible<bool> {
        if self.ended()?.is_some() {
            return Ok(false);
        }
        self.child.kill()?;
        self.ended = Some(self.child.wait()?);
        if self.ended.is_some_and(|status| status.code().is_some()) {
            return Ok(false);
        }
        Writer::open(&self.log)?.now(Record {
            op: Op::Died,
            key: 0,
            serial: 0,
            begin: now(),
            end: 0,
        })?;
        Ok(true)
    }

    /// Stops it with SIGSTOP.
    pub fn stop(&self) {
        self.signal(libc::SIGSTOP);
    }

    /// Lets it continue.
    pub fn resume(&self) {
        self.signal(libc::SIGCONT);
    }

    /// Lowers its priority, in favour of workers that are starting.
    pub fn step_back(&self) {
        // SAFETY: the call takes no pointers. The process is our child and has not been waited for, so
        // its id is still its own.
        unsafe { libc::setpriority(libc::PRIO_PROCESS, self.child.id(), 10) };
    }

    fn signal(&self, signal: libc::c_int) {
        // SAFETY: the call takes no pointers. A child that has not been waited for keeps its id.
        unsafe { libc::kill(self.child.id() as libc::pid_t, signal) };
    }

    /// The last lines that it printed.
    pub fn output(&self) -> String {
        let bytes = std::fs::read(&self.output).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(12)..].join("\n          ")
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if self.ended.is_none() {
            // It may have ended already.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
