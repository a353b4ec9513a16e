//! Commands for a whole database, kept inside a namespace. They are built on SCAN, so they take time in
//! proportion to the size of the database.

use std::collections::HashSet;

use redis::{cmd, from_redis_value, Cmd, RedisResult, Value};

use crate::prefix::Prefix;
use crate::session::Sent;

/// Keys that SCAN visits in one step, and that are unlinked at once.
const BATCH: usize = 1000;
/// How often the server is asked for a random key before its keys are scanned.
const TRIES: usize = 16;

/// One of these commands in progress: each step returns the command to send next, and the last one the
/// reply.
pub(crate) struct Scope {
    sent: Sent,
    cursor: Vec<u8>,
    tries: usize,
    /// Keys counted so far; SCAN may give a key twice.
    seen: HashSet<Vec<u8>>,
    state: State,
}

enum State {
    Asking,
    Scanning,
    /// The scan is complete once these are unlinked.
    Unlinking {
        last: bool,
    },
}

/// The next thing to do.
pub(crate) enum Step {
    Send(Cmd),
    Done(Value),
}

impl Scope {
    pub(crate) fn new(sent: Sent) -> (Self, Cmd) {
        let asks = sent.command.name == "RANDOMKEY";
        let state = if asks { State::Asking } else { State::Scanning };
        let scope = Self {
            sent,
            cursor: b"0".to_vec(),
            tries: 0,
            seen: HashSet::new(),
            state,
        };
        let first = if asks { cmd("RANDOMKEY") } else { scope.scan() };
        (scope, first)
    }

    /// Takes the reply to the last command returned.
    pub(crate) fn step(&mut self, reply: Value) -> RedisResult<Step> {
        match self.state {
            State::Asking => self.asked(reply),
            State::Unlinking { last } => Ok(self.next(last)),
            State::Scanning => {
                let (cursor, keys): (Vec<u8>, Vec<Vec<u8>>) = from_redis_value(reply)?;
                let last = cursor == b"0";
                self.cursor = cursor;
                Ok(self.scanned(keys, last))
            }
        }
    }

    fn prefix(&self) -> &Prefix {
        &self.sent.prefix
    }

    fn asked(&mut self, reply: Value) -> RedisResult<Step> {
        let Some(key): Option<Vec<u8>> = from_redis_value(reply)? else {
            return Ok(Step::Done(Value::Nil));
        };
        if self.prefix().is_of(&key) {
            return Ok(Step::Done(Value::BulkString(
                self.prefix().strip(&key).to_vec(),
            )));
        }
        self.tries += 1;
        if self.tries < TRIES {
            return Ok(Step::Send(cmd("RANDOMKEY")));
        }
        self.state = State::Scanning;
        Ok(Step::Send(self.scan()))
    }

    fn scanned(&mut self, keys: Vec<Vec<u8>>, last: bool) -> Step {
        match &self.sent.command.name[..] {
            "DBSIZE" => self.seen.extend(keys),
            "RANDOMKEY" => {
                if let Some(key) = keys.first() {
                    return Step::Done(Value::BulkString(self.prefix().strip(key).to_vec()));
                }
            }
            _ if !keys.is_empty() => {
                self.state = State::Unlinking { last };
                let mut unlink = cmd("UNLINK");
                for key in keys {
                    unlink.arg(key);
                }
                return Step::Send(unlink);
            }
            _ => {}
        }
        self.next(last)
    }

    fn next(&mut self, last: bool) -> Step {
        if !last {
            self.state = State::Scanning;
            return Step::Send(self.scan());
        }
        Step::Done(match &self.sent.command.name[..] {
            "DBSIZE" => Value::Int(self.seen.len() as i64),
            "RANDOMKEY" => Value::Nil,
            _ => Value::Okay,
        })
    }

    fn scan(&self) -> Cmd {
        let mut scan = cmd("SCAN");
        scan.arg(&self.cursor)
            .arg("MATCH")
            .arg(self.prefix().glob(b"*"))
            .arg("COUNT")
            .arg(BATCH);
        scan
    }
}
