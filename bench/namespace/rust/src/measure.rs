//! What a round is.

use serde::Deserialize;

/// What is measured, as the controller calls it.
#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Round trips.
    Rate,
    /// Time without a socket.
    Nanoseconds,
    /// What valgrind counts, without a socket.
    Instructions,
}

impl Measure {
    pub fn unit(self) -> &'static str {
        match self {
            Self::Rate => "operations per second",
            Self::Nanoseconds => "ns per operation",
            Self::Instructions => "instructions per operation",
        }
    }

    /// Whether the socket is taken out.
    pub fn alone(self) -> bool {
        self != Self::Rate
    }
}

/// Marks what valgrind is to count (bench/harness/callgrind.py).
pub fn mark() {
    // SAFETY: the result may be null, and then nothing is written.
    unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC, std::ptr::null_mut()) };
}
