//! Answers as they stand in a cache (`spec/http.md`, "A stored answer").

use super::request_key::text;
use super::storable::Lifetime;
use crate::entity_tag::{entity_tag, is_entity_tag};
use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::StatusCode;
use polycache::Value;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::sync::Arc;

/// A complete answer. Times are in milliseconds since 1970.
#[derive(Debug)]
pub(super) struct StoredAnswer {
    pub status: StatusCode,
    /// Without those of the connection and of the body's length.
    pub fields: HeaderMap,
    pub body: Bytes,
    /// Its own entity tag, or a hash of the body.
    pub etag: String,
    /// When the answer was made, which its Age counts from.
    pub made: i64,
    pub fresh_until: i64,
    pub revalidate_until: i64,
    pub error_until: i64,
}

/// What stands under a key.
#[derive(Clone, Debug)]
pub(super) enum Stored {
    Answer(Arc<StoredAnswer>),
    /// In place of an answer that cannot be stored: until then each request is answered on its own.
    Pass {
        why: Cow<'static, str>,
        until: i64,
    },
    /// Another program may have written to the namespace.
    Foreign,
}

/// What a load brought, or found.
#[derive(Debug)]
pub(super) struct Loaded {
    pub stored: Stored,
    /// The last change of its key that was known when the load began.
    pub since: Option<String>,
}

/// Of one connection (RFC 9110 7.6.1), or told anew for each answer.
const DROPPED: [&str; 12] = [
    "age",
    "cache-status",
    "connection",
    "content-length",
    "etag",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authentication-info",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

impl StoredAnswer {
    /// What is stored of an answer with this body, which was `age` milliseconds old at `now`.
    pub fn new(
        status: StatusCode,
        fields: &HeaderMap,
        body: Bytes,
        lifetime: Lifetime,
        age: i64,
        now: i64,
    ) -> StoredAnswer {
        let etag = fields.get(header::ETAG).and_then(|tag| tag.to_str().ok());
        // What is no tag is as good as none.
        let etag = etag.filter(|tag| is_entity_tag(tag)).map(str::to_owned);
        let fresh_until = now + lifetime.fresh;
        StoredAnswer {
            status,
            fields: kept(fields),
            etag: etag.unwrap_or_else(|| entity_tag(&body)),
            body,
            made: now - age,
            fresh_until,
            revalidate_until: fresh_until + lifetime.while_revalidate,
            error_until: fresh_until + lifetime.if_error,
        }
    }

    fn value(&self) -> Value<'_> {
        let mut fields: Vec<(&HeaderName, String)> = self
            .fields
            .keys()
            .map(|name| (name, text(&self.fields, name).unwrap_or_default()))
            .collect();
        // As JavaScript lists them.
        fields.sort_unstable_by_key(|(name, _)| name.as_str());
        let fields = fields.into_iter().map(|(name, value)| {
            Value::List(vec![name.as_str().into(), Value::Text(value.into())])
        });
        map([
            ("status", i64::from(self.status.as_u16()).into()),
            ("fields", Value::List(fields.collect())),
            ("body", Value::Bytes(Cow::Borrowed(&self.body))),
            ("etag", self.etag.as_str().into()),
            ("made", self.made.into()),
            ("freshUntil", self.fresh_until.into()),
            ("revalidateUntil", self.revalidate_until.into()),
            ("errorUntil", self.error_until.into()),
        ])
    }
}

fn map<'a, const N: usize>(members: [(&'static str, Value<'a>); N]) -> Value<'a> {
    let members = members.into_iter();
    Value::Map(members.map(|(name, value)| (name.into(), value)).collect())
}

/// The fields that are stored.
fn kept(fields: &HeaderMap) -> HeaderMap {
    let connection = text(fields, &header::CONNECTION).unwrap_or_default();
    let is_named = |name: &HeaderName| {
        let mut names = connection.split(',').map(str::trim);
        names.any(|one| one.eq_ignore_ascii_case(name.as_str()))
    };
    let mut kept = HeaderMap::new();
    for (name, value) in fields {
        if !DROPPED.contains(&name.as_str()) && !is_named(name) {
            kept.append(name, value.clone());
        }
    }
    kept
}

