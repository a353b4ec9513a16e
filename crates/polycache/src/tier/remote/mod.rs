//! The remote tier: a namespace of a Redis or Valkey, with copies on this host (`spec/remote.md`).
//!
//! What is sent, and what replies mean, is `polycache-remote`'s. This is its driver for callers that may block.

mod link;
mod listener;
mod load;
mod many;
mod near;
#[cfg(any(feature = "bindings", feature = "reads"))]
mod reads;
mod reported;
mod served_keys;
mod site;
mod sweep;
mod unanswered;

pub(crate) use link::{Link, LinkOptions};
pub(crate) use load::RemoteLoad;
pub(crate) use near::NearStore;
#[cfg(any(feature = "bindings", feature = "reads"))]
pub(crate) use reads::Reads;
#[cfg(any(feature = "bindings", feature = "reads"))]
pub use reads::{ReadBegun, ReadOrigin, ReadTicket};

use super::{Leased, Object, Place, Seen, Tier, TierLoad};
use crate::observe::Answer;
use crate::remote::RemoteStats;
use crate::Error;
use link::count;
use near::AtRemote;
use polycache_host::{keys, monotonic, MemoryHits, PerProcess, Report, Stats, Store, Token};
use polycache_operations::{Bounds, Holder, Lease};
use polycache_remote::{
    head, look_at_lock, pending_head, unlock, Board, Change, Changed, Changing, Clear, Command,
    Delete, Event, Fault, Found, Get, Invalidate, Lock, Locked, Names, Record, Reply, Set, Step,
    HEAD_LEN,
};
use site::Mounted;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

/// The head of a record that was read.
pub(crate) type RecordHead = [u8; HEAD_LEN];

/// One namespace of it.
#[derive(Clone)]
pub(crate) struct RemoteTier(Arc<Inner>);

/// Copies, with the number of the database that they are of.
type MountedOf = (u64, Arc<Mounted>);

struct Inner {
    shared: Arc<Shared>,
    /// What the namespace's full keys begin with.
    prefix: Vec<u8>,
    /// The same of the root and of each namespace around it, from the outermost on, and of itself.
    floors: Vec<Vec<u8>>,
    /// What its keys are called on the server, but for the keys themselves.
    names: Names,
    guards: Arc<dyn Tier>,
    /// The copies, with the number of the database that they are of.
    mounted: PerProcess<RwLock<Option<MountedOf>>>,
}

/// What all namespaces of a cache share; with the last one the link ends.
struct Shared {
    link: Arc<Link>,
    /// The tier of the copies, as a whole.
    near: Arc<dyn Tier>,
    lease_timeout: Duration,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.link.close();
    }
}

impl RemoteTier {
    /// # Errors
    /// `InvalidArgument` for an empty part, `Closed`.
    pub fn new(
        link: Link,
        near: Arc<dyn Tier>,
        lease_timeout: Duration,
        parts: &[String],
    ) -> Result<RemoteTier, Error> {
        let shared = Arc::new(Shared {
            link: Arc::new(link),
            near,
            lease_timeout,
        });
        RemoteTier::of(shared, parts)
    }

    fn of(shared: Arc<Shared>, parts: &[String]) -> Result<RemoteTier, Error> {
        let prefix = keys::prefix(parts)?;
        let floors: Vec<Vec<u8>> = keys::ancestors(&prefix).collect();
        let prefixes: Vec<&[u8]> = floors.iter().map(Vec::as_slice).collect();
        Ok(RemoteTier(Arc::new(Inner {
            guards: shared.link.near.guards()?,
            names: Names::new(&shared.link.name, &prefixes, b""),
            floors,
            prefix,
            shared,
            mounted: PerProcess::new(),
        })))
    }

    pub(crate) fn link(&self) -> &Link {
        &self.0.shared.link
    }

    #[cfg(feature = "fibers")]
    pub fn serves_fibers(&self) -> bool {
        self.link().transport.serves_fibers()
    }

