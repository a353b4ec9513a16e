//! A namespace, as one cache writes and reads it.

use crate::call::Payload;
use crate::entry::compressor_of;
use crate::store::Handle;
use crate::{error, registry};
use napi::bindgen_prelude::{BufferSlice, Env};
use napi::Result;
use napi_derive::napi;
use polycache_entry::{
    decode_payload, decode_value, decrypt_payload, encode, encode_payload, has_time_to_idle,
    is_due, prolonged, renewed, Compressor, CompressorId, Encryption, EntryOptions, Limits,
    Serializer, Value, Verify, MAX_TIME_MS,
};
use polycache_host::Store;
use std::rc::Rc;

/// A buffer that grew larger than this is not kept.
const KEPT: usize = 1024 * 1024;

/// What the operations on a namespace's keys need.
pub(crate) struct Namespace {
    pub handle: Rc<Handle>,
    pub inner: polycache_host::Namespace,
    serializer: Serializer,
    compressor: Compressor,
    limits: Limits,
    encryption: Option<Encryption>,
    /// Of entries that are written, in milliseconds; 0 is none.
    pub time_to_idle: u64,
    /// Buffers of one call, kept so that a usual one allocates nothing.
    pub entry: Vec<u8>,
    payload: Vec<u8>,
}

impl Namespace {
    /// Writes the entry of a key's payload into the buffer, with the namespace's time to idle.
    #[inline]
    pub fn write(
        &mut self,
        store: &Store,
        key: &[u8],
        payload: Payload<'_>,
        ttl: f64,
    ) -> Result<()> {
        self.write_idle(store, key, payload, ttl, self.time_to_idle)
    }

    /// Writes the entry of a key's payload into the buffer, with a time to idle in milliseconds, 0 for none.
    #[inline]
    pub fn write_idle(
        &mut self,
        store: &Store,
        key: &[u8],
        payload: Payload<'_>,
        ttl: f64,
        time_to_idle: u64,
    ) -> Result<()> {
        let payload = payload.map_err(|weight| {
            error::entry(polycache_entry::Error::ValueTooLarge {
                size: weight,
                limit: self.limits.max_weight(),
            })
        })?;
        self.write_by(store, key, ttl, time_to_idle, |options, entry| {
            encode_payload(payload, options.serializer, options, entry)
        })
    }

    /// Writes the entry of a key's integer into the buffer.
    pub fn write_integer(
        &mut self,
        store: &Store,
        key: &[u8],
        sum: i64,
        ttl: f64,
        time_to_idle: u64,
    ) -> Result<()> {
        self.write_by(store, key, ttl, time_to_idle, |options, entry| {
            encode(&Value::from(sum), options, entry)
        })
    }

    #[inline(always)]
    fn write_by(
        &mut self,
        store: &Store,
        key: &[u8],
        ttl: f64,
        time_to_idle: u64,
        write: impl FnOnce(&EntryOptions<'_>, &mut Vec<u8>) -> Written,
    ) -> Result<()> {
        self.empty();
        let now = store.now();
        let options = EntryOptions {
            serializer: self.serializer,
            compressor: self.compressor,
            dictionaries: self.limits.dictionaries.as_ref(),
            created: now,
            expires: end_of(ttl, now),
            time_to_idle,
            encryption: self
                .encryption
                .as_ref()
                .map(|keys| keys.of(self.inner.prefix(), key)),
            max_length: self.limits.max_length,
            ..EntryOptions::default()
        };
        write(&options, &mut self.entry).map_err(error::entry)
    }

    /// The payload of the key's entry in the buffer, with the id of its serializer before it.
    #[inline]
    pub fn read(&mut self, key: &[u8]) -> Result<&[u8]> {
        let Namespace { entry, payload, .. } = self;
        // The store's own checks say that its bytes are whole.
        let (header, payload) = match &self.encryption {
            None => decode_payload(entry, Verify::Trusted, &self.limits, payload),
            Some(keys) => {
                let keys = keys.of(self.inner.prefix(), key);
                decrypt_payload(entry, Verify::Trusted, &self.limits, keys, payload)
            }
        }
        .map_err(error::entry)?;
        let (id, start) = (header.serializer as u8, header.header_len - 1);
        Ok(match header.compressor {
            CompressorId::None => {
                // The id goes where the header's last byte was, so that all is copied once.
                let end = start + 1 + payload.len();
                self.entry[start] = id;
                &self.entry[start..end]
            }
            CompressorId::Zstd => {
                self.payload.insert(0, id);
                &self.payload
            }
        })
    }

    /// The integer of the key's entry in the buffer.
    pub fn integer(&mut self, key: &[u8]) -> Result<i64> {
        let limits = Limits::of(self.limits.max_length);
        let payload = self.read(key)?;
        let value = Serializer::from_id(payload[0])
            .and_then(|serializer| decode_value(serializer, &payload[1..], &limits))
            .map_err(error::entry)?;
        match value {
            Value::Int(integer) => i64::try_from(integer).map_err(|_| error::overflow()),
            Value::BigInt(_) => Err(error::overflow()),
            _ => Err(error::not_an_integer()),
        }
    }

    /// The entry in the buffer, of this key, as if it were written now, to live for `ttl` milliseconds, 0 for ever.
    pub fn renewed(&mut self, store: &Store, key: &[u8], ttl: f64) -> Result<Vec<u8>> {
        let now = store.now();
        let keys = self
            .encryption
            .as_ref()
            .map(|keys| keys.of(self.inner.prefix(), key));
        let mut later = Vec::with_capacity(self.entry.len());
        renewed(&self.entry, now, end_of(ttl, now), keys, &mut later).map_err(error::entry)?;
        Ok(later)
    }

    /// Whether a read of the entry in the buffer, which is not decoded yet, is to prolong it.
    #[inline]
    pub fn is_due(&self, store: &Store) -> bool {
        has_time_to_idle(&self.entry) && is_due(&self.entry, store.now())
    }

    /// Prolongs the key's entry after a read. That has its value already, so nothing that prevents it is an error.
    #[cold]
    pub fn prolong(&self, store: &Store, key: &[u8]) {
        let _ = self.prolong_what_stands(store, key);
    }

    /// Looks again where another change came first: the entry may only have been moved.
    fn prolong_what_stands(&self, store: &Store, key: &[u8]) -> Result<()> {
        let (mut entry, mut later) = (Vec::new(), Vec::new());
        loop {
            entry.clear();
            later.clear();
            let found = store.peek(&self.inner, key, &mut entry);
            let Some(hit) = found.map_err(error::host)? else {
                return Ok(());
            };
            let keys = self
                .encryption
                .as_ref()
                .map(|keys| keys.of(self.inner.prefix(), key));
            let is_due = prolonged(&entry, store.now(), keys, &mut later).map_err(error::entry)?;
            let replaced = || store.replace(&self.inner, key, hit, &later);
            if !is_due || replaced().map_err(error::host)? {
                return Ok(());
            }
        }
    }

    /// Empties the buffers for the next call.
    #[inline]
    pub fn empty(&mut self) {
        for buffer in [&mut self.entry, &mut self.payload] {
            buffer.clear();
            if buffer.capacity() > KEPT {
                *buffer = Vec::new();
            }
        }
    }
}

type Written = std::result::Result<(), polycache_entry::Error>;

/// When what is written now expires, for a `ttl` of milliseconds; 0 is never. A time of expiry is passed on as it is: in
/// milliseconds since 1970, below 0.
#[inline]
fn end_of(ttl: f64, now: u64) -> u64 {
    if ttl < 0.0 {
        return -ttl as u64;
    }
    match ttl as u64 {
        0 => 0,
        ttl => now.saturating_add(ttl).min(MAX_TIME_MS),
    }
}

/// A page of keys.
#[napi(object)]
pub struct KeyPage<'env> {
    /// Where to go on; absent at the end.
    pub next: Option<f64>,
    /// The keys, without the namespace's part.
    pub keys: Vec<BufferSlice<'env>>,
}

