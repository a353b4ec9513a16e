//! `make check-remote`: two directories as two hosts, processes of every language, real servers, and trouble.

mod behind;
mod cluster;
mod failover;
pub mod history;
pub mod judge;
mod matrix;
pub mod matrix_worker;
mod moving;
mod report;
mod servers;
mod stage;
#[cfg(test)]
mod tests;
mod topology;
mod trouble;
mod watched;

use crate::coherence::finished;
use crate::languages::Language;
use crate::outcome::{Fallible, Outcome};
use crate::process::{end_in_order, pause};
use crate::progress::Progress;
use fastrand::Rng;
use history::HOSTS;
use servers::{Folder, Server};
use stage::{Setting, Stage};
use std::time::{Duration, Instant};
use topology::Topology;
pub use trouble::Trouble;

/// Few of them are hot, where writes supersede each other quickly, and many are not (`worker.rs`).
pub const KEYS: u8 = 200;

/// Time after a trouble in which connections are made again.
const REST: Duration = Duration::from_millis(700);

/// A host is at work again once it has read as many values. Tenths of a second that it may take.
const AT_WORK: u64 = 500;
const PATIENCE: u32 = 100;

/// No machine is that slow: reads a second, which only bound a hang.
const SLOWEST: u64 = 1_500;

/// The parts of reads without trouble, in percent: by workers that never rest, and by those that leave processors
/// idle, so that delays are the servers' and not the scheduler's.
const BUSY: u64 = 30;
const CALM: u64 = 10;

/// The sleep of workers that rest.
const PACE: Duration = Duration::from_micros(400);

/// What may be asked of it.
#[derive(clap::Args)]
pub struct Options {
    /// Reads that find a value, of all workers on all servers together
    #[arg(long, default_value_t = 1_000_000)]
    reads: u64,
    /// Programs of servers; `sentinel` is a primary that Sentinels name, `cluster` a Cluster, both of the first program.
    /// Those that are missing are named
    #[arg(long, value_delimiter = ',', default_values = ["redis-server", "redis-server-8", "valkey-server", "sentinel", "cluster"])]
    servers: Vec<String>,
    /// Languages that take part; those that are missing are named
    #[arg(long, value_delimiter = ',', default_values = Language::ALL.map(Language::name))]
    languages: Vec<Language>,
    /// Workers of each language on each host
    #[arg(long, default_value_t = 1)]
    workers: usize,
    /// The option `max_staleness`, in milliseconds
    #[arg(long, default_value_t = 400)]
    staleness: u64,
    /// Only these troubles, in this order
    #[arg(long, value_delimiter = ',')]
    troubles: Vec<Trouble>,
    /// Deals the troubles out to the servers, instead of making each on every one
    #[arg(long)]
    deal: bool,
    /// Seed of the workers' choices and of the troubles; the order of events is the machine's
    #[arg(long)]
    seed: Option<u64>,
}

/// True when nothing was found.
pub fn run(options: &Options) -> Fallible<bool> {
    end_in_order();
    let mut outcome = Outcome::default();
    let mut present = Vec::new();
    for language in &options.languages {
        match language.missing() {
            None => present.push(*language),
            Some(why) => outcome.skip(&format!("{} workers", language.name()), &why),
        }
    }
    let mut check = Check {
        options,
        seed: options.seed.unwrap_or_else(|| fastrand::u64(..1 << 32)),
        present,
        outcome,
    };
    println!("seed {}", check.seed);
    let programs = check.programs();
    let singles = programs.iter();
    let singles = singles.filter(|name| Topology::of(name).0 == Topology::Single);
    let singles = singles.count();
    for (place, name) in programs.iter().enumerate() {
        let grounds = programs.len() as u64 * 100;
        let reads = |part: u64| (options.reads * part).div_ceil(grounds);
        let topology = Topology::of(name).0;
        let present = check.reaching(topology);
        check.matrix(name, &present)?;
        check.meet(name, &present, Ground::Busy, reads(BUSY), &[])?;
        check.meet(name, &present, Ground::Calm, reads(CALM), &[])?;
        let mut plan = trouble::possible(topology).to_vec();
        if !options.troubles.is_empty() {
            let possible = options.troubles.iter();
            plan = possible.filter(|one| plan.contains(one)).copied().collect();
        }
        if options.deal && topology == Topology::Single {
            let dealt = plan.into_iter().skip(place).step_by(singles);
            plan = dealt.collect();
        }
        let troubled = 100 - BUSY - CALM;
        check.meet(name, &present, Ground::Troubled, reads(troubled), &plan)?;
    }
    Ok(check.outcome.finish())
}

/// How a run goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ground {
    /// Workers never rest.
    Busy,
    /// They rest.
    Calm,
    /// They never rest, and there is trouble.
    Troubled,
}

impl Ground {
    fn name(self) -> &'static str {
        match self {
            Ground::Busy => "busy",
            Ground::Calm => "calm",
            Ground::Troubled => "troubled",
        }
    }
}

struct Check<'a> {
    options: &'a Options,
    seed: u64,
    present: Vec<Language>,
    outcome: Outcome,
}

