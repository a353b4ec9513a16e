//! Problem documents (RFC 9457): what was wrong with a request, for programs and people.

use crate::Answer;
use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, StatusCode};
use serde_json::{Map, Value};
use std::fmt;

/// A request cannot be answered as it stands. It becomes a problem document with its status, which nobody stores.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem(Box<Parts>);

#[derive(Clone, Debug, PartialEq)]
struct Parts {
    status: StatusCode,
    detail: String,
    members: Map<String, Value>,
    fields: HeaderMap,
}

impl Problem {
    /// `detail` says what was wrong and what to do; clients see it.
    #[must_use]
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Problem {
        let mut fields = HeaderMap::new();
        if status == StatusCode::METHOD_NOT_ALLOWED {
            fields.insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        }
        Problem(Box::new(Parts {
            status,
            detail: detail.into(),
            members: Map::new(),
            fields,
        }))
    }

    /// 405: another method than GET and HEAD.
    #[must_use]
    pub fn method_not_allowed() -> Problem {
        let detail = "Only GET and HEAD are answered here.";
        Problem::new(StatusCode::METHOD_NOT_ALLOWED, detail)
    }

    /// 406: nothing that there is is acceptable.
    #[must_use]
    pub fn not_acceptable() -> Problem {
        let detail =
            "Accept-Encoding refuses every coding that there is, and the bytes without one.";
        Problem::new(StatusCode::NOT_ACCEPTABLE, detail)
    }

    /// 412: If-Match names another tag.
    #[must_use]
    pub fn precondition_failed() -> Problem {
        let detail = "If-Match does not name what is here now.";
        Problem::new(StatusCode::PRECONDITION_FAILED, detail)
    }

    /// 500: it says nothing of the error.
    #[must_use]
    pub fn internal() -> Problem {
        let detail = "The server failed; its log says why.";
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, detail)
    }

    /// One more member of the document, as the name of the parameter.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Problem {
        self.0.members.insert(name.to_owned(), value.into());
        self
    }

    /// One more header field of the answer, as Retry-After.
    #[must_use]
    pub fn field(mut self, name: HeaderName, value: &'static str) -> Problem {
        self.0.fields.insert(name, HeaderValue::from_static(value));
        self
    }

    /// The status of the answer.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.0.status
    }

    /// The answer, without content for HEAD.
    #[must_use]
    pub fn answer(&self, method: &Method) -> Answer {
        let mut document = self.0.members.clone();
        document
            .entry("type")
            .or_insert_with(|| "about:blank".into());
        let title = self.0.status.canonical_reason().unwrap_or("Error");
        // Its title in RFC 9110.
        let title = match self.0.status {
            StatusCode::PAYLOAD_TOO_LARGE => "Content Too Large",
            _ => title,
        };
        document.insert("title".into(), title.into());
        document.insert("status".into(), self.0.status.as_u16().into());
        document.insert("detail".into(), self.0.detail.as_str().into());
        let body = Bytes::from(Value::Object(document).to_string());
        let mut fields = self.0.fields.clone();
        let json = HeaderValue::from_static("application/problem+json");
        fields.insert(header::CONTENT_TYPE, json);
        fields.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        fields.insert(header::CONTENT_LENGTH, HeaderValue::from(body.len()));
        let is_head = method == Method::HEAD;
        let mut answer = Answer::new(if is_head { Bytes::new() } else { body });
        *answer.status_mut() = self.0.status;
        *answer.headers_mut() = fields;
        answer
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.status, self.0.detail)
    }
}

impl std::error::Error for Problem {}
