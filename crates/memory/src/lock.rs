//! A lock for data that is read all the time: a reader writes only to its own place, so readers neither
//! wait for each other nor slow each other down.
//!
//! A reader announces in its place which lock it reads, then checks for a writer. A writer announces
//! itself, then checks all places and waits for those that announce its lock. Both use sequentially
//! consistent operations, hence a single order that all threads agree on: if the reader did not see the
//! writer, the writer's check comes after the reader's announcement, and the writer waits. This is E. W.
//! Dekker's mutual exclusion between each reader and the writer. A reader that sees a writer withdraws
//! its announcement and waits.
//!
//! Writers exclude each other by the word that readers check: the thread that changes it from `FREE` is
//! the writer. A thread that waits for long sleeps under a mutex, after changing the word to `AWAITED`
//! under it. A writer that finds `AWAITED` when it leaves takes the mutex before it wakes the sleepers,
//! so each of them either sleeps by then or has yet to check the word.
//!
//! What makes one thread's data visible to another: a writer that finds a place empty, or with a later
//! announcement of the same thread, has read a value released when the reader left; a reader that finds
//! no writer has read a value released when the last writer left.
//!
//! Why not `parking_lot::RwLock`: its readers all write to one word, whose cache line then travels between
//! the processors at every read. quick_cache, which uses it, answers 12.5 million hits a second of one key
//! from two threads; this answers 141 million, and with one thread 74 against 59 (`make bench-codec`).

use crate::sync::{
    lock, pause, wait, AtomicU64, AtomicUsize, Condvar, Guarded, Mutex, Ordering, LOOKS,
};
use crate::threads;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// The writer's word: there is no writer.
const FREE: usize = 0;
/// A writer has entered, or is about to.
const HELD: usize = 1;
/// As `HELD`, and a thread may be sleeping until the writer leaves.
const AWAITED: usize = 2;

/// The readers' places for a group of locks, at most one place per thread.
#[derive(Debug)]
pub(crate) struct Readers {
    /// Indexed by the threads' numbers.
    places: Box<[Place]>,
    /// Counters of all threads without a place; they only count here.
    shared: Place,
}

/// What one thread writes to when it reads. Two cache lines, because processors fetch lines in pairs.
#[repr(align(128))]
#[derive(Debug)]
pub(crate) struct Place {
    /// The number of the lock being read, 0 for none.
    reading: AtomicUsize,
    /// The thread's counters.
    counters: [AtomicU64; 2],
}

impl Readers {
    /// For this many threads at once; further threads read somewhat more slowly.
    pub fn new(threads: usize) -> Readers {
        let place = || Place {
            reading: AtomicUsize::new(0),
            counters: [AtomicU64::new(0), AtomicU64::new(0)],
        };
        Readers {
            places: (0..threads).map(|_| place()).collect(),
            shared: place(),
        }
    }

    /// This thread's own place, if it has one.
    #[inline(always)]
    fn own(&self) -> Option<&Place> {
        self.places.get(threads::number())
    }

    /// Adds one to a counter for an exclusive user: no other thread adds to it meanwhile.
    #[inline(always)]
    pub fn count_exclusively(&self, counter: usize) {
        self.shared.count(counter);
    }

    /// Adds one to this thread's counter.
    pub fn count(&self, counter: usize) {
        match self.own() {
            Some(place) => place.count(counter),
            None => self.shared.count_shared(counter),
        }
    }

    /// The counter's sum over all threads.
    pub fn sum(&self, counter: usize) -> u64 {
        let places = self.places.iter().chain([&self.shared]);
        let counters = places.map(|place| &place.counters[counter]);
        counters
            .map(|counter| counter.load(Ordering::Relaxed))
            .sum()
    }
}

impl Place {
    /// Called only by the thread that owns the place: no other thread writes, so a plain addition loses
    /// nothing.
    #[inline]
    fn count(&self, counter: usize) {
        let counter = &self.counters[counter];
        counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    fn count_shared(&self, counter: usize) {
        self.counters[counter].fetch_add(1, Ordering::Relaxed);
    }
}

/// A value that is read often and written rarely. Each lock of a group has its own number, from 1 on.
// In this order, so that a reader finds all it needs in the first line or two.
#[repr(C, align(128))]
#[derive(Debug)]
pub(crate) struct Lock<T> {
    number: usize,
    writer: AtomicUsize,
    /// Number of readers without a place of their own.
    others: AtomicUsize,
    data: Guarded<T>,
    /// For threads that sleep until the writer leaves.
    asleep: Mutex<()>,
    awake: Condvar,
}

// SAFETY: the data is reached only through `Reading`, `Writing` and `Exclusive`. While a `Writing` lives
// there is no other guard (see the head of this file), and the caller of `exclusively` promises the same
// for an `Exclusive`. So the data is either used exclusively by one thread (`T: Send`) or shared between
// readers (`T: Sync`).
unsafe impl<T: Send + Sync> Sync for Lock<T> {}

impl<T> Lock<T> {
    pub fn new(number: usize, value: T) -> Lock<T> {
        debug_assert!(number > 0, "0 stands for no lock");
        Lock {
            number,
            writer: AtomicUsize::new(FREE),
            others: AtomicUsize::new(0),
            data: Guarded::new(value),
            asleep: Mutex::new(()),
            awake: Condvar::new(),
        }
    }

