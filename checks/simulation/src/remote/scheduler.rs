//! Runs a scenario: who continues next, how time passes, and what goes wrong when.

use super::caller::Caller;
use super::host::{Host, Process};
use super::listener::Ear;
use super::network::Network;
use super::scenario::Scenario;
use super::truth::Time;
use crate::memory::Shared;
use crate::switch::{self, Actor, Pause, Resumed};
use crate::world::{Flag, World};
use fastrand::Rng;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::AtomicU64;
use std::sync::Arc;

/// After this many steps a simulation counts as one that never ends.
const MOST_STEPS: u64 = 5_000_000;

struct Running {
    actor: Option<Actor>,
    process: usize,
    /// An ear runs as long as its process.
    is_ear: bool,
    flag: Arc<Flag>,
    late: Rc<Cell<u64>>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ready { since: Time },
    Aside { since: Time, until: Time },
    Waiting { since: Time, until: Option<Time> },
    Over,
}

struct Handle {
    process: Rc<Process>,
    lives: bool,
    stopped: Option<Time>,
}

pub struct Simulation {
    scenario: Rc<Scenario>,
    pub network: Rc<RefCell<Network>>,
    hosts: Vec<Rc<Host>>,
    processes: Vec<Handle>,
    actors: Vec<Running>,
    rng: Rng,
    /// When each kind of trouble comes next.
    troubles: Vec<(Trouble, Time)>,
}

#[derive(Clone, Copy, Debug)]
enum Trouble {
    Kill,
    Stop,
    Cut,
    Silence,
    Hang,
    Failover,
    Reshard,
    Foreign,
    Evict,
}

impl Simulation {
    pub fn new(scenario: &Rc<Scenario>, whole: bool) -> Simulation {
        let network = Rc::new(RefCell::new(Network::new(scenario, whole)));
        let mut rng = Rng::with_seed(scenario.seed ^ 0x7363_6865_6475_6c65);
        let hosts = (0..scenario.hosts)
            .map(|number| {
                Rc::new(Host {
                    number,
                    world: Arc::new(World::new(rng.u64(..1 << 20))),
                    memory: Arc::new(Shared::new(&scenario.geometry)),
                    board: [1, 0, 0, 0, 0].map(AtomicU64::new),
                    wanted: Default::default(),
                    seed: rng.u64(..),
                })
            })
            .collect();
        let mut simulation = Simulation {
            scenario: scenario.clone(),
            network,
            hosts,
            processes: Vec::new(),
            actors: Vec::new(),
            rng,
            troubles: Vec::new(),
        };
        let chaos = scenario.chaos;
        for (trouble, every) in [
            (Trouble::Kill, chaos.kill),
            (Trouble::Stop, chaos.stop),
            (Trouble::Cut, chaos.cut),
            (Trouble::Silence, chaos.silence),
            (Trouble::Hang, chaos.hang),
            (Trouble::Failover, chaos.failover),
            (Trouble::Reshard, chaos.reshard),
            (Trouble::Foreign, chaos.foreign),
            (Trouble::Evict, chaos.evict),
        ] {
            if every > 0 {
                let first = simulation.now() + simulation.rng.u64(0..2 * every);
                simulation.troubles.push((trouble, first));
            }
        }
        for host in 0..scenario.hosts {
            for _ in 0..scenario.processes {
                simulation.start(host);
            }
        }
        simulation
    }

    fn now(&self) -> Time {
        self.network.borrow().now
    }

    fn pass(&mut self, until: Time) {
        let mut network = self.network.borrow_mut();
        network.now = network.now.max(until);
        let now = network.now;
        network.happen();
        drop(network);
        for host in &self.hosts {
            host.world.pass(now);
        }
    }

