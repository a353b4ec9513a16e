//! A caller: it does one operation after another, by the machines.

use super::host::{Guard, Process};
use super::network::{entry_of, serial_of};
use super::scenario::NAMESPACES;
use super::truth::{Ack, Load as Ran, Read, Serial, Span, Time};
use crate::switch::{give_way, Awaited, Pause};
use crate::world::Flag;
use fastrand::Rng;
use polycache_remote::{
    head, Bounds, Change, Changed, Changing, Clear, Command, Delete, Event, Fault, Found, Get,
    Load, Loaded, Permit, Set, Step, HEAD_LEN,
};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

pub struct Caller {
    pub number: usize,
    pub process: Rc<Process>,
    pub flag: Arc<Flag>,
    /// Nanoseconds for which the scheduler kept it from running.
    pub late: Rc<Cell<u64>>,
    pub rng: RefCell<Rng>,
}

impl Caller {
    /// Everything that it does.
    pub fn work(&self) {
        let scenario = self.process.scenario.clone();
        for _ in 0..scenario.operations {
            let pause = self.rng.borrow_mut().u64(0..=scenario.longest_pause);
            if pause > 0 {
                self.sleep(self.time() + pause);
            }
            self.operate();
        }
    }

    pub(super) fn time(&self) -> Time {
        self.process.network.borrow().now
    }

    pub(super) fn note(&self, what: &'static str, more: impl FnOnce() -> String) {
        let who = (self.process.host.number, self.process.number, self.number);
        self.process.network.borrow_mut().note(what, || {
            format!("h{} p{} c{} {}", who.0, who.1, who.2, more())
        });
    }

    pub(super) fn wait(&self, until: Time) {
        give_way(Pause::Wait {
            until: Some(until),
            what: Awaited::Load,
        });
    }

    fn sleep(&self, until: Time) {
        while self.time() < until {
            self.wait(until);
        }
    }

    fn operate(&self) {
        let scenario = &self.process.scenario;
        let (key, drawn) = {
            let mut rng = self.rng.borrow_mut();
            (rng.usize(..scenario.keys.len()), rng.u32(..100))
        };
        let (began, late) = (self.time(), self.late.get());
        let timeout = scenario.timeout;
        if self.rng.borrow_mut().u32(..100) < scenario.cached {
            return self.read(key);
        }
        let mut below = scenario.get;
        let ms = Duration::from_millis;
        let (what, most) = if drawn < below {
            self.get(key);
            ("get", timeout + ms(12))
        } else if drawn < add(&mut below, scenario.set) {
            self.set(key);
            ("set", timeout * 2)
        } else if drawn < add(&mut below, scenario.delete) {
            self.delete(key);
            ("delete", timeout)
        } else if drawn < add(&mut below, scenario.clear) {
            self.clear(key);
            ("clear", timeout * 2)
        } else if drawn < add(&mut below, scenario.change) {
            self.change(key);
            ("change", timeout * 4 + ms(12))
        } else {
            let loaded = self.load(key);
            let waits = scenario.wait_timeout + scenario.lease_timeout;
            ("load", timeout * 6 + waits + ms(300) + loaded)
        };
        let late = self.late.get() - late;
        let took = (self.time() - began).saturating_sub(late);
        self.process.network.borrow_mut().truth.spans.push(Span {
            what,
            took,
            most: most.as_nanos() as u64 + 1_000_000,
        });
    }

    /// Sends, and waits for the replies for as long as the option says.
    fn exchange(&self, commands: Vec<Command>) -> Event {
        let process = &self.process;
        let timeout = process.scenario.timeout;
        if process.breaker.ask(process.now(), timeout) == Permit::Refused {
            self.note("breaker refuses", String::new);
            return Event::Fault(Fault::Open);
        }
        let deadline = self.time() + timeout.as_nanos() as u64;
        let request = process
            .network
            .borrow_mut()
            .send(process.number, commands, &self.flag);
        loop {
            let replies = process.network.borrow_mut().take_replies(request);
            let random = self.rng.borrow_mut().u64(..);
            if let Some(replies) = replies {
                process.breaker.tell(Ok(()), process.now(), random);
                return Event::Replies(replies);
            }
            if self.time() >= deadline {
                process.network.borrow_mut().forget(request);
                let fault = Fault::Unreachable;
                process.breaker.tell(Err(fault), process.now(), random);
                self.note("timeout", String::new);
                return Event::Fault(fault);
            }
            self.wait(deadline);
        }
    }

