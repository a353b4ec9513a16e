//! Where copies of what the server holds stand: in the directory, or in this process' memory.

use super::site::Mounted;
use super::RemoteTier;
use crate::tier::{AtKey, HostTier, Leased, MemoryTier, Place as At, Tier};
use crate::Error;
use polycache_host::{keys, Store, Token};
use polycache_operations::{Holder, Lease, Leases};
use polycache_remote::{
    copied_number, Armed, Copied, Guards, HolderId, Judged, LastClear, Near, Place, Prefixes,
    Wanted,
};
use std::cell::RefCell;
use std::sync::Arc;

/// The name of the namespace of guards: leases that let one caller of the host ask the server for a key.
const GUARDS: &str = "%load";
/// The name of the namespace of what this host's leader is to hear of, by database.
const WANTED: &str = "%reads";
/// The name of what the leader tells of its arming, among the numbers.
pub(super) const ARMED: &[u8] = b"armed";
/// The name of the clock's copy; floors have the prefixes of their namespaces, which end in two colons.
const CLOCK: &[u8] = b"clock";

/// The tier of the copies.
pub(crate) enum NearStore {
    Host(Store),
    Memory(MemoryTier),
}

/// The prefix of full keys below a reserved namespace.
fn below(outer: &str, prefix: &[u8]) -> Vec<u8> {
    let colon: &[u8] = if prefix.starts_with(b"::") { b"" } else { b":" };
    [outer.as_bytes(), colon, prefix].concat()
}

impl NearStore {
    /// The namespace with this prefix below a reserved one.
    fn tier(&self, outer: &str, prefix: &[u8]) -> Result<Arc<dyn Tier>, Error> {
        Ok(match self {
            NearStore::Host(store) => {
                Arc::new(HostTier::reserved(store.clone(), below(outer, prefix)))
            }
            NearStore::Memory(tier) => tier.namespace(&parts_of(outer, prefix))?,
        })
    }

    /// Whether a copy that was read there is the same.
    #[inline]
    pub fn stands(&self, place: &At) -> bool {
        match self {
            NearStore::Host(store) => store.stands(place.hit),
            NearStore::Memory(tier) => tier.stands(place),
        }
    }

    /// The guards of all keys, by their full keys.
    pub fn guards(&self) -> Result<Arc<dyn Tier>, Error> {
        self.tier(GUARDS, b"::")
    }

    /// The copies of the namespace with this prefix.
    pub fn values(&self, outer: &str, prefix: &[u8]) -> Result<Arc<dyn Tier>, Error> {
        self.tier(outer, prefix)
    }

    /// The copies of the clock and of floors.
    pub fn numbers(&self, outer: &str) -> Result<Arc<dyn Tier>, Error> {
        self.tier(outer, b"%n::")
    }

    /// The replies of cached reads.
    pub fn replies(&self, outer: &str) -> Result<Arc<dyn Tier>, Error> {
        self.tier(outer, b"%r::")
    }

    /// The guards of the keys of cached reads.
    pub fn marks(&self, outer: &str) -> Result<Arc<dyn Tier>, Error> {
        self.tier(outer, b"%g::")
    }

    /// The prefixes of keys that the processes of this host want to be heard of.
    pub fn wanted(&self, outer: &str) -> Wanted {
        let mut entry = Vec::new();
        let found = self
            .tier(WANTED, b"::")
            .and_then(|tier| tier.peek(outer.as_bytes(), &mut entry));
        match found {
            Ok(Some(_)) => Wanted::parse(&entry),
            Ok(None) | Err(_) => Wanted::default(),
        }
    }

    /// Wants these until that time, as others of the host want theirs.
    #[cfg_attr(not(feature = "bindings"), allow(dead_code))]
    pub fn want(&self, outer: &str, prefixes: &Prefixes, until: u64, now: u64) {
        let wanted = self.wanted(outer).with(prefixes, until, now);
        // Whoever finds that it is lost says so again.
        let _ = self
            .tier(WANTED, b"::")
            .and_then(|tier| tier.put(outer.as_bytes(), &wanted.entry(now), None));
    }

