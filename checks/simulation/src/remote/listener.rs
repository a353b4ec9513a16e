//! The listener of a host, as an actor of each of its processes: one of them leads.

use super::host::{host_id, Process};
use super::truth::Time;
use crate::switch::{give_way, linger, Awaited, Pause};
use crate::world::Flag;
use polycache_remote::{presence, Act, Armed, Command, Heard, Listener, PRESENCE_MS};
use std::rc::Rc;
use std::sync::Arc;

/// Nanoseconds between two looks at who leads.
const LOOK: Time = 80_000_000;

pub struct Ear {
    pub process: Rc<Process>,
    pub flag: Arc<Flag>,
}

impl Ear {
    /// Leads when nobody else does, until the process ends.
    pub fn work(&self) {
        loop {
            let process = &self.process;
            let world = process.host.world.clone();
            let me = u64::from(process.me.id);
            let lives = |id: u64| world.is_alive(id as u32);
            if let Some(generation) = process.host.board().lead(me, process.now(), lives) {
                self.note("leads", || format!("generation {generation}"));
                self.lead(generation);
            }
            let until = self.time() + LOOK;
            self.wait(until);
        }
    }

    fn time(&self) -> Time {
        self.process.network.borrow().now
    }

    fn note(&self, what: &'static str, more: impl FnOnce() -> String) {
        let who = (self.process.host.number, self.process.number);
        self.process
            .network
            .borrow_mut()
            .note(what, || format!("h{} p{} {}", who.0, who.1, more()));
    }

    fn wait(&self, until: Time) {
        give_way(Pause::Wait {
            until: Some(until),
            what: Awaited::Turn,
        });
    }

    fn heard(&self) -> Option<Heard> {
        let mut network = self.process.network.borrow_mut();
        let mail = network.mail.get_mut(&self.process.number)?;
        mail.0.pop_front()
    }

    fn lead(&self, generation: u16) {
        let process = &self.process;
        let name = process.network.borrow().name.clone();
        let staleness = process.scenario.staleness;
        let host = host_id(process.host.number);
        let first = self.time();
        let mut listener = Listener::new(name, host, staleness, first);
        let mut looks = 0;
        let mut armed = None;
        loop {
            // Messages and time: one step each.
            let looks_now = self.time() >= looks;
            let heard = match looks_now {
                true => {
                    looks = self.time() + LOOK;
                    // It may have been evicted, or cleared.
                    if let Some(armed) = &armed {
                        process.tell_armed(armed);
                    }
                    Heard::Wanted(process.host.wanted.borrow().clone())
                }
                false => self.heard().unwrap_or(Heard::Woken),
            };
            let is_woken = heard == Heard::Woken;
            if !process.host.board().see(generation, process.now()) {
                self.note("led", String::new);
                process.network.borrow_mut().hang_up(process.number);
                return;
            }
            let mut until = self.time() + LOOK;
            for act in listener.step(heard, process.now()) {
                linger();
                match act {
                    Act::Wait(time) => until = until.min(time.as_nanos() as u64),
                    Act::TellArmed {
                        mark,
                        map,
                        prefixes,
                    } => {
                        let told = Armed::new(generation, mark, prefixes, &map);
                        process.tell_armed(&told);
                        armed = Some(told);
                    }
                    Act::End => {
                        armed = None;
                        self.act(generation, Act::End);
                    }
                    act => self.act(generation, act),
                }
            }
            if is_woken {
                self.wait(until);
            }
        }
    }

    fn act(&self, generation: u16, act: Act) {
        let process = &self.process;
        let validity = process.host.board().validity();
        let send = |command: Command| {
            let mut network = process.network.borrow_mut();
            let request = network.send(process.number, vec![command], &self.flag);
            network.forget(request);
        };
        match act {
            Act::AskMap => process.network.borrow_mut().ask_map(process.number),
            Act::Listen {
                arming,
                map,
                prefixes,
            } => {
                self.note("arms", || format!("{arming}"));
                let mut network = process.network.borrow_mut();
                network.listen(process.number, arming, &map, &prefixes);
            }
            Act::Send(command) => send(command),
            Act::TellPresence => {
                let network = process.network.borrow();
                let key = network.name.presence(host_id(process.host.number));
                drop(network);
                let living = presence(&process.living());
                send(Command::set(key, living, Some(PRESENCE_MS)));
            }
            Act::Void(full_key) => process.void(&full_key),
            Act::VoidGuard(key) => process.void_guard(&key),
            Act::VoidClock => process.void_clock(),
            Act::Clear(prefix) => process.clear_namespace(&prefix),
            Act::ClearAll => process.clear_all(),
            Act::MoveTo(time) => {
                self.note("hears until", || format!("{}", time.as_nanos()));
                validity.move_to(generation, time);
            }
            Act::End => {
                validity.end(generation);
            }
            // The data is always the same here.
            Act::AskIdentity | Act::Wait(_) | Act::TellArmed { .. } => {}
        }
    }
}
