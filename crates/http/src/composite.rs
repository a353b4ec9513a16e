//! A small JSON document around a value, put together without touching the value's bytes.

use crate::envelope::Envelope;
use crate::representation::coding_for;
use crate::variant::{condition, not_modified, Condition};
use crate::{Answer, Coding, InvalidArgument, Policy, Problem, Representation};
use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderValue};
use http::Method;
use serde::de::IgnoredAny;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// `{"value":<bytes>,...}`: what [`Representation::within`] makes.
#[derive(Clone, Debug)]
pub struct Composite {
    of: Representation,
    envelope: Arc<Envelope>,
    /// What stands behind the value.
    tail: Vec<u8>,
    is_incidental: bool,
}

impl Representation {
    /// A JSON document with these bytes, which are JSON themselves, as its first member and with fields of your own, a
    /// struct or a map: `{"value":<bytes>,"start":1}`. The bytes are neither parsed nor encoded again; in gzip they are
    /// deflated once for each name.
    ///
    /// ```
    /// use polycache_http::Representation;
    /// use serde_json::json;
    ///
    /// let list = Representation::json("[1,2,3]");
    /// let page = list.within("value", &json!({"start": 1}))?;
    /// assert_eq!(page.bytes(), r#"{"value":[1,2,3],"start":1}"#);
    /// # Ok::<(), polycache_http::InvalidArgument>(())
    /// ```
    ///
    /// # Errors
    /// For a representation that is not JSON, for fields that are no JSON object, and where one has the same name.
    pub fn within<T: Serialize + ?Sized>(
        &self,
        name: &str,
        fields: &T,
    ) -> Result<Composite, InvalidArgument> {
        if !self.is_json() {
            return Err(InvalidArgument(
                "only JSON has fields around it, and this is another media type".into(),
            ));
        }
        let no_object = |_| InvalidArgument("the fields around a value are a JSON object".into());
        let mut tail = serde_json::to_vec(fields).map_err(no_object)?;
        let names: BTreeMap<String, IgnoredAny> =
            serde_json::from_slice(&tail).map_err(no_object)?;
        if names.contains_key(name) {
            return Err(InvalidArgument(format!(
                "{name} is the name of the value; a field needs another one"
            )));
        }
        if names.is_empty() {
            tail = b"}".to_vec();
        } else {
            // Its brace becomes the comma.
            tail[0] = b',';
        }
        Ok(Composite {
            of: self.clone(),
            envelope: self.envelope(name),
            tail,
            is_incidental: false,
        })
    }
}

impl Composite {
    /// The fields do not matter to a client that has the value already, as times of reading it: so the document has the
    /// value's tag as a weak one, and a client that has the value gets 304. Default: the document has no tag.
    #[must_use]
    pub fn incidental(mut self) -> Composite {
        self.is_incidental = true;
        self
    }

    /// The document, joined anew at each call.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        [&self.envelope.plain, self.tail.as_slice()].concat().into()
    }

    /// Number of its bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.envelope.plain.len() + self.tail.len()
    }

    /// The weak tag of the value, where the fields are incidental.
    #[must_use]
    pub fn etag(&self) -> Option<String> {
        self.is_incidental
            .then(|| format!("W/{}", self.of.etag().trim_start_matches("W/")))
    }

    /// As [`Representation::respond_now`]: `None` where the value must be deflated first.
    #[must_use]
    pub fn respond_now(
        &self,
        method: &Method,
        request: &HeaderMap,
        policy: &Policy,
    ) -> Option<Answer> {
        match self.choose(method, request, policy) {
            Err(problem) => Some(problem.answer(method)),
            Ok(None) => Some(self.answer(method, request, policy, None)),
            Ok(Some(_)) => {
                let gzip = self.envelope.gzip_now(&self.tail)?;
                Some(self.answer(method, request, policy, Some(gzip)))
            }
        }
    }

    /// As [`Representation::respond`]. There is gzip, and no other coding (`spec/http.md`, "A value").
    ///
    /// # Panics
    /// Outside of a tokio runtime, where the value must be deflated.
    pub async fn respond(&self, method: &Method, request: &HeaderMap, policy: &Policy) -> Answer {
        if let Some(answer) = self.respond_now(method, request, policy) {
            return answer;
        }
        match self.envelope.gzip(&self.tail).await {
            Ok(gzip) => self.answer(method, request, policy, Some(gzip)),
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
        let has_gzip = policy.all_codings().contains(&Coding::Gzip);
        let codings: &[Coding] = if has_gzip { &[Coding::Gzip] } else { &[] };
        coding_for(method, request, codings, self.size() < policy.least())
    }

    fn answer(
        &self,
        method: &Method,
        request: &HeaderMap,
        policy: &Policy,
        gzip: Option<Vec<u8>>,
    ) -> Answer {
        let etag = self.etag();
        let mut fields = policy.always().clone();
        if let Some(age) = self.of.age() {
            fields.insert(header::AGE, HeaderValue::from(age));
        }
        // A tag is a checked text or base64.
        let field = etag
            .as_deref()
            .and_then(|etag| HeaderValue::from_str(etag).ok());
        if let Some(etag) = field {
            fields.insert(header::ETAG, etag);
        }
        match condition(request, etag.as_deref()) {
            Condition::Failed => return Problem::precondition_failed().answer(method),
            Condition::NotModified => return not_modified(fields),
            Condition::Met => {}
        }
        fields.insert(header::CONTENT_TYPE, self.of.content_type().clone());
        let length = gzip.as_ref().map_or(self.size(), Vec::len);
        fields.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
        if gzip.is_some() {
            fields.insert(header::CONTENT_ENCODING, Coding::Gzip.value());
        }
        let body = match gzip {
            _ if method == Method::HEAD => Bytes::new(),
            Some(gzip) => gzip.into(),
            None => self.bytes(),
        };
        let mut answer = Answer::new(body);
        *answer.headers_mut() = fields;
        answer
    }
}
