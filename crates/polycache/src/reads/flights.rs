//! Callers of this process that share a read which is under way.

use super::cached_reads::Reply;
use crate::Error;
use polycache_host::PerProcess;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
#[cfg(feature = "tokio")]
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// How long a caller waits for another's read before it reads by itself.
pub(super) const PATIENCE: Duration = Duration::from_secs(1);

pub(super) type Landed = Result<Arc<Reply>, Error>;

type ByCommand = Mutex<HashMap<Box<[u8]>, Arc<Flight>>>;

/// The reads that are under way, by their commands.
#[derive(Default)]
pub(super) struct Flights(PerProcess<ByCommand>);

impl fmt::Debug for Flights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flights").finish_non_exhaustive()
    }
}

/// One read.
pub(super) struct Flight {
    began: Instant,
    state: Mutex<State>,
    has_landed: Condvar,
}

enum State {
    /// With those who wait for it asynchronously.
    UnderWay(Vec<Waker>),
    Landed(Landed),
}

/// A caller's part in a read.
pub(super) enum Joined {
    /// It reads, for itself and those that join it.
    Own(Own),
    /// Another caller does.
    Other(Arc<Flight>),
}

/// The right, and the duty, to land a flight. One that is dropped before has failed.
pub(super) struct Own {
    flights: Arc<Flights>,
    command: Box<[u8]>,
    flight: Arc<Flight>,
}

impl Flights {
    fn all(&self) -> MutexGuard<'_, HashMap<Box<[u8]>, Arc<Flight>>> {
        let all = self.0.get();
        all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Joins a read of the command that is younger than that, or begins one.
    pub fn join(self: &Arc<Self>, command: &[u8], within: Duration) -> Joined {
        let mut all = self.all();
        if let Some(flight) = all.get(command) {
            if flight.began.elapsed() < within {
                return Joined::Other(flight.clone());
            }
        }
        let flight = Arc::new(Flight {
            began: Instant::now(),
            state: Mutex::new(State::UnderWay(Vec::new())),
            has_landed: Condvar::new(),
        });
        all.insert(command.into(), flight.clone());
        drop(all);
        Joined::Own(Own {
            flights: self.clone(),
            command: command.into(),
            flight,
        })
    }

    /// Nobody joins those that are under way from now on.
    pub fn clear(&self) {
        self.all().clear();
    }
}

impl Own {
    pub fn land(self, landed: Landed) -> Landed {
        self.flight.land(landed.clone());
        landed
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let mut all = self.flights.all();
        // Another one may have begun.
        if (all.get(&self.command)).is_some_and(|there| Arc::ptr_eq(there, &self.flight)) {
            all.remove(&self.command);
        }
        drop(all);
        self.flight.land(Err(Error::Io(
            "the thread that read for all has ended".into(),
        )));
    }
}

impl Flight {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn land(&self, landed: Landed) {
        let mut state = self.state();
        let State::UnderWay(waiting) = &mut *state else {
            return;
        };
        let waiting = std::mem::take(waiting);
        *state = State::Landed(landed);
        drop(state);
        self.has_landed.notify_all();
        waiting.into_iter().for_each(Waker::wake);
    }

    /// What it brought; `None` when that takes too long. Its connection may be dead, and another one not.
    pub fn wait(&self) -> Option<Landed> {
        let waits = |state: &mut State| matches!(state, State::UnderWay(_));
        let (state, _) = (self.has_landed)
            .wait_timeout_while(self.state(), PATIENCE, waits)
            .unwrap_or_else(PoisonError::into_inner);
        match &*state {
            State::Landed(landed) => Some(landed.clone()),
            State::UnderWay(_) => None,
        }
    }

    #[cfg(feature = "tokio")]
    pub fn poll(&self, context: &mut Context<'_>) -> Poll<Landed> {
        match &mut *self.state() {
            State::Landed(landed) => Poll::Ready(landed.clone()),
            State::UnderWay(waiting) => {
                if !waiting.iter().any(|one| one.will_wake(context.waker())) {
                    waiting.push(context.waker().clone());
                }
                Poll::Pending
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_that_hangs_holds_only_its_own_caller() {
        let flights = Arc::new(Flights::default());
        let within = Duration::from_secs(60);
        let Joined::Own(own) = flights.join(b"k", within) else {
            panic!("nobody reads yet");
        };
        let Joined::Other(flight) = flights.join(b"k", within) else {
            panic!("it is under way");
        };
        assert!(flight.wait().is_none());
        let _ = own.land(Err(Error::Closed));
        assert!(flight.wait().is_some());
    }
}
