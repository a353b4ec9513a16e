//! Random numbers that are not secret: fast, and each thread's own.

#[cfg(any(feature = "bindings", feature = "remote"))]
use polycache_host::PerProcess;
use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};

thread_local! {
    /// 0: not seeded yet.
    static STATE: Cell<u64> = const { Cell::new(0) };
}

/// A random number. SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), seeded by the system.
pub(crate) fn random() -> u64 {
    STATE.with(|state| {
        let seed = match state.get() {
            0 => RandomState::new().hash_one(0),
            seed => seed,
        };
        let next = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        state.set(next);
        let mixed = (next ^ (next >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    })
}

/// The number of this process, which the system is asked for once: a system call for each write took as long as the rest
/// of its head.
#[cfg(any(feature = "bindings", feature = "remote"))]
pub(crate) fn process() -> u32 {
    struct Process(u32);

    impl Default for Process {
        fn default() -> Process {
            Process(std::process::id())
        }
    }

    static PROCESS: PerProcess<Process> = PerProcess::new();
    PROCESS.get().0
}

/// A random number that no other process draws either: a forked child has its parent's state, and must not write
/// what looks like its parent's writes.
#[cfg(any(feature = "bindings", feature = "remote"))]
pub(crate) fn mark() -> u64 {
    let time = polycache_host::monotonic().as_nanos() as u64;
    let process = u64::from(process());
    random() ^ (process << 32 ^ time).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// True once in 16 calls, at random: a fixed turn would always mark the same keys of a program that reads keys in turn.
#[inline]
pub(crate) fn one_in_16() -> bool {
    thread_local! {
        static STATE: Cell<u64> = const { Cell::new(0) };
    }
    STATE.with(|state| {
        // A linear congruential generator's high bits (Knuth's MMIX): a multiplication a call.
        let next = state
            .get()
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state.set(next);
        next >> 60 == 0
    })
}
