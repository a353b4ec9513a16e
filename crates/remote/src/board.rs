//! What the processes of a host share of one remote database: five words of its directory.

use crate::validity::{Judged, Validity};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A leader that was not seen for so long is replaced.
const ABSENT: Duration = Duration::from_millis(300);
/// A leader that was not seen for so long is not shown any more.
const GONE: Duration = Duration::from_secs(1);
/// A board whose leader was not seen for so long may become another database's.
const UNUSED: Duration = Duration::from_secs(60);

/// Number of a board's words.
pub const BOARD_WORDS: usize = 5;
/// A board's words, laid out as in `spec/remote.md`: the identity of the data, V, the leader's participant
/// plus one (0: none), when it was last seen, in microseconds, and what it tells of itself. All 0: nobody's.
pub type BoardWords = [AtomicU64; BOARD_WORDS];

/// The identity while a board becomes another database's.
const CHANGING: u64 = u64::MAX;

/// What a leader tells of itself, in one word: its generation:16 | the server refuses to tell of writes:1 | when it
/// began, in milliseconds since 1970:47. Of another generation it means nothing.
const REFUSES: u64 = 1 << 47;
const SINCE: u64 = REFUSES - 1;

/// What a board tells whoever looks at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The first 64 bits of the data's identity.
    pub identity: u64,
    /// The participant that listens, as it was last seen within a second; it may have died since.
    pub leader: Option<u64>,
    /// How far behind copies are; `None` while none are served.
    pub lag: Option<Duration>,
    /// When that one began to listen, in milliseconds since 1970.
    pub since: u64,
    /// The server refuses to tell of writes.
    pub refuses: bool,
}

impl Seen {
    /// What the words of a board mean at `now`; `None` for nobody's.
    #[must_use]
    pub fn of(words: [u64; BOARD_WORDS], now: Duration) -> Option<Seen> {
        let [identity, validity, leader, seen, told] = words;
        if identity == 0 || identity == CHANGING {
            return None;
        }
        let validity = AtomicU64::new(validity);
        let validity = Validity::new(&validity);
        let seen = now.checked_sub(Duration::from_micros(seen));
        let leader = leader.checked_sub(1);
        let is_its = told >> 48 == u64::from(validity.generation());
        Some(Seen {
            identity,
            leader: leader.filter(|_| seen.is_some_and(|ago| ago < GONE)),
            lag: validity.judge().lag(now),
            since: if is_its { told & SINCE } else { 0 },
            refuses: is_its && told & REFUSES != 0,
        })
    }
}

/// The board of one database.
#[derive(Clone, Copy, Debug)]
pub struct Board<'a> {
    words: &'a BoardWords,
    identity: u64,
}

impl<'a> Board<'a> {
    /// The place among `boards` of the board of the data with this identity: one that it has, or a free one.
    /// `None` when all are others'. An identity that has none may be a new one of data whose copies are served by
    /// another (FLUSHALL): so that none of them is served beside copies of the new one, all leaders begin anew.
    pub fn find(
        boards: impl Iterator<Item = &'a BoardWords> + Clone,
        identity: u64,
        now: Duration,
    ) -> Option<usize> {
        let all = boards.map(|words| Board::new(words, identity));
        let mine = all.clone().position(Board::is_mine);
        let depose_others = |place: usize| {
            let others = all.clone().enumerate().filter(|(other, _)| *other != place);
            others.for_each(|(_, board)| board.depose());
        };
        mine.or_else(|| {
            let mut places = all.clone().enumerate();
            let taken = places.find(|(place, board)| board.take(now, || depose_others(*place)));
            taken.map(|(place, _)| place)
        })
    }

    /// A board that was found for this identity.
    #[must_use]
    pub fn new(words: &'a BoardWords, identity: u64) -> Board<'a> {
        // 0 and the last number are taken.
        let identity = identity.clamp(1, CHANGING - 1);
        Board { words, identity }
    }

    /// Makes it the board of this identity if it is nobody's, or was not used for long. `before_seen` runs before anybody
    /// can see that it is.
    fn take(self, now: Duration, before_seen: impl Fn()) -> bool {
        let before = self.words[0].load(Ordering::SeqCst);
        let seen = self.seen().load(Ordering::SeqCst);
        let is_unused = now
            .checked_sub(Duration::from_micros(seen))
            .is_none_or(|absent| seen == 0 || absent >= UNUSED);
        if before != 0 && before != CHANGING && !is_unused {
            return false;
        }
        if !self.change(before, CHANGING) {
            return false;
        }
        // From here on who leads by the old identity does not move V, and who begins to lead sees another.
        self.end_generation();
        before_seen();
        self.seen().store(now.as_micros() as u64, Ordering::SeqCst);
        self.change(CHANGING, self.identity)
    }

    fn change(self, from: u64, to: u64) -> bool {
        self.words[0]
            .compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst)
            .is_ok()
    }

