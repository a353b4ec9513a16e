//! `Polycache::Native::Cache`: what `ruby/lib/polycache/cache.rb` calls.

use crate::error::OrRaise;
use crate::from_ruby::with_value;
use crate::key::{key, text};
use crate::loads::Loads;
use crate::to_ruby::{build, make, Made};
use crate::without_gvl::{
    with_gvl, without_gvl, without_gvl_in_any_case, without_gvl_unless_interrupted,
};
use crate::{atomic, duration, landing, options, report};
use magnus::{
    function, gc::Marker, method, prelude::*, typed_data, value::Opaque, DataTypeFunctions, Error,
    RArray, RHash, RModule, Ruby, TypedData, Value,
};
use polycache::bindings::{Bindings, MemoryHits, Origin};
use polycache::{Clock, Doorkeeper, TtlLeft};
use polycache_host::without_signals;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::Arc;

/// Slots that one page of keys looks at.
const PAGE: u64 = 4096;

/// An open cache.
#[derive(TypedData)]
#[magnus(class = "Polycache::Native::Cache", free_immediately, mark, size)]
pub(crate) struct Cache {
    pub(crate) cache: polycache::Cache,
    /// Whether operations may ask a server, and wait for it.
    is_remote: bool,
    clock: Option<ManualClock>,
    /// Of all namespaces of the handle.
    pub(crate) loads: Arc<Loads>,
    pub(crate) counts: Arc<Counts>,
    /// A `Polycache::Unstored`, which is told of loaded values that cannot be stored.
    unstored: Opaque<Value>,
    /// A `Polycache::Types`: those that are registered.
    types: Opaque<Value>,
    /// A `Polycache::Observers`: what hears of loads.
    observers: Opaque<Value>,
    /// Whether anything does.
    heard: Arc<AtomicBool>,
    admission: Arc<Admission>,
}

/// What the store does not see.
#[derive(Default)]
pub(crate) struct Counts {
    /// Hits of the memory tier.
    pub(crate) memory_hits: AtomicU64,
    /// Those of them that the machine's counters have.
    pub(crate) added: MemoryHits,
    /// Callers that were given the value of another caller of their process.
    pub(crate) joined: AtomicU64,
    /// Callers who were told by another that there is none.
    pub(crate) absent: AtomicU64,
}

/// What the memory tier admits, for all namespaces of the handle (`spec/memory.md`, "Admission").
#[derive(Default)]
struct Admission {
    doorkeeper: Doorkeeper,
    /// Entries of the memory tier while it has no room; 0 while it has.
    held: AtomicUsize,
}

/// A clock of users: it is asked before each operation.
#[derive(Clone)]
struct ManualClock {
    /// Answers `call` with milliseconds since 1970.
    callable: Opaque<Value>,
    now: Arc<AtomicU64>,
}

impl DataTypeFunctions for Cache {
    fn mark(&self, marker: &Marker) {
        if let Some(clock) = &self.clock {
            marker.mark(clock.callable);
        }
        marker.mark(self.unstored);
        marker.mark(self.types);
        marker.mark(self.observers);
        self.loads.mark(marker);
    }
}

impl Cache {
    fn open(ruby: &Ruby, options: RHash) -> Result<Cache, Error> {
        let mut builder = options::builder(ruby, options)?;
        let clock = options
            .get(ruby.sym_new("clock"))
            .filter(|clock| !clock.is_nil())
            .map(|callable| ManualClock {
                callable: callable.into(),
                now: Arc::default(),
            });
        if let Some(clock) = &clock {
            builder = builder.clock(Clock::Manual(clock.now.clone()));
        }
        let unstored: Value = options.fetch(ruby.sym_new("unstored"))?;
        let types: Value = options.fetch(ruby.sym_new("types"))?;
        let observers: Value = options.fetch(ruby.sym_new("observers"))?;
        let cache = builder.build().or_raise(ruby)?;
        Ok(Cache {
            is_remote: cache.remote_stats().is_some(),
            cache,
            clock,
            loads: Arc::default(),
            counts: Arc::default(),
            unstored: unstored.into(),
            types: types.into(),
            observers: observers.into(),
            heard: Arc::default(),
            admission: Arc::default(),
        })
    }

