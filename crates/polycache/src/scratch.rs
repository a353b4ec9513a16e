//! Buffers that a thread keeps, so that a usual read or write allocates nothing.

use std::cell::Cell;

/// A buffer that grew larger than this is not kept.
const KEPT: usize = 1024 * 1024;

thread_local! {
    static KEPT_BUFFERS: Cell<Scratch> = const { Cell::new(Scratch::new()) };
}

/// One read's or write's buffers, both empty at first. They are taken out of the thread while they
/// are used: a caller's closure may use the cache again, and gets fresh ones.
pub(crate) struct Scratch {
    /// The entry's bytes.
    pub entry: Vec<u8>,
    /// Its payload, when that is compressed.
    pub payload: Vec<u8>,
}

impl Scratch {
    const fn new() -> Scratch {
        Scratch {
            entry: Vec::new(),
            payload: Vec::new(),
        }
    }

    /// The thread's buffers, or fresh ones while those are in use or the thread ends.
    #[inline]
    pub fn take() -> Scratch {
        KEPT_BUFFERS
            .try_with(|kept| kept.replace(Scratch::new()))
            .unwrap_or(Scratch::new())
    }

    /// Gives the buffers back, emptied.
    #[inline]
    pub fn keep(mut self) {
        if self.entry.capacity() > KEPT || self.payload.capacity() > KEPT {
            return;
        }
        self.entry.clear();
        self.payload.clear();
        // A thread that ends has no use for them.
        let _ = KEPT_BUFFERS.try_with(|kept| kept.set(self));
    }
}
