//! Hears of every write for all processes of a host: one of them leads (`spec/remote.md`, "Listener").
//!
//! Each handle that reads has a thread. While another process leads, the thread looks now and then whether that one is
//! still there; a handle that is not used lets its thread sleep.

use super::link::Link;
use super::near::NearStore;
use super::site::Site;
use super::sweep::Sweeping;
use crate::remote::{be_background, Ear};
use crate::tier::Tier;
use polycache_host::{monotonic, without_signals, PerProcess};
use polycache_remote::{
    parse_number, Act, Armed, Board, Command, Fault, Heard, Listener, Map, Prefixes, Reply, Wanted,
};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::{Builder, Thread};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Pause between two looks at who leads.
const LOOK: Duration = Duration::from_millis(100);
/// How often other hosts are told who lives here.
const PRESENCE: Duration = Duration::from_secs(1);
/// Pause after the server did not tell who it is.
const RETRY: Duration = Duration::from_millis(500);
/// A process that ends before that, as a command does, needs no listener.
const SETTLE: Duration = Duration::from_millis(20);
/// Looks without a use of the handle after which its thread sleeps.
const IDLE_LOOKS: u32 = 20;

/// The thread of a handle.
#[derive(Default)]
pub(crate) struct Listening {
    /// The process in which it runs; 0: it does not.
    process: AtomicU32,
    thread: PerProcess<Mutex<Option<Thread>>>,
    /// It sleeps until the handle is used.
    sleeps: AtomicBool,
    /// How often the handle missed fresh copies.
    asked: AtomicU64,
    /// The server refused to tell of writes.
    pub refused: AtomicBool,
}

impl Listening {
    /// An operation found no copies that may be served: somebody should lead, or the database is another one.
    pub fn ask(&self, link: &Arc<Link>) {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.begin(link);
    }

    /// Sees to it that the thread runs. A forked child has one of its own.
    pub fn begin(&self, link: &Arc<Link>) {
        let process = crate::random::process();
        let before = self.process.load(Ordering::Acquire);
        if before == process {
            if self.sleeps.load(Ordering::Acquire) && self.sleeps.swap(false, Ordering::AcqRel) {
                self.wake();
            }
            return;
        }
        let begins =
            self.process
                .compare_exchange(before, process, Ordering::AcqRel, Ordering::Relaxed);
        if begins.is_err() {
            return;
        }
        // A forked child counts from here on.
        link.report();
        let weak = Arc::downgrade(link);
        // A signal is the program's business, and would end a wait for the server.
        let thread = without_signals(|| {
            Builder::new()
                .name("polycache-remote".into())
                .stack_size(256 << 10)
                .spawn(move || work(&weak))
        });
        match thread {
            Ok(handle) => *self.thread() = Some(handle.thread().clone()),
            // The next read asks again; until then reads go through.
            Err(_) => self.process.store(0, Ordering::Release),
        }
    }

    pub fn wake(&self) {
        if let Some(thread) = &*self.thread() {
            thread.unpark();
        }
    }

