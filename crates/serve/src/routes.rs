//! The routes, one per file.

mod entries;
mod health;
pub(crate) mod index;
mod live;
mod metrics;
mod reads;
mod stats;
mod streams;

use crate::app::App;
use crate::guard::{self, body};
use axum::extract::Request;
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::any;
use axum::Router;
use http::StatusCode;
use polycache_http::Problem;
use std::sync::Arc;

/// Paths are matched as they were sent, so a slash that is encoded stays within its part.
pub(crate) fn router(app: Arc<App>) -> Router {
    // Other methods than GET and HEAD were refused by the guard.
    Router::new()
        .route("/", any(index::get))
        .route("/healthz", any(health::get))
        .route("/metrics", any(metrics::get))
        .route("/stats", any(stats::get))
        .route("/entries/{*path}", any(entries::get))
        .route("/streams/{key}", any(streams::get))
        .route("/reads/{*words}", any(reads::get))
        .route("/streams/{key}/live", any(live::get))
        .fallback(unknown)
        .layer(from_fn_with_state(app.clone(), guard::guard))
        .with_state(app)
}

async fn unknown(request: Request) -> Response {
    let detail = "There is /entries/NAMESPACE/KEY, /streams/KEY, /streams/KEY/live, /reads/COMMAND/KEY, /stats, /metrics, /healthz and \
        the page /.";
    body(Problem::new(StatusCode::NOT_FOUND, detail).answer(request.method()))
}
