//! `GET /`: a page that shows what the cache holds and how it does.

use crate::app::{answered, App};
use crate::Error;
use axum::extract::{Request, State};
use axum::response::Response;
use base64::engine::general_purpose::STANDARD;
use base64::Engine;
use http::{header, HeaderValue};
use polycache_http::{Policy, Representation};
use ring::digest::{digest, SHA256};
use std::sync::Arc;

const HTML: &str = include_str!("../page.html");

/// The page, which holds no data: it asks `/stats` for that.
pub(crate) struct Page {
    page: Representation,
    policy: Policy,
}

impl Page {
    pub fn new() -> Result<Page, Error> {
        let failed =
            |error: polycache_http::InvalidArgument| Error::InvalidArgument(error.to_string());
        let html = HeaderValue::from_static("text/html; charset=utf-8");
        // Its own script and style by their hashes, this server's data, and nothing else.
        let allowed = format!(
            "default-src 'none'; script-src '{}'; style-src '{}'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
             frame-ancestors 'none'",
            hash("script"),
            hash("style"),
        );
        let policy = Policy::default()
            .header(header::CONTENT_SECURITY_POLICY, &allowed)
            .and_then(|policy| policy.header(header::REFERRER_POLICY, "no-referrer"))
            .map_err(failed)?;
        Ok(Page {
            page: Representation::new(HTML.into(), html),
            policy,
        })
    }
}

/// The hash of the content of the page's one element of a name (CSP 3, 2.3.1).
fn hash(name: &str) -> String {
    let (_, rest) = HTML.split_once(&format!("<{name}>")).unwrap_or_default();
    let (content, _) = rest.split_once(&format!("</{name}>")).unwrap_or_default();
    let hash = digest(&SHA256, content.as_bytes());
    format!("sha256-{}", STANDARD.encode(hash))
}

pub(super) async fn get(State(app): State<Arc<App>>, request: Request) -> Response {
    let (request, _) = request.into_parts();
    let method = &request.method;
    let Page { page, policy } = &app.page;
    answered(
        Ok(page.respond(method, &request.headers, policy).await),
        method,
    )
}
