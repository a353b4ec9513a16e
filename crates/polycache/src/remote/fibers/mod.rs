//! Operations of the remote tier on a thread that must not wait, such as the one of an event loop (cargo feature
//! `fibers`).
//!
//! An operation is written as for a thread that waits. Here each runs on a fiber, a stack of its own: where it would
//! wait for replies it is left, and gone on with when they are there. Its commands go out on a connection that all
//! operations of the thread share, so those of many callers are pipelined. Nothing is read or written here: the
//! thread's owner has the sockets, is told by [`next`] what to do with them, and tells what it received.

mod endpoint;
mod frames;
mod parsing;
mod pipeline;

pub use endpoint::Address;
pub(in crate::remote) use endpoint::Endpoint;
pub(in crate::remote) use pipeline::Request;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use pipeline::{Act, Asker, Pipeline, Told};
use redis::{RedisError, RedisResult, Value};
use smallvec::SmallVec;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::ptr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bytes of a fiber's stack. The system provides a page when it is first touched.
const STACK: usize = 256 * 1024;
/// Stacks that are kept.
const KEPT: usize = 128;
/// Fibers at the same time.
const MOST: usize = 1024;

/// What a fiber waits for.
enum Ask {
    Replies(Each<Request>),
    Until(Instant),
}

/// One for each server that is asked: usually there is one.
pub(in crate::remote) type Each<T> = SmallVec<[T; 1]>;

/// Why a fiber goes on.
enum Answer {
    Begin,
    /// And whether these say something of the server.
    Replies(Each<RedisResult<Vec<Value>>>, bool),
    Woken,
}

type Fiber = Coroutine<Answer, Ask, (), DefaultStack>;

thread_local! {
    static SCHEDULER: RefCell<Scheduler> = const { RefCell::new(Scheduler::new()) };
    /// Whether the fiber that runs lost its last replies together with others, who were told.
    static LOST_WITH_OTHERS: Cell<bool> = const { Cell::new(false) };
    /// What the fiber that runs is left by; null outside of fibers.
    static RUNNING: Cell<*const Yielder<Answer, Ask>> = const { Cell::new(ptr::null()) };
}

/// A fiber that waits.
struct Waiting {
    fiber: Fiber,
    for_what: Wanted,
}

enum Wanted {
    /// How many of them are missing, and whether they count.
    Replies(Each<Option<RedisResult<Vec<Value>>>>, usize, bool),
    Time(Instant),
}

struct Scheduler {
    /// By number; a fiber that runs is not in its place.
    fibers: Vec<Option<Waiting>>,
    /// Numbers of `fibers` that nobody has.
    free: Vec<usize>,
    ready: VecDeque<usize>,
    stacks: Vec<DefaultStack>,
    /// With their numbers, which are never used again.
    pipelines: Vec<(u32, Pipeline)>,
    last: u32,
    /// When the first of those that wait may have waited for long enough.
    due: Option<Instant>,
    /// Whether a pipeline may have something to do.
    is_dirty: bool,
}

/// What the owner of the thread must do.
#[derive(Debug, PartialEq, Eq)]
pub enum Task {
    /// Open a connection to the server.
    Open(u32, Address),
    /// Write to it.
    Write(u32, Vec<u8>),
    /// Close it; nothing more is told of it.
    Close(u32),
}

/// Whether this is a fiber.
pub(crate) fn is_inside() -> bool {
    !RUNNING.get().is_null()
}

/// Whether [`start`] has a stack for another fiber. Else a thread that may wait must run the operation.
#[must_use]
pub fn has_room() -> bool {
    SCHEDULER.with_borrow_mut(Scheduler::has_room)
}

/// Runs an operation as far as it comes without waiting, if there is [room](has_room). It must not panic.
pub fn start(operation: impl FnOnce() + 'static) {
    let Some((number, stack)) = SCHEDULER.with_borrow_mut(Scheduler::room) else {
        return;
    };
    let fiber = Fiber::with_stack(stack, move |yielder, _| {
        RUNNING.set(yielder);
        operation();
        RUNNING.set(ptr::null());
    });
    resume(number, fiber, Answer::Begin);
    run_ready();
}

/// Runs a fiber until it waits or ends.
fn resume(number: usize, mut fiber: Fiber, answer: Answer) {
    match fiber.resume(answer) {
        CoroutineResult::Yield(ask) => {
            SCHEDULER.with_borrow_mut(|all| all.wait(number, fiber, ask))
        }
        CoroutineResult::Return(()) => {
            let stack = fiber.into_stack();
            SCHEDULER.with_borrow_mut(|all| all.end(number, stack));
        }
    }
}

fn run_ready() {
    while let Some((number, fiber, answer)) = SCHEDULER.with_borrow_mut(Scheduler::next_ready) {
        resume(number, fiber, answer);
    }
}

/// Leaves the fiber until there is an answer.
fn wait_for(ask: Ask) -> Answer {
    let running = RUNNING.replace(ptr::null());
    // SAFETY: it is the one of the fiber that runs, whose end sets it to null, and so does leaving it.
    let answer = unsafe { (*running).suspend(ask) };
    RUNNING.set(running);
    answer
}

