//! Locks that processes share as words of a mapped file: one that is free costs a compare-and-swap, where a lock of the
//! file's bytes costs two system calls.
//!
//! A word holds the number of the process that has the lock, and whether others sleep until it is free (Drepper, "Futexes
//! Are Tricky"). That process locks a byte of the file for as long as it lives, and the kernel gives that back when it
//! dies: so a process that waits can tell that a holder is dead, and takes over.

use crate::Error;
use polycache_host::{FileLocks, PerProcess, SharedWords};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// Nobody's.
const FREE: u64 = 0;
/// The bit of a word on which others sleep, perhaps.
const AWAITED: u64 = 1 << 31;
/// Numbers of processes: 1 to this.
const PROCESSES: u64 = 1 << 16;
/// The byte of process 0, which is none.
const BYTES: u64 = 1 << 24;
/// Looks at a word before sleeping on it: most holders are done at once.
const LOOKS: usize = 16;
/// Then a thread that sleeps looks whether the holder has died, or died when it should have woken another.
const LONGEST: Duration = Duration::from_millis(100);

/// The locks of a file's words.
pub struct WordLocks {
    path: PathBuf,
    words: OnceLock<SharedWords>,
    count: usize,
    /// The number of this process, once it has one.
    own: PerProcess<OnceLock<u64>>,
    /// For whoever locks a byte.
    bytes: PerProcess<Mutex<()>>,
}

/// A lock that this process has.
pub struct Held<'a> {
    locks: &'a WordLocks,
    number: usize,
    process: u64,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // A child that was forked meanwhile has a copy of this: the lock is its parent's.
        if self.locks.own.get().get() == Some(&self.process) {
            self.locks.give_back(self.number, self.process);
        }
    }
}

impl WordLocks {
    /// As many locks, in a file that is made when it is opened.
    pub fn new(path: &Path, count: usize) -> WordLocks {
        WordLocks {
            path: path.into(),
            words: OnceLock::new(),
            count,
            own: PerProcess::new(),
            bytes: PerProcess::new(),
        }
    }

    /// Maps the file.
    pub fn open(&self) -> Result<(), Error> {
        if self.words.get().is_none() {
            let words = SharedWords::open(&self.path, self.count)?;
            let _ = self.words.set(words);
        }
        Ok(())
    }

    /// Frees all: for a process that is alone. Whatever the file says is of processes that are gone.
    pub fn free_all(&self) {
        for word in self.words() {
            word.store(FREE, Ordering::Relaxed);
        }
    }

    fn words(&self) -> &[AtomicU64] {
        self.words.get().map_or(&[], |words| words.all())
    }

    #[inline]
    fn word(&self, number: usize) -> Result<&AtomicU64, Error> {
        let word = self.words().get(number);
        word.ok_or_else(|| Error::Io(format!("{} is not open", self.path.display())))
    }

    /// The number of this process, of which it locks the byte for its life.
    #[inline]
    fn own(&self, file: &FileLocks) -> Result<u64, Error> {
        match self.own.get().get() {
            Some(own) => Ok(*own),
            None => self.choose(file),
        }
    }

    #[cold]
    fn choose(&self, file: &FileLocks) -> Result<u64, Error> {
        let _alone = self.bytes();
        if let Some(own) = self.own.get().get() {
            return Ok(*own);
        }
        // From its own place on, so that it does not have to pass by all others.
        let first = u64::from(std::process::id());
        for step in 0..PROCESSES {
            let number = 1 + (first + step) % PROCESSES;
            if !file.take(BYTES + number)? {
                continue;
            }
            // Left by a process that had the number and was killed.
            for lock in 0..self.count {
                self.give_back(lock, number);
            }
            return Ok(*self.own.get().get_or_init(|| number));
        }
        Err(Error::TooManyParticipants(format!(
            "{PROCESSES} processes have {} open",
            self.path.display()
        )))
    }

