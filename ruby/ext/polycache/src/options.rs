//! The options of a cache as Ruby writes them.

use crate::duration::duration;
use crate::encryption;
use crate::error::{invalid, OrRaise};
use crate::key::text;
use crate::remote;
use magnus::{prelude::*, Error, Integer, RArray, RHash, RString, Ruby, Symbol, TryConvert, Value};
use polycache::{Builder, Cache, StoreErrors};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

/// The builder for `options`, whose names `cache.rb` has checked; `jitter` is in milliseconds there, and `max_value` in
/// bytes. The clock is left to the caller.
///
/// # Errors
/// `InvalidArgument`.
pub(crate) fn builder(ruby: &Ruby, options: RHash) -> Result<Builder, Error> {
    let given = |name: &str| -> Option<Value> {
        options
            .get(ruby.sym_new(name))
            .filter(|value| !value.is_nil())
    };
    let mut builder = Cache::builder();
    if let Some(path) = given("path") {
        builder = builder.path(path_of(ruby, path)?);
    }
    if let Some(namespace) = given("namespace") {
        let parts = match RArray::from_value(namespace) {
            Some(parts) => parts
                .into_iter()
                .map(|part| text(ruby, "a namespace's part", part))
                .collect::<Result<Vec<_>, _>>()?,
            None => vec![text(ruby, "namespace", namespace)?],
        };
        builder = builder.namespaces(parts);
    }
    if let Some(limit) = given("limit") {
        builder = builder.limit(bytes(ruby, limit)?);
    }
    if let Some(serializer) = given("serializer") {
        let name = text(ruby, "serializer", serializer)?;
        builder = builder.serializer(polycache::serializer::parse(&name).or_raise(ruby)?);
    }
    if let Some(compressor) = given("compressor") {
        let name = text(ruby, "compressor", compressor)?;
        builder = builder.compressor(polycache::compressor::parse(&name).or_raise(ruby)?);
    }
    if let Some(list) = given("dictionaries") {
        builder = builder.dictionaries(dictionaries(ruby, list)?);
    }
    if let Some(keys) = given("encryption") {
        builder = builder.encryption(encryption::keys(ruby, keys)?);
    }
    if let Some(ttl) = given("ttl") {
        builder = builder.ttl(duration(ruby, "ttl", ttl)?);
    }
    if let Some(time) = given("time_to_idle") {
        builder = builder.time_to_idle(duration(ruby, "time_to_idle", time)?);
    }
    if let Some(jitter) = given("jitter") {
        let jitter = Duration::from_millis(u64::try_convert(jitter)?);
        if !jitter.is_zero() {
            builder = builder.jitter(jitter);
        }
    }
    if let Some(most) = given("max_value") {
        builder = builder.max_value(u64::try_convert(most)?);
    }
    if let Some(timeout) = given("lease_timeout") {
        builder = builder.lease_timeout(duration(ruby, "lease_timeout", timeout)?);
    }
    if let Some(timeout) = given("wait_timeout") {
        builder = builder.wait_timeout(duration(ruby, "wait_timeout", timeout)?);
    }
    if let Some(what) = given("store_errors") {
        builder = builder.store_errors(store_errors(ruby, what)?);
    }
    if let Some(mode) = given("mode") {
        let mode = Integer::from_value(mode).and_then(|mode| mode.to_u32().ok());
        let wrong = || invalid(ruby, "mode is an Integer like 0o660");
        builder = builder.mode(mode.ok_or_else(wrong)?);
    }
    if let Some(empty) = given("empty_at_boot") {
        if !empty.is_kind_of(ruby.class_true_class()) && !empty.is_kind_of(ruby.class_false_class())
        {
            let message = format!("empty_at_boot is true or false, not {}", empty.inspect());
            return Err(invalid(ruby, message));
        }
        builder = builder.empty_at_boot(empty.to_bool());
    }
    if let Some(client) = given("remote") {
        builder = builder.remote(remote::read(ruby, client)?);
    }
    if let Some(timeout) = given("timeout") {
        builder = builder.timeout(duration(ruby, "timeout", timeout)?);
    }
    if let Some(staleness) = given("max_staleness") {
        builder = builder.max_staleness(max_staleness(ruby, staleness)?);
    }
    if let Some(prefix) = given("prefix") {
        builder = builder.prefix(text(ruby, "prefix", prefix)?);
    }
    if let Some(entries) = given("max_entries") {
        builder = builder.max_entries(u64::try_convert(entries)?);
    }
    if let Some(bytes) = given("max_bytes") {
        builder = builder.max_bytes(u64::try_convert(bytes)?);
    }
    if let Some(every) = given("flush_every") {
        builder = builder.flush_every(flush_every(ruby, every)?);
    }
    Ok(builder)
}