/// A namespace. The callbacks of [`crate::operations`] take its number, which is valid as long as
/// this object lives.
#[napi]
pub struct NativeNamespace(u32);

impl NativeNamespace {
    pub(crate) fn new(
        handle: &Rc<Handle>,
        parts: &[String],
        serializer: u32,
        level: i32,
        limits: Limits,
        encryption: Option<Encryption>,
        time_to_idle: u64,
    ) -> Result<NativeNamespace> {
        let serializer = u8::try_from(serializer)
            .map_err(|_| error::invalid("no such serializer"))
            .and_then(|id| Serializer::from_id(id).map_err(error::entry))?;
        Ok(NativeNamespace(registry::add(Namespace {
            inner: handle.with(|store| store.namespace(parts).map_err(error::host))?,
            handle: handle.clone(),
            serializer,
            compressor: compressor_of(level),
            limits,
            encryption,
            time_to_idle,
            entry: Vec::new(),
            payload: Vec::new(),
        })))
    }
}

impl Drop for NativeNamespace {
    fn drop(&mut self) {
        registry::remove(self.0);
    }
}

#[napi]
impl NativeNamespace {
    /// The number for the callbacks.
    #[napi(getter)]
    pub fn number(&self) -> u32 {
        self.0
    }

    /// Looks at `budget` slots from `cursor` on for keys that begin with `prefix`.
    #[napi]
    pub fn keys<'env>(
        &self,
        env: &'env Env,
        prefix: &[u8],
        cursor: f64,
        budget: u32,
    ) -> Result<KeyPage<'env>> {
        let mut keys = Vec::new();
        let next = registry::with(self.0, |namespace| {
            namespace.handle.with(|store| {
                let (cursor, budget) = (cursor as u64, u64::from(budget));
                store
                    .keys(&namespace.inner, prefix, cursor, budget, &mut keys)
                    .map_err(error::host)
            })
        })?;
        Ok(KeyPage {
            next: next.map(|next| next as f64),
            keys: keys
                .iter()
                .map(|key| BufferSlice::copy_from(env, key))
                .collect::<Result<_>>()?,
        })
    }

    /// Stores bytes as the key's entry, whatever they are; tests use it.
    #[napi]
    pub fn put_entry(&self, key: &[u8], entry: &[u8]) -> Result<()> {
        registry::with(self.0, |namespace| {
            namespace
                .handle
                .with(|store| store.put(&namespace.inner, key, entry).map_err(error::host))
        })
    }

    /// Clears the namespace and those nested in it.
    #[napi]
    pub fn clear(&self) -> Result<()> {
        registry::with(self.0, |namespace| {
            namespace
                .handle
                .with(|store| store.clear(&namespace.inner).map_err(error::host))
        })
    }
}