    /// A loaded value could not be stored.
    pub(crate) fn report(&self, ruby: &Ruby, error: Error) -> Result<(), Error> {
        let Some(error) = error.value() else {
            return Err(error);
        };
        let unstored = ruby.get_inner(self.unstored);
        unstored.funcall::<_, _, Value>("report", (error,))?;
        Ok(())
    }

    /// A `Polycache::Types`.
    pub(crate) fn types(&self, ruby: &Ruby) -> Value {
        ruby.get_inner(self.types)
    }

    /// A `Polycache::Observers`.
    pub(crate) fn observers(ruby: &Ruby, this: &Cache) -> Value {
        ruby.get_inner(this.observers)
    }

    /// Whether loads are to be told to the observers.
    pub(crate) fn is_heard(&self) -> bool {
        self.heard.load(Ordering::Relaxed)
    }

    fn set_heard(&self, heard: bool) {
        self.heard.store(heard, Ordering::Relaxed);
    }

    /// What a reader is given of what was read, which has no other owner. May run code of users.
    #[inline]
    pub(crate) fn give(&self, ruby: &Ruby, made: Made) -> Result<Value, Error> {
        if made.named {
            return self.give_named(ruby, made.value);
        }
        Ok(made.value)
    }

    #[cold]
    #[inline(never)]
    fn give_named(&self, ruby: &Ruby, value: Value) -> Result<Value, Error> {
        self.types(ruby).funcall("read", (value,))
    }

    /// Whether operations may ask a server, and wait for it.
    pub(crate) fn is_remote(&self) -> bool {
        self.is_remote
    }

