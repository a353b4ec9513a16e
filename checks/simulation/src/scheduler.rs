//! Runs a scenario: which caller continues next, how time passes, and what goes wrong when.

use crate::caller::Caller;
use crate::history::{History, Note, Who};
use crate::memory::Shared;
use crate::process::Process;
use crate::scenario::Scenario;
use crate::switch::{self, Actor, Awaited, Pause, Resumed};
use crate::world::{Flag, World, PARTICIPANTS};
use fastrand::Rng;
use polycache_host::Lease;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

/// After this many steps a simulation counts as one that never ends.
const MOST_STEPS: u64 = 3_000_000;

/// Whether a caller can continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Since this time.
    Ready {
        since: u64,
    },
    /// The scheduler has suspended it until this time.
    Aside {
        since: u64,
        until: u64,
    },
    /// It waits for something.
    Waiting {
        since: u64,
        until: Option<u64>,
        what: Awaited,
    },
    Over,
}

struct Running {
    actor: Option<Actor>,
    state: State,
    process: usize,
    who: Who,
    flag: Arc<Flag>,
    late: Rc<Cell<u64>>,
    cancelled: bool,
}

/// A process seen from outside.
struct Handle {
    process: Rc<Process>,
    lives: bool,
    /// The time until which it is stopped.
    stopped: Option<u64>,
}

/// A simulation in progress.
pub struct Simulation {
    scenario: Rc<Scenario>,
    world: Arc<World>,
    memory: Arc<Shared>,
    pub history: Rc<RefCell<History>>,
    rng: Rng,
    processes: Vec<Handle>,
    callers: Vec<Running>,
    successors: u32,
    steps: u64,
}

impl Simulation {
    /// All processes of the scenario, about to begin.
    pub fn new(scenario: &Rc<Scenario>) -> Simulation {
        let memory = Arc::new(Shared::new(&scenario.geometry));
        let mut rng = Rng::with_seed(scenario.seed ^ 0x5c4e_d01e);
        // Generations may have any value, also one just before they wrap.
        for slot in 0..scenario.geometry.slots() {
            let generation = 0x8_0000 * rng.u64(0..2) + 0x8_0000 - rng.u64(1..200);
            memory.preset(scenario.geometry.slot_at(slot), generation);
        }
        let mut simulation = Simulation {
            scenario: scenario.clone(),
            world: Arc::new(World::new(scenario.first_tick)),
            memory,
            history: Rc::default(),
            rng,
            processes: Vec::new(),
            callers: Vec::new(),
            successors: scenario.successors,
            steps: 0,
        };
        for _ in 0..scenario.processes {
            simulation.start();
        }
        simulation
    }

    /// Runs the simulation to its end; then a last process checks what is left.
    pub fn run(&mut self) {
        while self.step() {}
        self.survey();
    }

    /// A process begins, with its callers; it gets its own id, or sometimes that of a dead one.
    fn start(&mut self) {
        let number = self.processes.len() as u32;
        let used = number + 1;
        let dead = (1..used).find(|id| !self.world.is_alive(*id));
        let reuses = self.rng.u32(..100) < self.scenario.chaos.reused_ids;
        let id = dead.filter(|_| reuses).unwrap_or(used);
        assert!(id < PARTICIPANTS);
        let process = Rc::new(self.process(number, id));
        let leads = Rc::default();
        for caller in 0..self.scenario.callers {
            let who = Who {
                process: number,
                caller,
            };
            let flag = Arc::<Flag>::default();
            let late = Rc::<Cell<u64>>::default();
            let caller = Caller {
                who,
                process: process.clone(),
                world: self.world.clone(),
                flag: flag.clone(),
                late: late.clone(),
                rng: RefCell::new(Rng::with_seed(self.rng.u64(..))),
                leads: Rc::clone(&leads),
            };
            self.callers.push(Running {
                actor: Some(switch::actor(move || caller.work())),
                state: State::Ready {
                    since: self.world.now(),
                },
                process: number as usize,
                who,
                flag,
                late,
                cancelled: false,
            });
        }
        self.processes.push(Handle {
            process,
            lives: true,
            stopped: None,
        });
        self.note(number, 0, Note::Starts(id));
    }

    fn process(&self, number: u32, id: u32) -> Process {
        Process::new(
            number,
            id,
            &self.scenario,
            &self.world,
            &self.memory,
            &self.history,
        )
    }

    fn note(&self, process: u32, caller: u32, note: Note) {
        let who = Who { process, caller };
        self.history
            .borrow_mut()
            .note(self.world.now(), Some(who), None, note);
    }

