//! Cached reads of the user's own keys, as one handle does them (`spec/reads.md`).

use super::link::Link;
use super::near::ARMED;
use super::site::Mounted;
use super::RemoteTier;
use crate::tier::{Leased, Place as At, Tier};
use polycache_host::{monotonic, Token};
use polycache_operations::Lease;
use polycache_remote::{
    begin, near_reply, Armed, Begun, Copied, HolderId, Judged, Kept, Near, Place, Prefixes, Ticket,
    Uncached,
};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

/// Milliseconds for which the host's leader hears of keys after somebody wanted it.
const WANTED: u64 = 600_000;
/// How often a process that reads says so.
const SAY_AGAIN: Duration = Duration::from_secs(60);

/// The cached reads of a handle.
pub(crate) struct Reads {
    tier: RemoteTier,
    prefixes: Prefixes,
    /// When it was last said what they are of, in microseconds; 0: not yet.
    said: AtomicU64,
}

/// Where a reply was found, for a memory tier that keeps what it became.
#[derive(Clone, Debug)]
pub struct ReadOrigin {
    database: u64,
    generation: u16,
    /// Milliseconds since 1970; 0: never.
    expires: u64,
    /// Of the reply, the arming, and the guards.
    places: Box<[At]>,
}

/// A read that is sent by the user's client.
pub struct ReadTicket {
    ticket: Ticket<Token>,
    mounted: Option<Arc<Mounted>>,
    /// What the same connection is asked after the read, by GETEX.
    pub asks: Option<Vec<u8>>,
    /// Whether that is who the database is, and not the proof.
    asks_identity: bool,
}

/// What a read that found no reply does next.
pub enum ReadBegun {
    /// There is a reply after all.
    There,
    /// Begin again in so many milliseconds.
    Wait(f64),
    /// Ask the server.
    Ask(Box<ReadTicket>),
}

/// A read, as the machines see its host.
struct AtRead<'a> {
    link: &'a Link,
    mounted: &'a Mounted,
    name: &'a [u8],
    keys: &'a [&'a [u8]],
    /// Where copies were found, in the order of the questions.
    places: Vec<At>,
}

impl Reads {
    pub fn new(tier: RemoteTier, prefixes: Prefixes) -> Reads {
        Reads {
            tier,
            prefixes,
            said: AtomicU64::new(0),
        }
    }

    /// Sees to it that the database is known: a reply that is not kept must end what others of the host serve. False: the
    /// server does not answer.
    pub fn know(&self) -> bool {
        self.tier.link().know_site().is_ok()
    }

    /// Whether it is known.
    pub fn is_known(&self) -> bool {
        self.tier.link().site().1.is_some()
    }

    /// The reply, if it may be served without asking the server: behind what `out` holds. And where it was found.
    pub fn near(&self, name: &[u8], keys: &[&[u8]], out: &mut Vec<u8>) -> Option<ReadOrigin> {
        let link = self.tier.link();
        // Before the copies: if they become those of another database meanwhile, the place never stands.
        let database = link.site_number();
        let mounted = self.tier.mounted()?;
        let mut at = AtRead::new(link, &mounted, name, keys);
        let generation = at.judge().generation();
        let entry = near_reply(&mut at, keys)?;
        let kept = Kept::parse(&entry)?;
        out.extend_from_slice(kept.reply(&entry));
        Some(ReadOrigin {
            database,
            generation,
            expires: kept.expires,
            places: at.places.into(),
        })
    }

    /// Whether a reply that was found there would be found again, and may be served.
    #[inline]
    pub fn stands(&self, origin: &ReadOrigin) -> bool {
        let link = self.tier.link();
        if link.staleness.is_zero() {
            return false;
        }
        let Some(mounted) = self.tier.mounted() else {
            return false;
        };
        if link.site_number() != origin.database {
            return false;
        }
        // V before all, the time after it.
        let judged = mounted.site.board().judge();
        judged.generation() == origin.generation
            && origin.places.iter().all(|place| link.near.stands(place))
            && (origin.expires == 0 || link.clock.now() < origin.expires)
            && link.is_fresh(judged)
    }

    /// Tells the near tier that what a memory tier serves is in use; and the leader.
    pub fn mark_visited(&self, origin: &ReadOrigin) {
        if let Some(mounted) = self.tier.mounted() {
            for place in &origin.places {
                mounted.replies.mark_visited(place);
            }
            self.say_again(&mounted);
        }
    }

    /// Begins a read; `waited` says for how long its caller has waited for others.
    pub fn begin(&self, name: &[u8], keys: &[&[u8]], waited: Duration) -> ReadBegun {
        let link = self.tier.link();
        let Some(mounted) = self.tier.mounted() else {
            self.listen();
            return ReadBegun::Ask(Box::new(ReadTicket::through(None)));
        };
        self.say_again(&mounted);
        let now = monotonic();
        let mut at = AtRead::new(link, &mounted, name, keys);
        let ticket = match begin(&mut at, keys, now.saturating_sub(waited), now) {
            Begun::There => return ReadBegun::There,
            Begun::Wait(until) => {
                let wait = until.saturating_sub(monotonic());
                return ReadBegun::Wait(wait.as_secs_f64() * 1000.0);
            }
            Begun::Ask(ticket) => ticket,
        };
        let (asks, asks_identity) = match ticket.why() {
            None => (at.proof(), false),
            // Others may serve the copies of another database by now.
            Some(Uncached::Deaf) => (Some(link.name.id()), true),
            Some(Uncached::NotHeard) => {
                self.say(&mounted);
                (None, false)
            }
            Some(Uncached::Busy) => (None, false),
        };
        if !self.tier.is_listening(Some(&mounted)) {
            self.listen();
        }
        ReadBegun::Ask(Box::new(ReadTicket {
            ticket,
            asks,
            asks_identity,
            mounted: Some(mounted),
        }))
    }

