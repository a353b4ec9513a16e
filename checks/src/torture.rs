//! `make torture`: the same workers, killed and stopped at random.

use crate::judge::judge;
use crate::languages::Language;
use crate::namespaces;
use crate::outcome::{recycled, Fallible, Outcome, RECYCLED};
use crate::process::Worker;
use crate::progress::Progress;
use crate::run::{Run, CROWDED, KEYS, LEASE_TIMEOUTS};
use crate::value;
use fastrand::Rng;
use polycache::bindings::Bindings;
use polycache::LoadStep;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Records that a worker must have logged before it is killed: it is then working, not starting.
const AT_WORK: u64 = 64;

/// Longest time between two kills, and longest stop.
const PAUSE: Duration = Duration::from_millis(20);
const STOP: Duration = Duration::from_millis(700);

/// Number of workers that may fail by themselves before the run gives up.
const ENOUGH: usize = 3;

/// What may be asked of it.
#[derive(clap::Args)]
pub struct Options {
    /// Workers to kill
    #[arg(long, default_value_t = 25)]
    kills: u64,
    /// Languages that take part; those that are missing are named
    #[arg(long, value_delimiter = ',', default_values = Language::ALL.map(Language::name))]
    languages: Vec<Language>,
    /// Workers at a time
    #[arg(long, default_value_t = 6)]
    workers: usize,
    /// Seed of which worker is killed when; the order of events is the machine's
    #[arg(long)]
    seed: Option<u64>,
}

/// True when nothing was found.
pub fn run(options: &Options) -> Fallible<bool> {
    let mut outcome = Outcome::default();
    let mut present = Vec::new();
    for language in &options.languages {
        match language.missing() {
            None => present.push(*language),
            Some(why) => outcome.skip(&format!("{} workers", language.name()), &why),
        }
    }
    let mut run = Run::new("torture", CROWDED, options.seed)?;
    let before = run.cache.stats()?;
    let started = Instant::now();
    let mut torture = Torture {
        random: Rng::with_seed(run.seed()),
        run: &mut run,
        languages: present,
        workers: Vec::new(),
        started: 0,
        kills: 0,
        stops: 0,
        largest: 0,
        failures: Vec::new(),
    };
    let in_time = torture.go(options)?;
    let Torture {
        kills,
        stops,
        largest,
        failures,
        ..
    } = torture;
    let seconds = started.elapsed().as_secs_f64();
    outcome.test(
        "workers were killed",
        kills >= options.kills && in_time,
        &format!("{kills} kills and {stops} stops in {seconds:.1} s"),
    );
    outcome.test(
        "the others went on",
        failures.is_empty(),
        &format!("{} failed {}", failures.len(), failures.join("\n        ")),
    );
    let after = run.cache.stats()?;
    let logs = run.read_logs()?;
    let judged = judge(&logs);
    let in_write = judged
        .history
        .work
        .values()
        .filter(|work| work.killed_in_write);
    let in_write = in_write.count();
    outcome.test(
        "kills in the middle of a write",
        in_write > 0 || options.kills < 10,
        &format!("{in_write} of {kills}"),
    );
    outcome.judged(&logs, &judged, Some((before, after, CROWDED)));
    if let Err(error) = usable(&mut outcome, &run) {
        outcome.test(
            "the cache can be used afterwards",
            false,
            &error.to_string(),
        );
    }
    outcome.test(
        "the directory stayed within its limit",
        largest <= CROWDED.limit,
        &format!("{largest} of {} bytes", CROWDED.limit),
    );
    run.end(outcome.failed() == 0)?;
    Ok(outcome.finish())
}

/// What a new process finds afterwards.
fn usable(outcome: &mut Outcome, run: &Run) -> Fallible<()> {
    let report = run.cache.check()?;
    outcome.test(
        "no entry damaged",
        report.damaged.is_empty(),
        &format!("{} whole {}", report.whole, report.damaged.join("; ")),
    );
    let mut stuck = Vec::new();
    let caches = namespaces::open(&run.cache)?;
    for number in 0..KEYS {
        let (key, cache) = (
            value::key(number),
            &caches[usize::from(namespaces::of(number))],
        );
        let mut loading = cache.loading();
        match cache.step(key.as_bytes(), &mut loading, |_| ())? {
            LoadStep::Hit(..) => {}
            LoadStep::Load => cache.abandon(key.as_bytes(), &mut loading),
            LoadStep::Wait(_) | LoadStep::TimedOut => stuck.push(key.clone()),
        }
        cache.delete(&key)?;
        let loaded: String =
            cache.get_or_set(&key, || Ok::<_, std::io::Error>("loaded".to_owned()))?;
        let stored = cache.get::<String>(&key)?;
        cache.set(&key, "set")?;
        let set = cache.get::<String>(&key)?;
        if (loaded.as_str(), stored.as_deref(), set.as_deref())
            != ("loaded", Some("loaded"), Some("set"))
        {
            stuck.push(format!("{key}: {stored:?}, {set:?}"));
        }
    }
    outcome.test(
        "every key can be loaded and stored at once",
        stuck.is_empty(),
        &format!("{} cannot {}", stuck.len(), stuck.join(", ")),
    );
    Ok(())
}

