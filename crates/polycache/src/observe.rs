//! What a cache reports: spans and events for the crate `tracing`, times of loads for the crate `metrics`. Without the
//! cargo features of these names, everything here is empty.

use crate::{Cache, Error};

/// Where a read was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// From the directory.
    Host,
    /// From this process' memory.
    Memory,
    Miss,
}

/// How a load ended.
#[cfg(any(feature = "metrics", feature = "tracing"))]
#[derive(Clone, Copy)]
enum Outcome {
    Loaded,
    Failed,
    /// The loader panicked, or its future was dropped.
    Abandoned,
}

#[cfg(any(feature = "metrics", feature = "tracing"))]
impl Outcome {
    fn name(self) -> &'static str {
        match self {
            Outcome::Loaded => "loaded",
            Outcome::Failed => "failed",
            Outcome::Abandoned => "abandoned",
        }
    }
}

/// A key in readable form.
#[cfg(feature = "tracing")]
fn text(key: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(key)
}

/// A key was read.
#[inline]
pub(crate) fn read(cache: &Cache, key: &[u8], answer: Answer) {
    #[cfg(feature = "tracing")]
    match answer {
        Answer::Host => {
            tracing::trace!(target: "polycache", cache = cache.name(), key = %text(key), tier = "host", "hit");
        }
        Answer::Memory => {
            tracing::trace!(target: "polycache", cache = cache.name(), key = %text(key), tier = "memory", "hit");
        }
        Answer::Miss => {
            tracing::trace!(target: "polycache", cache = cache.name(), key = %text(key), "miss");
        }
    }
    let _ = (cache, key, answer);
}

/// A value was stored, or was not: then the old one is gone, unless the arguments were refused.
#[inline]
pub(crate) fn stored(cache: &Cache, key: &[u8], bytes: usize, stored: Result<(), &Error>) {
    #[cfg(feature = "tracing")]
    match stored {
        Ok(()) => {
            tracing::trace!(target: "polycache", cache = cache.name(), key = %text(key), bytes, "set");
        }
        Err(error) => {
            tracing::warn!(target: "polycache", cache = cache.name(), key = %text(key), bytes, code = error.code(), %error, "not stored");
        }
    }
    let _ = (cache, key, bytes, stored);
}

/// A key was deleted.
#[inline]
pub(crate) fn deleted(cache: &Cache, key: &[u8], there: bool) {
    #[cfg(feature = "tracing")]
    tracing::trace!(target: "polycache", cache = cache.name(), key = %text(key), there, "delete");
    let _ = (cache, key, there);
}

/// A key's entry was given another time to live.
#[inline]
pub(crate) fn touched(cache: &Cache, key: &[u8], there: bool) {
    #[cfg(feature = "tracing")]
    tracing::trace!(target: "polycache", cache = cache.name(), key = %text(key), there, "touch");
    let _ = (cache, key, there);
}

/// A namespace was cleared.
pub(crate) fn cleared(cache: &Cache) {
    #[cfg(feature = "tracing")]
    tracing::debug!(target: "polycache", cache = cache.name(), namespace = ?cache.parts(), "clear");
    let _ = cache;
}

/// A cache was opened.
pub(crate) fn opened(cache: &Cache) {
    #[cfg(feature = "tracing")]
    tracing::debug!(target: "polycache", cache = cache.name(), path = %cache.path().display(), namespace = ?cache.parts(), "open");
    let _ = cache;
}

/// An entry that is there cannot be read.
#[cold]
pub(crate) fn unreadable(cache: &Cache, key: &[u8], error: &Error) {
    #[cfg(feature = "tracing")]
    tracing::warn!(target: "polycache", cache = cache.name(), key = %text(key), code = error.code(), %error, "unreadable");
    let _ = (cache, key, error);
}

/// What was loaded was not stored: the key was set, deleted or cleared meanwhile.
#[cold]
pub(crate) fn voided(cache: &Cache, key: &[u8]) {
    #[cfg(feature = "tracing")]
    tracing::debug!(target: "polycache", cache = cache.name(), key = %text(key), "voided");
    let _ = (cache, key);
}

/// A caller that may have to wait for the load of another.
pub(crate) struct Waiting {
    #[cfg(any(feature = "metrics", feature = "tracing"))]
    since: std::time::Instant,
}

