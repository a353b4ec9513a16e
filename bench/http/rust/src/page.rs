//! What every server answers: the stream's entries, and when reading them began and ended.

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::StatusCode;
use serde::Serialize;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// An entry as Redis sends it: its id, and fields and values by turns.
pub type Entry = (String, Vec<String>);

/// The page's document. Times are in ms since 1970.
#[derive(Serialize)]
pub struct Page {
    value: Vec<Entry>,
    #[serde(flatten)]
    times: Times,
}

impl Page {
    /// Of entries whose reading began at `start` and has just ended.
    pub fn new(value: Vec<Entry>, start: u64) -> Page {
        let times = Times::until_now(start);
        Page { value, times }
    }
}

/// The fields around the value.
#[derive(Serialize)]
pub struct Times {
    start: u64,
    end: u64,
    #[serde(rename = "endDate")]
    end_date: String,
}

impl Times {
    /// Of what began at `start` and has just ended.
    pub fn until_now(start: u64) -> Times {
        let end = now();
        let end_date = date(end);
        Times {
            start,
            end,
            end_date,
        }
    }
}

/// In ms since 1970.
pub fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_millis() as u64
}

/// A time as JavaScript's `toISOString` writes it.
fn date(ms: u64) -> String {
    humantime::format_rfc3339_millis(UNIX_EPOCH + Duration::from_millis(ms)).to_string()
}

/// JSON as an answer.
pub struct Json(pub Bytes);

impl IntoResponse for Json {
    fn into_response(self) -> Response {
        ([(CONTENT_TYPE, "application/json")], self.0).into_response()
    }
}

/// Answers what failed with 500, and says it where the controller looks.
pub fn failed(error: impl std::fmt::Display) -> StatusCode {
    eprintln!("error: {error}");
    StatusCode::INTERNAL_SERVER_ERROR
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_javascript() {
        for (ms, said) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (1_704_067_199_123, "2023-12-31T23:59:59.123Z"),
            (1_704_067_200_000, "2024-01-01T00:00:00.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(date(ms), said);
        }
    }

    #[test]
    fn a_page_has_the_entries_as_lists() {
        let entry = ("1-0".to_owned(), vec!["field".to_owned(), "1".to_owned()]);
        let json = serde_json::to_string(&Page::new(vec![entry], 7)).unwrap();
        let begins = "{\"value\":[[\"1-0\",[\"field\",\"1\"]]],\"start\":7,\"end\":";
        assert!(json.starts_with(begins), "{json}");
    }
}