    /// Enters as a reader in the common case: what [`Lock::read`] mostly does, with less to do on
    /// leaving.
    #[inline(always)]
    pub fn read_quickly<'a>(&'a self, readers: &'a Readers) -> Option<ReadingQuickly<'a, T>> {
        let place = readers.own()?;
        // Not 0 within code that a read calls: a key's Eq, a value's Clone.
        if place.reading.load(Ordering::Relaxed) != 0 {
            return None;
        }
        place.reading.swap(self.number, Ordering::SeqCst);
        if self.writer.load(Ordering::SeqCst) != FREE {
            place.reading.store(0, Ordering::Release);
            return None;
        }
        self.data.reader_in();
        Some(ReadingQuickly {
            lock: self,
            place,
            here: PhantomData,
        })
    }

    /// Enters as a reader, beside other readers. Every call must pass the same `readers`.
    pub fn read<'a>(&'a self, readers: &'a Readers) -> Reading<'a, T> {
        if let Some(quickly) = self.read_quickly(readers) {
            return Reading::Quickly(quickly);
        }
        if self.is_inside(readers) {
            // Waiting for a writer that waits for this thread would be a deadlock.
            self.data.reader_in();
            return Reading::Within(self);
        }
        self.count_in();
        Reading::Counted {
            lock: self,
            outer: threads::set_inside(self.address()),
            here: PhantomData,
        }
    }

    /// True when this thread already reads this lock: code that a read calls is reading again. Of
    /// several locks that a thread reads without a place, only the latest is known.
    fn is_inside(&self, readers: &Readers) -> bool {
        let place = readers.own();
        let placed = place.is_some_and(|own| own.reading.load(Ordering::Relaxed) == self.number);
        placed || threads::inside() == self.address()
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Enters without a place, once there is no writer.
    #[cold]
    fn count_in(&self) {
        loop {
            self.others.fetch_add(1, Ordering::SeqCst);
            if self.writer.load(Ordering::SeqCst) == FREE {
                self.data.reader_in();
                return;
            }
            self.others.fetch_sub(1, Ordering::Release);
            if !self.is_free_soon() {
                let mut asleep = lock(&self.asleep);
                while self.is_awaited() {
                    asleep = wait(&self.awake, asleep);
                }
            }
        }
    }

    /// Enters as the writer: waits until all other readers and writers have left.
    #[inline]
    pub fn write<'a>(&'a self, readers: &'a Readers) -> Writing<'a, T> {
        assert!(
            !self.is_inside(readers),
            "a key's Eq and a value's Clone must not change the cache that calls them"
        );
        let (free, held) = (Ordering::SeqCst, Ordering::Relaxed);
        let first = self.writer.compare_exchange(FREE, HELD, free, held);
        if first.is_err() {
            self.succeed();
        }
        for place in readers.places.iter().take(threads::given()) {
            until(|| place.reading.load(Ordering::SeqCst) != self.number);
        }
        until(|| self.others.load(Ordering::SeqCst) == 0);
        self.data.writer_in();
        Writing(self)
    }

    /// Enters exclusively without checking for other threads, which do not notice.
    ///
    /// # Safety
    /// While the result lives, no other thread uses the lock, and neither does code that this thread
    /// calls, such as a key's Eq or a value's Clone. All earlier uses happened before this call, by
    /// other means than this lock.
    #[inline(always)]
    pub unsafe fn exclusively(&self) -> Exclusive<'_, T> {
        self.data.writer_in();
        Exclusive {
            lock: self,
            here: PhantomData,
        }
    }

    /// Becomes the writer, after the present one and perhaps others.
    #[cold]
    fn succeed(&self) {
        let (free, held) = (Ordering::SeqCst, Ordering::Relaxed);
        while self.is_free_soon() {
            let next = self.writer.compare_exchange(FREE, HELD, free, held);
            if next.is_ok() {
                return;
            }
        }
        let mut asleep = lock(&self.asleep);
        // Other threads may be asleep too: this one must wake them.
        while self.writer.swap(AWAITED, Ordering::SeqCst) != FREE {
            asleep = wait(&self.awake, asleep);
        }
    }

