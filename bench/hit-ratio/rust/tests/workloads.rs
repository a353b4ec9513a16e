//! Traces are what they are called, and the same every time.

use polycache_bench_hit_ratio::plan::workloads;
use polycache_bench_hit_ratio::policy::Key;
use polycache_bench_hit_ratio::workload::loops::Loop;
use polycache_bench_hit_ratio::workload::recorded::{parse, Recorded};
use polycache_bench_hit_ratio::workload::scans::Scans;
use polycache_bench_hit_ratio::workload::zipf::Zipf;
use polycache_bench_hit_ratio::workload::{Capacities, Source};
use std::collections::HashMap;
use std::fs;

fn zipf(alpha: f64) -> Zipf {
    Zipf {
        alpha,
        keys: 1000,
        requests: 400_000,
    }
}

fn requests(source: &dyn Source, seed: u64) -> Vec<Key> {
    source.trace(seed).expect("a trace").requests
}

#[test]
fn zipf_asks_for_each_rank_as_often_as_the_law_says() {
    for alpha in [0.7, 0.9, 1.0, 1.1] {
        let requests = requests(&zipf(alpha), 7);
        let mut counts = HashMap::<Key, f64>::new();
        for key in &requests {
            *counts.entry(*key).or_default() += 1.0;
        }
        let whole: f64 = (1..=1000).map(|rank| f64::from(rank).powf(-alpha)).sum();
        // Pearson's chi-squared over all ranks: 999 degrees of freedom, deviation sqrt(2 * 999).
        let chi_squared: f64 = (1..=1000)
            .map(|rank| {
                let share = f64::from(rank).powf(-alpha) / whole;
                let expected = share * requests.len() as f64;
                let found = counts.remove(&(rank as Key - 1)).unwrap_or_default();
                (found - expected).powi(2) / expected
            })
            .sum();
        assert!(counts.is_empty(), "keys beyond the last");
        assert!(
            (chi_squared - 999.0).abs() < 4.0 * (2.0 * 999.0_f64).sqrt(),
            "{chi_squared}"
        );
    }
}

#[test]
fn a_seed_says_all() {
    assert_eq!(requests(&zipf(0.9), 1), requests(&zipf(0.9), 1));
    assert_ne!(requests(&zipf(0.9), 1), requests(&zipf(0.9), 2));
}

/// Results of other machines and of later versions of the libraries are about the same traces.
#[test]
fn seed_0_begins_like_this() {
    assert_eq!(requests(&zipf(0.9), 0)[..8], FIRST);
}
const FIRST: [Key; 8] = [10, 12, 1, 0, 0, 19, 182, 479];

#[test]
fn a_scans_keys_are_asked_for_once() {
    let undisturbed = zipf(0.9);
    let scans = Scans {
        zipf: undisturbed,
        every: 150_000,
        length: 500,
    };
    let trace = scans.trace(3).expect("a trace");
    assert_eq!(trace.keys, 1000 + 3 * 500);
    assert_eq!(trace.requests.len(), 400_000 + 3 * 500);
    assert_eq!(
        trace.requests[150_000..150_500],
        (1000..1500).collect::<Vec<Key>>()
    );
    let (scanned, rest): (Vec<Key>, Vec<Key>) =
        trace.requests.iter().partition(|&&key| key >= 1000);
    assert_eq!(scanned, (1000..2500).collect::<Vec<Key>>());
    assert_eq!(rest, requests(&undisturbed, 3));
}

#[test]
fn a_loop_is_the_same_again_and_again() {
    let twice = Loop { keys: 3, times: 2 };
    assert_eq!(requests(&twice, 0), [0, 1, 2, 0, 1, 2]);
}

#[test]
fn a_recorded_lines_run_is_a_request_a_block() {
    let text = "100 3 0 0\n7 1 0 1\r\n101 2 0 2\n";
    let trace = parse(text.as_bytes()).expect("a trace");
    assert_eq!(trace.keys, 4);
    assert_eq!(trace.requests, [0, 1, 2, 3, 1, 2]);
}

#[test]
fn a_line_of_another_format_is_an_error() {
    let error = parse("100 3 0 0\n100\n".as_bytes())
        .err()
        .expect("an error");
    assert_eq!(error.to_string(), "not a request: \"100\\n\"");
}

#[test]
fn every_trace_of_a_folder_is_a_workload() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("mine.lis.zst");
    let compressed = zstd::encode_all("5 2 0 0\n5 1 0 1\n".as_bytes(), 3).expect("zstd");
    fs::write(&path, compressed).expect("a file");
    fs::write(folder.path().join("README.md"), "about them").expect("a file");
    let all = workloads(false, 10, Some(folder.path())).expect("workloads");
    let mine = all.last().expect("a workload");
    assert_eq!(mine.name, "trace mine");
    assert_eq!(mine.seeds, 1);
    assert_eq!(requests(&*mine.source, 0), [0, 1, 0]);
    let plain = Recorded {
        path: folder.path().join("none.lis.zst"),
    };
    let error = plain.trace(0).err().expect("an error").to_string();
    assert!(error.contains("none.lis.zst"), "{error}");
}

#[test]
fn a_folder_without_traces_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(workloads(false, 10, Some(folder.path())).is_err());
    assert!(workloads(false, 10, Some(&folder.path().join("missing"))).is_err());
}

#[test]
fn generated_workloads_have_a_round_a_seed_and_the_loop_has_one() {
    let all = workloads(false, 10, None).expect("workloads");
    let seeds: Vec<(&str, u64)> = all.iter().map(|one| (&*one.name, one.seeds)).collect();
    let expected = [
        ("zipf 0.7", 10),
        ("zipf 0.9", 10),
        ("zipf 1.1", 10),
        ("zipf 0.9 with scans", 10),
        ("loop", 1),
    ];
    assert_eq!(seeds, expected);
}

#[test]
fn capacities_are_shares_of_the_keys_or_entries() {
    assert_eq!(
        Capacities::PerMille(vec![1, 250]).of(100_000),
        [100, 25_000]
    );
    assert_eq!(Capacities::PerMille(vec![1]).of(10), [1]);
    assert_eq!(Capacities::Entries(vec![500]).of(10), [500]);
}
