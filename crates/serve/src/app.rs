//! What all requests share.

use crate::kept::Kept;
use crate::live::Hub;
use crate::routes::index::Page;
use crate::statistics::Statistics;
use crate::tracked::Counts;
use crate::{Error, Options};
use polycache::reads::{AsyncCachedReads, CachedReads};
use polycache::Cache;
use polycache_http::{Answer, Policy, Problem};
use std::sync::Arc;
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
}

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
        })
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

/// Tells whoever runs the server what no client is told.
pub(crate) fn report(what: &str) {
    use std::io::Write;
    // If standard error is closed, the message has no reader. No control characters of strangers get there.
    let line: String = what
        .chars()
        .map(|one| if one.is_control() { ' ' } else { one })
        .collect();
    let _ = writeln!(std::io::stderr(), "polycache: {line}");
}

/// An answer, whichever it is.
pub(crate) fn answered(
    result: Result<Answer, Problem>,
    method: &http::Method,
) -> axum::response::Response {
    crate::guard::body(result.unwrap_or_else(|problem| problem.answer(method)))
}
