//! Who loads what, in a `Cache` without a directory: one caller per key of this process.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A key's namespace, by number, and its bytes: nothing of Python's is compared under the lock.
pub type Place = (u64, Box<[u8]>);

struct Running {
    token: u64,
    since: Instant,
    /// A child that is forked has its parent's list, but not the threads that load.
    process: u32,
}

#[derive(Default)]
struct List {
    /// The token that was given last; none is given twice.
    last: u64,
    running: HashMap<Place, Running>,
}

/// The loads under way.
pub struct Leases {
    timeout: Duration,
    /// Of those on the list.
    count: AtomicUsize,
    list: Mutex<List>,
}

/// What a caller that wants to load is told.
pub enum Answer {
    /// It loads, under this token.
    Acquired(u64),
    /// Another one does, under this token.
    Busy(u64),
}

impl Leases {
    pub fn new(timeout: Duration) -> Leases {
        Leases {
            timeout,
            count: AtomicUsize::new(0),
            list: Mutex::default(),
        }
    }

    pub fn acquire(&self, place: Place) -> Answer {
        let process = std::process::id();
        let mut list = self.list();
        if let Some(other) = list.running.get(&place) {
            if other.process == process && other.since.elapsed() < self.timeout {
                return Answer::Busy(other.token);
            }
        }
        list.last += 1;
        let token = list.last;
        let since = Instant::now();
        let running = Running {
            token,
            since,
            process,
        };
        list.running.insert(place, running);
        self.counted(&list);
        Answer::Acquired(token)
    }

    /// Whether the load may store what it loaded.
    pub fn stands(&self, place: &Place, token: u64) -> bool {
        let list = self.list();
        list.running
            .get(place)
            .is_some_and(|running| running.token == token)
    }

    /// The load is over; nothing happens when it was voided.
    pub fn release(&self, place: &Place, token: u64) {
        let mut list = self.list();
        if list
            .running
            .get(place)
            .is_some_and(|running| running.token == token)
        {
            list.running.remove(place);
            self.counted(&list);
        }
    }

    /// A set or delete of the key wins over its load.
    #[inline]
    pub fn void(&self, space: u64, key: &[u8]) {
        if self.count.load(Ordering::SeqCst) > 0 {
            self.void_where(|place| place.0 == space && *place.1 == *key);
        }
    }

    /// A clear of these namespaces wins over the loads in them.
    pub fn void_spaces(&self, spaces: &HashSet<u64>) {
        self.void_where(|place| spaces.contains(&place.0));
    }

    #[cold]
    fn void_where(&self, wanted: impl Fn(&Place) -> bool) {
        let mut list = self.list();
        list.running.retain(|place, _| !wanted(place));
        self.counted(&list);
    }

    /// Loads under way in this process.
    pub fn len(&self) -> usize {
        let process = std::process::id();
        let list = self.list();
        let ours = |running: &&Running| running.process == process;
        list.running.values().filter(ours).count()
    }

    fn counted(&self, list: &List) {
        self.count.store(list.running.len(), Ordering::SeqCst);
    }

    fn list(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
