//! The result of a run: a line per test, and the last line, which `make test` counts.

use crate::judge::{Judged, Kind, Violation};
use crate::languages::Language;
use crate::log::Log;
use crate::run::Ground;
use crate::story;
use polycache::Stats;

/// Any error that ends a program early.
pub type Fallible<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// The least number of recycled blocks; with fewer, the run was too weak to show anything.
pub const RECYCLED: u64 = 300;

/// One clear is required for this many reads; the workers make several times as many.
const READS_A_CLEAR: u64 = 10_000;

/// Number of violations whose story is printed.
const STORIES: usize = 3;

/// Tests so far.
#[derive(Default)]
pub struct Outcome {
    passed: u32,
    failed: u32,
    skipped: u32,
}

impl Outcome {
    /// One test; the text says what was found.
    pub fn test(&mut self, name: &str, passed: bool, seen: &str) {
        if passed {
            self.passed += 1;
            println!("ok      {name}: {seen}");
        } else {
            self.failed += 1;
            println!("FAILED  {name}: {seen}");
        }
    }

    /// A language that cannot run here.
    pub fn skip(&mut self, name: &str, why: &str) {
        self.skipped += 1;
        println!("skipped {name}: {why}");
    }

    /// Tests that failed so far.
    pub fn failed(&self) -> u32 {
        self.failed
    }

    /// Prints the last line.
    pub fn finish(self) -> bool {
        println!(
            "{} passed, {} failed, {} skipped",
            self.passed, self.failed, self.skipped
        );
        self.failed == 0
    }

    /// The judge's tests. `stats` are the directory's statistics before and after, if known, and its
    /// ground.
    pub fn judged(&mut self, logs: &[Log], judged: &Judged, stats: Option<(Stats, Stats, Ground)>) {
        let (reads, writes) = totals(logs, judged);
        self.test(
            "at least 20 % writes",
            writes * 4 >= reads && writes > 0,
            &format!("{reads} reads, {writes} writes"),
        );
        let clears: u64 = judged.history.work.values().map(|work| work.clears).sum();
        self.test(
            "namespaces were cleared",
            clears * READS_A_CLEAR >= reads,
            &format!("{clears} times"),
        );
        let mut rule = |name: &str, kinds: &[Kind]| {
            let found: Vec<&Violation> = judged.of(kinds).collect();
            self.test(name, found.is_empty(), &format!("{} found", found.len()));
            for violation in found.iter().take(STORIES) {
                story::tell(logs, judged.history.start, violation);
            }
        };
        rule("no stale read", &[Kind::Stale]);
        rule("no delete undone", &[Kind::Undeleted]);
        rule("no clear undone", &[Kind::Uncleared]);
        rule("no foreign bytes", &[Kind::Foreign]);
        rule("no entry gone and back", &[Kind::Vanished]);
        if let Some((before, after, ground)) = stats {
            self.evictions(judged.needed_evictions, &before, &after, ground);
        }
    }

    fn evictions(&mut self, needed: u64, before: &Stats, after: &Stats, ground: Ground) {
        let conflict = after.evicted_by_conflict - before.evicted_by_conflict;
        let counted =
            after.evicted_by_age - before.evicted_by_age + conflict + after.evicted_by_failed_put
                - before.evicted_by_failed_put;
        self.test(
            "no write lost",
            needed <= counted && conflict == 0,
            &format!(
                "misses prove {needed} evictions, {counted} were counted, {conflict} by conflict"
            ),
        );
        let recycled = recycled(after);
        self.test(
            "blocks were recycled",
            recycled >= RECYCLED || !ground.recycles,
            &format!(
                "{recycled} times, {} entries moved",
                after.reinserted - before.reinserted
            ),
        );
    }
}

/// How often a block was recycled.
pub fn recycled(stats: &Stats) -> u64 {
    stats.blocks_claimed.saturating_sub(blocks(stats))
}

/// Blocks of the directory: the first claim of each is not recycling.
fn blocks(stats: &Stats) -> u64 {
    let block = (1 << (stats.limit / 512).ilog2()).clamp(64 << 10, 16 << 20);
    stats.limit / block + 1
}

/// Prints what each language did; returns the reads and writes of all.
fn totals(logs: &[Log], judged: &Judged) -> (u64, u64) {
    let (mut reads, mut writes) = (0, 0);
    for language in Language::ALL {
        let mine = logs.iter().filter(|log| log.language == language.name());
        let work: Vec<_> = mine
            .filter_map(|log| judged.history.work.get(&log.worker))
            .collect();
        if work.is_empty() {
            continue;
        }
        let (read, written): (u64, u64) = work.iter().fold((0, 0), |sum, work| {
            (sum.0 + work.reads, sum.1 + work.writes)
        });
        println!(
            "{:<11}{:>5} workers {read:>10} reads {written:>10} writes",
            language.name(),
            work.len()
        );
        reads += read;
        writes += written;
    }
    (reads, writes)
}
