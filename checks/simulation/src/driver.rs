//! get_or_set: the machine of `polycache_operations` with the parts that a driver owns: joining, waiting
//! and running the loader.

use crate::caller::Caller;
use crate::history::{Answer, Load as Record, Miss, Note, Outcome, Right, Serial, Wait, NEVER};
use crate::switch::{linger, Awaited, Resumed};
use polycache_host::{Error, Lease as LeaseAnswer, Token};
use polycache_operations::{
    Bounds, Done, Event, Holder, Landed, Leader, Lease, Leases, Load, Part as Taken, Step,
};
use std::task::{Poll, Waker};
use std::time::Duration;

/// A key of a process, as the machine sees it; it records what the machine asks for.
struct Tiers<'a> {
    caller: &'a Caller,
    key: usize,
    call: usize,
    flight: usize,
    /// The value of a hit.
    found: Option<Serial>,
    /// The load that began here, by its number in the history.
    load: Option<usize>,
}

impl Tiers<'_> {
    fn note(&self, note: Note) -> u64 {
        self.caller.note(Some(self.key), note)
    }

    /// A loader is about to run.
    fn begin(&mut self, right: Right, holder: Option<Holder>, asked: u64, evicted: u64) {
        let number = self.caller.process.history.borrow().loads.len();
        let born = self.note(match right {
            Right::Lease => Note::Leased(number as u32),
            Right::Beside => Note::LoadsBeside(number as u32),
            Right::None => Note::Bypasses(number as u32),
        });
        let value = self.caller.new_value(self.key);
        self.caller.process.history.borrow_mut().loads.push(Record {
            key: self.key,
            who: self.caller.who,
            call: self.call,
            right,
            holder,
            value,
            asked,
            born,
            ran: NEVER,
            began: self.caller.world.now(),
            takes: 0,
            ending: NEVER,
            ended: NEVER,
            ended_at: 0,
            outcome: Outcome::Running,
            evicted,
        });
        self.load = Some(number);
    }

    fn missed(&self, start: u64) {
        let evicted = self.caller.process.evicted();
        let end = self.note(Note::Missed);
        self.caller.process.history.borrow_mut().misses.push(Miss {
            key: self.key,
            start,
            end,
            evicted,
        });
    }
}

impl Leases for Tiers<'_> {
    type Fence = Token;
    type Error = Error;

    fn lease(&mut self) -> Result<Lease<Token>, Error> {
        let process = &self.caller.process;
        let evicted = process.evicted();
        let start = self.note(Note::Asks);
        let mut entry = Vec::new();
        let holder = |slot, word| Holder { slot, word };
        Ok(match process.lease(self.key, &mut entry) {
            LeaseAnswer::Hit(_) => {
                self.found = process.read(self.key, &entry);
                if let Some(serial) = self.found {
                    self.caller.hit(self.key, serial, start);
                }
                Lease::Hit
            }
            LeaseAnswer::Acquired(token) => {
                self.missed(start);
                let holder = holder(token.slot, token.word);
                self.begin(Right::Lease, Some(holder), start, evicted);
                Lease::Acquired(token)
            }
            LeaseAnswer::Busy {
                slot,
                word,
                overdue,
            } => {
                let at = self.note(Note::Busy(slot, word));
                let holder = holder(slot, word);
                let flight = self.flight;
                process
                    .history
                    .borrow_mut()
                    .waits
                    .push(Wait { flight, holder, at });
                Lease::Busy { holder, overdue }
            }
            LeaseAnswer::Bypass => {
                self.missed(start);
                self.begin(Right::None, None, start, evicted);
                Lease::Bypass
            }
        })
    }

    fn beside(&mut self, holder: Holder) -> Result<Option<Token>, Error> {
        // The holder may end first.
        linger();
        let evicted = self.caller.process.evicted();
        let start = self.note(Note::AsksBeside);
        let token = self
            .caller
            .process
            .beside(self.key, holder.slot, holder.word);
        if token.is_some() {
            self.begin(Right::Beside, Some(holder), start, evicted);
        }
        Ok(token)
    }

    fn has_inherited(&self, from: Holder, holder: Holder) -> bool {
        polycache_host::has_inherited(from, holder)
    }

    fn fill(&mut self, fence: Token, entry: &[u8]) -> Result<bool, Error> {
        let caller = self.caller;
        caller.process.fill(self.key, fence, entry)
    }

    fn release(&mut self, fence: Token) {
        self.caller.process.release(fence);
    }
}

/// Reads the key, or joins a load of it, or loads it.
pub fn get_or_set(caller: &Caller, key: usize) {
    let call = caller.calls(key);
    let answer = call_for(caller, key, call);
    caller.answered(call, key, answer);
}

