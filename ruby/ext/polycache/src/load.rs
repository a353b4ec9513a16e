//! Loads that their caller ends by itself, for `ruby/lib/polycache/loading_many.rb`.

use crate::cache::Cache;
use crate::fetch::{Asked, Mine};
use crate::found::Found;
use crate::to_ruby::Made;
use magnus::{
    gc::Marker, method, prelude::*, typed_data::Obj, value::Opaque, DataTypeFunctions, Error,
    Exception, RArray, RModule, Ruby, TypedData, Value,
};
use polycache::bindings::Origin;
use std::cell::Cell;

/// A load that its caller has begun. It keeps its lease until it is ended: the caller sees to that.
#[derive(TypedData)]
#[magnus(class = "Polycache::Native::Load", free_immediately, mark, size)]
pub(crate) struct Load {
    cache: Opaque<Obj<Cache>>,
    /// None when it is over; and the number that it is listed under.
    mine: Cell<Option<(Box<Mine>, u64)>>,
}

impl DataTypeFunctions for Load {
    fn mark(&self, marker: &Marker) {
        marker.mark(self.cache);
    }
}

impl Cache {
    /// As [`Cache::fetch`], but in the place of running a block it gives a [`Load`], which is the last of `loads`
    /// before an interrupt could stop the caller.
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

    /// As [`Cache::begin_load`], but a hit is a [`Found`].
    pub(crate) fn begin_load_found(
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
            |made, origin| Ok(Found::wrap(ruby, made, origin)),
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
        let (mine, id) = match Cache::ask(ruby, &this, name, ttl, waited, hit)? {
            Asked::Value(value) => return Ok(value),
            Asked::Busy => return Ok(busy),
            Asked::Mine(mine, id) => (mine, id),
        };
        let load = ruby.obj_wrap(Load {
            cache: this.into(),
            mine: Cell::new(Some((mine, id))),
        });
        match loads.push(load) {
            Ok(()) => Ok(load.as_value()),
            Err(error) => Load::free(ruby, &load).and(Err(error)),
        }
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
    class.define_method("free", method!(Load::free, 0))
}
