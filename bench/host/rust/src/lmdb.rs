//! LMDB through heed; the binaries `lmdb` and `lmdb-writemap` differ in the environment's flags.

use crate::{
    durability::SURVIVES_KILL, locked, name, operation, Batch, Kind, Operation, Outcome, Place,
};
use heed::types::Bytes;
use heed::{Database, Env, EnvFlags, EnvOpenOptions};
use std::fs;

/// An open environment and its unnamed database.
pub struct Lmdb {
    env: Env,
    database: Database<Bytes, Bytes>,
    value: Vec<u8>,
}

impl Lmdb {
    /// Opens the environment. The map is large enough never to be full.
    pub fn open(place: &Place, flags: EnvFlags) -> Outcome<Lmdb> {
        fs::create_dir_all(&place.directory)?;
        let mut options = EnvOpenOptions::new();
        options.map_size(8 * place.limit as usize);
        // SAFETY: the files are on a local file system, and no process opens them with other flags
        // or opens them twice.
        let env = unsafe { options.flags(flags).open(&place.directory)? };
        let mut transaction = env.write_txn()?;
        let database = env.create_database(&mut transaction, None)?;
        transaction.commit()?;
        Ok(Lmdb {
            env,
            database,
            value: Vec::new(),
        })
    }

    /// What is measured.
    pub fn operations<S: AsMut<Lmdb>>() -> Vec<Operation<S>> {
        vec![
            operation(name::PUT, Kind::Put, SURVIVES_KILL, |s: &mut S, batch| {
                s.as_mut().put(batch, 1)
            }),
            operation(
                name::PUT_100,
                Kind::Put,
                SURVIVES_KILL,
                |s: &mut S, batch| s.as_mut().put(batch, 100),
            ),
            operation(
                name::PUT_ALL,
                Kind::Put,
                SURVIVES_KILL,
                |s: &mut S, batch| s.as_mut().put(batch, usize::MAX),
            ),
            operation(name::GET, Kind::Get, SURVIVES_KILL, |s: &mut S, batch| {
                s.as_mut().get(batch)
            }),
            operation(
                name::GET_ALL,
                Kind::Get,
                SURVIVES_KILL,
                |s: &mut S, batch| s.as_mut().get_all(batch),
            ),
            operation(
                name::MIXED,
                Kind::Mixed,
                SURVIVES_KILL,
                |s: &mut S, batch| s.as_mut().mixed(batch),
            ),
        ]
    }

    /// Writes everything, so many writes a transaction.
    pub fn put(&mut self, batch: &Batch<'_>, each: usize) -> Outcome<u64> {
        for writes in batch.writes.chunks(each.min(batch.writes.len().max(1))) {
            let mut transaction = self.env.write_txn()?;
            for (key, value) in writes {
                self.database.put(&mut transaction, key, value)?;
            }
            transaction.commit()?;
        }
        Ok(0)
    }

    fn get(&mut self, batch: &Batch<'_>) -> Outcome<u64> {
        let mut misses = 0;
        for key in batch.reads {
            let transaction = self.env.read_txn()?;
            misses += keep(self.database.get(&transaction, key)?, &mut self.value);
        }
        Ok(misses)
    }

    fn get_all(&mut self, batch: &Batch<'_>) -> Outcome<u64> {
        let mut misses = 0;
        let transaction = self.env.read_txn()?;
        for key in batch.reads {
            misses += keep(self.database.get(&transaction, key)?, &mut self.value);
        }
        Ok(misses)
    }

    fn mixed(&mut self, batch: &Batch<'_>) -> Outcome<u64> {
        let mut misses = 0;
        for ((key, value), read) in batch.writes.iter().zip(batch.reads) {
            let mut transaction = self.env.write_txn()?;
            self.database.put(&mut transaction, key, value)?;
            transaction.commit()?;
            let transaction = self.env.read_txn()?;
            misses += keep(self.database.get(&transaction, read)?, &mut self.value);
        }
        Ok(misses)
    }

    /// The key's value as text.
    pub fn value(&mut self, key: &[u8]) -> Outcome<Option<String>> {
        let transaction = self.env.read_txn()?;
        let value = self.database.get(&transaction, key)?;
        Ok(value.map(|value| String::from_utf8_lossy(value).into_owned()))
    }

    /// The library's version.
    pub fn versions() -> Vec<(&'static str, String)> {
        let version = heed::lmdb_version();
        let lmdb = format!("{}.{}.{}", version.major, version.minor, version.patch);
        vec![("heed", locked("heed")), ("lmdb", lmdb)]
    }
}

/// A value outlives its transaction only as a copy, which is what a cache's caller gets.
fn keep(value: Option<&[u8]>, copy: &mut Vec<u8>) -> u64 {
    match value {
        Some(value) => {
            copy.clear();
            copy.extend_from_slice(value);
            0
        }
        None => 1,
    }
}
