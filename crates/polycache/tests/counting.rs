//! Processes that count together: no increment is lost, whoever is killed.

use polycache::{Cache, Update};
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const THREADS: u64 = 4;
const EACH: u64 = 3_000;
/// Names the directory for a process that counts.
const DIRECTORY: &str = "POLYCACHE_COUNTS_IN";

fn open(directory: &Path) -> Cache {
    let cache = Cache::builder().path(directory).limit(4 << 20);
    cache.build().unwrap()
}

/// Not a test of its own: what the processes of the tests below run, told by the environment. It writes each
/// sum that it is given.
#[test]
fn counts() {
    let Some(directory) = std::env::var_os(DIRECTORY) else {
        return;
    };
    let cache = open(Path::new(&directory));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..EACH {
                    let sum = cache.increment("count", 1).unwrap();
                    let line = format!("sum {sum}\n");
                    std::io::stderr().lock().write_all(line.as_bytes()).unwrap();
                }
            });
        }
    });
}

fn counter(directory: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "counts", "--nocapture"])
        .env(DIRECTORY, directory)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn sums(child: &mut Child) -> impl Iterator<Item = u64> {
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    lines.map_while(Result::ok).filter_map(|line| {
        let sum = line.strip_prefix("sum ")?;
        sum.parse().ok()
    })
}

#[test]
fn two_processes_of_four_threads_lose_no_count() {
    let directory = tempfile::tempdir().unwrap();
    let cache = open(directory.path());
    let mut children = [counter(directory.path()), counter(directory.path())];
    let mut seen = HashSet::new();
    let readers = children.each_mut().map(|child| {
        let sums = sums(child);
        std::thread::spawn(move || sums.collect::<Vec<_>>())
    });
    for reader in readers {
        for sum in reader.join().unwrap() {
            assert!(seen.insert(sum), "{sum} was counted twice");
        }
    }
    assert!(children.each_mut().map(|it| it.wait().unwrap().success()) == [true; 2]);
    let all = 2 * THREADS * EACH;
    assert_eq!(seen.len() as u64, all);
    assert_eq!(cache.get::<u64>("count").unwrap(), Some(all));
}

#[test]
fn a_killed_process_loses_no_count_and_stops_nobody() {
    let directory = tempfile::tempdir().unwrap();
    let cache = open(directory.path());
    let (mut killed, mut stays) = (counter(directory.path()), counter(directory.path()));
    let theirs = sums(&mut stays);
    let theirs = std::thread::spawn(move || theirs.collect::<Vec<_>>());
    let mut told = sums(&mut killed);
    let mut seen: HashSet<u64> = told.by_ref().take(1_000).collect();
    killed.kill().unwrap();
    killed.wait().unwrap();
    // What was written before the kill was acknowledged, too. The last line may be cut short.
    let rest: Vec<u64> = told.collect();
    for sum in rest
        .iter()
        .take(rest.len().saturating_sub(1))
        .chain(&theirs.join().unwrap())
    {
        assert!(seen.insert(*sum), "{sum} was counted twice");
    }
    assert!(stays.wait().unwrap().success());
    let acknowledged = seen.len() as u64;
    let count = cache.get::<u64>("count").unwrap().unwrap();
    // One of each thread may have been counted and not told, and one line may have been cut.
    assert!(
        (acknowledged..=acknowledged + THREADS + 1).contains(&count),
        "{count} of {acknowledged}"
    );
    assert_eq!(cache.check().unwrap().damaged, Vec::<String>::new());
}

/// Threads of one process, with and without a directory, typed and not.
#[test]
fn updates_and_counts_of_threads_are_not_lost() {
    let directory = tempfile::tempdir().unwrap();
    for cache in [open(directory.path()), Cache::builder().build().unwrap()] {
        let typed = cache.typed::<Vec<u64>>().unwrap();
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (cache, typed) = (&cache, &typed);
                scope.spawn(move || {
                    for round in 0..50 {
                        cache.increment("count", 2).unwrap();
                        cache.decrement("count", 1).unwrap();
                        let stored = loop {
                            let stored = typed.update("list", |list: Option<Vec<u64>>| {
                                let mut list = list.unwrap_or_default();
                                list.push(thread * 1000 + round);
                                Update::Set(list)
                            });
                            match stored {
                                Err(error) if error.retryable() => {}
                                stored => break stored.unwrap(),
                            }
                        };
                        assert!(stored.unwrap().contains(&(thread * 1000 + round)));
                    }
                });
            }
        });
        assert_eq!(cache.get::<u64>("count").unwrap(), Some(THREADS * 50));
        let list = typed.get("list").unwrap().unwrap();
        let distinct: HashSet<_> = list.iter().collect();
        assert_eq!((list.len(), distinct.len()), (200, 200));
    }
}
