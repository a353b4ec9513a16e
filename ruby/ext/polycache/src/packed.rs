//! `Polycache::Native::Packed`: a stored value of which only copies are handed out, as the list of
//! steps that make one. It takes less memory than the objects would, in one piece, and gives the
//! garbage collector one object to look at, not one for each part.

use crate::object::{stack_is_low, Names};
use crate::packer::Packer;
use crate::unpacker::Unpacker;
use magnus::{
    gc::Marker,
    method,
    prelude::*,
    rb_sys::{protect, AsRawValue, FromRawValue},
    value::Opaque,
    DataTypeFunctions, Error, RModule, Ruby, TypedData, Value,
};
use rb_sys::VALUE;
use std::cell::OnceCell;

/// Pairs of a Hash that is packed: Ruby keeps as many without an index.
pub(crate) const FEW: usize = 8;
/// The fewest steps that pay: fewer objects are as fast to copy unpacked.
const FEWEST_STEPS: usize = 32;

/// How a part of the copy comes to be. Those of a container follow it, of a Hash key by key.
#[derive(Clone, Copy)]
pub(crate) enum Step {
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
        let mut packer = Packer::new(objects.as_raw());
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
        // Only now, because objects may move until the wrapper marks them.
        let objects: Box<[Opaque<Value>]> = objects.into_iter().map(Opaque::from).collect();
        for object in &objects {
            // SAFETY: two objects that are alive. From here on it never changes.
            unsafe {
                rb_sys::rb_gc_writebarrier(packed.as_raw(), ruby.get_inner(*object).as_raw())
            };
        }
        // It was not set before.
        let _ = packed.objects.set(objects);
        // Ruby does not see what Rust allocates, and would collect too late.
        adjust(packed.bytes() as isize);
        Ok(Some(packed.as_value()))
    }

    /// A copy.
    fn unpack(ruby: &Ruby, this: &Packed) -> Result<Value, Error> {
        let names = Names::get(ruby);
        let mut unpacker = Unpacker::new(ruby, &names, &this.steps, &this.texts, this.objects());
        if stack_is_low() {
            let error = ruby.exception_sys_stack_error();
            return Err(Error::new(error, "stack level too deep"));
        }
        // SAFETY: no frame in there owns anything. The receiver of a method is alive until it
        // returns, and what it refers to.
        let copy = protect(|| unsafe { unpacker.part() })?;
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

/// Defines the class.
///
/// # Errors
/// What Ruby raises when it cannot.
pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let class = native.define_class("Packed", ruby.class_object())?;
    class.undef_default_alloc_func();
    class.define_method("unpack", method!(Packed::unpack, 0))
}
