//! A lock for what is read all the time: a reader writes to a place of its own only, so that
//! readers neither wait for nor slow each other.
//!
//! A reader announces in its place which lock it reads, then looks whether a writer is in. A writer
//! says that it is in, then looks at all places and waits for those that announce its lock. Both do
//! so by sequentially consistent operations, hence in one order that all threads agree on: if the
//! reader did not see the writer, the writer's look at the places comes after the announcement, and
//! waits. This is E. W. Dekker's mutual exclusion between each reader and the writer; writers
//! exclude each other by a mutex. A reader that sees a writer takes its announcement back and waits.
//!
//! What makes the data of one visible to the other: a writer that finds a place empty, or with a
//! later announcement of the same thread, has read a value released when the reader left; a reader
//! that finds no writer in has read a value released when the last one left.

use crate::sync::{
    lock, pause, AtomicBool, AtomicU64, AtomicUsize, Guarded, Mutex, MutexGuard, Ordering,
};
use crate::threads;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// Looks at a lock that a writer is in, before waiting in its mutex.
const LOOKS: u32 = 32;

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
    /// A writer is in, or about to be.
    writing: AtomicBool,
    /// Readers that have no place of their own.
    others: AtomicUsize,
    writers: Mutex<()>,
    data: Guarded<T>,
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
            writing: AtomicBool::new(false),
            others: AtomicUsize::new(0),
            writers: Mutex::new(()),
            data: Guarded::new(value),
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
        if self.writing.load(Ordering::SeqCst) {
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
    fn count_in(&self) {
        let mut looks = 0;
        loop {
            self.others.fetch_add(1, Ordering::SeqCst);
            if !self.writing.load(Ordering::SeqCst) {
                self.data.reader_in();
                return;
            }
            self.others.fetch_sub(1, Ordering::Release);
            while self.writing.load(Ordering::Relaxed) {
                if looks < LOOKS {
                    looks += 1;
                    pause(0);
                } else {
                    // Sleeps until the writer is gone.
                    drop(lock(&self.writers));
                }
            }
        }
    }

    /// Comes in alone: waits for the readers and writers that are in.
    pub fn write<'a>(&'a self, readers: &'a Readers) -> Writing<'a, T> {
        assert!(
            !self.is_inside(readers),
            "a key's Eq and a value's Clone must not change the cache that calls them"
        );
        let writers = lock(&self.writers);
        self.writing.swap(true, Ordering::SeqCst);
        for place in readers.places.iter().take(threads::given()) {
            until(|| place.reading.load(Ordering::SeqCst) != self.number);
        }
        until(|| self.others.load(Ordering::SeqCst) == 0);
        self.data.writer_in();
        Writing {
            lock: self,
            _writers: writers,
        }
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
pub(crate) struct Writing<'a, T> {
    lock: &'a Lock<T>,
    _writers: MutexGuard<'a, ()>,
}

impl<T> Deref for Writing<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: `self` is the only one in, as the head of this file argues.
        unsafe { &*self.lock.data.get() }
    }
}

impl<T> DerefMut for Writing<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: `self` is the only one in, as the head of this file argues, and borrowed
        // exclusively.
        unsafe { &mut *self.lock.data.get() }
    }
}

impl<T> Drop for Writing<'_, T> {
    fn drop(&mut self) {
        self.lock.data.writer_out();
        // Before the mutex is given back, which is dropped after this.
        self.lock.writing.store(false, Ordering::Release);
    }
}
