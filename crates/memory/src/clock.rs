//! The time source of a cache.

use crate::sync::Arc;
use std::cell::Cell;

/// A time source: milliseconds since any instant, never decreasing.
#[derive(Clone)]
pub(crate) enum Clock {
    System,
    Given(Arc<dyn Fn() -> u64 + Send + Sync>),
}

impl Clock {
    #[inline]
    pub fn now(&self) -> u64 {
        match self {
            Clock::System => system(),
            Clock::Given(clock) => clock(),
        }
    }
}

/// The current time for one operation, which reads the clock at most once.
pub(crate) struct Moment<'a> {
    clock: &'a Clock,
    /// 0 until the clock was read.
    read: Cell<u64>,
}

impl Moment<'_> {
    #[inline]
    pub fn of(clock: &Clock) -> Moment<'_> {
        Moment {
            clock,
            read: Cell::new(0),
        }
    }

    #[inline]
    pub fn now(&self) -> u64 {
        if self.read.get() == 0 {
            self.read.set(self.clock.now());
        }
        self.read.get()
    }
}

/// The kernel's coarse clock: a few milliseconds behind, at a tenth of the exact clock's cost.
#[cfg(target_os = "linux")]
#[inline]
fn system() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::MonotonicCoarse);
    time.tv_sec as u64 * 1000 + time.tv_nsec as u64 / 1_000_000
}

#[cfg(not(target_os = "linux"))]
fn system() -> u64 {
    use std::sync::OnceLock;
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_millis() as u64
}
