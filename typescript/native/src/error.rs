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
        _ => None,
    };
    failure(error.code(), carried, &error)
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