    fn thread(&self) -> std::sync::MutexGuard<'_, Option<Thread>> {
        self.thread
            .get()
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// The uses of a handle so far.
fn uses(link: &Link) -> u64 {
    link.counts.near_hits.load(Ordering::Relaxed) + link.listening.asked.load(Ordering::Relaxed)
}

/// Everything that the thread does, until the handle is closed or dropped.
fn work(link: &Weak<Link>) {
    be_background();
    std::thread::sleep(SETTLE);
    let (mut used, mut idle) = (0, 0);
    loop {
        let pause = {
            let Some(link) = open(link) else { return };
            let now = uses(&link);
            idle = if now == used { idle + 1 } else { 0 };
            used = now;
            match link.site().1.or_else(|| learn_site(&link).ok().flatten()) {
                Some(site) => {
                    let site = with_board(&link, site);
                    let lives = |participant: u64| lives(&link, participant);
                    if link.staleness.is_zero() {
                        // It hears of nothing, so it does not lead, and looks itself whether the database is another
                        // one. Others must know all the same who lives here.
                        let _ = look_at_identity(&link, &site);
                        if !site.board().is_led(monotonic(), lives) {
                            let _ = link.send(&[link.presence(link.host())]);
                        }
                        idle = 0;
                        PRESENCE
                    } else {
                        let generation = site.board().lead(me(&link), monotonic(), lives);
                        if let Some(generation) = generation {
                            lead(&link, &site, generation);
                        }
                        LOOK
                    }
                }
                None => RETRY,
            }
        };
        if let Some(link) = open(link) {
            link.report();
        }
        if idle < IDLE_LOOKS {
            std::thread::park_timeout(pause);
            continue;
        }
        // An operation that finds no fresh copies wakes it.
        let sleeps = |sleeps| {
            let link = open(link)?;
            link.listening.sleeps.store(sleeps, Ordering::Release);
            Some(())
        };
        if sleeps(true).is_none() {
            return;
        }
        std::thread::park();
        if sleeps(false).is_none() {
            return;
        }
        idle = 0;
    }
}

/// The database with its board, if there is one for it.
fn with_board(link: &Link, site: Arc<Site>) -> Arc<Site> {
    // A board for one that is gone would end the leader of what it has become.
    if site.lost_its_board() && look_at_identity(link, &site) == Ok(true) {
        return link.site().1.unwrap_or(site);
    }
    match site.with_board(&link.near, monotonic()) {
        Some(with_board) => {
            let with_board = Arc::new(with_board);
            link.set_site(Some(with_board.clone()));
            with_board
        }
        None => site,
    }
}

fn open(link: &Weak<Link>) -> Option<Arc<Link>> {
    link.upgrade().filter(|link| !link.is_closed())
}

/// The number of this process' participant on the board.
fn me(link: &Link) -> u64 {
    match &link.near {
        NearStore::Host(store) => store.participant_number().unwrap_or(0) >> 48,
        NearStore::Memory(_) => 1,
    }
}

fn lives(link: &Link, participant: u64) -> bool {
    match &link.near {
        NearStore::Host(store) => store.is_participant(participant as u32),
        NearStore::Memory(_) => participant == 1,
    }
}

/// Asks the server who it is, and for its clock: the first set is born then. Draws its identity if it has none. `None` where there
/// can be no copies.
///
/// # Errors
/// A fault of the server.
pub(super) fn learn_site(link: &Link) -> Result<Option<Arc<Site>>, Fault> {
    let Some(identity) = identity(link)? else {
        return Ok(None);
    };
    Ok(link.found_site(&identity))
}

fn identity(link: &Link) -> Result<Option<Vec<u8>>, Fault> {
    let mut ask = vec![link.ask_identity()];
    // Another server's may be gone, and who the data is must be known all the same.
    if !link.transport.is_cluster() {
        ask.push(Command::get(link.name.clock()));
    }
    for _ in 0..2 {
        let mut replies = link.send(&ask)?.into_iter();
        let identity = replies.next();
        link.last_clear
            .hear(replies.next().as_ref().map_or(0, parse_number));
        match identity {
            Some(Reply::Bytes(identity)) => return Ok(Some(identity)),
            Some(Reply::Nil) => {}
            _ => return Ok(None),
        }
        let (one, other) = (crate::random::mark(), crate::random::mark());
        let new = format!("{one:016x}{other:016x}").into_bytes();
        link.send(&[Command::set_new(link.name.id(), new)])?;
    }
    Ok(None)
}

/// Copies of another database are kept apart. True if it is another one.
fn look_at_identity(link: &Link, site: &Site) -> Result<bool, Fault> {
    let Some(identity) = identity(link)? else {
        return Ok(false);
    };
    if site.outer.as_bytes().ends_with(&identity) {
        return Ok(false);
    }
    link.another_site(site, &identity);
    Ok(true)
}

/// The leader's work, until another one leads, or the handle is closed.
fn lead(link: &Arc<Link>, site: &Arc<Site>, generation: u16) {
    let since_1970 = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let host = link.host();
    let first_beacon = since_1970.as_nanos() as u64;
    let (sender, mail) = channel();
    let mut leader = Leader {
        link,
        site,
        board: site.board(),
        generation,
        since: since_1970.as_millis() as u64,
        host,
        sender,
        over: Arc::default(),
        gives_up: false,
        until: monotonic(),
        looks: monotonic(),
        armed: None,
        wanted: Wanted::default(),
        marks: link.near.marks(&site.outer).ok(),
        sweeping: Sweeping::default(),
    };
    let mut listener = Listener::new(link.name.clone(), host, link.staleness, first_beacon);
    leader.run(&mut listener, &mail);
    leader.over.store(true, Ordering::Release);
    leader.board.resign(generation);
}

struct Leader<'a> {
    link: &'a Arc<Link>,
    site: &'a Arc<Site>,
    board: Board<'a>,
    generation: u16,
    /// When it began to lead, in milliseconds since 1970.
    since: u64,
    host: u64,
    sender: Sender<Heard>,
    /// Ends the connections of the last arming.
    over: Arc<AtomicBool>,
    /// The database is another one than before, or did not tell.
    gives_up: bool,
    until: Duration,
    /// When it looks next at what is wanted.
    looks: Duration,
    /// What readers are told while cached reads are heard of.
    armed: Option<Armed>,
    /// What was wanted when it looked last. The entry may be evicted: to arm anew for that would clear all copies.
    wanted: Wanted,
    /// The guards of the keys of cached reads: a busy server pushes thousands of keys a second.
    marks: Option<Arc<dyn Tier>>,
    sweeping: Sweeping,
}

