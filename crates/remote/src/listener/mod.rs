//! Hears of every write for all processes of a host (`spec/remote.md`, "Listener").

mod beacons;
mod map;

use crate::command::Command;
use crate::names::{Pushed, RemoteName};
use crate::reads::{proof_of, Prefixes};
use beacons::Beacons;
pub use map::{slot_of_key, Map, Node};
use std::time::Duration;

/// How long arming may take before it begins again.
const ARMING: Duration = Duration::from_secs(2);
/// The longest pause between two rounds of beacons, and between two attempts to arm.
const LONGEST_PAUSE: Duration = Duration::from_millis(250);
/// How often other hosts are told who lives here, and for how long that stands.
const PRESENCE_EVERY: Duration = Duration::from_secs(1);
/// Milliseconds for which it stands.
pub const PRESENCE_MS: u64 = 10_000;

/// What the driver tells the listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// It begins to lead, or the time to wait for has come.
    Woken,
    /// The primaries and their slots; `None`: they could not be asked, do not agree, or slots are moving.
    Map(Option<Map>),
    /// The connection of the arming with this number to the node in this place is armed.
    Armed {
        /// Of [`Act::Listen`].
        arming: u64,
        /// Place in the map.
        node: usize,
    },
    /// The server does not let this user track keys.
    Refused,
    /// A connection of this arming ended.
    Ended {
        /// Of [`Act::Listen`].
        arming: u64,
    },
    /// The prefixes of the keys of cached reads, as the processes of the host want them now.
    Wanted(Prefixes),
    /// Keys that were written, as the node pushed them; `None`: all.
    Pushed {
        /// Of [`Act::Listen`].
        arming: u64,
        /// Place in the map.
        node: usize,
        /// The keys.
        keys: Option<Vec<Vec<u8>>>,
    },
}

/// What the driver must do, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Ask every primary for its slots: [`Heard::Map`].
    AskMap,
    /// Open a connection to each of these nodes, and ask it for pushes of these prefixes:
    /// [`Heard::Armed`]. The connections of earlier armings are closed.
    Listen {
        /// Its number.
        arming: u64,
        /// The primaries.
        map: Map,
        /// Prefixes of keys.
        prefixes: Vec<Vec<u8>>,
    },
    /// Send this by the data client; nobody waits for the reply.
    Send(Command),
    /// Tell other hosts who lives here, by the data client.
    TellPresence,
    /// Void the copy of a full key.
    Void(Vec<u8>),
    /// Remove the guard of a user's own key (`spec/reads.md`).
    VoidGuard(Vec<u8>),
    /// Tell the readers of this host whose writes are heard of; again whenever that is missing among the copies.
    TellArmed {
        /// No other arming has it.
        mark: u64,
        /// The primaries.
        map: Map,
        /// Prefixes of keys.
        prefixes: Prefixes,
    },
    /// Void the copy of the clock.
    VoidClock,
    /// Void the copy of the floor of the namespace with this prefix of its full keys; then remove all
    /// copies of the namespace.
    Clear(Vec<u8>),
    /// Remove all copies.
    ClearAll,
    /// Copies may be served that are as old as this.
    MoveTo(Duration),
    /// No copy may be served.
    End,
    /// Look who this database is: its identity may be another.
    AskIdentity,
    /// Wait until then, unless something is heard.
    Wait(Duration),
}

/// The listener of a host, while its process leads.
#[derive(Debug)]
pub struct Listener {
    name: RemoteName,
    host: u64,
    staleness: Duration,
    arming: u64,
    next_beacon: u64,
    told_presence: Option<Duration>,
    /// Of the keys of cached reads.
    wanted: Prefixes,
    /// The mark of the arming, while there are such keys.
    mark: u64,
    state: State,
}

#[derive(Debug)]
enum State {
    /// The map was asked for, or will be at this time.
    Unarmed { until: Option<Duration> },
    Arming {
        map: Map,
        armed: Vec<bool>,
        since: Duration,
    },
    Listening {
        map: Map,
        beacons: Beacons,
        /// When V was last moved, or all was armed.
        heard: Duration,
        step: Round,
    },
}

/// Where a round of beacons stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Round {
    /// The next one begins then.
    Resting(Duration),
    /// Beacons are under way.
    Calling,
    /// They were heard; the map is asked for once more.
    Checking(Duration),
}

