//! Makes a copy out of the steps of `packed.rs`.

use crate::copy_out;
use crate::object::Names;
use crate::packed::{Step, FEW};
use magnus::{rb_sys::AsRawValue, value::Opaque, Ruby, Value};
use rb_sys::{ruby_coderange_type as CodeRange, ruby_encoding_consts as Encoding, VALUE};
use std::ffi::{c_char, c_long};
use std::mem::MaybeUninit;

/// Follows the steps. It never fails: steps that were not packed make nil.
pub(crate) struct Unpacker<'a> {
    steps: std::slice::Iter<'a, Step>,
    texts: &'a [u8],
    objects: &'a [Opaque<Value>],
    names: &'a Names,
    ruby: &'a Ruby,
    /// The bits that say UTF-8.
    encoding: VALUE,
}

impl<'a> Unpacker<'a> {
    pub(crate) fn new(
        ruby: &'a Ruby,
        names: &'a Names,
        steps: &'a [Step],
        texts: &'a [u8],
        objects: &'a [Opaque<Value>],
    ) -> Unpacker<'a> {
        // SAFETY: it is a constant.
        let utf8 = unsafe { rb_sys::rb_utf8_encindex() as VALUE };
        Unpacker {
            steps: steps.iter(),
            texts,
            objects,
            names,
            ruby,
            encoding: utf8 << Encoding::RUBY_ENCODING_SHIFT as u32,
        }
    }

    /// # Safety
    /// Within `protect`; the packed value is alive, and this unpacker on the stack.
    #[inline]
    pub(crate) unsafe fn part(&mut self) -> VALUE {
        match self.steps.next() {
            None => rb_sys::Qnil as VALUE,
            Some(Step::Itself(value)) => *value,
            Some(Step::Shared(number)) => self.object(*number),
            // SAFETY: as the caller promises.
            Some(step) => unsafe { self.make(*step) },
        }
    }

    #[inline]
    fn object(&self, number: u32) -> VALUE {
        match self.objects.get(number as usize) {
            Some(object) => self.ruby.get_inner(*object).as_raw(),
            None => rb_sys::Qnil as VALUE,
        }
    }

    /// What is not there yet.
    ///
    /// # Safety
    /// As for [`Unpacker::part`].
    unsafe fn make(&mut self, step: Step) -> VALUE {
        // SAFETY: what is made is on this stack until it is part of another.
        unsafe {
            match step {
                Step::Itself(value) => value,
                Step::Shared(number) => self.object(number),
                Step::Copied(number) => {
                    let value = self.object(number);
                    match copy_out::tree(self.names, value) {
                        Some(copy) => copy,
                        None => self.names.plain_tree(value),
                    }
                }
                Step::Text { size, ascii } => {
                    let Some((text, rest)) = self.texts.split_at_checked(size as usize) else {
                        return rb_sys::Qnil as VALUE;
                    };
                    self.texts = rest;
                    new_utf8(self.encoding, text, ascii)
                }
                Step::Array(size) => self.array(size as usize),
                Step::Hash(size) => self.hash(size as usize),
            }
        }
    }

    /// # Safety
    /// As for [`Unpacker::part`].
    unsafe fn array(&mut self, size: usize) -> VALUE {
        const CHUNK: usize = 16;
        let mut chunk = [const { MaybeUninit::<VALUE>::uninit() }; CHUNK];
        let mut left = size;
        // SAFETY: so many places as are handed over were written; the chunk is on this stack.
        unsafe {
            let array = rb_sys::rb_ary_new_capa(size as c_long);
            while left > 0 {
                let now = left.min(CHUNK);
                for place in &mut chunk[..now] {
                    place.write(self.part());
                }
                rb_sys::rb_ary_cat(array, chunk.as_ptr().cast(), now as c_long);
                left -= now;
            }
            array
        }
    }

    /// # Safety
    /// As for [`Unpacker::part`].
    unsafe fn hash(&mut self, size: usize) -> VALUE {
        let mut pairs = [const { MaybeUninit::<VALUE>::uninit() }; 2 * FEW];
        let size = size.min(FEW) * 2;
        // SAFETY: as there. The keys are as `is_simple` lets them be.
        unsafe {
            for place in &mut pairs[..size] {
                place.write(self.part());
            }
            let hash = rb_sys::rb_hash_new();
            rb_sys::rb_hash_bulk_insert(size as c_long, pairs.as_ptr().cast(), hash);
            hash
        }
    }
}

/// A String in UTF-8. `rb_utf8_str_new` takes half as long again, to look whether the String may be
/// changed and what its encoding was.
///
/// # Safety
/// Within `protect`; the bytes are valid UTF-8, whose bits `encoding` are, and ASCII alone if it says
/// so.
unsafe fn new_utf8(encoding: VALUE, text: &[u8], ascii: bool) -> VALUE {
    let range = if ascii {
        CodeRange::RUBY_ENC_CODERANGE_7BIT
    } else {
        CodeRange::RUBY_ENC_CODERANGE_VALID
    };
    // SAFETY: pointer and length belong together. The String is new and in BINARY, whose number is
    // 0; the bits are those that Ruby's macros RB_ENCODING_SET_INLINED and RB_ENC_CODERANGE_SET set.
    unsafe {
        let size = text.len() as c_long;
        let string = rb_sys::rb_str_new(text.as_ptr().cast::<c_char>(), size);
        (*(string as *mut rb_sys::RBasic)).flags |= encoding | range as VALUE;
        string
    }
}
