//! A plain client that writes behind the caches' backs: values of ours, garbage, and deletes.

use super::history::OUTSIDE;
use crate::log::{Op, Record, Writer};
use crate::namespaces;
use crate::outcome::Fallible;
use crate::value::{self, Serial};
use crate::worker::now;
use polycache::Cache;
use redis::ConnectionLike;

/// How its values are made: by a cache with another prefix, whose records are copied under the workers' keys.
const APART: &str = "apart";

/// The client.
pub struct Behind {
    connection: Box<dyn ConnectionLike>,
    cache: Cache,
    log: Writer,
    counter: u32,
}

/// Its number as a worker.
pub const NUMBER: u16 = OUTSIDE + 1;

impl Behind {
    /// A client with this connection; `cache` is one with [`Behind::prefix`]. Its values are numbered from here on.
    pub fn new(
        connection: Box<dyn ConnectionLike>,
        cache: Cache,
        log: Writer,
        counter: u32,
    ) -> Behind {
        Behind {
            connection,
            cache,
            log,
            counter,
        }
    }

    /// The prefix of its own cache.
    pub fn prefix() -> String {
        APART.to_owned()
    }

    /// Writes once, at random.
    pub fn write(&mut self, key: u8, dice: u8) -> Fallible<()> {
        match dice % 4 {
            0 => self.garbage(key),
            1 => self.delete(key),
            _ => self.set(key),
        }
    }

    /// A whole value, with `SET`, as a restored backup or another program would.
    fn set(&mut self, key: u8) -> Fallible<()> {
        self.counter += 1;
        let serial = value::serial(NUMBER, self.counter);
        let name = value::key(key);
        let mut text = String::new();
        value::write(&name, serial, &mut text);
        self.cache.set(&name, &text)?;
        let from = format!("{APART}:{}", namespaces::full_key(0, &name));
        let mut record: Vec<u8> = redis::cmd("GET").arg(from).query(&mut *self.connection)?;
        let begin = now();
        self.log(Op::Set, key, serial, begin, 0)?;
        // It is born now, or a clear from before would hide it.
        let clock: Option<u64> = redis::cmd("GET")
            .arg("polycache:%clock")
            .query(&mut *self.connection)?;
        let born = clock.unwrap_or(0).to_le_bytes();
        record
            .get_mut(2..8)
            .ok_or("a record has a head")?
            .copy_from_slice(&born[..6]);
        self.put(key, &record)?;
        self.log(Op::SetDone, key, serial, begin, now())
    }

    fn garbage(&mut self, key: u8) -> Fallible<()> {
        let begin = now();
        self.log(Op::Garbage, key, 0, begin, 0)?;
        self.put(key, b"theirs")?;
        self.log(Op::DeleteDone, key, 0, begin, now())
    }

    fn delete(&mut self, key: u8) -> Fallible<()> {
        let begin = now();
        self.log(Op::Delete, key, 0, begin, 0)?;
        redis::cmd("DEL")
            .arg(stored(key))
            .exec(&mut *self.connection)?;
        self.log(Op::DeleteDone, key, 0, begin, now())
    }

    fn put(&mut self, key: u8, bytes: &[u8]) -> Fallible<()> {
        let mut set = redis::cmd("SET");
        set.arg(stored(key)).arg(bytes);
        Ok(set.exec(&mut *self.connection)?)
    }

    fn log(&mut self, op: Op, key: u8, serial: Serial, begin: u64, end: u64) -> Fallible<()> {
        Ok(self.log.now(Record {
            op,
            key,
            serial,
            begin,
            end,
        })?)
    }
}

/// What a worker's key is called on the server.
fn stored(key: u8) -> String {
    let name = value::key(key);
    format!(
        "polycache:{}",
        namespaces::full_key(namespaces::of(key), &name)
    )
}
