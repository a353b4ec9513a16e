//! What a walk through objects asks of each, without running code of users.

use crate::to_ruby::{named_class, set_class};
use magnus::{
    prelude::*,
    rb_sys::{AsRawValue, FromRawValue},
    value::Lazy,
    RClass, RModule, Ruby, Value,
};
use rb_sys::{ruby_value_type as Type, ID, VALUE};
use std::sync::OnceLock;

static RACTOR: Lazy<RClass> = Lazy::new(|ruby| {
    ruby.class_object()
        .const_get("Ractor")
        .expect("Ruby has it since 3.0")
});

static PLAIN: Lazy<RModule> = Lazy::new(|ruby| {
    ruby.class_object()
        .const_get::<_, RModule>("Polycache")
        .and_then(|polycache| polycache.const_get::<_, RModule>("Memory"))
        .and_then(|memory| memory.const_get("PlainCopies"))
        .expect("the copying code has loaded it")
});

/// `Polycache::Memory::PlainCopies`.
pub(crate) fn plain_copies(ruby: &Ruby) -> RModule {
    ruby.get_inner(&PLAIN)
}

/// Classes and names, looked up before anything may raise.
#[derive(Clone, Copy)]
pub(crate) struct Names {
    pub(crate) set: VALUE,
    /// Its instances are left to plain Ruby.
    pub(crate) named: VALUE,
    ractor: VALUE,
    plain: VALUE,
    ids: &'static Ids,
}

struct Ids {
    pairs_of_set: ID,
    freeze: ID,
    is_shareable: ID,
    covers: ID,
    compare_by_identity: ID,
    compares_by_identity: ID,
    transform_values: ID,
    tree: ID,
}

impl Ids {
    fn get() -> &'static Ids {
        static IDS: OnceLock<Ids> = OnceLock::new();
        // SAFETY: the names end with a NUL; the caller is one of Ruby's threads.
        let id = |name: &std::ffi::CStr| unsafe { rb_sys::rb_intern(name.as_ptr()) };
        IDS.get_or_init(|| Ids {
            pairs_of_set: id(c"@hash"),
            freeze: id(c"freeze"),
            is_shareable: id(c"shareable?"),
            covers: id(c"==="),
            compare_by_identity: id(c"compare_by_identity"),
            compares_by_identity: id(c"compare_by_identity?"),
            transform_values: id(c"transform_values"),
            tree: id(c"tree"),
        })
    }
}

impl Names {
    pub(crate) fn get(ruby: &Ruby) -> Names {
        Names {
            set: set_class(ruby).as_raw(),
            named: named_class(ruby).as_raw(),
            ractor: ruby.get_inner(&RACTOR).as_raw(),
            plain: plain_copies(ruby).as_raw(),
            ids: Ids::get(),
        }
    }

    /// `PlainCopies.tree`.
    ///
    /// # Safety
    /// Within `protect`; the object is alive.
    pub(crate) unsafe fn plain_tree(&self, object: VALUE) -> VALUE {
        // SAFETY: one argument.
        unsafe { call(self.plain, self.ids.tree, &[object]) }
    }

    /// Whether it is a Set or of a class that extends it.
    ///
    /// # Safety
    /// The object is alive.
    pub(crate) unsafe fn is_set(&self, object: VALUE) -> bool {
        // SAFETY: an object and a class.
        unsafe { rb_sys::rb_obj_is_kind_of(object, self.set) == rb_sys::Qtrue as VALUE }
    }

    /// The Hash whose keys are a Set's elements; none for what extends Set, and where Ruby keeps
    /// them in another way (from 3.5 on).
    ///
    /// # Safety
    /// The object is alive.
    pub(crate) unsafe fn pairs_of_set(&self, object: VALUE) -> Option<VALUE> {
        // SAFETY: only an instance of the class itself is asked for its variable, which runs no
        // code and makes no object.
        unsafe {
            if kind(object) != Type::RUBY_T_OBJECT || class(object) != self.set {
                return None;
            }
            let pairs = rb_sys::rb_ivar_get(object, self.ids.pairs_of_set);
            (kind(pairs) == Type::RUBY_T_HASH).then_some(pairs)
        }
    }

    /// An empty Set with its Hash.
    ///
    /// # Safety
    /// Within `protect`.
    pub(crate) unsafe fn new_set(&self) -> Option<(VALUE, VALUE)> {
        // SAFETY: the class takes no arguments.
        unsafe {
            let set = rb_sys::rb_class_new_instance(0, std::ptr::null(), self.set);
            self.pairs_of_set(set).map(|pairs| (set, pairs))
        }
    }

    /// `Ractor.shareable?`: frozen to its depth.
    ///
    /// # Safety
    /// Within `protect`; the object is alive.
    pub(crate) unsafe fn is_shareable(&self, object: VALUE) -> bool {
        // SAFETY: one argument.
        unsafe { truthy(call(self.ractor, self.ids.is_shareable, &[object])) }
    }