impl Listener {
    /// The listener of a host; `staleness` is the option `max_staleness`, above 0. `first_beacon` is a
    /// number above those of all earlier listeners of the host, the time for instance.
    #[must_use]
    pub fn new(name: RemoteName, host: u64, staleness: Duration, first_beacon: u64) -> Listener {
        Listener {
            name,
            host,
            staleness,
            arming: 0,
            next_beacon: first_beacon,
            told_presence: None,
            wanted: Prefixes::default(),
            mark: 0,
            state: State::Unarmed {
                until: Some(Duration::ZERO),
            },
        }
    }

    /// Takes what was heard, and says what to do.
    pub fn step(&mut self, heard: Heard, now: Duration) -> Vec<Act> {
        let mut acts = Vec::new();
        match heard {
            Heard::Woken => {}
            Heard::Map(map) => self.map(map, now, &mut acts),
            Heard::Armed { arming, node } if arming == self.arming => {
                self.armed(node, now, &mut acts);
            }
            Heard::Wanted(prefixes) => self.want(prefixes, now, &mut acts),
            Heard::Refused => self.disarm(now + LONGEST_PAUSE * 20, &mut acts),
            Heard::Ended { arming } if arming == self.arming => {
                // A server that is down ends each attempt at once.
                let pause = match self.state {
                    State::Listening { .. } => Duration::ZERO,
                    _ => self.pause(),
                };
                self.disarm(now + pause, &mut acts);
            }
            Heard::Pushed { arming, node, keys } if arming == self.arming => {
                self.pushed(node, keys, &mut acts);
            }
            // Of an arming that is over.
            _ => {}
        }
        self.go_on(now, &mut acts);
        acts
    }

    /// Does what is due, and says when the next step is.
    fn go_on(&mut self, now: Duration, acts: &mut Vec<Act>) {
        if self
            .told_presence
            .is_none_or(|told| now >= told + PRESENCE_EVERY)
        {
            self.told_presence = Some(now);
            acts.push(Act::TellPresence);
            self.prove(acts);
        }
        let pause = self.pause();
        let due = match &mut self.state {
            State::Unarmed { until } => match *until {
                Some(time) if now >= time => {
                    // A map that never comes is asked for again.
                    *until = Some(now + ARMING);
                    acts.push(Act::AskMap);
                    now + ARMING
                }
                Some(time) => time,
                None => now + ARMING,
            },
            State::Arming { since, .. } => {
                let end = *since + ARMING;
                if now >= end {
                    return self.rearm(now, acts);
                }
                end
            }
            State::Listening {
                map,
                beacons,
                heard,
                step,
            } => {
                // Silence for as long as copies may be old: perhaps the data client has found another
                // primary.
                let end = *heard + self.staleness.max(pause * 4);
                if now >= end {
                    return self.rearm(now, acts);
                }
                match *step {
                    Round::Resting(time) if now >= time => {
                        *step = Round::Calling;
                        beacons.begin(map, now);
                        self.call(acts);
                        end
                    }
                    Round::Resting(time) => time.min(end),
                    _ => end,
                }
            }
        };
        let presence = self.told_presence.unwrap_or(now) + PRESENCE_EVERY;
        acts.push(Act::Wait(due.min(presence)));
    }

    fn pause(&self) -> Duration {
        (self.staleness / 4).min(LONGEST_PAUSE)
    }

    /// Everything from the beginning.
    fn rearm(&mut self, now: Duration, acts: &mut Vec<Act>) {
        self.disarm(now, acts);
        self.go_on(now, acts);
    }

    fn disarm(&mut self, next: Duration, acts: &mut Vec<Act>) {
        self.arming += 1;
        acts.push(Act::End);
        self.state = State::Unarmed { until: Some(next) };
    }

    fn map(&mut self, map: Option<Map>, now: Duration, acts: &mut Vec<Act>) {
        let pause = self.pause();
        match (&mut self.state, map) {
            (State::Unarmed { until }, None) => *until = Some(now + pause),
            (State::Unarmed { .. }, Some(map)) => {
                self.arming += 1;
                self.state = State::Arming {
                    armed: vec![false; map.nodes.len()],
                    map: map.clone(),
                    since: now,
                };
                acts.push(Act::Listen {
                    arming: self.arming,
                    map,
                    prefixes: self.prefixes(),
                });
            }
            (
                State::Listening {
                    map: armed,
                    heard,
                    step,
                    ..
                },
                map,
            ) => match (*step, map) {
                (Round::Checking(time), Some(map)) if map == *armed => {
                    *heard = now;
                    *step = Round::Resting(now + pause);
                    acts.push(Act::MoveTo(time));
                }
                // Slots move, or nodes do not agree for a moment: V stands still meanwhile.
                (Round::Checking(_), None) => *step = Round::Resting(now + pause),
                (Round::Checking(_), Some(_)) => self.disarm(now, acts),
                _ => {}
            },
            (State::Arming { .. }, _) => {}
        }
    }

