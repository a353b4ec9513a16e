//! Loads that their caller ends by itself, for `ruby/lib/polycache/loading_many.rb`.

use crate::cache::Cache;
use crate::fetch::{Asked, Mine, Stepped};
use crate::to_ruby::Made;
use crate::value_with_origin::ValueWithOrigin;
use magnus::{
    gc::Marker, method, prelude::*, typed_data::Obj, value::Opaque, DataTypeFunctions, Error,
    Exception, RArray, RModule, Ruby, TypedData, Value,
};
use polycache::bindings::Origin;
use std::cell::Cell;
use std::time::Duration;

/// A load that its caller has begun. It keeps its lease until it is ended: the caller sees to that.
#[derive(TypedData)]
#[magnus(class = "Polycache::Native::Load", free_immediately, mark, size)]
pub(crate) struct Load {
    cache: Opaque<Obj<Cache>>,
    /// None when it is over; and the number that it is listed under.
    mine: Cell<Option<(Box<Mine>, u64)>>,
    /// While its caller waits for another process: how long until it asks again.
    pause: Cell<Option<Duration>>,
}

impl DataTypeFunctions for Load {
    fn mark(&self, marker: &Marker) {
        marker.mark(self.cache);
    }
}

impl Cache {
    /// As [`Cache::fetch`], but in the place of running a block it gives a [`Load`], which is the last of `loads`
    /// before an interrupt could stop the caller. With `waited` it has asked for nothing yet, and is to be stepped.
    pub(crate) fn begin_load(
        ruby: &Ruby,
        this: Obj<Cache>,
        name: Value,
        ttl: Value,
        waited: Value,
        busy: Value,
        loads: RArray,
    ) -> Result<Value, Error> {
        Cache::begin_load_by(ruby, this, (name, ttl, waited), busy, loads, |made, _| {
            this.give(ruby, made)
        })
    }

    /// As [`Cache::begin_load`], but a hit is a [`ValueWithOrigin`].
    pub(crate) fn begin_load_with_origin(
        ruby: &Ruby,
        this: Obj<Cache>,
        name: Value,
        ttl: Value,
        waited: Value,
        busy: Value,
        loads: RArray,
    ) -> Result<Value, Error> {
        Cache::begin_load_by(
            ruby,
            this,
            (name, ttl, waited),
            busy,
            loads,
            |made, origin| Ok(ValueWithOrigin::wrap(ruby, made, origin)),
        )
    }

    fn begin_load_by(
        ruby: &Ruby,
        this: Obj<Cache>,
        (name, ttl, waited): (Value, Value, Value),
        busy: Value,
        loads: RArray,
        hit: impl Fn(Made, Origin) -> Result<Value, Error>,
    ) -> Result<Value, Error> {
        let (mine, pause) = if waited.is_nil() {
            match Cache::ask(ruby, &this, name, ttl, waited, hit)? {
                Asked::Value(value) => return Ok(value),
                Asked::Busy => return Ok(busy),
                Asked::Mine(mine, id) => ((mine, id), None),
            }
        } else {
            match Cache::begin_waiting(ruby, &this, name, ttl, waited)? {
                Some(mine) => (mine, Some(Duration::ZERO)),
                None => return Ok(busy),
            }
        };
        let load = ruby.obj_wrap(Load {
            cache: this.into(),
            mine: Cell::new(Some(mine)),
            pause: Cell::new(pause),
        });
        match loads.push(load) {
            Ok(()) => Ok(load.as_value()),
            Err(error) => Load::free(ruby, &load).and(Err(error)),
        }
    }

    /// Asks for a load that waits for other processes: the value, and the load is over; the load, which its caller is to
    /// run; or `busy`, to ask again after its pause. The key is the memory tier's to know.
    pub(crate) fn step_load(
        ruby: &Ruby,
        this: &Cache,
        _name: Value,
        load: Obj<Load>,
        busy: Value,
    ) -> Result<Value, Error> {
        Cache::step_load_by(ruby, this, load, busy, |made, _| this.give(ruby, made))
    }

    /// As [`Cache::step_load`], but a hit is a [`ValueWithOrigin`].
    pub(crate) fn step_load_found(
        ruby: &Ruby,
        this: &Cache,
        _name: Value,
        load: Obj<Load>,
        busy: Value,
    ) -> Result<Value, Error> {
        Cache::step_load_by(ruby, this, load, busy, |made, origin| {
            Ok(ValueWithOrigin::wrap(ruby, made, origin))
        })
    }

    fn step_load_by(
        ruby: &Ruby,
        this: &Cache,
        load: Obj<Load>,
        busy: Value,
        hit: impl Fn(Made, Origin) -> Result<Value, Error>,
    ) -> Result<Value, Error> {
        let Some((mut mine, id)) = load.mine.take() else {
            return Ok(busy);
        };
        let stepped = mine.step(ruby, this, id, &hit);
        load.pause.set(None);
        let answer = match stepped? {
            Stepped::Value(value) => return Ok(value),
            Stepped::Load => load.as_value(),
            Stepped::Wait(pause) => {
                load.pause.set(Some(pause));
                busy
            }
        };
        load.mine.set(Some((mine, id)));
        Ok(answer)
    }

    /// Stores what was loaded, and ends the load. What its caller is given.
    pub(crate) fn fill(
        ruby: &Ruby,
        this: &Cache,
        load: Obj<Load>,
        loaded: Value,
    ) -> Result<Value, Error> {
        match load.mine.take() {
            Some((mine, id)) => mine.fill(ruby, this, id, loaded),
            None => Ok(loaded),
        }
    }
}

impl Load {
    /// Nothing was loaded: the callers that joined get the error.
    fn fail(ruby: &Ruby, this: &Load, error: Exception) -> Result<(), Error> {
        let cache = ruby.get_inner(this.cache);
        match this.mine.take() {
            Some((mine, id)) => mine.fail(ruby, &cache, id, error.into()),
            None => Ok(()),
        }
    }

    /// The block left its key out: those who joined are told.
    fn leave_out(ruby: &Ruby, this: &Load) -> Result<(), Error> {
        let cache = ruby.get_inner(this.cache);
        match this.mine.take() {
            Some((mine, id)) => mine.leave_out(ruby, &cache, id),
            None => Ok(()),
        }
    }

    /// While it waits for another process: seconds until it is to be stepped. Else nil.
    fn pause(&self) -> Option<f64> {
        self.pause.get().map(|pause| pause.as_secs_f64())
    }

    /// It is over, however it was left. Of one that is over, nothing happens.
    fn free(ruby: &Ruby, this: &Load) -> Result<(), Error> {
        let cache = ruby.get_inner(this.cache);
        match this.mine.take() {
            Some((mine, id)) => mine.free(ruby, &cache, id),
            None => Ok(()),
        }
    }
}

/// Defines the class.
///
/// # Errors
/// What Ruby raises when it cannot.
pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let class = native.define_class("Load", ruby.class_object())?;
    class.undef_default_alloc_func();
    // Looked up now: when a load has begun, nothing may run that a thread could be killed in.
    <Load as TypedData>::class(ruby);
    class.define_method("fail", method!(Load::fail, 1))?;
    class.define_method("leave_out", method!(Load::leave_out, 0))?;
    class.define_method("pause", method!(Load::pause, 0))?;
    class.define_method("free", method!(Load::free, 0))
}
