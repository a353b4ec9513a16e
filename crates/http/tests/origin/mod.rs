//! A handler whose answers a test says, and what asks it.
#![allow(dead_code)] // Each test uses a part.

use axum::body::Body;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use polycache::duration;
use polycache_http::{CachedService, ResponseCache};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::future::{ready, Ready};
use std::io;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use tower_service::Service;

/// 2026-01-01T00:00Z, in milliseconds since 1970.
pub const START: u64 = 1_767_225_600_000;

/// What the handler answers, if it is asked.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
pub enum Origin {
    Answers {
        status: u16,
        #[serde(default)]
        headers: BTreeMap<String, String>,
        body: String,
    },
    /// The text `fails`.
    Fails(String),
}

/// Answers as the last script says, and counts how often it is asked.
#[derive(Clone, Default)]
pub struct Scripted(Arc<Mutex<(Option<Origin>, usize)>>);

impl Scripted {
    pub fn answers_with(&self, origin: &Origin) {
        *self.0.lock().unwrap() = (Some(origin.clone()), 0);
    }

    pub fn asked(&self) -> usize {
        self.0.lock().unwrap().1
    }
}

impl Service<Request<Body>> for Scripted {
    type Response = Response<Body>;
    type Error = io::Error;
    type Future = Ready<io::Result<Response<Body>>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let mut script = self.0.lock().unwrap();
        script.1 += 1;
        let Some(Origin::Answers {
            status,
            headers,
            body,
        }) = &script.0
        else {
            return ready(Err(io::Error::other("the origin is down")));
        };
        let is_empty = request.method() == Method::HEAD || *status == 204;
        let body = if is_empty {
            String::new()
        } else {
            filled(body, request.headers())
        };
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = StatusCode::from_u16(*status).unwrap();
        for (name, value) in headers {
            let name = http::HeaderName::try_from(name).unwrap();
            response.headers_mut().insert(name, value.parse().unwrap());
        }
        ready(Ok(response))
    }
}

/// The text, with `${field:name}` for the value of that field, or `-`.
fn filled(text: &str, fields: &HeaderMap) -> String {
    let mut parts = text.split("${field:");
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once('}').unwrap();
        let value = fields.get(name).map(|value| value.to_str().unwrap());
        filled.push_str(value.unwrap_or("-"));
        filled.push_str(rest);
    }
    filled
}

/// The options of a case.
pub fn options(mut cache: ResponseCache, options: &Map<String, Value>) -> ResponseCache {
    for (name, value) in options {
        let names = || {
            let names = value.as_array().unwrap().iter();
            names.map(|name| name.as_str().unwrap().parse().unwrap())
        };
        let time = || duration::parse(value.as_str().unwrap()).unwrap();
        cache = match &**name {
            "vary" => cache.vary(names()),
            "covered" => cache.covered(names()),
            "ttl" => cache.ttl(time()),
            "stale_while_revalidate" => cache.stale_while_revalidate(time()),
            "stale_if_error" => cache.stale_if_error(time()),
            "compress_from" => cache.compress_from(value.as_u64().unwrap() as usize),
            "max_body" => cache.max_body(value.as_u64().unwrap() as usize),
            other => panic!("{other}"),
        };
    }
    cache
}

/// Status, fields and body.
pub type Answered = (u16, HeaderMap, Vec<u8>);

/// What a service answers.
pub async fn answer_of<S>(
    service: &mut CachedService<S>,
    request: Request<Body>,
) -> Result<Answered, <CachedService<S> as Service<Request<Body>>>::Error>
where
    CachedService<S>: Service<Request<Body>, Response = Response<Body>>,
{
    let (head, body) = service.call(request).await?.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    Ok((head.status.as_u16(), head.headers, body.to_vec()))
}

/// Waits until nothing is fetched behind a stale answer any more.
pub async fn quiet() {
    let runtime = tokio::runtime::Handle::current().metrics();
    while runtime.num_alive_tasks() > 0 {
        tokio::task::yield_now().await;
    }
}
