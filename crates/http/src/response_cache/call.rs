//! One request on its way through the cache.

use super::directives::Directives;
use super::limited_body::{read_body, Unread};
use super::request_key::{base_of, key_of, seen_by};
use super::storable::{age_of, lifetime_of};
use super::stored_answer::{Loaded, Stored, StoredAnswer};
use super::unsure::{Refreshing, Unsure};
use super::ResponseCache;
use crate::variant::list;
use crate::{InvalidArgument, Problem};
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use base64::Engine;
use bytes::Bytes;
use http::request::Parts;
use http::{header, Method, Request, Response, StatusCode};
use http_body::Body;
use polycache::{Error, Value, Version};
use ring::rand::{SecureRandom, SystemRandom};
use std::borrow::Cow;
use std::convert::Infallible;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;
use tower_service::Service;

pub(super) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// How long a load may keep what it loaded until its own lifetime is written down.
const AT_MOST: Duration = Duration::from_secs(86_400);
/// How long a key passes by whose answer could not be stored, in milliseconds: callers do not queue for what each has to ask
/// for itself.
const PASS: i64 = 10_000;
const PASS_AFTER_FAILURE: i64 = 1000;
/// Behind a key and before the version of what may not be served: what is loaded in its place lies here for those who found
/// the same.
const AGAIN: &str = "#again";
const AGAIN_FOR: Duration = Duration::from_secs(1);
/// Before a key without the values of fields: what is written there when its answers are forgotten.
const CHANGED: &str = "changed ";

/// What a handler brought: an answer that is stored, or why its answer is for its own caller alone.
enum Made {
    Answer(Arc<StoredAnswer>),
    Refused(&'static str),
    Failed(BoxError),
}

impl Made {
    fn is_failure(&self) -> bool {
        matches!(self, Made::Failed(_) | Made::Refused("server-error"))
    }

    fn why(&self) -> &'static str {
        match self {
            Made::Answer(_) => "",
            Made::Refused(why) => why,
            Made::Failed(_) => "failed",
        }
    }

    fn entry(&self, now: i64) -> Stored {
        let ms = if self.is_failure() {
            PASS_AFTER_FAILURE
        } else {
            PASS
        };
        match self {
            Made::Answer(answer) => Stored::Answer(answer.clone()),
            refused => Stored::Pass {
                why: refused.why().into(),
                until: now + ms,
            },
        }
    }
}

/// What stands under a key.
struct Before {
    version: Version,
    stored: Stored,
}

/// A request, and what answers it.
pub(super) struct Call<S, B> {
    cache: ResponseCache,
    inner: S,
    parts: Parts,
    body: B,
}

