//! Makes the steps of `packed.rs` out of a stored value.

use crate::copy_out::is_simple_key;
use crate::object::{is_frozen, kind};
use crate::packed::{Step, FEW};
use crate::weigh::OfAddress;
use rb_sys::{ruby_coderange_type as CodeRange, ruby_value_type as Type, st_retval, VALUE};
use std::collections::HashMap;
use std::ffi::{c_int, c_long};
use std::hash::BuildHasherDefault;

/// Bytes of a text that stands in its slot in Ruby's heap; the bytes of others are shared.
const SHORT_TEXT: usize = 23;
/// Nested deeper, a part is kept as it is: unpacking does not look at the stack at each level.
const DEEPEST: usize = 8;

/// It owns memory, so it is made outside of `protect`.
pub(crate) struct Packer {
    /// An Array of what steps refer to.
    objects: VALUE,
    /// The numbers of shared objects, by addresses that may be out of date: objects move.
    numbers: HashMap<VALUE, u32, BuildHasherDefault<OfAddress>>,
    pub(crate) steps: Vec<Step>,
    pub(crate) texts: Vec<u8>,
    depth: usize,
}

impl Packer {
    pub(crate) fn new(objects: VALUE) -> Packer {
        Packer {
            objects,
            numbers: HashMap::default(),
            steps: Vec::new(),
            texts: Vec::new(),
            depth: 0,
        }
    }

    /// # Safety
    /// Within `protect`; the object is a tree that `Copier` has made or part of it, and that tree
    /// and `objects` are on the stack. They have no other owner, so nothing changes meanwhile.
    pub(crate) unsafe fn part(&mut self, value: VALUE) {
        // SAFETY: the kind says which of Ruby's functions take the object.
        unsafe {
            if rb_sys::SPECIAL_CONST_P(value) {
                return self.steps.push(Step::Itself(value));
            }
            if is_frozen(value) {
                let step = Step::Shared(self.shared(value));
                return self.steps.push(step);
            }
            match kind(value) {
                Type::RUBY_T_STRING => match short_utf8(value) {
                    Some((text, ascii)) => {
                        self.texts.extend_from_slice(text);
                        let size = text.len() as u32;
                        self.steps.push(Step::Text { size, ascii });
                    }
                    None => self.copied(value),
                },
                Type::RUBY_T_ARRAY if self.depth < DEEPEST && !is_copied_at_once(value) => {
                    let size = rb_sys::RARRAY_LEN(value);
                    self.steps.push(Step::Array(size as u32));
                    self.depth += 1;
                    for index in 0..size {
                        self.part(rb_sys::rb_ary_entry(value, index));
                    }
                    self.depth -= 1;
                }
                Type::RUBY_T_HASH if self.depth < DEEPEST && is_simple(value) => {
                    self.steps
                        .push(Step::Hash(rb_sys::RHASH_SIZE(value) as u32));
                    self.depth += 1;
                    let packer = (&raw mut *self) as VALUE;
                    rb_sys::rb_hash_foreach(value, Some(pair), packer);
                    self.depth -= 1;
                }
                _ => self.copied(value),
            }
        }
    }

    /// # Safety
    /// As for [`Packer::part`].
    unsafe fn copied(&mut self, value: VALUE) {
        // SAFETY: as there.
        let number = unsafe { self.add(value) };
        self.steps.push(Step::Copied(number));
    }

    /// The number of an object that the copies share. Keys of Hashes are few and come again.
    ///
    /// # Safety
    /// As for [`Packer::part`].
    unsafe fn shared(&mut self, value: VALUE) -> u32 {
        if let Some(number) = self.numbers.get(&value) {
            // SAFETY: an Array, which knows where its objects are now.
            if unsafe { rb_sys::rb_ary_entry(self.objects, c_long::from(*number)) } == value {
                return *number;
            }
        }
        // SAFETY: as there.
        let number = unsafe { self.add(value) };
        self.numbers.insert(value, number);
        number
    }

    /// # Safety
    /// As for [`Packer::part`].
    unsafe fn add(&mut self, value: VALUE) -> u32 {
        // SAFETY: an Array.
        unsafe {
            rb_sys::rb_ary_push(self.objects, value);
            (rb_sys::RARRAY_LEN(self.objects) - 1) as u32
        }
    }
}

/// # Safety
/// Called by [`Packer::part`], with the packer.
unsafe extern "C" fn pair(key: VALUE, value: VALUE, packer: VALUE) -> c_int {
    // SAFETY: the packer is borrowed by the caller that iterates; nothing else uses it.
    unsafe {
        let packer = &mut *(packer as *mut Packer);
        packer.part(key);
        packer.part(value);
    }
    st_retval::ST_CONTINUE as c_int
}

/// The bytes of a short and valid text, and whether all of them are ASCII.
///
/// # Safety
/// It is a String, which stays as and where it is while the bytes are in use: it is on the stack.
unsafe fn short_utf8<'a>(text: VALUE) -> Option<(&'a [u8], bool)> {
    const ASCII: c_int = CodeRange::RUBY_ENC_CODERANGE_7BIT as c_int;
    const VALID: c_int = CodeRange::RUBY_ENC_CODERANGE_VALID as c_int;
    // SAFETY: pointer and length belong together.
    unsafe {
        let size = rb_sys::RSTRING_LEN(text) as usize;
        if size > SHORT_TEXT || rb_sys::rb_enc_get_index(text) != rb_sys::rb_utf8_encindex() {
            return None;
        }
        let ascii = match rb_sys::rb_enc_str_coderange(text) {
            ASCII => true,
            VALID => false,
            _ => return None,
        };
        let start = rb_sys::RSTRING_PTR(text).cast::<u8>();
        Some((std::slice::from_raw_parts(start, size), ascii))
    }
}

/// Whether Ruby copies a long Array in one piece, because nothing in it has to be copied.
///
/// # Safety
/// It is an Array.
unsafe fn is_copied_at_once(array: VALUE) -> bool {
    const LONG: c_long = 16;
    // SAFETY: as the caller promises.
    unsafe {
        let size = rb_sys::RARRAY_LEN(array);
        size > c_long::from(u32::MAX)
            || size > LONG && (0..size).all(|index| is_frozen(rb_sys::rb_ary_entry(array, index)))
    }
}

/// Whether a Hash has few pairs, and inserting its keys runs no code of users.
///
/// # Safety
/// It is a Hash.
unsafe fn is_simple(hash: VALUE) -> bool {
    let mut simple = true;
    // SAFETY: the pointer is used during the call only.
    unsafe {
        if rb_sys::RHASH_SIZE(hash) > FEW {
            return false;
        }
        rb_sys::rb_hash_foreach(hash, Some(look), (&raw mut simple) as VALUE);
    }
    simple
}

/// # Safety
/// Called by [`is_simple`], with its answer.
unsafe extern "C" fn look(key: VALUE, _: VALUE, simple: VALUE) -> c_int {
    // SAFETY: the answer stands on the stack of the caller that iterates; the objects are alive.
    unsafe { *(simple as *mut bool) &= is_simple_key(key) };
    st_retval::ST_CONTINUE as c_int
}
