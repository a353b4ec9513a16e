//! How long to wait between two looks at what another caller does.

use std::time::Duration;

const SHORTEST: Duration = Duration::from_micros(100);
const LONGEST: Duration = Duration::from_millis(20);

/// How long to wait before the next look, after so much waiting: an eighth of it, 0.1 ms to 20 ms. So what
/// is waited for is seen an eighth later than it happens, at most.
#[must_use]
pub fn pause(waited: Duration) -> Duration {
    (waited / 8).clamp(SHORTEST, LONGEST)
}
