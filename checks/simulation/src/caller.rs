//! A caller: a thread or task of a process, which does one operation after another.

use crate::driver::get_or_set;
use crate::history::{
    Answer, Answered, Call, Hit, Instant, Miss, Note, Outcome, Part, Serial, Who, Write, Written,
    NEVER,
};
use crate::process::Process;
use crate::scenario::{Scenario, NAMESPACES};
use crate::switch::{access, give_way, linger, Awaited, Pause, Resumed};
use crate::world::{Flag, World};
use fastrand::Rng;
use polycache_operations::Part as Taken;
use std::cell::{Cell, RefCell};
use std::hash::Hash;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// One caller of a process.
pub struct Caller {
    pub who: Who,
    pub process: Rc<Process>,
    pub world: Arc<World>,
    pub flag: Arc<Flag>,
    /// Nanoseconds for which the scheduler kept it from running.
    pub late: Rc<Cell<u64>>,
    pub rng: RefCell<Rng>,
    /// Numbers of the flights of its process, by the caller that leads them.
    pub leads: Rc<RefCell<Vec<(usize, usize)>>>,
}

/// How a loader behaves.
pub struct LoaderPlan {
    /// `None`: it hangs.
    pub takes: Option<Duration>,
    pub fails: bool,
    pub is_unstorable: bool,
}

impl Caller {
    /// Everything that it does.
    pub fn work(&self) {
        for _ in 0..self.scenario().operations {
            let pause = self.random(self.scenario().longest_pause);
            if pause > 0 {
                self.wait_whole(
                    Some(self.world.time() + Duration::from_nanos(pause)),
                    Awaited::Turn,
                );
            }
            self.operate();
        }
    }

    fn operate(&self) {
        let work = self.scenario().work;
        let key = self.random(self.scenario().keys.len() as u64 - 1) as usize;
        let drawn = self.random(99) as u32;
        let mut below = work.get;
        if drawn < below {
            self.get(key);
            return;
        }
        below += work.set;
        if drawn < below {
            return self.set(key);
        }
        below += work.delete;
        if drawn < below {
            return self.delete(key);
        }
        below += work.clear;
        if drawn < below {
            return self.clear(self.random(NAMESPACES.len() as u64 - 1) as usize);
        }
        below += work.take;
        if drawn < below {
            return self.take(key);
        }
        below += work.touch;
        if drawn < below {
            return self.touch(key);
        }
        get_or_set(self, key);
    }

    fn scenario(&self) -> &Scenario {
        &self.process.scenario
    }

    fn random(&self, most: u64) -> u64 {
        self.rng.borrow_mut().u64(0..=most)
    }

    fn percent(&self, chance: u32) -> bool {
        self.random(99) < u64::from(chance)
    }

    /// Writes a line of the history.
    pub fn note(&self, key: Option<usize>, note: Note) -> Instant {
        self.process.note(self.who, key, note)
    }

    /// Waits until that time, until it is woken, or until it is cancelled.
    pub fn wait(&self, until: Option<Duration>, what: Awaited) -> Resumed {
        let until = until.map(|until| until.as_nanos() as u64);
        give_way(Pause::Wait { until, what })
    }

    /// Waits until that time whatever wakes it; only a cancellation ends the wait.
    pub fn wait_whole(&self, until: Option<Duration>, what: Awaited) -> Resumed {
        loop {
            if self.wait(until, what) == Resumed::Cancelled {
                return Resumed::Cancelled;
            }
            if until.is_some_and(|until| self.world.time() >= until) {
                return Resumed::Due;
            }
        }
    }

    /// A value of the key that was never made before.
    pub fn new_value(&self, key: usize) -> Serial {
        let scenario = self.scenario();
        let (block, most) = (scenario.geometry.block_size, scenario.geometry.max_record());
        let filler = if self.percent(scenario.too_large) {
            most
        } else if self.percent(scenario.large) && most > block {
            // Its key, its own number and the headers take some of it.
            block + self.random((most - block).saturating_sub(120))
        } else {
            self.random(scenario.longest_value as u64)
        };
        self.process
            .history
            .borrow_mut()
            .value(key, filler as usize)
    }