impl Waiting {
    pub fn begin() -> Waiting {
        Waiting {
            #[cfg(any(feature = "metrics", feature = "tracing"))]
            since: std::time::Instant::now(),
        }
    }

    /// The value of the other load is here.
    pub fn end(self, cache: &Cache, key: &[u8]) {
        #[cfg(feature = "metrics")]
        crate::metrics::waited(cache.name_shared(), self.since.elapsed());
        #[cfg(feature = "tracing")]
        tracing::debug!(target: "polycache", cache = cache.name(), key = %text(key), waited = ?self.since.elapsed(), "waited for another load");
        let _ = (cache, key);
    }
}

/// What a loader loads.
#[cfg_attr(not(feature = "tracing"), allow(dead_code))]
pub(crate) enum What<'a> {
    Key(&'a [u8]),
    /// How many keys.
    Keys(usize),
}

#[cfg(feature = "tracing")]
impl What<'_> {
    fn key(&self) -> Option<tracing::field::DisplayValue<std::borrow::Cow<'_, str>>> {
        match self {
            What::Key(key) => Some(tracing::field::display(text(key))),
            What::Keys(_) => None,
        }
    }

    fn keys(&self) -> Option<usize> {
        match self {
            What::Key(_) => None,
            What::Keys(number) => Some(*number),
        }
    }
}

/// A load under way.
struct Load {
    #[cfg(feature = "metrics")]
    cache: std::sync::Arc<str>,
    #[cfg(feature = "metrics")]
    since: std::time::Instant,
    #[cfg(feature = "tracing")]
    span: tracing::Span,
    #[cfg(any(feature = "metrics", feature = "tracing"))]
    outcome: Outcome,
}

impl Load {
    fn begin(cache: &Cache, what: What<'_>) -> Load {
        let _ = (cache, &what);
        Load {
            #[cfg(feature = "metrics")]
            cache: cache.name_shared(),
            #[cfg(feature = "metrics")]
            since: std::time::Instant::now(),
            #[cfg(feature = "tracing")]
            span: tracing::debug_span!(
                target: "polycache",
                "polycache.load",
                cache = cache.name(),
                key = what.key(),
                keys = what.keys(),
                outcome = tracing::field::Empty,
            ),
            #[cfg(any(feature = "metrics", feature = "tracing"))]
            outcome: Outcome::Abandoned,
        }
    }

    fn end<T>(&mut self, loaded: &Result<T, Error>) {
        let _ = loaded;
        #[cfg(any(feature = "metrics", feature = "tracing"))]
        {
            self.outcome = match loaded {
                Ok(_) => Outcome::Loaded,
                Err(_) => Outcome::Failed,
            };
        }
        #[cfg(feature = "tracing")]
        if let Err(error) = loaded {
            self.span.in_scope(
                || tracing::debug!(target: "polycache", code = error.code(), %error, "load failed"),
            );
        }
    }
}

#[cfg(any(feature = "metrics", feature = "tracing"))]
impl Drop for Load {
    fn drop(&mut self) {
        #[cfg(feature = "metrics")]
        crate::metrics::loaded(
            self.cache.clone(),
            self.outcome.name(),
            self.since.elapsed(),
        );
        #[cfg(feature = "tracing")]
        self.span.record("outcome", self.outcome.name());
    }
}

/// Runs a loader, which may panic.
pub(crate) fn load<T>(
    cache: &Cache,
    what: What<'_>,
    load: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    let mut observed = Load::begin(cache, what);
    #[cfg(feature = "tracing")]
    let loaded = observed.span.clone().in_scope(load);
    #[cfg(not(feature = "tracing"))]
    let loaded = load();
    observed.end(&loaded);
    loaded
}

/// Runs a loader that may be dropped.
#[cfg(feature = "tokio")]
pub(crate) async fn load_async<T>(
    cache: &Cache,
    what: What<'_>,
    load: impl std::future::Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let mut observed = Load::begin(cache, what);
    #[cfg(feature = "tracing")]
    let load = tracing::Instrument::instrument(load, observed.span.clone());
    let loaded = load.await;
    observed.end(&loaded);
    loaded
}
