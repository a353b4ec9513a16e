//! An entry with its facts, for programs that inspect a cache.

use crate::cache::Read;
use crate::scratch::Scratch;
use crate::{ttl, Cache, Error, Serializer, TtlLeft, Value};
use polycache_entry::{
    decode_payload, decode_value, decrypt_payload, CompressorId, Header, Limits, Verify,
};
use std::time::Duration;

/// An entry: its value, and its facts.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The value.
    pub value: Value<'static>,
    /// The facts.
    pub facts: Facts,
}

/// The facts of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// What wrote the payload.
    pub serializer: Serializer,
    /// What made it smaller.
    pub compressor: CompressorId,
    /// When the entry was written, in milliseconds since 1970.
    pub created: u64,
    /// When it expires, in milliseconds since 1970; `None` is never.
    pub expires: Option<u64>,
    /// How long ago it was written.
    pub age: Duration,
    /// The time that it has left.
    pub ttl: TtlLeft,
    /// Bytes of the entry as it is stored, header included.
    pub size: u64,
    /// Bytes of its payload, uncompressed.
    pub payload: u64,
    /// The id of the key that it is encrypted under; `None` for a plain entry.
    pub encryption_key: Option<u32>,
    /// The entry's version, for [`Cache::compare_and_set`].
    pub version: Version,
}

/// The version of an entry. Every write of a key, and every [`Cache::touch`], gives it another, which no entry of the
/// cache had before. A version is only good to be compared, and means nothing after the machine restarted. The directory
/// may give an entry another version when it moves it to another place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Version(u64);

impl From<u64> for Version {
    fn from(number: u64) -> Version {
        Version(number)
    }
}

impl From<Version> for u64 {
    fn from(version: Version) -> u64 {
        version.0
    }
}

impl Cache {
    /// The key's entry, with its facts; not a use of it, as [`Cache::peek`].
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let cache = polycache::Cache::builder().path(directory.path()).build()?;
    /// cache.set("k", "value")?;
    /// let entry = cache.entry("k")?.expect("it was set");
    /// assert_eq!(entry.value, "value".into());
    /// assert_eq!(entry.facts.expires, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Cache::get_with`].
    pub fn entry(&self, key: impl AsRef<[u8]>) -> Result<Option<Entry>, Error> {
        let key = key.as_ref();
        let read = |serializer: Serializer, payload: &[u8], limits: &Limits| {
            Ok(decode_value(serializer, payload, limits)?.into_owned())
        };
        let found = self.entry_by(key, read)?;
        Ok(found.map(|(value, facts)| Entry { value, facts }))
    }

    /// What reads the payload, and the entry's facts.
    pub(crate) fn entry_by<R>(
        &self,
        key: &[u8],
        read: impl Read<R>,
    ) -> Result<Option<(R, Facts)>, Error> {
        self.peek_version(key, |entry, version| {
            let (mut scratch, mut copy) = (Vec::new(), Vec::new());
            let limits = self.limits();
            let (header, payload) = match self.encryption(key) {
                None => decode_payload(entry, Verify::Trusted, limits, &mut scratch)?,
                Some(keys) => {
                    copy.extend_from_slice(entry);
                    decrypt_payload(&mut copy, Verify::Trusted, limits, keys, &mut scratch)?
                }
            };
            let value = read(header.serializer, payload, limits)?;
            Ok((value, self.facts_of(&header, entry, version)))
        })?
        .transpose()
    }

    /// The facts of the key's entry; the value is neither decrypted nor decoded. Not a use of it, as [`Cache::peek`].
    ///
    /// # Errors
    /// Those of [`Cache::get_with`], as far as its header goes.
    pub fn facts(&self, key: impl AsRef<[u8]>) -> Result<Option<Facts>, Error> {
        self.peek_version(key.as_ref(), |entry, version| {
            let header = Header::parse(entry, Verify::Trusted)?;
            Ok(self.facts_of(&header, entry, version))
        })?
        .transpose()
    }

    /// What `f` makes of the key's entry bytes and their version, without using the entry.
    fn peek_version<R>(
        &self,
        key: &[u8],
        f: impl FnOnce(&[u8], Version) -> R,
    ) -> Result<Option<R>, Error> {
        let tier = self.tier();
        let mut scratch = Scratch::take();
        loop {
            scratch.entry.clear();
            let Some(seen) = self.seen_or_missing(key, &mut scratch.entry)? else {
                scratch.keep();
                return Ok(None);
            };
            if let Some(version) = tier.version(key, &seen)? {
                let result = f(&scratch.entry, Version(version));
                scratch.keep();
                return Ok(Some(result));
            }
        }
    }

    fn facts_of(&self, header: &Header<'_>, entry: &[u8], version: Version) -> Facts {
        let now = self.now();
        Facts {
            serializer: header.serializer,
            compressor: header.compressor,
            created: header.created,
            expires: Some(header.expires).filter(|expires| *expires != 0),
            age: Duration::from_millis(now.saturating_sub(header.created)),
            ttl: ttl::left(header.expires, now),
            size: entry.len() as u64,
            payload: header.payload_len(entry),
            encryption_key: header.encryption_key,
            version,
        }
    }
}