    /// What is asked for: servers refuse prefixes of which one begins with another.
    fn prefixes(&self) -> Vec<Vec<u8>> {
        let mine = vec![self.name.data_prefix(), self.name.beacon_prefix(self.host)];
        match self.wanted.is_empty() {
            true => mine,
            false => self.wanted.join(mine).iter().map(<[u8]>::to_vec).collect(),
        }
    }

    /// Other keys are wanted than those that are heard of.
    fn want(&mut self, prefixes: Prefixes, now: Duration, acts: &mut Vec<Act>) {
        if prefixes == self.wanted {
            return;
        }
        self.wanted = prefixes;
        if !matches!(self.state, State::Unarmed { .. }) {
            self.disarm(now, acts);
        }
    }

    /// Readers may keep replies from now on: what stood for those that they kept before is gone.
    fn tell_armed(&mut self, acts: &mut Vec<Act>) {
        let State::Listening { map, .. } = &self.state else {
            return;
        };
        if self.wanted.is_empty() {
            return;
        }
        let map = map.clone();
        self.mark = self.next_beacon;
        self.next_beacon += 1;
        self.prove(acts);
        acts.push(Act::TellArmed {
            mark: self.mark,
            map,
            prefixes: self.wanted.clone(),
        });
    }

    /// Lets readers see that they are connected to the node which is heard here.
    fn prove(&self, acts: &mut Vec<Act>) {
        let State::Listening { map, .. } = &self.state else {
            return;
        };
        if self.wanted.is_empty() {
            return;
        }
        acts.extend(map.nodes.iter().map(|node| {
            let key = self.name.proof(self.host, &node.tag);
            Act::Send(Command::set(key, proof_of(self.mark), Some(PRESENCE_MS)))
        }));
    }

    fn armed(&mut self, node: usize, now: Duration, acts: &mut Vec<Act>) {
        let State::Arming { map, armed, .. } = &mut self.state else {
            return;
        };
        if let Some(one) = armed.get_mut(node) {
            *one = true;
        }
        if armed.iter().all(|one| *one) {
            // From now on every write is heard of. What was written before was not.
            acts.push(Act::ClearAll);
            acts.push(Act::AskIdentity);
            self.state = State::Listening {
                map: std::mem::take(map),
                beacons: Beacons::default(),
                heard: now,
                step: Round::Resting(now),
            };
            self.tell_armed(acts);
        }
    }

    fn pushed(&mut self, node: usize, keys: Option<Vec<Vec<u8>>>, acts: &mut Vec<Act>) {
        let Some(keys) = keys else {
            acts.push(Act::ClearAll);
            acts.push(Act::AskIdentity);
            self.tell_armed(acts);
            return;
        };
        let guarded = (!self.wanted.is_empty()).then(|| self.name.internal_prefix());
        for key in keys {
            match self.name.understand(&key) {
                Pushed::Value(full_key) => acts.push(Act::Void(full_key.to_vec())),
                Pushed::Floor(namespace) => acts.push(Act::Clear(namespace.to_vec())),
                Pushed::Clock => acts.push(Act::VoidClock),
                Pushed::Id => acts.push(Act::AskIdentity),
                Pushed::Other => self.beacon(node, &key, acts),
            }
            // Nobody keeps a read of what remote tiers alone write.
            if guarded
                .as_ref()
                .is_some_and(|internal| !key.starts_with(internal))
            {
                acts.push(Act::VoidGuard(key));
            }
        }
    }

    /// A beacon of this listener, perhaps.
    fn beacon(&mut self, node: usize, key: &[u8], acts: &mut Vec<Act>) {
        let State::Listening { beacons, step, .. } = &mut self.state else {
            return;
        };
        if *step == Round::Calling && beacons.hear(node, key) {
            if let Some(began) = beacons.heard_all() {
                *step = Round::Checking(began);
                acts.push(Act::AskMap);
            } else {
                self.call(acts);
            }
        }
    }

    /// Sends the beacons that are due.
    fn call(&mut self, acts: &mut Vec<Act>) {
        let State::Listening { map, beacons, .. } = &mut self.state else {
            return;
        };
        while let Some(node) = beacons.next() {
            let number = self.next_beacon;
            self.next_beacon += 1;
            let key = self.name.beacon(self.host, &map.nodes[node].tag, number);
            beacons.send(node, key.clone());
            acts.push(Act::Send(Command::set(key, Vec::new(), Some(1000))));
        }
    }
}
