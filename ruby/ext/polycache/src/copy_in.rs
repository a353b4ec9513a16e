//! Copies one value into a cache: `Copier` of `ruby/lib/polycache/memory/copier.rb`, which says what
//! is copied in which way.
//!
//! What that one refuses, and subclasses that may have methods of their own, are left to it from
//! the beginning, so errors and odd cases are the same. What was copied until then is garbage.
//!
//! A Hash's keys may be objects of users, whose `hash` and `eql?` run when the copy is filled; they may raise, and
//! change what is being copied. So nothing here remembers what a container held: an Array is asked for its length anew
//! for each part, and Ruby itself guards a Hash that is iterated over. No frame owns anything that a jump would leak.

use crate::object::{
    class, is_a_very, is_frozen, kind, knows_keys_by_identity, stack_is_low, Names,
};
use crate::weigh::{self, Weigher};
use polycache_entry::MAX_DEPTH;
use rb_sys::{ruby_coderange_type as CodeRange, ruby_value_type as Type, st_retval, VALUE};
use std::ffi::{c_int, c_long};

/// Nested deeper, a value is refused.
const DEEPEST: usize = 1000;

pub(crate) struct Copier<'a> {
    names: &'a Names,
    weigher: &'a mut Weigher,
    freeze: bool,
    /// Only what the type map has, and a reader of a directory would be given in the same way.
    mapped: bool,
    depth: usize,
    /// Objects and their copies, by identity. It keeps all copies in the garbage collector's
    /// sight: this stands on the stack. Nil as long as there is nothing in it.
    seen: VALUE,
    /// Bytes of memory that the copy takes.
    pub(crate) bytes: usize,
    /// Whether something is reached twice, so that a copy has to remember where it was.
    pub(crate) shared: bool,
    /// Whether the copy is another value, by the type map: texts in the place of Symbols.
    pub(crate) changed: bool,
}