    fn drive<D>(&self, mut step: impl FnMut(Event) -> Step<D>) -> D {
        let mut event = Event::Woken;
        loop {
            match step(event) {
                Step::Done(done) => return done,
                Step::Send(commands) => event = self.exchange(commands),
                Step::Wait { until } => {
                    self.wait(until.as_nanos() as u64);
                    event = Event::Woken;
                }
            }
        }
    }

    fn saw(&self, key: usize, begin: Time, value: Option<Serial>, near: bool) {
        let end = self.time();
        let host = self.process.host.number;
        self.note(if near { "near hit" } else { "read" }, || {
            format!("k{key} {value:?} since {begin}")
        });
        self.process.network.borrow_mut().truth.reads.push(Read {
            key,
            host,
            begin,
            end,
            value,
            near,
        });
    }

    fn acked(&self, key: usize, begin: Time, value: Option<Serial>) {
        let end = self.time();
        let host = self.process.host.number;
        let mut network = self.process.network.borrow_mut();
        if let Some(serial) = value {
            network.acknowledged(key, serial, begin);
        }
        network.truth.acks.push(Ack {
            key,
            host,
            begin,
            end,
            value,
        });
    }

    /// Records what a read found; returns the record's head if it came from the server.
    fn found(&self, key: usize, begin: Time, found: &Found) -> Option<Vec<u8>> {
        match found {
            Found::Near(entry) => self.saw(key, begin, serial_of(entry), true),
            Found::Remote(bytes) => {
                self.saw(key, begin, serial_of(&bytes[HEAD_LEN..]), false);
                return Some(head(bytes).to_vec());
            }
            Found::Missing => self.saw(key, begin, None, false),
            Found::Foreign(_) => self.note("foreign", String::new),
            Found::Fault(_) => self.note("read fault", String::new),
        }
        None
    }

    fn get(&self, key: usize) -> Option<Vec<u8>> {
        let begin = self.time();
        let names = self.process.network.borrow().names(key);
        let mut machine = Get::new(self.process.now());
        let found = self.drive(|event| {
            machine.step(
                &mut self.process.key(key),
                &names,
                event,
                self.process.now(),
            )
        });
        self.found(key, begin, &found)
    }

    /// A new value, and its entry.
    fn value(&self, key: usize, loaded: Option<Time>) -> (Serial, Vec<u8>) {
        let mut network = self.process.network.borrow_mut();
        let serial = network.truth.value(loaded);
        let now = network.now_ms();
        let expiring = self.rng.borrow_mut().u32(..100) < self.process.scenario.expiring;
        let expires = if expiring { now + 30 } else { 0 };
        (serial, entry_of(key, serial, expires, now))
    }

    fn set(&self, key: usize) {
        let begin = self.time();
        let (serial, entry) = self.value(key, None);
        self.note("sets", || format!("k{key} v{serial}"));
        let names = self.process.network.borrow().names(key);
        let mut machine = Set::new(&entry);
        let done = self.drive(|event| machine.step(&mut self.process.key(key), &names, event));
        match done {
            Ok(()) => {
                self.note("set", || format!("k{key} v{serial}"));
                self.acked(key, begin, Some(serial));
            }
            Err(_) => self.note("set failed", || format!("k{key} v{serial}")),
        }
    }

    fn delete(&self, key: usize) {
        let begin = self.time();
        let names = self.process.network.borrow().names(key);
        let mut machine = Delete::new();
        let done = self.drive(|event| machine.step(&mut self.process.key(key), &names, event));
        if done.is_ok() {
            self.note("deleted", || format!("k{key}"));
            self.acked(key, begin, None);
        }
    }

