//! Cached reads (cargo feature `reads`) as representations, and errors of a cache as problem documents.

use crate::{Problem, Representation};
use http::{header, StatusCode};
use polycache::reads::JsonReply;
use polycache::Error;

/// The JSON of a reply with its tag. Compressed variants are kept where the representation is: beside the reply by
/// [`JsonReply::made`].
///
/// ```
/// use polycache::reads::JsonReply;
/// use polycache_http::Representation;
/// use std::sync::Arc;
///
/// fn page(reply: &JsonReply) -> Arc<Representation> {
///     reply.made(|reply| Representation::from(reply))
/// }
/// ```
impl From<&JsonReply> for Representation {
    fn from(reply: &JsonReply) -> Representation {
        Representation::json(reply.bytes().clone()).tagged(reply.etag())
    }
}

/// 503 with `Retry-After` where the same may succeed later, else 500. Neither says anything of the error itself, which is
/// yours to log.
impl From<&Error> for Problem {
    fn from(error: &Error) -> Problem {
        if !error.retryable() {
            return Problem::internal();
        }
        let detail = "The data is not available now; try again.";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail).field(header::RETRY_AFTER, "1")
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Problem {
        Problem::from(&error)
    }
}
