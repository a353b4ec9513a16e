//! `GET /metrics`, for Prometheus.

use crate::app::{answered, App};
use axum::extract::{Request, State};
use axum::response::Response;
use http::HeaderValue;
use polycache_http::Representation;
use std::sync::Arc;

const TYPE: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

pub(super) async fn get(State(app): State<Arc<App>>, request: Request) -> Response {
    let (request, _) = request.into_parts();
    let method = &request.method;
    let answer = match app.statistics.prometheus(&app).await {
        Err(problem) => Err(problem),
        Ok(text) => {
            let text = Representation::new(text.into(), TYPE);
            Ok(text.respond(method, &request.headers, &app.current).await)
        }
    };
    answered(answer, method)
}
