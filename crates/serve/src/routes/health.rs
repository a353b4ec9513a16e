//! `GET /healthz`: whether the server can serve.

use crate::app::{answered, App};
use crate::guard::is_shown;
use crate::statistics::remote;
use axum::extract::{Request, State};
use axum::response::Response;
use http::StatusCode;
use polycache_http::{Policy, Problem, Representation};
use serde_json::json;
use std::sync::Arc;

/// 200 while it can serve, whatever the remote tier does; 503 when it stops, and when its directory was removed or replaced,
/// which only a new start mends. Who shows the token is told more.
pub(super) async fn get(State(app): State<Arc<App>>, request: Request) -> Response {
    let (request, _) = request.into_parts();
    let method = &request.method;
    if *app.stopping.borrow() || app.cache.is_closed() {
        let detail = "The server is stopping.";
        let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail);
        return answered(Err(problem), method);
    }
    if let Err(problem) = app.still_stands() {
        return answered(Err(problem), method);
    }
    let mut document = json!({"status": "ok"});
    if is_shown(&app, &request.headers) {
        let stats = app.cache.remote_stats();
        document["remote"] = stats.as_ref().map(remote).into();
    }
    // What is true now is nobody's to keep.
    let policy = Policy::default().cache_control_text("no-store");
    let answer = match policy {
        Err(_) => Err(Problem::internal()),
        Ok(policy) => {
            let document = Representation::json(document.to_string());
            Ok(document.respond(method, &request.headers, &policy).await)
        }
    };
    answered(answer, method)
}