impl Stored {
    /// Until when it is of any use.
    pub fn useful_until(&self) -> i64 {
        match self {
            Stored::Answer(answer) => {
                let stale = answer.revalidate_until.max(answer.error_until);
                answer.fresh_until.max(stale)
            }
            Stored::Pass { until, .. } => *until,
            Stored::Foreign => 0,
        }
    }

    pub fn of(value: Value<'static>) -> Stored {
        Loaded::of(value).stored
    }

    fn value(&self) -> Value<'_> {
        match self {
            Stored::Answer(answer) => answer.value(),
            Stored::Pass { why, until } => {
                let why = why.as_ref().into();
                map([("pass", why), ("until", (*until).into())])
            }
            Stored::Foreign => Value::Null,
        }
    }
}

impl Loaded {
    fn of(value: Value<'static>) -> Loaded {
        let Value::Map(members) = value else {
            return Loaded {
                stored: Stored::Foreign,
                since: None,
            };
        };
        let mut members = Members(members);
        let since = members.text("since").map(Cow::into_owned);
        let stored = members.stored().unwrap_or(Stored::Foreign);
        Loaded { stored, since }
    }
}

/// Those of a map, each of which is taken once.
struct Members(Vec<(Cow<'static, str>, Value<'static>)>);

impl Members {
    fn take(&mut self, name: &str) -> Option<Value<'static>> {
        let at = self.0.iter().position(|(known, _)| known == name)?;
        Some(self.0.swap_remove(at).1)
    }

    fn text(&mut self, name: &str) -> Option<Cow<'static, str>> {
        match self.take(name)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// JavaScript may have stored a fraction.
    fn number(&mut self, name: &str) -> Option<i64> {
        match self.take(name)? {
            Value::Int(number) => i64::try_from(number).ok(),
            Value::Float(number) if number.is_finite() => Some(number as i64),
            _ => None,
        }
    }

    fn stored(mut self) -> Option<Stored> {
        if let Some(why) = self.text("pass") {
            let until = self.number("until")?;
            return Some(Stored::Pass { why, until });
        }
        let status = u16::try_from(self.number("status")?).ok()?;
        let Value::List(fields) = self.take("fields")? else {
            return None;
        };
        let Value::Bytes(body) = self.take("body")? else {
            return None;
        };
        Some(Stored::Answer(Arc::new(StoredAnswer {
            status: StatusCode::from_u16(status).ok()?,
            fields: fields_of(fields)?,
            body: Bytes::from(body.into_owned()),
            etag: self.text("etag")?.into_owned(),
            made: self.number("made")?,
            fresh_until: self.number("freshUntil")?,
            revalidate_until: self.number("revalidateUntil")?,
            error_until: self.number("errorUntil")?,
        })))
    }
}

/// `None` where one is no field: an answer with other fields would be another one.
fn fields_of(list: Vec<Value<'static>>) -> Option<HeaderMap> {
    let mut fields = HeaderMap::new();
    for one in list {
        let Value::List(pair) = one else {
            return None;
        };
        let [Value::Text(name), Value::Text(value)] = &pair[..] else {
            return None;
        };
        let name = HeaderName::try_from(name.as_ref()).ok()?;
        let bytes = value.chars().map(|one| u8::try_from(one).ok());
        let bytes: Vec<u8> = bytes.collect::<Option<_>>()?;
        fields.append(name, HeaderValue::from_bytes(&bytes).ok()?);
    }
    Some(fields)
}

impl Serialize for Stored {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

impl Serialize for Loaded {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut value = self.stored.value();
        if let (Value::Map(members), Some(since)) = (&mut value, &self.since) {
            members.push(("since".into(), since.as_str().into()));
        }
        value.serialize(serializer)
    }
}

/// Anything is read: what is no entry of ours is `Foreign`.
impl<'de> Deserialize<'de> for Stored {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Stored, D::Error> {
        Value::deserialize(deserializer).map(Stored::of)
    }
}

impl<'de> Deserialize<'de> for Loaded {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Loaded, D::Error> {
        Value::deserialize(deserializer).map(Loaded::of)
    }
}