fn call_for(caller: &Caller, key: usize, call: usize) -> Answer {
    let process = &caller.process;
    let began = caller.world.time();
    let give_up = began + process.scenario.wait_timeout;
    let lease_timeout = process.scenario.lease_timeout;
    loop {
        // In the loop, not only in its first round: a caller that begins anew looks up the key again.
        if let Some(serial) = caller.get(key) {
            return Answer::Hit(serial);
        }
        let runner = u64::from(caller.who.caller);
        let now = caller.world.time();
        let taken = process
            .flights
            .take_part(key, runner, now, lease_timeout, |fence, _| {
                process.may_fill(key, fence)
            });
        let flight = caller.takes_part(call, key, &taken);
        linger();
        let mut joined = match taken {
            Taken::Leads(leader) => return lead(caller, key, call, flight, began, leader),
            Taken::Joins(joined) => joined,
        };
        let waker = Waker::from(caller.flag.clone());
        loop {
            match joined.poll(&waker) {
                Poll::Ready(Landed::Value(value)) => return Answer::Joined(value),
                Poll::Ready(Landed::Failed(load)) => return Answer::Failed(load),
                Poll::Ready(Landed::Nothing | Landed::Unshared | Landed::Absent) => break,
                Poll::Pending => {}
            }
            let now = caller.world.time();
            if now >= give_up {
                return Answer::TimedOut;
            }
            let patience = joined.patience(now, lease_timeout);
            if now >= patience {
                break;
            }
            if caller.wait(Some(patience.min(give_up)), Awaited::Load) == Resumed::Cancelled {
                return Answer::Cancelled;
            }
        }
    }
}

/// Drives a load that other callers of the process may join.
fn lead(
    caller: &Caller,
    key: usize,
    call: usize,
    flight: usize,
    began: Duration,
    leader: Leader<usize, Serial, u32, Token>,
) -> Answer {
    let bounds = Bounds {
        wait_timeout: caller.process.scenario.wait_timeout,
    };
    let mut machine = Load::new(bounds, began);
    let mut tiers = Tiers {
        caller,
        key,
        call,
        flight,
        found: None,
        load: None,
    };
    let mut event = Event::Start;
    loop {
        let step = machine.step(&mut tiers, event, caller.world.time());
        linger();
        match step.expect("tiers fail at fills only") {
            Step::Wait { until, .. } => {
                event = match caller.wait(Some(until), Awaited::Load) {
                    Resumed::Due => Event::Woken,
                    Resumed::Cancelled => Event::Cancelled,
                };
            }
            Step::Load => return run(&mut tiers, machine, leader),
            Step::Done(Done::Hit) => {
                // The callers that joined look up the key themselves: the entry may be superseded by
                // now.
                leader.lands(Landed::Nothing, false);
                return match tiers.found {
                    Some(serial) => Answer::Hit(serial),
                    None => Answer::Cancelled,
                };
            }
            Step::Done(Done::TimedOut) => return Answer::TimedOut,
            Step::Done(_) => return Answer::Cancelled,
        }
    }
}

/// Runs the loader; returns how it ended.
fn run(
    tiers: &mut Tiers<'_>,
    mut machine: Load<Token>,
    leader: Leader<usize, Serial, u32, Token>,
) -> Answer {
    let caller = tiers.caller;
    let number = tiers.load.expect("a load that began");
    let plan = caller.plan_loader();
    caller.runs(number, &plan);
    leader.loads(machine.fence().copied(), caller.world.time());
    let until = plan.takes.map(|takes| caller.world.time() + takes);
    let cancelled = caller.wait_whole(until, Awaited::Loader) == Resumed::Cancelled;
    let value = caller.process.history.borrow().loads[number].value;
    let entry = caller.process.entry(value);
    let event = if cancelled {
        Event::Cancelled
    } else if plan.fails {
        Event::Failed
    } else if plan.is_unstorable {
        Event::Unstorable
    } else {
        Event::Loaded(&entry)
    };
    caller.ending(number, matches!(event, Event::Loaded(_)));
    let step = machine.step(tiers, event, caller.world.time());
    let outcome = match (&event, &step) {
        (Event::Cancelled, _) => Outcome::Cancelled,
        (Event::Failed, _) => Outcome::Failed,
        (_, Ok(Step::Done(Done::Filled))) => Outcome::Filled,
        (_, Ok(Step::Done(Done::Refused))) => Outcome::Refused,
        _ => Outcome::Unstored,
    };
    caller.ended(number, outcome);
    linger();
    match outcome {
        Outcome::Cancelled => Answer::Cancelled,
        Outcome::Failed => {
            leader.lands(Landed::Failed(number as u32), false);
            Answer::Failed(number as u32)
        }
        _ => {
            leader.lands(Landed::Value(value), outcome == Outcome::Filled);
            Answer::Own(value)
        }
    }
}