    /// `Time === object`, which ActiveSupport answers with true for times of its own.
    ///
    /// # Safety
    /// Within `protect`; the object is alive.
    pub(crate) unsafe fn passes_for_time(&self, object: VALUE) -> bool {
        // SAFETY: one argument.
        unsafe { truthy(call(rb_sys::rb_cTime, self.ids.covers, &[object])) }
    }

    /// Freezes an object in the way of its class.
    ///
    /// # Safety
    /// Within `protect`; the object is alive.
    pub(crate) unsafe fn freeze(&self, object: VALUE) {
        // SAFETY: every object has that method.
        unsafe { call(object, self.ids.freeze, &[]) };
    }

    /// An empty Hash that knows its keys by identity.
    ///
    /// # Safety
    /// Within `protect`.
    pub(crate) unsafe fn new_by_identity(&self) -> VALUE {
        // SAFETY: a Hash has that method.
        unsafe {
            let hash = rb_sys::rb_hash_new();
            call(hash, self.ids.compare_by_identity, &[]);
            hash
        }
    }

    /// `hash.transform_values`, with a function for the block.
    ///
    /// # Safety
    /// Within `protect`; it is a Hash, and `data` what the function takes.
    pub(crate) unsafe fn transform_values(&self, hash: VALUE, block: Block, data: VALUE) -> VALUE {
        let id = self.ids.transform_values;
        // SAFETY: no arguments, and the caller answers for block and data.
        unsafe { rb_sys::rb_block_call(hash, id, 0, std::ptr::null(), Some(block), data) }
    }
}

/// A function that is called as a block.
pub(crate) type Block =
    unsafe extern "C" fn(VALUE, VALUE, std::ffi::c_int, *const VALUE, VALUE) -> VALUE;

/// # Safety
/// Within `protect`; the objects are alive.
unsafe fn call(receiver: VALUE, method: ID, arguments: &[VALUE]) -> VALUE {
    // SAFETY: pointer and length belong together.
    unsafe {
        rb_sys::rb_funcallv(
            receiver,
            method,
            arguments.len() as std::ffi::c_int,
            arguments.as_ptr(),
        )
    }
}

fn truthy(object: VALUE) -> bool {
    rb_sys::TEST(object)
}

/// # Safety
/// The object is alive.
#[inline]
pub(crate) unsafe fn kind(object: VALUE) -> Type {
    // SAFETY: the caller promises it.
    unsafe { rb_sys::RB_TYPE(object) }
}

/// The class of an object, a class of its own (singleton) included.
///
/// # Safety
/// The object is alive and stands in Ruby's heap.
#[inline]
pub(crate) unsafe fn class(object: VALUE) -> VALUE {
    // SAFETY: such an object begins in this way.
    unsafe { (*(object as *const rb_sys::RBasic)).klass }
}

/// Whether an object is of that class and of none that extends it. (It may have methods of its own.)
///
/// # Safety
/// The object is alive and stands in Ruby's heap.
#[inline]
pub(crate) unsafe fn is_a_very(object: VALUE, of: VALUE) -> bool {
    // SAFETY: the caller promises it.
    unsafe { class(object) == of || rb_sys::rb_obj_class(object) == of }
}

/// Whether a Hash knows its keys by identity. Ruby has no function for it, and a call costs as much as
/// storing a pair; but such a Hash always has a table, which small ones do without. (Whether
/// this Ruby keeps it so is looked at once.)
///
/// # Safety
/// It is a Hash, and not of a class that extends it.
#[inline]
pub(crate) unsafe fn knows_keys_by_identity(hash: VALUE) -> bool {
    const HAS_TABLE: VALUE = rb_sys::ruby_fl_type::RUBY_FL_USER3 as VALUE;
    static TELLS: OnceLock<bool> = OnceLock::new();
    // SAFETY: a Hash begins with its flags; the method neither raises nor runs code.
    unsafe {
        let has_table = |hash: VALUE| (*(hash as *const rb_sys::RBasic)).flags & HAS_TABLE != 0;
        let tells = *TELLS.get_or_init(|| {
            let hash = rb_sys::rb_hash_new();
            has_table(call(hash, Ids::get().compare_by_identity, &[]))
        });
        if tells && !has_table(hash) {
            return false;
        }
        let id = Ids::get().compares_by_identity;
        truthy(call(hash, id, &[]))
    }
}

/// # Safety
/// The object is alive.
#[inline]
pub(crate) unsafe fn is_frozen(object: VALUE) -> bool {
    // SAFETY: the caller promises it.
    unsafe { Value::from_raw(object) }.is_frozen()
}

/// Whether so little of the stack is left that a walk must not go deeper.
pub(crate) fn stack_is_low() -> bool {
    // SAFETY: it compares addresses.
    unsafe { rb_sys::ruby_stack_check() != 0 }
}
