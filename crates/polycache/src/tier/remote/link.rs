//! What all namespaces of a cache share of its remote tier.

use super::listener::{learn_site, Listening};
use super::near::NearStore;
use super::reported::Reported;
use super::site::Site;
use super::unanswered::Unanswered;
use crate::remote::{is_background, Failure, Transport};
use crate::Error;
use polycache_host::{monotonic, without_signals, Clock, PerProcess};
use polycache_remote::{
    presence, Breaker, Command, Event, Fault, Found, HolderId, Judged, LastClear, Permit,
    RemoteName, Reply, PRESENCE_MS, UNLISTED,
};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

/// Locks whose holders are doubted at the same time.
const MOST_DOUBTS: usize = 256;
/// Pause after a server, or a directory, that can have no copies.
const ASK_AGAIN: Duration = Duration::from_millis(500);

/// The remote tier of a handle.
pub(crate) struct Link {
    pub transport: Arc<dyn Transport>,
    pub name: RemoteName,
    pub timeout: Duration,
    pub staleness: Duration,
    pub clock: Clock,
    pub near: NearStore,
    pub counts: Counts,
    pub reported: Reported,
    pub listening: Listening,
    own: PerProcess<Own>,
    /// Moves with `site`.
    site_number: AtomicU64,
    /// Moves when `site` is another database.
    database_number: AtomicU64,
    /// When a caller last found that there can be no copies, in microseconds; 0: not yet.
    asked_in_vain: AtomicU64,
    pub last_clear: LastClear,
    /// By which other hosts know this one, where it has no directory.
    own_host: u64,
    last_load: AtomicU64,
    /// The participant of this handle that was told of to other hosts.
    told: AtomicU64,
    closed: AtomicBool,
}

/// What no forked child shares with its parent: loads that run, and all that is behind locks.
#[derive(Default)]
struct Own {
    breaker: Breaker,
    /// The database and its copies, once its identity is known.
    site: RwLock<Option<Arc<Site>>>,
    last_failure: Mutex<String>,
    /// What gives up the loads that run, by their numbers.
    loads: Mutex<HashMap<u64, Command>>,
    unanswered: Unanswered,
    /// Locks whose holders their hosts did not list, with the times when that was first seen.
    doubts: Mutex<HashMap<Vec<u8>, Duration>>,
}

/// What this handle did.
#[derive(Default)]
pub(crate) struct Counts {
    /// As far as memory tiers have told of them.
    pub memory_hits: AtomicU64,
    pub near_hits: AtomicU64,
    pub remote_hits: AtomicU64,
    pub misses: AtomicU64,
    /// Misses that a load counted again.
    pub misses_twice: AtomicU64,
    pub joined_hits: AtomicU64,
    /// Reads that a language answered by another caller's load, and counts itself.
    pub outside_hits: AtomicU64,
    pub outside_misses: AtomicU64,
    pub writes: AtomicU64,
    pub deletes: AtomicU64,
    pub invalidated_loads: AtomicU64,
    pub unstored: AtomicU64,
    pub wait_timeouts: AtomicU64,
    pub round_trips: AtomicU64,
    pub faults: AtomicU64,
    pub loads: AtomicU64,
    pub failed_loads: AtomicU64,
}

pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// Whether what a command ended with is for the circuit breaker to know.
fn says_something() -> bool {
    #[cfg(feature = "fibers")]
    return !crate::remote::fibers::lost_with_others();
    #[cfg(not(feature = "fibers"))]
    true
}

/// A signal would end the wait for a reply, which then looks like a fault. A fiber does not wait, but is left: its
/// thread goes on, with its signals.
fn undisturbed<T>(work: impl FnOnce() -> T) -> T {
    #[cfg(feature = "fibers")]
    if crate::remote::fibers::is_inside() {
        return work();
    }
    without_signals(work)
}

/// What [`Link::new`] is told.
pub(crate) struct LinkOptions {
    pub transport: Arc<dyn Transport>,
    pub prefix: String,
    pub timeout: Duration,
    pub staleness: Duration,
    pub clock: Clock,
}

