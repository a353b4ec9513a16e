//! Durations as Ruby writes them: `"5m"`, or seconds as any Numeric; and times at which entries expire.

use crate::error::{invalid, OrRaise};
use magnus::{
    prelude::*, value::Lazy, Error, Float, Integer, RClass, RModule, RString, Ruby, Symbol, Value,
};
use polycache::Ttl;
use polycache_entry::MAX_TIME_MS;
use std::time::{Duration, SystemTime};

/// A time at which an entry expires.
static EXPIRES_AT: Lazy<RClass> = Lazy::new(|ruby| {
    ruby.class_object()
        .const_get::<_, RModule>("Polycache")
        .and_then(|polycache| polycache.const_get("ExpiresAt"))
        .expect("cache.rb loads it")
});

/// The argument `ttl`: `:default`, `nil` for no expiry, a duration, or a `Polycache::ExpiresAt`.
///
/// # Errors
/// `InvalidArgument`.
#[inline]
pub(crate) fn ttl(ruby: &Ruby, value: Value) -> Result<Ttl, Error> {
    if value.is_nil() {
        return Ok(Ttl::Forever);
    }
    match Symbol::from_value(value) {
        Some(symbol) if symbol.name()? == "default" => Ok(Ttl::Default),
        _ if value.is_kind_of(ruby.get_inner(&EXPIRES_AT)) => {
            let ms = value.funcall("milliseconds", ())?;
            let time = SystemTime::UNIX_EPOCH + Duration::from_millis(ms);
            Ok(Ttl::Until(time))
        }
        _ => duration(ruby, "ttl", value).map(Ttl::For),
    }
}

/// A duration longer than 0 and at most 2^48 - 1 ms.
///
/// # Errors
/// `InvalidArgument`, which names the option.
pub(crate) fn duration(ruby: &Ruby, option: &str, value: Value) -> Result<Duration, Error> {
    let duration = if RString::from_value(value).is_some() {
        let text = crate::key::text(ruby, option, value)?;
        Some(polycache::duration::parse(&text).or_raise(ruby)?)
    } else {
        from_seconds(ruby, value)?
    };
    duration
        .filter(|duration| !duration.is_zero() && duration.as_millis() <= u128::from(MAX_TIME_MS))
        .ok_or_else(|| {
            invalid(
                ruby,
                format!(
                    "{option} is a duration longer than 0 and at most 2^48 - 1 ms, as text \
                     (\"250ms\", \"30s\", \"5m\", \"2h\", \"1d\") or in seconds: {}",
                    value.inspect()
                ),
            )
        })
}

/// The duration of a number of seconds; `None` for what is not a number, or for one that is not a duration.
fn from_seconds(ruby: &Ruby, value: Value) -> Result<Option<Duration>, Error> {
    if let Some(seconds) = Float::from_value(value) {
        return Ok(Duration::try_from_secs_f64(seconds.to_f64()).ok());
    }
    if let Some(seconds) = Integer::from_value(value) {
        return Ok(seconds.to_u64().ok().map(Duration::from_secs));
    }
    // Asked by its method, because ActiveSupport's durations answer for the number they hold.
    if !value.funcall::<_, _, bool>("is_a?", (ruby.class_numeric(),))? {
        return Ok(None);
    }
    match milliseconds(value) {
        Ok(milliseconds) => Ok(milliseconds.map(Duration::from_millis)),
        // A Complex with an imaginary part, a BigDecimal that is NaN.
        Err(error) if error.is_kind_of(ruby.exception_standard_error()) => Ok(None),
        Err(error) => Err(error),
    }
}

/// An exact number of seconds in milliseconds, rounded up.
fn milliseconds(seconds: Value) -> Result<Option<u64>, Error> {
    // First roughly: the digits of an exact number may be many.
    let roughly: f64 = seconds.funcall("to_f", ())?;
    if !(roughly > 0.0 && roughly < 1e12) {
        return Ok(None);
    }
    let exact: Value = seconds.funcall("to_r", ())?;
    let exact: Value = exact.funcall("*", (1000,))?;
    exact.funcall("ceil", ()).map(Some)
}
