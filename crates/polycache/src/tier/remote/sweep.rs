//! Gives the space of cleared namespaces back: the leader of a host looks now and then whether there are some.

use super::link::Link;
use super::served_keys::{data_keys, with_headers};
use crate::remote::be_background;
use polycache_remote::{
    end_swept, keep_sweep, leave_sweep, next_swept, remove_cleared, swept, take_sweep, Command,
    Fault, Reply, Swept,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Looks of the leader, of which one asks for cleared namespaces.
const LOOKS: u32 = 5;
/// The shortest pause between two steps.
const PAUSE: Duration = Duration::from_millis(1);

/// Whether a host sweeps, and when its leader looks again.
#[derive(Default)]
pub(super) struct Sweeping {
    looks: u32,
    runs: Arc<AtomicBool>,
}

impl Sweeping {
    /// The leader looks, once a second. A thread does the work: it may take minutes.
    pub fn look(&mut self, link: &Arc<Link>) {
        self.looks += 1;
        if self.looks % LOOKS != 0 || self.runs.load(Ordering::Acquire) {
            return;
        }
        let waits = link.send(&[next_swept(&link.name)]);
        if !waits.is_ok_and(|replies| replies.first().and_then(swept).is_some()) {
            return;
        }
        self.runs.store(true, Ordering::Release);
        let (link, runs) = (Arc::downgrade(link), self.runs.clone());
        let work = move || {
            be_background();
            // After a fault, which ends it, the leader's next look goes on.
            let _ = sweep(&link);
            runs.store(false, Ordering::Release);
        };
        let thread = Builder::new().name("polycache-sweep".into());
        if thread.stack_size(256 << 10).spawn(work).is_err() {
            self.runs.store(false, Ordering::Release);
        }
    }
}

/// The handle may be closed or dropped in every pause.
fn open(link: &Weak<Link>) -> Option<Arc<Link>> {
    link.upgrade().filter(|link| !link.is_closed())
}

fn one(link: &Link, command: Command) -> Result<Option<Reply>, Fault> {
    Ok(link.send(&[command])?.pop())
}

/// Sweeps until nothing is left, or the handle is closed.
fn sweep(link: &Weak<Link>) -> Result<(), Fault> {
    let Some(at) = open(link) else {
        return Ok(());
    };
    let host = at.host();
    // What stands for OK differs between clients; nil says that another host has it.
    let taken = one(&at, take_sweep(&at.name, host))?;
    if matches!(taken, None | Some(Reply::Nil | Reply::Error(_))) {
        return Ok(());
    }
    drop(at);
    let done = sweep_all(link, host);
    if let Some(at) = open(link) {
        one(&at, leave_sweep(&at.name, host))?;
    }
    done
}

fn sweep_all(link: &Weak<Link>, host: u64) -> Result<(), Fault> {
    loop {
        let Some(at) = open(link) else {
            return Ok(());
        };
        let Some(next) = one(&at, next_swept(&at.name))?.as_ref().and_then(swept) else {
            return Ok(());
        };
        let primaries = at.primaries();
        drop(at);
        for primary in 0..primaries {
            if !sweep_primary(link, primary, &next, host)? {
                return Ok(());
            }
        }
        if let Some(at) = open(link) {
            one(&at, end_swept(&at.name, &next))?;
        }
    }
}

/// Removes what was cleared of a namespace from one primary; false when the handle was closed.
fn sweep_primary(
    link: &Weak<Link>,
    primary: usize,
    swept: &Swept,
    host: u64,
) -> Result<bool, Fault> {
    let mut cursor = 0;
    loop {
        let Some(at) = open(link) else {
            return Ok(false);
        };
        let began = Instant::now();
        // `shop:` begins the namespace's own keys, `shop::k`, and those of the namespaces in it.
        let around = swept.namespace.strip_suffix(b":").unwrap_or_default();
        let around: &[u8] = if around == b":" { b"" } else { around };
        let (next, keys) = data_keys(&at, primary, cursor, around)?;
        let read = with_headers(&at, keys)?;
        let mut commands = vec![keep_sweep(&at.name, host)];
        commands.extend(
            read.iter()
                .filter_map(|one| remove_cleared(&one.key, &one.header, one.floor)),
        );
        at.send(&commands)?;
        drop(at);
        if next == 0 {
            return Ok(true);
        }
        cursor = next;
        // At most half of the time is the sweep's.
        std::thread::sleep(began.elapsed().max(PAUSE));
    }
}
