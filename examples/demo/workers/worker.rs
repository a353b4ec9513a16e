//! The Rust worker of the demo: see README.md in the folder above for what it is asked.
//!
//! demo-worker CACHE_DIRECTORY LIMIT NAME [SERVER], in the folder that holds the records

use polycache::{Cache, Value};
use serde::{Deserialize, Serialize};
use serde_json::{json, Value as Json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, Write};
use std::time::{Duration, Instant};

type Anything<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// A value of each type, in this language's own types. Each worker has the same list.
fn samples() -> Vec<(&'static str, Value<'static>)> {
    let nested = vec![("".into(), Value::from("empty key"))];
    vec![
        ("null", Value::Null),
        ("bool", Value::Bool(true)),
        ("integer", Value::Int(-42)),
        ("64 bits", Value::Int(u64::MAX.into())),
        (
            "big integer",
            Value::BigInt((1u128 << 100).to_string().into()),
        ),
        ("float", Value::Float(0.1)),
        ("text", Value::from("Zoë 🦊")),
        ("bytes", Value::Bytes(b"\x00\xff\xc1".into())),
        (
            "list",
            Value::List(vec![
                Value::Int(1),
                Value::from("two"),
                Value::List(vec![Value::Null, Value::Bool(false)]),
            ]),
        ),
        (
            "map",
            Value::Map(vec![
                ("constructor".into(), Value::Int(1)),
                ("nested".into(), Value::Map(nested)),
            ]),
        ),
        (
            "set",
            Value::Set(vec![Value::Int(1), Value::Int(2), Value::Int(3)]),
        ),
        (
            "timestamp",
            Value::Timestamp {
                seconds: 1_770_091_506,
                nanos: 789_000_000,
            },
        ),
        ("decimal", Value::Decimal("-1234.5678".into())),
        (
            "uuid",
            Value::Uuid(0x018b_cfe5_6800_7abc_8def_0123_4567_89ab_u128.to_be_bytes()),
        ),
    ]
}

/// What a package is and all that it needs, directly or not.
#[derive(Serialize, Deserialize, PartialEq)]
struct Package {
    name: String,
    summary: String,
    description: String,
    needs: Vec<String>,
    size: u64,
    sha256: String,
    fields: BTreeMap<String, String>,
}

/// Looks the package up in the raw file: there is no index of it.
fn load(name: &str) -> Anything<Package> {
    let database = fs::read_to_string("records.txt")?;
    let mut found: HashMap<String, Option<&str>> = HashMap::new();
    let mut find = |package: &str| -> Option<&str> {
        if let Some(known) = found.get(package) {
            return *known;
        }
        let record = database
            .find(&format!("\nPackage: {package}\n"))
            .map(|at| &database[at + 1..])
            .map(|from| &from[..from.find("\n\n").unwrap_or(from.len() - 1)]);
        found.insert(package.to_owned(), record);
        record
    };

    let mut needs = vec![name.to_owned()];
    let mut size = 0;
    let mut digest = Sha256::new();
    let mut next = 0;
    while next < needs.len() {
        let record = find(&needs[next]).unwrap_or_default();
        digest.update(record);
        let fields = parse(record);
        size += 1024
            * fields
                .get("Installed-Size")
                .map_or(Ok(0), |size| size.parse::<u64>())?;
        for choices in dependencies(&fields) {
            let first = choices.into_iter().find(|choice| find(choice).is_some());
            if let Some(first) = first.filter(|first| !needs.contains(first)) {
                needs.push(first);
            }
        }
        next += 1;
    }
    let mut fields = parse(find(name).unwrap_or_default());
    let text = fields.remove("Description").unwrap_or_default();
    let (summary, description) = text.split_once('\n').unwrap_or((&text, ""));
    Ok(Package {
        name: name.to_owned(),
        summary: summary.to_owned(),
        description: description.to_owned(),
        needs,
        size,
        sha256: digest
            .finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect(),
        fields,
    })
}

fn parse(record: &str) -> BTreeMap<String, String> {
    let mut fields: BTreeMap<String, String> = BTreeMap::new();
    let mut name = "";
    for line in record.split('\n') {
        if let Some(more) = line.strip_prefix(' ') {
            let value = fields.entry(name.to_owned()).or_default();
            *value = format!("{value}\n{more}");
        } else if let Some((field, value)) = line.split_once(':') {
            name = field;
            fields.insert(name.to_owned(), value.trim_matches(' ').to_owned());
        }
    }
    fields
}

/// `a (>= 1), b:any | c` is a, and b or c.
fn dependencies(fields: &BTreeMap<String, String>) -> Vec<Vec<String>> {
    let named = |field| fields.get(field).map_or("", String::as_str);
    let name = |choice: &str| {
        let choice = choice.trim_matches(' ');
        let end = choice.find([' ', ':']).unwrap_or(choice.len());
        choice[..end].to_owned()
    };
    format!("{},{}", named("Pre-Depends"), named("Depends"))
        .split(',')
        .map(|part| part.split('|').map(name).collect())
        .collect()
}

fn spread(keys: &[String], most: usize) -> Vec<&String> {
    keys.iter()
        .step_by((keys.len() / most).max(1))
        .take(most)
        .collect()
}

struct Worker {
    name: String,
    keys: Vec<String>,
    log: File,
    cache: Cache,
    packages: Cache,
    matrix: Cache,
    changes: Cache,
}

