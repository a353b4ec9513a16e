//! Stores a key (`spec/remote.md`, "Operations").

use crate::change::exchange;
use crate::command::Command;
use crate::fault::Fault;
use crate::floors::Floors;
use crate::names::Names;
use crate::near::{Near, Place};
use crate::record::{self, HEAD_LEN};
use crate::step::{Event, Step};

/// A write of one key, whatever is there.
#[derive(Debug)]
pub struct Set<'a, Fence> {
    entry: &'a [u8],
    state: State<Fence>,
}

#[derive(Debug)]
enum State<Fence> {
    Begins,
    /// What was sent, with what was known then.
    Storing {
        head: [u8; HEAD_LEN],
        floors: Floors<Fence>,
    },
    /// It was born at another clear than the last one: the same write again, born then.
    Again,
    Over,
}

impl<'a, Fence: Clone> Set<'a, Fence> {
    /// A write of this entry.
    #[must_use]
    pub fn new(entry: &'a [u8]) -> Set<'a, Fence> {
        Set {
            entry,
            state: State::Begins,
        }
    }

    /// Takes what happened, and says what to do. After a fault the write may still be executed.
    pub fn step<N: Near<Fence = Fence>>(
        &mut self,
        near: &mut N,
        names: &Names,
        event: Event,
    ) -> Step<Result<(), Fault>> {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Begins => {
                let judged = near.judge();
                let mut floors = Floors::look(near, names);
                let fresh = near.is_fresh(judged);
                let born = floors.presumably_born(near, fresh);
                let head = record::value_head(born, near.random());
                let record = record::with_head(head, self.entry);
                let px = record::time_to_live(self.entry, near.now());
                // And room for one more: the driver may ask who the database is.
                let mut commands = Vec::with_capacity(2 + floors.len());
                commands.push(Command::set(names.value.clone(), record, px));
                floors.ask_behind(near, names, true, fresh, &mut commands);
                self.state = State::Storing { head, floors };
                Step::Send(commands)
            }
            State::Storing { head, mut floors } => {
                let mut replies = match event.replies() {
                    Ok(replies) => replies,
                    Err(fault) => {
                        floors.give_up(near);
                        near.void(Place::Value);
                        return Step::Done(Err(fault));
                    }
                };
                let before = record::born(&head);
                floors.take(near, replies.drain(replies.len().min(1)..));
                let born = floors.born();
                if let Some(last) = near.last_clear().filter(|_| born < before) {
                    last.lower(before, born);
                }
                if born != before {
                    let again = record::value(born, near.random(), self.entry);
                    let px = record::time_to_live(self.entry, near.now());
                    let command = exchange(names.value.clone(), &head, again, px);
                    self.state = State::Again;
                    return Step::Send(vec![command]);
                }
                near.void(Place::Value);
                Step::Done(Ok(()))
            }
            // What took the place of the first try came after it: this write is done, and superseded.
            State::Again => {
                near.void(Place::Value);
                Step::Done(event.replies().map(|_| ()))
            }
            State::Over => Step::Done(Ok(())),
        }
    }
}