    /// Whether the leader's arming is told as it is; if not, it is told.
    pub fn tell_armed(&self, outer: &str, armed: &Armed, now: u64) {
        let Ok(tier) = self.numbers(outer) else {
            return;
        };
        let mut entry = Vec::new();
        let told = tier.peek(ARMED, &mut entry);
        if !matches!(told, Ok(Some(_))) || Armed::parse(&entry).as_ref() != Some(armed) {
            // Without room nothing is kept.
            let _ = tier.put(ARMED, &armed.entry(now), None);
        }
    }

    /// Removes the copies of the namespace with this prefix, and of those in it. `::` is that of all.
    pub fn clear(&self, outer: &str, prefix: &[u8]) {
        // A handle that was closed meanwhile serves nothing.
        let _ = self
            .tier(outer, prefix)
            .and_then(|tier| tier.clear(&parts_of(outer, prefix)));
    }

    /// No load of this host that began before is joined any more.
    pub fn end_guards(&self) {
        self.clear(GUARDS, b"::");
    }

    /// Removes the copy of a full key, and invalidates the lease to make it.
    pub fn void(&self, outer: &str, full_key: &[u8]) {
        let Some(end) = full_key.windows(2).position(|pair| pair == b"::") else {
            return;
        };
        let (prefix, key) = full_key.split_at(end + 2);
        let _ = self.tier(outer, prefix).and_then(|tier| tier.delete(key));
    }

    pub fn void_clock(&self, outer: &str) {
        let _ = self.numbers(outer).and_then(|tier| tier.delete(CLOCK));
    }

    pub fn void_floor(&self, outer: &str, namespace: &[u8]) {
        let _ = self.numbers(outer).and_then(|tier| tier.delete(namespace));
    }
}

/// The parts by which a memory tier knows such a namespace. Those of locks and numbers are one part.
fn parts_of(outer: &str, prefix: &[u8]) -> Vec<String> {
    let mut parts = vec![outer.to_owned()];
    match keys::split(prefix) {
        Some((inner, _)) => parts.extend(inner),
        None => parts.push(String::from_utf8_lossy(prefix).into_owned()),
    }
    parts
}

/// A key, as the machines of the remote tier see its host.
pub(crate) struct AtRemote<'a> {
    pub tier: &'a RemoteTier,
    /// The copies; `None` while it is not known whose they would be.
    pub mounted: Option<&'a Mounted>,
    pub key: &'a [u8],
    /// What operations on other keys found out in the same round.
    pub round: Option<&'a RefCell<Round>>,
}

/// What the operations of one round, which wait for nothing, have to look at, to fill or to void only once: the copies of
/// the clock and of floors. V is read before them.
#[derive(Default)]
pub(crate) struct Round {
    judged: Option<Judged>,
    numbers: Vec<(Place, Option<u64>)>,
    /// Voided, or filled by the reply that all of them share.
    settled: Vec<Place>,
}

impl Round {
    /// Replies came: what is there now is another matter.
    pub fn begin(&mut self) {
        *self = Round::default();
    }

    fn number(&self, place: Place) -> Option<Option<u64>> {
        let found = self.numbers.iter().find(|(one, _)| *one == place);
        found.map(|(_, number)| *number)
    }
}

impl AtRemote<'_> {
    fn shared(&self, place: Place) -> Option<&RefCell<Round>> {
        self.round.filter(|_| place != Place::Value)
    }

    fn place(&self, place: Place) -> Option<(&dyn Tier, &[u8])> {
        let mounted = self.mounted?;
        Some(match place {
            Place::Value => (&*mounted.values, self.key),
            Place::Clock => (&*mounted.numbers, CLOCK),
            Place::Floor(floor) => (&*mounted.numbers, self.tier.floor(floor)),
            // Of cached reads, which see the host in their own way.
            Place::Armed | Place::Guard(_) => return None,
        })
    }
}

