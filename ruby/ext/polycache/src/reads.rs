//! Cached reads (`spec/reads.md`): what stands on this host, and what may be kept. The reads themselves are sent by the
//! program's own client, in `ruby/lib/polycache/reads`.
//!
//! A read is named by bytes that begin with the keys: how many in two bytes, little-endian, then each behind its length in
//! four. Behind them stand the command and the shape of its reply.

use crate::cache::Cache;
use crate::error::{invalid, OrRaise};
use crate::process;
use crate::without_gvl::without_gvl_unless_interrupted;
use magnus::{
    method, prelude::*, typed_data, DataTypeFunctions, Error, RArray, RModule, RString, Ruby,
    TryConvert, TypedData, Value,
};
use polycache::bindings::remote::{CachedReads, ReadBegun, ReadOrigin, ReadTicket, Uncached};
use polycache_host::without_signals;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// One hit in so many tells the near tier that the reply is in use; a power of two.
const LOOKS: u64 = 16;

/// The cached reads of a cache with a server.
#[derive(TypedData)]
#[magnus(class = "Polycache::Native::Reads", free_immediately, size)]
pub(crate) struct Reads {
    reads: Arc<CachedReads>,
    hits: AtomicU64,
}

impl DataTypeFunctions for Reads {}

/// Where a reply was found.
#[derive(TypedData)]
#[magnus(class = "Polycache::Native::ReadOrigin", free_immediately, size)]
pub(crate) struct Origin(ReadOrigin);

impl DataTypeFunctions for Origin {}

/// A read that was begun. One that nobody ends, because its thread was killed, ends with this object.
#[derive(TypedData)]
#[magnus(class = "Polycache::Native::ReadTicket", free_immediately, size)]
pub(crate) struct Ticket {
    reads: Arc<CachedReads>,
    name: Vec<u8>,
    pending: Mutex<Option<ReadTicket>>,
    /// The process that began it: a fork has a copy, and must not end it.
    process: u32,
}

impl DataTypeFunctions for Ticket {}

/// The keys of a read, by its name.
fn keys_of(name: &[u8]) -> Option<Vec<&[u8]>> {
    let (count, mut rest) = name.split_first_chunk()?;
    let mut keys = Vec::with_capacity(usize::from(u16::from_le_bytes(*count)));
    for _ in 0..u16::from_le_bytes(*count) {
        let (length, behind) = rest.split_first_chunk()?;
        let (key, behind) = behind.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        keys.push(key);
        rest = behind;
    }
    Some(keys)
}

fn bytes(string: RString) -> Vec<u8> {
    // SAFETY: the bytes are copied at once.
    unsafe { string.as_slice() }.to_vec()
}

/// Calls `f` with the name of a read and its keys.
fn on_read<R>(ruby: &Ruby, name: &[u8], f: impl FnOnce(&[&[u8]]) -> R) -> Result<R, Error> {
    let keys = keys_of(name).ok_or_else(|| invalid(ruby, "that names no read"))?;
    Ok(f(&keys))
}

impl Cache {
    /// The cached reads of keys with these prefixes.
    fn cached_reads(
        ruby: &Ruby,
        this: &Cache,
        prefixes: RArray,
    ) -> Result<typed_data::Obj<Reads>, Error> {
        let prefixes = prefixes
            .into_iter()
            .map(|prefix| RString::try_convert(prefix).map(bytes))
            .collect::<Result<_, _>>()?;
        let reads = CachedReads::new(&this.cache, prefixes).or_raise(ruby)?;
        Ok(ruby.obj_wrap(Reads {
            reads: Arc::new(reads),
            hits: AtomicU64::new(0),
        }))
    }
}

impl Reads {
    /// Asks the server who it is, unless that is known; whether it answers. Other threads run meanwhile.
    fn know(&self) -> Result<bool, Error> {
        if self.reads.is_known() {
            return Ok(true);
        }
        without_gvl_unless_interrupted(|| without_signals(|| self.reads.know()))
    }

    /// The reply that this host has, packed, and where it was found; nil where none may be served.
    fn near(
        ruby: &Ruby,
        this: &Reads,
        name: RString,
    ) -> Result<Option<(RString, typed_data::Obj<Origin>)>, Error> {
        let mut reply = Vec::new();
        let name = bytes(name);
        let found = on_read(ruby, &name, |keys| this.reads.near(&name, keys, &mut reply))?;
        Ok(found.map(|origin| (ruby.str_from_slice(&reply), ruby.obj_wrap(Origin(origin)))))
    }

    /// Whether a reply that was found there may be served again.
    fn stands(&self, origin: typed_data::Obj<Origin>) -> bool {
        if !self.reads.stands(&origin.0) {
            return false;
        }
        let hits = self.hits.fetch_add(1, Ordering::Relaxed) + 1;
        if hits % LOOKS == 0 {
            self.reads.mark_visited(&origin.0);
        }
        true
    }

