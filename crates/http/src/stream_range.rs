//! Ranges of a Redis stream's ids, from a request's query.

use crate::Problem;
use http::StatusCode;

/// Which entries of a stream are asked for, as XRANGE takes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamRange {
    /// `-`, an id, or an id after `(` that is itself left out.
    pub start: String,
    /// `+`, an id, or an id after `(` that is itself left out.
    pub end: String,
    /// Most entries.
    pub count: u64,
}

impl StreamRange {
    /// Most entries where nothing else is said.
    pub const MAX_COUNT: u64 = 10_000;

    /// Reads `start`, `end` and `count` of a query, without its question mark. Ids are Redis' own: `1700000000010-0`,
    /// `1700000000010` for all of a millisecond, and `(1700000000010-0` for what comes after; `-` and `+` are the ends, and
    /// `end=+` may stay as it is though a plus in a query means a space. Other parameters are left to you. `max_count` is also
    /// the count where the query has none.
    ///
    /// # Errors
    /// 400 with the member `parameter` for what is given twice, is no id, or is no count from 1 to `max_count`.
    pub fn parse(query: &str, max_count: u64) -> Result<StreamRange, Problem> {
        let (mut start, mut end, mut count) = (None, None, None);
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let (name, place) = match &*name {
                "start" => ("start", &mut start),
                "end" => ("end", &mut end),
                "count" => ("count", &mut count),
                _ => continue,
            };
            if place.replace(value.into_owned()).is_some() {
                return Err(refused(name, "is given more than once"));
            }
        }
        Ok(StreamRange {
            start: start.map_or(Ok("-".into()), |given| id("start", given))?,
            end: end.map_or(Ok("+".into()), |given| id("end", given))?,
            count: count.map_or(Ok(max_count), |given| count_of(&given, max_count))?,
        })
    }
}

fn id(name: &str, given: String) -> Result<String, Problem> {
    match &*given {
        "-" | "+" => return Ok(given),
        " " => return Ok("+".into()),
        _ => {}
    }
    let is_open = given.starts_with('(');
    let Some((ms, sequence)) = parts(given.strip_prefix('(').unwrap_or(&given)) else {
        let why = "is no id: write 1700000000010-0, (1700000000010-0, - or +";
        return Err(refused(name, why));
    };
    // Redis refuses to go beyond these.
    let is_last = match name {
        "end" => ms == 0 && sequence.unwrap_or(0) == 0,
        _ => ms == u64::MAX && sequence.unwrap_or(u64::MAX) == u64::MAX,
    };
    if is_open && is_last {
        let why = "leaves out the last id that there is, so nothing is left";
        return Err(refused(name, why));
    }
    Ok(given)
}

/// Milliseconds and sequence of an id, of 64 bits each.
fn parts(id: &str) -> Option<(u64, Option<u64>)> {
    match id.split_once('-') {
        None => Some((number(id)?, None)),
        Some((ms, sequence)) => Some((number(ms)?, Some(number(sequence)?))),
    }
}

fn number(digits: &str) -> Option<u64> {
    let is_number =
        (1..=20).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().ok()).flatten()
}

fn count_of(given: &str, max_count: u64) -> Result<u64, Problem> {
    let count = number(given).unwrap_or(0);
    if (1..=max_count).contains(&count) {
        return Ok(count);
    }
    let why = format!("is no whole number from 1 to {max_count}");
    Err(refused("count", &why))
}

fn refused(parameter: &str, why: &str) -> Problem {
    let detail = format!("The parameter {parameter} {why}.");
    Problem::new(StatusCode::BAD_REQUEST, detail).with("parameter", parameter)
}