impl Link {
    pub fn new(options: LinkOptions, near: NearStore) -> Link {
        Link {
            transport: options.transport,
            name: RemoteName::new(&options.prefix),
            timeout: options.timeout,
            staleness: options.staleness,
            clock: options.clock,
            near,
            counts: Counts::default(),
            reported: Reported::new(),
            listening: Listening::default(),
            own: PerProcess::new(),
            site_number: AtomicU64::new(0),
            database_number: AtomicU64::new(0),
            asked_in_vain: AtomicU64::new(0),
            last_clear: LastClear::default(),
            own_host: crate::random::mark(),
            last_load: AtomicU64::new(0),
            told: AtomicU64::new(0),
            closed: AtomicBool::new(false),
        }
    }

    /// The database, if its identity is known, and its number: another one when it is another database.
    pub fn site(&self) -> (u64, Option<Arc<Site>>) {
        let site = self
            .own
            .get()
            .site
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        (self.site_number(), site.clone())
    }

    pub fn site_number(&self) -> u64 {
        self.site_number.load(Ordering::Acquire)
    }

    /// The number of the database: a load of another one is not joined.
    pub fn database_number(&self) -> u64 {
        self.database_number.load(Ordering::Acquire)
    }

    pub fn set_site(&self, site: Option<Arc<Site>>) {
        self.change_site(|now| *now = site);
    }

    /// Has the site changed, and counts if it is another one then.
    fn change_site<T>(&self, change: impl FnOnce(&mut Option<Arc<Site>>) -> T) -> T {
        let own = self.own.get();
        let mut now = own.site.write().unwrap_or_else(PoisonError::into_inner);
        let before = now.clone();
        let done = change(&mut now);
        let outer = |site: &Option<Arc<Site>>| site.as_ref().map(|site| site.outer.clone());
        if outer(&before) != outer(&now) {
            self.database_number.fetch_add(1, Ordering::Release);
        }
        if before.as_ref().map(Arc::as_ptr) != now.as_ref().map(Arc::as_ptr) {
            self.site_number.fetch_add(1, Ordering::Release);
        }
        done
    }

    /// Whether other processes serve the same copies.
    pub fn shares_copies(&self) -> bool {
        matches!(&self.near, NearStore::Host(store) if !store.is_read_only())
    }

    /// Asks the database who it is.
    pub fn ask_identity(&self) -> Command {
        Command::get(self.name.id())
    }

    /// The database with this identity, if that is another one than `site`; from then on it is the one in use.
    pub fn another_site(&self, site: &Site, identity: &[u8]) -> Option<Arc<Site>> {
        if site.outer.as_bytes().ends_with(identity) {
            return None;
        }
        // Its leader may not have heard of it yet: nobody voids the copies of the old one from now on. (One that has a
        // board for the first time ended all others' leaders, one that was there before did not.)
        site.board().abandon();
        let (_, now) = self.site();
        // Another thread may have seen it first.
        let known = now.filter(|now| now.outer.as_bytes().ends_with(identity));
        let other = known.or_else(|| Site::new(&self.near, identity, monotonic()).map(Arc::new));
        self.set_site(other.clone());
        other
    }

    /// The database with this identity, unless it is known already: two threads may have asked.
    pub fn found_site(&self, identity: &[u8]) -> Option<Arc<Site>> {
        self.change_site(|now| {
            if now.is_none() {
                *now = Some(Arc::new(Site::new(&self.near, identity, monotonic())?));
            }
            now.clone()
        })
    }

    /// Sees to it that the database is known before the first command on a key. A change must void the copies that
    /// other processes of the host serve, and so must a read that finds something newer.
    ///
    /// # Errors
    /// A fault of the server.
    pub fn know_site(&self) -> Result<(), Fault> {
        if self.site().1.is_some()
            || matches!(&self.near, NearStore::Host(store) if store.is_read_only())
        {
            return Ok(());
        }
        let last = Duration::from_micros(self.asked_in_vain.load(Ordering::Relaxed));
        let now = monotonic();
        if !last.is_zero() && now.saturating_sub(last) < ASK_AGAIN {
            return Ok(());
        }
        if learn_site(self)?.is_none() {
            self.asked_in_vain
                .store(now.as_micros() as u64, Ordering::Relaxed);
        }
        Ok(())
    }

