//! Bytes in memory as answers to HTTP requests (`spec/http.md`, "A value"): encoded once, with a strong entity tag and compressed
//! variants, each made when it is first asked for.
//!
//! ```
//! use http::{HeaderMap, Method};
//! use polycache_http::{Policy, Representation};
//!
//! let list = Representation::json("[1,2,3]");
//! let policy = Policy::default();
//! let answer = list.respond_now(&Method::GET, &HeaderMap::new(), &policy).expect("nothing is compressed for it");
//! assert_eq!(answer.status(), 200);
//! assert_eq!(answer.headers()["etag"], "\"phXuruId5Red4IDejDBSyA\"");
//! assert_eq!(answer.body(), "[1,2,3]");
//! ```
//!
//! Nothing here does I/O. [`Representation::respond`] compresses on one of tokio's threads for blocking work; whatever needs
//! no new variant is answered at once by [`Representation::respond_now`], which needs no runtime.
//!
//! The cargo feature `tower` has `ResponseCache`, a cache for a handler's own answers; `axum` an extractor, and `reads` the JSON of
//! cached reads.

mod accept_encoding;
#[cfg(feature = "axum")]
pub mod axum;
mod cache_control;
mod coding;
mod composite;
mod compressed_types;
mod entity_tag;
mod envelope;
mod error;
mod policy;
mod problem;
#[cfg(feature = "reads")]
mod reads;
mod representation;
#[cfg(feature = "tower")]
mod response_cache;
mod stream_range;
mod variant;

pub use cache_control::{CacheControl, Visibility};
pub use coding::Coding;
pub use composite::Composite;
pub use entity_tag::entity_tag;
pub use error::InvalidArgument;
pub use policy::Policy;
pub use problem::Problem;
pub use representation::Representation;
#[cfg(feature = "tower")]
pub use response_cache::{CachedService, ResponseCache};
pub use stream_range::StreamRange;

/// An answer as the crate http has it: status, header fields and content.
pub type Answer = http::Response<bytes::Bytes>;
