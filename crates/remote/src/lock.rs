//! The lock of a key's name in the whole cluster: a pending record of its own (`spec/remote.md`, "Locks").

use crate::change::remove;
use crate::command::{number, Command};
use crate::fault::Fault;
use crate::load::PENDING_MS;
use crate::names::Names;
use crate::near::Near;
use crate::presence::{is_present, HolderId};
use crate::record::{self, Kind, Record};
use crate::reply::Reply;
use crate::script::Script;
use crate::step::{Event, Step};

/// One attempt to take a lock. The names are those of the lock.
#[derive(Debug)]
pub struct Lock {
    /// The head of a record whose holder is known to be dead.
    dead: Vec<u8>,
    state: State,
}

/// What an attempt found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Locked {
    /// It is this caller's, by this token.
    Taken(Vec<u8>),
    /// Another has it.
    Held,
    /// The presence of its holder's host does not list the holder. If that is still so for the record with this
    /// head when [`UNLISTED`](crate::UNLISTED) is over, the holder is dead.
    Doubtful(Vec<u8>),
}

#[derive(Debug)]
enum State {
    Begins,
    /// With the token that was sent.
    Taking(Vec<u8>),
    /// Whether the process that holds it lives: the head of its record, and who it is.
    Doubting(Vec<u8>, HolderId),
    Over,
}

impl Lock {
    /// An attempt that begins. `dead` is the head of a record whose holder is known to be dead, or empty.
    #[must_use]
    pub fn new(dead: &[u8]) -> Lock {
        Lock {
            dead: dead.to_vec(),
            state: State::Begins,
        }
    }

    /// Takes what happened, and says what to do. After a fault the lock may be taken for an hour by nobody,
    /// unless the caller's process dies.
    pub fn step<N: Near>(
        &mut self,
        near: &mut N,
        names: &Names,
        event: Event,
    ) -> Step<Result<Locked, Fault>> {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Begins => {
                let dead = std::mem::take(&mut self.dead);
                self.take(near, names, &dead)
            }
            State::Taking(token) => match event.replies().map(|mut replies| replies.pop()) {
                Err(fault) => Step::Done(Err(fault)),
                Ok(Some(Reply::Nil)) => Step::Done(Ok(Locked::Taken(token))),
                Ok(reply) => self.is_held(near, names, reply),
            },
            State::Doubting(head, holder) => {
                match event.replies().map(|mut replies| replies.pop()) {
                    Ok(Some(Reply::Bytes(text))) if is_present(&text, holder.participant) => {
                        Step::Done(Ok(Locked::Held))
                    }
                    Ok(Some(Reply::Bytes(_))) => Step::Done(Ok(Locked::Doubtful(head))),
                    // Its host was not heard of for as long as its presence stands.
                    Ok(Some(Reply::Nil)) => self.take(near, names, &head),
                    Ok(_) => Step::Done(Ok(Locked::Held)),
                    Err(fault) => Step::Done(Err(fault)),
                }
            }
            State::Over => Step::Done(Ok(Locked::Held)),
        }
    }

    /// `dead`: the head of a record whose holder died.
    fn take<N: Near>(
        &mut self,
        near: &mut N,
        names: &Names,
        dead: &[u8],
    ) -> Step<Result<Locked, Fault>> {
        let token = record::pending(0, near.random(), near.me());
        let args = vec![token.clone(), number(PENDING_MS), dead.to_vec()];
        self.state = State::Taking(record::head(&token).to_vec());
        Step::Send(vec![Command::run(
            Script::Acquire,
            names.value.clone(),
            args,
        )])
    }

    fn is_held<N: Near>(
        &mut self,
        near: &mut N,
        names: &Names,
        reply: Option<Reply>,
    ) -> Step<Result<Locked, Fault>> {
        let bytes = reply.and_then(Reply::into_bytes).unwrap_or_default();
        let Some(Kind::Pending(holder)) = Record::parse(&bytes).map(|record| record.kind) else {
            // Another program's.
            return Step::Done(Ok(Locked::Held));
        };
        let head = record::head(&bytes).to_vec();
        match near.lives(holder) {
            Some(true) => Step::Done(Ok(Locked::Held)),
            Some(false) => self.take(near, names, &head),
            // It tells others nothing.
            None if holder.host == 0 => Step::Done(Ok(Locked::Held)),
            None => {
                let presence = names.remote.presence(holder.host);
                self.state = State::Doubting(head, holder);
                Step::Send(vec![Command::get(presence)])
            }
        }
    }
}

/// What gives the lock of this token back.
#[must_use]
pub fn unlock(names: &Names, token: &[u8]) -> Command {
    remove(names.value.clone(), token)
}

/// What asks whether the lock is held: the reply is that of a GET.
#[must_use]
pub fn look_at_lock(names: &Names) -> Command {
    Command::get(names.value.clone())
}