    /// Keeps the reply of a read; `answer` is what GETEX found. False: it is not kept, and nothing older is served.
    pub fn fill(
        &self,
        name: &[u8],
        keys: &[&[u8]],
        ticket: ReadTicket,
        answer: Option<&[u8]>,
        reply: Option<(&[u8], u64)>,
    ) -> bool {
        let link = self.tier.link();
        let Some(mounted) = ticket.mounted else {
            return false;
        };
        if let (true, Some(identity)) = (ticket.asks_identity, answer) {
            if let Some(other) = link.another_site(&mounted.site, identity) {
                let replies = link.near.replies(&other.outer);
                let _ = replies.and_then(|replies| replies.delete(name));
            }
        }
        let mut at = AtRead::new(link, &mounted, name, keys);
        match reply {
            Some((bytes, expires)) => ticket.ticket.fill(&mut at, answer, bytes, expires),
            // As one without a proof.
            None => ticket.ticket.fill(&mut at, None, &[], 0),
        }
    }

    /// The read has no reply.
    pub fn fail(&self, name: &[u8], keys: &[&[u8]], ticket: ReadTicket) {
        if let Some(mounted) = ticket.mounted {
            let mut at = AtRead::new(self.tier.link(), &mounted, name, keys);
            ticket.ticket.fail(&mut at);
        }
    }

    /// Replies of reads of this key are read anew: its guard is gone.
    pub fn forget(&self, key: &[u8]) {
        if let Some(mounted) = self.tier.mounted() {
            let _ = mounted.marks.delete(key);
        }
    }

    fn listen(&self) {
        let link = &self.tier.0.shared.link;
        link.listening.ask(link);
    }

    /// Says at times what this process reads, so that its host's leader goes on to hear of it.
    fn say_again(&self, mounted: &Mounted) {
        let last = Duration::from_micros(self.said.load(Ordering::Relaxed));
        if last.is_zero() || monotonic().saturating_sub(last) >= SAY_AGAIN {
            self.say(mounted);
        }
    }

    fn say(&self, mounted: &Mounted) {
        let link = self.tier.link();
        let (outer, now) = (&mounted.site.outer, link.clock.now());
        // Fresh, or nearly: it is not written for each read that finds the leader at work.
        let is_said = (link.near.wanted(outer)).has(&self.prefixes, now + WANTED / 2);
        if !is_said {
            link.near.want(outer, &self.prefixes, now + WANTED, now);
        }
        let micros = monotonic().as_micros() as u64;
        self.said.store(micros, Ordering::Relaxed);
    }
}

impl ReadTicket {
    fn through(mounted: Option<Arc<Mounted>>) -> ReadTicket {
        ReadTicket {
            ticket: Ticket::through(Uncached::Deaf),
            mounted,
            asks: None,
            asks_identity: false,
        }
    }

    /// Why the reply will not be kept.
    pub fn why(&self) -> Option<Uncached> {
        self.ticket.why()
    }
}

impl<'a> AtRead<'a> {
    fn new(
        link: &'a Link,
        mounted: &'a Mounted,
        name: &'a [u8],
        keys: &'a [&'a [u8]],
    ) -> AtRead<'a> {
        AtRead {
            link,
            mounted,
            name,
            keys,
            places: Vec::new(),
        }
    }

    /// The key of the proof on the primary of the read's keys.
    fn proof(&mut self) -> Option<Vec<u8>> {
        let armed = Armed::parse(&self.copy(Place::Armed)?)?;
        let tag = armed.tag_of(self.keys.first()?)?;
        Some(self.link.name.proof(self.link.host(), tag))
    }

    fn place(&self, place: Place) -> Option<(&'a dyn Tier, &'a [u8])> {
        let mounted = self.mounted;
        Some(match place {
            Place::Value => (&*mounted.replies, self.name),
            Place::Armed => (&*mounted.numbers, ARMED),
            Place::Guard(key) => (&*mounted.marks, self.keys.get(key)?),
            Place::Clock | Place::Floor(_) => return None,
        })
    }
}

impl Near for AtRead<'_> {
    type Fence = Token;

    fn judge(&self) -> Judged {
        self.mounted.site.board().judge()
    }

    fn is_fresh(&self, judged: Judged) -> bool {
        self.link.is_fresh(judged)
    }

    fn copy(&mut self, place: Place) -> Option<Vec<u8>> {
        let (tier, key) = self.place(place)?;
        let mut entry = Vec::new();
        let found = tier.find(key, &mut entry).ok()??;
        self.places.push(found);
        Some(entry)
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
        match self.place(place) {
            // Without room there is no copy.
            Some((tier, key)) => tier.fill(key, fence, entry, None).unwrap_or(false),
            None => false,
        }
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
        if let Some((tier, key)) = self.place(place) {
            // A handle that was closed meanwhile serves nothing.
            let _ = tier.delete(key);
        }
    }

    /// A cached read clears no namespace.
    fn clear(&mut self, _: usize) {}

    fn now(&self) -> u64 {
        self.link.clock.now()
    }

    fn random(&mut self) -> u64 {
        crate::random::mark()
    }

    fn me(&self) -> HolderId {
        self.link.me()
    }

    fn lives(&self, holder: HolderId) -> Option<bool> {
        self.link.lives(holder)
    }
}