impl Worker {
    fn open(directory: &str, limit: &str, name: &str, server: Option<&str>) -> Anything<Worker> {
        let limit: u64 = limit.parse()?;
        let options = Cache::builder()
            .path(directory)
            .namespace("demo")
            .limit(limit);
        let cache = match server {
            // The same code on several hosts. A machine that is busy with the demo is no fault.
            Some(server) => options
                .remote(server)
                .timeout(Duration::from_secs(5))
                .build()?,
            None => options.build()?,
        };
        Ok(Worker {
            name: name.to_owned(),
            keys: serde_json::from_str(&fs::read_to_string(format!("{name}.keys.json"))?)?,
            log: OpenOptions::new().append(true).open("loads.log")?,
            packages: cache.namespace("packages")?,
            matrix: cache.namespace("matrix")?,
            changes: cache.namespace("changes")?,
            cache,
        })
    }

    fn note(&self, event: &str, key: &str) -> io::Result<()> {
        let line = format!("{event} rust {} {key}\n", std::process::id());
        (&self.log).write_all(line.as_bytes())
    }

    /// Asks for every record, and loads those that are not loaded yet.
    fn ask(&self) -> Anything<Json> {
        let mut loaded = 0;
        let mut waits = Vec::new();
        for (asked, key) in self.keys.iter().enumerate() {
            if asked % 8 == 0 {
                say(&json!({ "asked": asked }))?;
            }
            let (before, started) = (loaded, Instant::now());
            let package = self.packages.get_or_set(key, || {
                loaded += 1;
                self.note("begin", key)?;
                let package = load(key)?;
                self.note("end", key)?;
                Anything::Ok(package)
            })?;
            if package.name != *key {
                return Err(format!("asked for {key}, got {}", package.name).into());
            }
            // A hit takes microseconds; the shortest sleep of a waiting caller is 0.1 ms.
            let waited = started.elapsed();
            if loaded == before && waited >= Duration::from_micros(100) {
                waits.push(waited);
            }
        }
        let longest = waits
            .iter()
            .max()
            .map_or(0.0, |wait| 1000.0 * wait.as_secs_f64());
        Ok(json!({ "loaded": loaded, "waited": waits.len(), "longest_wait_ms": longest }))
    }

    fn write(&self) -> Anything<Json> {
        let samples = samples();
        for (name, value) in &samples {
            self.matrix.set(format!("{}:{name}", self.name), value)?;
        }
        let names: Vec<_> = samples.iter().map(|(name, _)| name).collect();
        Ok(json!({ "written": names }))
    }

    fn read(&self, writer: &str) -> Anything<Json> {
        let (mut equal, mut different) = (Vec::new(), Vec::new());
        for (name, sample) in samples() {
            let read = self.matrix.get_value(format!("{writer}:{name}"))?;
            if read.as_ref() == Some(&sample) {
                equal.push(name);
            } else {
                different.push(format!("{name}: {read:?}"));
            }
        }
        Ok(json!({ "equal": equal, "different": different }))
    }

    fn set(&self, value: &str) -> Anything<Json> {
        self.changes.set("last writer", value)?;
        Ok(json!({}))
    }

    fn get(&self) -> Anything<Json> {
        Ok(json!({ "value": self.changes.get::<String>("last writer")? }))
    }

    fn tiers(&self) -> Anything<Json> {
        let stats = self.cache.remote_stats().ok_or("there is no server")?;
        Ok(json!({
            "hits_here": stats.near_hits,
            "remote_hits": stats.remote_hits,
            "listens": stats.listens,
        }))
    }

    /// Nanoseconds per hit over all records and per load over some; do both agree?
    fn measure(&self) -> Anything<Json> {
        let mut passes = Vec::new();
        for _ in 0..21 {
            let started = Instant::now();
            for key in &self.keys {
                std::hint::black_box(self.packages.get::<Package>(key)?);
            }
            passes.push(nanoseconds_each(started, self.keys.len()));
        }
        passes.sort_by(f64::total_cmp);
        let some = spread(&self.keys, 100);
        let started = Instant::now();
        let loaded: Vec<_> = some.iter().map(|key| load(key)).collect::<Result<_, _>>()?;
        let load_ns = nanoseconds_each(started, some.len());
        let mut different = Vec::new();
        for package in &loaded {
            if self.packages.get(&package.name)?.as_ref() != Some(package) {
                different.push(&package.name);
            }
        }
        Ok(json!({
            "hit_ns": passes[passes.len() / 2],
            "load_ns": load_ns,
            "same": some.len() - different.len(),
            "different": different,
        }))
    }
}

fn nanoseconds_each(started: Instant, count: usize) -> f64 {
    started.elapsed().as_secs_f64() * 1e9 / count as f64
}

fn say(answer: &Json) -> io::Result<()> {
    writeln!(io::stdout(), "{answer}")
}

fn main() -> Anything<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (directory, limit, name, server) = match &arguments[..] {
        [directory, limit, name] => (directory, limit, name, None),
        [directory, limit, name, server] => (directory, limit, name, Some(server.as_str())),
        _ => return Err("usage: demo-worker CACHE_DIRECTORY LIMIT NAME [SERVER]".into()),
    };
    let worker = Worker::open(directory, limit, name, server)?;
    say(&json!({ "ready": true }))?;
    for line in io::stdin().lock().lines() {
        let answer = match line?.split(' ').collect::<Vec<_>>()[..] {
            ["ask"] => worker.ask(),
            ["write"] => worker.write(),
            ["read", writer] => worker.read(writer),
            ["set", value] => worker.set(value),
            ["get"] => worker.get(),
            ["tiers"] => worker.tiers(),
            ["measure"] => worker.measure(),
            ref other => Err(format!("unknown command {other:?}").into()),
        };
        say(&answer?)?;
    }
    Ok(())
}