    /// Reads the key.
    pub fn get(&self, key: usize) -> Option<Serial> {
        let start = self.note(Some(key), Note::Gets);
        let found = self.process.get(key);
        match found {
            Some(serial) => self.hit(key, serial, start),
            None => self.miss(key, start),
        }
        found
    }

    /// A value was read.
    pub fn hit(&self, key: usize, serial: Serial, start: Instant) {
        self.seen(key, serial, start, Note::Hit(serial));
    }

    /// A key was not there.
    fn miss(&self, key: usize, start: Instant) {
        let evicted = self.process.evicted();
        let end = self.note(Some(key), Note::Missed);
        self.process.history.borrow_mut().misses.push(Miss {
            key,
            start,
            end,
            evicted,
        });
    }

    fn seen(&self, key: usize, serial: Serial, start: Instant, note: Note) {
        let end = self.note(Some(key), note);
        self.process.history.borrow_mut().hits.push(Hit {
            key,
            serial,
            start,
            end,
        });
    }

    /// Stores a new value.
    pub fn set(&self, key: usize) {
        let serial = self.new_value(key);
        let entry = self.process.entry(serial);
        self.write(
            Some(key),
            Note::Sets(serial),
            Written::Set(key, serial),
            || self.process.put(key, &entry).is_ok(),
        );
    }

    fn delete(&self, key: usize) {
        self.write(Some(key), Note::Deletes, Written::Delete(key), || {
            self.process.delete(key);
            true
        });
    }

    /// Deletes the key and gets its value.
    fn take(&self, key: usize) {
        let evicted = self.process.evicted();
        let start = self.note(Some(key), Note::Takes);
        let number = self.began(Written::Take(key, None), start, evicted);
        loop {
            match self.process.peek(key) {
                Some((hit, entry)) => {
                    linger();
                    if self.process.remove(key, hit) {
                        let Some(serial) = self.process.read(key, &entry) else {
                            break;
                        };
                        self.seen(key, serial, start, Note::Took(serial));
                        let took = Written::Take(key, Some(serial));
                        self.process.history.borrow_mut().writes[number].what = took;
                        break;
                    }
                }
                None => {
                    linger();
                    if self.process.invalidate_loads(key) {
                        self.miss(key, start);
                        break;
                    }
                }
            }
        }
        let mut history = self.process.history.borrow_mut();
        history.writes[number].end = history.lines.len() as Instant - 1;
        drop(history);
        access();
    }

    /// Writes the present entry again, with other times.
    fn touch(&self, key: usize) {
        let start = self.note(Some(key), Note::Touches);
        loop {
            let Some((hit, entry)) = self.process.peek(key) else {
                self.miss(key, start);
                break;
            };
            linger();
            match self.process.replace(key, hit, &entry) {
                Ok(false) => {}
                Ok(true) => {
                    if let Some(serial) = self.process.read(key, &entry) {
                        self.seen(key, serial, start, Note::Touched(serial));
                    }
                    break;
                }
                Err(_) => {
                    self.note(Some(key), Note::Failed);
                    break;
                }
            }
        }
        access();
    }

    fn clear(&self, namespace: usize) {
        self.write(
            None,
            Note::Clears(namespace),
            Written::Clear(namespace),
            || {
                self.process.clear(namespace);
                true
            },
        );
    }

    fn write(&self, key: Option<usize>, note: Note, what: Written, work: impl FnOnce() -> bool) {
        let evicted = self.process.evicted();
        let start = self.note(key, note);
        let number = self.began(what, start, evicted);
        let done = work();
        let end = self.note(key, if done { Note::Done } else { Note::Failed });
        let mut history = self.process.history.borrow_mut();
        history.writes[number].end = end;
        history.writes[number].failed = !done;
        drop(history);
        access();
    }