    /// Threads of one process do not exclude each other from a byte by its lock.
    fn bytes(&self) -> MutexGuard<'_, ()> {
        let mutex = self.bytes.get();
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A lock, if nobody who lives has it.
    #[inline]
    pub fn take(&self, number: usize, file: &FileLocks) -> Result<Option<Held<'_>>, Error> {
        let process = self.own(file)?;
        let word = self.word(number)?;
        let taken = match swap(word, FREE, process) {
            Ok(()) => true,
            Err(found) => self.take_over(word, found, process, file)?,
        };
        // Not made where it was not taken: it would be given back.
        Ok(taken.then(|| Held {
            locks: self,
            number,
            process,
        }))
    }

    /// A lock, when its holder has given it back or is dead.
    pub fn wait(&self, number: usize, file: &FileLocks) -> Result<Held<'_>, Error> {
        let process = self.own(file)?;
        let word = self.word(number)?;
        let has_taken = (0..LOOKS).any(|_| {
            std::thread::yield_now();
            swap(word, FREE, process).is_ok()
        });
        if !has_taken {
            self.sleep(number, word, process, file)?;
        }
        Ok(Held {
            locks: self,
            number,
            process,
        })
    }

    #[cold]
    fn sleep(
        &self,
        number: usize,
        word: &AtomicU64,
        process: u64,
        file: &FileLocks,
    ) -> Result<(), Error> {
        // A thread that slept cannot tell whether others still do.
        while let Err(found) = swap(word, FREE, process | AWAITED) {
            if self.take_over(word, found, process | AWAITED, file)? {
                break;
            }
            let awaited = found | AWAITED;
            if found == awaited || swap(word, found, awaited).is_ok() {
                if let Some(words) = self.words.get() {
                    words.wait(number, awaited, LONGEST);
                }
            }
        }
        Ok(())
    }

    /// Frees a lock that a process has. One that it has no more stays as it is: a process that opened the store alone has
    /// freed all, if this one had closed it.
    #[inline]
    fn give_back(&self, number: usize, process: u64) {
        let Some(word) = self.words().get(number) else {
            return;
        };
        let freed = word.compare_exchange(process, FREE, Ordering::Release, Ordering::Relaxed);
        if freed == Err(process | AWAITED) {
            self.wake(number, word, process);
        }
    }

    #[cold]
    fn wake(&self, number: usize, word: &AtomicU64, process: u64) {
        let awaited = process | AWAITED;
        let freed = word.compare_exchange(awaited, FREE, Ordering::Release, Ordering::Relaxed);
        if let (Ok(_), Some(words)) = (freed, self.words.get()) {
            words.wake(number);
        }
    }

    /// Takes a lock from a holder that is dead. A number that no process can have is nobody's, either.
    #[cold]
    fn take_over(
        &self,
        word: &AtomicU64,
        found: u64,
        process: u64,
        file: &FileLocks,
    ) -> Result<bool, Error> {
        let holder = found & !AWAITED;
        // Those who sleep on it do so still.
        let taken = || swap(word, found, process | found & AWAITED).is_ok();
        if holder == process & !AWAITED || !(1..=PROCESSES).contains(&holder) {
            return Ok(taken());
        }
        let _alone = self.bytes();
        // Meanwhile no other process gets the number: it might take the lock under it.
        if !file.take(BYTES + holder)? {
            return Ok(false);
        }
        let taken = taken();
        file.release(BYTES + holder, 1);
        Ok(taken)
    }
}

