//! Asks the server of a cache how it is, for `polycache stats -r`.

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::human::delay;
use crate::{open, text};
use polycache::bindings::Bindings;
use polycache::Cache;
use polycache_json::{identity, milliseconds};
use serde_json::{json, Value};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long the server may take to tell of a write.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(10);
/// A key to ask for; it does not matter whether it is there.
const KEY: &str = "polycache";

/// What the command found out by being one more host for a moment.
pub enum Server {
    /// Why it did not answer.
    Silent(String),
    Answers(Answers),
}

pub struct Answers {
    /// How long one command took.
    pub round_trip: Duration,
    /// How far behind this command's copies would be; `None` when it was not told of writes.
    pub lag: Option<Duration>,
    /// It refuses to tell of writes.
    pub refuses: bool,
    /// Which data it has.
    pub identity: Option<u64>,
}

/// # Errors
/// Those of a wrong URL.
pub fn look(arguments: &Arguments, url: &str) -> Result<Server, Failure> {
    let cache = open::as_host(arguments, url)?;
    // Connects, and asks for the identity of the data.
    cache.has(KEY)?;
    let before = Instant::now();
    cache.has(KEY)?;
    let round_trip = before.elapsed();
    if let Some(why) = fault(&cache) {
        return Ok(Server::Silent(why));
    }
    let (lag, refuses) = hears(&cache);
    let answers = Answers {
        round_trip,
        lag,
        refuses,
        identity: cache.remote_identity(),
    };
    cache.close();
    Ok(Server::Answers(answers))
}

fn fault(cache: &Cache) -> Option<String> {
    let stats = cache.remote_stats()?;
    (stats.faults > 0).then_some(stats.last_fault)
}

/// Waits until the server tells this command of a write, or refuses to: the lag, and whether it refuses.
fn hears(cache: &Cache) -> (Option<Duration>, bool) {
    let begun = Instant::now();
    loop {
        let stats = cache.remote_stats().unwrap_or_default();
        if stats.listens || stats.refuses_tracking || begun.elapsed() >= PATIENCE {
            return (stats.lag.filter(|_| stats.listens), stats.refuses_tracking);
        }
        sleep(PAUSE);
    }
}

impl Server {
    pub fn json(&self) -> Value {
        let (silent, answers) = match self {
            Server::Silent(why) => (Some(why), None),
            Server::Answers(answers) => (None, Some(answers)),
        };
        json!({
            "answers": answers.is_some(),
            "fault": silent,
            "round_trip": answers.map(|it| milliseconds(it.round_trip)),
            "lag": answers.and_then(|it| it.lag).map(milliseconds),
            "refuses_tracking": answers.is_some_and(|it| it.refuses),
            "identity": answers.and_then(|it| it.identity).map(identity),
        })
    }

    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let answers = match self {
            Server::Silent(why) => {
                return vec![("server", format!("no answer: {}", text::line(why)))]
            }
            Server::Answers(answers) => answers,
        };
        let data = answers.identity.map(identity);
        let tells = match (answers.refuses, answers.lag) {
            (true, _) => "it refuses to tell of writes, so every read asks it (see the rights in docs/remote.md)".into(),
            (_, Some(lag)) => format!("it tells of writes; what this command heard is {} old", delay(lag)),
            (_, None) => format!("it told of no write within {}", delay(PATIENCE)),
        };
        vec![
            (
                "server",
                format!("answered within {}", delay(answers.round_trip)),
            ),
            (
                "its data",
                data.unwrap_or_else(|| "no identity: there can be no copies".into()),
            ),
            ("writes", tells),
        ]
    }
}