    /// Whether it is still the board of this identity.
    #[must_use]
    pub fn is_mine(self) -> bool {
        self.words[0].load(Ordering::SeqCst) == self.identity
    }

    /// V now. Copies that are read after this call reflect every write up to it.
    #[must_use]
    pub fn judge(self) -> Judged {
        let judged = self.validity().judge();
        // In this order: the identity is another one before a V of its own is there.
        match self.is_mine() {
            true => judged,
            false => Judged::NEVER,
        }
    }

    /// V, for its leader.
    #[must_use]
    pub fn validity(self) -> Validity<'a> {
        Validity::new(&self.words[1])
    }

    /// Takes the lead if nobody has it, or its holder is dead or was not seen for a while. Returns the
    /// generation of the new leader. `me` and what `lives` is asked for are numbers of participants.
    pub fn lead(self, me: u64, now: Duration, lives: impl Fn(u64) -> bool) -> Option<u16> {
        // Before the leader: who takes over between the two loads makes the CAS fail.
        let generation = self.validity().generation();
        if self.is_led(now, lives) {
            return None;
        }
        let mine = self.validity().take_over(generation)?;
        if !self.is_mine() {
            return None;
        }
        self.leader().store(me + 1, Ordering::SeqCst);
        self.seen().store(now.as_micros() as u64, Ordering::SeqCst);
        Some(mine)
    }

    /// Whether somebody leads who lives, and was seen just now.
    #[must_use]
    pub fn is_led(self, now: Duration, lives: impl Fn(u64) -> bool) -> bool {
        let leader = self.leader().load(Ordering::SeqCst);
        let seen = Duration::from_micros(self.seen().load(Ordering::SeqCst));
        leader != 0 && now.saturating_sub(seen) < ABSENT && lives(leader - 1)
    }

    /// The leader of this generation is there; false when another leads.
    #[must_use]
    pub fn see(self, generation: u16, now: Duration) -> bool {
        let leads = self.validity().generation() == generation && self.is_mine();
        if leads {
            self.seen().store(now.as_micros() as u64, Ordering::SeqCst);
        }
        leads
    }

    /// The leader of this generation tells since when it leads (milliseconds since 1970), and whether the server refuses
    /// to tell it of writes.
    pub fn tell(self, generation: u16, since: u64, refuses: bool) {
        let refuses = if refuses { REFUSES } else { 0 };
        let word = u64::from(generation) << 48 | refuses | since & SINCE;
        // It is only looked at; where another leads by now, it tells of itself at once, and again when that changes.
        if self.validity().generation() == generation && self.is_mine() {
            self.words[4].store(word, Ordering::SeqCst);
        }
    }

    /// Whether the server refuses to tell the leader of writes.
    #[must_use]
    pub fn refuses(self) -> bool {
        let told = self.words[4].load(Ordering::SeqCst);
        self.is_mine()
            && told & REFUSES != 0
            && told >> 48 == u64::from(self.validity().generation())
    }

    /// The database has become another one: no copy of it is served, nobody leads, and the board may be another's.
    /// Whoever has seen it says so, since the leader may not have heard of it yet.
    pub fn abandon(self) {
        if self.is_mine() {
            self.depose();
            self.seen().store(0, Ordering::SeqCst);
        }
    }

    /// The leader, whoever it is and whatever database this is, leads no more. It does so again after it has armed.
    fn depose(self) {
        self.end_generation();
        // One that begins between the two is followed by another.
        self.leader().store(0, Ordering::SeqCst);
    }

    fn end_generation(self) {
        let validity = self.validity();
        while validity.take_over(validity.generation()).is_none() {}
    }

    /// The leader of this generation closes: another one need not wait until it is missed.
    pub fn resign(self, generation: u16) {
        if self.validity().end(generation) {
            self.leader().store(0, Ordering::SeqCst);
        }
    }

    fn leader(self) -> &'a AtomicU64 {
        &self.words[2]
    }

    fn seen(self) -> &'a AtomicU64 {
        &self.words[3]
    }
}
