//! Locks by a key's name, for `ruby/lib/polycache/lease.rb`.

use crate::cache::Cache;
use crate::error::OrRaise;
use crate::key::key;
use magnus::{typed_data, Error, Module, RModule, Ruby, TypedData, Value};
use polycache::bindings::{Bindings, LockStep, Token};
use std::time::Duration;

/// A lock that was acquired.
#[derive(TypedData)]
#[magnus(class = "Polycache::Native::Lock", free_immediately, size)]
pub(crate) struct Lock(Token);

impl magnus::DataTypeFunctions for Lock {}

impl Cache {
    /// Takes the lock of a key's name; nil when another has it.
    pub(crate) fn lock(
        ruby: &Ruby,
        this: &Cache,
        name: Value,
    ) -> Result<Option<typed_data::Obj<Lock>>, Error> {
        let key = key(ruby, name)?;
        let locking = this.cache.locking(Duration::ZERO);
        let step = this.run(|cache| cache.lock_step(&key, &locking))?;
        match step.or_raise(ruby)? {
            LockStep::Acquired(token) => Ok(Some(ruby.obj_wrap(Lock(token)))),
            LockStep::Refused | LockStep::Wait(_) => Ok(None),
        }
    }

    /// Gives a lock back.
    pub(crate) fn unlock(
        ruby: &Ruby,
        this: &Cache,
        name: Value,
        lock: typed_data::Obj<Lock>,
    ) -> Result<(), Error> {
        let key = key(ruby, name)?;
        this.run_in_any_case(|cache| cache.unlock(&key, lock.0));
        Ok(())
    }

    /// Whether the lock is held.
    pub(crate) fn is_locked(ruby: &Ruby, this: &Cache, name: Value) -> Result<bool, Error> {
        let key = key(ruby, name)?;
        this.run(|cache| cache.is_locked(&key))?.or_raise(ruby)
    }
}

/// Defines the class.
///
/// # Errors
/// What Ruby raises when it cannot.
pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let class = native.define_class("Lock", ruby.class_object())?;
    magnus::Class::undef_default_alloc_func(class);
    // Looked up now: when a lock was acquired, nothing may run that a thread could be killed in.
    <Lock as TypedData>::class(ruby);
    Ok(())
}