    /// A process begins, with its callers and its ear.
    fn start(&mut self, host: usize) {
        let number = self.processes.len();
        let id = number as u32 + 1;
        let host = &self.hosts[host];
        let process = Process::new(number, id, host, &self.scenario, &self.network);
        let process = Rc::new(process);
        let since = self.now();
        for caller in 0..self.scenario.callers {
            let flag = Arc::<Flag>::default();
            let late = Rc::<Cell<u64>>::default();
            let caller = Caller {
                number: caller,
                process: process.clone(),
                flag: flag.clone(),
                late: late.clone(),
                rng: RefCell::new(Rng::with_seed(self.rng.u64(..))),
            };
            self.actors.push(Running {
                actor: Some(switch::actor(move || caller.work())),
                process: number,
                is_ear: false,
                flag,
                late,
                state: State::Ready { since },
            });
        }
        if !self.scenario.staleness.is_zero() {
            let flag = Arc::<Flag>::default();
            let ear = Ear {
                process: process.clone(),
                flag: flag.clone(),
            };
            let mail = (std::collections::VecDeque::new(), flag.clone());
            self.network.borrow_mut().mail.insert(number, mail);
            self.actors.push(Running {
                actor: Some(switch::actor(move || ear.work())),
                process: number,
                is_ear: true,
                flag,
                late: Rc::default(),
                state: State::Ready { since },
            });
        }
        self.processes.push(Handle {
            process,
            lives: true,
            stopped: None,
        });
    }

    pub fn run(&mut self) {
        for _ in 0..MOST_STEPS {
            if !self.step() {
                return;
            }
        }
        self.fault("it does not come to its end".into());
    }

    fn fault(&self, fault: String) {
        self.network.borrow_mut().faults.push(fault);
    }

    fn step(&mut self) -> bool {
        self.trouble();
        self.awaken();
        let ready: Vec<usize> = (0..self.actors.len())
            .filter(|number| {
                let actor = &self.actors[*number];
                matches!(actor.state, State::Ready { .. })
                    && self.processes[actor.process].stopped.is_none()
            })
            .collect();
        if ready.is_empty() {
            return self.pass_time();
        }
        let number = ready[self.rng.usize(..ready.len())];
        self.go_on(number);
        true
    }

    fn awaken(&mut self) {
        let now = self.now();
        for handle in &mut self.processes {
            if handle.stopped.is_some_and(|until| until <= now) {
                handle.stopped = None;
            }
        }
        for actor in &mut self.actors {
            let due = match actor.state {
                State::Waiting { until, since } => {
                    let time = until.filter(|until| *until <= now);
                    match time {
                        Some(until) => Some(until.max(since)),
                        None => actor.flag.is_set().then_some(now),
                    }
                }
                State::Aside { since, until } => (until <= now).then_some(since),
                _ => None,
            };
            if let Some(since) = due {
                actor.state = State::Ready { since };
            }
        }
    }

    fn go_on(&mut self, number: usize) {
        let now = self.now();
        let accesses = self.rng.u32(0..64);
        let step = self.rng.u64(0..400);
        let actor = &mut self.actors[number];
        let State::Ready { since } = actor.state else {
            return;
        };
        actor.late.set(actor.late.get() + (now - since));
        actor.flag.take();
        self.pass(now + step);
        let actor = &mut self.actors[number];
        let running = actor.actor.as_mut().expect("it is not over");
        let paused = switch::go_on(running, accesses, Resumed::Due);
        let since = self.network.borrow().now;
        actor.state = match paused {
            Some(Pause::Access | Pause::Linger) if self.rng.u32(..60) == 0 => State::Aside {
                since,
                until: since + (self.rng.u64(0..20_000_000) >> self.rng.u32(0..12)),
            },
            Some(Pause::Access | Pause::Linger) => State::Ready { since },
            Some(Pause::Wait { until, .. }) => State::Waiting { since, until },
            None => State::Over,
        };
        if actor.state == State::Over {
            switch::end(actor.actor.take().expect("it was there"));
            let process = actor.process;
            let busy = self
                .actors
                .iter()
                .any(|one| one.process == process && !one.is_ear && one.state != State::Over);
            if !busy {
                self.end(process);
            }
        }
    }

