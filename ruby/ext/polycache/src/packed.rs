//! `Polycache::Native::Packed`: a stored value of which only copies are handed out, as the list of
//! steps that make one. It takes less memory than the objects would, in one piece, and gives the
//! garbage collector one object to look at, not one for each part.

use crate::copy_out;
use crate::object::{is_frozen, kind, stack_is_low, Names};
use magnus::{
    gc::Marker,
    method,
    prelude::*,
    rb_sys::{protect, AsRawValue, FromRawValue},
    value::Opaque,
    DataTypeFunctions, Error, RModule, Ruby, TypedData, Value,
};
use rb_sys::{
    ruby_coderange_type as CodeRange, ruby_encoding_consts as Encoding, ruby_value_type as Type,
    st_retval, VALUE,
};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_long};
use std::hash::BuildHasherDefault;

use crate::weigh::OfAddress;

/// Pairs of a Hash that is packed: Ruby keeps as many without an index.
const FEW: usize = 8;
/// Bytes of a text that stands in its slot in Ruby's heap; the bytes of others are shared.
const SHORT_TEXT: usize = 23;
/// Nested deeper, a part is kept as it is. Within what `stack_is_low` leaves.
const DEEPEST: usize = 8;
/// Steps of a value that is worth it: fewer objects are as quick to copy as they are.
const FEWEST_STEPS: usize = 32;

/// How a part of the copy comes to be. Those of a container follow it, of a Hash key by key.
#[derive(Clone, Copy)]
enum Step {
    /// No object in the heap: a small number, a Symbol of the program's text, nil, true, false.
    Itself(VALUE),
    /// What is frozen to its depth: shared.
    Shared(u32),
    /// Anything else: copied by the slower way.
    Copied(u32),
    /// So many of the next bytes, in UTF-8; whether all of them are ASCII, which Ruby need not find
    /// out anew for each copy.
    Text {
        size: u32,
        ascii: bool,
    },
    Array(u32),
    Hash(u32),
}

/// The steps, the texts one after the other, and the objects that steps refer to by number.
#[derive(TypedData)]
#[magnus(
    class = "Polycache::Native::Packed",
    free_immediately,
    mark,
    size,
    wb_protected
)]
pub(crate) struct Packed {
    steps: Box<[Step]>,
    texts: Box<[u8]>,
    objects: OnceCell<Box<[Opaque<Value>]>>,
}

impl DataTypeFunctions for Packed {
    fn mark(&self, marker: &Marker) {
        for object in self.objects() {
            marker.mark(*object);
        }
    }

    fn size(&self) -> usize {
        size_of::<Packed>() + self.bytes()
    }
}

impl Packed {
    fn bytes(&self) -> usize {
        size_of_val(&*self.steps) + self.texts.len() + size_of_val(self.objects())
    }

    fn objects(&self) -> &[Opaque<Value>] {
        self.objects.get().map_or(&[], |objects| &**objects)
    }

    /// The packed form of an Array or a Hash that `Copier` has made as a tree; none where that
    /// does not pay.
    ///
    /// # Errors
    /// What Ruby raises: no memory.
    pub(crate) fn pack(ruby: &Ruby, tree: VALUE) -> Result<Option<Value>, Error> {
        let objects = ruby.ary_new();
        let mut packer = Packer {
            objects: objects.as_raw(),
            numbers: HashMap::default(),
            steps: Vec::new(),
            texts: Vec::new(),
            depth: 0,
        };
        // SAFETY: the packer owns its memory out here. What it refers to by address is held by
        // the tree, which is on the caller's stack.
        protect(|| unsafe {
            packer.part(tree);
            rb_sys::Qnil as VALUE
        })?;
        let Packer { steps, texts, .. } = packer;
        if steps.len() < FEWEST_STEPS {
            return Ok(None);
        }
        let packed = ruby.obj_wrap(Packed {
            steps: steps.into_boxed_slice(),
            texts: texts.into_boxed_slice(),
            objects: OnceCell::new(),
        });
        // Only now, for objects may move till they are marked by what is wrapped.
        let objects: Box<[Opaque<Value>]> = objects.into_iter().map(Opaque::from).collect();
        for object in &objects {
            // SAFETY: two objects that are alive. From here on it never changes.
            unsafe {
                rb_sys::rb_gc_writebarrier(packed.as_raw(), ruby.get_inner(*object).as_raw())
            };
        }
        // Nobody has set it before.
        let _ = packed.objects.set(objects);
        // Ruby does not see what Rust allocates, and would collect too late.
        adjust(packed.bytes() as isize);
        Ok(Some(packed.as_value()))
    }

    /// A copy.
    fn unpack(ruby: &Ruby, this: &Packed) -> Result<Value, Error> {
        let names = Names::get(ruby);
        let mut reader = Reader {
            steps: this.steps.iter(),
            texts: &this.texts,
            objects: this.objects(),
            names: &names,
            ruby,
        };
        if stack_is_low() {
            let error = ruby.exception_sys_stack_error();
            return Err(Error::new(error, "stack level too deep"));
        }
        // SAFETY: no frame in there owns anything. The receiver of a method is alive till it
        // returns, and what it refers to.
        let copy = protect(|| unsafe { reader.part() })?;
        // SAFETY: it is alive: it is on this stack.
        Ok(unsafe { Value::from_raw(copy) })
    }
}

