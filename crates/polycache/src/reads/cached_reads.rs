//! Read commands of the program's own, for callers that may block.

use super::builder::{CachedReadsBuilder, Opened};
use super::call::Call;
use super::expiry::{expiry_of, questions};
use super::flights::{Flights, Joined, Landed};
use super::json::JsonReply;
use super::kept::KeptReplies;
use super::packed::{pack, unpack};
use super::servers::Servers;
use super::stats::{count, Counts, ReadStats};
use crate::remote::{is_too_large, Asked, Told};
use crate::tier::{ReadBegun, ReadOrigin, ReadTicket, Reads};
use crate::{Cache, Error, Remote};
use polycache_host::monotonic;
use polycache_remote::{Uncached as Why, MOST_KEYS};
use redis::{Cmd, FromRedisValue, RedisResult, Value};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Read commands of your own, answered from this process' memory or from what its host keeps, while that is no further
/// behind the server than `max_staleness`. What is not kept, or not by a server that is heard, your client reads; its
/// errors are handed out as they are.
///
/// Any program may write the keys. A write of your own shows within `max_staleness`, usually in a few milliseconds, or
/// at once after [`CachedReads::forget`].
///
/// Make one and keep it, or clone it: clones share everything.
#[derive(Clone)]
pub struct CachedReads(pub(super) Arc<Inner>);

pub(super) struct Inner {
    opened: Opened,
    reads: Reads,
    servers: Servers,
    /// What other forms of replies are told from.
    shape: &'static str,
    replies: KeptReplies<Arc<Reply>>,
    json: KeptReplies<Arc<JsonReply>>,
    flights: Arc<Flights>,
    counts: Counts,
    is_closed: AtomicBool,
}

/// What a read brings.
#[derive(Debug)]
pub(super) struct Reply {
    pub value: Value,
    json: OnceLock<Arc<JsonReply>>,
    /// Whether memory was given the value.
    is_kept: AtomicBool,
    /// Where it is found on this host.
    origin: Option<ReadOrigin>,
}

impl Reply {
    fn new(value: Value, origin: Option<ReadOrigin>) -> Arc<Reply> {
        Arc::new(Reply {
            value,
            json: OnceLock::new(),
            is_kept: AtomicBool::new(false),
            origin,
        })
    }

    pub fn to<T: FromRedisValue>(&self) -> Result<T, Error> {
        T::from_redis_value_ref(&self.value).map_err(|error| Error::WrongType {
            path: "$".into(),
            reason: error.to_string(),
        })
    }
}

impl fmt::Debug for CachedReads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CachedReads")
            .field("cache", &self.0.opened.cache)
            .field("prefixes", &self.0.opened.prefixes)
            .finish_non_exhaustive()
    }
}

impl CachedReads {
    /// Options of cached reads of a Redis or Valkey: a URL, a `redis::Client` with settings of your own, or a
    /// `ClusterClient` (cargo feature `redis-cluster`), of which only primaries are read from.
    pub fn builder(remote: impl Into<Remote>) -> CachedReadsBuilder {
        CachedReadsBuilder::new(remote.into())
    }

    /// Cached reads of the server of a cache, which share its directory, connections that listen, and options.
    pub fn of(cache: &Cache) -> CachedReadsBuilder {
        CachedReadsBuilder::of(cache.clone())
    }

    pub(super) fn open(opened: Opened) -> Result<CachedReads, Error> {
        let reads = opened.reads()?;
        let servers = opened.servers()?;
        Ok(CachedReads(Arc::new(Inner {
            reads,
            shape: match servers.speaks_resp3() {
                true => "redis-rs 3",
                false => "redis-rs 2",
            },
            servers,
            replies: KeptReplies::new(opened.bounds)?,
            json: KeptReplies::new(opened.bounds)?,
            flights: Arc::default(),
            counts: Counts::default(),
            is_closed: AtomicBool::new(false),
            opened,
        })))
    }

    /// The reply of a read command.
    ///
    /// # Errors
    /// `UncacheableRead` for a command that is no read, or whose reply cannot be cached: nothing is sent.
    /// `InvalidArgument` for a key that begins with none of the prefixes. `ReadFailed` with the error of the client or of
    /// the server. `WrongType` for a reply that is no `T`. `Closed`.
    pub fn query<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, Error> {
        let inner = &*self.0;
        if let Some(reply) = inner.kept_reply(command) {
            return reply.to();
        }
        let call = inner.call(command)?;
        let reply = inner.landed(&call)?;
        inner.keep_reply(&call, &reply);
        reply.to()
    }

