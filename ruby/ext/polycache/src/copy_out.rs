//! Copies out what was copied in and where nothing is reached twice: `PlainCopies.tree` of
//! `ruby/lib/polycache/memory/copies.rb`.
//!
//! A hit does little else, so it allocates only what it hands out. What is frozen is frozen to its
//! depth, and shared. A stored value has no other owner and never changes.

use crate::object::{class, is_frozen, kind, stack_is_low, Names};
use rb_sys::{ruby_value_type as Type, st_retval, VALUE};
use std::ffi::{c_int, c_long};

/// Pairs of a Hash that are looked at together: Ruby keeps as many without an index.
const FEW: usize = 8;

/// The copy of a value, or of a part; none when Ruby has to make it.
///
/// # Safety
/// Within `protect`; the object is alive.
#[inline]
pub(crate) unsafe fn tree(names: &Names, value: VALUE) -> Option<VALUE> {
    // SAFETY: the kind says which of Ruby's functions take the object.
    unsafe {
        if is_frozen(value) {
            return Some(value);
        }
        match kind(value) {
            Type::RUBY_T_STRING => Some(rb_sys::rb_str_dup(value)),
            Type::RUBY_T_HASH => hash(names, value),
            Type::RUBY_T_ARRAY => array(names, value),
            _ => object(names, value),
        }
    }
}

/// # Safety
/// As for [`tree`]; it is an Array.
unsafe fn array(names: &Names, value: VALUE) -> Option<VALUE> {
    if stack_is_low() {
        return None;
    }
    // SAFETY: the copy has as many entries, and is on this stack.
    unsafe {
        let copy = rb_sys::rb_ary_dup(value);
        let size: c_long = rb_sys::RARRAY_LEN(copy);
        for index in 0..size {
            let part = rb_sys::rb_ary_entry(copy, index);
            if !is_frozen(part) {
                rb_sys::rb_ary_store(copy, index, tree(names, part)?);
            }
        }
        Some(copy)
    }
}

/// # Safety
/// As for [`tree`]; it is a Hash.
unsafe fn hash(names: &Names, value: VALUE) -> Option<VALUE> {
    if stack_is_low() {
        return None;
    }
    // SAFETY: the pointer to the row is used during the call only. The row is on this stack, where
    // the garbage collector sees what is in it.
    unsafe {
        if rb_sys::RHASH_SIZE(value) > FEW {
            return many(names, value);
        }
        let mut row = Row {
            pairs: [rb_sys::Qnil as VALUE; 2 * FEW],
            filled: 0,
            changing: 0,
            strange: false,
        };
        rb_sys::rb_hash_foreach(value, Some(gather), (&raw mut row) as VALUE);
        if row.changing == 0 {
            return Some(rb_sys::rb_hash_dup(value));
        }
        if row.strange {
            return many(names, value);
        }
        // Replacing a value takes as long as inserting three, in a copy of the table.
        if 3 * row.changing < row.filled / 2 {
            let copy = rb_sys::rb_hash_dup(value);
            for pair in row.pairs[..row.filled].chunks_exact(2) {
                if !is_frozen(pair[1]) {
                    rb_sys::rb_hash_aset(copy, pair[0], tree(names, pair[1])?);
                }
            }
            return Some(copy);
        }
        let copy = rb_sys::rb_hash_new();
        for pair in row.pairs[..row.filled].chunks_exact_mut(2) {
            pair[1] = tree(names, pair[1])?;
        }
        rb_sys::rb_hash_bulk_insert(row.filled as c_long, row.pairs.as_ptr(), copy);
        Some(copy)
    }
}

/// The pairs of a small Hash.
struct Row {
    pairs: [VALUE; 2 * FEW],
    filled: usize,
    /// Values that are not frozen.
    changing: usize,
    /// Whether inserting a key might run code of users.
    strange: bool,
}

