//! Clears a namespace (`spec/remote.md`, "Operations").

use crate::command::{number, Command, Verb};
use crate::fault::Fault;
use crate::names::{Names, Pushed};
use crate::near::{Near, Place};
use crate::reply::Reply;
use crate::script::Script;
use crate::step::{Event, Step};

/// A clear of the innermost namespace of the names, and of those in it.
#[derive(Debug, Default)]
pub struct Clear {
    state: State,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Begins,
    Counting,
    Raising,
    Over,
}

impl Clear {
    /// Takes what happened, and says what to do. After a fault the clear may still be executed.
    pub fn step<N: Near>(
        &mut self,
        near: &mut N,
        names: &Names,
        event: Event,
    ) -> Step<Result<(), Fault>> {
        let innermost = names.floors.len() - 1;
        let floor = &names.floors[innermost];
        match std::mem::replace(&mut self.state, State::Over) {
            State::Begins => {
                self.state = State::Counting;
                let command = Command::run(Script::Clear, &names.clock, Vec::new());
                Step::Send(vec![command])
            }
            State::Counting => match event.replies().map(|replies| replies.first().cloned()) {
                Ok(Some(Reply::Int(n))) => {
                    if let Some(last) = near.last_clear() {
                        last.hear(n.unsigned_abs());
                    }
                    let n = number(n.unsigned_abs());
                    self.state = State::Raising;
                    let namespace = match names.remote.understand(floor) {
                        Pushed::Floor(namespace) => namespace.to_vec(),
                        _ => Vec::new(),
                    };
                    let sweep = Command::new(
                        Verb::SortedAdd,
                        names.remote.sweep(),
                        vec![n.clone(), namespace],
                    );
                    Step::Send(vec![Command::run(Script::Floor, floor, vec![n]), sweep])
                }
                Ok(_) => Step::Done(Err(Fault::Refused)),
                Err(fault) => {
                    near.void(Place::Clock);
                    Step::Done(Err(fault))
                }
            },
            State::Raising => {
                // The floor first: who looks it up after the clear of the copies finds it anew.
                near.void(Place::Clock);
                near.void(Place::Floor(innermost));
                near.clear(innermost);
                Step::Done(event.replies().map(|_| ()))
            }
            State::Over => Step::Done(Ok(())),
        }
    }
}