    /// Checks for a while whether the writer leaves.
    fn is_free_soon(&self) -> bool {
        (0..LOOKS).any(|_| {
            pause(0);
            self.writer.load(Ordering::Relaxed) == FREE
        })
    }

    /// True when there is a writer; it will wake the sleepers.
    fn is_awaited(&self) -> bool {
        let relaxed = Ordering::Relaxed;
        let asked = self
            .writer
            .compare_exchange(HELD, AWAITED, relaxed, relaxed);
        asked != Err(FREE)
    }

    #[cold]
    fn wake(&self) {
        drop(lock(&self.asleep));
        self.awake.notify_all();
    }
}

/// Waits for a condition that is about to become true.
fn until(done: impl Fn() -> bool) {
    let mut step = 0;
    while !done() {
        pause(step);
        step += 1;
    }
}

/// A reader's use of a lock, announced in its thread's own place.
pub(crate) struct ReadingQuickly<'a, T> {
    lock: &'a Lock<T>,
    place: &'a Place,
    /// Must not leave its thread.
    here: PhantomData<*const ()>,
}

impl<T> ReadingQuickly<'_, T> {
    /// Adds one to a counter of this thread.
    #[inline(always)]
    pub fn count(&self, counter: usize) {
        self.place.count(counter);
    }
}

impl<T> Deref for ReadingQuickly<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: no `Writing` exists while `self` does (see the head of this file), and only a
        // `Writing` gives out exclusive references.
        unsafe { &*self.lock.data.get() }
    }
}

impl<T> Drop for ReadingQuickly<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.lock.data.reader_out();
        self.place.reading.store(0, Ordering::Release);
    }
}

/// A reader's use of a lock.
pub(crate) enum Reading<'a, T> {
    Quickly(ReadingQuickly<'a, T>),
    /// Counted in `others`: this thread has no place, or cannot use it.
    Counted {
        lock: &'a Lock<T>,
        /// The lock that the thread was inside before.
        outer: usize,
        /// Must not leave its thread.
        here: PhantomData<*const ()>,
    },
    /// Inside another read of the same lock by the same thread.
    Within(&'a Lock<T>),
}

impl<T> Deref for Reading<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Reading::Quickly(reading) => reading,
            // SAFETY: no `Writing` exists while `self` does: a counted reader is in `others` (see the
            // head of this file), and a reader within another read of the lock leaves before that one
            // does.
            Reading::Counted { lock, .. } | Reading::Within(lock) => unsafe { &*lock.data.get() },
        }
    }
}

impl<T> Drop for Reading<'_, T> {
    fn drop(&mut self) {
        match self {
            // Its own drop leaves the lock.
            Reading::Quickly(_) => {}
            Reading::Counted { lock, outer, .. } => {
                lock.data.reader_out();
                threads::set_inside(*outer);
                lock.others.fetch_sub(1, Ordering::Release);
            }
            Reading::Within(lock) => lock.data.reader_out(),
        }
    }
}

/// The only writer's use of a lock.
pub(crate) struct Writing<'a, T>(&'a Lock<T>);

impl<T> Deref for Writing<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: `self` is the only guard of this lock (see the head of this file).
        unsafe { &*self.0.data.get() }
    }
}

impl<T> DerefMut for Writing<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: `self` is the only guard of this lock (see the head of this file), and it is borrowed
        // exclusively.
        unsafe { &mut *self.0.data.get() }
    }
}

impl<T> Drop for Writing<'_, T> {
    fn drop(&mut self) {
        self.0.data.writer_out();
        if self.0.writer.swap(FREE, Ordering::Release) == AWAITED {
            self.0.wake();
        }
    }
}

/// The use of a lock by a caller that knows by other means that no other thread uses it.
pub(crate) struct Exclusive<'a, T> {
    lock: &'a Lock<T>,
    /// Must not leave its thread.
    here: PhantomData<*const ()>,
}

impl<T> Deref for Exclusive<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the caller of `exclusively` promised that there is no other use of the lock.
        unsafe { &*self.lock.data.get() }
    }
}

impl<T> DerefMut for Exclusive<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the caller of `exclusively` promised that there is no other use of the lock, and
        // `self` is borrowed exclusively.
        unsafe { &mut *self.lock.data.get() }
    }
}

impl<T> Drop for Exclusive<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.lock.data.writer_out();
    }
}
