//! A cache for a handler's own answers (cargo feature `tower`).

mod call;
mod directives;
mod handed_out;
mod limited_body;
mod request_key;
mod service;
mod storable;
mod stored_answer;
mod unsure;

pub use service::CachedService;

use crate::{Coding, Policy};
use handed_out::HandedOut;
use http::header::HeaderName;
use http::request::Parts;
use polycache::AsyncCache;
use std::collections::HashSet;
use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use storable::Defaults;

/// Milliseconds since 1970.
type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;
type KeyOf = Arc<dyn Fn(&Parts) -> Option<String> + Send + Sync>;
type OnError = Arc<dyn Fn(&(dyn Error + 'static)) + Send + Sync>;

/// Puts a cache before a service of the crate tower, such as axum's `Router` or one of its routes: a shared cache (RFC 9111),
/// which never gives one user's answer to another. `spec/http.md`, "A response cache", says what it does; it shares its
/// answers with `responseCache` of the package for TypeScript.
///
/// - Stored are complete answers to GET that say how long they are fresh (or [`ttl`](ResponseCache::ttl) does), without
///   Set-Cookie, `private`, `no-store` and `no-cache`, whose Vary names only what is in the key. HEAD, conditions and
///   Accept-Encoding are answered from them.
/// - For an answer that may be stored, the handler sees only those request fields that belong to the key or are
///   [`covered`](ResponseCache::covered), and no extensions of the request. So it cannot make the answer of anything else.
///   Where its answer cannot be stored after all, it is asked once more, with the whole request.
///   It runs in the task of the request for which it is asked, so it sees that one's `tokio::task_local!` values and spans of
///   the crate tracing: do not answer by them what may be stored.
/// - Of all callers of this machine one asks the handler, by [`AsyncCache::get_or_set`].
/// - A request that is not GET or HEAD passes; if it succeeds, the answers of its URL are forgotten (RFC 9111 4.4).
/// - Where the cache fails, the handler answers.
///
/// ```
/// use axum::body::Body;
/// use axum::routing::get;
/// use axum::{http::header::CACHE_CONTROL, http::Request, Router};
/// use polycache::Cache;
/// use polycache_http::ResponseCache;
/// use tower_layer::Layer;
/// use tower_service::Service;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let pages = Router::new().route("/", get(|| async { ([(CACHE_CONTROL, "max-age=60")], "a page") }));
/// let cache = Cache::builder().namespace("pages").build()?;
/// // Around all routes, so that their own extractors work as they do without it.
/// let mut app = ResponseCache::new(cache).layer(pages);
///
/// let request = || Request::get("/").header("host", "shop.example").body(Body::empty());
/// let first = app.call(request()?).await?;
/// assert_eq!(first.headers()["cache-status"], "polycache; fwd=miss; stored");
/// let second = app.call(request()?).await?;
/// assert_eq!(second.headers()["cache-status"], "polycache; hit");
/// # Ok(())
/// # }
/// ```
///
/// Under axum, prefer it around the whole `Router`, as above: `axum::serve` takes
/// `axum::ServiceExt::<Request>::into_make_service(app)`. With `Router::layer` it stands behind the routing, whose results are
/// extensions of the request; see [`extensions`](ResponseCache::extensions). Inside of `Router::nest` a service does not see the
/// whole path: give each its own namespace.
///
/// Request bodies have a `Default`, for the handler's GET has none; bodies of answers are made of [`bytes::Bytes`]. axum's
/// `Body` and `Full<Bytes>` of the crate http-body-util are both. A tokio runtime must be there. Give the cache a namespace of
/// its own.
#[derive(Clone)]
pub struct ResponseCache {
    cache: AsyncCache,
    settings: Arc<Settings>,
    handed_out: Arc<HandedOut>,
    /// Keys that this process fetches anew behind stale answers.
    refreshing: Arc<Mutex<HashSet<String>>>,
}

#[derive(Clone)]
struct Settings {
    key: KeyOf,
    /// Sorted, each once.
    vary: Vec<HeaderName>,
    /// In the key, or covered.
    keyed: Vec<HeaderName>,
    extensions: bool,
    defaults: Defaults,
    max_body: usize,
    cache_status: bool,
    on_error: Option<OnError>,
    clock: Clock,
    /// Of the codings.
    policy: Policy,
}

impl ResponseCache {
    /// A cache of answers. Give it a namespace of its own.
    #[must_use]
    pub fn new(cache: impl Into<AsyncCache>) -> ResponseCache {
        let settings = Settings {
            key: Arc::new(request_key::url_of),
            vary: Vec::new(),
            keyed: Vec::new(),
            extensions: false,
            defaults: Defaults::default(),
            max_body: 1 << 20,
            cache_status: true,
            on_error: None,
            clock: Arc::new(|| {
                let now = SystemTime::now().duration_since(UNIX_EPOCH);
                now.unwrap_or_default().as_millis() as u64
            }),
            policy: Policy::default(),
        };
        ResponseCache {
            cache: cache.into(),
            settings: Arc::new(settings),
            handed_out: Arc::default(),
            refreshing: Arc::default(),
        }
    }

    fn with(mut self, change: impl FnOnce(&mut Settings)) -> ResponseCache {
        change(Arc::make_mut(&mut self.settings));
        // What was made by other settings is not handed out by these.
        self.handed_out = Arc::default();
        self
    }

    /// What the answer is stored under, in place of the request's URL; the fields of `vary` are added. `None` for a request
    /// that is not cached. Default: the URL, of the field Host or of the request line; a request of no host, or of two, is not
    /// cached.
    #[must_use]
    pub fn key(self, key: impl Fn(&Parts) -> Option<String> + Send + Sync + 'static) -> Self {
        self.with(|settings| settings.key = Arc::new(key))
    }

    /// Request fields that belong to the key: each value has answers of its own. Default: none.
    #[must_use]
    pub fn vary(self, names: impl IntoIterator<Item = HeaderName>) -> Self {
        self.with(|settings| {
            for name in names {
                settings.add_keyed(&name);
                settings.vary.push(name);
            }
            settings
                .vary
                .sort_unstable_by(|a, b| a.as_str().cmp(b.as_str()));
            settings.vary.dedup();
        })
    }

    /// Request fields that `key` stands for, or that no answer depends on. Without `authorization` or `cookie` in `vary` or
    /// here, a request that has one is not cached. Default: none.
    #[must_use]
    pub fn covered(self, names: impl IntoIterator<Item = HeaderName>) -> Self {
        self.with(|settings| {
            for name in names {
                settings.add_keyed(&name);
            }
        })
    }

    /// Whether a handler whose answer may be stored sees the request's extensions: what layers outside of this one know of the
    /// request, such as who sent it, and what axum's routing found if this is a `Router::layer`. With `true` you say that `key`
    /// stands for all of them, or that no answer depends on them. Default: false.
    #[must_use]
    pub fn extensions(self, seen: bool) -> Self {
        self.with(|settings| settings.extensions = seen)
    }

    /// How long an answer is fresh that does not say so. Default: it is not stored.
    #[must_use]
    pub fn ttl(self, ttl: Duration) -> Self {
        self.with(|settings| settings.defaults.fresh = Some(ttl))
    }

    /// How long after that it is served while a newer one is fetched, unless it says so itself. Default: not at all.
    #[must_use]
    pub fn stale_while_revalidate(self, time: Duration) -> Self {
        self.with(|settings| settings.defaults.while_revalidate = time)
    }

    /// How long after that it is served while the handler fails, unless it says so itself. Default: not at all.
    #[must_use]
    pub fn stale_if_error(self, time: Duration) -> Self {
        self.with(|settings| settings.defaults.if_error = time)
    }

    /// Bytes of the largest body that is stored; larger ones pass through. Default: 1 MiB.
    #[must_use]
    pub fn max_body(self, bytes: usize) -> Self {
        self.with(|settings| settings.max_body = bytes)
    }

    /// Whether answers say what the cache did, by the field Cache-Status (RFC 9211). Default: true.
    #[must_use]
    pub fn cache_status(self, says: bool) -> Self {
        self.with(|settings| settings.cache_status = says)
    }

    /// Told of a handler's errors while a stale answer is served in its place, and of the cache's. Default: nobody is.
    #[must_use]
    pub fn on_error(self, told: impl Fn(&(dyn Error + 'static)) + Send + Sync + 'static) -> Self {
        self.with(|settings| settings.on_error = Some(Arc::new(told)))
    }

    /// Milliseconds since 1970, for tests. Default: the system's clock.
    #[must_use]
    pub fn clock(self, clock: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        self.with(|settings| settings.clock = Arc::new(clock))
    }

    /// Content codings that may be used, best first. Default: [`Coding::ALL`].
    #[must_use]
    pub fn codings(self, codings: impl IntoIterator<Item = Coding>) -> Self {
        self.with(|settings| settings.policy = settings.policy.clone().codings(codings))
    }

    /// Bytes below which compression is not worth it. Default: 1024.
    #[must_use]
    pub fn compress_from(self, bytes: usize) -> Self {
        self.with(|settings| settings.policy = settings.policy.clone().compress_from(bytes))
    }

    fn now(&self) -> i64 {
        self.settings.now()
    }

    fn tell(&self, error: &(dyn Error + 'static)) {
        if let Some(on_error) = &self.settings.on_error {
            on_error(error);
        }
    }
}

impl Settings {
    fn add_keyed(&mut self, name: &HeaderName) {
        if !self.keyed.contains(name) {
            self.keyed.push(name.clone());
        }
    }

    fn now(&self) -> i64 {
        i64::try_from((self.clock)()).unwrap_or(i64::MAX)
    }
}

impl fmt::Debug for ResponseCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseCache")
            .field("cache", &self.cache)
            .field("vary", &self.settings.vary)
            .finish_non_exhaustive()
    }
}
