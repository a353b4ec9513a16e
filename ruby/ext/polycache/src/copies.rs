//! `Polycache::Native::Copies`: how a memory tier copies and weighs objects. It answers the same
//! calls as `Polycache::Memory::PlainCopies`, in the same way, and leaves to that one what is rare.
//!
//! The same work in Ruby alone takes 1.6 times as long for a hit of a short text (0.45 beside 0.28 µs), 3 times
//! for a Hash of five fields (1.9 beside 0.6) and 8 to 9 times for 100 Hashes (68 beside 7.8); for a set 1.6, 2.9
//! and 15 times (505 beside 33 µs).

use crate::copy_in::Copier;
use crate::copy_out;
use crate::error::OrRaise;
use crate::from_ruby::{as_read, with_facts};
use crate::object::{is_frozen, plain_copies, Names};
use crate::packed::{self, Packed};
use crate::to_ruby::to_ruby;
use crate::value_with_origin::settle;
use crate::weigh::Weigher;
use magnus::{
    function,
    prelude::*,
    rb_sys::{protect, AsRawValue, FromRawValue},
    Error, IntoValue, RArray, RModule, Ruby, Value,
};
use polycache_entry::{encode, EntryOptions};
use rb_sys::VALUE;

/// What `protect` answers with when Ruby has to do it.
const LEFT: VALUE = rb_sys::Qundef as VALUE;

/// Leaves a call to plain Ruby.
#[cold]
fn plainly(ruby: &Ruby, method: &str, arguments: impl magnus::ArgList) -> Result<Value, Error> {
    plain_copies(ruby).funcall(method, arguments)
}

/// `[copy, plan, bytes]`: what a cache stores of a value.
fn keep(ruby: &Ruby, value: Value, freeze: bool, types: Value) -> Result<Value, Error> {
    let names = Names::get(ruby);
    let mut weigher = Weigher::default();
    let copier = Copier::new(&names, &mut weigher, freeze);
    match kept(ruby, copier, value, freeze)? {
        Some(kept) => Ok(kept.as_value()),
        None => plainly(ruby, "keep", (value, freeze, types)),
    }
}

/// As [`keep`], of what a reader would be given over a directory, by the type map. A fourth, true,
/// says that it is something else than the value.
fn keep_mapped(ruby: &Ruby, value: Value, freeze: bool, types: Value) -> Result<Value, Error> {
    let names = Names::get(ruby);
    let mut weigher = Weigher::default();
    let copier = Copier::mapped(&names, &mut weigher, freeze);
    if let Some(kept) = kept(ruby, copier, value, freeze)? {
        return Ok(kept.as_value());
    }
    let checked = with_facts(ruby, types, value, |value, facts| {
        let mut unused = Vec::new();
        let options = EntryOptions::default();
        let encoded = facts
            .has_limits
            .then(|| encode(value, &options, &mut unused));
        // Here, because another walk would encode types once more.
        let made = facts.named.then(|| to_ruby(ruby, value));
        encoded.transpose().map(|_| (facts.changed, made))
    });
    let (changed, made) = checked
        .map_err(|unfit| unfit.into_error(ruby))?
        .map_err(polycache::Error::from)
        .or_raise(ruby)?;
    if let Some(made) = made {
        return keep_named(ruby, made?, freeze, types);
    }
    if !changed {
        return keep(ruby, value, freeze, types);
    }
    let kept = keep_tree(ruby, as_read(ruby, types, value)?, freeze)?;
    kept.push(true)?;
    Ok(kept.as_value())
}

/// What that copier makes of it; none where it is too rare for it.
fn kept(
    ruby: &Ruby,
    mut copier: Copier<'_>,
    value: Value,
    freeze: bool,
) -> Result<Option<RArray>, Error> {
    // SAFETY: copier and weigher stand on the stack, outside of what may be jumped out of.
    let copy = protect(|| unsafe { copier.part(value.as_raw()) }.unwrap_or(LEFT))?;
    if copy == LEFT {
        return Ok(None);
    }
    let mut plan = if freeze {
        None
    } else {
        plan(ruby, copy, copier.shared)
    };
    // SAFETY: it is alive: it is on this stack.
    let mut kept = unsafe { Value::from_raw(copy) };
    if plan == Some("tree") {
        if let Some(packed) = Packed::pack(ruby, copy)? {
            kept = packed;
            plan = Some("packed");
        }
    }
    let plan = plan.map(|name| ruby.sym_new(name)).into_value_with(ruby);
    let bytes = copier.bytes.into_value_with(ruby);
    let kept = ruby.ary_new_from_values(&[kept, plan, bytes]);
    if copier.changed {
        kept.push(true)?;
    }
    Ok(Some(kept))
}