/// # Safety
/// Called by [`hash`], with its row.
unsafe extern "C" fn gather(key: VALUE, value: VALUE, row: VALUE) -> c_int {
    // SAFETY: the row stands on the stack of the caller that iterates; the objects are alive.
    unsafe {
        let row = &mut *(row as *mut Row);
        let Some(pair) = row.pairs.get_mut(row.filled..row.filled + 2) else {
            return st_retval::ST_STOP as c_int;
        };
        pair.copy_from_slice(&[key, value]);
        row.filled += 2;
        row.changing += usize::from(!is_frozen(value));
        row.strange |= !is_simple_key(key);
    }
    st_retval::ST_CONTINUE as c_int
}

/// Whether inserting a key runs no code of users.
///
/// # Safety
/// The object is alive.
pub(crate) unsafe fn is_simple_key(key: VALUE) -> bool {
    // SAFETY: a String stands in the heap.
    unsafe {
        match kind(key) {
            Type::RUBY_T_STRING => class(key) == rb_sys::rb_cString,
            Type::RUBY_T_SYMBOL | Type::RUBY_T_FIXNUM => true,
            _ => false,
        }
    }
}

/// A Hash of any size and any keys: Ruby copies the table, without a look at the keys.
///
/// # Safety
/// As for [`hash`].
unsafe fn many(names: &Names, value: VALUE) -> Option<VALUE> {
    let mut frame = (names, false);
    // SAFETY: the pointer to the frame is used during the call only.
    let copy = unsafe { names.transform_values(value, transform, (&raw mut frame) as VALUE) };
    (!frame.1).then_some(copy)
}

/// # Safety
/// Called by [`many`], with its frame.
unsafe extern "C" fn transform(
    value: VALUE,
    frame: VALUE,
    _: c_int,
    _: *const VALUE,
    _: VALUE,
) -> VALUE {
    // SAFETY: the frame stands on the stack of the caller, and the object is alive.
    unsafe {
        let (names, left) = &mut *(frame as *mut (&Names, bool));
        tree(names, value).unwrap_or_else(|| {
            *left = true;
            rb_sys::Qnil as VALUE
        })
    }
}

/// A Set, a Time, a class.
///
/// # Safety
/// As for [`tree`]; it stands in the heap.
unsafe fn object(names: &Names, value: VALUE) -> Option<VALUE> {
    // SAFETY: as there.
    unsafe {
        match kind(value) {
            // Not frozen, and kept as it is.
            Type::RUBY_T_CLASS | Type::RUBY_T_MODULE => Some(value),
            _ if class(value) == rb_sys::rb_cTime => Some(rb_sys::rb_obj_dup(value)),
            _ => set(names, value),
        }
    }
}

/// # Safety
/// As for [`tree`].
unsafe fn set(names: &Names, value: VALUE) -> Option<VALUE> {
    // SAFETY: the pointer to the frame is used during the call only.
    unsafe {
        let from = names.pairs_of_set(value)?;
        if stack_is_low() {
            return None;
        }
        let (copy, into) = names.new_set()?;
        let mut frame = Elements {
            names,
            into,
            left: false,
        };
        rb_sys::rb_hash_foreach(from, Some(element), (&raw mut frame) as VALUE);
        (!frame.left).then_some(copy)
    }
}

struct Elements<'a> {
    names: &'a Names,
    into: VALUE,
    left: bool,
}

/// Elements may be objects of users, whose `hash` and `eql?` run here and may raise.
///
/// # Safety
/// Called by [`set`], with its frame.
unsafe extern "C" fn element(key: VALUE, _: VALUE, frame: VALUE) -> c_int {
    // SAFETY: the frame stands on the stack of the caller that iterates; nothing else uses it.
    unsafe {
        let frame = &mut *(frame as *mut Elements<'_>);
        let Some(key) = tree(frame.names, key) else {
            frame.left = true;
            return st_retval::ST_STOP as c_int;
        };
        rb_sys::rb_hash_aset(frame.into, key, rb_sys::Qtrue as VALUE);
    }
    st_retval::ST_CONTINUE as c_int
}
