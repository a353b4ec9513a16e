//! Bytes that are served over HTTP.

use crate::accept_encoding::{choose, Choice};
use crate::compressed_types::is_compressed;
use crate::entity_tag::is_entity_tag;
use crate::envelope::Envelope;
use crate::variant::{list, Variant};
use crate::{Answer, Coding, InvalidArgument, Policy, Problem};
use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderValue};
use http::Method;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::OnceCell;

/// Milliseconds since 1970.
type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// Bytes that are served over HTTP: encoded once, with a strong entity tag and compressed variants, each made when it is
/// first asked for. One representation serves any number of requests; a clone is the same one.
#[derive(Clone)]
pub struct Representation {
    inner: Arc<Inner>,
}

struct Inner {
    identity: Variant,
    variants: [OnceCell<Variant>; Coding::ALL.len()],
    content_type: HeaderValue,
    stored_at: Option<u64>,
    clock: Option<Clock>,
    /// Of the last documents around it.
    envelope: Mutex<Option<Arc<Envelope>>>,
}

impl Representation {
    /// JSON, which is current.
    #[must_use]
    pub fn json(bytes: impl Into<Bytes>) -> Representation {
        let json = HeaderValue::from_static("application/json");
        Representation::new(bytes.into(), json)
    }

    /// Bytes of a media type, which are current.
    #[must_use]
    pub fn new(bytes: Bytes, content_type: HeaderValue) -> Representation {
        Representation::of(Inner {
            identity: Variant::new(bytes, None, content_type.clone()),
            variants: Default::default(),
            content_type,
            stored_at: None,
            clock: None,
            envelope: Mutex::default(),
        })
    }

    fn of(inner: Inner) -> Representation {
        Representation {
            inner: Arc::new(inner),
        }
    }

    /// The same bytes with the tag that they have already, in its quotes. Default: a hash of them.
    ///
    /// # Errors
    /// For what is no entity tag.
    pub fn with_etag(self, etag: &str) -> Result<Representation, InvalidArgument> {
        if !is_entity_tag(etag) {
            return Err(InvalidArgument(format!(
                "{etag} is no entity tag: write \"v1\" with the quotes"
            )));
        }
        Ok(self.tagged(etag))
    }

    /// With a tag that is known to be one.
    pub(crate) fn tagged(&self, etag: &str) -> Representation {
        let (at, clock) = (self.inner.stored_at, self.inner.clock.clone());
        self.again(etag, at, clock)
    }

    /// The same bytes, last known to be current at a time, in milliseconds since 1970, for the field Age (RFC 9111 5.1).
    /// Default: they are current, so there is no Age.
    #[must_use]
    pub fn stored_at(self, at: u64) -> Representation {
        self.again(self.etag(), Some(at), self.inner.clock.clone())
    }

    /// The same with a clock, milliseconds since 1970, for tests. Default: the system's.
    #[must_use]
    pub fn clock(self, clock: impl Fn() -> u64 + Send + Sync + 'static) -> Representation {
        let at = self.inner.stored_at;
        self.again(self.etag(), at, Some(Arc::new(clock)))
    }

    fn again(&self, etag: &str, stored_at: Option<u64>, clock: Option<Clock>) -> Representation {
        let content_type = self.inner.content_type.clone();
        Representation::of(Inner {
            identity: Variant::new(self.bytes().clone(), None, content_type.clone()).tagged(etag),
            variants: Default::default(),
            content_type,
            stored_at,
            clock,
            envelope: Mutex::default(),
        })
    }

    /// The bytes, without a content coding.
    #[must_use]
    pub fn bytes(&self) -> &Bytes {
        &self.inner.identity.bytes
    }

    /// The entity tag of the bytes (RFC 9110 8.8.3). A compressed variant has another one.
    #[must_use]
    pub fn etag(&self) -> &str {
        self.inner.identity.etag()
    }

    /// Bytes that it holds, with the variants that were made.
    #[must_use]
    pub fn size(&self) -> usize {
        let made = self.inner.variants.iter().filter_map(OnceCell::get);
        let made: usize = made.map(|variant| variant.bytes.len()).sum();
        self.bytes().len() + made
    }

