//! Values as bytes, which a thread for blocking work reads and stores: their types need not be `Send`, so they are
//! encoded and decoded by the caller.

use crate::cache::{Read, Write};
use crate::caller::{Cached, View};
use crate::origin::Origin;
use crate::scratch::Scratch;
use crate::tier::Object;
use crate::{Cache, Error, Serializer, Ttl};
use polycache_entry::{encode_typed, EntryOptions, Limits};
use serde::Serialize;

/// A value that was read: its payload, decrypted and decompressed.
pub(crate) struct Bytes {
    serializer: Serializer,
    payload: Vec<u8>,
}

/// The entry of a value that is to be stored, or why it has none.
pub(crate) type Encoded = Result<Vec<u8>, polycache_entry::Error>;

pub(crate) fn reading_bytes(
    serializer: Serializer,
    payload: &[u8],
    _: &Limits,
) -> Result<Bytes, polycache_entry::Error> {
    let payload = payload.to_vec();
    Ok(Bytes {
        serializer,
        payload,
    })
}

/// Writes an entry as it is: its options were its encoder's.
pub(crate) fn writing_encoded(encoded: Encoded) -> impl Write {
    |_: &EntryOptions<'_>, out: &mut Vec<u8>| {
        out.extend_from_slice(&encoded?);
        Ok(())
    }
}

impl Cache {
    pub(crate) fn read_bytes<R>(
        &self,
        key: &[u8],
        bytes: &Bytes,
        read: impl Read<R>,
    ) -> Result<R, Error> {
        read(bytes.serializer, &bytes.payload, self.limits())
            .map_err(Error::from)
            .inspect_err(|error| crate::observe::unreadable(self, key, error))
    }

    /// A value's entry, with this time to live, and a time to idle in milliseconds.
    ///
    /// # Errors
    /// `Closed`, `InvalidArgument` for the time to live.
    pub(crate) fn encoded<T: Serialize + ?Sized>(
        &self,
        key: &[u8],
        value: &T,
        ttl: Ttl,
        time_to_idle: u64,
    ) -> Result<Encoded, Error> {
        self.still_open()?;
        ttl.check()?;
        let (mut entry, mut written) = (Vec::new(), Ok(()));
        let write = |options: &EntryOptions<'_>, out: &mut Vec<u8>| {
            written = encode_typed(value, options, out);
            Ok(())
        };
        self.write_idle(key, write, ttl, time_to_idle, &mut entry)?;
        Ok(written.map(|()| entry))
    }
}

/// A cache whose values are bytes.
#[derive(Clone)]
pub(crate) struct ByteView(pub Cache);

/// A value of it.
pub(crate) enum ByteValue {
    /// That was found, and where.
    Found(Bytes, Option<Origin>),
    /// That was loaded.
    Loaded(Encoded),
}

impl Cached for ByteView {
    fn cache(&self) -> &Cache {
        &self.0
    }
}

impl View<ByteValue> for ByteView {
    fn find(&self, key: &[u8]) -> Result<Option<ByteValue>, Error> {
        let found = self.0.find_by(key, Origin::of, reading_bytes)?;
        Ok(found.map(|(bytes, origin)| ByteValue::Found(bytes, Some(origin))))
    }

    fn read_entry(
        &self,
        key: &[u8],
        entry: &mut Scratch,
        origin: Option<Origin>,
    ) -> Result<ByteValue, Error> {
        let bytes = self.0.read(key, entry, reading_bytes)?;
        Ok(ByteValue::Found(bytes, origin))
    }

    fn write(
        &self,
        value: &ByteValue,
        _: &EntryOptions<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), polycache_entry::Error> {
        match value {
            ByteValue::Loaded(Ok(entry)) => out.extend_from_slice(entry),
            ByteValue::Loaded(Err(error)) => return Err(error.clone()),
            // Only what was loaded is stored.
            ByteValue::Found(..) => {}
        }
        Ok(())
    }

    fn object(&self, _: &ByteValue) -> Option<Object> {
        None
    }
}
