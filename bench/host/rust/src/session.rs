//! Answers the controller's lines until it says `close` or goes away.

use crate::data::{self, Data};
use crate::protocol::{OperationInfo, Reply, Request};
use crate::subject::{Kind, Operation, Outcome, Subject};
use std::collections::HashSet;
use std::io::{self, BufRead, Write};
use std::time::Instant;

/// Operations between two looks at the clock in a race.
const PIECE: usize = 128;
/// Keys whose values are looked at after the fill.
const SAMPLE: usize = 100;

struct Session<S: Subject> {
    subject: S,
    operations: Vec<Operation<S>>,
    data: Data,
    values: HashSet<String>,
}

/// The main function of a subject's binary.
pub fn main<S: Subject>() {
    let mut session: Option<Session<S>> = None;
    for line in io::stdin().lock().lines() {
        let reply = line
            .map_err(Into::into)
            .and_then(|line| answer(&mut session, &line))
            .unwrap_or_else(|error| Reply::Failed {
                error: error.to_string(),
            });
        let closed = matches!(reply, Reply::Closed {});
        println!(
            "{}",
            serde_json::to_string(&reply).expect("a reply is JSON")
        );
        io::stdout().flush().expect("the controller reads");
        if closed {
            break;
        }
    }
}

fn answer<S: Subject>(session: &mut Option<Session<S>>, line: &str) -> Outcome<Reply> {
    match (serde_json::from_str(line)?, session.as_mut()) {
        (Request::Open(place), _) => {
            let subject = S::open(&place)?;
            let values = data::lines(&place.data.join("values.txt"))?;
            let stored = values.iter().map(|value| subject.stored(value)).collect();
            let opened = session.insert(Session {
                subject,
                operations: S::operations(),
                data: Data::read(&place.data, stored)?,
                values: values.into_iter().collect(),
            });
            Ok(opened.describe())
        }
        (Request::Close, _) => {
            *session = None;
            Ok(Reply::Closed {})
        }
        (_, None) => Err("not open".into()),
        (Request::Fill { passes }, Some(session)) => session.fill(passes),
        (Request::Run { operation, count }, Some(session)) => session.run(&operation, count),
        (Request::Tail { operation, count }, Some(session)) => session.tail(&operation, count),
        (
            Request::Race {
                operation,
                start_ns,
                seconds,
            },
            Some(session),
        ) => session.race(&operation, start_ns, seconds),
    }
}

impl<S: Subject> Session<S> {
    fn describe(&self) -> Reply {
        Reply::Opened {
            subject: S::NAME,
            bounded: S::BOUNDED,
            versions: self.subject.versions(),
            operations: self
                .operations
                .iter()
                .map(|operation| OperationInfo {
                    name: operation.name,
                    durability: operation.durability,
                })
                .collect(),
        }
    }

    fn fill(&mut self, passes: u32) -> Outcome<Reply> {
        for _ in 0..passes {
            let round = self.data.round(Kind::Put, self.data.len());
            self.subject.fill(&round.batch())?;
        }
        if passes == 0 {
            // The other process of a pair has filled it.
            self.data.skip(self.data.len() / 2);
        }
        for key in self.data.round(Kind::Get, SAMPLE).batch().reads {
            let value = self.subject.value(key)?;
            if !value.is_some_and(|value| self.values.contains(&value)) {
                return Err("a key that was written does not have its value".into());
            }
        }
        Ok(Reply::Filled {
            turns: self.subject.turns()?,
        })
    }

    fn run(&mut self, name: &str, count: usize) -> Outcome<Reply> {
        let operation = find(&self.operations, name)?;
        let round = self.data.round(operation.kind, count);
        let batch = round.batch();
        let start = Instant::now();
        let misses = (operation.run)(&mut self.subject, &batch)?;
        let seconds = start.elapsed().as_secs_f64();
        Ok(Reply::Ran { seconds, misses })
    }

    /// Each operation is timed from the end of the one before it, with one look at the clock between them.
    fn tail(&mut self, name: &str, count: usize) -> Outcome<Reply> {
        let operation = find(&self.operations, name)?;
        let round = self.data.round(operation.kind, count);
        let pieces = round.pieces(1);
        let mut times = Vec::with_capacity(count);
        let mut misses = 0;
        let mut before = Instant::now();
        for piece in &pieces {
            misses += (operation.run)(&mut self.subject, piece)?;
            let now = Instant::now();
            times.push((now - before).as_nanos() as u64);
            before = now;
        }
        times.sort_unstable();
        let beyond = |share: usize| times[(times.len() - 1) * (share - 1) / share];
        Ok(Reply::Tailed {
            p99: beyond(100),
            p999: beyond(1000),
            misses,
        })
    }

    /// Repeats the operation from `start_ns` on for so many seconds.
    fn race(&mut self, name: &str, start_ns: u64, seconds: f64) -> Outcome<Reply> {
        let operation = find(&self.operations, name)?;
        let round = self.data.round(operation.kind, self.data.len());
        let pieces = round.pieces(PIECE);
        if monotonic_ns() >= start_ns {
            return Ok(Reply::Raced {
                late: true,
                seconds: 0.0,
                count: 0,
                misses: 0,
            });
        }
        while monotonic_ns() < start_ns {
            std::hint::spin_loop();
        }
        let start = Instant::now();
        let (mut count, mut misses) = (0, 0);
        for piece in pieces.iter().cycle() {
            misses += (operation.run)(&mut self.subject, piece)?;
            count += piece.writes.len() + piece.reads.len();
            if start.elapsed().as_secs_f64() >= seconds {
                break;
            }
        }
        Ok(Reply::Raced {
            late: false,
            seconds: start.elapsed().as_secs_f64(),
            count,
            misses,
        })
    }
}

fn find<'a, S>(operations: &'a [Operation<S>], name: &str) -> Outcome<&'a Operation<S>> {
    operations
        .iter()
        .find(|operation| operation.name == name)
        .ok_or_else(|| format!("no operation {name}").into())
}

fn monotonic_ns() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the buffer is valid for the call.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