// Whatever waits has the call by value or by `&mut`: bodies are not `Sync`.
impl<S, B, R> Call<S, B>
where
    S: Service<Request<B>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<BoxError> + Send,
    B: Default + Send + 'static,
    R: Body<Data = Bytes> + From<Bytes> + Send + 'static,
    R::Error: Into<BoxError> + Send,
{
    pub fn new(cache: ResponseCache, inner: S, request: Request<B>) -> Call<S, B> {
        let (parts, body) = request.into_parts();
        Call {
            cache,
            inner,
            parts,
            body,
        }
    }

    pub async fn answer(self) -> Result<Response<R>, S::Error> {
        if self.parts.method != Method::GET && self.parts.method != Method::HEAD {
            return self.pass("method").await;
        }
        let settings = &self.cache.settings;
        let Some(given) = (settings.key)(&self.parts) else {
            return self.pass("key").await;
        };
        if let Some(why) = self.refusal() {
            return self.pass(why).await;
        }
        let base = base_of(&given);
        let key = key_of(&base, &self.parts.headers, &settings.vary);
        let found = match self.cache.cache.get::<Stored>(&key).await {
            Ok(found) => found,
            Err(error) => return self.without_cache(&error).await,
        };
        let now = self.cache.now();
        match found {
            None | Some(Stored::Foreign) => self.missed(base, key).await,
            Some(Stored::Pass { why, until }) if now < until => self.pass(why).await,
            Some(Stored::Pass { .. }) => self.stale(base, key).await,
            Some(Stored::Answer(answer)) if now < answer.fresh_until => {
                self.hand_out(&key, answer, "hit").await
            }
            Some(Stored::Answer(answer)) if now >= answer.revalidate_until => {
                self.stale(base, key).await
            }
            Some(Stored::Answer(answer)) => {
                self.refresh(&key);
                self.hand_out(&key, answer, "hit; detail=stale-while-revalidate")
                    .await
            }
        }
    }

    /// Why a request is neither answered from the cache nor its answer stored.
    fn refusal(&self) -> Option<&'static str> {
        let Parts { headers, .. } = &self.parts;
        let keyed = &self.cache.settings.keyed;
        for (name, why) in [
            (header::AUTHORIZATION, "authorization"),
            (header::COOKIE, "cookie"),
        ] {
            if headers.contains_key(&name) && !keyed.contains(&name) {
                return Some(why);
            }
        }
        for (name, why) in [
            (header::UPGRADE, "upgrade"),
            (header::IF_MATCH, "if-match"),
            (header::IF_UNMODIFIED_SINCE, "if-unmodified-since"),
        ] {
            if headers.contains_key(name) {
                return Some(why);
            }
        }
        Directives::of(headers)
            .has("no-store")
            .then_some("request-no-store")
    }

    /// RFC 9111 5.2.1.7.
    fn only_if_cached(&self) -> Option<Response<R>> {
        if !Directives::of(&self.parts.headers).has("only-if-cached") {
            return None;
        }
        let why = "It is not in the cache, and only that was asked for.";
        let problem = Problem::new(StatusCode::GATEWAY_TIMEOUT, why);
        Some(problem.answer(&self.parts.method).map(R::from))
    }

    /// The handler's own answer, where there is no cache.
    async fn without_cache(self, error: &Error) -> Result<Response<R>, S::Error> {
        self.cache.tell(error);
        self.pass("cache").await
    }

    /// The handler's own answer, to the whole request and for its sender alone.
    async fn pass(self, why: impl Into<Cow<'static, str>> + Send) -> Result<Response<R>, S::Error> {
        if let Some(refused) = self.only_if_cached() {
            return Ok(refused);
        }
        let why = why.into();
        let changes = !self.parts.method.is_safe();
        let given = changes.then(|| (self.cache.settings.key)(&self.parts));
        let request = Request::from_parts(self.parts, self.body);
        let mut response = ask(self.inner, request).await?;
        if let (Some(given), true) = (given.flatten(), response.status().as_u16() < 400) {
            if let Err(error) = forget(&self.cache, &base_of(&given)).await {
                self.cache.tell(&error);
            }
        }
        let (forward, detail) = match &*why {
            "method" => ("method", ""),
            detail => ("bypass", detail),
        };
        let ResponseCache {
            handed_out,
            settings,
            ..
        } = &self.cache;
        handed_out.tell(settings, &mut response, forward, detail);
        Ok(response)
    }

    async fn missed(mut self, base: String, key: String) -> Result<Response<R>, S::Error> {
        if let Some(refused) = self.only_if_cached() {
            return Ok(refused);
        }
        // Of HEAD nothing would be learned that a GET could be answered with.
        if self.parts.method == Method::HEAD {
            return self.pass("method").await;
        }
        let before = match changed(&self.cache, &base).await {
            Ok(before) => before,
            Err(error) => return self.without_cache(&error).await,
        };
        let cache = self.cache.cache.clone();
        let mut unsure = Unsure::new(&cache, &key);
        let mut made = None;
        let loaded = {
            let (call, made, unsure, since) = (&mut self, &mut made, &mut unsure, &before);
            let load = || async move {
                let one = call.make().await;
                let entry = Loaded {
                    stored: one.entry(call.cache.now()),
                    since: since.clone(),
                };
                *made = Some(one);
                // A delete of a key alone ends a load of it.
                unsure.is_unsure = !call.cache.settings.vary.is_empty();
                Ok::<_, Infallible>(entry)
            };
            cache.get_or_set_with_ttl(&key, AT_MOST, load).await
        };
        let (made, loaded) = match (made, loaded) {
            (None, Ok(Loaded { stored, since })) => {
                // Of a load that began before a change of which this caller may know.
                if since != before && !matches!(stored, Stored::Foreign) {
                    return self.pass("changed").await;
                }
                return self.joined(key, stored, None).await;
            }
            (None, Err(error)) => return self.without_cache(&error).await,
            (Some(made), Ok(loaded)) => (made, loaded),
            (Some(made), Err(error)) => {
                self.cache.tell(&error);
                return self.brought(key, made).await;
            }
        };
        let settled = match changed(&self.cache, &base).await {
            Ok(after) if after == before => {
                let ttl = remaining(&loaded.stored, self.cache.now());
                cache.touch(&key, ttl).await
            }
            Ok(_) => cache.delete(&key).await,
            Err(error) => Err(error),
        };
        match settled {
            Ok(_) => unsure.is_unsure = false,
            Err(error) => self.cache.tell(&error),
        }
        drop(unsure);
        self.brought(key, made).await
    }

    /// Fetches anew what is there and may not be served; a stale answer stands in for a handler that fails.
    async fn stale(mut self, base: String, key: String) -> Result<Response<R>, S::Error> {
        if let Some(refused) = self.only_if_cached() {
            return Ok(refused);
        }
        if self.parts.method == Method::HEAD {
            return self.pass("method").await;
        }
        let cache = self.cache.cache.clone();
        let before = match cache.entry(&key).await {
            Ok(Some(before)) => Before {
                version: before.facts.version,
                stored: Stored::of(before.value),
            },
            Ok(None) => return self.missed(base, key).await,
            Err(error) => return self.without_cache(&error).await,
        };
        let now = self.cache.now();
        let stale = match &before.stored {
            // It was replaced by what may be served.
            Stored::Pass { until, .. } if now < *until => {
                return self.joined(key, before.stored, None).await
            }
            Stored::Answer(answer) if now < answer.fresh_until => {
                return self.joined(key, before.stored, None).await
            }
            Stored::Answer(answer) => Some(answer.clone()),
            Stored::Pass { .. } | Stored::Foreign => None,
        };
        let mut made = None;
        let loaded = {
            let (call, made, key, before) = (&mut self, &mut made, &key, &before);
            let load = || async move {
                let one = call.replace(key, before).await;
                let entry = one.entry(call.cache.now());
                *made = Some(one);
                Ok::<_, Infallible>(entry)
            };
            // Only callers that found the same entry share the load: a later one finds what it stored.
            let again = format!("{key}{AGAIN}{}", u64::from(before.version));
            cache.get_or_set_with_ttl(again, AGAIN_FOR, load).await
        };
        let made = match (made, loaded) {
            (None, Ok(loaded)) => return self.joined(key, loaded, stale).await,
            (None, Err(error)) => return self.without_cache(&error).await,
            (Some(made), Ok(_)) => made,
            (Some(made), Err(error)) => {
                self.cache.tell(&error);
                made
            }
        };
        match self.stand_in(stale).filter(|_| made.is_failure()) {
            None => self.brought(key, made).await,
            Some(stale) => {
                if let Made::Failed(error) = &made {
                    self.cache.tell(&**error);
                }
                self.hand_out(&key, stale, "hit; detail=stale-if-error")
                    .await
            }
        }
    }

    /// A stale answer that may still be served in place of a failure.
    fn stand_in(&self, stale: Option<Arc<StoredAnswer>>) -> Option<Arc<StoredAnswer>> {
        stale.filter(|stale| self.cache.now() < stale.error_until)
    }

    /// What a caller gets that waited for another's load: never an answer that was for the other alone.
    async fn joined(
        self,
        key: String,
        loaded: Stored,
        stale: Option<Arc<StoredAnswer>>,
    ) -> Result<Response<R>, S::Error> {
        match loaded {
            Stored::Answer(answer) => self.hand_out(&key, answer, "hit; collapsed").await,
            Stored::Foreign => self.pass("foreign").await,
            Stored::Pass { why, .. } => {
                let has_failed = ["failed", "server-error"].contains(&&*why);
                match self.stand_in(stale).filter(|_| has_failed) {
                    None => self.pass(why).await,
                    Some(stale) => {
                        self.hand_out(&key, stale, "hit; detail=stale-if-error")
                            .await
                    }
                }
            }
        }
    }

    /// What the caller gets whose request was loaded for. What cannot be stored was made without the fields that only this
    /// request has, so the handler is asked again with all of them.
    async fn brought(self, key: String, made: Made) -> Result<Response<R>, S::Error> {
        match made {
            Made::Answer(answer) => self.hand_out(&key, answer, "fwd=miss; stored").await,
            other => self.pass(other.why()).await,
        }
    }

    async fn hand_out(
        self,
        key: &str,
        stored: Arc<StoredAnswer>,
        status: &'static str,
    ) -> Result<Response<R>, S::Error> {
        let ResponseCache {
            handed_out,
            settings,
            ..
        } = &self.cache;
        let answer = handed_out.answer(settings, key, &stored, &self.parts, status);
        Ok(answer.await.map(R::from))
    }

    /// Fetches anew behind a stale answer, once on this machine.
    fn refresh(&self, key: &str) {
        let Some(refreshing) = Refreshing::begin(&self.cache.refreshing, key) else {
            return;
        };
        let mut call = Call {
            cache: self.cache.clone(),
            inner: self.inner.clone(),
            parts: self.parts.clone(),
            body: B::default(),
        };
        tokio::spawn(async move {
            if let Err(error) = call.refreshed(&refreshing.key).await {
                call.cache.tell(&*error);
            }
        });
    }

    async fn refreshed(&mut self, key: &str) -> Result<(), BoxError> {
        let lease = self.cache.cache.cache().lease(key);
        if !lease.acquire_async(Duration::ZERO).await? {
            return Ok(());
        }
        let made = match self.cache.cache.entry(key).await {
            Ok(Some(before)) => {
                let (version, stored) = (before.facts.version, Stored::of(before.value));
                Ok(Some(self.replace(key, &Before { version, stored }).await))
            }
            // Deleted since it was found: what is made now could not be stored.
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        };
        lease.release_async().await;
        match made? {
            Some(Made::Failed(error)) => Err(error),
            Some(Made::Answer(_) | Made::Refused(_)) | None => Ok(()),
        }
    }

    /// Asks the handler, and replaces what is stored by what it brings; a failure leaves it. Who deletes it meanwhile wins.
    async fn replace(&mut self, key: &str, before: &Before) -> Made {
        let made = self.make().await;
        if made.is_failure() && matches!(before.stored, Stored::Answer(_)) {
            return made;
        }
        let now = self.cache.now();
        let entry = made.entry(now);
        let (cache, version, ttl) = (&self.cache.cache, before.version, remaining(&entry, now));
        let replaced = cache.compare_and_set_with_ttl(key, version, &entry, ttl);
        if let Err(error) = replaced.await {
            self.cache.tell(&error);
        }
        made
    }

    /// Asks the handler as one who knows only what belongs to the key.
    async fn make(&mut self) -> Made {
        let settings = self.cache.settings.clone();
        let request = seen_by(&self.parts, &settings.keyed, settings.extensions);
        let (head, body) = match ask(self.inner.clone(), request).await {
            Ok(response) => response.into_parts(),
            Err(error) => return Made::Failed(error.into()),
        };
        let now = settings.now();
        let lifetime = lifetime_of(
            head.status,
            &head.headers,
            &settings.keyed,
            &settings.defaults,
            now,
        );
        let lifetime = match lifetime {
            Ok(lifetime) => lifetime,
            Err(why) => return Made::Refused(why),
        };
        let told = list(&head.headers, header::CONTENT_LENGTH);
        let told = told.and_then(|told| std::str::from_utf8(&told).ok()?.parse::<usize>().ok());
        if told.is_some_and(|told| told > settings.max_body) {
            return Made::Refused("too-large");
        }
        let body = match read_body(body, settings.max_body).await {
            Ok(body) => body,
            Err(Unread::TooLarge) => return Made::Refused("too-large"),
            Err(Unread::Trailers) => return Made::Refused("trailers"),
            Err(Unread::Failed(error)) => return Made::Failed(error.into()),
        };
        match told {
            Some(told) if told != body.len() => {
                let is = body.len();
                let why = format!("the handler's body has {is} bytes and not {told}");
                Made::Failed(Box::new(InvalidArgument(why)))
            }
            _ => Made::Answer(Arc::new(StoredAnswer::new(
                head.status,
                &head.headers,
                body,
                lifetime,
                age_of(&head.headers),
                now,
            ))),
        }
    }
}

