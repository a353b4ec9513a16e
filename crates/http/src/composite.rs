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
        let coding = match self.choose(method, request, policy) {
            Err(problem) => return Some(problem.answer(method)),
            Ok(coding) => coding,
        };
        let fields = self.fields(policy);
        // Its tag is the value's, so what a client has is known before anything is compressed or joined.
        if let Some(answer) = self.settled(method, request, &fields) {
            return Some(answer);
        }
        let gzip = match coding {
            None => None,
            Some(_) => Some(self.envelope.gzip_now(&self.tail)?),
        };
        Some(self.whole(method, fields, gzip))
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
            Ok(gzip) => self.whole(method, self.fields(policy), Some(gzip)),
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

    /// Those that 200 and 304 have.
    fn fields(&self, policy: &Policy) -> HeaderMap {
        let mut fields = policy.always().clone();
        if let Some(age) = self.of.age() {
            fields.insert(header::AGE, HeaderValue::from(age));
        }
        // A tag is a checked text or base64.
        let etag = self.etag();
        if let Some(etag) = etag.and_then(|etag| HeaderValue::try_from(etag).ok()) {
            fields.insert(header::ETAG, etag);
        }
        fields
    }

    /// 412 or 304, by the request's conditions.
    fn settled(&self, method: &Method, request: &HeaderMap, fields: &HeaderMap) -> Option<Answer> {
        match condition(request, self.etag().as_deref()) {
            Condition::Failed => Some(Problem::precondition_failed().answer(method)),
            Condition::NotModified => Some(not_modified(fields.clone())),
            Condition::Met => None,
        }
    }

    fn whole(&self, method: &Method, mut fields: HeaderMap, gzip: Option<Vec<u8>>) -> Answer {
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
