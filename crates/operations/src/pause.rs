//! How long to wait between two checks of what another caller does.

use std::time::Duration;

const SHORTEST: Duration = Duration::from_micros(100);
const LONGEST: Duration = Duration::from_millis(20);

/// The pause before the next check, after waiting this long: an eighth of it, 0.1 ms to 20 ms. So an
/// event is noticed at most an eighth later than it happens.
#[must_use]
pub fn pause(waited: Duration) -> Duration {
    (waited / 8).clamp(SHORTEST, LONGEST)
}