/// As [`keep`], for a value in which nothing is reached twice and that has no other owner.
fn keep_tree(ruby: &Ruby, value: Value, freeze: bool) -> Result<RArray, Error> {
    let bytes = weigh(ruby, value)?;
    if freeze {
        settle(ruby, value, true)?;
    }
    // SAFETY: the caller holds it.
    let (raw, is_frozen) = unsafe { (value.as_raw(), is_frozen(value.as_raw())) };
    let (kept, plan) = match (is_frozen, Packed::pack(ruby, raw)?) {
        (true, _) => (value, None),
        (false, Some(packed)) => (packed, Some("packed")),
        (false, None) => (value, Some("tree")),
    };
    let plan = plan.map(|name| ruby.sym_new(name)).into_value_with(ruby);
    Ok(ruby.ary_new_from_values(&[kept, plan, bytes]))
}

/// As [`keep_tree`], where types stand in the value as `Polycache::Named`: their plan makes them.
fn keep_named(ruby: &Ruby, value: Value, freeze: bool, types: Value) -> Result<Value, Error> {
    let bytes = weigh(ruby, value)?;
    if freeze {
        settle(ruby, value, true)?;
    }
    let plan: Value = types.funcall("plan", (freeze,))?;
    let changed = true.into_value_with(ruby);
    Ok(ruby
        .ary_new_from_values(&[value, plan, bytes, changed])
        .as_value())
}

/// How a copy is copied out; none: it is handed out itself.
fn plan(ruby: &Ruby, copy: VALUE, shared: bool) -> Option<&'static str> {
    // SAFETY: the caller holds it.
    let (frozen, copy) = unsafe { (is_frozen(copy), Value::from_raw(copy)) };
    let module = || RModule::from_value(copy).is_some() || copy.is_kind_of(ruby.class_class());
    match (frozen || module(), shared) {
        (true, _) => None,
        (false, true) => Some("graph"),
        (false, false) => Some("tree"),
    }
}

/// A copy of what `keep` has stored with the plan `:tree`.
pub(crate) fn tree(ruby: &Ruby, value: Value) -> Result<Value, Error> {
    let names = Names::get(ruby);
    // SAFETY: no frame in there owns anything that a jump would leak.
    let copy = protect(|| unsafe { copy_out::tree(&names, value.as_raw()) }.unwrap_or(LEFT))?;
    if copy == LEFT {
        return plainly(ruby, "tree", (value,));
    }
    // SAFETY: it is alive: it is on this stack.
    Ok(unsafe { Value::from_raw(copy) })
}

/// A copy of what `keep` has stored with the plan `:graph`.
fn graph(ruby: &Ruby, value: Value) -> Result<Value, Error> {
    let names = Names::get(ruby);
    let mut weigher = Weigher::default();
    let mut copier = Copier::new(&names, &mut weigher, false);
    // SAFETY: copier and weigher stand on this stack, outside of what may be jumped out of.
    let copy = protect(|| unsafe { copier.part(value.as_raw()) }.unwrap_or(LEFT))?;
    if copy == LEFT {
        return plainly(ruby, "graph", (value,));
    }
    // SAFETY: it is alive: it is on this stack.
    Ok(unsafe { Value::from_raw(copy) })
}

/// Bytes of any value as it is.
fn weigh(ruby: &Ruby, value: Value) -> Result<Value, Error> {
    let names = Names::get(ruby);
    let mut weigher = Weigher::default();
    let mut bytes = None;
    // SAFETY: the weigher stands on this stack, outside of what may be jumped out of.
    protect(|| unsafe {
        bytes = weigher.any(&names, value.as_raw());
        rb_sys::Qnil as VALUE
    })?;
    match bytes {
        Some(bytes) => Ok(bytes.into_value_with(ruby)),
        None => plainly(ruby, "weigh", (value,)),
    }
}

/// Defines the functions.
///
/// # Errors
/// What Ruby raises when it cannot.
pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    packed::define(ruby, native)?;
    let copies = native.define_module("Copies")?;
    copies.define_singleton_method("keep", function!(keep, 3))?;
    copies.define_singleton_method("keep_mapped", function!(keep_mapped, 3))?;
    copies.define_singleton_method("tree", function!(tree, 1))?;
    copies.define_singleton_method("graph", function!(graph, 1))?;
    copies.define_singleton_method("weigh", function!(weigh, 1))
}