    #[cfg(feature = "fibers")]
    pub fn leave_fibers(&self) {
        self.link().transport.leave_fibers();
    }

    fn guards(&self) -> &dyn Tier {
        &*self.0.guards
    }

    /// The prefix of the namespace at this number: 0 is the root's.
    fn floor(&self, number: usize) -> &[u8] {
        self.0.floors.get(number).map_or(&[], Vec::as_slice)
    }

    fn full_key(&self, key: &[u8]) -> Vec<u8> {
        [&self.0.prefix, key].concat()
    }

    /// The name of the guard of a key's loads. Other databases of the directory have others: a loader may well ask one
    /// for the same key.
    fn guard_key(&self, key: &[u8]) -> Vec<u8> {
        let site = self.link().site().1;
        let outer = site.as_ref().map_or("", |site| site.outer.as_str());
        [outer.as_bytes(), &self.0.prefix, key].concat()
    }

    fn names(&self, key: &[u8]) -> Names {
        self.0.names.of(&self.0.prefix, key)
    }

    fn lock_names(&self, key: &[u8]) -> Names {
        let full_key = [&keys::lock_prefix(&self.0.prefix), key].concat();
        Names::new(&self.link().name, &[b"::"], &full_key)
    }

    /// The copies; `None` while it is not known whose they would be.
    fn mounted(&self) -> Option<Arc<Mounted>> {
        let link = self.link();
        let number = link.site_number();
        let there = self
            .0
            .mounted
            .get()
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some((of, mounted)) = &*there {
            if *of == number {
                return Some(mounted.clone());
            }
        }
        drop(there);
        self.mount()
    }

    #[cold]
    fn mount(&self) -> Option<Arc<Mounted>> {
        let link = self.link();
        let (number, site) = link.site();
        let site = site?;
        let mounted = Arc::new(Mounted {
            values: link.near.values(&site.outer, &self.0.prefix).ok()?,
            numbers: link.near.numbers(&site.outer).ok()?,
            replies: link.near.replies(&site.outer).ok()?,
            marks: link.near.marks(&site.outer).ok()?,
            site,
        });
        let mut there = self
            .0
            .mounted
            .get()
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *there = Some((number, mounted.clone()));
        Some(mounted)
    }

    /// A copy that may be served, for a read that is a use of it.
    #[inline]
    fn near(&self, key: &[u8], out: &mut Vec<u8>) -> Result<Option<Place>, Error> {
        let found = self.copy(key, out)?;
        if found.is_some() {
            self.count_near_hit();
        }
        Ok(found)
    }

    /// A copy that may be served, and where it is. Nobody is waited for.
    #[inline]
    pub fn copy(&self, key: &[u8], out: &mut Vec<u8>) -> Result<Option<Place>, Error> {
        let link = self.link();
        if link.staleness.is_zero() {
            return Ok(None);
        }
        let len = out.len();
        // Before the copies: if they become those of another database meanwhile, the place never stands.
        let database = link.site_number();
        if let Some(mounted) = self.mounted() {
            let judged = mounted.site.board().judge();
            if let Some(place) = mounted.values.find(key, out)? {
                if link.is_fresh(judged) {
                    return Ok(Some(Place { database, ..place }));
                }
                out.truncate(len);
            } else if link.is_fresh(judged) {
                return Ok(None);
            }
        }
        // Somebody of this host should hear of writes.
        link.listening.ask(&self.0.shared.link);
        Ok(None)
    }

    /// Whether a copy that was read at this place is there, and may be served.
    #[inline]
    fn serves(&self, place: &Place) -> bool {
        let link = self.link();
        if link.staleness.is_zero() || !place.is_known() {
            return false;
        }
        let Some(mounted) = self.mounted() else {
            return false;
        };
        // After it: so these are the copies of that database.
        if link.site_number() != place.database {
            return false;
        }
        // As for a copy that is read: V before it, the time after it.
        let judged = mounted.site.board().judge();
        link.near.stands(place) && link.is_fresh(judged)
    }