struct Torture<'a> {
    run: &'a mut Run,
    random: Rng,
    languages: Vec<Language>,
    workers: Vec<Victim>,
    started: usize,
    kills: u64,
    stops: u64,
    /// The most disk space that the directory was seen to take.
    largest: u64,
    failures: Vec<String>,
}

struct Victim {
    worker: Worker,
    at_work: bool,
    /// Stopped until this time.
    stopped: Option<Instant>,
}

impl Torture<'_> {
    /// Kills until there were enough kills and blocks were recycled often, which takes longer on a busy
    /// machine, then kills the rest. False when that took too long.
    fn go(&mut self, options: &Options) -> Fallible<bool> {
        let progress = Progress::new();
        // No machine is that slow: this only bounds a hang.
        let deadline = Instant::now() + Duration::from_secs(120 + options.kills);
        while self.failures.len() < ENOUGH
            && (self.kills < options.kills || recycled(&self.run.cache.stats()?) < RECYCLED)
        {
            if Instant::now() > deadline {
                return Ok(false);
            }
            while self.workers.len() < options.workers {
                self.start()?;
            }
            sleep(self.upto(PAUSE));
            self.look()?;
            self.stop_one();
            self.kill_one()?;
            progress.show(&format!(
                "torture: {} of {} kills",
                self.kills, options.kills
            ));
        }
        // The rest at once: no process is left to clean up after them.
        for mut victim in self.workers.drain(..) {
            self.kills += u64::from(victim.worker.kill()?);
        }
        Ok(true)
    }

    fn start(&mut self) -> Fallible<()> {
        let language = self.languages[self.started % self.languages.len()];
        self.started += 1;
        let reads = 20_000 * language.share();
        let lease_timeout = LEASE_TIMEOUTS[self.random.usize(..LEASE_TIMEOUTS.len())];
        self.workers.push(Victim {
            worker: self.run.start(language, reads, lease_timeout)?,
            at_work: false,
            stopped: None,
        });
        Ok(())
    }

    /// Finds workers that are running, continues those stopped long enough and removes those that ended.
    fn look(&mut self) -> Fallible<()> {
        let now = Instant::now();
        for victim in &mut self.workers {
            if !victim.at_work && victim.worker.logged() >= AT_WORK {
                victim.at_work = true;
                victim.worker.step_back();
            }
            if victim.stopped.is_some_and(|until| until <= now) {
                victim.worker.resume();
                victim.stopped = None;
            }
            if let Some(status) = victim.worker.ended()? {
                if !status.success() {
                    self.failures.push(format!(
                        "worker {} ({}): {status}\n          {}",
                        victim.worker.number,
                        victim.worker.language.name(),
                        victim.worker.output()
                    ));
                }
            }
        }
        let mut running = Vec::new();
        for mut victim in self.workers.drain(..) {
            if victim.worker.ended()?.is_none() {
                running.push(victim);
            }
        }
        self.workers = running;
        self.largest = self.largest.max(self.run.cache_size()?);
        Ok(())
    }

    fn stop_one(&mut self) {
        let until = Instant::now() + self.upto(STOP);
        if self.random.u8(..4) == 0 {
            if let Some(victim) = self.choose().filter(|victim| victim.stopped.is_none()) {
                victim.worker.stop();
                victim.stopped = Some(until);
                self.stops += 1;
            }
        }
    }

    fn kill_one(&mut self) -> Fallible<()> {
        let Some(victim) = self.choose() else {
            return Ok(());
        };
        let number = victim.worker.number;
        if victim.worker.kill()? {
            self.kills += 1;
            self.workers.retain(|victim| victim.worker.number != number);
        }
        Ok(())
    }

    /// A worker that is running.
    fn choose(&mut self) -> Option<&mut Victim> {
        let mut at_work: Vec<&mut Victim> = self
            .workers
            .iter_mut()
            .filter(|victim| victim.at_work)
            .collect();
        (!at_work.is_empty()).then(|| at_work.swap_remove(self.random.usize(..at_work.len())))
    }

    fn upto(&mut self, longest: Duration) -> Duration {
        longest.mul_f64(self.random.f64())
    }
}