    /// One caller continues, or time passes; false when nothing is left to happen.
    fn step(&mut self) -> bool {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            self.fault("it does not come to its end".into());
            return false;
        }
        self.trouble();
        self.awaken();
        let ready = self.ready();
        if ready.is_empty() {
            return self.pass_time();
        }
        let number = ready[self.rng.usize(..ready.len())];
        self.go_on(number);
        true
    }

    /// Makes ready the callers whose wait is over.
    fn awaken(&mut self) {
        let now = self.world.now();
        for caller in &mut self.callers {
            let due = match caller.state {
                State::Waiting { until, since, .. } => {
                    let woken = caller.flag.is_set();
                    let time = until.filter(|until| *until <= now);
                    match time {
                        Some(until) => Some(until.max(since)),
                        None if woken || caller.cancelled => Some(now),
                        None => None,
                    }
                }
                State::Aside { since, until } => (until <= now).then_some(since),
                _ => None,
            };
            if let Some(since) = due {
                caller.state = State::Ready { since };
            }
        }
        for process in &mut self.processes {
            if process.stopped.is_some_and(|until| until <= now) {
                process.stopped = None;
                let who = Who {
                    process: process.process.number,
                    caller: 0,
                };
                self.history
                    .borrow_mut()
                    .note(now, Some(who), None, Note::GoesOn);
            }
        }
    }

    fn ready(&self) -> Vec<usize> {
        let runs = |caller: &Running| {
            matches!(caller.state, State::Ready { .. })
                && self.processes[caller.process].stopped.is_none()
        };
        (0..self.callers.len())
            .filter(|number| runs(&self.callers[*number]))
            .collect()
    }

    fn go_on(&mut self, number: usize) {
        let pace = self.scenario.pace;
        let accesses = self.rng.u32(0..2 * pace.accesses);
        let now = self.world.now();
        let caller = &mut self.callers[number];
        let State::Ready { since } = caller.state else {
            unreachable!("only a ready caller continues")
        };
        caller.late.set(caller.late.get() + (now - since));
        caller.flag.take();
        let resumed = if std::mem::take(&mut caller.cancelled) {
            Resumed::Cancelled
        } else {
            Resumed::Due
        };
        // Its next step takes this long.
        self.world.pass(now + self.rng.u64(0..400));
        let actor = caller.actor.as_mut().expect("it is not over");
        let paused = switch::go_on(actor, accesses, resumed);
        let since = self.world.now();
        caller.state = match paused {
            Some(Pause::Access) if pace.aside > 0 && self.rng.u32(..pace.aside) == 0 => {
                // Mostly short: ten microseconds are as likely as a hundred.
                let longest = pace.longest_aside >> self.rng.u32(0..12);
                State::Aside {
                    since,
                    until: since + self.rng.u64(0..=longest.max(pace.shortest_aside)),
                }
            }
            Some(Pause::Linger) if pace.aside > 0 && self.rng.u32(..4) == 0 => {
                let longest = pace.longest_aside >> self.rng.u32(0..6);
                State::Aside {
                    since,
                    until: since + self.rng.u64(0..=longest.max(pace.shortest_aside)),
                }
            }
            Some(Pause::Access | Pause::Linger) => State::Ready { since },
            Some(Pause::Wait { until, what }) => State::Waiting { since, until, what },
            None => State::Over,
        };
        if caller.state == State::Over {
            switch::end(caller.actor.take().expect("it was there"));
            self.close_if_done(self.callers[number].process);
        }
    }

    /// A process closes its handle once all its callers are done.
    fn close_if_done(&mut self, process: usize) {
        let busy = self
            .callers
            .iter()
            .any(|caller| caller.process == process && caller.state != State::Over);
        if !busy {
            self.processes[process].process.close();
            self.processes[process].lives = false;
            self.note(process as u32, 0, Note::Closes);
        }
    }

    /// No caller can continue: advances to the earliest time at which one can. If there is none, callers
    /// whose loader hangs are cancelled, stopped processes are killed, and the run is over.
    fn pass_time(&mut self) -> bool {
        let now = self.world.now();
        let of_caller = |caller: &Running| match caller.state {
            State::Waiting { until, .. } => until,
            State::Aside { until, .. } => Some(until),
            _ => None,
        };
        let of_callers = self
            .callers
            .iter()
            .filter(|caller| self.processes[caller.process].stopped.is_none())
            .filter_map(of_caller);
        let of_processes = self.processes.iter().filter_map(|process| process.stopped);
        let next = of_callers
            .chain(of_processes.filter(|until| *until != u64::MAX))
            .min();
        if let Some(next) = next {
            self.world.pass(next.max(now));
            return true;
        }
        self.release_the_last()
    }

    fn release_the_last(&mut self) -> bool {
        let mut released = false;
        for number in 0..self.callers.len() {
            let caller = &mut self.callers[number];
            if self.processes[caller.process].stopped.is_some() {
                continue;
            }
            match caller.state {
                State::Waiting {
                    what: Awaited::Loader,
                    ..
                } => {
                    caller.cancelled = true;
                    released = true;
                }
                State::Waiting { what, .. } => {
                    let fault = format!("{:?} waits for ever: {what:?}", caller.who);
                    self.fault(fault);
                    return false;
                }
                _ => {}
            }
        }
        if released {
            return true;
        }
        for number in 0..self.processes.len() {
            if self.processes[number].stopped.is_some() {
                self.kill(number);
            }
        }
        false
    }

    /// Faults, by chance.
    fn trouble(&mut self) {
        let chaos = self.scenario.chaos;
        let happens = |rng: &mut Rng, rate: u32| rate > 0 && rng.u32(..rate) == 0;
        if happens(&mut self.rng, chaos.kill) {
            let number = self.rng.usize(..self.processes.len());
            if self.processes[number].lives {
                self.kill(number);
                if self.successors > 0 {
                    self.successors -= 1;
                    self.start();
                }
            }
        }
        if happens(&mut self.rng, chaos.stop) {
            if let Some(number) = self.any_living() {
                let for_ever = self.rng.u32(..100) < chaos.stops_for_ever;
                let longest = 2_000_000_000 >> self.rng.u32(0..20);
                let until = self.world.now() + self.rng.u64(0..=longest);
                self.processes[number].stopped = Some(if for_ever { u64::MAX } else { until });
                self.note(number as u32, 0, Note::Stopped);
            }
        }
        if happens(&mut self.rng, chaos.cancel) {
            let number = self.rng.usize(..self.callers.len());
            let caller = &mut self.callers[number];
            if let State::Waiting {
                what: Awaited::Load | Awaited::Loader,
                ..
            } = caller.state
            {
                caller.cancelled = true;
                let who = caller.who;
                self.note(who.process, who.caller, Note::Cancelled);
            }
        }
        if happens(&mut self.rng, chaos.disk) {
            let full = !self.world.is_disk_full();
            self.world.set_disk_full(full);
            self.history
                .borrow_mut()
                .note(self.world.now(), None, None, Note::DiskFull(full));
        }
    }

    fn any_living(&mut self) -> Option<usize> {
        let number = self.rng.usize(..self.processes.len());
        let handle = &self.processes[number];
        (handle.lives && handle.stopped.is_none()).then_some(number)
    }

    /// SIGKILL: its callers stop for ever wherever they are, and its lock is dropped.
    fn kill(&mut self, number: usize) {
        for caller in &mut self.callers {
            if caller.process == number {
                caller.state = State::Over;
                if let Some(actor) = caller.actor.take() {
                    switch::end(actor);
                }
            }
        }
        let handle = &mut self.processes[number];
        handle.lives = false;
        handle.stopped = None;
        self.world.set_alive(handle.process.me.id, false);
        let process = handle.process.number;
        self.history.borrow_mut().killed(process, self.world.now());
    }

    /// At the end the directory is undamaged, and a new process can read and load every key.
    fn survey(&mut self) {
        for number in 0..self.processes.len() {
            if self.processes[number].lives && !self.history.borrow().faults.is_empty() {
                self.kill(number);
            }
        }
        self.world.set_disk_full(false);
        let number = self.processes.len() as u32;
        let process = Rc::new(self.process(number, number + 1));
        let caller = Caller {
            who: Who {
                process: number,
                caller: 0,
            },
            process: process.clone(),
            world: self.world.clone(),
            flag: Arc::default(),
            late: Rc::default(),
            rng: RefCell::new(Rng::with_seed(0)),
            leads: Rc::default(),
        };
        let check = || {
            for damage in process.engine.check().damaged {
                self.fault(format!("check: {damage}"));
            }
        };
        check();
        for key in 0..self.scenario.keys.len() {
            caller.get(key);
            match process.lease(key, &mut Vec::new()) {
                Lease::Hit(_) => {}
                // Every holder of a lease is dead.
                Lease::Acquired(token) => process.engine.release(token),
                other => self.fault(format!("key {key} cannot be loaded: {other:?}")),
            }
            caller.set(key);
        }
        check();
    }

    fn fault(&self, fault: String) {
        self.history.borrow_mut().faults.push(fault);
    }
}

impl Drop for Simulation {
    fn drop(&mut self) {
        for caller in &mut self.callers {
            if let Some(actor) = caller.actor.take() {
                switch::end(actor);
            }
        }
    }
}
