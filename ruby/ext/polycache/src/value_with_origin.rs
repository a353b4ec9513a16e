//! What a memory tier keeps beside a value: where the host tier has it.

use crate::cache::Cache;
use crate::copies;
use crate::key::key;
use crate::to_ruby::{named_class, set_class, Made};
use crate::weigh;
use magnus::{
    gc::Marker, method, prelude::*, r_hash::ForEach, rb_sys::AsRawValue, typed_data, value::Opaque,
    DataTypeFunctions, Error, RArray, RHash, RModule, Ruby, TypedData, Value,
};
use polycache::bindings::{Bindings, Origin};
use rb_sys::ruby_value_type as Type;
use std::cell::Cell;
use std::sync::atomic::Ordering;

/// One hit in so many tells the host tier that the entry is in use (`spec/memory.md`); a power of two.
const LOOKS: u64 = 16;

/// A value that was read, until it is taken, or while it is kept; and where it was found.
#[derive(TypedData)]
#[magnus(
    class = "Polycache::Native::ValueWithOrigin",
    free_immediately,
    mark,
    size
)]
pub(crate) struct ValueWithOrigin {
    origin: Origin,
    value: Cell<Option<Opaque<Value>>>,
    /// Whether types stand in it as `Polycache::Named`.
    named: bool,
    /// Whether readers are given copies of it.
    copied: Cell<bool>,
    /// What it takes in memory; known once it was taken.
    bytes: Cell<usize>,
}

impl DataTypeFunctions for ValueWithOrigin {
    fn mark(&self, marker: &Marker) {
        if let Some(value) = self.value.get() {
            marker.mark(value);
        }
    }
}

impl ValueWithOrigin {
    /// The object that says so.
    pub(crate) fn wrap(ruby: &Ruby, made: Made, origin: Origin) -> Value {
        let value = Cell::new(Some(made.value.into()));
        let bytes = Cell::new(0);
        ruby.obj_wrap(ValueWithOrigin {
            origin,
            value,
            named: made.named,
            copied: Cell::new(false),
            bytes,
        })
        .as_value()
    }

    /// The value, frozen to its depth if asked for. It is held no more: nil from then on.
    fn take(ruby: &Ruby, this: &ValueWithOrigin, freeze: bool) -> Result<Value, Error> {
        let Some(value) = this.value.take() else {
            return Ok(ruby.qnil().as_value());
        };
        let value = ruby.get_inner(value);
        this.bytes.set(settle(ruby, value, freeze)?);
        Ok(value)
    }

    /// Holds a value again, for readers that are given it, or copies of it.
    fn keep(&self, value: Value, copied: bool) {
        self.value.set(Some(value.into()));
        self.copied.set(copied);
    }

    /// What a reader is given of the value that is held.
    #[inline]
    pub(crate) fn kept(&self, ruby: &Ruby) -> Option<Result<Value, Error>> {
        let value = ruby.get_inner(self.value.get()?);
        Some(if self.copied.get() {
            copies::tree(ruby, value)
        } else {
            Ok(value)
        })
    }

    fn bytes(&self) -> usize {
        self.bytes.get()
    }

    fn is_named(&self) -> bool {
        self.named
    }

    /// Whether it is known where it was found.
    fn is_known(&self) -> bool {
        self.origin.is_known()
    }
}

/// The bytes that a value takes, by an estimate; freezes it to its depth if asked for. Values of
/// the host tier are trees, 128 levels deep at most, and this one has no other owner yet.
pub(crate) fn settle(ruby: &Ruby, value: Value, freeze: bool) -> Result<usize, Error> {
    // SAFETY: the object is alive.
    let kind = unsafe { rb_sys::RB_TYPE(value.as_raw()) };
    let bytes = match kind {
        Type::RUBY_T_STRING => {
            // SAFETY: it is a string.
            let length = unsafe { rb_sys::RSTRING_LEN(value.as_raw()) } as usize;
            weigh::text(length)
        }
        Type::RUBY_T_ARRAY => {
            let array = RArray::try_convert(value)?;
            let mut bytes = weigh::array(array.len());
            for part in array {
                bytes += settle(ruby, part, freeze)?;
            }
            bytes
        }
        Type::RUBY_T_HASH => {
            let hash = RHash::try_convert(value)?;
            let mut bytes = weigh::hash(hash.len());
            hash.foreach(|key: Value, part: Value| {
                bytes += settle(ruby, key, freeze)? + settle(ruby, part, freeze)?;
                Ok(ForEach::Continue)
            })?;
            bytes
        }
        Type::RUBY_T_BIGNUM => 2 * weigh::OBJECT,
        Type::RUBY_T_DATA | Type::RUBY_T_OBJECT => return settle_object(ruby, value, freeze),
        // Numbers, nil, true, false: frozen, and no objects of their own.
        _ => return Ok(0),
    };
    if freeze {
        // SAFETY: a string, an array or a hash that is not iterated over.
        unsafe { rb_sys::rb_obj_freeze(value.as_raw()) };
    }
    Ok(bytes)
}

/// A Set, a Time, a BigDecimal, a UUID, a Named.
fn settle_object(ruby: &Ruby, value: Value, freeze: bool) -> Result<usize, Error> {
    let mut bytes = weigh::OTHER;
    if value.is_kind_of(set_class(ruby)) {
        for part in value.funcall::<_, _, RArray>("to_a", ())? {
            bytes += weigh::PAIR + settle(ruby, part, freeze)?;
        }
    } else if value.is_kind_of(named_class(ruby)) {
        bytes += settle(ruby, value.funcall("value", ())?, freeze)?;
    }
    if freeze {
        value.funcall::<_, _, Value>("freeze", ())?;
    }
    Ok(bytes)
}

impl Cache {
    /// The key's value and where it is, or `miss`.
    pub(crate) fn find(
        ruby: &Ruby,
        this: &Cache,
        name: Value,
        miss: Value,
    ) -> Result<Value, Error> {
        this.read_clock(ruby)?;
        let key = key(ruby, name)?;
        match this.get_with_origin(ruby, &key)? {
            Some((made, origin)) => Ok(ValueWithOrigin::wrap(ruby, made, origin)),
            None => Ok(miss),
        }
    }

    /// Whether the memory tier is to keep what was read.
    pub(crate) fn admits_value(&self, found: typed_data::Obj<ValueWithOrigin>) -> bool {
        self.admits(&found.origin)
    }

    /// Whether a read of the key would find that very entry. Counts a hit if so.
    pub(crate) fn stands(
        ruby: &Ruby,
        this: &Cache,
        found: typed_data::Obj<ValueWithOrigin>,
    ) -> Result<bool, Error> {
        this.read_clock(ruby)?;
        if !this.cache.stands(&found.origin) {
            return Ok(false);
        }
        let hits = this.counts.memory_hits.fetch_add(1, Ordering::Relaxed) + 1;
        if hits % LOOKS == 0 {
            this.cache.mark_visited(&found.origin);
            this.add_memory_hits();
        }
        Ok(true)
    }
}

/// Defines the class.
///
/// # Errors
/// What Ruby raises when it cannot.
pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let class = native.define_class("ValueWithOrigin", ruby.class_object())?;
    class.undef_default_alloc_func();
    class.define_method("take", method!(ValueWithOrigin::take, 1))?;
    class.define_method("keep", method!(ValueWithOrigin::keep, 2))?;
    class.define_method("bytes", method!(ValueWithOrigin::bytes, 0))?;
    class.define_method("known?", method!(ValueWithOrigin::is_known, 0))?;
    class.define_method("named?", method!(ValueWithOrigin::is_named, 0))
}
