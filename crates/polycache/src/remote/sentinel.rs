//! Asks Sentinel for the primary.

use super::redis::Primary;
use polycache_host::PerProcess;
use redis::sentinel::SentinelClient;
use redis::{cmd, Client, Connection, RedisError, RedisResult, Value};
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// The crate's client of Sentinel waits for an answer for as long as it takes. So it is asked on a thread, one at a time:
/// whoever wants the answer meanwhile takes the next one.
pub(super) enum Sentinel {
    /// The program's own client, and the process in which it was given to us: its connections are that one's own.
    Given(u32, Arc<Desk>),
    /// One for each process, from what makes it.
    Made(Make, PerProcess<Mutex<Option<Arc<Desk>>>>),
}

type Make = Box<dyn Fn() -> RedisResult<SentinelClient> + Send + Sync>;

pub(super) struct Desk {
    state: Mutex<State>,
    answered: Condvar,
    /// Locked by the thread that asks.
    client: Mutex<SentinelClient>,
}

/// Questions have numbers.
#[derive(Default)]
struct State {
    asked: u64,
    answered: u64,
    /// To the last one; an error by its text.
    answer: Option<Result<Client, String>>,
    /// A thread asks.
    is_asking: bool,
}

impl Sentinel {
    pub fn new(client: SentinelClient) -> Sentinel {
        Sentinel::Given(std::process::id(), Desk::new(client))
    }

    /// Of which a forked process has its own.
    ///
    /// # Errors
    /// Those of `make`.
    #[cfg(feature = "bindings-remote")]
    pub fn made(
        make: impl Fn() -> RedisResult<SentinelClient> + Send + Sync + 'static,
    ) -> RedisResult<Sentinel> {
        let sentinel = Sentinel::Made(Box::new(make), PerProcess::new());
        sentinel.desk()?;
        Ok(sentinel)
    }

    fn desk(&self) -> RedisResult<Arc<Desk>> {
        match self {
            Sentinel::Given(process, desk) if *process == std::process::id() => Ok(desk.clone()),
            Sentinel::Given(..) => Err(unreachable(
                "a forked process needs a SentinelClient of its own, and a cache that is built with it",
            )),
            Sentinel::Made(make, desks) => {
                let mut desk = lock(desks.get());
                match &*desk {
                    Some(desk) => Ok(desk.clone()),
                    None => Ok(desk.insert(Desk::new(make()?)).clone()),
                }
            }
        }
    }
}

impl Primary for Sentinel {
    fn find(&self, timeout: Duration) -> RedisResult<Client> {
        let desk = self.desk()?;
        let end = Instant::now() + timeout;
        let mut state = lock(&desk.state);
        state.asked += 1;
        let mine = state.asked;
        if !state.is_asking {
            let asking = desk.clone();
            Builder::new()
                .name("polycache-sentinel".into())
                .spawn(move || asking.ask())?;
            state.is_asking = true;
        }
        loop {
            if state.answered >= mine {
                return match &state.answer {
                    Some(Ok(client)) => Ok(client.clone()),
                    Some(Err(why)) => Err(unreachable(why.clone())),
                    None => Err(unreachable("Sentinel was not asked")),
                };
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    format!("Sentinel did not tell the primary within {timeout:?}"),
                )
                .into());
            }
            state = desk
                .answered
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    fn verify(&self, connection: &mut Connection) -> RedisResult<()> {
        // It may have become a replica since Sentinel was asked, or the client asks for replicas.
        let role: Vec<Value> = cmd("ROLE").query(connection)?;
        match role.first() {
            Some(Value::BulkString(role)) if role == b"master" => Ok(()),
            _ => Err(unreachable("Sentinel tells of a server that is no primary")),
        }
    }
}

impl Desk {
    fn new(client: SentinelClient) -> Arc<Desk> {
        Arc::new(Desk {
            state: Mutex::default(),
            answered: Condvar::new(),
            client: Mutex::new(client),
        })
    }

    /// Answers until nobody asks.
    fn ask(&self) {
        let mut client = lock(&self.client);
        loop {
            let question = {
                let mut state = lock(&self.state);
                if state.answered == state.asked {
                    state.is_asking = false;
                    return;
                }
                state.asked
            };
            let answer = client.get_client().map_err(|error| error.to_string());
            let mut state = lock(&self.state);
            state.answered = question;
            state.answer = Some(answer);
            drop(state);
            self.answered.notify_all();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn unreachable(why: impl Into<String>) -> RedisError {
    io::Error::new(io::ErrorKind::NotConnected, why.into()).into()
}