    /// Begins a read, whose caller has waited so many seconds: a [`Ticket`]; the seconds after which to begin again; or
    /// nil: look again.
    fn begin(ruby: &Ruby, this: &Reads, name: RString, waited: f64) -> Result<Value, Error> {
        let waited = Duration::try_from_secs_f64(waited).unwrap_or_default();
        let name = bytes(name);
        let begun = on_read(ruby, &name, |keys| this.reads.begin(&name, keys, waited))?;
        Ok(match begun {
            ReadBegun::There => ruby.qnil().as_value(),
            ReadBegun::Wait(ms) => ruby.float_from_f64(ms.max(0.0) / 1000.0).as_value(),
            ReadBegun::Ask(ticket) => ruby
                .obj_wrap(Ticket {
                    reads: this.reads.clone(),
                    name,
                    pending: Mutex::new(Some(*ticket)),
                    process: process::number(),
                })
                .as_value(),
        })
    }

    /// What this host keeps of reads of these keys is read anew.
    fn forget(ruby: &Ruby, this: &Reads, name: RString) -> Result<(), Error> {
        on_read(ruby, &bytes(name), |keys| {
            keys.iter().for_each(|key| this.reads.forget(key));
        })
    }
}

impl Ticket {
    fn take(&self) -> Option<ReadTicket> {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        pending.take().filter(|_| self.process == process::number())
    }

    /// Why the reply will not be kept; nil if it may be.
    fn why(ruby: &Ruby, this: &Ticket) -> Option<magnus::Symbol> {
        let pending = this.pending.lock().unwrap_or_else(PoisonError::into_inner);
        let why = pending.as_ref().and_then(ReadTicket::why)?;
        Some(ruby.to_symbol(match why {
            Uncached::Deaf => "deaf",
            Uncached::NotHeard => "not_heard",
            Uncached::Busy => "busy",
        }))
    }

    /// The key that the same connection is to be asked for by GETEX, after the read; nil for none.
    fn asks(ruby: &Ruby, this: &Ticket) -> Option<RString> {
        let pending = this.pending.lock().unwrap_or_else(PoisonError::into_inner);
        let asks = pending.as_ref()?.asks.as_deref()?;
        Some(ruby.str_from_slice(asks))
    }

    /// Ends it with what GETEX found, and with the packed reply and when that expires (milliseconds since 1970; 0:
    /// never); nil: it is not to be kept. Whether it is kept.
    fn fill(
        ruby: &Ruby,
        this: &Ticket,
        answer: Option<RString>,
        reply: Option<RString>,
        expires: u64,
    ) -> Result<bool, Error> {
        let Some(ticket) = this.take() else {
            return Ok(false);
        };
        let (answer, reply) = (answer.map(bytes), reply.map(bytes));
        let reply = reply.as_deref().map(|reply| (reply, expires));
        on_read(ruby, &this.name, |keys| {
            let (name, answer) = (&this.name, answer.as_deref());
            this.reads.fill(name, keys, ticket, answer, reply)
        })
    }

    /// Ends it without a reply. Nothing, if it has ended.
    fn fail(&self) {
        if let (Some(ticket), Some(keys)) = (self.take(), keys_of(&self.name)) {
            self.reads.fail(&self.name, &keys, ticket);
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.fail();
    }
}

/// Defines the classes.
///
/// # Errors
/// What Ruby raises when it cannot.
pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let cache: magnus::RClass = native.const_get("Cache")?;
    cache.define_method("cached_reads", method!(Cache::cached_reads, 1))?;
    let class = native.define_class("Reads", ruby.class_object())?;
    class.undef_default_alloc_func();
    class.define_method("know", method!(Reads::know, 0))?;
    class.define_method("near", method!(Reads::near, 1))?;
    class.define_method("stands?", method!(Reads::stands, 1))?;
    class.define_method("begin", method!(Reads::begin, 2))?;
    class.define_method("forget", method!(Reads::forget, 1))?;
    let origin = native.define_class("ReadOrigin", ruby.class_object())?;
    origin.undef_default_alloc_func();
    let ticket = native.define_class("ReadTicket", ruby.class_object())?;
    ticket.undef_default_alloc_func();
    ticket.define_method("why", method!(Ticket::why, 0))?;
    ticket.define_method("asks", method!(Ticket::asks, 0))?;
    ticket.define_method("fill", method!(Ticket::fill, 3))?;
    ticket.define_method("fail", method!(Ticket::fail, 0))?;
    // Looked up now: when a read was begun, nothing may run that a thread could be killed in.
    <Ticket as TypedData>::class(ruby);
    <Origin as TypedData>::class(ruby);
    Ok(())
}