    pub fn is_fresh(&self, judged: Judged) -> bool {
        !self.staleness.is_zero() && judged.is_fresh(monotonic(), self.staleness)
    }

    /// The number by which other hosts know this one; 0: it tells them nothing of its processes.
    pub fn host(&self) -> u64 {
        match &self.near {
            NearStore::Host(store) if store.is_read_only() => 0,
            NearStore::Host(store) => store.host(),
            // A forked child is a host of its own.
            NearStore::Memory(_) => {
                let process = u64::from(crate::random::process());
                self.own_host ^ process.wrapping_mul(0x9E37_79B9_7F4A_7C15)
            }
        }
    }

    /// This handle, as others know it.
    pub fn me(&self) -> HolderId {
        let (host, participant) = match &self.near {
            NearStore::Host(store) => match store.participant_number() {
                Ok(number) => (self.host(), number),
                Err(_) => (0, 0),
            },
            NearStore::Memory(_) => (self.host(), 1),
        };
        HolderId { host, participant }
    }

    /// Whether a process of this host lives; `None` for another host's.
    pub fn lives(&self, holder: HolderId) -> Option<bool> {
        if holder.host == 0 || holder.host != self.host() {
            return None;
        }
        Some(match &self.near {
            NearStore::Host(store) => store.lives(holder.participant),
            NearStore::Memory(_) => true,
        })
    }

    /// The processes of this host that live.
    pub fn living(&self) -> Vec<u64> {
        match &self.near {
            NearStore::Host(store) => store.living(),
            NearStore::Memory(_) => vec![1],
        }
    }

    /// What tells other hosts who lives here.
    pub fn presence(&self, host: u64) -> Command {
        let living = presence(&self.living());
        Command::set(self.name.presence(host), living, Some(PRESENCE_MS))
    }

    /// Tells of this process before it first holds something; from then on the host's leader does.
    pub fn tell_presence_once(&self) {
        let HolderId { host, participant } = self.me();
        // A forked child is another one.
        let number = participant ^ host;
        if host != 0 && self.told.load(Ordering::Relaxed) != number {
            let told = self.send(&[self.presence(host)]);
            if told.is_ok() {
                self.told.store(number, Ordering::Relaxed);
            }
        }
    }

    /// Whether the holder of a lock, which its host does not list, has been missing for long enough.
    pub fn is_dead(&self, head: &[u8]) -> bool {
        let now = monotonic();
        let mut doubts = self
            .own
            .get()
            .doubts
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if doubts.len() >= MOST_DOUBTS {
            doubts.retain(|_, since| now.saturating_sub(*since) < 2 * UNLISTED);
        }
        if doubts.len() >= MOST_DOUBTS && !doubts.contains_key(head) {
            return false;
        }
        let since = *doubts.entry(head.to_vec()).or_insert(now);
        now.saturating_sub(since) >= UNLISTED
    }

    /// Sends commands, unless the circuit breaker is open.
    pub fn exchange(&self, commands: &[Command]) -> Event {
        match self.send(commands) {
            Ok(replies) => Event::Replies(replies),
            Err(fault) => Event::Fault(fault),
        }
    }

    /// As [`Link::exchange`].
    pub fn send(&self, commands: &[Command]) -> Result<Vec<Reply>, Fault> {
        let replies = self.guarded(|| self.transport.send(commands, self.timeout))?;
        for reply in &replies {
            if let Reply::Error(why) = reply {
                self.note(why);
            }
        }
        Ok(replies)
    }

    /// Keys of a primary that match a pattern; see [`Transport::scan`].
    pub fn scan(
        &self,
        primary: usize,
        cursor: u64,
        pattern: &[u8],
    ) -> Result<(u64, Vec<Vec<u8>>), Fault> {
        self.guarded(|| self.transport.scan(primary, cursor, pattern, self.timeout))
    }