    /// Sets the store's time, when it is the user's.
    #[inline]
    pub(crate) fn read_clock(&self, ruby: &Ruby) -> Result<(), Error> {
        if let Some(clock) = &self.clock {
            let now = ruby.get_inner(clock.callable).funcall("call", ())?;
            clock.now.store(now, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Runs an operation, which must not touch Ruby. If it may wait for a server, other threads run meanwhile.
    ///
    /// # Errors
    /// An interrupt that came before; then nothing was done.
    #[inline]
    pub(crate) fn run<R>(&self, work: impl FnOnce(&polycache::Cache) -> R) -> Result<R, Error> {
        if self.is_remote {
            // A signal would end the wait for the server: Ruby has the kernel restart no call.
            return without_gvl_unless_interrupted(|| without_signals(|| work(&self.cache)));
        }
        Ok(work(&self.cache))
    }

    /// As [`Cache::run`], for what has to be done whatever comes, the end of a load for example.
    #[inline]
    pub(crate) fn run_in_any_case<R>(&self, work: impl FnOnce(&polycache::Cache) -> R) -> R {
        if self.is_remote {
            return without_gvl_in_any_case(|| without_signals(|| work(&self.cache)));
        }
        work(&self.cache)
    }

    /// As [`Cache::run`], for an operation that writes `object`. Nothing that Ruby could change is looked at without its
    /// lock.
    pub(crate) fn write<R>(
        &self,
        ruby: &Ruby,
        object: Value,
        work: impl FnOnce(&polycache::Cache, &polycache::Value<'_>) -> R,
    ) -> Result<R, Error> {
        let types = self.types(ruby);
        if self.is_remote {
            let value = with_value(ruby, types, object, own)?;
            return self.run(|cache| work(cache, &value));
        }
        with_value(ruby, types, object, |value| work(&self.cache, value))
    }

    /// What a copy on this host has of a key. A thread that let go of Ruby's lock would wait for others to get it back,
    /// up to 100 ms for each that computes.
    pub(crate) fn get_near(
        &self,
        ruby: &Ruby,
        key: &[u8],
    ) -> Result<Option<(Made, Origin)>, Error> {
        self.cache
            .get_near(key, |value| make(ruby, &value))
            .or_raise(ruby)?
            .map(|(made, origin)| Ok((made?, origin)))
            .transpose()
    }

    /// What was read of a key, and where.
    pub(crate) fn get_with_origin(
        &self,
        ruby: &Ruby,
        key: &[u8],
    ) -> Result<Option<(Made, Origin)>, Error> {
        let found = if self.is_remote {
            if let Some(near) = self.get_near(ruby, key)? {
                return Ok(Some(near));
            }
            self.run(|cache| cache.get_with_origin(key, owned))?
                .or_raise(ruby)?
                .map(|(value, origin)| (make(ruby, &value), origin))
        } else {
            self.cache
                .get_with_origin(key, |value| make(ruby, &value))
                .or_raise(ruby)?
        };
        found.map(|(made, origin)| Ok((made?, origin))).transpose()
    }

    /// What was read of a key.
    pub(crate) fn get_made(&self, ruby: &Ruby, key: &[u8]) -> Result<Option<Made>, Error> {
        let found = if self.is_remote {
            if let Some((made, _)) = self.get_near(ruby, key)? {
                return Ok(Some(made));
            }
            self.run(|cache| cache.get_with(key, owned))?
                .or_raise(ruby)?
                .map(|value| make(ruby, &value))
        } else {
            self.cache
                .get_with(key, |value| make(ruby, &value))
                .or_raise(ruby)?
        };
        found.transpose()
    }

    /// The memory tier has so many entries, and no room for another; or with 0 it has room.
    fn set_held(&self, held: usize) {
        self.admission.held.store(held, Ordering::Relaxed);
    }

    /// Whether the memory tier is to keep what was read there.
    pub(crate) fn admits(&self, origin: &Origin) -> bool {
        if !origin.is_known() {
            return false;
        }
        let Admission { doorkeeper, held } = &*self.admission;
        let held = held.load(Ordering::Relaxed);
        held == 0 || doorkeeper.admits(origin.place(), held)
    }

    /// The key's value, or `miss`.
    fn get(ruby: &Ruby, this: &Cache, name: Value, miss: Value) -> Result<Value, Error> {
        this.read_clock(ruby)?;
        let key = key(ruby, name)?;
        if this.is_remote {
            let made = this.get_made(ruby, &key)?;
            return made.map_or(Ok(miss), |made| this.give(ruby, made));
        }
        // Beside the value, and not with it, so that a hit moves no more than necessary.
        let named = Cell::new(false);
        let value = this
            .cache
            .get_with(&key, |value| build(ruby, &value, &named))
            .or_raise(ruby)?
            .unwrap_or(Ok(miss))?;
        let named = named.get();
        this.give(ruby, Made { value, named })
    }

    /// As [`Cache::get`], without a use of the entry.
    fn peek(ruby: &Ruby, this: &Cache, name: Value, miss: Value) -> Result<Value, Error> {
        this.read_clock(ruby)?;
        let key = key(ruby, name)?;
        let made = if this.is_remote {
            this.run(|cache| cache.peek_with(&key, owned))?
                .or_raise(ruby)?
                .map(|value| make(ruby, &value))
        } else {
            this.cache
                .peek_with(&key, |value| make(ruby, &value))
                .or_raise(ruby)?
        };
        made.transpose()?
            .map_or(Ok(miss), |made| this.give(ruby, made))
    }

    /// The key's value, whose entry is deleted, or `miss`. Types are made of it before that, because it may fail.
    fn take(ruby: &Ruby, this: &Cache, name: Value, miss: Value) -> Result<Value, Error> {
        this.read_clock(ruby)?;
        let key = key(ruby, name)?;
        if this.is_remote {
            return this.take_from_server(ruby, &key, miss);
        }
        let taken = this
            .cache
            .try_take_with(&key, |value| {
                make(ruby, &value).and_then(|made| this.give(ruby, made))
            })
            .or_raise(ruby)?;
        taken.unwrap_or(Ok(miss))
    }

    fn take_from_server(&self, ruby: &Ruby, key: &[u8], miss: Value) -> Result<Value, Error> {
        // Holds what is made, because the thread lets go of Ruby's lock again after that.
        let held = ruby.ary_new();
        let taken = self.run(|cache| {
            cache.try_take_with(key, |value| {
                with_gvl(|| {
                    let made = make(ruby, &value).and_then(|made| self.give(ruby, made));
                    if let Some(raised) = made.as_ref().err().and_then(Error::value) {
                        held.store(0, raised)?;
                    }
                    held.store(0, made?)
                })
            })
        })?;
        match taken.or_raise(ruby)? {
            Some(made) => made.and_then(|()| held.entry(0)),
            None => Ok(miss),
        }
    }

    fn touch(ruby: &Ruby, this: &Cache, name: Value, ttl: Value) -> Result<bool, Error> {
        this.read_clock(ruby)?;
        let key = key(ruby, name)?;
        let ttl = duration::ttl(ruby, ttl)?;
        this.run(|cache| cache.touch(&key, ttl))?.or_raise(ruby)
    }

    pub(crate) fn set(
        ruby: &Ruby,
        this: &Cache,
        name: Value,
        object: Value,
        ttl: Value,
    ) -> Result<(), Error> {
        this.read_clock(ruby)?;
        let key = key(ruby, name)?;
        let ttl = duration::ttl(ruby, ttl)?;
        this.write(ruby, object, |cache, value| {
            cache.set_value(&key, value, ttl)
        })?
        .or_raise(ruby)
    }

    fn delete(ruby: &Ruby, this: &Cache, name: Value) -> Result<bool, Error> {
        this.read_clock(ruby)?;
        let key = key(ruby, name)?;
        this.run(|cache| cache.delete(&key))?.or_raise(ruby)
    }

    /// How many entries it deleted.
    fn delete_prefix(ruby: &Ruby, this: &Cache, prefix: Value) -> Result<u64, Error> {
        this.read_clock(ruby)?;
        let prefix = key(ruby, prefix)?;
        let cache = &this.cache;
        without_gvl(|| cache.delete_prefix(&prefix))?.or_raise(ruby)
    }

    fn has(ruby: &Ruby, this: &Cache, name: Value) -> Result<bool, Error> {
        this.read_clock(ruby)?;
        let key = key(ruby, name)?;
        this.run(|cache| cache.has(&key))?.or_raise(ruby)
    }

    /// Seconds, infinity, or nil.
    fn ttl(ruby: &Ruby, this: &Cache, name: Value) -> Result<Option<f64>, Error> {
        this.read_clock(ruby)?;
        let key = key(ruby, name)?;
        let left = this.run(|cache| cache.ttl(&key))?.or_raise(ruby)?;
        Ok(left.map(seconds))
    }

    /// Some keys that begin with `prefix`, and the cursor for the next ones: nil at the end.
    fn keys_page(
        ruby: &Ruby,
        this: &Cache,
        prefix: Value,
        cursor: u64,
    ) -> Result<(RArray, Option<u64>), Error> {
        this.read_clock(ruby)?;
        let prefix = key(ruby, prefix)?;
        let mut found = Vec::new();
        let next = this
            .run(|cache| cache.keys_page(&prefix, cursor, PAGE, &mut found))?
            .or_raise(ruby)?;
        let keys = ruby.ary_new_capa(found.len());
        for key in found {
            match std::str::from_utf8(&key) {
                Ok(text) => keys.push(ruby.str_new(text))?,
                Err(_) => keys.push(ruby.str_from_slice(&key))?,
            }
        }
        Ok((keys, next))
    }

    fn clear(ruby: &Ruby, this: &Cache) -> Result<(), Error> {
        this.read_clock(ruby)?;
        this.run(polycache::Cache::clear)?.or_raise(ruby)
    }

    /// Adds the hits of the memory tier to what the machine counts.
    pub(crate) fn add_memory_hits(&self) {
        let hits = self.counts.memory_hits.load(Ordering::Relaxed);
        self.cache.add_memory_hits(&self.counts.added, hits);
    }

    fn machine_stats(ruby: &Ruby, this: &Cache) -> Result<Option<RHash>, Error> {
        this.add_memory_hits();
        let cache = &this.cache;
        let stats = without_gvl(|| cache.machine_stats())?.or_raise(ruby)?;
        stats.map(|stats| report::machine(ruby, &stats)).transpose()
    }

    fn remote_stats(ruby: &Ruby, this: &Cache) -> Result<Option<RHash>, Error> {
        let stats = this.cache.remote_stats();
        stats.map(|stats| report::remote(ruby, &stats)).transpose()
    }

    fn usage(ruby: &Ruby, this: &Cache, most: usize) -> Result<Option<RArray>, Error> {
        this.read_clock(ruby)?;
        let cache = &this.cache;
        let usage = without_gvl(|| cache.usage(most))?.or_raise(ruby)?;
        usage.map(|usage| report::usage(ruby, &usage)).transpose()
    }

    fn stats(ruby: &Ruby, this: &Cache) -> Result<RHash, Error> {
        this.add_memory_hits();
        let cache = &this.cache;
        let stats = without_gvl(|| cache.stats())?.or_raise(ruby)?;
        report::stats(ruby, &stats, &this.counts)
    }

    fn check(ruby: &Ruby, this: &Cache) -> Result<RHash, Error> {
        this.read_clock(ruby)?;
        let cache = &this.cache;
        let found = without_gvl(|| cache.check())?.or_raise(ruby)?;
        report::check(ruby, &found)
    }

    fn flush(ruby: &Ruby, this: &Cache) -> Result<(), Error> {
        let cache = &this.cache;
        without_gvl(|| cache.flush())?.or_raise(ruby)
    }

    fn close(&self) {
        self.add_memory_hits();
        self.run_in_any_case(polycache::Cache::close);
    }

    fn is_closed(&self) -> bool {
        self.cache.is_closed()
    }

    fn namespace(ruby: &Ruby, this: &Cache, part: Value) -> Result<typed_data::Obj<Cache>, Error> {
        let part = text(ruby, "a namespace's part", part)?;
        let cache = this.cache.namespace(part).or_raise(ruby)?;
        let clock = this.clock.clone();
        Ok(ruby.obj_wrap(Cache {
            cache,
            is_remote: this.is_remote,
            clock,
            loads: this.loads.clone(),
            counts: this.counts.clone(),
            unstored: this.unstored,
            types: this.types,
            observers: this.observers,
            heard: this.heard.clone(),
            admission: this.admission.clone(),
        }))
    }

    /// Seconds that a caller waits for others at most.
    fn wait_timeout(&self) -> f64 {
        self.cache.wait_timeout().as_secs_f64()
    }

    /// Another value like one that was handed out.
    fn copy_of(ruby: &Ruby, this: &Cache, value: Value) -> Result<Value, Error> {
        landing::copy_of(ruby, value, this.types(ruby))
    }

    /// A caller who joined another is given `value`.
    fn joined(&self, value: Value) -> Value {
        self.counts.joined.fetch_add(1, Ordering::Relaxed);
        self.cache.add_read(true);
        value
    }

    /// A caller who joined another is told that there is no value.
    fn count_absent(&self) {
        self.counts.absent.fetch_add(1, Ordering::Relaxed);
        self.cache.add_read(false);
    }

    fn count_wait_timeout(&self) {
        self.cache.count_wait_timeout();
    }

    /// Nil without a directory.
    fn path(ruby: &Ruby, this: &Cache) -> Option<magnus::RString> {
        use std::os::unix::ffi::OsStrExt;
        let path = this.cache.path().as_os_str().as_bytes();
        (!path.is_empty()).then(|| ruby.enc_str_new(path, ruby.filesystem_encoding()))
    }
}

/// A value that borrows nothing: what is kept of one that was read.
pub(crate) fn owned(value: polycache::Value<'_>) -> polycache::Value<'static> {
    value.into_owned()
}

/// The same of one that is to be written.
pub(crate) fn own(value: &polycache::Value<'_>) -> polycache::Value<'static> {
    value.clone().into_owned()
}

/// The time that an entry has left, in seconds.
pub(crate) fn seconds(left: TtlLeft) -> f64 {
    match left {
        TtlLeft::Forever => f64::INFINITY,
        TtlLeft::For(left) => left.as_millis() as f64 / 1000.0,
    }
}

/// Defines the class.
///
/// # Errors
/// What Ruby raises when it cannot.
pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let class = native.define_class("Cache", ruby.class_object())?;
    class.undef_default_alloc_func();
    class.define_singleton_method("open", function!(Cache::open, 1))?;
    class.define_method("get", method!(Cache::get, 2))?;
    class.define_method("get_many", method!(Cache::get_many, 2))?;
    class.define_method("peek", method!(Cache::peek, 2))?;
    class.define_method("take", method!(Cache::take, 2))?;
    class.define_method("touch", method!(Cache::touch, 2))?;
    class.define_method("facts", method!(Cache::facts, 1))?;
    class.define_method("set", method!(Cache::set, 3))?;
    class.define_method("set_many", method!(Cache::set_many, 2))?;
    class.define_method("delete", method!(Cache::delete, 1))?;
    class.define_method("delete_many", method!(Cache::delete_many, 1))?;
    class.define_method("delete_prefix", method!(Cache::delete_prefix, 1))?;
    class.define_method("has", method!(Cache::has, 1))?;
    class.define_method("ttl", method!(Cache::ttl, 1))?;
    class.define_method("remote_stats", method!(Cache::remote_stats, 0))?;
    class.define_method("fetch", method!(Cache::fetch, 4))?;
    class.define_method("fetch_with_origin", method!(Cache::fetch_with_origin, 4))?;
    class.define_method("begin_load", method!(Cache::begin_load, 5))?;
    class.define_method(
        "begin_load_with_origin",
        method!(Cache::begin_load_with_origin, 5),
    )?;
    class.define_method("step_load", method!(Cache::step_load, 3))?;
    class.define_method("step_load_found", method!(Cache::step_load_found, 3))?;
    class.define_method("fill", method!(Cache::fill, 2))?;
    class.define_method("flight", method!(Cache::flight, 2))?;
    class.define_method("wait_timeout", method!(Cache::wait_timeout, 0))?;
    class.define_method("copy_of", method!(Cache::copy_of, 1))?;
    class.define_method("joined", method!(Cache::joined, 1))?;
    class.define_method("count_absent", method!(Cache::count_absent, 0))?;
    class.define_method("count_wait_timeout", method!(Cache::count_wait_timeout, 0))?;
    class.define_method("observers", method!(Cache::observers, 0))?;
    class.define_method("heard=", method!(Cache::set_heard, 1))?;
    class.define_method("lock", method!(Cache::lock, 1))?;
    class.define_method("unlock", method!(Cache::unlock, 2))?;
    class.define_method("locked?", method!(Cache::is_locked, 1))?;
    class.define_method("find", method!(Cache::find, 2))?;
    class.define_method("admits?", method!(Cache::admits_value, 1))?;
    class.define_method("held=", method!(Cache::set_held, 1))?;
    class.define_method("stands?", method!(Cache::stands, 1))?;
    class.define_method("keys_page", method!(Cache::keys_page, 2))?;
    class.define_method("clear", method!(Cache::clear, 0))?;
    class.define_method("stats", method!(Cache::stats, 0))?;
    class.define_method("machine_stats", method!(Cache::machine_stats, 0))?;
    class.define_method("usage", method!(Cache::usage, 1))?;
    class.define_method("check", method!(Cache::check, 0))?;
    class.define_method("flush", method!(Cache::flush, 0))?;
    class.define_method("close", method!(Cache::close, 0))?;
    class.define_method("closed?", method!(Cache::is_closed, 0))?;
    class.define_method("namespace", method!(Cache::namespace, 1))?;
    class.define_method("path", method!(Cache::path, 0))?;
    atomic::define(ruby, native, class)
}
