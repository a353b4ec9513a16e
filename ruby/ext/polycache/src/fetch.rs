//! One loader for all callers of the host: what `ruby/lib/polycache/loading.rb` asks of a directory.

use crate::cache::{own, owned, Cache};
use crate::error::{self, OrRaise};
use crate::from_ruby::{as_read, with_facts, Unfit};
use crate::key::{key, Key};
use crate::loads::{Caller, FullKey, Loader, OwnKey};
use crate::to_ruby::{make, to_ruby, Made};
use crate::value_with_origin::ValueWithOrigin;
use crate::{duration, landing, process};
use magnus::{prelude::*, value::Opaque, Error, Float, RArray, RModule, Ruby, Value};
use polycache::bindings::{Bindings, Filled, LoadStep, Loading, Origin};
use polycache::{StoreErrors, Ttl};
use std::time::{Duration, Instant};

/// What a loader returned, and what is known of it.
pub(crate) struct Loaded {
    /// What its caller is given, once types are made of what stands for them.
    pub(crate) value: Value,
    /// Whether types stand in it as `Polycache::Named`.
    pub(crate) named: bool,
    /// It has no copies: callers that joined are given the object itself.
    pub(crate) has_no_copies: bool,
    pub(crate) stored: bool,
}

/// A load that this caller runs.
pub(crate) struct Mine {
    key: Key,
    ttl: Ttl,
    loading: Loading,
    caller: Caller,
}

/// What came of a step.
pub(crate) enum Stepped {
    /// The value is there; the load is over.
    Value(Value),
    /// The caller is to load it.
    Load,
    /// Another process loads it: ask again after so long.
    Wait(Duration),
}

/// What came of asking for a key.
pub(crate) enum Asked {
    /// The value is there.
    Value(Value),
    /// Another loads it.
    Busy,
    /// The caller is to load it, by the load that is listed under this number.
    Mine(Box<Mine>, u64),
}

impl Cache {
    /// The key's value; or what the block loads, if no other caller does; or `busy`: a load of this
    /// process is to be joined, or was there just now.
    ///
    /// `waited` is nil, or the seconds that the caller has waited for others before. With nil it does
    /// not wait for other processes, but is told `busy`.
    ///
    /// The block runs in `protect`, so the load ends however the block is left: by an error, `break`,
    /// `throw`, a killed thread. No interrupt is looked at between lease and block.
    pub(crate) fn fetch(
        ruby: &Ruby,
        this: &Cache,
        name: Value,
        ttl: Value,
        waited: Value,
        busy: Value,
    ) -> Result<Value, Error> {
        Cache::fetch_by(ruby, this, name, ttl, waited, busy, |made, _| {
            this.give(ruby, made)
        })
    }

    /// As [`Cache::fetch`], but a hit is a [`ValueWithOrigin`].
    pub(crate) fn fetch_with_origin(
        ruby: &Ruby,
        this: &Cache,
        name: Value,
        ttl: Value,
        waited: Value,
        busy: Value,
    ) -> Result<Value, Error> {
        Cache::fetch_by(ruby, this, name, ttl, waited, busy, |made, origin| {
            Ok(ValueWithOrigin::wrap(ruby, made, origin))
        })
    }

    fn fetch_by(
        ruby: &Ruby,
        this: &Cache,
        name: Value,
        ttl: Value,
        waited: Value,
        busy: Value,
        hit: impl Fn(Made, Origin) -> Result<Value, Error>,
    ) -> Result<Value, Error> {
        if !ruby.block_given() {
            return Err(error::invalid(
                ruby,
                "get_or_set takes a block that loads the value",
            ));
        }
        match Cache::ask(ruby, this, name, ttl, waited, hit)? {
            Asked::Value(value) => Ok(value),
            Asked::Busy => Ok(busy),
            Asked::Mine(mine, id) => mine.load(ruby, this, id),
        }
    }

    /// The key's value, or the right to load it. No other code knows yet that it was granted: there must be no
    /// interrupt before it is in safe hands. `waited`: see [`Cache::fetch`].
    pub(crate) fn ask(
        ruby: &Ruby,
        this: &Cache,
        name: Value,
        ttl: Value,
        waited: Value,
        hit: impl Fn(Made, Origin) -> Result<Value, Error>,
    ) -> Result<Asked, Error> {
        let mut mine = Mine::new(ruby, this, name, ttl, waited)?;
        if waited.is_nil() {
            if this.is_remote() {
                if let Some((made, origin)) = this.get_near(ruby, &mine.key)? {
                    return hit(made, origin).map(Asked::Value);
                }
            }
            return match mine.take_step(ruby, this)? {
                LoadStep::Hit(made, origin) => {
                    made.and_then(|made| hit(made, origin)).map(Asked::Value)
                }
                LoadStep::Load => {
                    // The load began just now.
                    let loader = mine.loader(mine.loading.began());
                    let full_key = this.full_key(&mine.key);
                    let id = this.loads.begin(full_key, mine.caller, Some(loader));
                    Ok(Asked::Mine(Box::new(mine), id))
                }
                // It may hold what other callers of this host wait for. If it gave that back to begin anew, they would
                // take its wait for one in vain, and load beside the holder elsewhere.
                LoadStep::Wait(_) if this.is_remote() && !mine.is_loaded_here(this) => {
                    mine.wait(ruby, this, hit)
                }
                LoadStep::Wait(_) | LoadStep::TimedOut => {
                    mine.abandon(this);
                    Ok(Asked::Busy)
                }
            };
        }
        if mine.is_loaded_here(this) {
            return Ok(Asked::Busy);
        }
        mine.wait(ruby, this, hit)
    }

