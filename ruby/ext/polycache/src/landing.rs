//! Tells the callers that joined a load what came of it: `Polycache::Flight`.

use crate::fetch::Loaded;
use magnus::{
    prelude::*,
    rb_sys::{protect, AsRawId, AsRawValue},
    value::{Lazy, Opaque},
    Error, Exception, RArray, RClass, RModule, Ruby, Value,
};
use rb_sys::VALUE;
use std::time::Duration;

static FLIGHT: Lazy<RClass> = Lazy::new(|ruby| {
    ruby.class_object()
        .const_get::<_, RModule>("Polycache")
        .and_then(|polycache| polycache.const_get("Flight"))
        .expect("cache.rb loads it")
});

/// A flight in which no caller waits yet.
///
/// # Errors
/// What Ruby raises on the way.
pub(crate) fn new_flight(ruby: &Ruby) -> Result<Value, Error> {
    ruby.get_inner(&FLIGHT).funcall("new", ())
}

/// Tells flights what came of their load; with the `Polycache::Types` of the cache.
///
/// # Errors
/// An interrupt that came meanwhile; all were told.
pub(crate) fn tell(
    ruby: &Ruby,
    flights: Vec<Opaque<Value>>,
    loaded: &Result<Loaded, Error>,
    types: Value,
) -> Result<(), Error> {
    let flights = array(ruby, flights);
    match loaded {
        Ok(loaded) if loaded.named => call(
            ruby,
            "land_named",
            &[flights.as_value(), loaded.value, types],
        ),
        Ok(loaded) => {
            let how = if loaded.has_no_copies {
                "share"
            } else {
                "land"
            };
            call(ruby, how, &[flights.as_value(), loaded.value])
        }
        Err(error) => {
            let error = error.value().and_then(Exception::from_value);
            match error {
                Some(error) => call(ruby, "fail", &[flights.as_value(), error.as_value()]),
                // The block was left in another way, or its thread was killed.
                None => call(ruby, "give_up", &[flights.as_value()]),
            }
        }
    }
}

/// Another value like one that was handed out, by the `Polycache::Types` of the cache.
///
/// # Errors
/// What a function of the user's raises, or Ruby on the way.
pub(crate) fn copy_of(ruby: &Ruby, value: Value, types: Value) -> Result<Value, Error> {
    ruby.get_inner(&FLIGHT).funcall("copy_of", (value, types))
}

/// Lets those who joined look for themselves.
///
/// # Errors
/// An interrupt that came meanwhile; all were told.
pub(crate) fn give_up(ruby: &Ruby, flights: Vec<Opaque<Value>>) -> Result<(), Error> {
    if flights.is_empty() {
        return Ok(());
    }
    let flights = array(ruby, flights);
    call(ruby, "give_up", &[flights.as_value()])
}

/// How a block was left, as `Polycache::Observers#loaded` takes it: true, an error, or nil.
pub(crate) fn how(ruby: &Ruby, brought: &Result<Value, Error>) -> Value {
    match brought {
        Ok(_) => ruby.qtrue().as_value(),
        Err(error) => error
            .value()
            .filter(|error| Exception::from_value(*error).is_some())
            .unwrap_or_else(|| ruby.qnil().as_value()),
    }
}

/// Tells a `Polycache::Observers` how long a block ran.
///
/// # Errors
/// An interrupt that came meanwhile.
pub(crate) fn observe(
    ruby: &Ruby,
    observers: Value,
    took: Duration,
    how: Value,
) -> Result<(), Error> {
    let took = ruby.float_from_f64(took.as_secs_f64()).as_value();
    let call = Call {
        receiver: observers.as_raw(),
        method: ruby.intern("loaded").as_raw(),
        arguments: &[how, took],
    };
    call.keeping_what_is_raised()
}

/// Tells the callers that joined that the block of many keys left this one out.
///
/// # Errors
/// An interrupt that came meanwhile; all were told.
pub(crate) fn leave_out(ruby: &Ruby, flights: Vec<Opaque<Value>>) -> Result<(), Error> {
    if flights.is_empty() {
        return Ok(());
    }
    let flights = array(ruby, flights);
    call(ruby, "leave_out", &[flights.as_value()])
}

fn array(ruby: &Ruby, flights: Vec<Opaque<Value>>) -> RArray {
    let array = ruby.ary_new();
    for flight in flights {
        // A fresh Array takes everything.
        let _ = array.push(ruby.get_inner(flight));
    }
    array
}

/// Calls the class, again when an interrupt came in between: no caller is to be left waiting.
///
/// Ruby's `$!` is what a `throw`, a `break` or the end of a killed thread is on its way with. It stays as it was; after
/// an interrupt it is that one's, and so is the error. One without the other would crash the interpreter.
fn call(ruby: &Ruby, method: &str, arguments: &[Value]) -> Result<(), Error> {
    const ATTEMPTS: usize = 5;
    let call = Call {
        receiver: ruby.get_inner(&FLIGHT).as_raw(),
        method: ruby.intern(method).as_raw(),
        arguments,
    };
    let mut result = Ok(());
    for _ in 0..ATTEMPTS {
        match call.keeping_what_is_raised() {
            Ok(()) => break,
            Err(error) => result = Err(error),
        }
    }
    result
}

struct Call<'a> {
    receiver: VALUE,
    method: rb_sys::ID,
    arguments: &'a [Value],
}

impl Call<'_> {
    /// Runs it where Ruby runs an `ensure`, for which it puts `$!` back unless that is left by an error.
    fn keeping_what_is_raised(&self) -> Result<(), Error> {
        unsafe extern "C" fn nothing(_: VALUE) -> VALUE {
            rb_sys::Qnil as VALUE
        }
        unsafe extern "C" fn run(call: VALUE) -> VALUE {
            // SAFETY: the pointer leads to the call below, which waits. Ruby may jump out of here: nothing is
            // owned. A `Value` is a `VALUE`, and the receiver has the method.
            unsafe {
                let call = &*(call as *const Call<'_>);
                let count = call.arguments.len() as std::ffi::c_int;
                rb_sys::rb_funcallv(
                    call.receiver,
                    call.method,
                    count,
                    call.arguments.as_ptr().cast(),
                )
            }
        }
        let data = std::ptr::from_ref(self) as VALUE;
        // SAFETY: the functions own nothing.
        protect(|| unsafe { rb_sys::rb_ensure(Some(nothing), data, Some(run), data) }).map(|_| ())
    }
}