impl<'a> Copier<'a> {
    pub(crate) fn new(names: &'a Names, weigher: &'a mut Weigher, freeze: bool) -> Copier<'a> {
        Copier {
            names,
            weigher,
            freeze,
            mapped: false,
            depth: 0,
            seen: rb_sys::Qnil as VALUE,
            bytes: 0,
            shared: false,
            changed: false,
        }
    }

    /// As [`Copier::new`], for values of the type map. It leaves alone what is rare in them, not only
    /// what they lack.
    pub(crate) fn mapped(names: &'a Names, weigher: &'a mut Weigher, freeze: bool) -> Copier<'a> {
        Copier {
            mapped: true,
            ..Copier::new(names, weigher, freeze)
        }
    }

    /// The copy; none when Ruby has to make it.
    ///
    /// # Safety
    /// Within `protect`; the object is alive, and this copier on the stack.
    pub(crate) unsafe fn part(&mut self, value: VALUE) -> Option<VALUE> {
        // SAFETY: the kind says which of Ruby's functions take the object. Copies that are not yet
        // part of another are in `seen` or on this stack.
        unsafe {
            match kind(value) {
                Type::RUBY_T_NIL
                | Type::RUBY_T_TRUE
                | Type::RUBY_T_FALSE
                | Type::RUBY_T_FLOAT
                | Type::RUBY_T_FIXNUM => Some(value),
                Type::RUBY_T_SYMBOL => (!self.mapped).then_some(value),
                Type::RUBY_T_BIGNUM if self.mapped => None,
                Type::RUBY_T_BIGNUM => self.kept(value),
                Type::RUBY_T_STRING if self.mapped && !is_text_or_bytes(value) => None,
                Type::RUBY_T_STRING if is_a_very(value, rb_sys::rb_cString) => self.text(value),
                Type::RUBY_T_ARRAY if class(value) == rb_sys::rb_cArray => {
                    self.inside(value, Self::array)
                }
                Type::RUBY_T_HASH if class(value) == rb_sys::rb_cHash => {
                    self.inside(value, Self::hash)
                }
                Type::RUBY_T_STRING | Type::RUBY_T_ARRAY | Type::RUBY_T_HASH => None,
                _ if self.mapped => None,
                _ => self.object(value),
            }
        }
    }

    /// An object that cannot be changed.
    ///
    /// # Safety
    /// As for [`Copier::part`].
    unsafe fn kept(&mut self, value: VALUE) -> Option<VALUE> {
        // SAFETY: the object is alive.
        self.bytes += unsafe { weigh::scalar(value) };
        Some(value)
    }

    /// # Safety
    /// As for [`Copier::part`]; it is a String.
    unsafe fn text(&mut self, value: VALUE) -> Option<VALUE> {
        // SAFETY: a String, and one that was just made.
        unsafe {
            let frozen = is_frozen(value);
            if frozen {
                return self.kept(value);
            }
            if let Some(copy) = self.known(value) {
                return Some(copy);
            }
            self.bytes += weigh::scalar(value);
            // It shares the bytes until one of the two changes.
            let copy = rb_sys::rb_str_resurrect(value);
            if self.freeze {
                rb_sys::rb_str_freeze(copy);
            }
            // A text alone is shared with nothing.
            if self.depth > 0 {
                self.remember(value, copy);
            }
            Some(copy)
        }
    }

    /// A Set, a Time, or what is frozen to its depth.
    ///
    /// # Safety
    /// As for [`Copier::part`].
    unsafe fn object(&mut self, value: VALUE) -> Option<VALUE> {
        // SAFETY: each function is given what it is for.
        unsafe {
            if self.names.is_set(value) {
                self.names.pairs_of_set(value)?;
                return self.inside(value, Self::set);
            }
            if class(value) == rb_sys::rb_cTime {
                if let Some(copy) = self.known(value) {
                    return Some(copy);
                }
                self.bytes += weigh::OTHER;
                let copy = rb_sys::rb_obj_dup(value);
                if self.freeze || is_frozen(value) {
                    self.names.freeze(copy);
                }
                self.remember(value, copy);
                return Some(copy);
            }
            if class(value) == self.names.named {
                return None;
            }
            if self.names.passes_for_time(value) || !self.names.is_shareable(value) {
                return None;
            }
            self.kept(value)
        }
    }

    /// The copy of an object that was met before.
    ///
    /// # Safety
    /// As for [`Copier::part`].
    unsafe fn known(&mut self, value: VALUE) -> Option<VALUE> {
        const NOTHING: VALUE = rb_sys::Qundef as VALUE;
        if self.seen == rb_sys::Qnil as VALUE {
            return None;
        }
        // SAFETY: a Hash by identity runs no code.
        let copy = unsafe { rb_sys::rb_hash_lookup2(self.seen, value, NOTHING) };
        if copy == NOTHING {
            return None;
        }
        self.shared = true;
        Some(copy)
    }

    /// # Safety
    /// As for [`Copier::part`].
    unsafe fn remember(&mut self, value: VALUE, copy: VALUE) {
        // SAFETY: as above.
        unsafe {
            if self.seen == rb_sys::Qnil as VALUE {
                self.seen = self.names.new_by_identity();
            }
            rb_sys::rb_hash_aset(self.seen, value, copy);
        }
    }

    /// A container. It is known before its parts are looked at: they may refer to it.
    ///
    /// # Safety
    /// As for [`Copier::part`]; `copy` takes objects of this kind.
    unsafe fn inside(
        &mut self,
        value: VALUE,
        copy: unsafe fn(&mut Self, VALUE) -> Option<VALUE>,
    ) -> Option<VALUE> {
        // SAFETY: as the caller promises.
        unsafe {
            if let Some(copy) = self.known(value) {
                // It might hold itself.
                return (!self.mapped).then_some(copy);
            }
            if is_frozen(value) && self.names.is_shareable(value) {
                if self.mapped {
                    return None;
                }
                self.bytes += self.weigher.any(self.names, value)?;
                self.remember(value, value);
                return Some(value);
            }
            let deepest = if self.mapped { MAX_DEPTH } else { DEEPEST };
            if self.depth == deepest || stack_is_low() {
                return None;
            }
            self.depth += 1;
            let copy = copy(self, value)?;
            self.depth -= 1;
            if self.freeze {
                self.names.freeze(copy);
            }
            Some(copy)
        }
    }

    /// # Safety
    /// As for [`Copier::part`]; it is an Array.
    unsafe fn array(&mut self, value: VALUE) -> Option<VALUE> {
        // SAFETY: the length is asked anew each time, and an entry that is not there is nil.
        unsafe {
            let copy = rb_sys::rb_ary_new_capa(rb_sys::RARRAY_LEN(value));
            self.remember(value, copy);
            let mut index: c_long = 0;
            while index < rb_sys::RARRAY_LEN(value) {
                let part = self.part(rb_sys::rb_ary_entry(value, index))?;
                rb_sys::rb_ary_push(copy, part);
                index += 1;
            }
            self.bytes += weigh::array(index as usize);
            Some(copy)
        }
    }

    /// # Safety
    /// As for [`Copier::part`]; it is a Hash.
    unsafe fn hash(&mut self, value: VALUE) -> Option<VALUE> {
        // SAFETY: as there.
        unsafe {
            let copy = if knows_keys_by_identity(value) {
                if self.mapped {
                    return None;
                }
                self.shared = true;
                self.names.new_by_identity()
            } else {
                rb_sys::rb_hash_new()
            };
            self.remember(value, copy);
            let each = if self.mapped { mapped_pair } else { pair };
            self.fill(copy, value, each)?;
            self.bytes += weigh::hash(rb_sys::RHASH_SIZE(copy));
            Some(copy)
        }
    }

    /// # Safety
    /// As for [`Copier::part`]; it is a Set, with a Hash inside.
    unsafe fn set(&mut self, value: VALUE) -> Option<VALUE> {
        // SAFETY: as there.
        unsafe {
            let from = self.names.pairs_of_set(value)?;
            let (copy, into) = self.names.new_set()?;
            self.remember(value, copy);
            self.fill(into, from, element)?;
            self.bytes += weigh::set(rb_sys::RHASH_SIZE(into));
            Some(copy)
        }
    }

    /// Puts copies of pairs into a Hash.
    ///
    /// # Safety
    /// As for [`Copier::part`]; `into` and `from` are Hashes.
    unsafe fn fill(
        &mut self,
        into: VALUE,
        from: VALUE,
        each: unsafe extern "C" fn(VALUE, VALUE, VALUE) -> c_int,
    ) -> Option<()> {
        let mut frame = Filling {
            copier: self,
            into,
            left: false,
            texts: false,
            symbols: false,
        };
        // SAFETY: the pointer to the frame is used during the call only.
        unsafe { rb_sys::rb_hash_foreach(from, Some(each), (&raw mut frame) as VALUE) };
        (!frame.left).then_some(())
    }

    /// A key that is a container: copies of the Hash are made with what remembers where it was.
    ///
    /// # Safety
    /// As for [`Copier::part`].
    unsafe fn key(&mut self, key: VALUE) -> Option<VALUE> {
        // SAFETY: the object is alive.
        unsafe {
            let plain = match kind(key) {
                Type::RUBY_T_ARRAY | Type::RUBY_T_HASH => false,
                Type::RUBY_T_OBJECT | Type::RUBY_T_DATA => !self.names.is_set(key),
                _ => true,
            };
            self.shared |= !(plain && is_frozen(key));
            self.part(key)
        }
    }
}

