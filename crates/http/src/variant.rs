//! A representation in one content coding, with the answers that are made of it.

use crate::entity_tag::{entity_tag, match_names, none_match_names};
use crate::{Answer, Coding, Policy, Problem};
use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderValue};
use http::{Method, StatusCode};
use std::borrow::Cow;
use std::sync::{Arc, Mutex, OnceLock};

pub(crate) struct Variant {
    pub bytes: Bytes,
    coding: Option<Coding>,
    content_type: HeaderValue,
    etag: OnceLock<Arc<str>>,
    /// The fields by the last policy and age, for a server has one policy for a value.
    fields: Mutex<Option<Arc<Fields>>>,
}

/// The header fields of answers.
struct Fields {
    /// What they are for.
    policy: u64,
    age: Option<u64>,
    full: HeaderMap,
    not_modified: HeaderMap,
}

impl Variant {
    pub fn new(bytes: Bytes, coding: Option<Coding>, content_type: HeaderValue) -> Variant {
        Variant {
            bytes,
            coding,
            content_type,
            etag: OnceLock::new(),
            fields: Mutex::new(None),
        }
    }

    /// With a tag that the bytes have already.
    pub fn tagged(self, etag: &str) -> Variant {
        Variant {
            etag: OnceLock::from(Arc::from(etag)),
            ..self
        }
    }

    /// A hash of these very bytes, so each variant has its own (RFC 9110 8.8.3.3).
    pub fn etag(&self) -> &Arc<str> {
        self.etag.get_or_init(|| entity_tag(&self.bytes).into())
    }

    /// 412, 304 or 200 by the request's conditions (RFC 9110 13.2.2). Age is in seconds, and absent for what is current.
    pub fn answer(
        &self,
        method: &Method,
        request: &HeaderMap,
        policy: &Policy,
        age: Option<u64>,
    ) -> Answer {
        match condition(request, Some(self.etag())) {
            Condition::Failed => return Problem::precondition_failed().answer(method),
            Condition::NotModified => {
                let fields = self.fields(policy, age).not_modified.clone();
                return not_modified(fields);
            }
            Condition::Met => {}
        }
        let fields = self.fields(policy, age);
        let is_head = method == Method::HEAD;
        let mut answer = Answer::new(match is_head {
            true => Bytes::new(),
            false => self.bytes.clone(),
        });
        *answer.headers_mut() = fields.full.clone();
        answer
    }

    fn fields(&self, policy: &Policy, age: Option<u64>) -> Arc<Fields> {
        let mut kept = self
            .fields
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        match &*kept {
            Some(fields) if fields.policy == policy.id() && fields.age == age => fields.clone(),
            _ => kept.insert(Arc::new(self.make(policy, age))).clone(),
        }
    }

    fn make(&self, policy: &Policy, age: Option<u64>) -> Fields {
        let mut not_modified = policy.always().clone();
        if let Some(age) = age {
            not_modified.insert(header::AGE, HeaderValue::from(age));
        }
        // A tag is a checked text or base64.
        if let Ok(etag) = HeaderValue::from_str(self.etag()) {
            not_modified.insert(header::ETAG, etag);
        }
        let mut full = not_modified.clone();
        if !self.content_type.is_empty() {
            full.insert(header::CONTENT_TYPE, self.content_type.clone());
        }
        if let Some(coding) = self.coding {
            full.insert(header::CONTENT_ENCODING, coding.value());
        }
        full.insert(header::CONTENT_LENGTH, HeaderValue::from(self.bytes.len()));
        Fields {
            policy: policy.id(),
            age,
            full,
            not_modified,
        }
    }
}

/// What a request's conditions say of a representation (RFC 9110 13.2.2).
pub(crate) enum Condition {
    Failed,
    NotModified,
    Met,
}

/// Without a tag there is something all the same, which `*` names.
pub(crate) fn condition(request: &HeaderMap, etag: Option<&str>) -> Condition {
    let field = |name| list(request, name);
    if field(header::IF_MATCH).is_some_and(|field| !match_names(&field, etag)) {
        return Condition::Failed;
    }
    if field(header::IF_NONE_MATCH).is_some_and(|field| none_match_names(&field, etag)) {
        return Condition::NotModified;
    }
    Condition::Met
}

/// 304 with its fields.
pub(crate) fn not_modified(fields: HeaderMap) -> Answer {
    let mut answer = Answer::new(Bytes::new());
    *answer.status_mut() = StatusCode::NOT_MODIFIED;
    *answer.headers_mut() = fields;
    answer
}

/// A list's field; several lines of it are one list (RFC 9110 5.3).
pub(crate) fn list(fields: &HeaderMap, name: header::HeaderName) -> Option<Cow<'_, [u8]>> {
    let mut values = fields.get_all(name).iter();
    let mut whole = Cow::Borrowed(values.next()?.as_bytes());
    for value in values {
        whole.to_mut().extend_from_slice(b", ");
        whole.to_mut().extend_from_slice(value.as_bytes());
    }
    Some(whole)
}
