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
    /// From a server, or a copy of what is there.
    #[cfg_attr(not(feature = "remote"), allow(dead_code))]
    Remote,
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

/// Work for another thread, which reports where this one would.
#[cfg(feature = "tokio")]
pub(crate) fn carried<R>(work: impl FnOnce() -> R + Send) -> impl FnOnce() -> R + Send {
    #[cfg(feature = "tracing")]
    let work = {
        let subscriber = tracing::dispatcher::get_default(Clone::clone);
        let span = tracing::Span::current();
        move || tracing::dispatcher::with_default(&subscriber, || span.in_scope(work))
    };
    work
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
        Answer::Remote => {
            tracing::trace!(target: "polycache", cache = cache.name(), key = %text(key), tier = "remote", "hit");
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
pub(crate) fn invalidated(cache: &Cache, key: &[u8]) {
    #[cfg(feature = "tracing")]
    tracing::debug!(target: "polycache", cache = cache.name(), key = %text(key), "invalidated");
    let _ = (cache, key);
}

/// The time that a caller waits for the loads of others, in whatever process. Told once, when it is dropped.
pub(crate) struct Waits<'a> {
    #[cfg(any(feature = "metrics", feature = "tracing"))]
    cache: &'a Cache,
    #[cfg(feature = "tracing")]
    what: What<'a>,
    #[cfg(any(feature = "metrics", feature = "tracing"))]
    since: Option<std::time::Instant>,
    /// None: it has not waited.
    #[cfg(any(feature = "metrics", feature = "tracing"))]
    waited: Option<std::time::Duration>,
    #[cfg(not(any(feature = "metrics", feature = "tracing")))]
    of: std::marker::PhantomData<&'a Cache>,
}

impl<'a> Waits<'a> {
    pub fn new(cache: &'a Cache, what: What<'a>) -> Waits<'a> {
        let _ = (cache, &what);
        Waits {
            #[cfg(any(feature = "metrics", feature = "tracing"))]
            cache,
            #[cfg(feature = "tracing")]
            what,
            #[cfg(any(feature = "metrics", feature = "tracing"))]
            since: None,
            #[cfg(any(feature = "metrics", feature = "tracing"))]
            waited: None,
            #[cfg(not(any(feature = "metrics", feature = "tracing")))]
            of: std::marker::PhantomData,
        }
    }

    /// It waits from now on, if it did not before.
    pub fn begin(&mut self) {
        #[cfg(any(feature = "metrics", feature = "tracing"))]
        self.since.get_or_insert_with(std::time::Instant::now);
    }

    /// It waits no more: it runs its own loader.
    pub fn pause(&mut self) {
        #[cfg(any(feature = "metrics", feature = "tracing"))]
        if let Some(since) = self.since.take() {
            *self.waited.get_or_insert(std::time::Duration::ZERO) += since.elapsed();
        }
    }
}

#[cfg(any(feature = "metrics", feature = "tracing"))]
impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.pause();
        let Some(waited) = self.waited else { return };
        #[cfg(feature = "metrics")]
        crate::metrics::waited(self.cache.name_shared(), waited);
        #[cfg(feature = "tracing")]
        tracing::debug!(
            target: "polycache",
            cache = self.cache.name(),
            key = self.what.key(),
            keys = self.what.keys(),
            ?waited,
            "waited for other loads",
        );
    }
}

/// What a loader loads.
#[derive(Clone, Copy)]
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
