//! What whoever runs the server is told, and no client.

use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long the same line is not written again: a fault that lasts meets thousands of requests a second.
const AGAIN: Duration = Duration::from_secs(1);

static LAST: Mutex<Last> = Mutex::new(Last(None));

/// Writes a line to standard error, unless it was the last one less than a second ago.
pub(crate) fn report(what: &str) {
    // No control characters of strangers get there.
    let line: String = what
        .chars()
        .map(|one| if one.is_control() { ' ' } else { one })
        .collect();
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if last.is_new(&line, Instant::now()) {
        // If standard error is closed, the message has no reader.
        let _ = writeln!(std::io::stderr(), "polycache: {line}");
    }
}

/// The line that was written last, and when.
struct Last(Option<(String, Instant)>);

impl Last {
    /// Whether it is to be written; then it is the last one.
    fn is_new(&mut self, line: &str, now: Instant) -> bool {
        if let Some((last, at)) = &self.0 {
            if last == line && now.duration_since(*at) < AGAIN {
                return false;
            }
        }
        self.0 = Some((line.to_owned(), now));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_line_is_written_once_a_second() {
        let (mut last, now) = (Last(None), Instant::now());
        assert!(last.is_new("a", now));
        assert!(!last.is_new("a", now));
        assert!(!last.is_new("a", now + AGAIN / 2));
        assert!(last.is_new("b", now + AGAIN / 2));
        assert!(last.is_new("a", now + AGAIN / 2));
        assert!(last.is_new("a", now + AGAIN * 3 / 2));
    }
}