/// Whether it is a String, of no other class, that is valid in UTF-8.
///
/// # Safety
/// The object is alive.
unsafe fn is_text(value: VALUE) -> bool {
    const INVALID: c_int = CodeRange::RUBY_ENC_CODERANGE_BROKEN as c_int;
    // SAFETY: the functions take a String.
    unsafe {
        !rb_sys::SPECIAL_CONST_P(value)
            && kind(value) == Type::RUBY_T_STRING
            && is_a_very(value, rb_sys::rb_cString)
            && rb_sys::rb_enc_get_index(value) == rb_sys::rb_utf8_encindex()
            && rb_sys::rb_enc_str_coderange(value) != INVALID
    }
}

/// The text of a Symbol, if it is in ASCII: the one that Ruby keeps for all equal ones.
///
/// # Safety
/// It is a Symbol.
unsafe fn ascii_of(symbol: VALUE) -> Option<VALUE> {
    const ASCII: c_int = CodeRange::RUBY_ENC_CODERANGE_7BIT as c_int;
    // SAFETY: pointer and length belong together, and Ruby copies.
    unsafe {
        let name = rb_sys::rb_sym2str(symbol);
        if rb_sys::rb_enc_str_coderange(name) != ASCII {
            return None;
        }
        let (start, size) = (rb_sys::RSTRING_PTR(name), rb_sys::RSTRING_LEN(name));
        let utf8 = rb_sys::rb_utf8_encoding();
        Some(rb_sys::rb_enc_interned_str(start, size, utf8))
    }
}

