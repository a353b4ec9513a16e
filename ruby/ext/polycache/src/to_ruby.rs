//! Values as Ruby objects (the type map of `spec/entry.md`).

use magnus::{
    prelude::*,
    rb_sys::{protect, AsRawValue, FromRawValue},
    value::Lazy,
    Error, RClass, Ruby,
};
use polycache::Value;
use rb_sys::VALUE;
use std::cell::Cell;
use std::ffi::{c_char, c_int, c_long};

static SET: Lazy<RClass> = Lazy::new(|ruby| constant(ruby, "Set"));
static UUID: Lazy<RClass> = Lazy::new(|ruby| {
    ruby.class_object()
        .const_get::<_, magnus::RModule>("Polycache")
        .and_then(|polycache| polycache.const_get("UUID"))
        .expect("polycache.rb defines it before it loads the extension")
});

static NAMED: Lazy<RClass> = Lazy::new(|ruby| {
    ruby.class_object()
        .const_get::<_, magnus::RModule>("Polycache")
        .and_then(|polycache| polycache.const_get("Named"))
        .expect("polycache.rb defines it before it loads the extension")
});

fn constant(ruby: &Ruby, name: &'static str) -> RClass {
    ruby.class_object()
        .const_get(name)
        .expect("polycache.rb requires it before it loads the extension")
}

/// The class of sets.
pub(crate) fn set_class(ruby: &Ruby) -> RClass {
    ruby.get_inner(&SET)
}

/// The class of UUIDs.
pub(crate) fn uuid_class(ruby: &Ruby) -> RClass {
    ruby.get_inner(&UUID)
}

/// The class of values of registered types that are named.
pub(crate) fn named_class(ruby: &Ruby) -> RClass {
    ruby.get_inner(&NAMED)
}

/// `Polycache::Types::NONE`.
///
/// # Errors
/// What Ruby raises where it is not there.
pub(crate) fn no_types(ruby: &Ruby) -> Result<magnus::Value, Error> {
    let polycache: magnus::RModule = ruby.class_object().const_get("Polycache")?;
    polycache.const_get::<_, RClass>("Types")?.const_get("NONE")
}

/// An object that was made of a value.
#[derive(Clone, Copy)]
pub(crate) struct Made {
    pub(crate) value: magnus::Value,
    /// Whether types stand in it as `Polycache::Named`. What is registered is made of them later,
    /// by `Polycache::Types`, because that runs code of users.
    pub(crate) named: bool,
}

/// The Ruby object for `value`, in which types stand as `Polycache::Named`.
///
/// # Errors
/// What Ruby raises: no memory, an interrupt.
pub(crate) fn to_ruby(ruby: &Ruby, value: &Value<'_>) -> Result<magnus::Value, Error> {
    build(ruby, value, &Cell::new(false))
}

/// As [`to_ruby`], and says whether there are any.
///
/// # Errors
/// As there.
#[inline]
pub(crate) fn make(ruby: &Ruby, value: &Value<'_>) -> Result<Made, Error> {
    let met = Cell::new(false);
    let value = build(ruby, value, &met)?;
    Ok(Made {
        value,
        named: met.get(),
    })
}

/// As [`make`], which says it in `met`.
///
/// # Errors
/// As there.
#[inline]
pub(crate) fn build(
    ruby: &Ruby,
    value: &Value<'_>,
    met: &Cell<bool>,
) -> Result<magnus::Value, Error> {
    // What cannot raise needs no protection.
    Ok(match value {
        Value::Null => ruby.qnil().as_value(),
        Value::Bool(true) => ruby.qtrue().as_value(),
        Value::Bool(false) => ruby.qfalse().as_value(),
        Value::Text(text) => ruby.str_new(text).as_value(),
        Value::Bytes(bytes) => ruby.str_from_slice(bytes).as_value(),
        Value::Float(value) => ruby.float_from_f64(*value).as_value(),
        _ => {
            let builder = Builder {
                set: set_class(ruby).as_raw(),
                uuid: uuid_class(ruby).as_raw(),
                named: named_class(ruby).as_raw(),
                met,
            };
            // SAFETY: no frame in there owns anything that a jump would leak; the object is Ruby's.
            unsafe { magnus::Value::from_raw(protect(|| builder.build(value))?) }
        }
    })
}

/// The classes, looked up before anything may raise.
#[derive(Clone, Copy)]
struct Builder<'a> {
    set: VALUE,
    uuid: VALUE,
    named: VALUE,
    /// Whether a registered type was met.
    met: &'a Cell<bool>,
}