    /// How many primaries there are, as far as it is known.
    pub fn primaries(&self) -> usize {
        let map = self.transport.map(self.timeout);
        map.map_or(1, |map| map.nodes.len())
    }

    fn guarded<T>(&self, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Fault> {
        if self.own.get().breaker.ask(monotonic(), self.timeout) == Permit::Refused {
            return Err(Fault::Open);
        }
        // What the listener's thread sends is nobody's wait.
        if !is_background() {
            count(&self.counts.round_trips);
        }
        let done = undisturbed(work);
        let outcome = match &done {
            Ok(_) => Ok(()),
            Err(failure) => {
                self.note(&failure.why);
                Err(failure.fault)
            }
        };
        if says_something() {
            self.own
                .get()
                .breaker
                .tell(outcome, monotonic(), crate::random::random());
        }
        done.map_err(|failure| failure.fault)
    }

    /// Notes how a read that began then has ended, for the load that may follow.
    pub fn note_read(&self, key: &[u8], found: &Found, began: Duration) {
        let unanswered = &self.own.get().unanswered;
        let now = monotonic();
        // A connection that is refused costs no time: then the load asks by itself.
        let waited = now.saturating_sub(began) >= self.timeout * 3 / 4;
        match found {
            Found::Fault(Fault::Unreachable) if waited => unanswered.note(key, now),
            Found::Fault(_) => {}
            _ => unanswered.forget(key),
        }
    }

    /// Whether the server has just left a read of this key without an answer: another command would wait for as long.
    pub fn is_unanswered(&self, key: &[u8]) -> bool {
        let unanswered = &self.own.get().unanswered;
        unanswered.is_recent(key, monotonic(), self.timeout)
    }

    pub fn note(&self, why: &str) {
        let mut last = self.last_failure();
        last.clear();
        last.push_str(why);
    }

    pub fn last_failure(&self) -> MutexGuard<'_, String> {
        self.own
            .get()
            .last_failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The error of a write that had no answer.
    #[cold]
    pub fn error(&self, fault: Fault) -> Error {
        count(&self.counts.faults);
        let timeout = self.timeout;
        let why = self.last_failure().clone();
        Error::RemoteUnavailable(match fault {
            Fault::Unreachable => {
                format!("the remote tier did not answer within {timeout:?} ({why})")
            }
            Fault::Open => {
                format!("the remote tier has not answered, and is asked again in a moment ({why})")
            }
            Fault::Unavailable => format!("the remote tier cannot serve anybody now ({why})"),
            Fault::Refused => format!("the remote tier refused the command ({why})"),
        })
    }

    pub fn is_open(&self) -> bool {
        self.own.get().breaker.is_open()
    }

    /// A loader runs; `give_up` is sent when the cache is closed meanwhile. Returns the load's number.
    pub fn begin_load(&self, give_up: Command) -> u64 {
        let number = self.last_load.fetch_add(1, Ordering::Relaxed);
        self.loads().insert(number, give_up);
        number
    }

    pub fn end_load(&self, number: u64) {
        self.loads().remove(&number);
    }

    fn loads(&self) -> MutexGuard<'_, HashMap<u64, Command>> {
        self.own
            .get()
            .loads
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub fn close(&self) {
        if let Some(given_up) = self.begin_to_close() {
            self.end_closing(&given_up);
        }
    }

    /// Closes it, and gives up loads: the commands that tell of them are for [`Link::end_closing`]. `None`: it was closed.
    pub fn begin_to_close(&self) -> Option<Vec<Command>> {
        if self.closed.swap(true, Ordering::AcqRel) {
            return None;
        }
        self.report();
        self.listening.wake();
        Some(self.loads().drain().map(|(_, command)| command).collect())
    }

    pub fn end_closing(&self, given_up: &[Command]) {
        if !given_up.is_empty() {
            // Without an answer, others wait as for a load that takes long.
            let _ = self.send(given_up);
        }
        self.transport.close();
    }

    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
}