    /// Lists a load whose caller waits for other processes, and asks nothing yet. None when a load of this process is to be
    /// joined.
    pub(crate) fn begin_waiting(
        ruby: &Ruby,
        this: &Cache,
        name: Value,
        ttl: Value,
        waited: Value,
    ) -> Result<Option<(Box<Mine>, u64)>, Error> {
        let mine = Mine::new(ruby, this, name, ttl, waited)?;
        if mine.is_loaded_here(this) {
            return Ok(None);
        }
        let id = mine.list(this);
        Ok(Some((Box::new(mine), id)))
    }

    /// The newest load of the key in this process that is open, as a `Polycache::Flight` that the
    /// caller may wait in, and for how many seconds; nil when there is none. `scheduled`: other fibers of the thread go on
    /// while it waits.
    ///
    /// # Errors
    /// `InvalidArgument`: it is the load of the caller.
    pub(crate) fn flight(
        ruby: &Ruby,
        this: &Cache,
        name: Value,
        scheduled: bool,
    ) -> Result<Option<RArray>, Error> {
        let full_key = this.full_key(&key(ruby, name)?);
        let open = this
            .loads
            .open(&this.cache, &full_key, Caller::now(), scheduled);
        let open = match open {
            Ok(None) => return Ok(None),
            Ok(Some(open)) => open,
            Err(OwnKey) => {
                let message = "the block of get_or_set asks for the key that it loads";
                return Err(error::invalid(ruby, message));
            }
        };
        let flight = match open.flight {
            Some(flight) => flight,
            None => {
                let made = landing::new_flight(ruby)?;
                // The load may have ended meanwhile.
                match this.loads.join(open.id, Opaque::from(made)) {
                    Some(flight) => flight,
                    None => return Ok(None),
                }
            }
        };
        let left = ruby.float_from_f64(open.left.as_secs_f64()).as_value();
        Ok(Some(
            ruby.ary_new_from_values(&[ruby.get_inner(flight), left]),
        ))
    }

    fn full_key(&self, key: &Key) -> FullKey {
        let prefix = self.cache.prefix();
        let mut full = FullKey::with_capacity(prefix.len() + key.len());
        full.extend_from_slice(prefix);
        full.extend_from_slice(key);
        full
    }
}

impl Mine {
    /// What is wrong with the arguments is found before anything is loaded.
    fn new(
        ruby: &Ruby,
        cache: &Cache,
        name: Value,
        ttl: Value,
        waited: Value,
    ) -> Result<Mine, Error> {
        let key = key(ruby, name)?;
        let ttl = duration::ttl(ruby, ttl)?;
        cache.read_clock(ruby)?;
        let cache = &cache.cache;
        let loading = match Float::from_value(waited) {
            None => cache.loading(),
            Some(waited) => cache.loading_after(Duration::from_secs_f64(waited.to_f64().max(0.0))),
        };
        Ok(Mine {
            key,
            ttl,
            loading,
            caller: Caller::now(),
        })
    }

    /// Whether a load of this process may be joined, or was there just now.
    fn is_loaded_here(&self, cache: &Cache) -> bool {
        let full_key = cache.full_key(&self.key);
        let open = cache.loads.open(&cache.cache, &full_key, self.caller, true);
        !matches!(open, Ok(None))
    }

    /// Lists the load: its caller waits for other processes.
    fn list(&self, cache: &Cache) -> u64 {
        let full_key = cache.full_key(&self.key);
        cache.loads.begin(full_key, self.caller, None)
    }