/// Puts a process into a word that says `from`, or tells what it says.
#[inline]
fn swap(word: &AtomicU64, from: u64, to: u64) -> Result<(), u64> {
    word.compare_exchange(from, to, Ordering::Acquire, Ordering::Relaxed)
        .map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As one process has them: each of these has an open file of its own, by which the kernel tells them apart.
    struct Process {
        locks: WordLocks,
        file: FileLocks,
    }

    impl Process {
        fn new(folder: &tempfile::TempDir) -> Process {
            let path = folder.path().join("locks");
            let locks = WordLocks::new(&path, 4);
            locks.open().unwrap();
            let file = FileLocks::new(path);
            Process { locks, file }
        }

        fn take(&self, number: usize) -> Option<Held<'_>> {
            self.locks.take(number, &self.file).unwrap()
        }

        fn words(&self) -> Vec<u64> {
            let words = self.locks.words().iter();
            words.map(|word| word.load(Ordering::Relaxed)).collect()
        }

        /// Ends without giving back what it has, as a killed process does.
        fn dies(self) -> u64 {
            let number = self.locks.own(&self.file).unwrap();
            for lock in 0..4 {
                std::mem::forget(self.locks.take(lock, &self.file).unwrap());
            }
            number
        }
    }

    #[test]
    fn one_process_has_a_lock_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (Process::new(&folder), Process::new(&folder));
        let held = one.take(1).unwrap();
        assert!(other.take(1).is_none());
        assert!(other.take(2).is_some());
        drop(held);
        assert!(other.take(1).is_some());
        assert!(one.take(1).is_some());
    }

    #[test]
    fn a_lock_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (Process::new(&folder), Process::new(&folder));
        let held = one.take(1).unwrap();
        let waits = std::sync::Barrier::new(2);
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| {
                waits.wait();
                drop(other.locks.wait(1, &other.file).unwrap());
            });
            waits.wait();
            // Until it sleeps.
            while one.words()[1] & AWAITED == 0 {
                assert!(!waiter.is_finished());
                std::thread::yield_now();
            }
            assert!(!waiter.is_finished());
            drop(held);
        });
        assert_eq!(one.words(), [0; 4]);
    }

    #[test]
    fn the_locks_of_the_dead_are_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let one = Process::new(&folder);
        // It has its number before, or it would get that of the dead one.
        one.locks.own(&one.file).unwrap();
        let dead = Process::new(&folder).dies();
        assert_eq!(one.words(), [dead; 4]);
        let taken = one.take(1).unwrap();
        let waited = one.locks.wait(0, &one.file).unwrap();
        assert_ne!(one.words()[..2], [dead; 2]);
        drop((waited, taken));
        assert_eq!(one.words(), [0, 0, dead, dead]);
    }

    #[test]
    fn who_gets_the_number_of_a_dead_process_frees_what_it_had() {
        let folder = tempfile::tempdir().unwrap();
        let dead = Process::new(&folder).dies();
        let next = Process::new(&folder);
        let held = next.take(3).unwrap();
        // The first free number from the process' own place on.
        assert_eq!(next.words(), [0, 0, 0, dead]);
        assert!(Process::new(&folder).take(3).is_none());
        drop(held);
    }

    #[test]
    fn a_forked_child_gives_back_nothing_of_its_parents() {
        let folder = tempfile::tempdir().unwrap();
        let (parent, child) = (Process::new(&folder), Process::new(&folder));
        let held = parent.take(1).unwrap();
        // What a fork makes of it in the child, which has no number yet, or its own.
        let copy = || Held {
            locks: &child.locks,
            number: 1,
            process: held.process,
        };
        drop(copy());
        assert!(child.take(1).is_none());
        drop(copy());
        assert!(child.take(1).is_none());
        drop(held);
        assert!(child.take(1).is_some());
    }

    #[test]
    fn what_no_process_can_have_written_is_nobodys() {
        let folder = tempfile::tempdir().unwrap();
        let one = Process::new(&folder);
        one.locks.words()[0].store(u64::MAX, Ordering::Relaxed);
        one.locks.words()[1].store(PROCESSES + 1, Ordering::Relaxed);
        assert!(one.take(0).is_some());
        drop(one.locks.wait(1, &one.file).unwrap());
        assert_eq!(one.words(), [0; 4]);
        one.locks.words()[2].store(5, Ordering::Relaxed);
        one.locks.free_all();
        assert_eq!(one.words(), [0; 4]);
    }

    #[test]
    fn many_threads_of_two_processes_take_turns() {
        let folder = tempfile::tempdir().unwrap();
        let processes = [Process::new(&folder), Process::new(&folder)];
        // As the mutex of a process does for its threads.
        let mutexes = [const { Mutex::new(()) }; 2];
        let (inside, count) = (AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (process, mutex) = (&processes[thread % 2], &mutexes[thread % 2]);
                let (inside, count) = (&inside, &count);
                scope.spawn(move || {
                    for _ in 0..2000 {
                        let _one = mutex.lock().unwrap();
                        let held = process.locks.wait(0, &process.file).unwrap();
                        assert_eq!(inside.fetch_add(1, Ordering::Relaxed), 0);
                        count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                        inside.fetch_sub(1, Ordering::Relaxed);
                        drop(held);
                    }
                });
            }
        });
        assert_eq!(count.into_inner(), 8000);
    }
}