    /// The bytes in a content coding. Callers that ask meanwhile share the work, which a thread for blocking work does.
    ///
    /// # Errors
    /// When there is no memory, or the runtime is shutting down.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub async fn encoded(&self, coding: Coding) -> std::io::Result<Bytes> {
        Ok(self.variant(coding).await?.bytes.clone())
    }

    async fn variant(&self, coding: Coding) -> std::io::Result<&Variant> {
        let made = self.inner.variants[coding.index()].get_or_try_init(|| async {
            let bytes = self.bytes().clone();
            // The tag is hashed there, too.
            let content_type = self.inner.content_type.clone();
            let making = tokio::task::spawn_blocking(move || {
                let made = coding.compress(&bytes)?;
                let variant = Variant::new(made.into(), Some(coding), content_type);
                variant.etag();
                Ok(variant)
            });
            // The next caller tries again.
            making.await.map_err(std::io::Error::other)?
        });
        made.await
    }

    /// The answer to a request, if it needs no variant that has to be compressed first; else `None`.
    ///
    /// - 405 for another method than GET and HEAD,
    /// - 406 where nothing that there is is acceptable (RFC 9110 12.5.3),
    /// - 412 where If-Match names another tag, 304 where If-None-Match names this one (RFC 9110 13.2.2),
    /// - else 200. A Range is not served, as a server may do (RFC 9110 14.2); nothing has a Last-Modified.
    #[must_use]
    pub fn respond_now(
        &self,
        method: &Method,
        request: &HeaderMap,
        policy: &Policy,
    ) -> Option<Answer> {
        let coding = match self.choose(method, request, policy) {
            Err(problem) => return Some(problem.answer(method)),
            Ok(coding) => coding,
        };
        let variant = match coding {
            None => &self.inner.identity,
            Some(coding) => self.inner.variants[coding.index()].get()?,
        };
        Some(variant.answer(method, request, policy, self.age()))
    }

    /// The same; the variant that is asked for is made first. If that fails, the bytes are sent as they are where that is
    /// acceptable.
    ///
    /// # Panics
    /// Outside of a tokio runtime, where a variant must be made.
    pub async fn respond(&self, method: &Method, request: &HeaderMap, policy: &Policy) -> Answer {
        if let Some(answer) = self.respond_now(method, request, policy) {
            return answer;
        }
        let Ok(Some(coding)) = self.choose(method, request, policy) else {
            return Problem::internal().answer(method);
        };
        match self.variant(coding).await {
            Ok(variant) => variant.answer(method, request, policy, self.age()),
            Err(_) => {
                let plain = policy.clone().codings([]);
                let answer = self.respond_now(method, request, &plain);
                answer.unwrap_or_else(|| Problem::internal().answer(method))
            }
        }
    }

    fn choose(
        &self,
        method: &Method,
        request: &HeaderMap,
        policy: &Policy,
    ) -> Result<Option<Coding>, Problem> {
        let is_plain =
            self.bytes().len() < policy.least() || is_compressed(&self.inner.content_type);
        coding_for(method, request, policy.all_codings(), is_plain)
    }

    pub(crate) fn content_type(&self) -> &HeaderValue {
        &self.inner.content_type
    }

    /// Whether the media type is JSON, or one that is written as JSON (RFC 6839 3.1).
    pub(crate) fn is_json(&self) -> bool {
        let media = self.inner.content_type.to_str().unwrap_or_default();
        let media = media.split(';').next().unwrap_or_default().trim();
        media.eq_ignore_ascii_case("application/json")
            || media.to_ascii_lowercase().ends_with("+json")
    }

    /// What documents around it under a name have in common.
    pub(crate) fn envelope(&self, name: &str) -> Arc<Envelope> {
        let mut kept = self
            .inner
            .envelope
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        match &*kept {
            Some(envelope) if envelope.name == name => envelope.clone(),
            _ => kept
                .insert(Arc::new(Envelope::new(name, self.bytes())))
                .clone(),
        }
    }

    /// In whole seconds. A clock that was set back makes nothing younger than 0.
    pub(crate) fn age(&self) -> Option<u64> {
        let at = self.inner.stored_at?;
        let now = match &self.inner.clock {
            Some(clock) => clock(),
            None => {
                let now = SystemTime::now().duration_since(UNIX_EPOCH);
                now.unwrap_or_default().as_millis() as u64
            }
        };
        Some(now.saturating_sub(at) / 1000)
    }
}

/// The coding for a request: of `codings`, in the server's order of preference.
pub(crate) fn coding_for(
    method: &Method,
    request: &HeaderMap,
    codings: &[Coding],
    is_small: bool,
) -> Result<Option<Coding>, Problem> {
    if method != Method::GET && method != Method::HEAD {
        return Err(Problem::method_not_allowed());
    }
    let field = list(request, header::ACCEPT_ENCODING);
    // What is no text names no coding.
    let field = field
        .as_deref()
        .map(|field| std::str::from_utf8(field).unwrap_or("?"));
    match choose(field, codings, is_small) {
        Choice::Identity => Ok(None),
        Choice::Coded(coding) => Ok(Some(coding)),
        Choice::Nothing => Err(Problem::not_acceptable()),
    }
}

impl fmt::Debug for Representation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Representation")
            .field("content_type", &self.inner.content_type)
            .field("bytes", &self.bytes().len())
            .finish_non_exhaustive()
    }
}
