//! A lock for what is read all the time: a reader writes to a place of its own only, so that
//! readers neither wait for nor slow each other.
//!
//! A reader announces in its place which lock it reads, then looks whether a writer is in. A writer
//! says that it is in, then looks at all places and waits for those that announce its lock. Both do
//! so by sequentially consistent operations, hence in one order that all threads agree on: if the
//! reader did not see the writer, the writer's look at the places comes after the announcement, and
//! waits. This is E. W. Dekker's mutual exclusion between each reader and the writer. A reader that
//! sees a writer takes its announcement back and waits.
//!
//! Writers exclude each other by the same word that readers look at: who changes it from `FREE` is
//! the writer. Who waits for long sleeps under a mutex, having changed the word to `AWAITED` under it;
//! a writer that finds this when it goes takes the mutex before it wakes them, so that each of them
//! either sleeps by then, or has yet to look at the word.
//!
//! What makes the data of one visible to the other: a writer that finds a place empty, or with a
//! later announcement of the same thread, has read a value released when the reader left; a reader
//! that finds no writer in has read a value released when the last one left.

use crate::sync::{
    lock, pause, wait, AtomicU64, AtomicUsize, Condvar, Guarded, Mutex, Ordering, LOOKS,
};
use crate::threads;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// What is said of the writer: there is none.
const FREE: usize = 0;
/// One is in, or about to be.
const HELD: usize = 1;
/// As before, and somebody may sleep until it is gone.
const AWAITED: usize = 2;

/// The places of the readers of a group of locks, a thread at most one place.
#[derive(Debug)]
pub(crate) struct Readers {
    /// By the threads' numbers.
    places: Box<[Place]>,
    /// Of all who have none: they only count here.
    shared: Place,
}

/// What one thread writes to when it reads. Two cache lines, as processors fetch them in pairs.
#[repr(align(128))]
#[derive(Debug)]
pub(crate) struct Place {
    /// The number of the lock being read, 0 for none.
    reading: AtomicUsize,
    /// What the thread counts.
    counters: [AtomicU64; 2],
}

impl Readers {
    /// For so many threads at once; further ones read somewhat slower.
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

    /// The place of this thread alone, if it has one.
    #[inline(always)]
    fn own(&self) -> Option<&Place> {
        self.places.get(threads::number())
    }

    /// Adds one to a counter, by somebody who is alone: nobody else adds to it meanwhile.
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
    /// By the thread whose place it is: nobody else writes, and a plain addition loses nothing.
    #[inline]
    fn count(&self, counter: usize) {
        let counter = &self.counters[counter];
        counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    fn count_shared(&self, counter: usize) {
        self.counters[counter].fetch_add(1, Ordering::Relaxed);
    }
}

/// A value that many read and few write. Each lock of a group has its own number, from 1 on.
// In this order, so that a reader finds all it needs in the first line or two.
#[repr(C, align(128))]
#[derive(Debug)]
pub(crate) struct Lock<T> {
    number: usize,
    writer: AtomicUsize,
    /// Readers that have no place of their own.
    others: AtomicUsize,
    data: Guarded<T>,
    /// Of those who wait for the writer to be gone.
    asleep: Mutex<()>,
    awake: Condvar,
}

// SAFETY: the data is reached through `Reading` and `Writing` only. While a `Writing` lives nobody
// else has either (see the head of this file), so that sending the lock's exclusive use to another
// thread (`T: Send`) and sharing it between readers (`T: Sync`) is all that happens.
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

