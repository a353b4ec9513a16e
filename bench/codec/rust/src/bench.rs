//! The steps of every subject: it is opened, proves its work, and is handed to criterion.
//!
//! `cargo bench` measures all subjects one after the other. `run.py` starts one at a time, in turn,
//! and says by environment variables which:
//!
//! - `CODEC_LIST`: only name all subjects
//! - `CODEC_SUBJECT`: the workload and the subject, as `serializers, large/skp-cache`
//! - `CODEC_FACTS`: a file to write its operations, sizes and versions to
//! - `CODEC_PROVE`: end after that
//! - `CODEC_REPEAT`: instead of measuring, do the operation of this name `CODEC_COUNT` times, for a
//!   tool that counts instructions

use crate::Outcome;
use criterion::{BenchmarkId, Criterion, Throughput};
use serde::Serialize;
use std::any::Any;
use std::hint::black_box;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::time::{Duration, Instant};
use std::{env, fs};

/// A subject under one workload.
pub struct Subject {
    pub workload: String,
    pub name: String,
    /// What differs from its neighbours.
    pub notes: Vec<String>,
    pub versions: Vec<(String, String)>,
    /// Makes it ready and proves its work: what it reads is what it wrote.
    pub open: Open,
}

impl Subject {
    /// A row that stands empty and says why.
    pub fn absent(workload: impl Into<String>, name: &str, why: &'static str) -> Subject {
        Subject {
            workload: workload.into(),
            name: name.into(),
            notes: Vec::new(),
            versions: Vec::new(),
            open: Box::new(move || Err(why.into())),
        }
    }

    fn id(&self) -> String {
        format!("{}/{}", self.workload, self.name)
    }
}

pub type Open = Box<dyn FnOnce() -> Outcome<Vec<Operation>>>;

pub struct Operation {
    pub name: String,
    pub measure: Measure,
}

pub enum Measure {
    /// Repeats the operation and returns how long that took.
    Time(Run, Unit),
    /// What was written, in bytes.
    Bytes(usize),
}

pub type Run = Box<dyn FnMut(u64) -> Duration>;

/// How a time becomes a figure.
#[derive(Clone, Copy)]
pub enum Unit {
    /// Nanoseconds of one.
    Nanoseconds,
    /// As nanoseconds; criterion itself also prints the bytes a second.
    OfBytes(u64),
    /// So many at once (on several threads): operations per second.
    PerSecond(u64),
}

/// One call of `routine` is one operation.
pub fn time<R>(
    name: impl Into<String>,
    unit: Unit,
    mut routine: impl FnMut() -> R + 'static,
) -> Operation {
    timed(name, unit, move |count| {
        let start = Instant::now();
        for _ in 0..count {
            black_box(routine());
        }
        start.elapsed()
    })
}

/// `run` does so many operations and times them itself.
pub fn timed(
    name: impl Into<String>,
    unit: Unit,
    run: impl FnMut(u64) -> Duration + 'static,
) -> Operation {
    Operation {
        name: name.into(),
        measure: Measure::Time(Box::new(run), unit),
    }
}

pub fn bytes(name: impl Into<String>, size: usize) -> Operation {
    Operation {
        name: name.into(),
        measure: Measure::Bytes(size),
    }
}

/// Ok when the two are equal; `what` names them.
pub fn proven<T: PartialEq>(what: &str, written: &T, read: &T) -> Outcome<()> {
    if written == read {
        return Ok(());
    }
    Err(format!("{what}: what it read is not what it wrote").into())
}

/// What `run.py` reads of a subject.
#[derive(Serialize, Default)]
struct Facts {
    error: Option<String>,
    notes: Vec<String>,
    versions: Vec<(String, String)>,
    /// Name, and how many are done at once if the unit is operations per second, otherwise 0.
    times: Vec<(String, u64)>,
    sizes: Vec<(String, usize)>,
}

pub fn main(subjects: Vec<Subject>) {
    if env::var_os("CODEC_LIST").is_some() {
        return subjects
            .iter()
            .for_each(|subject| println!("{}", subject.id()));
    }
    let wanted = env::var("CODEC_SUBJECT").ok();
    let only_prove = env::var_os("CODEC_PROVE").is_some();
    let repeat = env::var("CODEC_REPEAT").ok();
    let mut criterion = Criterion::default().configure_from_args();
    for subject in subjects {
        let id = subject.id();
        if wanted.as_ref().is_some_and(|wanted| *wanted != id) {
            continue;
        }
        let Subject {
            workload,
            name,
            notes,
            versions,
            open,
        } = subject;
        let opened = catch_unwind(AssertUnwindSafe(open)).unwrap_or_else(|panic| Err(words(panic)));
        tell(&opened, notes, versions);
        match opened {
            Ok(operations) if repeat.is_some() => repeated(operations, repeat.as_deref()),
            Ok(operations) if !only_prove => {
                measure(&mut criterion, &workload, &name, operations);
            }
            Ok(_) => {}
            Err(error) => println!("{id}: NOT MEASURED: {error}"),
        }
    }
    if wanted.is_none() {
        criterion.final_summary();
    }
}

fn repeated(operations: Vec<Operation>, name: Option<&str>) {
    let count = env::var("CODEC_COUNT").ok();
    let count = count
        .and_then(|count| count.parse().ok())
        .expect("CODEC_COUNT is a number");
    for operation in operations {
        if let (true, Measure::Time(mut run, _)) =
            (Some(operation.name.as_str()) == name, operation.measure)
        {
            run(count);
        }
    }
}

fn measure(criterion: &mut Criterion, workload: &str, name: &str, operations: Vec<Operation>) {
    let mut group = criterion.benchmark_group(workload);
    for operation in operations {
        match operation.measure {
            Measure::Bytes(size) => println!("{workload}/{name}/{}: {size} bytes", operation.name),
            Measure::Time(mut run, unit) => {
                group.throughput(match unit {
                    Unit::Nanoseconds => Throughput::Elements(1),
                    Unit::OfBytes(bytes) => Throughput::Bytes(bytes),
                    Unit::PerSecond(count) => Throughput::Elements(count),
                });
                group.bench_function(BenchmarkId::new(name, operation.name), |bencher| {
                    bencher.iter_custom(&mut run);
                });
            }
        }
    }
}

fn tell(opened: &Outcome<Vec<Operation>>, notes: Vec<String>, versions: Vec<(String, String)>) {
    let Some(path) = env::var_os("CODEC_FACTS") else {
        return;
    };
    let mut facts = Facts {
        notes,
        versions,
        ..Facts::default()
    };
    match opened {
        Err(error) => facts.error = Some(error.to_string()),
        Ok(operations) => {
            for operation in operations {
                let name = operation.name.clone();
                match &operation.measure {
                    Measure::Bytes(size) => facts.sizes.push((name, *size)),
                    Measure::Time(_, Unit::PerSecond(count)) => facts.times.push((name, *count)),
                    Measure::Time(..) => facts.times.push((name, 0)),
                }
            }
        }
    }
    let text = serde_json::to_string(&facts).expect("facts are JSON");
    fs::write(path, text).expect("CODEC_FACTS names a file that can be written");
}

fn words(panic: Box<dyn Any + Send>) -> Box<dyn std::error::Error> {
    let text = panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    text.unwrap_or_else(|| "it panicked".to_owned()).into()
}
