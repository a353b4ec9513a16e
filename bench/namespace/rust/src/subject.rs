//! Answers the controller.

use std::collections::HashMap;
use std::error::Error;
use std::io::BufRead;
use std::time::{Duration, Instant};

use redis::{cmd, Client, Connection, ConnectionLike, Value as Reply};
use serde::Deserialize;
use serde_json::{json, Map, Value};

use crate::canned::Canned;
use crate::dataset::{items, ten, Dataset, STRING};
use crate::measure::{mark, Measure};
use crate::operations::{expected, prepare, run, trim, NAMES};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// As Cargo.lock has it.
const VERSION: &str = "1.8";
/// How many operations lie between two looks at the clock, without a socket.
const BATCH: u32 = 64;
/// What a round of instructions counts, once and then twice.
const COUNTED: u32 = 100;

/// What a subject's file says.
pub trait Kind {
    /// What rows call it; ours begin with `polycache`.
    const NAME: &'static str;
    /// False where the caller has to name the keys in full.
    const PREFIXES: bool;
    /// Its connection.
    type Connection: ConnectionLike;

    /// Made of one of redis-rs.
    fn new(connection: Canned, namespace: &str) -> Self::Connection;
    /// What it was made of.
    fn inner(connection: &mut Self::Connection) -> &mut Canned;
}

#[derive(Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
enum Request {
    Open {
        redis_port: u16,
        measure: Measure,
        operations: Vec<String>,
    },
    Check,
    Run {
        operation: String,
        seconds: f64,
    },
    Close,
}

struct Subject<K: Kind> {
    connection: K::Connection,
    bare: Connection,
    data: Dataset,
    namespace: String,
    measure: Measure,
    replies: HashMap<&'static str, Vec<Vec<Reply>>>,
}

/// The main function of a subject's file.
pub fn serve<K: Kind>() {
    let mut subject: Option<Subject<K>> = None;
    for line in std::io::stdin()
        .lock()
        .lines()
        .map_while(std::io::Result::ok)
    {
        let request = serde_json::from_str(&line);
        let over = matches!(request, Ok(Request::Close));
        let reply = request
            .map_err(Into::into)
            .and_then(|request| answer(&mut subject, request));
        println!(
            "{}",
            reply.unwrap_or_else(|error| json!({"error": error.to_string()}))
        );
        if over {
            return;
        }
    }
}

fn answer<K: Kind>(subject: &mut Option<Subject<K>>, request: Request) -> Result<Value> {
    if let Request::Open {
        redis_port,
        measure,
        operations,
    } = request
    {
        *subject = Some(Subject::open(redis_port, measure)?);
        let unit = measure.unit();
        let asked = NAMES
            .iter()
            .filter(|name| operations.is_empty() || operations.iter().any(|one| one == *name));
        let units: Map<String, Value> = asked.map(|name| (name.to_string(), json!(unit))).collect();
        let wrote = match K::PREFIXES {
            true => "writes the prefix",
            false => "no namespace: the caller writes the prefix",
        };
        return Ok(json!({
            "subject": K::NAME,
            "versions": {"redis (crate)": VERSION},
            "notes": [wrote],
            "operations": units,
        }));
    }
    let subject = subject.as_mut().ok_or("it is not open")?;
    match request {
        Request::Check => subject.check()?,
        Request::Run { operation, seconds } => {
            return Ok(json!({"value": subject.round(&operation, seconds)?}))
        }
        _ => {}
    }
    Ok(json!({}))
}

impl<K: Kind> Subject<K> {
    fn open(port: u16, measure: Measure) -> Result<Self> {
        if port == 0 {
            return Err("there is no redis-server here".into());
        }
        let client = Client::open(("127.0.0.1", port))?;
        // Of the same length for all, so that all put the same number of bytes on the wire.
        let namespace = format!("app{:07}", std::process::id());
        let prefix = format!("{namespace}:");
        Ok(Self {
            connection: K::new(Canned::new(client.get_connection()?), &namespace),
            bare: client.get_connection()?,
            data: Dataset::new(if K::PREFIXES { "" } else { &prefix }),
            namespace,
            measure,
            replies: HashMap::new(),
        })
    }