    /// No actor can continue: advances to the next thing that happens.
    fn pass_time(&mut self) -> bool {
        let working = self
            .actors
            .iter()
            .any(|actor| !actor.is_ear && actor.state != State::Over);
        if !working {
            return false;
        }
        let of_actors = self
            .actors
            .iter()
            .filter(|actor| self.processes[actor.process].stopped.is_none())
            .filter_map(|actor| match actor.state {
                State::Waiting { until, .. } => until,
                State::Aside { until, .. } => Some(until),
                _ => None,
            });
        let of_processes = self.processes.iter().filter_map(|handle| handle.stopped);
        let of_network = self.network.borrow().next();
        let next = of_actors.chain(of_processes).chain(of_network).min();
        match next {
            Some(next) => {
                self.pass(next.max(self.now() + 1));
                true
            }
            None => {
                self.fault("somebody waits for ever".into());
                false
            }
        }
    }

    /// The process is gone: its lock falls, its connections end.
    fn end(&mut self, process: usize) {
        for actor in &mut self.actors {
            if actor.process == process {
                actor.state = State::Over;
                if let Some(actor) = actor.actor.take() {
                    switch::end(actor);
                }
            }
        }
        let handle = &mut self.processes[process];
        handle.lives = false;
        handle.stopped = None;
        let id = handle.process.me.id;
        handle.process.host.world.set_alive(id, false);
        let mut network = self.network.borrow_mut();
        network.hang_up(process);
        network.mail.remove(&process);
    }

    fn trouble(&mut self) {
        let now = self.now();
        for place in 0..self.troubles.len() {
            let (trouble, time) = self.troubles[place];
            if time > now {
                continue;
            }
            let chaos = self.scenario.chaos;
            let every = match trouble {
                Trouble::Kill => chaos.kill,
                Trouble::Stop => chaos.stop,
                Trouble::Cut => chaos.cut,
                Trouble::Silence => chaos.silence,
                Trouble::Hang => chaos.hang,
                Trouble::Failover => chaos.failover,
                Trouble::Reshard => chaos.reshard,
                Trouble::Foreign => chaos.foreign,
                Trouble::Evict => chaos.evict,
            };
            self.troubles[place].1 = now + self.rng.u64(0..2 * every);
            self.befalls(trouble);
        }
    }

    fn befalls(&mut self, trouble: Trouble) {
        match trouble {
            Trouble::Kill => {
                let process = self.rng.usize(..self.processes.len());
                // Ids are 64 at most.
                if self.processes[process].lives && self.processes.len() < 40 {
                    let host = self.processes[process].process.host.number;
                    self.network
                        .borrow_mut()
                        .note("killed", || format!("p{process}"));
                    self.end(process);
                    self.start(host);
                }
            }
            Trouble::Stop => {
                let process = self.rng.usize(..self.processes.len());
                if self.processes[process].lives {
                    let until = self.now() + (self.rng.u64(0..1_500_000_000) >> self.rng.u32(0..8));
                    self.processes[process].stopped = Some(until);
                    self.network
                        .borrow_mut()
                        .note("stopped", || format!("p{process} until {until}"));
                }
            }
            Trouble::Cut => self.network.borrow_mut().cut(false),
            Trouble::Silence => self.network.borrow_mut().cut(true),
            Trouble::Hang => self.network.borrow_mut().hang(),
            Trouble::Failover => self.network.borrow_mut().fail_over(),
            Trouble::Reshard => self.network.borrow_mut().reshard(),
            Trouble::Foreign => self.network.borrow_mut().meddle(false),
            Trouble::Evict => self.network.borrow_mut().meddle(true),
        }
    }
}

impl Drop for Simulation {
    fn drop(&mut self) {
        for actor in &mut self.actors {
            if let Some(actor) = actor.actor.take() {
                switch::end(actor);
            }
        }
    }
}