    /// Comes in to read if nothing special is the matter: what [`Lock::read`] does mostly, with
    /// less to do when it goes.
    #[inline(always)]
    pub fn read_quickly<'a>(&'a self, readers: &'a Readers) -> Option<ReadingQuickly<'a, T>> {
        let place = readers.own()?;
        // Not 0 in code that a read calls: a key's Eq, a value's Clone.
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

    /// Comes in to read, with other readers. The same `readers` must be given every time.
    pub fn read<'a>(&'a self, readers: &'a Readers) -> Reading<'a, T> {
        if let Some(quickly) = self.read_quickly(readers) {
            return Reading::Quickly(quickly);
        }
        if self.is_inside(readers) {
            // Waiting for a writer that waits for this thread would take forever.
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

    /// True when this thread reads this lock already: code that a read calls is reading again. Of
    /// several locks it reads, the latest one without a place is known.
    fn is_inside(&self, readers: &Readers) -> bool {
        let place = readers.own();
        let placed = place.is_some_and(|own| own.reading.load(Ordering::Relaxed) == self.number);
        placed || threads::inside() == self.address()
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Comes in without a place of its own, once no writer is in.
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

    /// Comes in alone: waits for the readers and writers that are in.
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

    /// Comes in alone without a look at the others, who do not notice.
    ///
    /// # Safety
    /// While the result lives nobody else is in or comes in, no code that a key's Eq or a value's Clone
    /// is among them; and what those before did happened before this, by other means than this lock.
    #[inline(always)]
    pub unsafe fn exclusively(&self) -> Exclusive<'_, T> {
        self.data.writer_in();
        Exclusive {
            lock: self,
            here: PhantomData,
        }
    }

    /// Becomes the writer, after the one that is in and others.
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
        // Others may sleep as well: they are to be woken by this one.
        while self.writer.swap(AWAITED, Ordering::SeqCst) != FREE {
            asleep = wait(&self.awake, asleep);
        }
    }

    /// Looks for a while whether the writer goes.
    fn is_free_soon(&self) -> bool {
        (0..LOOKS).any(|_| {
            pause(0);
            self.writer.load(Ordering::Relaxed) == FREE
        })
    }

    /// True when there is a writer, which will wake those who sleep.
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

/// Waits for what is about to become true.
fn until(done: impl Fn() -> bool) {
    let mut step = 0;
    while !done() {
        pause(step);
        step += 1;
    }
}

/// The use of a lock by a reader that announced it in its thread's own place.
pub(crate) struct ReadingQuickly<'a, T> {
    lock: &'a Lock<T>,
    place: &'a Place,
    /// Stays in its thread.
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
        // SAFETY: no `Writing` exists while `self` does, as the head of this file argues, and only
        // that gives out exclusive references.
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

/// The use of a lock by a reader.
pub(crate) enum Reading<'a, T> {
    Quickly(ReadingQuickly<'a, T>),
    /// Counted among those who have no place, or cannot use it.
    Counted {
        lock: &'a Lock<T>,
        /// The lock that the thread was inside of before.
        outer: usize,
        /// Stays in its thread.
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
            // SAFETY: no `Writing` exists while `self` does, as the head of this file argues for
            // who is counted; who is within another read is inside that one's time.
            Reading::Counted { lock, .. } | Reading::Within(lock) => unsafe { &*lock.data.get() },
        }
    }
}

impl<T> Drop for Reading<'_, T> {
    fn drop(&mut self) {
        match self {
            // Drops itself.
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

/// The use of a lock by its one writer.
pub(crate) struct Writing<'a, T>(&'a Lock<T>);

impl<T> Deref for Writing<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: `self` is the only one in, as the head of this file argues.
        unsafe { &*self.0.data.get() }
    }
}

impl<T> DerefMut for Writing<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: `self` is the only one in, as the head of this file argues, and borrowed
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

/// The use of a lock by who knows by other means that nobody else uses it.
pub(crate) struct Exclusive<'a, T> {
    lock: &'a Lock<T>,
    /// Stays in its thread.
    here: PhantomData<*const ()>,
}

impl<T> Deref for Exclusive<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: nobody else is in, as who made `self` has promised.
        unsafe { &*self.lock.data.get() }
    }
}

impl<T> DerefMut for Exclusive<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: nobody else is in, as who made `self` has promised, and it is borrowed exclusively.
        unsafe { &mut *self.lock.data.get() }
    }
}

impl<T> Drop for Exclusive<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.lock.data.writer_out();
    }
}
