//! The system's clocks.

use super::system::{SINCE_BOOT, TIME_OF_DAY};
use std::time::Duration;

/// Milliseconds since 1970-01-01T00:00Z.
#[inline]
pub(crate) fn now() -> u64 {
    let time = read(TIME_OF_DAY);
    time.tv_sec as u64 * 1000 + time.tv_nsec as u64 / 1_000_000
}

/// Sixteenths of a second since boot.
pub(crate) fn ticks() -> u32 {
    let time = read(SINCE_BOOT);
    (time.tv_sec as u64 * 16 + time.tv_nsec as u64 / 62_500_000) as u32
}

/// Time on a clock that is never set, and that all processes of the machine share. It does not count while the
/// machine is suspended.
pub(crate) fn monotonic() -> Duration {
    let time = read(libc::CLOCK_MONOTONIC);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn read(clock: libc::clockid_t) -> libc::timespec {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid buffer for the call; both clocks exist on every system that Rust supports.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time
}