    /// The JSON of the reply of a read command, encoded once for each change: all callers get the same one.
    ///
    /// # Errors
    /// Those of [`CachedReads::query`].
    pub fn json(&self, command: &Cmd) -> Result<Arc<JsonReply>, Error> {
        let inner = &*self.0;
        if let Some(json) = inner.kept_json(command) {
            return Ok(json);
        }
        let call = inner.call(command)?;
        let reply = inner.landed(&call)?;
        Ok(inner.keep_json(&call, &reply))
    }

    /// Has reads of these keys read anew on this host: for what the program itself has just written.
    pub fn forget<K: AsRef<[u8]>>(&self, keys: impl IntoIterator<Item = K>) {
        // What is under way was begun before the write, perhaps.
        self.0.flights.clear();
        for key in keys {
            self.0.reads.forget(key.as_ref());
        }
    }

    /// What these reads did.
    #[must_use]
    pub fn stats(&self) -> ReadStats {
        self.0.counts.stats()
    }

    /// Ends these reads, of all clones, and the cache that was opened for them.
    pub fn close(&self) {
        self.0.close();
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.close();
    }
}

impl Inner {
    fn close(&self) {
        if self.is_closed.swap(true, Ordering::AcqRel) {
            return;
        }
        self.replies.clear();
        self.json.clear();
        self.servers.close();
        if self.opened.is_own {
            self.opened.cache.close();
        }
    }