    fn check(&mut self) -> Result<()> {
        prepare(&mut self.connection, &self.data)?;
        for name in NAMES {
            trim(&mut self.connection, &self.data)?;
            K::inner(&mut self.connection).recorded();
            self.compare(name)?;
            let replies = K::inner(&mut self.connection).recorded();
            self.replies.insert(name, replies);
        }
        self.look()?;
        if self.measure.alone() {
            for name in NAMES {
                self.play(name);
                self.compare(name)?;
                self.compare(name)?;
            }
        }
        Ok(())
    }

    fn compare(&mut self, name: &str) -> Result<()> {
        let found = run(name, &mut self.connection, &self.data, true)?;
        same(name, &found, &expected(name, &self.data))
    }

    /// A connection without any namespace sees every key under the prefix, with its value, and none
    /// without it.
    fn look(&mut self) -> Result<()> {
        cmd("LPUSH")
            .arg(&self.data.pushed)
            .arg("item")
            .exec(&mut self.connection)?;
        let full = Dataset::new(&format!("{}:", self.namespace));
        let pattern = format!("{}*", self.namespace);
        let mut found: Vec<String> = cmd("KEYS").arg(pattern).query(&mut self.bare)?;
        let mut keys = full.keys();
        found.sort();
        keys.sort();
        same("keys on the server", &json!(found), &json!(keys))?;
        let others: i64 = cmd("EXISTS")
            .arg(Dataset::new("").keys())
            .query(&mut self.bare)?;
        same("keys without prefix", &json!(others), &json!(0))?;
        let value: String = cmd("GET").arg(&full.key).query(&mut self.bare)?;
        same("a value on the server", &json!(value), &json!(STRING))?;
        let values: Vec<String> = cmd("MGET").arg(&full.users).query(&mut self.bare)?;
        same("values on the server", &json!(values), &json!(ten()))?;
        let list: Vec<String> = cmd("LRANGE")
            .arg(&full.list)
            .arg(0)
            .arg(-1)
            .query(&mut self.bare)?;
        same("a list on the server", &json!(list), &json!(items()))
    }

    fn play(&mut self, name: &str) {
        let replies = self.replies.get(name).cloned();
        K::inner(&mut self.connection).play(replies);
    }

    /// Operations per second, or nanoseconds of one without a socket, or how many were counted.
    fn round(&mut self, name: &str, seconds: f64) -> Result<f64> {
        let alone = self.measure.alone();
        let batch = if alone { BATCH } else { 1 };
        if alone {
            self.play(name);
        } else if name == "LPUSH" {
            trim(&mut self.connection, &self.data)?;
        }
        if self.measure == Measure::Instructions {
            return self.counted(name);
        }
        self.timed(name, batch, seconds / 5.0)?;
        let nanoseconds = self.timed(name, batch, seconds * 4.0 / 5.0)?;
        // The replies are kept only where they are played.
        K::inner(&mut self.connection).recorded();
        Ok(if alone {
            nanoseconds
        } else {
            1e9 / nanoseconds
        })
    }

    fn counted(&mut self, name: &str) -> Result<f64> {
        mark();
        for times in [COUNTED, 2 * COUNTED] {
            for _ in 0..times {
                run(name, &mut self.connection, &self.data, false)?;
            }
            mark();
        }
        Ok(f64::from(COUNTED))
    }

    fn timed(&mut self, name: &str, batch: u32, seconds: f64) -> Result<f64> {
        let wanted = Duration::from_secs_f64(seconds);
        let (start, mut done) = (Instant::now(), 0);
        loop {
            for _ in 0..batch {
                run(name, &mut self.connection, &self.data, false)?;
            }
            done += batch;
            let taken = start.elapsed();
            if taken >= wanted {
                return Ok(taken.as_nanos() as f64 / f64::from(done));
            }
        }
    }
}

fn same(what: &str, found: &Value, expected: &Value) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what}: {found} is not {expected}").into())
}
