//! Several keys in one call over a remote tier, where a round trip is what takes the time.

use crate::cache::{Read, Write};
use crate::observe::{self, Answer};
use crate::scratch::Scratch;
use crate::tier::RemoteTier;
use crate::{Cache, Error, Ttl};

/// Bytes of most entries.
const USUAL_ENTRY: usize = 128;

impl Cache {
    /// The values of the keys that are there, in order.
    pub(crate) fn get_several<R, D: Read<R>>(
        &self,
        remote: &RemoteTier,
        keys: &[&[u8]],
        read: impl Fn() -> D,
    ) -> Result<Vec<Option<R>>, Error> {
        let mut scratch = Scratch::take();
        let entries = remote.get_many(keys)?;
        let values = keys.iter().zip(entries).map(|(key, entry)| {
            let answer = match entry {
                Some(_) => self.tier().answer(),
                None => Answer::Miss,
            };
            observe::read(self, key, answer);
            let value = entry.map(|entry| {
                scratch.entry = entry;
                scratch.payload.clear();
                self.read_used(key, &mut scratch, read())
            });
            value.transpose()
        });
        let values = values.collect();
        scratch.keep();
        values
    }

    /// Stores values, in order. After one that cannot be written those before it are stored.
    pub(crate) fn set_several<W: Write>(
        &self,
        remote: &RemoteTier,
        entries: impl IntoIterator<Item = (Vec<u8>, W)>,
        ttl: Ttl,
    ) -> Result<(), Error> {
        self.still_open()?;
        let mut written = Vec::new();
        let mut refused = Ok(());
        for (key, write) in entries {
            match self.written(&key, write, ttl) {
                Ok(entry) => written.push((key, entry)),
                Err(error) => {
                    refused = Err(error);
                    break;
                }
            }
        }
        self.store_written(remote, &written).and(refused)
    }

    /// A value's entry, to be stored with others.
    pub(crate) fn written(
        &self,
        key: &[u8],
        write: impl Write,
        ttl: Ttl,
    ) -> Result<Vec<u8>, Error> {
        // Room for the usual value: a buffer that grows is copied four times on its way there.
        let mut entry = Vec::with_capacity(USUAL_ENTRY);
        match self.write(key, write, ttl, &mut entry) {
            Ok(()) => Ok(entry),
            Err(error) => {
                let error = self.refused(key, error);
                observe::stored(self, key, entry.len(), Err(&error));
                Err(error)
            }
        }
    }

    /// Stores keys with their entries, in order.
    pub(crate) fn store_written(
        &self,
        remote: &RemoteTier,
        entries: &[(Vec<u8>, Vec<u8>)],
    ) -> Result<(), Error> {
        self.still_open()?;
        let mut first = Ok(());
        for ((key, entry), done) in entries.iter().zip(remote.put_many(entries)) {
            observe::stored(self, key, entry.len(), done.as_ref().copied());
            first = first.and(done);
        }
        first
    }

    /// Deletes keys; returns how many of them had an entry.
    pub(crate) fn delete_several(&self, remote: &RemoteTier, keys: &[&[u8]]) -> Result<u64, Error> {
        self.still_open()?;
        let deleted = remote.delete_many(keys)?;
        for (key, deleted) in keys.iter().zip(&deleted) {
            observe::deleted(self, key, *deleted);
        }
        Ok(deleted.into_iter().filter(|deleted| *deleted).count() as u64)
    }
}