async fn ask<S: Service<Request<B>>, B>(
    mut service: S,
    request: Request<B>,
) -> Result<S::Response, S::Error> {
    poll_fn(|context| service.poll_ready(context)).await?;
    service.call(request).await
}

fn remaining(entry: &Stored, now: i64) -> Duration {
    let left = entry.useful_until() - now;
    Duration::from_millis(u64::try_from(left).unwrap_or(0).max(1))
}

/// Forgets the answers of a key for all values of the fields in it, of which a walk through the cache tells.
async fn forget(cache: &ResponseCache, base: &str) -> Result<(), Error> {
    let store = &cache.cache;
    if cache.settings.vary.is_empty() {
        store.delete(base).await?;
        return Ok(());
    }
    // Loads under way have no entry yet that the walk could find: they look at this before and after.
    let mut random = [0; 16];
    SystemRandom::new()
        .fill(&mut random)
        .map_err(|_| Error::Io("the system has no random bytes".into()))?;
    let changed = format!("{CHANGED}{base}");
    let text = URL_SAFE_NO_PAD.encode(random);
    store.set_with_ttl(changed, &text, AT_MOST).await?;
    store.delete_prefix(base).await?;
    Ok(())
}

/// Differs after the answers of a key were forgotten.
async fn changed(cache: &ResponseCache, base: &str) -> Result<Option<String>, Error> {
    if cache.settings.vary.is_empty() {
        return Ok(None);
    }
    match cache.cache.get_value(format!("{CHANGED}{base}")).await? {
        Some(Value::Text(changed)) => Ok(Some(changed.into_owned())),
        _ => Ok(None),
    }
}