    /// Asks, for all callers that join, until the value is there, or this caller is to load.
    fn wait(
        mut self,
        ruby: &Ruby,
        cache: &Cache,
        hit: impl Fn(Made, Origin) -> Result<Value, Error>,
    ) -> Result<Asked, Error> {
        let id = self.list(cache);
        loop {
            match self.step(ruby, cache, id, &hit)? {
                Stepped::Value(value) => return Ok(Asked::Value(value)),
                Stepped::Load => return Ok(Asked::Mine(Box::new(self), id)),
                Stepped::Wait(pause) => {
                    // Other threads run meanwhile and, under a Fiber scheduler, other fibers.
                    let kernel: Result<RModule, Error> = ruby.class_object().const_get("Kernel");
                    let slept = kernel.and_then(|kernel| {
                        kernel.funcall::<_, _, Value>("sleep", (pause.as_secs_f64(),))
                    });
                    if let Err(error) = slept {
                        self.abandon(cache);
                        // The caller is gone: others see for themselves.
                        landing::give_up(ruby, cache.loads.end(id, false).joined)?;
                        return Err(error);
                    }
                }
            }
        }
    }

    /// Asks once. No interrupt is looked at after a load was granted.
    fn take_step(
        &mut self,
        ruby: &Ruby,
        cache: &Cache,
    ) -> Result<LoadStep<Result<Made, Error>>, Error> {
        let (key, loading) = (&self.key, &mut self.loading);
        if !cache.is_remote() {
            let step = cache.cache.step(key, loading, |value| make(ruby, &value));
            return step.or_raise(ruby);
        }
        let step = cache.run(|cache| cache.step(key, loading, owned))?;
        Ok(match step.or_raise(ruby)? {
            LoadStep::Hit(value, origin) => LoadStep::Hit(make(ruby, &value), origin),
            LoadStep::Load => LoadStep::Load,
            LoadStep::Wait(pause) => LoadStep::Wait(pause),
            LoadStep::TimedOut => LoadStep::TimedOut,
        })
    }

    fn abandon(&mut self, cache: &Cache) {
        let (key, loading) = (&self.key, &mut self.loading);
        cache.run_in_any_case(|cache| cache.abandon(key, loading));
    }

    /// Its value cannot have an entry.
    fn cannot_be_stored(&mut self, cache: &Cache) {
        let (key, loading) = (&self.key, &mut self.loading);
        cache.run_in_any_case(|cache| cache.unstorable(key, loading));
    }

    /// Asks once, for all who join. When the value is there, or there is an error, the load is over.
    pub(crate) fn step(
        &mut self,
        ruby: &Ruby,
        cache: &Cache,
        id: u64,
        hit: &impl Fn(Made, Origin) -> Result<Value, Error>,
    ) -> Result<Stepped, Error> {
        let step = cache
            .read_clock(ruby)
            .and_then(|()| self.take_step(ruby, cache));
        match step {
            Ok(LoadStep::Load) => {
                cache.loads.loads(id, self.loader(Instant::now()));
                Ok(Stepped::Load)
            }
            Ok(LoadStep::Wait(pause)) => Ok(Stepped::Wait(pause)),
            Ok(LoadStep::Hit(made, origin)) => {
                // Others find it as well, each a value of their own.
                let ended = cache.loads.end(id, true);
                let joined = landing::give_up(ruby, ended.joined);
                landing::give_up(ruby, ended.others)?;
                joined?;
                made.and_then(|made| hit(made, origin)).map(Stepped::Value)
            }
            Ok(LoadStep::TimedOut) => {
                landing::give_up(ruby, cache.loads.end(id, false).joined)?;
                Err(error::to_ruby(ruby, &polycache::Error::WaitTimeout))
            }
            Err(error) => {
                // The directory is gone, say: others see for themselves.
                landing::give_up(ruby, cache.loads.end(id, false).joined)?;
                Err(error)
            }
        }
    }

    /// Runs the block and stores what it returns.
    fn load(mut self, ruby: &Ruby, cache: &Cache, id: u64) -> Result<Value, Error> {
        let began = cache.is_heard().then(Instant::now);
        let brought = ruby.yield_values(());
        let heard = began.map(|began| (began.elapsed(), landing::how(ruby, &brought)));
        let loaded = brought.and_then(|loaded| self.store(ruby, cache, loaded));
        let ended = self.end(ruby, cache, id, loaded);
        if let Some((took, how)) = heard {
            landing::observe(ruby, Cache::observers(ruby, cache), took, how)?;
        }
        ended
    }

    /// Stores what was loaded; the load is over. What its caller is given.
    pub(crate) fn fill(
        mut self,
        ruby: &Ruby,
        cache: &Cache,
        id: u64,
        loaded: Value,
    ) -> Result<Value, Error> {
        let loaded = self.store(ruby, cache, loaded);
        self.end(ruby, cache, id, loaded)
    }

    /// The load failed, and is over: the callers that joined get the error, which is handed on.
    pub(crate) fn fail(
        mut self,
        ruby: &Ruby,
        cache: &Cache,
        id: u64,
        error: Error,
    ) -> Result<(), Error> {
        self.tell(ruby, cache, id, &Err(error)).map(|_| ())
    }