    /// A write begins; its number.
    fn began(&self, what: Written, start: Instant, evicted: u64) -> usize {
        let mut history = self.process.history.borrow_mut();
        history.writes.push(Write {
            what,
            start,
            end: NEVER,
            failed: false,
            evicted,
        });
        history.writes.len() - 1
    }

    /// A call of get_or_set begins.
    pub fn calls(&self, key: usize) -> usize {
        let start = self.note(Some(key), Note::Calls);
        let mut history = self.process.history.borrow_mut();
        history.calls.push(Call {
            key,
            who: self.who,
            start,
            began: self.world.now(),
            late: self.late.get(),
            parts: Vec::new(),
            own: 0,
            answer: None,
        });
        history.calls.len() - 1
    }

    /// The call takes part in a flight; returns the flight's number.
    pub fn takes_part<K: Eq + Hash + Clone, V: Clone, E: Clone, F>(
        &self,
        call: usize,
        key: usize,
        taken: &Taken<K, V, E, F>,
    ) -> usize {
        let joins = matches!(taken, Taken::Joins(_));
        let at = self.note(Some(key), if joins { Note::Joins } else { Note::Leads });
        let mut history = self.process.history.borrow_mut();
        let mut leads = self.leads.borrow_mut();
        // Callers join only the newest flight of a key.
        let newest = leads.iter().rev().find(|(of, _)| *of == key);
        let flight = match newest {
            Some((_, flight)) if joins => *flight,
            _ => {
                history.flights += 1;
                leads.push((key, history.flights));
                history.flights
            }
        };
        history.calls[call].parts.push(Part { flight, at });
        flight
    }

    /// A call of get_or_set ends.
    pub fn answered(&self, call: usize, key: usize, answer: Answer) {
        let at = self.note(Some(key), Note::Answered(answer));
        self.process.history.borrow_mut().calls[call].answer = Some(Answered {
            answer,
            at,
            time: self.world.now(),
            late: self.late.get(),
        });
        access();
    }

    /// What the next loader does.
    pub fn plan_loader(&self) -> LoaderPlan {
        let loaders = self.scenario().loaders;
        let hangs = self.percent(loaders.hanging);
        let span = loaders.longest.max(loaders.shortest) - loaders.shortest;
        let takes = loaders.shortest + self.random(span);
        LoaderPlan {
            takes: (!hangs).then(|| Duration::from_nanos(takes)),
            fails: self.percent(loaders.failing),
            is_unstorable: self.percent(loaders.unstorable),
        }
    }

    /// The loader begins.
    pub fn runs(&self, load: usize, plan: &LoaderPlan) {
        let takes = plan.takes.map_or(u64::MAX, |takes| takes.as_nanos() as u64);
        let key = {
            let mut history = self.process.history.borrow_mut();
            history.loads[load].takes = takes;
            history.loads[load].key
        };
        let ran = self.note(Some(key), Note::Runs(load as u32));
        self.process.history.borrow_mut().loads[load].ran = ran;
    }

    /// The loader has ended; next its value is stored or its lease returned.
    pub fn ending(&self, load: usize, fills: bool) {
        let number = load as u32;
        let key = self.process.history.borrow().loads[load].key;
        let note = if fills {
            Note::Fills(number)
        } else {
            Note::Releases(number)
        };
        let at = self.note(Some(key), note);
        let now = self.world.now();
        let mut history = self.process.history.borrow_mut();
        history.loads[load].ending = at;
        let (call, began) = (history.loads[load].call, history.loads[load].began);
        history.calls[call].own += now - began;
    }

    /// The load is over.
    pub fn ended(&self, load: usize, outcome: Outcome) {
        let number = load as u32;
        let key = self.process.history.borrow().loads[load].key;
        let at = self.note(
            Some(key),
            match outcome {
                Outcome::Filled => Note::Filled(number),
                Outcome::Refused => Note::Refused(number),
                Outcome::Unstored => Note::Unstored(number),
                _ => Note::Released(number),
            },
        );
        let mut history = self.process.history.borrow_mut();
        let load = &mut history.loads[load];
        load.ended = at;
        load.ended_at = self.world.now();
        load.outcome = outcome;
    }
}