/// A duration, or 0.
fn max_staleness(ruby: &Ruby, staleness: Value) -> Result<Duration, Error> {
    let zero = staleness.is_kind_of(ruby.class_numeric())
        && staleness.funcall::<_, _, bool>("==", (0,))?;
    if zero {
        return Ok(Duration::ZERO);
    }
    duration(ruby, "max_staleness", staleness)
}

/// `None` for never.
fn flush_every(ruby: &Ruby, every: Value) -> Result<Option<Duration>, Error> {
    let is_text = RString::from_value(every).is_some() || Symbol::from_value(every).is_some();
    if is_text && text(ruby, "flush_every", every)? == "never" {
        return Ok(None);
    }
    duration(ruby, "flush_every", every).map(Some)
}

fn store_errors(ruby: &Ruby, what: Value) -> Result<StoreErrors, Error> {
    match text(ruby, "store_errors", what)?.as_str() {
        "report" => Ok(StoreErrors::Report),
        "raise" => Ok(StoreErrors::Raise),
        other => Err(invalid(
            ruby,
            format!("store_errors is one of report, raise, not {other:?}"),
        )),
    }
}

/// Trained dictionaries: an Array of Strings.
pub(crate) fn dictionaries(ruby: &Ruby, list: Value) -> Result<Vec<Vec<u8>>, Error> {
    let wrong = || {
        invalid(
            ruby,
            "dictionaries is an Array of Strings: trained zstd dictionaries",
        )
    };
    let list = RArray::from_value(list).ok_or_else(wrong)?;
    list.into_iter()
        .map(|one| {
            let string = RString::from_value(one).ok_or_else(wrong)?;
            // SAFETY: the bytes are copied at once.
            Ok(unsafe { string.as_slice() }.to_vec())
        })
        .collect()
}

fn path_of(ruby: &Ruby, path: Value) -> Result<std::path::PathBuf, Error> {
    let string: RString = match ruby.class_file().funcall("path", (path,)) {
        Ok(string) => string,
        Err(error) if error.is_kind_of(ruby.exception_standard_error()) => {
            let message = format!("path is a String or a Pathname, not {}", path.inspect());
            return Err(invalid(ruby, message));
        }
        Err(error) => return Err(error),
    };
    // SAFETY: the bytes are copied at once.
    let bytes = unsafe { string.as_slice() };
    if bytes.contains(&0) {
        return Err(invalid(ruby, "path holds a NUL"));
    }
    Ok(OsStr::from_bytes(bytes).into())
}

fn bytes(ruby: &Ruby, limit: Value) -> Result<u64, Error> {
    if RString::from_value(limit).is_some() {
        return polycache::size::parse(&text(ruby, "limit", limit)?).or_raise(ruby);
    }
    Integer::from_value(limit)
        .and_then(|limit| limit.to_u64().ok())
        .ok_or_else(|| {
            let inspected = limit.inspect();
            let message = format!("limit is bytes or text like \"64MiB\", not {inspected}");
            invalid(ruby, message)
        })
}
