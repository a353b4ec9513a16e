//! Errors on their way to JavaScript.

use std::fmt::Display;

/// What `src/host/native.ts` takes apart again: the code of `spec/errors.md`, two numbers that some
/// errors carry (else empty), and the message, each on a line.
fn failure(code: &str, carried: Option<(u64, u64)>, message: impl Display) -> napi::Error {
    let (size, limit) = carried.map_or_else(Default::default, |(size, limit)| {
        (size.to_string(), limit.to_string())
    });
    napi::Error::from_reason(format!("{code}\n{size}\n{limit}\n{message}"))
}

/// An error of the host tier.
#[cold]
pub(crate) fn host(error: polycache_host::Error) -> napi::Error {
    let carried = match error {
        polycache_host::Error::EntryTooLarge { size, limit } => Some((size, limit)),
        _ => None,
    };
    failure(error.code(), carried, &error)
}

/// An error of the entry format.
#[cold]
pub(crate) fn entry(error: polycache_entry::Error) -> napi::Error {
    let carried = match error {
        polycache_entry::Error::ValueTooLarge { size, limit } => Some((size, limit)),
        // Of the one value that this part makes itself, an integer; its class adds the path to the reason.
        polycache_entry::Error::UnsupportedValue { reason, .. } => {
            return failure("unsupported_value", None, reason)
        }
        _ => None,
    };
    failure(error.code(), carried, &error)
}

/// An error of a cache with a remote tier.
#[cold]
pub(crate) fn cache(error: polycache::Error) -> napi::Error {
    use polycache::Error as E;
    match &error {
        E::EntryTooLarge { size, limit } | E::ValueTooLarge { size, limit } => {
            failure(error.code(), Some((*size, *limit)), &error)
        }
        // Of the one value that this part makes itself, an integer; its class adds the path to the reason.
        E::UnsupportedValue { reason, .. } | E::WrongType { reason, .. } => {
            failure(error.code(), None, reason)
        }
        _ => failure(error.code(), None, &error),
    }
}

/// A value that can't be counted up and down.
#[cold]
pub(crate) fn not_an_integer() -> napi::Error {
    failure(
        "wrong_type",
        None,
        "only an integer can be counted up and down",
    )
}

/// An integer or a sum that does not fit.
#[cold]
pub(crate) fn overflow() -> napi::Error {
    failure(
        "integer_overflow",
        None,
        "the integer would not fit 64 bits with a sign (-2^63 to 2^63 - 1); nothing was stored",
    )
}

/// An argument that only a fault in the package itself can pass.
#[cold]
pub(crate) fn invalid(message: &str) -> napi::Error {
    failure("invalid_argument", None, message)
}

/// A fault in the native part; the cache itself is in shared memory and stays whole.
#[cold]
pub(crate) fn panicked() -> napi::Error {
    failure(
        "io",
        None,
        "a fault in polycache's native part; please report it",
    )
}