    /// Clears the innermost namespace around the key.
    fn clear(&self, key: usize) {
        let begin = self.time();
        let scenario = self.process.scenario.clone();
        let names = self.process.network.borrow().names(key);
        let mut machine = Clear::default();
        let done = self.drive(|event| machine.step(&mut self.process.key(key), &names, event));
        if done.is_ok() {
            self.note("cleared", || format!("around k{key}"));
            let namespace = NAMESPACES
                .iter()
                .position(|parts| *parts == scenario.keys[key].0.as_slice());
            for other in 0..scenario.keys.len() {
                if namespace.is_some_and(|one| scenario.is_cleared(one, other)) {
                    self.acked(other, begin, None);
                }
            }
        }
    }

    /// Adds, or exchanges what it has read.
    fn change(&self, key: usize) {
        let head = match self.rng.borrow_mut().bool() {
            true => None,
            false => Some(()),
        };
        let head = head.and_then(|()| self.get(key));
        let begin = self.time();
        let (serial, entry) = self.value(key, None);
        let names = self.process.network.borrow().names(key);
        let change = match &head {
            Some(head) => Change::Exchange {
                head,
                entry: &entry,
            },
            None => Change::Add(&entry),
        };
        let mut machine = Changing::new(change);
        let done = self.drive(|event| machine.step(&mut self.process.key(key), &names, event));
        if done == Changed::Done {
            self.note(if head.is_some() { "exchanged" } else { "added" }, || {
                format!("k{key} v{serial}")
            });
            self.acked(key, begin, Some(serial));
        }
    }

    /// get_or_set; returns how long its own loader took.
    fn load(&self, key: usize) -> Duration {
        let begin = self.time();
        let process = &self.process;
        let scenario = &process.scenario;
        let names = process.network.borrow().names(key);
        let bounds = Bounds {
            wait_timeout: scenario.wait_timeout,
            lease_timeout: scenario.lease_timeout,
        };
        let mut machine = Load::new(bounds, process.now());
        let mut event = Event::Woken;
        let mut took = Duration::ZERO;
        let mut next = None;
        loop {
            let step = next.take().unwrap_or_else(|| {
                let event = std::mem::replace(&mut event, Event::Woken);
                let Ok(step) = machine.step(
                    &mut process.key(key),
                    &mut Guard(process.key(key)),
                    &names,
                    event,
                    process.now(),
                );
                step
            });
            match step {
                Loaded::Found(found) => {
                    self.found(key, begin, &found);
                    return took;
                }
                Loaded::Send(commands) => event = self.exchange(commands),
                Loaded::Wait { until } => self.wait(until.as_nanos() as u64),
                Loaded::Load => {
                    let began = self.time();
                    let (takes, fails) = {
                        let mut rng = self.rng.borrow_mut();
                        (
                            rng.u64(0..=scenario.longest_load),
                            rng.u32(..100) < scenario.failing,
                        )
                    };
                    let (serial, entry) = self.value(key, Some(began));
                    self.note("loads", || format!("k{key} v{serial}"));
                    self.sleep(began + takes);
                    took += Duration::from_nanos(self.time() - began);
                    process.network.borrow_mut().truth.loads.push(Ran { key });
                    let (near, guard) = (&mut process.key(key), &mut Guard(process.key(key)));
                    let now = process.now();
                    next = Some(match fails {
                        true => machine.end(near, guard, &names, now),
                        false => machine.store(near, guard, &names, &entry, now),
                    });
                }
                Loaded::Stored => return self.over("stored", took),
                Loaded::Refused => return self.over("refused", took),
                Loaded::Unstored(_) => return self.over("unstored", took),
                Loaded::Released => return self.over("released", took),
                Loaded::TimedOut => return self.over("timed out", took),
            }
        }
    }

    fn over(&self, what: &'static str, took: Duration) -> Duration {
        self.note(what, String::new);
        took
    }
}

fn add(below: &mut u32, more: u32) -> u32 {
    *below += more;
    *below
}