impl Drop for Packed {
    fn drop(&mut self) {
        adjust(-(self.bytes() as isize));
    }
}

/// Tells the garbage collector of memory that is not its own.
fn adjust(bytes: isize) {
    // SAFETY: it counts, and never collects by itself.
    unsafe { rb_sys::rb_gc_adjust_memory_usage(bytes as _) };
}

struct Packer {
    objects: VALUE,
    /// The numbers of shared objects, by addresses that may be out of date: objects move.
    numbers: HashMap<VALUE, u32, BuildHasherDefault<OfAddress>>,
    steps: Vec<Step>,
    texts: Vec<u8>,
    depth: usize,
}

impl Packer {
    /// # Safety
    /// Within `protect`; the object is part of the tree.
    unsafe fn part(&mut self, value: VALUE) {
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
    // SAFETY: the packer is borrowed by who iterates, and nobody else uses it meanwhile.
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

/// A String in UTF-8. `rb_utf8_str_new` takes half as long again, to look whether the String may be
/// changed and what its encoding was.
///
/// # Safety
/// Within `protect`; the bytes are valid UTF-8, and ASCII alone if it says so.
unsafe fn new_utf8(text: &[u8], ascii: bool) -> VALUE {
    let range = if ascii {
        CodeRange::RUBY_ENC_CODERANGE_7BIT
    } else {
        CodeRange::RUBY_ENC_CODERANGE_VALID
    };
    // SAFETY: pointer and length belong together. The String is new and in BINARY, whose number is
    // 0; the bits are those that Ruby's macros RB_ENCODING_SET_INLINED and RB_ENC_CODERANGE_SET set.
    unsafe {
        let encoding =
            (rb_sys::rb_utf8_encindex() as VALUE) << Encoding::RUBY_ENCODING_SHIFT as u32;
        let size = text.len() as c_long;
        let string = rb_sys::rb_str_new(text.as_ptr().cast::<c_char>(), size);
        (*(string as *mut rb_sys::RBasic)).flags |= encoding | range as VALUE;
        string
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

/// Whether a Hash has few pairs, and inserting its keys runs no code of the user's.
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
    // SAFETY: the answer stands on the stack of who iterates; the objects are alive.
    unsafe { *(simple as *mut bool) &= copy_out::is_simple_key(key) };
    st_retval::ST_CONTINUE as c_int
}

/// Follows the steps. It never fails: steps that nobody has packed make nil.
struct Reader<'a> {
    steps: std::slice::Iter<'a, Step>,
    texts: &'a [u8],
    objects: &'a [Opaque<Value>],
    names: &'a Names,
    ruby: &'a Ruby,
}

impl Reader<'_> {
    /// # Safety
    /// Within `protect`; the packed value is alive, and this reader on the stack.
    #[inline]
    unsafe fn part(&mut self) -> VALUE {
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
    /// As for [`Reader::part`].
    unsafe fn make(&mut self, step: Step) -> VALUE {
        // SAFETY: what is made is on this stack till it is part of another.
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
                    new_utf8(text, ascii)
                }
                Step::Array(size) => self.array(size as usize),
                Step::Hash(size) => self.hash(size as usize),
            }
        }
    }

    /// # Safety
    /// As for [`Reader::part`].
    unsafe fn array(&mut self, size: usize) -> VALUE {
        const CHUNK: usize = 16;
        let mut chunk = [rb_sys::Qnil as VALUE; CHUNK];
        let mut left = size;
        // SAFETY: pointer and length belong together; the chunk is on this stack.
        unsafe {
            let array = rb_sys::rb_ary_new_capa(size as c_long);
            while left > 0 {
                let now = left.min(CHUNK);
                for place in &mut chunk[..now] {
                    *place = self.part();
                }
                rb_sys::rb_ary_cat(array, chunk.as_ptr(), now as c_long);
                left -= now;
            }
            array
        }
    }

    /// # Safety
    /// As for [`Reader::part`].
    unsafe fn hash(&mut self, size: usize) -> VALUE {
        let mut pairs = [rb_sys::Qnil as VALUE; 2 * FEW];
        let size = size.min(FEW) * 2;
        // SAFETY: as there. The keys are as `is_simple` lets them be.
        unsafe {
            for place in &mut pairs[..size] {
                *place = self.part();
            }
            let hash = rb_sys::rb_hash_new();
            rb_sys::rb_hash_bulk_insert(size as c_long, pairs.as_ptr(), hash);
            hash
        }
    }
}

/// Defines the class.
///
/// # Errors
/// What Ruby raises when it cannot.
pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let class = native.define_class("Packed", ruby.class_object())?;
    class.undef_default_alloc_func();
    class.define_method("unpack", method!(Packed::unpack, 0))
}
