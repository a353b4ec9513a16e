//! Answers to requests, of what is stored.

use super::directives::Directives;
use super::stored_answer::StoredAnswer;
use super::Settings;
use crate::{Answer, Policy, Representation};
use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::request::Parts;
use http::{Method, Response, StatusCode};
use polycache::MemoryCache;
use std::sync::{Arc, Mutex, PoisonError};

/// Most bytes of bodies that are kept with their variants.
const MOST: u64 = 1 << 25;

const CACHE_STATUS: HeaderName = HeaderName::from_static("cache-status");

/// Hands out answers; the representations of those used last are kept, so that each variant is compressed once.
pub(super) struct HandedOut(MemoryCache<String, Arc<Kept>>);

/// A stored answer whose compressed variants are kept.
struct Kept {
    made: i64,
    representation: Representation,
    policies: Mutex<Vec<(&'static str, Arc<Policy>)>>,
}

impl Default for HandedOut {
    fn default() -> HandedOut {
        let kept = MemoryCache::builder()
            .max_bytes(MOST)
            .weigher(|key: &String, kept: &Arc<Kept>| {
                (key.len() + kept.representation.bytes().len() + 256) as u64
            })
            .build();
        HandedOut(kept.expect("the bound is none that is refused"))
    }
}

impl HandedOut {
    /// The answer to a request from a stored one; `status` is for the field Cache-Status.
    pub async fn answer(
        &self,
        settings: &Settings,
        key: &str,
        stored: &StoredAnswer,
        request: &Parts,
        status: &'static str,
    ) -> Answer {
        if stored.status != StatusCode::OK {
            return other(settings, stored, &request.method, status);
        }
        let kept = self.kept_of(settings, key, stored);
        let policy = kept.policy(status, || policy(settings, stored, status));
        let representation = &kept.representation;
        representation
            .respond(&request.method, &request.headers, &policy)
            .await
    }

    /// Adds the field to a handler's own answer.
    pub fn tell<R>(&self, settings: &Settings, answer: &mut Response<R>, forward: &str, why: &str) {
        if !settings.cache_status {
            return;
        }
        let detail = if why.is_empty() { "" } else { "; detail=" };
        let text = format!("polycache; fwd={forward}{detail}{why}");
        if let Ok(text) = HeaderValue::try_from(text) {
            answer.headers_mut().append(CACHE_STATUS, text);
        }
    }

    fn kept_of(&self, settings: &Settings, key: &str, stored: &StoredAnswer) -> Arc<Kept> {
        let is_same = |kept: &Arc<Kept>| {
            kept.made == stored.made && kept.representation.etag() == stored.etag
        };
        if let Some(known) = self.0.get(key).filter(is_same) {
            return known;
        }
        let content_type = stored.fields.get(header::CONTENT_TYPE).cloned();
        // An answer without one keeps having none.
        let content_type = content_type.unwrap_or(HeaderValue::from_static(""));
        let clock = settings.clock.clone();
        let representation = Representation::new(stored.body.clone(), content_type)
            .tagged(&stored.etag)
            .stored_at(u64::try_from(stored.made).unwrap_or(0))
            .clock(move || clock());
        let one = Arc::new(Kept {
            made: stored.made,
            representation,
            policies: Mutex::default(),
        });
        // One that is too large for it is made each time.
        let _ = self.0.set(key.to_owned(), one.clone());
        one
    }
}

/// The stored fields, as a policy has them; those of the content are the representation's.
fn policy(settings: &Settings, stored: &StoredAnswer, status: &str) -> Policy {
    let mut always = stored.fields.clone();
    always.remove(header::CONTENT_TYPE);
    always.remove(header::VARY);
    let said = stored.fields.get_all(header::VARY).iter();
    let names = said.flat_map(|field| field.as_bytes().split(|byte| *byte == b','));
    let names = names.filter_map(|name| HeaderName::from_bytes(name.trim_ascii()).ok());
    let names = names.chain(settings.vary.iter().cloned());
    let text = HeaderValue::try_from(format!("polycache; {status}"));
    if let (true, Ok(text)) = (settings.cache_status, text) {
        always.insert(CACHE_STATUS, text);
    }
    let policy = settings.policy.with_fields(always, names.collect());
    // RFC 9111 5.2.2.6.
    if Directives::of(&stored.fields).has("no-transform") {
        return policy.codings([]);
    }
    policy
}

/// An answer with another status has no conditions (RFC 9110 13.2.1).
fn other(settings: &Settings, stored: &StoredAnswer, method: &Method, status: &str) -> Answer {
    let mut fields = policy(settings, stored, status).always().clone();
    if let Some(content_type) = stored.fields.get(header::CONTENT_TYPE) {
        fields.insert(header::CONTENT_TYPE, content_type.clone());
    }
    let age = settings.now().saturating_sub(stored.made).max(0) / 1000;
    fields.insert(header::AGE, HeaderValue::from(age));
    let has_content = ![204, 205].contains(&stored.status.as_u16());
    if has_content {
        let length = HeaderValue::from(stored.body.len());
        fields.insert(header::CONTENT_LENGTH, length);
    }
    let is_sent = has_content && method != Method::HEAD;
    let mut answer = Answer::new(if is_sent {
        stored.body.clone()
    } else {
        Bytes::new()
    });
    *answer.status_mut() = stored.status;
    *answer.headers_mut() = fields;
    answer
}

impl Kept {
    /// Kept, because what is made of a policy is kept with it.
    fn policy(&self, status: &'static str, make: impl FnOnce() -> Policy) -> Arc<Policy> {
        let mut policies = self.policies.lock().unwrap_or_else(PoisonError::into_inner);
        let known = policies.iter().find(|(known, _)| *known == status);
        if let Some((_, policy)) = known {
            return policy.clone();
        }
        let policy = Arc::new(make());
        policies.push((status, policy.clone()));
        policy
    }
}
