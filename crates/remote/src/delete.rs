//! Deletes a key (`spec/remote.md`, "Operations").

use crate::command::Command;
use crate::fault::Fault;
use crate::floors::Floors;
use crate::names::Names;
use crate::near::{Near, Place};
use crate::record::Record;
use crate::reply::Reply;
use crate::step::{Event, Step};

/// No record of ours.
const FOREIGN: &[u8] = b"?";

/// A delete of one key.
#[derive(Debug)]
pub struct Delete<Fence> {
    floors: Option<Floors<Fence>>,
}

impl<Fence: Clone> Delete<Fence> {
    /// A delete that begins.
    #[must_use]
    pub fn new() -> Delete<Fence> {
        Delete { floors: None }
    }

    /// Takes what happened, and says what to do; at the end whether there was a value that a read would
    /// have found. After a fault the delete may still be executed.
    pub fn step<N: Near<Fence = Fence>>(
        &mut self,
        near: &mut N,
        names: &Names,
        event: Event,
    ) -> Step<Result<bool, Fault>> {
        let Some(mut floors) = self.floors.take() else {
            let judged = near.judge();
            let mut floors = Floors::look(near, names);
            let fresh = near.is_fresh(judged);
            // Two commands, which cost the server a tenth of what a script does. What is written between the two is
            // deleted, and counts as what was there before.
            let mut commands = floors.ask(near, names, false, fresh);
            commands.push(Command::get_header(names.value.clone()));
            commands.push(Command::unlink(names.value.clone()));
            self.floors = Some(floors);
            return Step::Send(commands);
        };
        let mut replies = match of_any_type(event).replies() {
            Ok(replies) => replies,
            Err(fault) => {
                floors.give_up(near);
                near.void(Place::Value);
                return Step::Done(Err(fault));
            }
        };
        let deleted = matches!(replies.pop(), Some(Reply::Int(1..)));
        let header = replies.pop().and_then(Reply::into_bytes);
        floors.take(near, replies);
        near.void(Place::Value);
        let header = header.unwrap_or_default();
        let was_there = match Record::parse(&header) {
            Some(record) => record.is_served(floors.floor(), near.now()),
            // What another program put there is found by a read: it is an error of the reader's.
            None => !header.is_empty(),
        };
        Step::Done(Ok(deleted && was_there))
    }
}

/// What another program keeps there in a type of its own has no header, and is deleted all the same.
fn of_any_type(mut event: Event) -> Event {
    if let Event::Replies(replies) = &mut event {
        if let [.., header @ Reply::Error(_), Reply::Int(_)] = replies.as_mut_slice() {
            if matches!(header, Reply::Error(why) if why.starts_with("WRONGTYPE")) {
                *header = Reply::Bytes(FOREIGN.to_vec());
            }
        }
    }
    event
}

impl<Fence: Clone> Default for Delete<Fence> {
    fn default() -> Self {
        Delete::new()
    }
}
