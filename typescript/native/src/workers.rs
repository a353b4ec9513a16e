//! Threads of our own, for calls that may wait for a server. Not libuv's: it has four for the whole program, and a
//! server that hangs would stall its files and its names.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Threads at most, in all isolates of the process.
const MOST: usize = 64;
/// How long a thread without work stays.
const STAYS: Duration = Duration::from_secs(10);

type Job = Box<dyn FnOnce() + Send>;

struct Queue {
    jobs: VecDeque<Job>,
    threads: usize,
    /// Those of them that wait for work.
    idle: usize,
}

static QUEUE: Mutex<Queue> = Mutex::new(Queue {
    jobs: VecDeque::new(),
    threads: 0,
    idle: 0,
});
static MORE: Condvar = Condvar::new();

fn queue() -> MutexGuard<'static, Queue> {
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a job on one of the threads, in the order of the calls. It does not panic.
pub(crate) fn run(job: impl FnOnce() + Send + 'static) {
    let mut queue = queue();
    queue.jobs.push_back(Box::new(job));
    if queue.jobs.len() <= queue.idle {
        MORE.notify_one();
        return;
    }
    if queue.threads >= MOST {
        return;
    }
    queue.threads += 1;
    let begun = thread::Builder::new()
        .name("polycache-remote".into())
        .spawn(work);
    if begun.is_err() {
        queue.threads -= 1;
        if queue.threads == 0 {
            // The system has no thread for us. Late is better than never: nobody else would do it.
            let left = std::mem::take(&mut queue.jobs);
            drop(queue);
            left.into_iter().for_each(|job| job());
        }
    }
}

fn work() {
    let mut queue = queue();
    loop {
        if let Some(job) = queue.jobs.pop_front() {
            drop(queue);
            job();
            queue = self::queue();
            continue;
        }
        queue.idle += 1;
        let waited = MORE.wait_timeout(queue, STAYS);
        let (again, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        queue = again;
        queue.idle -= 1;
        if timeout.timed_out() && queue.jobs.is_empty() {
            queue.threads -= 1;
            return;
        }
    }
}