impl Leader<'_> {
    fn run(&mut self, listener: &mut Listener, mail: &Receiver<Heard>) {
        let mut heard = Heard::Woken;
        loop {
            // A forked child has no thread, and its parent's board words may be its own copy's.
            if self.link.is_closed() || !self.board.see(self.generation, monotonic()) {
                return;
            }
            let refused = self.link.listening.refused.load(Ordering::Relaxed);
            self.board.tell(self.generation, self.since, refused);
            self.link.report();
            self.until = monotonic() + LOOK;
            for act in listener.step(heard, monotonic()) {
                self.act(act);
            }
            if self.gives_up {
                return;
            }
            if monotonic() >= self.looks {
                self.looks = monotonic() + LOOK;
                heard = Heard::Wanted(self.look_at_reads());
                continue;
            }
            let pause = self.until.saturating_sub(monotonic());
            heard = match mail.recv_timeout(pause) {
                Ok(heard) => heard,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Heard::Woken,
            };
        }
    }

    /// What the processes of the host want to be heard of. What they are told may have been evicted, or cleared.
    fn look_at_reads(&mut self) -> Prefixes {
        let (near, outer, now) = (&self.link.near, &self.site.outer, self.link.clock.now());
        if let Some(armed) = &self.armed {
            near.tell_armed(outer, armed, now);
        }
        self.wanted = near.wanted(outer).after(&self.wanted, now);
        self.wanted.at(now)
    }

    fn act(&mut self, act: Act) {
        let (link, outer) = (self.link, self.site.outer.as_str());
        match act {
            Act::AskMap => {
                let map = link.transport.map(link.timeout);
                let _ = self.sender.send(Heard::Map(map));
            }
            Act::Listen {
                arming,
                map,
                prefixes,
            } => self.listen(arming, &map, prefixes),
            Act::Send(command) => {
                // What nobody hears of shows that it failed.
                let _ = link.send(&[command]);
            }
            Act::TellPresence => {
                let _ = link.send(&[link.presence(self.host)]);
                self.sweeping.look(link);
            }
            Act::Void(full_key) => link.near.void(outer, &full_key),
            Act::VoidGuard(key) => {
                if let Some(marks) = &self.marks {
                    // A handle that was closed meanwhile serves nothing.
                    let _ = marks.delete(&key);
                }
            }
            Act::TellArmed {
                mark,
                map,
                prefixes,
            } => {
                let armed = Armed::new(self.generation, mark, prefixes, &map);
                link.near.tell_armed(outer, &armed, link.clock.now());
                self.armed = Some(armed);
            }
            Act::VoidClock => link.near.void_clock(outer),
            Act::Clear(namespace) => {
                link.near.void_floor(outer, &namespace);
                link.near.clear(outer, &namespace);
            }
            Act::ClearAll => link.near.clear(outer, b"::"),
            Act::MoveTo(time) => {
                link.listening.refused.store(false, Ordering::Relaxed);
                self.board.validity().move_to(self.generation, time);
            }
            Act::End => {
                self.armed = None;
                self.over.store(true, Ordering::Release);
                self.board.validity().end(self.generation);
            }
            Act::AskIdentity => self.ask_identity(),
            Act::Wait(until) => self.until = self.until.min(until),
        }
    }

    fn listen(&mut self, arming: u64, map: &Map, prefixes: Vec<Vec<u8>>) {
        self.over.store(true, Ordering::Release);
        self.over = Arc::default();
        let prefixes: Arc<[Vec<u8>]> = prefixes.into();
        for (place, node) in map.nodes.iter().enumerate() {
            let ear = Ear {
                arming,
                node: place,
                heard: self.sender.clone(),
                over: self.over.clone(),
                refused: Arc::default(),
            };
            let (transport, node) = (self.link.transport.clone(), node.clone());
            let (link, prefixes) = (self.link.clone(), prefixes.clone());
            let hears = move || {
                be_background();
                transport.listen(&node, &prefixes, &ear);
                if ear.is_refused() {
                    link.listening.refused.store(true, Ordering::Relaxed);
                }
                ear.ended();
            };
            let thread = Builder::new()
                .name("polycache-listen".into())
                .stack_size(256 << 10)
                .spawn(hears);
            if thread.is_err() {
                // It is tried again after a pause, as a connection that ended.
                let _ = self.sender.send(Heard::Ended { arming });
            }
        }
    }

    /// Copies of another database are kept apart, with a board of their own.
    fn ask_identity(&mut self) {
        match look_at_identity(self.link, self.site) {
            Ok(false) => {}
            // Without an answer it may be another one, which other processes of the host have seen: it is asked again.
            Ok(true) | Err(_) => self.gives_up = true,
        }
    }
}
