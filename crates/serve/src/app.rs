//! What all requests share.

use crate::kept::Kept;
use crate::live::Hub;
use crate::report::report;
use crate::routes::index::Page;
use crate::statistics::Statistics;
use crate::tracked::Counts;
use crate::{Error, Options};
use polycache::bindings::Bindings;
use polycache::reads::{AsyncCachedReads, CachedReads};
use polycache::Cache;
use polycache_http::{Answer, Policy, Problem};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{watch, Notify};

pub(crate) struct App {
    pub cache: Cache,
    pub options: Options,
    pub counts: Arc<Counts>,
    pub kept: Kept,
    /// Cached reads, where there is a Redis.
    pub reads: Option<AsyncCachedReads>,
    /// Live streams, as well.
    pub hub: Option<Hub>,
    pub statistics: Statistics,
    pub page: Page,
    /// For what is current, or may change at any moment.
    pub current: Policy,
    /// True once the server is told to stop.
    pub stopping: watch::Receiver<bool>,
    /// A connection ended.
    pub closed: Notify,
    /// When the directory was still the one that was opened.
    looked: Mutex<Option<Instant>>,
}

/// How long that is believed.
const FRESH: Duration = Duration::from_secs(1);

impl App {
    pub fn new(
        cache: Cache,
        options: Options,
        stopping: watch::Receiver<bool>,
    ) -> Result<App, Error> {
        let counts = Arc::<Counts>::default();
        let hub = match &options.redis {
            None => None,
            Some(redis) => Some(Hub::new(redis, &options.limits, counts.clone())?),
        };
        let reads = match &options.redis {
            None => None,
            Some(redis) => {
                let reads = CachedReads::of(&cache)
                    .prefixes(redis.prefixes.clone())
                    .max_reply(options.limits.reply)
                    .build()?;
                Some(AsyncCachedReads::from(reads))
            }
        };
        Ok(App {
            reads,
            kept: Kept::new()?,
            hub,
            statistics: Statistics::default(),
            page: Page::new()?,
            current: Policy::default(),
            cache,
            options,
            counts,
            stopping,
            closed: Notify::new(),
            looked: Mutex::default(),
        })
    }

    /// Looks whether a directory without a server is still the one that was opened, once a second. The cache does so too, but
    /// every so many reads: clients that ask rarely would be told for hours what the directory under its path no longer has.
    ///
    /// # Errors
    /// 503 when it was removed or replaced. Only a new start mends that.
    pub fn still_stands(&self) -> Result<(), Problem> {
        if self.is_remote() {
            return Ok(());
        }
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        if looked.is_some_and(|at| at.elapsed() < FRESH) {
            return Ok(());
        }
        // Before a walk it looks, and this one goes nowhere.
        let page = self.cache.full_keys_page(0, 0, &mut Vec::new());
        page.map_err(|error| problem_of(&error))?;
        *looked = Some(Instant::now());
        Ok(())
    }

    /// Whether a read may wait for a server.
    pub fn is_remote(&self) -> bool {
        self.options.redis.is_some()
    }
}

/// Returns once the server is told to stop.
pub(crate) async fn told_to_stop(stopping: &mut watch::Receiver<bool>) {
    // The sender lives as long as the server.
    let _ = stopping.wait_for(|stopped| *stopped).await;
}

/// Does what blocks on a thread for that.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let done = tokio::task::spawn_blocking(work).await;
    // It panicked; the runtime has printed why.
    done.unwrap_or_else(|_| Err(Problem::internal()))
}

/// The problem that an error of the cache is to a client.
pub(crate) fn problem_of(error: &polycache::Error) -> Problem {
    use http::StatusCode;
    use polycache::Error as E;
    match error {
        E::InvalidArgument(_) | E::InvalidKey(_) => {
            Problem::new(StatusCode::BAD_REQUEST, error.to_string())
        }
        E::NotEncrypted(_) | E::UnknownEncryptionKey(_) | E::DecryptionFailed(_) => {
            let detail = "The server was not given the key that this entry is encrypted under.";
            Problem::new(StatusCode::FORBIDDEN, detail)
        }
        E::Io(_) => {
            // As of a directory that was replaced: it may pass, or whoever runs the server must do something.
            report(&error.to_string());
            unavailable("The server cannot read its cache now; its log says why.")
        }
        _ if error.retryable() => unavailable("The data is not available now; try again."),
        _ => {
            report(&error.to_string());
            Problem::internal()
        }
    }
}

/// 503, with the time after which a client may ask again.
pub(crate) fn unavailable(detail: &str) -> Problem {
    Problem::new(http::StatusCode::SERVICE_UNAVAILABLE, detail)
        .field(http::header::RETRY_AFTER, "1")
}

/// An answer, whichever it is.
pub(crate) fn answered(
    result: Result<Answer, Problem>,
    method: &http::Method,
) -> axum::response::Response {
    crate::guard::body(result.unwrap_or_else(|problem| problem.answer(method)))
}
