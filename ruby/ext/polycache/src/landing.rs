//! Tells those who joined a load what came of it: `Polycache::Flight`.

use crate::fetch::Loaded;
use magnus::{
    prelude::*, rb_sys::protect, value::Lazy, value::Opaque, Error, Exception, RArray, RClass,
    RModule, Ruby, Value,
};
use rb_sys::VALUE;

static FLIGHT: Lazy<RClass> = Lazy::new(|ruby| {
    ruby.class_object()
        .const_get::<_, RModule>("Polycache")
        .and_then(|polycache| polycache.const_get("Flight"))
        .expect("cache.rb loads it")
});

/// A flight that nobody waits in yet.
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

/// Lets those who joined look for themselves. What interrupts it is not said.
pub(crate) fn give_up(ruby: &Ruby, flights: Vec<Opaque<Value>>) {
    if !flights.is_empty() {
        let flights = array(ruby, flights);
        let _ = call(ruby, "give_up", &[flights.as_value()]);
    }
}

fn array(ruby: &Ruby, flights: Vec<Opaque<Value>>) -> RArray {
    let array = ruby.ary_new();
    for flight in flights {
        // A fresh Array takes everything.
        let _ = array.push(ruby.get_inner(flight));
    }
    array
}

/// Calls the class, again when an interrupt came in between: nobody is to be left waiting.
fn call(ruby: &Ruby, method: &str, arguments: &[Value]) -> Result<(), Error> {
    const ATTEMPTS: usize = 5;
    let class = ruby.get_inner(&FLIGHT);
    let mut result = Ok(());
    keeping_what_is_raised(|| {
        for _ in 0..ATTEMPTS {
            match class.funcall::<_, _, Value>(method, arguments) {
                Ok(_) => return,
                Err(error) => result = Err(error),
            }
        }
    });
    result
}

/// Runs `work`, which must not unwind, and leaves Ruby's `$!` as it was, even where it is what a
/// `throw` or `break` is on its way with: Ruby sees to that for who cleans up.
fn keeping_what_is_raised<W: FnMut()>(mut work: W) {
    unsafe extern "C" fn nothing(_: VALUE) -> VALUE {
        rb_sys::Qnil as VALUE
    }
    unsafe extern "C" fn run<W: FnMut()>(work: VALUE) -> VALUE {
        // SAFETY: the pointer leads to the closure on the stack below, which nobody else uses.
        unsafe { (*(work as *mut W))() };
        rb_sys::Qnil as VALUE
    }
    let data = (&raw mut work) as VALUE;
    // SAFETY: the functions own nothing, and what the closure calls is protected.
    let _ = protect(|| unsafe { rb_sys::rb_ensure(Some(nothing), data, Some(run::<W>), data) });
}