impl Builder<'_> {
    /// Builds an object from the inside out. What is not finished is on this stack, where the
    /// garbage collector looks. Nothing here may own memory or panic: Ruby may jump out of it.
    ///
    /// # Safety
    /// Within `protect`, on a thread that holds Ruby's global lock.
    unsafe fn build(self, value: &Value<'_>) -> VALUE {
        // SAFETY: the functions of Ruby's API get live objects, pointers with their true lengths,
        // and symbols of methods that their receivers have.
        unsafe {
            match value {
                Value::Null => rb_sys::Qnil as VALUE,
                Value::Bool(true) => rb_sys::Qtrue as VALUE,
                Value::Bool(false) => rb_sys::Qfalse as VALUE,
                Value::Int(value) => match i64::try_from(*value) {
                    Ok(value) => rb_sys::rb_ll2inum(value),
                    Err(_) => rb_sys::rb_ull2inum(*value as u64),
                },
                Value::BigInt(digits) => rb_sys::rb_str2inum(text(digits), 10),
                Value::Float(value) => rb_sys::rb_float_new(*value),
                Value::Text(string) => text(string),
                Value::Bytes(bytes) => binary(bytes),
                Value::List(values) => self.array(values),
                Value::Map(pairs) => {
                    let hash = rb_sys::rb_hash_new();
                    for (key, value) in pairs {
                        rb_sys::rb_hash_aset(hash, hash_key(key), self.build(value));
                    }
                    hash
                }
                Value::Set(values) => {
                    let array = self.array(values);
                    rb_sys::rb_funcallv(self.set, method(c"new"), 1, &array)
                }
                Value::Timestamp { seconds, nanos } => {
                    let mut moment: rb_sys::timespec = std::mem::zeroed();
                    moment.tv_sec = *seconds as _;
                    moment.tv_nsec = c_long::from(*nanos as i32) as _;
                    const UTC: c_int = c_int::MAX - 1;
                    rb_sys::rb_time_timespec_new(&moment, UTC)
                }
                Value::Decimal(digits) => {
                    let digits = text(digits);
                    rb_sys::rb_funcallv(rb_sys::rb_mKernel, method(c"BigDecimal"), 1, &digits)
                }
                Value::Uuid(bytes) => {
                    let bytes = binary(bytes);
                    rb_sys::rb_funcallv(self.uuid, method(c"from_bytes"), 1, &bytes)
                }
                Value::Named(named) => {
                    self.met.set(true);
                    let arguments = [hash_key(&named.name), self.build(&named.value)];
                    rb_sys::rb_funcallv(self.named, method(c"new"), 2, arguments.as_ptr())
                }
            }
        }
    }

    /// # Safety
    /// As for [`Builder::build`].
    unsafe fn array(self, values: &[Value<'_>]) -> VALUE {
        // SAFETY: as there.
        unsafe {
            let array = rb_sys::rb_ary_new_capa(values.len() as c_long);
            for value in values {
                rb_sys::rb_ary_push(array, self.build(value));
            }
            array
        }
    }
}

/// # Safety
/// As for [`Builder::build`].
unsafe fn text(text: &str) -> VALUE {
    // SAFETY: pointer and length belong together; Ruby copies.
    unsafe { rb_sys::rb_utf8_str_new(text.as_ptr().cast::<c_char>(), text.len() as c_long) }
}

/// # Safety
/// As for [`Builder::build`].
unsafe fn binary(bytes: &[u8]) -> VALUE {
    // SAFETY: pointer and length belong together; Ruby copies.
    unsafe { rb_sys::rb_str_new(bytes.as_ptr().cast::<c_char>(), bytes.len() as c_long) }
}

/// A hash's key: Ruby keeps one frozen string for all equal ones, which it would look up anyway.
///
/// # Safety
/// As for [`Builder::build`].
unsafe fn hash_key(key: &str) -> VALUE {
    // SAFETY: pointer and length belong together; Ruby copies.
    unsafe {
        // Ruby looks at the bytes of an empty string, too.
        let start = if key.is_empty() {
            c"".as_ptr()
        } else {
            key.as_ptr().cast::<c_char>()
        };
        rb_sys::rb_enc_interned_str(start, key.len() as c_long, rb_sys::rb_utf8_encoding())
    }
}

/// # Safety
/// As for [`Builder::build`].
unsafe fn method(name: &std::ffi::CStr) -> rb_sys::ID {
    // SAFETY: the name ends with a NUL.
    unsafe { rb_sys::rb_intern(name.as_ptr()) }
}
