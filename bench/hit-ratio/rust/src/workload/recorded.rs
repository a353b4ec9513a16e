//! A recorded trace in the format of the ARC paper's (N. Megiddo, D. S. Modha, "ARC: A Self-Tuning,
//! Low Overhead Replacement Cache", FAST 2003), compressed by zstd: each line is `start count
//! flags id` and stands for requests to the blocks start, start + 1, ... start + count - 1.

use super::{Source, Trace};
use crate::policy::Key;
use crate::Error;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

/// The ending of such files.
pub const ENDING: &str = ".lis.zst";

/// A trace in a file.
pub struct Recorded {
    /// Where it lies.
    pub path: PathBuf,
}

impl Source for Recorded {
    fn trace(&self, _seed: u64) -> Result<Trace, Error> {
        let named = |error: Error| format!("{}: {error}", self.path.display());
        let open = || -> Result<Trace, Error> {
            let text = zstd::Decoder::new(File::open(&self.path)?)?;
            parse(BufReader::new(text))
        };
        Ok(open().map_err(named)?)
    }
}

/// Numbers the blocks in the order of their first request.
///
/// # Errors
/// When a line is not of the format.
pub fn parse(mut text: impl BufRead) -> Result<Trace, Error> {
    let mut keys: HashMap<u64, Key> = HashMap::new();
    let mut requests = Vec::new();
    let mut line = String::new();
    while text.read_line(&mut line)? > 0 {
        let (start, count) = run_of(&line).ok_or_else(|| format!("not a request: {line:?}"))?;
        for block in start..start + count {
            let new = keys.len() as Key;
            requests.push(*keys.entry(block).or_insert(new));
        }
        line.clear();
    }
    Ok(Trace {
        keys: keys.len(),
        requests,
    })
}

fn run_of(line: &str) -> Option<(u64, u64)> {
    let mut words = line.split_ascii_whitespace().map(str::parse);
    Some((words.next()?.ok()?, words.next()?.ok()?))
}
