//! Changes a key by what is there (`spec/remote.md`, "Operations"): one record is exchanged for another,
//! removed, or added where none is.

use crate::command::{number, Command};
use crate::fault::Fault;
use crate::floors::Floors;
use crate::names::Names;
use crate::near::{Near, Place};
use crate::record::{self, Record};
use crate::reply::Reply;
use crate::script::Script;
use crate::step::{Event, Step};

/// `record` in the place of what begins with `head`.
pub(crate) fn exchange(key: Vec<u8>, head: &[u8], record: Vec<u8>, px: Option<u64>) -> Command {
    let args = vec![head.to_vec(), record, number(px.unwrap_or(0))];
    Command::run(Script::Exchange, key, args)
}

/// Removes what begins with `head`.
pub(crate) fn remove(key: Vec<u8>, head: &[u8]) -> Command {
    Command::run(Script::Remove, key, vec![head.to_vec()])
}

/// What to change. Heads are of records that were read: equal heads are the same write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change<'a> {
    /// Stores the entry if the key has no value.
    Add(&'a [u8]),
    /// Stores the entry in the place of the record with this head.
    Exchange {
        /// The head.
        head: &'a [u8],
        /// The entry.
        entry: &'a [u8],
    },
    /// Removes the record with this head.
    Remove(&'a [u8]),
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    /// It is done.
    Done,
    /// The key has a value (`Add`), or another record by now.
    Other,
    /// No answer. The change may still be executed.
    Fault(Fault),
}

/// A change of one key on a condition.
#[derive(Debug)]
pub struct Changing<'a, Fence> {
    change: Change<'a>,
    state: State<'a, Fence>,
}

#[derive(Debug)]
enum State<'a, Fence> {
    Begins,
    /// The clock and the floors are asked for: what is stored must be born after each clear that took a
    /// value away before.
    Learning(&'a [u8], Floors<Fence>),
    Adding(&'a [u8], Floors<Fence>),
    /// With the head of what is to be changed.
    Changing(&'a [u8], Floors<Fence>),
    Over,
}

impl<'a, Fence: Clone> Changing<'a, Fence> {
    /// A change that begins.
    #[must_use]
    pub fn new(change: Change<'a>) -> Changing<'a, Fence> {
        Changing {
            change,
            state: State::Begins,
        }
    }

    /// Takes what happened, and says what to do.
    pub fn step<N: Near<Fence = Fence>>(
        &mut self,
        near: &mut N,
        names: &Names,
        event: Event,
    ) -> Step<Changed> {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Begins => {
                let judged = near.judge();
                let mut floors = Floors::look(near, names);
                let fresh = near.is_fresh(judged);
                let key = names.value.clone();
                let (head, command) = match self.change {
                    Change::Add(entry) => return self.learn(near, names, entry, floors, fresh),
                    Change::Remove(head) => (head, remove(key, head)),
                    Change::Exchange { head, entry } => {
                        // Born when the old one was: a clear that came after it clears this one, too.
                        let record = record::value(record::born(head), near.random(), entry);
                        let px = record::time_to_live(entry, near.now());
                        (head, exchange(key, head, record, px))
                    }
                };
                let mut commands = floors.ask(near, names, false, fresh);
                commands.push(command);
                self.state = State::Changing(head, floors);
                Step::Send(commands)
            }
            State::Learning(entry, mut floors) => match event.replies() {
                Ok(replies) => {
                    floors.take(near, replies);
                    self.add(near, names, entry, floors, &[])
                }
                Err(fault) => {
                    floors.give_up(near);
                    Step::Done(Changed::Fault(fault))
                }
            },
            State::Changing(head, mut floors) => {
                near.void(Place::Value);
                match event.replies() {
                    Ok(mut replies) => {
                        let done = replies.pop().is_some_and(|reply| reply.is_one());
                        floors.take(near, replies);
                        // What was there had been cleared: nothing that a read finds was changed.
                        let was_cleared = record::born(head) < floors.floor();
                        Step::Done(match done && !was_cleared {
                            true => Changed::Done,
                            false => Changed::Other,
                        })
                    }
                    Err(fault) => {
                        floors.give_up(near);
                        Step::Done(Changed::Fault(fault))
                    }
                }
            }
            State::Adding(entry, floors) => self.added(near, names, entry, floors, event),
            State::Over => Step::Done(Changed::Other),
        }
    }

    /// The clock and the floors, where they are not known.
    fn learn<N: Near<Fence = Fence>>(
        &mut self,
        near: &mut N,
        names: &Names,
        entry: &'a [u8],
        mut floors: Floors<Fence>,
        fresh: bool,
    ) -> Step<Changed> {
        let commands = floors.ask(near, names, true, fresh);
        if commands.is_empty() {
            return self.add(near, names, entry, floors, &[]);
        }
        self.state = State::Learning(entry, floors);
        Step::Send(commands)
    }

    /// `dead`: the head of a record that is no value any more, which this one replaces.
    fn add<N: Near<Fence = Fence>>(
        &mut self,
        near: &mut N,
        names: &Names,
        entry: &'a [u8],
        floors: Floors<Fence>,
        dead: &[u8],
    ) -> Step<Changed> {
        let record = record::value(floors.born(), near.random(), entry);
        let px = record::time_to_live(entry, near.now());
        let args = vec![record, number(px.unwrap_or(0)), dead.to_vec()];
        self.state = State::Adding(entry, floors);
        Step::Send(vec![Command::run(Script::Add, names.value.clone(), args)])
    }

    fn added<N: Near<Fence = Fence>>(
        &mut self,
        near: &mut N,
        names: &Names,
        entry: &'a [u8],
        floors: Floors<Fence>,
        event: Event,
    ) -> Step<Changed> {
        near.void(Place::Value);
        let reply = match event.replies() {
            Ok(replies) => replies.into_iter().next(),
            Err(fault) => return Step::Done(Changed::Fault(fault)),
        };
        match reply {
            Some(Reply::Int(1)) => Step::Done(Changed::Done),
            Some(Reply::Bytes(header)) => {
                let there = Record::parse(&header);
                match there.is_some_and(|one| !one.is_served(floors.floor(), near.now())) {
                    true => self.add(near, names, entry, floors, record::head(&header)),
                    false => Step::Done(Changed::Other),
                }
            }
            _ => Step::Done(Changed::Fault(Fault::Refused)),
        }
    }
}
