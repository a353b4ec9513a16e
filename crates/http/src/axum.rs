//! axum (cargo feature `axum`): an extractor for what a request asks of a value, and problems as answers.
//!
//! ```
//! use polycache_http::axum::Asked;
//! use polycache_http::{Policy, Representation};
//!
//! async fn list(asked: Asked) -> axum::response::Response {
//!     asked.answer(&Representation::json("[1,2,3]"), &Policy::default()).await
//! }
//! let app: axum::Router = axum::Router::new().route("/", axum::routing::get(list));
//! # let _ = app;
//! ```

use crate::{Answer, Composite, Policy, Problem, Representation};
use axum_core::body::Body;
use axum_core::extract::FromRequestParts;
use axum_core::response::{IntoResponse, Response};
use http::request::Parts;
use http::{HeaderMap, Method};
use std::convert::Infallible;
use std::future::Future;

/// What a request asks of a value: its method and its fields. An extractor, which takes every request.
#[derive(Clone, Debug)]
pub struct Asked {
    method: Method,
    fields: HeaderMap,
}

/// What answers requests: a [`Representation`], or a [`Composite`] around one.
pub trait Respond: sealed::Sealed + Sync {
    /// The answer, as [`Representation::respond`] says.
    fn respond(
        &self,
        method: &Method,
        request: &HeaderMap,
        policy: &Policy,
    ) -> impl Future<Output = Answer> + Send;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for crate::Representation {}
    impl Sealed for crate::Composite {}
}

impl Respond for Representation {
    async fn respond(&self, method: &Method, request: &HeaderMap, policy: &Policy) -> Answer {
        Representation::respond(self, method, request, policy).await
    }
}

impl Respond for Composite {
    async fn respond(&self, method: &Method, request: &HeaderMap, policy: &Policy) -> Answer {
        Composite::respond(self, method, request, policy).await
    }
}

impl Asked {
    /// Answers it with a value: 200, 304, 405, 406 or 412.
    ///
    /// # Panics
    /// Outside of a tokio runtime, where a variant must be made.
    pub async fn answer(&self, value: &impl Respond, policy: &Policy) -> Response {
        let answer = value.respond(&self.method, &self.fields, policy).await;
        answer.map(Body::from)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Asked {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Asked, Infallible> {
        Ok(Asked {
            method: parts.method.clone(),
            fields: parts.headers.clone(),
        })
    }
}

/// A problem document, so that a handler may return `Result<_, Problem>`. axum leaves out the body for HEAD.
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        self.answer(&Method::GET).map(Body::from)
    }
}