impl Check<'_> {
    /// The servers that are here.
    fn programs(&mut self) -> Vec<String> {
        let mut present = Vec::new();
        for name in &self.options.servers {
            match Server::is_there(Topology::of(name).1) {
                true => present.push(name.clone()),
                false => self
                    .outcome
                    .skip(name, "it is not installed: tools/setup.sh servers"),
            }
        }
        present
    }

    /// The languages whose clients are here.
    fn reaching(&mut self, topology: Topology) -> Vec<Language> {
        let Some(name) = topology.probe() else {
            return self.present.clone();
        };
        let mut present = Vec::new();
        for language in &self.present {
            match language.cannot_reach(name) {
                None => present.push(*language),
                Some(why) => {
                    let test = format!("{} workers, {name}", language.name());
                    self.outcome.skip(&test, &why);
                }
            }
        }
        present
    }

    fn matrix(&mut self, name: &str, present: &[Language]) -> Fallible<()> {
        let folder = Folder::new("matrix")?;
        let (topology, program) = Topology::of(name);
        let servers = topology.start(program, &folder)?;
        println!("\n== {}: matrix", servers.title()?);
        let remote = servers.name(&servers.ports());
        matrix::run(&mut self.outcome, present, &remote, &folder.path)
    }

    /// A run on one server.
    fn meet(
        &mut self,
        name: &str,
        present: &[Language],
        ground: Ground,
        reads: u64,
        plan: &[Trouble],
    ) -> Fallible<()> {
        let mut folder = Folder::new(&format!("{name}-{}", ground.name()))?;
        let (topology, program) = Topology::of(name);
        let servers = topology.start(program, &folder)?;
        println!("\n== {}: {}", servers.title()?, ground.name());
        let setting = Setting {
            staleness: Duration::from_millis(self.options.staleness),
            // Without trouble nothing may be lost to a machine that is slow at times.
            timeout: match ground {
                Ground::Troubled => Duration::from_millis(200),
                _ => Duration::from_secs(10),
            },
            pace: match ground {
                Ground::Calm => PACE,
                _ => Duration::ZERO,
            },
            seed: self.seed,
        };
        let proxies = ground == Ground::Troubled;
        let mut stage = Stage::new(&folder.path, servers, setting, proxies)?;
        for language in present {
            for number in 0..HOSTS * self.options.workers {
                stage.start(*language, number % HOSTS)?;
            }
        }
        let started = Instant::now();
        let in_time = self.go_through(&mut stage, reads, plan);
        let failed = self.outcome.failed();
        match in_time {
            Ok(in_time) => {
                for language in present {
                    finished(&mut self.outcome, &mut stage.workers, *language)?;
                }
                let took = started.elapsed().as_secs_f64();
                self.outcome
                    .test("all ended in time", in_time, &format!("{took:.1} s"));
                report::judged(&mut self.outcome, &stage.logs()?, reads, plan);
            }
            Err(error) => {
                // A worker's own words say more.
                for worker in &mut stage.workers {
                    if worker.ended()?.is_some_and(|status| !status.success()) {
                        eprintln!("worker {}: {}", worker.number, worker.output());
                    }
                }
                return Err(error);
            }
        }
        if self.outcome.failed() > failed {
            folder.keep();
            println!("logs are kept in {}", folder.path.join("logs").display());
        }
        Ok(())
    }

    /// Until there were so many reads and every trouble; false when workers had to be killed.
    fn go_through(&self, stage: &mut Stage, reads: u64, plan: &[Trouble]) -> Fallible<bool> {
        let progress = Progress::new();
        let patience = Duration::from_secs(60 + 5 * plan.len() as u64 + reads / SLOWEST);
        let deadline = Instant::now() + patience;
        let mut random = Rng::with_seed(self.seed);
        let mut to_come = plan.iter();
        // The first trouble comes when all are at work.
        while Instant::now() < deadline && stage.workers.iter().any(|one| one.logged() < 256) {
            pause(Duration::from_millis(20))?;
            if ended(stage)? {
                break;
            }
        }
        while Instant::now() < deadline && !ended(stage)? {
            let hits: u64 = stage.hits().into_iter().sum();
            progress.show(&format!("check-remote: {hits} of {reads} reads"));
            // Once all were made, they come again.
            let next = match to_come.next() {
                None if hits >= reads => break,
                None => random.choice(plan),
                next => next,
            };
            match next {
                Some(trouble) => {
                    progress.show(&format!(
                        "check-remote: {hits} of {reads} reads; {}",
                        trouble.name()
                    ));
                    trouble.make(stage, &mut random)?;
                    settle(stage)?;
                }
                None => pause(Duration::from_millis(100))?,
            }
        }
        stage.end()?;
        while Instant::now() < deadline {
            let mut running = false;
            for worker in &mut stage.workers {
                running |= worker.ended()?.is_none();
            }
            if !running {
                return Ok(true);
            }
            pause(Duration::from_millis(20))?;
        }
        for worker in &mut stage.workers {
            worker.kill()?;
        }
        Ok(false)
    }
}

/// Waits until both hosts read values again: circuit breakers are open for a while.
fn settle(stage: &mut Stage) -> Fallible<()> {
    pause(REST)?;
    let before = stage.hits();
    for _ in 0..PATIENCE {
        let hits = stage.hits().into_iter().zip(before);
        if hits
            .into_iter()
            .all(|(hits, before)| hits > before + AT_WORK)
        {
            break;
        }
        pause(Duration::from_millis(100))?;
    }
    Ok(())
}

/// Whether a worker has ended before it was told to.
fn ended(stage: &mut Stage) -> Fallible<bool> {
    for worker in &mut stage.workers {
        if worker.ended()?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}
