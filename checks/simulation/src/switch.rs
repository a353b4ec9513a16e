//! Where an actor gives way to the scheduler: each actor is a coroutine, all of them on one thread.

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, Yielder};
use std::cell::Cell;
use std::ptr;

/// Why an actor gives way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// It has reached a memory access, and could go on at once.
    Access,
    /// It is between two steps of a load, or before or after a swap: where a thread that loses its turn for long
    /// does most harm.
    Linger,
    /// It waits until then (nanoseconds), or until it is woken.
    Wait {
        /// `None`: until it is woken.
        until: Option<u64>,
        /// What for.
        what: Awaited,
    },
}

/// What an actor waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// The time of its next operation.
    Turn,
    /// An appender that another caller of its process holds.
    Appender,
    /// Another's load. Its caller may be cancelled meanwhile.
    Load,
    /// Its own loader. Its caller may be cancelled meanwhile.
    Loader,
}

/// Why an actor goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resumed {
    /// What it waited for has happened, or the time is over.
    Due,
    /// Its caller is cancelled.
    Cancelled,
}

/// What an actor runs on.
pub type Actor = Coroutine<Resumed, Pause, (), DefaultStack>;

/// No access of this many is the last before a switch: outside of actors.
const UNCOUNTED: u32 = u32::MAX;

thread_local! {
    /// That of the actor that runs.
    static YIELDER: Cell<*const Yielder<Resumed, Pause>> = const { Cell::new(ptr::null()) };
    /// Memory accesses of the running actor until it gives way.
    static LEFT: Cell<u32> = const { Cell::new(UNCOUNTED) };
    /// Stacks of actors that are over.
    static STACKS: Cell<Vec<DefaultStack>> = const { Cell::new(Vec::new()) };
}

/// Bytes of an actor's stack: killing one unwinds it, which takes some KiB.
const STACK: usize = 256 << 10;

/// An actor that does this when it first goes on.
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

/// Lets the actor go on for so many memory accesses; what it waits for then, `None` when it is over.
pub fn go_on(actor: &mut Actor, accesses: u32, resumed: Resumed) -> Option<Pause> {
    LEFT.set(accesses);
    let result = actor.resume(resumed);
    LEFT.set(UNCOUNTED);
    match result {
        corosensei::CoroutineResult::Yield(pause) => Some(pause),
        corosensei::CoroutineResult::Return(()) => None,
    }
}

/// Ends an actor where it stands. What its stack holds is dropped, and no access of that is seen as one.
pub fn end(mut actor: Actor) {
    actor.force_unwind();
    let mut stacks = STACKS.take();
    stacks.push(actor.into_stack());
    STACKS.set(stacks);
}

/// A memory access, or anything else between whose neighbours others may run.
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

/// Where it does most harm that others run.
pub fn linger() {
    if LEFT.get() != UNCOUNTED {
        give_way(Pause::Linger);
    }
}

/// Gives way until the scheduler lets the actor go on.
pub fn give_way(pause: Pause) -> Resumed {
    let yielder = YIELDER.get();
    assert!(!yielder.is_null(), "only actors wait");
    // SAFETY: it was set by the actor that runs now, in `actor` or below, and lives on its stack.
    let resumed = unsafe { &*yielder }.suspend(pause);
    YIELDER.set(yielder);
    resumed
}

/// Runs this without giving way: what another thread would find locked meanwhile.
pub fn undisturbed<R>(work: impl FnOnce() -> R) -> R {
    let left = LEFT.replace(UNCOUNTED);
    let result = work();
    LEFT.set(left);
    result
}
