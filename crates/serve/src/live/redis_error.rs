//! What an error of Redis is to a client.

use crate::app::unavailable;
use crate::report::report;
use http::StatusCode;
use polycache_http::Problem;
use redis::{ErrorKind, RedisError};

/// 409 for a key of another type, 400 for arguments that Redis does not take, 403 for what the server's user may not do, 503
/// where there is no answer or it may pass, else 502.
pub(crate) fn problem_of(error: &RedisError) -> Problem {
    if is_of_the_url(error) {
        report(&format!("Redis: {error}"));
        let detail = "The server cannot use its Redis; the server's log says why.";
        return Problem::new(StatusCode::BAD_GATEWAY, detail);
    }
    match error.code() {
        // The connection, or the time, failed.
        None => unavailable("Redis does not answer now; try again."),
        Some("WRONGTYPE") => {
            let detail = "The key holds another type than the command reads.";
            Problem::new(StatusCode::CONFLICT, detail)
        }
        Some("ERR") => {
            let detail = format!("Redis says: {}.", error.detail().unwrap_or("error"));
            Problem::new(StatusCode::BAD_REQUEST, detail)
        }
        Some("NOPERM") => {
            let detail = "The server's user of Redis may not read this.";
            Problem::new(StatusCode::FORBIDDEN, detail)
        }
        Some("LOADING" | "TRYAGAIN" | "CLUSTERDOWN" | "MASTERDOWN" | "BUSY") => {
            unavailable("Redis cannot answer now; try again.")
        }
        Some(_) => {
            report(&format!("Redis: {error}"));
            let detail = "Redis refused the command; the server's log says why.";
            Problem::new(StatusCode::BAD_GATEWAY, detail)
        }
    }
}

/// Whether Redis refused what the server's URL says, its password or its database. No client's read is of that, although the
/// code is often that of a wrong command.
fn is_of_the_url(error: &RedisError) -> bool {
    let refused = ["DB index is out of range", "invalid DB index", "AUTH "];
    let refused = |detail: &str| refused.iter().any(|one| detail.starts_with(one));
    error.kind() == ErrorKind::AuthenticationFailed
        || matches!(error.code(), Some("NOAUTH" | "WRONGPASS"))
        || (error.code() == Some("ERR") && error.detail().is_some_and(refused))
}