impl Near for AtRemote<'_> {
    type Fence = Token;

    fn judge(&self) -> Judged {
        let judge = || match self.mounted {
            Some(mounted) => mounted.site.board().judge(),
            None => Judged::NEVER,
        };
        match self.round {
            Some(round) => *round.borrow_mut().judged.get_or_insert_with(judge),
            None => judge(),
        }
    }

    fn is_fresh(&self, judged: Judged) -> bool {
        self.tier.link().is_fresh(judged)
    }

    fn copy(&mut self, place: Place) -> Option<Vec<u8>> {
        let (tier, key) = self.place(place)?;
        let mut entry = Vec::new();
        let found = tier.peek(key, &mut entry).ok()?;
        found.map(|_| entry)
    }

    fn number(&mut self, place: Place) -> Option<u64> {
        let seen = self.shared(place).map(|round| round.borrow().number(place));
        if let Some(Some(number)) = seen {
            return number;
        }
        let number = self.copy(place).and_then(|entry| copied_number(&entry));
        if let Some(round) = self.shared(place) {
            round.borrow_mut().numbers.push((place, number));
        }
        number
    }

    fn last_clear(&self) -> Option<&LastClear> {
        Some(&self.tier.link().last_clear)
    }

    fn lease(&mut self, place: Place) -> Copied<Token> {
        let Some((tier, key)) = self.place(place) else {
            return Copied::Bypass;
        };
        let mut entry = Vec::new();
        match tier.lease(key, &mut entry) {
            Ok(Leased { lease, .. }) => match lease {
                Lease::Hit => Copied::There(entry),
                Lease::Acquired(token) => Copied::Acquired(token),
                Lease::Busy { .. } => Copied::Busy,
                Lease::Bypass => Copied::Bypass,
            },
            Err(_) => Copied::Bypass,
        }
    }

    fn fill(&mut self, place: Place, fence: Token, entry: &[u8]) -> bool {
        let filled = match self.place(place) {
            // Without room there is no copy.
            Some((tier, key)) => tier.fill(key, fence, entry, None).unwrap_or(false),
            None => false,
        };
        if let (true, Some(round)) = (filled, self.shared(place)) {
            round.borrow_mut().settled.push(place);
        }
        filled
    }

    fn release(&mut self, place: Place, fence: Token) {
        if let Some((tier, key)) = self.place(place) {
            tier.release(key, fence);
        }
    }

    fn stands(&self, place: Place, fence: &Token) -> bool {
        self.place(place)
            .is_some_and(|(tier, key)| tier.is_leased(key, *fence))
    }

    fn void(&mut self, place: Place) {
        if let Some(round) = self.shared(place) {
            let mut round = round.borrow_mut();
            if round.settled.contains(&place) {
                return;
            }
            round.settled.push(place);
        }
        if let Some((tier, key)) = self.place(place) {
            // A handle that was closed meanwhile serves nothing; other processes hear of the write.
            let _ = tier.discard(key);
        }
    }

    fn clear(&mut self, floor: usize) {
        if let Some(mounted) = self.mounted {
            let prefix = self.tier.floor(floor);
            self.tier.link().near.clear(&mounted.site.outer, prefix);
        }
    }

    fn now(&self) -> u64 {
        self.tier.now()
    }

    fn random(&mut self) -> u64 {
        crate::random::mark()
    }

    fn me(&self) -> HolderId {
        self.tier.link().me()
    }

    fn lives(&self, holder: HolderId) -> Option<bool> {
        self.tier.link().lives(holder)
    }
}

/// The guard of a key's loads.
pub(crate) struct Guard<'a>(pub AtKey<'a>);

impl Leases for Guard<'_> {
    type Fence = Token;
    type Error = Error;

    fn lease(&mut self) -> Result<Lease<Token>, Error> {
        self.0.lease()
    }

    fn beside(&mut self, holder: Holder) -> Result<Option<Token>, Error> {
        self.0.beside(holder)
    }

    fn has_inherited(&self, from: Holder, holder: Holder) -> bool {
        self.0.has_inherited(from, holder)
    }

    fn fill(&mut self, token: Token, _: &[u8]) -> Result<bool, Error> {
        self.release(token);
        Ok(false)
    }

    fn release(&mut self, token: Token) {
        self.0.release(token);
    }
}

impl Guards for Guard<'_> {
    fn is_beside(&self, fence: &Token) -> bool {
        fence.beside
    }
}
