//! Operations that read and write as one step (`spec/semantics.md`, "Atomic operations").

use crate::cache::{owned, Cache};
use crate::error::{invalid, OrRaise};
use crate::key::key;
use crate::to_ruby::make;
use crate::{duration, number};
use magnus::{method, prelude::*, Error, RArray, RClass, RModule, Ruby, TypedData, Value};
use polycache::bindings::Bindings;

/// What an update found at a key.
#[derive(TypedData)]
#[magnus(class = "Polycache::Native::Found", free_immediately, size)]
struct Found(polycache::bindings::Found);

impl magnus::DataTypeFunctions for Found {}

impl Cache {
    fn add(
        ruby: &Ruby,
        this: &Cache,
        name: Value,
        object: Value,
        ttl: Value,
    ) -> Result<bool, Error> {
        this.read_clock(ruby)?;
        let key = key(ruby, name)?;
        let ttl = duration::ttl(ruby, ttl)?;
        this.write(ruby, object, |cache, value| {
            cache.add_value(&key, value, ttl)
        })?
        .or_raise(ruby)
    }

    fn replace(
        ruby: &Ruby,
        this: &Cache,
        name: Value,
        object: Value,
        ttl: Value,
    ) -> Result<bool, Error> {
        this.read_clock(ruby)?;
        let key = key(ruby, name)?;
        let ttl = duration::ttl(ruby, ttl)?;
        this.write(ruby, object, |cache, value| {
            cache.replace_value(&key, value, ttl)
        })?
        .or_raise(ruby)
    }

    fn compare_and_set(
        ruby: &Ruby,
        this: &Cache,
        name: Value,
        version: Value,
        object: Value,
        ttl: Value,
    ) -> Result<bool, Error> {
        this.read_clock(ruby)?;
        let key = key(ruby, name)?;
        let version = number::version(ruby, version)?.into();
        let ttl = duration::ttl(ruby, ttl)?;
        this.write(ruby, object, |cache, value| {
            cache.compare_and_set_value(&key, version, value, ttl)
        })?
        .or_raise(ruby)
    }

    fn increment(
        ruby: &Ruby,
        this: &Cache,
        name: Value,
        by: Value,
        initial: Value,
        ttl: Value,
    ) -> Result<i64, Error> {
        this.read_clock(ruby)?;
        let key = key(ruby, name)?;
        let (by, initial) = number::by_and_initial(ruby, by, initial)?;
        let ttl = duration::ttl(ruby, ttl)?;
        let sum = this.run(|cache| cache.increment_with_ttl(&key, by, initial, ttl))?;
        sum.or_raise(ruby)
    }

    fn decrement(
        ruby: &Ruby,
        this: &Cache,
        name: Value,
        by: Value,
        initial: Value,
        ttl: Value,
    ) -> Result<i64, Error> {
        this.read_clock(ruby)?;
        let key = key(ruby, name)?;
        let (by, initial) = number::by_and_initial(ruby, by, initial)?;
        let ttl = duration::ttl(ruby, ttl)?;
        let left = this.run(|cache| cache.decrement_with_ttl(&key, by, initial, ttl))?;
        left.or_raise(ruby)
    }

    /// The key's value, or `miss`; and what was found, for [`Cache::set_updated`] and [`Cache::delete_updated`].
    fn find_to_update(
        ruby: &Ruby,
        this: &Cache,
        name: Value,
        miss: Value,
    ) -> Result<RArray, Error> {
        this.read_clock(ruby)?;
        let key = key(ruby, name)?;
        let (made, found) = if this.is_remote() {
            let (value, found) = this
                .run(|cache| cache.find_to_update(&key, owned))?
                .or_raise(ruby)?;
            (value.map(|value| make(ruby, &value)), found)
        } else {
            this.cache
                .find_to_update(&key, |value| make(ruby, &value))
                .or_raise(ruby)?
        };
        let found = ruby.obj_wrap(Found(found));
        let value = match made.transpose()? {
            Some(made) => this.give(ruby, made)?,
            None => miss,
        };
        Ok(ruby.ary_new_from_values(&[value, found.as_value()]))
    }

    /// Stores a value if the key is still as it was found. The arguments are the key, what was found, the value, and the
    /// time to live, without which an entry keeps its own.
    fn set_updated(ruby: &Ruby, this: &Cache, arguments: &[Value]) -> Result<bool, Error> {
        let (name, found, object, ttl) = match *arguments {
            [name, found, object] => (name, found, object, None),
            [name, found, object, ttl] => (name, found, object, Some(ttl)),
            _ => return Err(invalid(ruby, "set_updated takes 3 or 4 arguments")),
        };
        this.read_clock(ruby)?;
        let key = key(ruby, name)?;
        let ttl = ttl.map(|ttl| duration::ttl(ruby, ttl)).transpose()?;
        let found = <&Found>::try_convert(found)?;
        this.write(ruby, object, |cache, value| {
            cache.set_updated(&key, &found.0, value, ttl)
        })?
        .or_raise(ruby)
    }

    /// Deletes the key if it is still as it was found.
    fn delete_updated(
        ruby: &Ruby,
        this: &Cache,
        name: Value,
        found: &Found,
    ) -> Result<bool, Error> {
        this.read_clock(ruby)?;
        let key = key(ruby, name)?;
        this.run(|cache| cache.delete_updated(&key, &found.0))?
            .or_raise(ruby)
    }
}

/// Defines the methods of the class `Cache`, and what an update finds.
///
/// # Errors
/// What Ruby raises when it cannot.
pub(crate) fn define(ruby: &Ruby, native: RModule, class: RClass) -> Result<(), Error> {
    native
        .define_class("Found", ruby.class_object())?
        .undef_default_alloc_func();
    class.define_method("add", method!(Cache::add, 3))?;
    class.define_method("replace", method!(Cache::replace, 3))?;
    class.define_method("compare_and_set", method!(Cache::compare_and_set, 4))?;
    class.define_method("increment", method!(Cache::increment, 4))?;
    class.define_method("decrement", method!(Cache::decrement, 4))?;
    class.define_method("find_to_update", method!(Cache::find_to_update, 2))?;
    class.define_method("set_updated", method!(Cache::set_updated, -1))?;
    class.define_method("delete_updated", method!(Cache::delete_updated, 2))
}
