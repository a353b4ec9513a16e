//! Changing the times of an entry: another time to live, or a time to idle that begins anew.

use crate::scratch::Scratch;
use crate::{observe, ttl, Cache, Error, Ttl};

impl Cache {
    /// Gives the key's entry another time to live, from now on: a [`Duration`](std::time::Duration), the cache's own
    /// ([`Ttl::Default`]), or none ([`Ttl::Forever`]). A time to idle that the entry has begins anew. True if there is an
    /// entry. Its value is not decoded. A set, delete or clear meanwhile wins.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let cache = polycache::Cache::builder().path(directory.path()).build()?;
    /// use polycache::{duration, Ttl, TtlLeft};
    /// cache.set_with_ttl("session", "s3cr3t", duration::parse("5m")?)?;
    /// assert!(cache.touch("session", duration::parse("1h")?)?);
    /// assert!(cache.touch("session", Ttl::Forever)?);
    /// assert_eq!(cache.ttl("session")?, Some(TtlLeft::Forever));
    /// assert!(!cache.touch("absent", Ttl::Forever)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidArgument` for the time to live; `NoSpace` and `Io`, after which the entry is as it was; `Closed`; for an
    /// entry that cannot be read: `MalformedEntry`, `UnsupportedVersion`, `UnsupportedFlags`, `UnsupportedSerializer`,
    /// `UnsupportedCompressor`, `NotEncrypted`, `UnknownEncryptionKey`, `DecryptionFailed`.
    pub fn touch(&self, key: impl AsRef<[u8]>, ttl: impl Into<Ttl>) -> Result<bool, Error> {
        let (key, ttl) = (key.as_ref(), ttl.into());
        ttl.check()?;
        let tier = self.tier();
        let mut scratch = Scratch::take();
        let touched = loop {
            scratch.entry.clear();
            let Some(seen) = tier.peek(key, &mut scratch.entry)? else {
                break false;
            };
            scratch.payload.clear();
            self.renewed(key, ttl, &scratch.entry, &mut scratch.payload)
                .inspect_err(|error| observe::unreadable(self, key, error))?;
            if tier.renew(key, &seen, &scratch.payload)? {
                break true;
            }
        };
        scratch.keep();
        observe::touched(self, key, touched);
        Ok(touched)
    }

    /// Prolongs what a read found, if it has a time to idle and a part of that has passed. The read has its value
    /// already, so nothing that prevents it is an error: a full disk, rights, a cache that was closed.
    pub(crate) fn prolong(&self, key: &[u8], read: &[u8]) {
        if polycache_entry::is_due(read, self.now()) {
            let _ = self.prolong_what_stands(key);
        }
    }

    /// Looks again where another change came first: the entry may only have been moved.
    #[cold]
    fn prolong_what_stands(&self, key: &[u8]) -> Result<(), Error> {
        let tier = self.tier();
        let mut scratch = Scratch::take();
        loop {
            scratch.entry.clear();
            scratch.payload.clear();
            let Some(seen) = tier.peek(key, &mut scratch.entry)? else {
                break;
            };
            let (now, keys) = (self.now(), self.encryption(key));
            let Scratch { entry, payload } = &mut scratch;
            let is_due = polycache_entry::prolonged(entry, now, keys, payload)?;
            if !is_due || tier.renew(key, &seen, payload)? {
                break;
            }
        }
        scratch.keep();
        Ok(())
    }

    /// Appends the entry with the times that it has if it is written now.
    fn renewed(&self, key: &[u8], ttl: Ttl, entry: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let now = self.now();
        let expires = ttl::expires(ttl, || self.settings().lifetime.next(), now)?;
        let keys = self.encryption(key);
        Ok(polycache_entry::renewed(entry, now, expires, keys, out)?)
    }
}
