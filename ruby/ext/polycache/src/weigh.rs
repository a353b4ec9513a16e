//! The bytes of memory that objects take: the estimate of `ruby/lib/polycache/memory/weigh.rb`.

use crate::object::{class, kind, Names};
use rb_sys::{ruby_value_type as Type, st_retval, VALUE};
use std::collections::HashSet;
use std::ffi::c_int;
use std::hash::{BuildHasherDefault, Hasher};

// As there.
pub(crate) const OBJECT: usize = 40;
pub(crate) const OTHER: usize = 80;
pub(crate) const PAIR: usize = 48;
const PLACE: usize = 8;
const SHORT_TEXT: usize = 23;
const SHORT_ARRAY: usize = 3;
const MOST_CONTAINERS: usize = 100_000;

pub(crate) fn text(bytes: usize) -> usize {
    if bytes > SHORT_TEXT {
        OBJECT + bytes
    } else {
        OBJECT
    }
}

pub(crate) fn array(size: usize) -> usize {
    if size > SHORT_ARRAY {
        OBJECT + PLACE * size
    } else {
        OBJECT
    }
}

pub(crate) fn hash(size: usize) -> usize {
    OBJECT + PAIR * size
}

pub(crate) fn set(size: usize) -> usize {
    2 * OBJECT + PAIR * size
}

/// Bytes of an object that holds no others.
///
/// # Safety
/// The object is alive.
pub(crate) unsafe fn scalar(object: VALUE) -> usize {
    // SAFETY: the kind says which of Ruby's functions take it; none of these runs code or allocates.
    unsafe {
        match kind(object) {
            Type::RUBY_T_NIL
            | Type::RUBY_T_TRUE
            | Type::RUBY_T_FALSE
            | Type::RUBY_T_SYMBOL
            | Type::RUBY_T_FLOAT
            | Type::RUBY_T_FIXNUM
            | Type::RUBY_T_CLASS
            | Type::RUBY_T_MODULE => 0,
            Type::RUBY_T_BIGNUM => {
                let bits = rb_sys::rb_absint_numwords(object, 1, std::ptr::null_mut()) as usize;
                // -2^n has the length of what stands below it.
                let power = rb_sys::RBIGNUM_NEGATIVE_P(object)
                    && rb_sys::rb_absint_singlebit_p(object) != 0;
                OBJECT + (bits - usize::from(power)) / 8
            }
            Type::RUBY_T_STRING => text(rb_sys::RSTRING_LEN(object) as usize),
            _ => OTHER,
        }
    }
}

/// Goes through what is made of Arrays, Hashes and Sets. It owns memory, so it is made outside of
/// `protect`; and it allocates no Ruby object, so nothing moves while addresses are compared.
#[derive(Default)]
pub(crate) struct Weigher {
    bytes: usize,
    open: Vec<VALUE>,
    seen: HashSet<VALUE, BuildHasherDefault<OfAddress>>,
    // A part that Ruby has to look at.
    strange: bool,
}

impl Weigher {
    /// `Weigh.any`; none where Ruby has to do it: for what extends Array, Hash or Set and may say
    /// itself what it holds.
    ///
    /// # Safety
    /// Within `protect`; the object is alive.
    pub(crate) unsafe fn any(&mut self, names: &Names, object: VALUE) -> Option<usize> {
        self.bytes = 0;
        self.strange = false;
        self.open.clear();
        self.seen.clear();
        // SAFETY: what a container holds is alive as it is; nothing here runs code that could
        // change one.
        unsafe {
            self.part(names, object);
            while let Some(container) = self.open.pop() {
                if self.strange || self.seen.len() >= MOST_CONTAINERS {
                    break;
                }
                if self.seen.insert(container) {
                    self.shell(names, container);
                }
            }
        }
        (!self.strange).then_some(self.bytes)
    }

    /// # Safety
    /// As for [`Weigher::any`].
    unsafe fn part(&mut self, names: &Names, object: VALUE) {
        // SAFETY: as there; an Array or a Hash stands in the heap.
        unsafe {
            match kind(object) {
                Type::RUBY_T_ARRAY if class(object) == rb_sys::rb_cArray => self.open.push(object),
                Type::RUBY_T_HASH if class(object) == rb_sys::rb_cHash => self.open.push(object),
                Type::RUBY_T_ARRAY | Type::RUBY_T_HASH => self.strange = true,
                Type::RUBY_T_OBJECT | Type::RUBY_T_DATA if names.is_set(object) => {
                    match names.pairs_of_set(object) {
                        Some(_) => self.open.push(object),
                        None => self.strange = true,
                    }
                }
                Type::RUBY_T_OBJECT if class(object) == names.named => self.strange = true,
                _ => self.bytes += scalar(object),
            }
        }
    }

    /// Bytes of a container alone; its parts wait their turn.
    ///
    /// # Safety
    /// As for [`Weigher::any`]; [`Weigher::part`] let it in.
    unsafe fn shell(&mut self, names: &Names, container: VALUE) {
        // SAFETY: as there. The pointer to the frame is used during the call only.
        unsafe {
            match kind(container) {
                Type::RUBY_T_ARRAY => {
                    let size = rb_sys::RARRAY_LEN(container);
                    for index in 0..size {
                        self.part(names, rb_sys::rb_ary_entry(container, index));
                    }
                    self.bytes += array(size as usize);
                }
                Type::RUBY_T_HASH => {
                    let mut frame = (self, names);
                    let data = (&raw mut frame) as VALUE;
                    rb_sys::rb_hash_foreach(container, Some(pair), data);
                    frame.0.bytes += hash(rb_sys::RHASH_SIZE(container));
                }
                _ => {
                    let Some(pairs) = names.pairs_of_set(container) else {
                        return;
                    };
                    let mut frame = (self, names);
                    let data = (&raw mut frame) as VALUE;
                    rb_sys::rb_hash_foreach(pairs, Some(element), data);
                    frame.0.bytes += set(rb_sys::RHASH_SIZE(pairs));
                }
            }
        }
    }
}

type Frame<'a> = (&'a mut Weigher, &'a Names);

/// # Safety
/// Called by [`Weigher::shell`], with its frame.
unsafe extern "C" fn pair(key: VALUE, value: VALUE, frame: VALUE) -> c_int {
    // SAFETY: the frame stands on the stack of the caller that iterates; nothing else uses it.
    unsafe {
        let (weigher, names) = &mut *(frame as *mut Frame<'_>);
        weigher.part(names, key);
        weigher.part(names, value);
    }
    st_retval::ST_CONTINUE as c_int
}

/// # Safety
/// As for [`pair`].
unsafe extern "C" fn element(key: VALUE, _: VALUE, frame: VALUE) -> c_int {
    // SAFETY: as there.
    unsafe {
        let (weigher, names) = &mut *(frame as *mut Frame<'_>);
        weigher.part(names, key);
    }
    st_retval::ST_CONTINUE as c_int
}

/// Objects stand at multiples of eight or more.
#[derive(Default)]
pub(crate) struct OfAddress(u64);

impl Hasher for OfAddress {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        let mixed = (self.0 ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ (mixed >> 32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
