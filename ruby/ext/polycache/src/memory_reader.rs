//! `Polycache::Native::MemoryReader`: `get` of a cache with a memory tier over a directory. A read of either tier
//! takes less time than Ruby code needs to look into one and then into the other. What changes the memory tier
//! is Ruby's (`Polycache::Memory::MemoryOverHost`), and is called from here.

use crate::cache::Cache;
use crate::key::key;
use crate::string::symbol_name;
use crate::value_with_origin::{settle, ValueWithOrigin};
use magnus::{
    encoding::EncodingCapable,
    function,
    gc::Marker,
    method,
    prelude::*,
    rb_sys::{AsRawId, AsRawValue, FromRawValue},
    typed_data::Obj,
    value::{Opaque, OpaqueId},
    DataTypeFunctions, Error, RHash, RModule, RString, Ruby, Symbol, TypedData, Value,
};

/// Reads the keys of one namespace.
#[derive(TypedData)]
#[magnus(
    class = "Polycache::Native::MemoryReader",
    free_immediately,
    mark,
    size
)]
pub(crate) struct MemoryReader {
    cache: Opaque<Obj<Cache>>,
    /// Keys to entries (`Polycache::Memory::Entry`).
    index: Opaque<RHash>,
    tier: Opaque<Value>,
    /// Whether readers are given frozen values.
    freezes: bool,
    names: Names,
}

/// Of an entry's instance variables, and of the tier's methods.
struct Names {
    origin: rb_sys::ID,
    marked: rb_sys::ID,
    get: OpaqueId,
    find: OpaqueId,
    remember: OpaqueId,
    pass_on: OpaqueId,
    hand_out: OpaqueId,
}

impl DataTypeFunctions for MemoryReader {
    fn mark(&self, marker: &Marker) {
        marker.mark(self.cache);
        marker.mark(self.index);
        marker.mark(self.tier);
    }
}

impl MemoryReader {
    fn new(
        ruby: &Ruby,
        cache: Obj<Cache>,
        index: RHash,
        tier: Value,
        freezes: bool,
    ) -> Obj<MemoryReader> {
        ruby.obj_wrap(MemoryReader {
            cache: cache.into(),
            index: index.into(),
            tier: tier.into(),
            freezes,
            names: Names {
                origin: ruby.intern("@origin").as_raw(),
                marked: ruby.intern("@marked").as_raw(),
                get: ruby.intern("get").into(),
                find: ruby.intern("find").into(),
                remember: ruby.intern("remember").into(),
                pass_on: ruby.intern("pass_on").into(),
                hand_out: ruby.intern("hand_out").into(),
            },
        })
    }

    /// The key's value, or `miss`.
    pub(crate) fn get(
        ruby: &Ruby,
        this: &MemoryReader,
        name: Value,
        miss: Value,
    ) -> Result<Value, Error> {
        let cache = this.cache(ruby);
        let (text, is_whole) = match text_of(ruby, name) {
            Some(found) => found,
            None => return this.tier(ruby).funcall(this.names.get, (name, miss)),
        };
        if let Some(entry) = this.entry(ruby, text) {
            return this.recall(ruby, &cache, entry, name, miss);
        }
        if !is_whole {
            return this.tier(ruby).funcall(this.names.get, (name, miss));
        }
        cache.read_clock(ruby)?;
        let key = key(ruby, name)?;
        let Some((made, origin)) = cache.get_with_origin(ruby, &key)? else {
            return Ok(miss);
        };
        let value = made.value;
        if cache.admits(&origin) {
            let found = ValueWithOrigin::wrap(ruby, made, origin);
            return this.tier(ruby).funcall(this.names.remember, (name, found));
        }
        if made.named {
            let found = ValueWithOrigin::wrap(ruby, made, origin);
            return this.tier(ruby).funcall(this.names.pass_on, (found,));
        }
        if this.freezes {
            settle(ruby, value, true)?;
        }
        Ok(value)
    }

    /// Whether the memory tier has an entry of a key, current or not.
    pub(crate) fn has_entry(&self, ruby: &Ruby, name: Value) -> bool {
        text_of(ruby, name).is_some_and(|(text, _)| self.entry(ruby, text).is_some())
    }

    pub(crate) fn cache(&self, ruby: &Ruby) -> Obj<Cache> {
        ruby.get_inner(self.cache)
    }

    /// The value of an entry, if it is still the host tier's.
    fn recall(
        &self,
        ruby: &Ruby,
        cache: &Cache,
        entry: Value,
        name: Value,
        miss: Value,
    ) -> Result<Value, Error> {
        // SAFETY: an entry is an object of a class of ours, and reading its variable raises nothing.
        let origin =
            unsafe { Value::from_raw(rb_sys::rb_ivar_get(entry.as_raw(), self.names.origin)) };
        let found = Obj::<ValueWithOrigin>::try_convert(origin)?;
        if !Cache::stands(ruby, cache, found)? {
            return self
                .tier(ruby)
                .funcall(self.names.find, (name, miss, entry));
        }
        let Some(given) = found.kept(ruby) else {
            return self.tier(ruby).funcall(self.names.hand_out, (entry,));
        };
        let value = given?;
        // SAFETY: as above; it is not frozen, and nothing is on the stack that would have to be dropped.
        unsafe {
            rb_sys::rb_ivar_set(entry.as_raw(), self.names.marked, rb_sys::Qtrue.into());
        }
        Ok(value)
    }

    fn tier(&self, ruby: &Ruby) -> Value {
        ruby.get_inner(self.tier)
    }

    /// The entry of a key in memory.
    fn entry(&self, ruby: &Ruby, text: RString) -> Option<Value> {
        let index = ruby.get_inner(self.index).as_raw();
        let none = rb_sys::Qnil.into();
        // SAFETY: the key is a String itself, whose hash and comparison are the interpreter's own.
        let found = unsafe { rb_sys::rb_hash_lookup2(index, text.as_raw(), none) };
        // SAFETY: it is an object, which the index holds.
        (found != none).then(|| unsafe { Value::from_raw(found) })
    }
}

/// The text of a key that is a String itself or a Symbol, and whether keys in memory have no other form of it.
fn text_of(ruby: &Ruby, name: Value) -> Option<(RString, bool)> {
    if let Some(string) = RString::from_value(name) {
        // SAFETY: a string lies in memory, with its class in front.
        let class = unsafe { (*(name.as_raw() as *const rb_sys::RBasic)).klass };
        let is_utf8 = string.enc_get() == ruby.utf8_encindex();
        return (class == ruby.class_string().as_raw()).then_some((string, is_utf8));
    }
    let text = symbol_name(Symbol::from_value(name)?);
    let index = text.enc_get();
    let is_text = index == ruby.utf8_encindex() || index == ruby.usascii_encindex();
    Some((text, is_text))
}

/// Defines the class.
///
/// # Errors
/// What Ruby raises when it cannot.
pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let class = native.define_class("MemoryReader", ruby.class_object())?;
    class.undef_default_alloc_func();
    class.define_singleton_method("new", function!(MemoryReader::new, 4))?;
    class.define_method("get", method!(MemoryReader::get, 2))?;
    class.define_method("get_many", method!(MemoryReader::get_many, 3))
}
