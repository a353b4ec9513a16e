//! Why a command has no answer.

use crate::reply::Reply;

/// Why the remote tier did not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// No reply within the option `timeout`, the connection ended, or there was none.
    Unreachable,
    /// Nothing was sent: the circuit breaker is open, or a read of the same key has just waited in vain.
    Open,
    /// The server says that it cannot serve anybody now: it is loading, has lost its primary, or the
    /// cluster is down.
    Unavailable,
    /// The server refused this command: it is out of memory, read-only, has the wrong password, or the
    /// key holds another type.
    Refused,
}

impl Fault {
    /// Whether the server as a whole is concerned, which the circuit breaker counts.
    #[must_use]
    pub fn is_of_server(self) -> bool {
        matches!(self, Fault::Unreachable | Fault::Unavailable)
    }

    /// What an error of the server means.
    #[must_use]
    pub fn of_error(text: &str) -> Fault {
        let code = text.split(' ').next().unwrap_or_default();
        match code {
            "LOADING" | "MASTERDOWN" | "CLUSTERDOWN" | "TRYAGAIN" | "BUSY" | "MOVED" | "ASK" => {
                Fault::Unavailable
            }
            _ => Fault::Refused,
        }
    }

    /// The first error among replies.
    pub(crate) fn among(replies: &[Reply]) -> Option<Fault> {
        replies.iter().find_map(|reply| match reply {
            Reply::Error(text) => Some(Fault::of_error(text)),
            _ => None,
        })
    }
}
