//! Follows a stream by XREAD BLOCK, on a connection of its own.

use super::facts::{Entry, Facts};
use super::gap;
use super::history::History;
use super::hub::Followers;
use super::pages::{self, Pages};
use super::redis_error::problem_of;
use super::ring::{Event, Ring};
use super::Id;
use bytes::Bytes;
use polycache_http::Problem;
use redis::aio::MultiplexedConnection;
use redis::{
    cmd, AsyncConnectionConfig, Client, Cmd, FromRedisValue, RedisError, RedisResult, Value,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::{watch, Semaphore};
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

/// Events that late readers find; a client that is further behind is dropped.
const MOST_EVENTS: usize = 1024;
/// The same in bytes.
const MOST_BYTES: usize = 4 << 20;
/// Entries of a stream that is followed from now on that are remembered, to know it again.
const REMEMBERED: usize = 100;
/// Pages that are read at once: one whose entries are larger than those before is only cut when it is there.
const MOST_PAGES: usize = 4;
/// How long Redis waits for an entry before it says that there is none.
const BLOCK: Duration = Duration::from_secs(2);
/// How long a connection may take to be made, or an answer to come.
const PATIENCE: Duration = Duration::from_secs(5);
/// Between two tries to reach Redis.
const PAUSE: Duration = Duration::from_millis(500);

/// Connections to Redis.
pub(super) struct Connections {
    client: Client,
    /// For short questions; lost ones are made anew.
    shared: tokio::sync::Mutex<Option<MultiplexedConnection>>,
    pages: Semaphore,
}

impl Connections {
    pub fn new(client: Client) -> Connections {
        Connections {
            client,
            shared: tokio::sync::Mutex::default(),
            pages: Semaphore::new(MOST_PAGES),
        }
    }

    async fn open(&self) -> RedisResult<MultiplexedConnection> {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(PATIENCE))
            .set_response_timeout(Some(PATIENCE));
        self.client
            .get_multiplexed_async_connection_with_config(&config)
            .await
    }

    /// Asks on the shared connection.
    pub async fn ask<T: FromRedisValue>(&self, command: &Cmd) -> RedisResult<T> {
        let mut shared = self.shared.lock().await;
        let mut connection = match &*shared {
            Some(connection) => connection.clone(),
            None => shared.insert(self.open().await?).clone(),
        };
        drop(shared);
        let answer = command.query_async(&mut connection).await;
        if answer.as_ref().is_err_and(is_lost) {
            *self.shared.lock().await = None;
        }
        answer
    }

    /// What there is; `None` where there is no stream.
    pub async fn facts(&self, key: &[u8]) -> RedisResult<Option<Facts>> {
        let mut command = cmd("XINFO");
        command.arg("STREAM").arg(key);
        match self.ask(&command).await {
            Ok(facts) => Facts::of(facts).map(Some),
            // `ERR no such key`; a wrong type has a code of its own.
            Err(error) if error.detail() == Some("no such key") => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What is remembered of a stream: its last entries, of large ones fewer; none where the server's user may not ask.
    async fn history(&self, key: &[u8], facts: &Facts) -> RedisResult<History> {
        let mut pages = Pages::of(facts);
        let (mut end, mut left, mut bytes) = ("+".to_owned(), REMEMBERED, 0);
        let mut history = History::new(facts);
        while left > 0 && bytes < MOST_BYTES {
            let asked = pages.count().min(left);
            let mut command = cmd("XREVRANGE");
            command.arg(key).arg(&end).arg("-").arg("COUNT").arg(asked);
            let page = self.page(&command).await;
            let entries = match page {
                Ok(entries) => entries,
                Err(error) if error.code() == Some("NOPERM") => break,
                Err(error) => return Err(error),
            };
            entries.iter().for_each(|entry| history.had(entry));
            let Some((id, _)) = entries.last().filter(|_| entries.len() == asked) else {
                break;
            };
            end = format!("({id}");
            left -= asked;
            bytes += entries.iter().map(pages::size).sum::<usize>();
            pages.learn(&entries);
        }
        Ok(history)
    }

    /// A page of the entries after an id, the oldest first; and whether there may be more.
    pub async fn after(
        &self,
        key: &[u8],
        id: Id,
        pages: &mut Pages,
    ) -> RedisResult<(Vec<Entry>, bool)> {
        let mut command = cmd("XRANGE");
        command
            .arg(key)
            .arg(format!("({id}"))
            .arg("+")
            .arg("COUNT")
            .arg(pages.count());
        let mut entries = self.page(&command).await?;
        let is_more = pages.cut(&mut entries);
        Ok((entries, is_more))
    }

    async fn page(&self, command: &Cmd) -> RedisResult<Vec<Entry>> {
        // It is never closed.
        let _one = self.pages.acquire().await;
        self.ask(command).await
    }
}

/// Whether a connection is of no use any more.
fn is_lost(error: &RedisError) -> bool {
    error.is_io_error() || error.is_timeout() || error.is_unrecoverable_error()
}

#[derive(Clone)]
enum State {
    Begins,
    Follows,
    Ended(Problem),
}

/// One stream that is followed, until nobody holds it any more.
pub(super) struct Follower {
    key: Vec<u8>,
    pub connections: Arc<Connections>,
    followers: Arc<Followers>,
    ring: Mutex<Ring>,
    /// The number of the next event.
    next: watch::Sender<u64>,
    state: watch::Sender<State>,
    task: Mutex<Option<AbortHandle>>,
}

/// Takes the lock of all followers: its holder must not drop one.
impl Drop for Follower {
    fn drop(&mut self) {
        let task = self.task.get_mut();
        if let Some(task) = task.unwrap_or_else(PoisonError::into_inner).take() {
            task.abort();
        }
        let mut followers = self.followers.lock();
        // Another one may have the key by now.
        if followers
            .get(&self.key)
            .is_some_and(|one| one.strong_count() == 0)
        {
            followers.remove(&self.key);
        }
    }
}

impl Follower {
    pub fn start(
        key: &[u8],
        connections: Arc<Connections>,
        followers: Arc<Followers>,
    ) -> Arc<Follower> {
        let follower = Arc::new(Follower {
            key: key.to_vec(),
            connections: connections.clone(),
            followers,
            ring: Mutex::new(Ring::new(MOST_EVENTS, MOST_BYTES)),
            next: watch::Sender::new(0),
            state: watch::Sender::new(State::Begins),
            task: Mutex::default(),
        });
        // It holds the follower weakly: who listens keeps it.
        let following = Following {
            key: key.to_vec(),
            connections,
            follower: Arc::downgrade(&follower),
            last: Id::FIRST,
            history: History::default(),
            pages: Pages::default(),
        };
        let task = tokio::spawn(following.run());
        *follower.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(task.abort_handle());
        follower
    }

    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// Waits until it knows where the stream ends now.
    pub async fn ready(&self) -> Result<(), Problem> {
        let mut state = self.state.subscribe();
        let state = state
            .wait_for(|state| !matches!(state, State::Begins))
            .await;
        match state.as_deref() {
            Ok(State::Ended(problem)) => Err(problem.clone()),
            _ => Ok(()),
        }
    }

    pub fn has_ended(&self) -> bool {
        matches!(&*self.state.borrow(), State::Ended(_))
    }

    /// Waits until it has ended.
    pub async fn ended(&self) {
        let mut state = self.state.subscribe();
        let _ = state
            .wait_for(|state| matches!(state, State::Ended(_)))
            .await;
    }

    /// Where the stream is now: the number of the next event, and how often it has begun anew; and what tells that there is
    /// another event.
    pub fn now(&self) -> (u64, u64, watch::Receiver<u64>) {
        let ring = self.ring();
        (ring.next(), ring.era, self.next.subscribe())
    }

    /// After which id a client goes on that had one which the stream has not given out; `None` if nobody saw why.
    pub fn before(&self, had: Id) -> Option<Id> {
        self.ring().before(had)
    }

    /// The event of a number below the next one's; `None` when it is no longer there.
    pub fn event(&self, number: u64) -> Option<Event> {
        self.ring().get(number)
    }

    /// The stream is without the entries after an id; those who heard them are told.
    fn lose(&self, had: Id, end: Id) {
        let mut ring = self.ring();
        ring.lose(had, end);
        ring.push(end, gap::lost(had, end));
        self.next.send_replace(ring.next());
    }

    fn push(&self, id: Id, bytes: Bytes) {
        let mut ring = self.ring();
        ring.push(id, bytes);
        // Within the lock, so that it only rises.
        self.next.send_replace(ring.next());
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The task of a follower.
struct Following {
    key: Vec<u8>,
    connections: Arc<Connections>,
    follower: Weak<Follower>,
    /// The last entry that was heard of.
    last: Id,
    history: History,
    pages: Pages,
}

impl Following {
    async fn run(mut self) {
        let state = match self.begin().await {
            Err(error) => State::Ended(problem_of(&error)),
            Ok(()) => {
                self.tell(State::Follows);
                State::Ended(problem_of(&self.follow().await))
            }
        };
        self.tell(state);
    }

    fn tell(&self, state: State) {
        if let Some(follower) = self.follower.upgrade() {
            follower.state.send_replace(state);
        }
    }

    /// Learns where the stream ends now.
    async fn begin(&mut self) -> RedisResult<()> {
        if let Some(facts) = self.connections.facts(&self.key).await? {
            self.last = facts.end;
            self.pages = Pages::of(&facts);
            self.history = self.connections.history(&self.key, &facts).await?;
        }
        Ok(())
    }

    /// Follows the stream until it is none any more. A Redis that does not answer is tried again.
    async fn follow(&mut self) -> RedisError {
        loop {
            let error = match self.read().await {
                Ok(never) => match never {},
                Err(error) => error,
            };
            if !is_lost(&error) && matches!(error.code(), Some("WRONGTYPE" | "NOPERM")) {
                return error;
            }
            sleep(PAUSE).await;
        }
    }

    async fn read(&mut self) -> RedisResult<std::convert::Infallible> {
        // The answers of this one take as long as Redis may wait.
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(PATIENCE))
            .set_response_timeout(None);
        let client = &self.connections.client;
        let mut connection = client
            .get_multiplexed_async_connection_with_config(&config)
            .await?;
        loop {
            let mut command = cmd("XREAD");
            command.arg("COUNT").arg(self.pages.count());
            command.arg("BLOCK").arg(BLOCK.as_millis() as u64);
            command
                .arg("STREAMS")
                .arg(&self.key)
                .arg(self.last.to_string());
            // A connection that died silently does not answer.
            let answer = timeout(BLOCK + PATIENCE, command.query_async(&mut connection)).await;
            let answer: Option<Vec<(Value, Vec<Entry>)>> = match answer {
                Ok(answer) => answer?,
                Err(_) => return Err(std::io::Error::from(std::io::ErrorKind::TimedOut).into()),
            };
            match answer.and_then(|mut streams| streams.pop()) {
                Some((_, entries)) => self.heard(entries),
                None => self.look_again().await?,
            }
        }
    }

    fn heard(&mut self, entries: Vec<Entry>) {
        let Some(follower) = self.follower.upgrade() else {
            return;
        };
        self.pages.learn(&entries);
        for entry in entries {
            let Some(id) = Id::parse(&entry.0) else {
                continue;
            };
            self.last = id;
            self.history.heard(&entry);
            follower.push(id, event(&entry));
        }
    }

    /// A stream that was deleted begins anew, perhaps with ids that were there before. One that lost its last entries, as by
    /// a replica that took its primary's place, goes on: nobody hears all of it again.
    async fn look_again(&mut self) -> RedisResult<()> {
        let facts = self.connections.facts(&self.key).await?;
        let end = facts.as_ref().map_or(Id::FIRST, |facts| facts.end);
        if end >= self.last {
            return Ok(());
        }
        let had = std::mem::replace(&mut self.last, Id::FIRST);
        let follower = self.follower.upgrade();
        match facts {
            Some(facts) if self.history.is_of(&facts) => {
                self.last = end;
                self.history.go_back(end);
                if let Some(follower) = follower {
                    follower.lose(had, end);
                }
            }
            _ => {
                self.history = History::default();
                if let Some(follower) = follower {
                    follower.ring().begin_anew();
                }
            }
        }
        Ok(())
    }
}

/// An entry as an event (HTML, "Server-sent events"): its data is JSON, in the form that XRANGE has it. Bytes that are no
/// text are shown as replacement characters, as in all JSON of replies.
pub(super) fn event((id, fields): &Entry) -> Bytes {
    let fields: Vec<_> = fields
        .iter()
        .map(|field| String::from_utf8_lossy(field))
        .collect();
    let data = serde_json::json!([id, fields]);
    Bytes::from(format!("id: {id}\ndata: {data}\n\n"))
}
