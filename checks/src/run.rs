//! A run: a folder with a cache and logs, and worker processes.

use crate::languages::Language;
use crate::log::{self, Log};
use crate::outcome::Fallible;
use crate::process::Worker;
use crate::worker;
use polycache::Cache;
use std::path::{Path, PathBuf};
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
        let mut command = language.command()?;
        command
            .arg(self.folder.join("cache"))
            .arg(&log)
            .args([u64::from(number), self.seed + u64::from(number), reads].map(|n| n.to_string()))
            .args([u64::from(KEYS), lease_timeout.as_millis() as u64].map(|n| n.to_string()))
            .arg(self.ground.operations_a_clear.to_string());
        Worker::start(number, language, command, log)
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
