//! `GET /streams/{key}/live`: what comes to a stream, as Server-Sent Events.

use crate::app::{answered, App};
use crate::live::Id;
use crate::path;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use http::request::Parts;
use http::{header, HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use polycache_http::Problem;
use std::convert::Infallible;
use std::sync::Arc;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

pub(super) async fn get(State(app): State<Arc<App>>, request: Request) -> Response {
    let (request, _) = request.into_parts();
    let method = request.method.clone();
    match listen(&app, &request).await {
        Err(problem) => answered(Err(problem), &method),
        Ok(response) => response,
    }
}

async fn listen(app: &Arc<App>, request: &Parts) -> Result<Response, Problem> {
    let Some(hub) = &app.hub else {
        return Err(super::streams::no_redis());
    };
    let path = request.uri.path();
    let key = path
        .strip_prefix("/streams/")
        .and_then(|path| path.strip_suffix("/live"));
    let key = path::key(key.unwrap_or_default())?;
    super::streams::allowed(app, &key)?;
    let after = after(&request.headers, request.uri.query().unwrap_or_default())?;
    // For HEAD, too: whether there is a stream that may be listened to decides the status.
    let listener = hub.listen(&key, after).await?;
    let body = match request.method {
        // Of no known length, as that of GET: it is not sent.
        Method::HEAD => Body::from_stream(stream::empty::<Result<Bytes, Infallible>>()),
        _ => {
            let heartbeat = app.options.limits.heartbeat;
            Body::from_stream(listener.events(heartbeat, app.stopping.clone()))
        }
    };
    let mut response = Response::new(body);
    let fields = response.headers_mut();
    let events = HeaderValue::from_static("text/event-stream");
    fields.insert(header::CONTENT_TYPE, events);
    fields.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // nginx would hold events back.
    let unbuffered = HeaderName::from_static("x-accel-buffering");
    fields.insert(unbuffered, HeaderValue::from_static("no"));
    Ok(response)
}

/// The entry after which to begin: what a client that was here before had last, or the parameter `after` of one that reads
/// the stream first.
fn after(fields: &HeaderMap, query: &str) -> Result<Option<Id>, Problem> {
    let wrong = |parameter: &str| {
        let detail = format!("The id in {parameter} is none: write 1700000000010-0.");
        Problem::new(StatusCode::BAD_REQUEST, detail).with("parameter", parameter)
    };
    if let Some(id) = fields.get(LAST_EVENT_ID).filter(|id| !id.is_empty()) {
        let id = id.to_str().ok().and_then(Id::parse);
        return id.map(Some).ok_or_else(|| wrong("Last-Event-ID"));
    }
    let mut all = form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == "after");
    match (all.next(), all.next()) {
        (None, _) => Ok(None),
        (Some((_, id)), None) => Id::parse(&id).map(Some).ok_or_else(|| wrong("after")),
        _ => Err(wrong("after")),
    }
}
