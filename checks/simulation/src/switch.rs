//! Where an actor gives way to the scheduler. Each actor is a coroutine; all run on one thread.

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, Yielder};
use std::cell::Cell;
use std::ptr;

/// Why an actor gives way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// It has reached a memory access, and could continue at once.
    Access,
    /// It is between two steps of a load, or before or after a swap: the points where losing its turn
    /// for long does most harm.
    Linger,
    /// It waits until this time (nanoseconds), or until it is woken.
    Wait {
        /// `None`: until it is woken.
        until: Option<u64>,
        /// What it waits for.
        what: Awaited,
    },
}

/// What an actor waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// The time of its next operation.
    Turn,
    /// Another caller's load. Its caller may be cancelled meanwhile.
    Load,
    /// Its own loader. Its caller may be cancelled meanwhile.
    Loader,
}

/// Why an actor continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resumed {
    /// What it waited for has happened, or the time has come.
    Due,
    /// Its caller is cancelled.
    Cancelled,
}

/// The stack of an actor.
pub type Actor = Coroutine<Resumed, Pause, (), DefaultStack>;

/// So many that no access is the last before a switch: for code outside of actors.
const UNCOUNTED: u32 = u32::MAX;

thread_local! {
    /// The yielder of the running actor.
    static YIELDER: Cell<*const Yielder<Resumed, Pause>> = const { Cell::new(ptr::null()) };
    /// Memory accesses of the running actor until it gives way.
    static LEFT: Cell<u32> = const { Cell::new(UNCOUNTED) };
    /// Stacks of finished actors.
    static STACKS: Cell<Vec<DefaultStack>> = const { Cell::new(Vec::new()) };
}

/// Bytes of an actor's stack: killing one unwinds it, which takes some KiB.
const STACK: usize = 256 << 10;

/// An actor that runs this when it first continues.
pub fn actor(work: impl FnOnce() + 'static) -> Actor {
    let mut stacks = STACKS.take();
    let stack = stacks
        .pop()
        .unwrap_or_else(|| DefaultStack::new(STACK).expect("memory for a stack"));
    STACKS.set(stacks);
    Coroutine::with_stack(stack, move |yielder, _| {
        YIELDER.set(yielder);
        work();
    })
}

/// Lets the actor run for this many memory accesses; returns what it then waits for, `None` when it has
/// finished.
pub fn go_on(actor: &mut Actor, accesses: u32, resumed: Resumed) -> Option<Pause> {
    LEFT.set(accesses);
    let result = actor.resume(resumed);
    LEFT.set(UNCOUNTED);
    match result {
        corosensei::CoroutineResult::Yield(pause) => Some(pause),
        corosensei::CoroutineResult::Return(()) => None,
    }
}

/// Ends an actor where it is. Its stack is unwound and dropped, without counting accesses.
pub fn end(mut actor: Actor) {
    actor.force_unwind();
    let mut stacks = STACKS.take();
    stacks.push(actor.into_stack());
    STACKS.set(stacks);
}

/// A memory access, or any other step between whose neighbours others may run.
#[inline]
pub fn access() {
    match LEFT.get() {
        UNCOUNTED => {}
        0 => {
            give_way(Pause::Access);
        }
        left => LEFT.set(left - 1),
    }
}

/// A point where switching to others does most harm.
pub fn linger() {
    if LEFT.get() != UNCOUNTED {
        give_way(Pause::Linger);
    }
}

/// Gives way until the scheduler lets the actor continue.
pub fn give_way(pause: Pause) -> Resumed {
    let yielder = YIELDER.get();
    assert!(!yielder.is_null(), "only actors wait");
    // SAFETY: the pointer is not null, so the running actor set it, in `actor` or below; what it points
    // to lives on that actor's stack, which is the one in use.
    let resumed = unsafe { &*yielder }.suspend(pause);
    YIELDER.set(yielder);
    resumed
}

/// Runs this without giving way, for code during which another thread would find a mutex locked.
pub fn undisturbed<R>(work: impl FnOnce() -> R) -> R {
    let left = LEFT.replace(UNCOUNTED);
    let result = work();
    LEFT.set(left);
    result
}