/// Sends requests at the same time, and leaves the fiber until each has its replies, or is too late.
pub(in crate::remote) fn exchange(requests: Each<Request>) -> Each<RedisResult<Vec<Value>>> {
    match wait_for(Ask::Replies(requests)) {
        Answer::Replies(replies, counts) => {
            LOST_WITH_OTHERS.set(!counts);
            replies
        }
        Answer::Begin | Answer::Woken => Each::new(),
    }
}

/// Whether the last exchange of the fiber that runs failed for a reason that others were told, which is counted there;
/// or because the thread ends, which is not the server's fault.
pub(crate) fn lost_with_others() -> bool {
    is_inside() && LOST_WITH_OTHERS.get()
}

/// Leaves the fiber for some time.
pub(crate) fn pause(time: Duration) {
    let _ = wait_for(Ask::Until(Instant::now() + time));
}

/// The connections to a server lead nowhere, or to one that is the primary no more.
pub(in crate::remote) fn retire(server: &Arc<Endpoint>) {
    SCHEDULER.with_borrow_mut(|all| {
        for (_, pipeline) in &mut all.pipelines {
            if Arc::ptr_eq(&pipeline.to, server) {
                pipeline.retire();
            }
        }
        all.is_dirty = true;
    });
}

/// Whether [`next`] may have something to tell, or [`next_tick`] another time.
#[must_use]
pub fn has_tasks() -> bool {
    SCHEDULER.with_borrow(|all| all.is_dirty)
}

/// What is to be done; to be asked again until there is nothing.
#[must_use]
pub fn next() -> Option<Task> {
    SCHEDULER.with_borrow_mut(Scheduler::next_task)
}

/// The server sent bytes.
pub fn received(connection: u32, bytes: &[u8]) {
    SCHEDULER.with_borrow_mut(|all| {
        all.at(connection, |pipeline, told| {
            pipeline.receive(bytes, told);
            Vec::new()
        });
    });
    run_ready();
}

/// The connection ended, or could not be opened.
pub fn closed(connection: u32, why: &str) {
    let error = RedisError::from(io::Error::new(
        io::ErrorKind::ConnectionAborted,
        why.to_owned(),
    ));
    SCHEDULER
        .with_borrow_mut(|all| all.at(connection, |pipeline, told| pipeline.closed(&error, told)));
    run_ready();
}

/// Goes on with fibers that had waited for long enough so much time ago. Since then the thread has handed in all that it
/// had received: after a while in which it did other things replies may have been there.
pub fn tick(ago: Duration) {
    let now = Instant::now();
    SCHEDULER.with_borrow_mut(|all| all.expire(now.checked_sub(ago).unwrap_or(now)));
    run_ready();
}

/// When [`tick`] is to be called, at the latest; `None`: nobody waits.
#[must_use]
pub fn next_tick() -> Option<Instant> {
    SCHEDULER.with_borrow(|all| all.due)
}

/// The thread ends: whoever still waits is told that there is no answer.
pub fn end_all() {
    loop {
        let is_anyone = SCHEDULER.try_with(|all| all.borrow_mut().give_up());
        if !is_anyone.unwrap_or(false) {
            return;
        }
        run_ready();
    }
}

impl Drop for Scheduler {
    /// Without unwinding their stacks: what they hold is of a thread that has ended. [`end_all`] comes before.
    fn drop(&mut self) {
        self.fibers.drain(..).for_each(std::mem::forget);
    }
}

impl Scheduler {
    const fn new() -> Scheduler {
        Scheduler {
            fibers: Vec::new(),
            free: Vec::new(),
            ready: VecDeque::new(),
            stacks: Vec::new(),
            pipelines: Vec::new(),
            last: 0,
            due: None,
            is_dirty: false,
        }
    }

    fn has_room(&mut self) -> bool {
        if self.free.is_empty() && self.fibers.len() >= MOST {
            return false;
        }
        if self.stacks.is_empty() {
            self.stacks.extend(DefaultStack::new(STACK));
        }
        !self.stacks.is_empty()
    }

    fn room(&mut self) -> Option<(usize, DefaultStack)> {
        if !self.has_room() {
            return None;
        }
        let stack = self.stacks.pop()?;
        let number = self.free.pop().unwrap_or_else(|| {
            self.fibers.push(None);
            self.fibers.len() - 1
        });
        Some((number, stack))
    }

    fn end(&mut self, number: usize, stack: DefaultStack) {
        self.free.push(number);
        if self.stacks.len() < KEPT {
            self.stacks.push(stack);
        }
    }

    fn wait(&mut self, number: usize, fiber: Fiber, ask: Ask) {
        let for_what = match ask {
            Ask::Until(time) => {
                self.is_due_at(time);
                Wanted::Time(time)
            }
            Ask::Replies(requests) => {
                let count = requests.len();
                for (request, asked) in requests.into_iter().enumerate() {
                    let asker = Asker {
                        fiber: number,
                        request,
                    };
                    self.ask(asker, asked);
                }
                if count == 0 {
                    self.ready.push_back(number);
                }
                Wanted::Replies((0..count).map(|_| None).collect(), count, true)
            }
        };
        self.fibers[number] = Some(Waiting { fiber, for_what });
        // Also for a new time to tick.
        self.is_dirty = true;
    }

