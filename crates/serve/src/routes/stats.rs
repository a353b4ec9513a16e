//! `GET /stats`: what the page shows.

use crate::app::{answered, App};
use axum::extract::{Request, State};
use axum::response::Response;
use polycache_http::Representation;
use std::sync::Arc;

pub(super) async fn get(State(app): State<Arc<App>>, request: Request) -> Response {
    let (request, _) = request.into_parts();
    let method = &request.method;
    let answer = match app.statistics.json(&app).await {
        Err(problem) => Err(problem),
        Ok(object) => {
            let object = Representation::json(object.to_string());
            Ok(object.respond(method, &request.headers, &app.current).await)
        }
    };
    answered(answer, method)
}