/// Whether that is so, or it is a String of bytes.
///
/// # Safety
/// It is a String.
unsafe fn is_text_or_bytes(value: VALUE) -> bool {
    // SAFETY: the functions take a String.
    unsafe { rb_sys::rb_enc_get_index(value) == rb_sys::rb_ascii8bit_encindex() || is_text(value) }
}

/// A Hash that is being filled.
struct Filling<'a, 'b> {
    copier: &'a mut Copier<'b>,
    into: VALUE,
    left: bool,
    /// What keys there are, where a Symbol becomes a text.
    texts: bool,
    symbols: bool,
}

impl Filling<'_, '_> {
    /// A text, or the text of a Symbol. One of each might be the same key, which is for others to say.
    ///
    /// # Safety
    /// As for [`Copier::part`].
    unsafe fn mapped_key(&mut self, key: VALUE) -> Option<VALUE> {
        // SAFETY: the kind says which of Ruby's functions take it.
        unsafe {
            let text = if kind(key) == Type::RUBY_T_SYMBOL {
                self.symbols = true;
                self.copier.changed = true;
                ascii_of(key)?
            } else if is_text(key) {
                self.texts = true;
                key
            } else {
                return None;
            };
            if self.texts && self.symbols {
                return None;
            }
            self.copier.part(text)
        }
    }

    fn go_on(&mut self, done: Option<()>) -> c_int {
        self.left = done.is_none();
        let next = if self.left {
            st_retval::ST_STOP
        } else {
            st_retval::ST_CONTINUE
        };
        next as c_int
    }
}

/// # Safety
/// Called by [`Copier::fill`], with its frame.
unsafe extern "C" fn pair(key: VALUE, value: VALUE, frame: VALUE) -> c_int {
    // SAFETY: the frame stands on the stack of the caller that iterates; nothing else uses it.
    unsafe {
        let frame = &mut *(frame as *mut Filling<'_, '_>);
        let copied = frame.copier.key(key).and_then(|key| {
            let value = frame.copier.part(value)?;
            rb_sys::rb_hash_aset(frame.into, key, value);
            Some(())
        });
        frame.go_on(copied)
    }
}

/// # Safety
/// As for [`pair`]; keys are as the type map has them.
unsafe extern "C" fn mapped_pair(key: VALUE, value: VALUE, frame: VALUE) -> c_int {
    // SAFETY: as there.
    unsafe {
        let frame = &mut *(frame as *mut Filling<'_, '_>);
        let copied = frame.mapped_key(key).and_then(|key| {
            let value = frame.copier.part(value)?;
            rb_sys::rb_hash_aset(frame.into, key, value);
            Some(())
        });
        frame.go_on(copied)
    }
}

/// # Safety
/// As for [`pair`].
unsafe extern "C" fn element(key: VALUE, _: VALUE, frame: VALUE) -> c_int {
    // SAFETY: as there.
    unsafe {
        let frame = &mut *(frame as *mut Filling<'_, '_>);
        let copied = frame.copier.part(key).map(|key| {
            rb_sys::rb_hash_aset(frame.into, key, rb_sys::Qtrue as VALUE);
        });
        frame.go_on(copied)
    }
}
