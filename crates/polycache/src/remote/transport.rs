//! How the remote tier reaches a server: by the program's own client.

use polycache_remote::{Command, Fault, Heard, Map, Node, Reply};
use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::Arc;
use std::time::Duration;

/// Why commands have no replies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind of failure it is.
    pub fault: Fault,
    /// What the client or the server said.
    pub why: String,
}

impl Failure {
    /// No reply came, or there is no connection.
    #[must_use]
    pub fn unreachable(why: impl fmt::Display) -> Failure {
        Failure {
            fault: Fault::Unreachable,
            why: why.to_string(),
        }
    }
}

/// A client of Redis or Valkey. Its methods block, and may be called from any thread.
pub trait Transport: Send + Sync {
    /// Sends the commands in one round trip to each server, and returns their replies in order. Errors of single
    /// commands are replies. No call takes much longer than `timeout`.
    ///
    /// # Errors
    /// A failure, after which the server may have executed the commands all the same.
    fn send(&self, commands: &[Command], timeout: Duration) -> Result<Vec<Reply>, Failure>;

    /// A part of the keys that match a pattern on one of the primaries (SCAN), and the cursor to go on from; 0 at first
    /// and at the end.
    ///
    /// # Errors
    /// As for [`Transport::send`].
    fn scan(
        &self,
        primary: usize,
        cursor: u64,
        pattern: &[u8],
        timeout: Duration,
    ) -> Result<(u64, Vec<Vec<u8>>), Failure>;

    /// The primaries and their slots; `None` when they cannot be asked, do not agree, or slots are moving.
    fn map(&self, timeout: Duration) -> Option<Map>;

    /// Whether keys are on several servers, of which one may be gone while another answers.
    fn is_cluster(&self) -> bool {
        false
    }

    /// Waits for another caller's command, some milliseconds at most.
    fn wait(&self, time: Duration) {
        #[cfg(feature = "fibers")]
        if super::fibers::is_inside() {
            return super::fibers::pause(time);
        }
        std::thread::sleep(time);
    }

    /// Whether its callers may be fibers (`fibers`, a cargo feature): it leaves them instead of waiting.
    fn serves_fibers(&self) -> bool {
        false
    }

    /// The cache is closed: the connections of this thread's fibers are not needed any more.
    fn leave_fibers(&self) {}

    /// The client, where it leads to one server, and to that one without asking anybody.
    #[cfg(feature = "reads")]
    #[doc(hidden)]
    fn one_server(&self) -> Option<redis::Client> {
        None
    }

    /// The client of a Cluster.
    #[cfg(all(feature = "reads", feature = "redis-cluster"))]
    #[doc(hidden)]
    fn cluster(&self) -> Option<redis::cluster::ClusterClient> {
        None
    }

    /// The cache is closed: connections that wait for the next command are not needed any more.
    fn close(&self) {}

    /// Opens a connection of its own to a primary, asks it to push writes of keys with these prefixes, and tells `ear`
    /// what it hears. Returns when the connection ends, or soon after [`Ear::is_over`].
    fn listen(&self, node: &Node, prefixes: &[Vec<u8>], ear: &Ear);
}

/// Sends commands by the digests of their scripts; once more, as text, where the server does not know one. All of them:
/// their order is part of what they mean.
///
/// # Errors
/// Those of `send`.
pub fn by_digest_or_text<E>(
    mut send: impl FnMut(bool) -> Result<Vec<Reply>, E>,
) -> Result<Vec<Reply>, E> {
    let replies = send(true)?;
    match replies.iter().any(Reply::lacks_script) {
        true => send(false),
        false => Ok(replies),
    }
}

thread_local! {
    static IS_BACKGROUND: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is one of the remote tier's own, which no caller waits for: it holds no lock of a language's
/// interpreter.
#[must_use]
pub fn is_background() -> bool {
    IS_BACKGROUND.get()
}

pub(crate) fn be_background() {
    IS_BACKGROUND.set(true);
}

/// What a listening connection tells.
#[derive(Clone, Debug)]
pub struct Ear {
    pub(crate) arming: u64,
    pub(crate) node: usize,
    pub(crate) heard: Sender<Heard>,
    pub(crate) over: Arc<AtomicBool>,
    pub(crate) refused: Arc<AtomicBool>,
}

impl Ear {
    /// The server pushes from now on.
    pub fn armed(&self) {
        self.tell(Heard::Armed {
            arming: self.arming,
            node: self.node,
        });
    }

    /// The server does not let this user track keys.
    pub fn refused(&self) {
        self.refused.store(true, Ordering::Relaxed);
        self.tell(Heard::Refused);
    }

    /// Keys were written; `None`: all of them may have been.
    pub fn pushed(&self, keys: Option<Vec<Vec<u8>>>) {
        self.tell(Heard::Pushed {
            arming: self.arming,
            node: self.node,
            keys,
        });
    }

    /// Whether nobody listens to it any more.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    pub(crate) fn is_refused(&self) -> bool {
        self.refused.load(Ordering::Relaxed)
    }

    pub(crate) fn ended(&self) {
        self.tell(Heard::Ended {
            arming: self.arming,
        });
    }

    fn tell(&self, heard: Heard) {
        // Whoever listened may be gone.
        let _ = self.heard.send(heard);
    }
}