    /// The load is over, and brought nothing.
    pub(crate) fn free(self, ruby: &Ruby, cache: &Cache, id: u64) -> Result<(), Error> {
        let joined = self.end_without_value(cache, id);
        landing::give_up(ruby, joined)
    }

    /// The load is over, and its block of many keys left this one out.
    pub(crate) fn leave_out(self, ruby: &Ruby, cache: &Cache, id: u64) -> Result<(), Error> {
        let joined = self.end_without_value(cache, id);
        landing::leave_out(ruby, joined)
    }

    /// Those who joined, who are to be told.
    fn end_without_value(mut self, cache: &Cache, id: u64) -> Vec<Opaque<Value>> {
        let is_ours = self.is_ours();
        if is_ours {
            self.abandon(cache);
        }
        let ended = cache.loads.end(id, false);
        match is_ours {
            true => ended.joined,
            false => Vec::new(),
        }
    }

    fn end(
        &mut self,
        ruby: &Ruby,
        cache: &Cache,
        id: u64,
        loaded: Result<Loaded, Error>,
    ) -> Result<Value, Error> {
        let joined = self.tell(ruby, cache, id, &loaded)?;
        // Last, because it may run code of users, and no caller is to wait for that.
        let Loaded { value, named, .. } = loaded?;
        if named && joined {
            return cache.types(ruby).funcall("copy", (value,));
        }
        cache.give(ruby, Made { value, named })
    }

    /// Takes the load off the list, and tells the callers that joined what came of it; returns whether there were any.
    fn tell(
        &mut self,
        ruby: &Ruby,
        cache: &Cache,
        id: u64,
        loaded: &Result<Loaded, Error>,
    ) -> Result<bool, Error> {
        let is_ours = self.is_ours();
        if loaded.is_err() && is_ours {
            self.abandon(cache);
        }
        let stored = loaded.as_ref().is_ok_and(|loaded| loaded.stored);
        let ended = cache.loads.end(id, stored);
        let joined = is_ours && !ended.joined.is_empty();
        if is_ours {
            let others = landing::give_up(ruby, ended.others);
            if joined {
                landing::tell(ruby, ended.joined, loaded, cache.types(ruby))?;
            }
            others?;
        }
        Ok(joined)
    }

    fn loader(&self, since: Instant) -> Loader {
        let fence = self.loading.fence();
        Loader { since, fence }
    }

    /// False in a child that the block forked: the load is its parent's.
    fn is_ours(&self) -> bool {
        self.caller.process == process::number()
    }

    fn store(&mut self, ruby: &Ruby, cache: &Cache, value: Value) -> Result<Loaded, Error> {
        cache.read_clock(ruby)?;
        let mut loaded = Loaded {
            value,
            named: false,
            has_no_copies: false,
            stored: false,
        };
        if !self.is_ours() {
            return Ok(loaded);
        }
        let types = cache.types(ruby);
        let filled = with_facts(ruby, types, value, |value, facts| {
            let (key, loading, ttl) = (&self.key, &mut self.loading, self.ttl);
            let filled = if cache.is_remote() {
                // Other threads may change the object while this one waits for the server.
                let value = own(value);
                cache.run_in_any_case(|cache| cache.fill(key, loading, &value, ttl))
            } else {
                cache.cache.fill(key, loading, value, ttl)
            };
            // Here, because another walk would encode types once more.
            let made = facts.named.then(|| to_ruby(ruby, value));
            (filled, facts.changed, made)
        });
        match filled {
            Ok((filled, changed, made)) => {
                let filled = filled.or_raise(ruby)?;
                if let Filled::Unstored(error) = &filled {
                    loaded.has_no_copies =
                        matches!(error, polycache::Error::UnsupportedValue { .. });
                    cache.report(ruby, error::to_ruby(ruby, error))?;
                }
                if changed && !loaded.has_no_copies {
                    loaded.named = made.is_some();
                    loaded.value = made.unwrap_or_else(|| as_read(ruby, types, value))?;
                }
                loaded.stored = matches!(filled, Filled::Stored);
                Ok(loaded)
            }
            Err(Unfit::Refused(error)) if cache.cache.store_errors() == StoreErrors::Report => {
                self.cannot_be_stored(cache);
                cache.report(ruby, error::to_ruby(ruby, &error))?;
                loaded.has_no_copies = true;
                Ok(loaded)
            }
            Err(Unfit::Unencodable(error)) if cache.cache.store_errors() == StoreErrors::Report => {
                self.cannot_be_stored(cache);
                cache.report(ruby, error)?;
                loaded.has_no_copies = true;
                Ok(loaded)
            }
            Err(unfit) => Err(unfit.into_error(ruby)),
        }
    }
}