    fn is_due_at(&mut self, time: Instant) {
        self.due = Some(self.due.map_or(time, |due| due.min(time)));
    }

    fn ask(&mut self, asker: Asker, request: Request) {
        let now = Instant::now();
        self.is_due_at(request.deadline.end());
        let usable = self.pipelines.iter_mut().find(|(_, pipeline)| {
            Arc::ptr_eq(&pipeline.to, &request.to) && pipeline.takes_requests()
        });
        if let Some((_, pipeline)) = usable {
            return pipeline.ask(asker, request, now);
        }
        let mut pipeline = Pipeline::new(request.to.clone());
        pipeline.ask(asker, request, now);
        self.last = self.last.wrapping_add(1);
        self.pipelines.push((self.last, pipeline));
    }

    /// Has something done to a pipeline, and hands out what askers are told.
    fn at(
        &mut self,
        connection: u32,
        work: impl FnOnce(&mut Pipeline, &mut Vec<Told>) -> Vec<(Asker, Request)>,
    ) {
        let found = self
            .pipelines
            .iter_mut()
            .find(|(number, _)| *number == connection);
        if let Some((_, pipeline)) = found {
            let mut told = Vec::new();
            let again = work(pipeline, &mut told);
            self.is_dirty |= pipeline.may_act();
            self.tell(told);
            for (asker, request) in again {
                self.ask(asker, request);
            }
        }
    }

    fn tell(&mut self, told: Vec<Told>) {
        for Told {
            asker,
            answer,
            counts: counts_too,
        } in told
        {
            let Some(Some(Waiting { for_what, .. })) = self.fibers.get_mut(asker.fiber) else {
                continue;
            };
            if let Wanted::Replies(replies, missing, counts) = for_what {
                replies[asker.request] = Some(answer);
                *counts &= counts_too;
                *missing -= 1;
                if *missing == 0 {
                    self.ready.push_back(asker.fiber);
                }
            }
        }
    }

    fn next_ready(&mut self) -> Option<(usize, Fiber, Answer)> {
        let number = self.ready.pop_front()?;
        let Waiting { fiber, for_what } = self.fibers[number].take()?;
        let answer = match for_what {
            Wanted::Time(_) => Answer::Woken,
            Wanted::Replies(replies, _, counts) => {
                Answer::Replies(replies.into_iter().flatten().collect(), counts)
            }
        };
        Some((number, fiber, answer))
    }

    fn next_task(&mut self) -> Option<Task> {
        for (number, pipeline) in &mut self.pipelines {
            // Nobody else knows the server any more.
            if Arc::strong_count(&pipeline.to) == 1 {
                pipeline.retire();
            }
            match pipeline.act() {
                Some(Act::Open) => return Some(Task::Open(*number, pipeline.to.address.clone())),
                Some(Act::Write(bytes)) => {
                    let number = *number;
                    self.is_dirty = self.pipelines.iter().any(|(_, one)| one.may_act());
                    return Some(Task::Write(number, bytes));
                }
                Some(Act::Close) => return Some(Task::Close(*number)),
                None => {}
            }
        }
        self.pipelines.retain(|(_, pipeline)| !pipeline.is_over());
        self.is_dirty = false;
        None
    }

    fn expire(&mut self, now: Instant) {
        let mut told = Vec::new();
        for (_, pipeline) in &mut self.pipelines {
            pipeline.expire(now, &mut told);
        }
        self.tell(told);
        self.wake(|time| time <= now);
        self.due = self.next_deadline(now);
        self.is_dirty = true;
    }

    /// Wakes those that wait for such a time.
    fn wake(&mut self, is_due: impl Fn(Instant) -> bool) {
        for (number, waiting) in self.fibers.iter().enumerate() {
            if let Some(Waiting {
                for_what: Wanted::Time(time),
                ..
            }) = waiting
            {
                if is_due(*time) {
                    self.ready.push_back(number);
                }
            }
        }
    }

    /// After `now`: those before were told.
    fn next_deadline(&self, now: Instant) -> Option<Instant> {
        let pipelines = self.pipelines.iter();
        let replies = pipelines.filter_map(|(_, pipeline)| pipeline.next_deadline());
        let times = self
            .fibers
            .iter()
            .flatten()
            .filter_map(|waiting| match waiting.for_what {
                Wanted::Time(time) if time > now => Some(time),
                _ => None,
            });
        replies.chain(times).min()
    }

    /// Whether there was anyone to be told.
    fn give_up(&mut self) -> bool {
        let error = RedisError::from(io::Error::new(
            io::ErrorKind::Interrupted,
            "the thread ends",
        ));
        let mut told = Vec::new();
        for (_, pipeline) in &mut self.pipelines {
            pipeline.closed(&error, &mut told);
        }
        self.pipelines.clear();
        // It is no fault of the server.
        told.iter_mut().for_each(|told| told.counts = false);
        self.tell(told);
        self.wake(|_| true);
        !self.ready.is_empty()
    }
}