    pub fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire) || self.opened.cache.is_closed()
    }

    /// The number of the database that the client reads.
    pub fn database(&self) -> i64 {
        self.servers.database()
    }

    /// What memory has.
    pub fn kept_reply(&self, command: &Cmd) -> Option<Arc<Reply>> {
        let reply = self.replies.get(&self.reads, command)?;
        count(&self.counts.memory_hits);
        Some(reply)
    }

    /// The same of JSON.
    pub fn kept_json(&self, command: &Cmd) -> Option<Arc<JsonReply>> {
        let json = self.json.get(&self.reads, command)?;
        count(&self.counts.memory_hits);
        Some(json)
    }

    /// The first of those that share a read keeps what it brought.
    pub fn keep_reply(&self, call: &Call, reply: &Arc<Reply>) {
        if let Some(origin) = &reply.origin {
            if !reply.is_kept.swap(true, Ordering::Relaxed) {
                self.replies.put(&call.packed, reply, origin);
            }
        }
    }

    /// The same of its JSON, which is encoded for that.
    pub fn keep_json(&self, call: &Call, reply: &Reply) -> Arc<JsonReply> {
        let mut is_new = false;
        let json = reply.json.get_or_init(|| {
            is_new = true;
            Arc::new(JsonReply::new(&reply.value, call.is_document))
        });
        if let (true, Some(origin)) = (is_new, &reply.origin) {
            self.json.put(&call.packed, json, origin);
        }
        json.clone()
    }

    /// # Errors
    /// `Closed`, `UncacheableRead`, `InvalidArgument`.
    pub fn call(&self, command: &Cmd) -> Result<Call, Error> {
        if self.is_closed() {
            return Err(Error::Closed);
        }
        let call = Call::new(command, self.shape)?;
        self.servers.check(&call.keys)?;
        let prefixes = &self.opened.prefixes;
        match (call.keys.iter()).find(|key| !prefixes.iter().any(|prefix| key.starts_with(prefix)))
        {
            Some(key) => Err(Error::InvalidArgument(format!(
                "the key {} begins with none of prefixes: nobody would hear of its writes",
                String::from_utf8_lossy(key)
            ))),
            None => Ok(call),
        }
    }

    /// The reply of a call; callers of this process share a read that is under way.
    fn landed(&self, call: &Call) -> Landed {
        match self.join(call) {
            Joined::Own(own) => own.land(self.read(call)),
            Joined::Other(flight) => flight.wait().unwrap_or_else(|| self.read(call)),
        }
    }

    pub fn join(&self, call: &Call) -> Joined {
        let joined = (self.flights).join(&call.packed, self.opened.joins_within);
        if let Joined::Other(_) = joined {
            count(&self.counts.joined);
        }
        joined
    }

    /// What this host has, where nobody has to be asked whose it is.
    #[cfg(feature = "tokio")]
    pub fn known_host_reply(&self, call: &Call) -> Option<Arc<Reply>> {
        let is_known = self.reads.is_known();
        is_known.then(|| self.host_reply(call, &call.key_slices()))?
    }

    pub fn read(&self, call: &Call) -> Landed {
        if call.keys.len() > MOST_KEYS {
            count(&self.counts.refused);
            return self.pass(call);
        }
        if !self.reads.is_known() && !self.reads.know() {
            // The server does not answer the cache; what it tells the client is the client's business.
            self.counts.uncached(Why::Deaf);
            return self.pass(call);
        }
        let began = monotonic();
        let keys = call.key_slices();
        loop {
            if let Some(reply) = self.host_reply(call, &keys) {
                return Ok(reply);
            }
            let waited = monotonic().saturating_sub(began);
            match self.reads.begin(&call.name, &keys, waited) {
                ReadBegun::There => {}
                ReadBegun::Wait(milliseconds) => {
                    std::thread::sleep(Duration::from_secs_f64(milliseconds / 1000.0));
                }
                ReadBegun::Ask(ticket) => return self.ask(call, &keys, *ticket),
            }
        }
    }

    /// A read that is not kept at all.
    fn pass(&self, call: &Call) -> Landed {
        let told = self.ask_servers(call, &[], None)?;
        Ok(Reply::new(answered(told.reply)?, None))
    }

    /// The reply that this host has.
    fn host_reply(&self, call: &Call, keys: &[&[u8]]) -> Option<Arc<Reply>> {
        let mut packed = Vec::new();
        let origin = self.reads.near(&call.name, keys, &mut packed)?;
        let Some(value) = unpack(&packed) else {
            // What another version wrote, perhaps. It must not stand in the way of one that can be read.
            keys.iter().for_each(|key| self.reads.forget(key));
            return None;
        };
        count(&self.counts.host_hits);
        Some(Reply::new(value, Some(origin)))
    }

    /// Reads, and keeps the reply if it may.
    fn ask(&self, call: &Call, keys: &[&[u8]], ticket: ReadTicket) -> Landed {
        let why = ticket.why();
        if let Some(why) = why {
            self.counts.uncached(why);
        }
        let before = match why {
            None => questions(call),
            Some(_) => Vec::new(),
        };
        let sent_at = self.opened.cache.tier().now();
        let told = self.ask_servers(call, &before, ticket.asks.as_deref());
        let answered = told.and_then(|mut told| {
            let reply = std::mem::take(&mut told.reply);
            Ok((answered(reply)?, told))
        });
        let (value, told) = match answered {
            Ok(answered) => answered,
            Err(error) => {
                self.reads.fail(&call.name, keys, ticket);
                return Err(error);
            }
        };
        let proof = match told.answer {
            Some(Value::BulkString(proof)) => Some(proof),
            _ => None,
        };
        let reply = match why {
            None => pack(&value).zip(expiry_of(keys.len(), &told.answers, sent_at)),
            Some(_) => None,
        };
        let filled = (reply.as_ref()).map(|(packed, expires)| (packed.as_slice(), *expires));
        let is_kept = (self.reads).fill(&call.name, keys, ticket, proof.as_deref(), filled);
        if why.is_none() && !is_kept {
            count(&self.counts.refused);
        }
        Ok(match reply {
            Some((packed, _)) if is_kept => {
                let origin = self.filled_origin(call, keys, &packed);
                Reply::new(value, origin)
            }
            _ => Reply::new(value, None),
        })
    }

    /// Where stands what was just kept on this host, if it still does.
    fn filled_origin(&self, call: &Call, keys: &[&[u8]], packed: &[u8]) -> Option<ReadOrigin> {
        let mut there = Vec::new();
        let origin = self.reads.near(&call.name, keys, &mut there)?;
        (there == packed).then_some(origin)
    }

    fn ask_servers(&self, call: &Call, before: &[Cmd], asks: Option<&[u8]>) -> Result<Told, Error> {
        count(&self.counts.sent);
        let key = call.keys.first().map(AsRef::as_ref).unwrap_or_default();
        let told = self.servers.ask(&Asked {
            before,
            read: &call.packed,
            key,
            asks,
        });
        match told {
            Err(error) if is_too_large(&error) => {
                let limit = self.opened.max_reply.unwrap_or_default();
                // It was not counted any further.
                let size = limit.saturating_add(1);
                Err(Error::ValueTooLarge { size, limit })
            }
            told => failed(told),
        }
    }
}

fn failed<T>(result: RedisResult<T>) -> Result<T, Error> {
    result.map_err(|error| Error::ReadFailed(Arc::new(error)))
}

/// The reply to the read itself.
fn answered(reply: Value) -> Result<Value, Error> {
    failed(reply.extract_error())
}
