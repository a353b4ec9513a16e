//! Values as payloads, for a language that encodes and decodes by itself: [`Payloads`].

use super::{load, Filled, Found, LoadStep, Loading, Locking};
use crate::cache::{Read, Write};
#[cfg(feature = "remote")]
use crate::Origin;
use crate::{Cache, Error, Facts, Serializer, Ttl, Version};
use polycache_entry::{encode_payload, EntryOptions, Limits};
use std::time::Duration;

/// The bytes of a value by the cache's serializer; or the weight of one that is too heavy to be stored.
pub type Payload<'a> = Result<&'a [u8], u64>;

/// A [`Cache`] whose caller encodes and decodes by itself. Each function is as the one of [`Cache`] or
/// [`Bindings`](super::Bindings) that it is named after, and has the same errors.
#[allow(missing_docs, clippy::missing_errors_doc)]
pub trait Payloads {
    #[cfg(feature = "remote")]
    fn get_near_payload<R>(
        &self,
        key: &[u8],
        f: impl FnOnce(Serializer, &[u8]) -> R,
    ) -> Result<Option<(R, Origin)>, Error>;

    fn get_payload<R>(
        &self,
        key: &[u8],
        f: impl FnOnce(Serializer, &[u8]) -> R,
    ) -> Result<Option<R>, Error>;

    fn peek_payload<R>(
        &self,
        key: &[u8],
        f: impl FnOnce(Serializer, &[u8]) -> R,
    ) -> Result<Option<R>, Error>;

    fn entry_payload<R>(
        &self,
        key: &[u8],
        f: impl FnOnce(Serializer, &[u8]) -> R,
    ) -> Result<Option<(R, Facts)>, Error>;

    /// The values of several keys, in order, over a remote tier: in one round trip to each server.
    #[cfg(feature = "remote")]
    fn get_payloads<R>(
        &self,
        keys: &[impl AsRef<[u8]>],
        f: impl Fn(Serializer, &[u8]) -> R,
    ) -> Result<Vec<Option<R>>, Error>;

    fn set_payload(&self, key: &[u8], payload: Payload<'_>, ttl: Ttl) -> Result<(), Error>;

    /// As [`Bindings::entry_of`](super::Bindings::entry_of).
    #[cfg(feature = "remote")]
    fn entry_of_payload(
        &self,
        key: &[u8],
        payload: Payload<'_>,
        ttl: Ttl,
    ) -> Result<Vec<u8>, Error>;

    fn add_payload(&self, key: &[u8], payload: Payload<'_>, ttl: Ttl) -> Result<bool, Error>;

    /// With a version as `compare_and_set`.
    fn replace_payload(
        &self,
        key: &[u8],
        version: Option<Version>,
        payload: Payload<'_>,
        ttl: Ttl,
    ) -> Result<bool, Error>;

    fn find_payload_to_update<R>(
        &self,
        key: &[u8],
        f: impl FnOnce(Serializer, &[u8]) -> R,
    ) -> Result<(Option<R>, Found), Error>;

    fn set_updated_payload(
        &self,
        key: &[u8],
        found: &Found,
        payload: Payload<'_>,
        ttl: Option<Ttl>,
    ) -> Result<bool, Error>;

    /// The caller says how long it has waited for others; the load does not look at a clock.
    fn step_payload<R>(
        &self,
        key: &[u8],
        loading: &mut Loading,
        waited: Duration,
        f: impl FnOnce(Serializer, &[u8]) -> R,
    ) -> Result<LoadStep<R>, Error>;

    fn fill_payload(
        &self,
        key: &[u8],
        loading: &mut Loading,
        payload: Payload<'_>,
        ttl: Ttl,
    ) -> Result<Filled, Error>;

    /// Of a caller that has waited already.
    fn locking_after(&self, wait: Duration, waited: Duration) -> Locking;
}

fn reading<R>(f: impl FnOnce(Serializer, &[u8]) -> R) -> impl Read<R> {
    |serializer: Serializer, payload: &[u8], _: &Limits| Ok(f(serializer, payload))
}

fn writing<'a>(payload: Payload<'a>) -> impl Write + 'a {
    move |options: &EntryOptions<'_>, out: &mut Vec<u8>| match payload {
        Ok(payload) => encode_payload(payload, options.serializer, options, out),
        Err(weight) => Err(polycache_entry::Error::ValueTooLarge {
            size: weight,
            limit: Limits::of(options.max_length).max_weight(),
        }),
    }
}

