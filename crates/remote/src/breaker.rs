//! The circuit breaker: a server that does not answer is asked again now and then, by one command.

use crate::fault::Fault;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

/// Faults in a row that open it.
const FAULTS: u32 = 5;
const SHORTEST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(8);

/// One handle's circuit breaker.
#[derive(Debug, Default)]
pub struct Breaker(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    faults: u32,
    /// Until when nothing is sent; then one command is the trial.
    open_until: Option<Duration>,
    /// How long it was open the last time.
    pause: Duration,
    /// When the trial that is under way began.
    trial: Option<Duration>,
}

/// Whether a command may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permit {
    /// Yes.
    Send,
    /// Yes, as the trial of an open breaker.
    Trial,
    /// No.
    Refused,
}

impl Breaker {
    /// Asks for one command. A trial without an outcome for `timeout` counts as failed.
    pub fn ask(&self, now: Duration, timeout: Duration) -> Permit {
        let mut state = self.lock();
        let Some(until) = state.open_until else {
            return Permit::Send;
        };
        let under_way = state.trial.is_some_and(|since| now < since + timeout);
        if now < until || under_way {
            return Permit::Refused;
        }
        state.trial = Some(now);
        Permit::Trial
    }

    /// Tells how a command ended. `random` is any number: by a quarter of the pause handles differ, so
    /// that they do not all come back at once.
    pub fn tell(&self, outcome: Result<(), Fault>, now: Duration, random: u64) {
        let mut state = self.lock();
        match outcome {
            Err(fault) if fault.is_of_server() => {
                state.faults = state.faults.saturating_add(1);
                let failed_trial = state.trial.take().is_some();
                if !failed_trial && (state.faults < FAULTS || state.open_until.is_some()) {
                    return;
                }
                state.pause = (state.pause * 2).clamp(SHORTEST, LONGEST);
                let part = (random % 1024) as u32;
                state.open_until = Some(now + state.pause - state.pause / 4 * part / 1024);
            }
            // The breaker itself says nothing about the server.
            Err(Fault::Open) => {}
            _ => *state = State::default(),
        }
    }

    /// Whether commands are refused.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.lock().open_until.is_some()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
