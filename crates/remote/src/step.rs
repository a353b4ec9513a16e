//! What a driver tells a machine, and what it must do next.

use crate::command::Command;
use crate::fault::Fault;
use crate::reply::Reply;
use std::time::Duration;

/// What happened since the last step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The caller begins, or the time to wait for has come.
    Woken,
    /// The replies to the commands that were sent, one for each.
    Replies(Vec<Reply>),
    /// The commands have no replies. The server may have executed them all the same.
    Fault(Fault),
}

/// What the driver must do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<Done> {
    /// Nothing: this is the result.
    Done(Done),
    /// Send these commands, in this order where they go to one server, and wait for their replies for as
    /// long as the option `timeout` says.
    Send(Vec<Command>),
    /// Wait until then, on the clock that is passed to the steps.
    Wait {
        /// The latest time for the next step.
        until: Duration,
    },
}

impl Event {
    /// The replies, or why there are none.
    pub(crate) fn replies(self) -> Result<Vec<Reply>, Fault> {
        match self {
            Event::Replies(replies) => match Fault::among(&replies) {
                Some(fault) => Err(fault),
                None => Ok(replies),
            },
            Event::Fault(fault) => Err(fault),
            Event::Woken => Err(Fault::Unreachable),
        }
    }
}