impl Payloads for Cache {
    #[cfg(feature = "remote")]
    #[inline]
    fn get_near_payload<R>(
        &self,
        key: &[u8],
        f: impl FnOnce(Serializer, &[u8]) -> R,
    ) -> Result<Option<(R, Origin)>, Error> {
        self.get_near_by(key, reading(f))
    }

    fn get_payload<R>(
        &self,
        key: &[u8],
        f: impl FnOnce(Serializer, &[u8]) -> R,
    ) -> Result<Option<R>, Error> {
        self.get_by(key, reading(f))
    }

    fn peek_payload<R>(
        &self,
        key: &[u8],
        f: impl FnOnce(Serializer, &[u8]) -> R,
    ) -> Result<Option<R>, Error> {
        self.peek_by(key, reading(f))
    }

    fn entry_payload<R>(
        &self,
        key: &[u8],
        f: impl FnOnce(Serializer, &[u8]) -> R,
    ) -> Result<Option<(R, Facts)>, Error> {
        self.entry_by(key, reading(f))
    }

    #[cfg(feature = "remote")]
    fn get_payloads<R>(
        &self,
        keys: &[impl AsRef<[u8]>],
        f: impl Fn(Serializer, &[u8]) -> R,
    ) -> Result<Vec<Option<R>>, Error> {
        let Some(remote) = self.tier().remote() else {
            return Err(Error::InvalidArgument("there is no remote tier".into()));
        };
        let keys: Vec<&[u8]> = keys.iter().map(AsRef::as_ref).collect();
        self.get_several(remote, &keys, || reading(&f))
    }

    fn set_payload(&self, key: &[u8], payload: Payload<'_>, ttl: Ttl) -> Result<(), Error> {
        self.set_by(key, ttl, writing(payload), || None)
    }

    #[cfg(feature = "remote")]
    fn entry_of_payload(
        &self,
        key: &[u8],
        payload: Payload<'_>,
        ttl: Ttl,
    ) -> Result<Vec<u8>, Error> {
        ttl.check()?;
        self.written(key, writing(payload), ttl)
    }

    fn add_payload(&self, key: &[u8], payload: Payload<'_>, ttl: Ttl) -> Result<bool, Error> {
        self.add_by(key, ttl, writing(payload), None)
    }

    fn replace_payload(
        &self,
        key: &[u8],
        version: Option<Version>,
        payload: Payload<'_>,
        ttl: Ttl,
    ) -> Result<bool, Error> {
        self.replace_by(key, ttl, writing(payload), None, version)
    }

    fn find_payload_to_update<R>(
        &self,
        key: &[u8],
        f: impl FnOnce(Serializer, &[u8]) -> R,
    ) -> Result<(Option<R>, Found), Error> {
        self.find_to_update(key, reading(f))
    }

    fn set_updated_payload(
        &self,
        key: &[u8],
        found: &Found,
        payload: Payload<'_>,
        ttl: Option<Ttl>,
    ) -> Result<bool, Error> {
        self.set_updated(key, found, ttl, writing(payload), None)
    }

    fn step_payload<R>(
        &self,
        key: &[u8],
        loading: &mut Loading,
        waited: Duration,
        f: impl FnOnce(Serializer, &[u8]) -> R,
    ) -> Result<LoadStep<R>, Error> {
        load::step_by(self, key, loading, waited, reading(f))
    }

    fn fill_payload(
        &self,
        key: &[u8],
        loading: &mut Loading,
        payload: Payload<'_>,
        ttl: Ttl,
    ) -> Result<Filled, Error> {
        load::fill_by(self, key, loading, writing(payload), ttl)
    }

    fn locking_after(&self, wait: Duration, waited: Duration) -> Locking {
        self.locking_since(wait, waited)
    }
}
