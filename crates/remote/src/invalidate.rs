//! Invalidates the loads of a key that has no value (`spec/remote.md`, "Operations").

use crate::change::remove;
use crate::command::Command;
use crate::fault::Fault;
use crate::floors::Floors;
use crate::names::Names;
use crate::near::{Near, Place};
use crate::record::{self, Kind, Record};
use crate::reply::Reply;
use crate::step::{Event, Step};

/// A key is to stay without a value, whatever loads of it are under way.
#[derive(Debug)]
pub struct Invalidate<Fence> {
    state: State<Fence>,
}

#[derive(Debug)]
enum State<Fence> {
    Begins,
    Looking(Floors<Fence>),
    Removing,
    Over,
}

impl<Fence: Clone> Invalidate<Fence> {
    /// It begins.
    #[must_use]
    pub fn new() -> Invalidate<Fence> {
        Invalidate {
            state: State::Begins,
        }
    }

    /// Takes what happened, and says what to do; at the end false if the key has a value.
    pub fn step<N: Near<Fence = Fence>>(
        &mut self,
        near: &mut N,
        names: &Names,
        event: Event,
    ) -> Step<Result<bool, Fault>> {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Begins => {
                let judged = near.judge();
                let mut floors = Floors::look(near, names);
                let fresh = near.is_fresh(judged);
                let mut commands = floors.ask(near, names, false, fresh);
                commands.push(Command::get_header(names.value.clone()));
                self.state = State::Looking(floors);
                Step::Send(commands)
            }
            State::Looking(mut floors) => {
                let mut replies = match event.replies() {
                    Ok(replies) => replies,
                    Err(fault) => {
                        floors.give_up(near);
                        return Step::Done(Err(fault));
                    }
                };
                let header = replies.pop().and_then(Reply::into_bytes);
                let header = header.unwrap_or_default();
                floors.take(near, replies);
                near.void(Place::Value);
                let Some(record) = Record::parse(&header) else {
                    return Step::Done(Ok(header.is_empty()));
                };
                if record.is_served(floors.floor(), near.now()) {
                    return Step::Done(Ok(false));
                }
                if !matches!(record.kind, Kind::Pending(_)) {
                    return Step::Done(Ok(true));
                }
                self.state = State::Removing;
                let head = record::head(&header);
                Step::Send(vec![remove(names.value.clone(), head)])
            }
            State::Removing => Step::Done(match event.replies() {
                // Another record is there by now.
                Ok(replies) => Ok(replies.first().is_some_and(Reply::is_one)),
                Err(fault) => Err(fault),
            }),
            State::Over => Step::Done(Ok(true)),
        }
    }
}

impl<Fence: Clone> Default for Invalidate<Fence> {
    fn default() -> Self {
        Invalidate::new()
    }
}