    /// Tells other hosts that this process lives, before it holds a load or a lock.
    fn show_presence(&self) {
        let link = &self.0.shared.link;
        link.listening.begin(link);
        link.tell_presence_once();
    }

    /// Steps a machine to its end.
    fn drive<D>(
        &self,
        key: &[u8],
        names: &Names,
        mut step: impl FnMut(&mut AtRemote<'_>, &Names, Event) -> Step<D>,
    ) -> D {
        let mounted = self.mounted();
        let link = &self.0.shared.link;
        if !self.is_listening(mounted.as_deref()) {
            link.listening.ask(link);
        }
        let mut near = AtRemote {
            tier: self,
            mounted: mounted.as_deref(),
            key,
            round: None,
        };
        let mut event = Event::Woken;
        loop {
            match step(&mut near, names, event) {
                Step::Done(done) => return done,
                Step::Send(commands) => event = self.send(mounted.as_deref(), &[key], commands),
                Step::Wait { until } => {
                    self.link()
                        .transport
                        .wait(until.saturating_sub(monotonic()));
                    event = Event::Woken;
                }
            }
        }
    }

    /// Whether copies may be served now.
    fn is_listening(&self, mounted: Option<&Mounted>) -> bool {
        mounted.is_some_and(|mounted| self.link().is_fresh(mounted.site.board().judge()))
    }

    /// Sends the commands of operations on these keys. While nobody tells this host of writes the database may become
    /// another one (FLUSHALL), whose copies other processes serve: so it is asked who it is in the same round trip, and
    /// the keys are voided there, too. If it was told of writes when it sent them and is not any more, it asks then.
    fn send(&self, mounted: Option<&Mounted>, keys: &[&[u8]], mut commands: Vec<Command>) -> Event {
        let link = self.link();
        let site = mounted.map(|mounted| &*mounted.site);
        let site = site.filter(|_| link.shares_copies());
        let asks = site.is_some() && !self.is_listening(mounted);
        commands.extend(asks.then(|| link.ask_identity()));
        let mut event = link.exchange(&commands);
        let (Some(site), Event::Replies(replies)) = (site, &mut event) else {
            return event;
        };
        let identity = match asks {
            true => replies.pop(),
            false if self.is_listening(mounted) => None,
            // A fault of the server is not one of the operation, which is over.
            false => link
                .send(&[link.ask_identity()])
                .ok()
                .and_then(|mut one| one.pop()),
        };
        if let Some(Reply::Bytes(identity)) = identity {
            if let Some(other) = link.another_site(site, &identity) {
                for key in keys {
                    link.near.void(&other.outer, &self.full_key(key));
                }
            }
        }
        event
    }

    /// As [`RemoteTier::drive`], for a machine whose faults are errors.
    fn attempt<D>(
        &self,
        key: &[u8],
        names: &Names,
        step: impl FnMut(&mut AtRemote<'_>, &Names, Event) -> Step<Result<D, Fault>>,
    ) -> Result<D, Error> {
        self.begin()?;
        self.drive(key, names, step)
            .map_err(|fault| self.link().error(fault))
    }

    fn change(&self, key: &[u8], change: Change<'_>) -> Result<bool, Error> {
        self.begin()?;
        let mut machine = Changing::new(change);
        let names = self.names(key);
        match self.drive(key, &names, |near, names, event| {
            machine.step(near, names, event)
        }) {
            Changed::Done => Ok(true),
            Changed::Other => Ok(false),
            Changed::Fault(fault) => Err(self.link().error(fault)),
        }
    }

    /// Appends the entry of what a read found, and says by which head it is on the server.
    fn entry_of(
        &self,
        found: Found,
        out: &mut Vec<u8>,
    ) -> Result<Option<Option<RecordHead>>, Error> {
        match found {
            Found::Near(entry) => {
                out.extend_from_slice(&entry);
                Ok(Some(None))
            }
            Found::Remote(mut record) => {
                let its_head = head(&record).try_into().ok();
                if out.capacity() == 0 {
                    record.drain(..HEAD_LEN);
                    *out = record;
                } else {
                    out.extend_from_slice(&record[HEAD_LEN..]);
                }
                Ok(Some(its_head))
            }
            Found::Foreign(bytes) => Err(Error::MalformedEntry(format!(
                "another program stored {} bytes under this key of the remote tier that are no entry",
                bytes.len()
            ))),
            Found::Missing => Ok(None),
            Found::Fault(fault) => Err(self.link().error(fault)),
        }
    }

    /// The record on the server, and its head.
    fn read_through(&self, key: &[u8], out: &mut Vec<u8>) -> Result<Option<RecordHead>, Error> {
        self.begin()?;
        let mut machine = Get::through(monotonic());
        let names = self.names(key);
        let found = self.drive(key, &names, |near, names, event| {
            machine.step(near, names, event, monotonic())
        });
        Ok(self.entry_of(found, out)?.flatten())
    }

    /// As [`RemoteTier::entry_of`], for a read that is a use of the entry.
    fn take_found(
        &self,
        found: Found,
        out: &mut Vec<u8>,
    ) -> Result<Option<Option<RecordHead>>, Error> {
        let counts = &self.link().counts;
        match found {
            Found::Near(_) => self.count_near_hit(),
            Found::Remote(_) => count(&counts.remote_hits),
            Found::Foreign(_) | Found::Missing | Found::Fault(_) => {}
        }
        self.entry_of(found, out)
    }

    pub fn count_near_hit(&self) {
        self.link().count_near_hit();
    }

    /// Counts a read that a language answered by another caller's load, a hit or a miss. It adds it to its own counts.
    #[cfg_attr(not(feature = "bindings"), allow(dead_code))]
    pub fn count_outside(&self, found: bool) {
        let counts = &self.link().counts;
        count(if found {
            &counts.outside_hits
        } else {
            &counts.outside_misses
        });
    }

    pub(super) fn count_miss(&self) {
        count(&self.link().counts.misses);
    }

    /// Takes back a miss that a load counts again.
    #[cfg_attr(not(feature = "bindings"), allow(dead_code))]
    pub fn count_found_later(&self) {
        count(&self.link().counts.misses_twice);
    }

    pub(super) fn count_write(&self) {
        count(&self.link().counts.writes);
    }

    pub(super) fn count_invalidated_load(&self) {
        count(&self.link().counts.invalidated_loads);
    }

    fn still_open(&self) -> Result<(), Error> {
        if self.is_closed() {
            return Err(Error::Closed);
        }
        Ok(())
    }

    /// Before the first command of an operation on a key.
    fn begin(&self) -> Result<(), Error> {
        self.still_open()?;
        let link = self.link();
        link.know_site().map_err(|fault| link.error(fault))
    }

    pub fn remote_stats(&self) -> RemoteStats {
        let link = self.link();
        let now = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let mounted = self.mounted();
        let board = mounted.as_ref().map(|mounted| mounted.site.board());
        let lag = board.and_then(|board| board.judge().lag(monotonic()));
        let refused = link.listening.refused.load(Ordering::Relaxed);
        RemoteStats {
            near_hits: now(&link.counts.near_hits),
            remote_hits: now(&link.counts.remote_hits),
            joined_hits: link.counts.all_joined(),
            round_trips: now(&link.counts.round_trips),
            faults: now(&link.counts.faults),
            last_fault: link.last_failure().clone(),
            is_open: link.is_open(),
            listens: lag.is_some_and(|lag| lag <= link.staleness),
            lag,
            // Another process may listen for this one.
            refuses_tracking: refused || board.is_some_and(Board::refuses),
        }
    }
}

impl Tier for RemoteTier {
    fn namespace(&self, parts: &[String]) -> Result<Arc<dyn Tier>, Error> {
        Ok(Arc::new(RemoteTier::of(self.0.shared.clone(), parts)?))
    }

    fn path(&self) -> &Path {
        self.0.shared.near.path()
    }

    fn prefix(&self) -> &[u8] {
        &self.0.prefix
    }

    fn answer(&self) -> Answer {
        Answer::Remote
    }

    fn is_shared(&self) -> bool {
        true
    }

    #[inline]
    fn get(&self, key: &[u8], out: &mut Vec<u8>) -> Result<Option<Place>, Error> {
        let found = self.find(key, out)?;
        if found.is_none() {
            self.count_miss();
        }
        Ok(found)
    }

    #[inline]
    fn find(&self, key: &[u8], out: &mut Vec<u8>) -> Result<Option<Place>, Error> {
        self.still_open()?;
        let near = self.near(key, out)?;
        if near.is_some() {
            return Ok(near);
        }
        let began = monotonic();
        let mut machine = Get::new(began);
        let names = self.names(key);
        let found = match self.link().know_site() {
            Ok(()) => self.drive(key, &names, |near, names, event| {
                machine.step(near, names, event, monotonic())
            }),
            Err(fault) => Found::Fault(fault),
        };
        self.link().note_read(&names.value, &found, began);
        match self.take_found(found, out) {
            Ok(found) => Ok(found.map(|_| Place::UNKNOWN)),
            // A read that had no answer is a miss; it is counted, and `remote_stats` tells of it.
            Err(Error::RemoteUnavailable(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    #[inline]
    fn stands(&self, place: &Place) -> bool {
        self.serves(place)
    }

    fn mark_visited(&self, place: &Place) -> bool {
        match &self.link().near {
            NearStore::Host(store) => store.mark_visited(place.hit),
            NearStore::Memory(tier) => tier.mark_visited(place),
        }
    }

    fn add_memory_hits(&self, added: &MemoryHits, all: u64) {
        self.link().add_memory_hits(added.take(all));
    }

    fn put(&self, key: &[u8], entry: &[u8], _: Option<Object>) -> Result<(), Error> {
        let mut machine = Set::new(entry);
        self.attempt(key, &self.names(key), |near, names, event| {
            machine.step(near, names, event)
        })?;
        self.end_loads([key]);
        count(&self.link().counts.writes);
        Ok(())
    }

    fn delete(&self, key: &[u8]) -> Result<bool, Error> {
        let mut machine = Delete::new();
        let deleted = self.attempt(key, &self.names(key), |near, names, event| {
            machine.step(near, names, event)
        })?;
        self.end_loads([key]);
        if deleted {
            count(&self.link().counts.deletes);
        }
        Ok(deleted)
    }

    fn store(&self) -> Option<&Store> {
        None
    }

    fn directory(&self) -> Option<&Store> {
        self.0.shared.near.store()
    }

    fn see(&self, key: &[u8]) -> Result<Option<Seen>, Error> {
        self.peek(key, &mut Vec::new())
    }

    fn peek(&self, key: &[u8], out: &mut Vec<u8>) -> Result<Option<Seen>, Error> {
        Ok(self.read_through(key, out)?.map(Seen::Record))
    }

    fn remove(&self, key: &[u8], seen: &Seen) -> Result<bool, Error> {
        let Seen::Record(head) = seen else {
            return Ok(false);
        };
        let removed = self.change(key, Change::Remove(head))?;
        self.end_loads([key]);
        if removed {
            count(&self.link().counts.deletes);
        }
        Ok(removed)
    }

    fn invalidate_loads(&self, key: &[u8]) -> Result<bool, Error> {
        let mut machine = Invalidate::new();
        let done = self.attempt(key, &self.names(key), |near, names, event| {
            machine.step(near, names, event)
        });
        self.end_loads([key]);
        done
    }

    fn renew(&self, key: &[u8], seen: &Seen, entry: &[u8]) -> Result<bool, Error> {
        let Seen::Record(head) = seen else {
            return Ok(false);
        };
        self.change(key, Change::Exchange { head, entry })
    }

    fn add(&self, key: &[u8], entry: &[u8], _: Option<Object>) -> Result<bool, Error> {
        let added = self.change(key, Change::Add(entry))?;
        if added {
            self.end_loads([key]);
            count(&self.link().counts.writes);
        }
        Ok(added)
    }

    fn exchange(
        &self,
        key: &[u8],
        seen: &Seen,
        entry: &[u8],
        _: Option<Object>,
    ) -> Result<bool, Error> {
        let exchanged = self.renew(key, seen, entry)?;
        if exchanged {
            count(&self.link().counts.writes);
        }
        Ok(exchanged)
    }

    fn version(&self, _: &[u8], seen: &Seen) -> Result<Option<u64>, Error> {
        Ok(match seen {
            Seen::Record(head) => Record::parse(head).map(|record| record.mark),
            _ => None,
        })
    }

    fn replace(
        &self,
        key: &[u8],
        seen: &Seen,
        entry: &[u8],
        object: Option<Object>,
    ) -> Result<bool, Error> {
        let replaced = self.exchange(key, seen, entry, object);
        if replaced.is_err() {
            // It was superseded; without an answer nothing more can be done.
            let _ = self.remove(key, seen);
        }
        replaced
    }

    fn begin_load(&self, key: &[u8], bounds: Bounds, now: Duration) -> TierLoad {
        let lease_timeout = self.0.shared.lease_timeout;
        let load = RemoteLoad::new(self.clone(), key, bounds, lease_timeout, now);
        TierLoad::Remote(Box::new(load))
    }

    fn waits(&self) -> bool {
        true
    }

    fn joins_within(&self) -> Option<Duration> {
        // A load shows what was there when it began: no longer than that may a read be behind.
        Some(self.link().staleness)
    }

    // The load of a key here is a machine of its own: see `begin_load`.
    fn lease(&self, _: &[u8], _: &mut Vec<u8>) -> Result<Leased, Error> {
        Ok(Leased {
            lease: Lease::Bypass,
            place: None,
        })
    }

    fn beside(&self, _: &[u8], _: Holder) -> Result<Option<Token>, Error> {
        Ok(None)
    }

    fn fill(&self, _: &[u8], _: Token, _: &[u8], _: Option<Object>) -> Result<bool, Error> {
        Ok(false)
    }

    fn release(&self, _: &[u8], _: Token) {}

    fn is_leased(&self, key: &[u8], token: Token) -> bool {
        self.guards().is_leased(&self.guard_key(key), token)
    }

    fn lock(&self, key: &[u8]) -> Result<Option<Token>, Error> {
        let names = self.lock_names(key);
        self.show_presence();
        let attempt = |dead: &[u8]| {
            let mut machine = Lock::new(dead);
            self.attempt(key, &names, |near, names, event| {
                machine.step(near, names, event)
            })
        };
        let mut locked = attempt(&[])?;
        if let Locked::Doubtful(head) = &locked {
            if self.link().is_dead(head) {
                locked = attempt(head)?;
            }
        }
        let Locked::Taken(head) = locked else {
            return Ok(None);
        };
        Ok(Record::parse_head(&head).map(|(born, word)| Token {
            slot: 0,
            word,
            born,
            beside: false,
        }))
    }

    fn unlock(&self, key: &[u8], token: Token) {
        let head = pending_head(token.born, token.word);
        // Without an answer it ends with the process, or by its time.
        let _ = self.link().send(&[unlock(&self.lock_names(key), &head)]);
    }

    fn is_locked(&self, key: &[u8]) -> Result<bool, Error> {
        self.still_open()?;
        let replies = self.link().send(&[look_at_lock(&self.lock_names(key))]);
        let replies = replies.map_err(|fault| self.link().error(fault))?;
        Ok(matches!(replies.first(), Some(Reply::Bytes(_))))
    }

    fn count_joined(&self, found: bool) {
        let counts = &self.link().counts;
        count(if found {
            &counts.joined_hits
        } else {
            &counts.misses
        });
    }

    fn count_taken(&self, found: bool) {
        let counts = &self.link().counts;
        count(if found {
            &counts.remote_hits
        } else {
            &counts.misses
        });
    }

    fn count_unstored(&self) {
        count(&self.link().counts.unstored);
    }

    fn count_wait_timeout(&self) {
        count(&self.link().counts.wait_timeouts);
    }

    /// All keys in one go.
    fn keys(
        &self,
        prefix: &[u8],
        _: u64,
        _: u64,
        out: &mut Vec<Vec<u8>>,
    ) -> Result<Option<u64>, Error> {
        let full_keys = self.served_keys(&self.full_key(prefix))?;
        let len = self.0.prefix.len();
        out.extend(full_keys.into_iter().map(|key| key[len..].to_vec()));
        Ok(None)
    }

    fn full_keys(&self, _: u64, _: u64, out: &mut Vec<Vec<u8>>) -> Result<Option<u64>, Error> {
        out.extend(self.served_keys(b"")?);
        Ok(None)
    }

    fn clear(&self, _: &[String]) -> Result<(), Error> {
        let mut machine = Clear::default();
        let before = self.link().site_number();
        self.attempt(b"", &self.names(b""), |near, names, event| {
            machine.step(near, names, event)
        })?;
        if let (true, Some(site)) = (before != self.link().site_number(), self.link().site().1) {
            self.link().near.void_floor(&site.outer, &self.0.prefix);
            self.link().near.clear(&site.outer, &self.0.prefix);
        }
        self.link().near.end_guards();
        Ok(())
    }

    fn clears_slowly(&self) -> bool {
        false
    }

    fn stats(&self) -> Result<Stats, Error> {
        let near = self.0.shared.near.stats()?;
        let counts = &self.link().counts;
        let now = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Ok(Stats {
            hits: now(&counts.near_hits) + now(&counts.remote_hits) + now(&counts.joined_hits),
            misses: now(&counts.misses).saturating_sub(now(&counts.misses_twice)),
            writes: now(&counts.writes),
            deletes: now(&counts.deletes),
            invalidated_loads: now(&counts.invalidated_loads),
            unstored: now(&counts.unstored),
            wait_timeouts: now(&counts.wait_timeouts),
            ..near
        })
    }

    fn check(&self) -> Result<Report, Error> {
        self.0.shared.near.check()
    }

    fn flush(&self) -> Result<(), Error> {
        self.0.shared.near.flush()
    }

    fn close(&self) {
        self.link().close();
        self.0.shared.near.close();
    }

    fn close_without_waiting(&self) -> Option<Box<dyn FnOnce() + Send>> {
        let shared = self.0.shared.clone();
        let given_up = shared.link.begin_to_close();
        shared.near.close();
        given_up.map(|given_up| -> Box<dyn FnOnce() + Send> {
            Box::new(move || shared.link.end_closing(&given_up))
        })
    }

    fn is_closed(&self) -> bool {
        self.0.shared.near.is_closed()
    }

    fn now(&self) -> u64 {
        self.link().clock.now()
    }

    fn remote(&self) -> Option<&RemoteTier> {
        Some(self)
    }
}

impl RemoteTier {
    /// After changes of keys by this process no caller of it joins a load that began before.
    fn end_loads<'a>(&self, keys: impl IntoIterator<Item = &'a [u8]>) {
        let mut name = self.guard_key(b"");
        let prefix = name.len();
        for key in keys {
            name.truncate(prefix);
            name.extend_from_slice(key);
            let _ = self.guards().discard(&name);
        }
    }
}
