//! Calls of a store: by the process that opened it, where it is for one, and never after or during its close.
//!
//! What a store calls may be anything: Python runs the finalizers of unrelated objects in between. A cache that is let
//! go of there is closed when the call has ended, because the thread may hold what closing would wait for.

use super::{ByteStore, NewFile, Popped};
use crate::Error;
use polycache_host::PerProcess;
use std::cell::{Cell, RefCell};
use std::fs::File;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};

type Later = Box<dyn FnOnce()>;

thread_local! {
    /// Calls that this thread is in.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// What is done when the thread is in none.
    static LATER: RefCell<Vec<Later>> = const { RefCell::new(Vec::new()) };
}

/// This thread calls a store, or opens or closes one.
pub struct Within(());

impl Within {
    pub fn begin() -> Within {
        DEPTH.set(DEPTH.get() + 1);
        Within(())
    }

    pub fn is_under_way() -> bool {
        DEPTH.get() > 0
    }

    /// Does it now, or when the thread is in no call.
    pub fn after(work: impl FnOnce() + 'static) {
        if !Within::is_under_way() {
            return work();
        }
        // A thread that ends has no list any more, and is in no call that would go on.
        let _ = LATER.try_with(|later| later.borrow_mut().push(Box::new(work)));
    }
}

impl Drop for Within {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
        if DEPTH.get() > 0 {
            return;
        }
        let next = || LATER.try_with(|later| later.borrow_mut().pop()).ok()?;
        while let Some(work) = next() {
            work();
        }
    }
}

/// A store, and who is calling it.
pub struct Calls {
    store: ManuallyDrop<Box<dyn ByteStore>>,
    is_shared: bool,
    /// Set in the process that opened it.
    own: PerProcess<OnceLock<()>>,
    under_way: PerProcess<UnderWay>,
}

#[derive(Default)]
struct UnderWay {
    calls: AtomicUsize,
    is_closed: AtomicBool,
    waits: Mutex<()>,
    ended: Condvar,
}

struct Call<'a> {
    under_way: &'a UnderWay,
    _within: Within,
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        let now = self.under_way;
        if now.calls.fetch_sub(1, Ordering::SeqCst) == 1 && now.is_closed.load(Ordering::SeqCst) {
            drop(now.waits.lock().unwrap_or_else(PoisonError::into_inner));
            now.ended.notify_all();
        }
    }
}

impl Calls {
    pub fn new(store: Box<dyn ByteStore>, is_shared: bool) -> Calls {
        let own: PerProcess<OnceLock<()>> = PerProcess::new();
        let _ = own.get().set(());
        Calls {
            store: ManuallyDrop::new(store),
            is_shared,
            own,
            under_way: PerProcess::new(),
        }
    }

    fn is_own(&self) -> bool {
        self.own.get().get().is_some()
    }

    #[inline]
    fn begin(&self) -> Result<Call<'_>, Error> {
        if !self.is_shared && !self.is_own() {
            return Err(is_inherited());
        }
        let under_way = self.under_way.get();
        under_way.calls.fetch_add(1, Ordering::SeqCst);
        let call = Call {
            under_way,
            _within: Within::begin(),
        };
        if under_way.is_closed.load(Ordering::SeqCst) {
            return Err(Error::Closed);
        }
        Ok(call)
    }

    /// Waits until no other thread calls it, writes everything to the disk and closes it. True if that was written.
    pub fn end(&self) -> bool {
        let now = self.under_way.get();
        now.is_closed.store(true, Ordering::SeqCst);
        let mut waits = now.waits.lock().unwrap_or_else(PoisonError::into_inner);
        while now.calls.load(Ordering::SeqCst) > 0 {
            waits = now
                .ended
                .wait(waits)
                .unwrap_or_else(PoisonError::into_inner);
        }
        drop(waits);
        let flushed = self.store.flush();
        self.store.close();
        flushed.is_ok()
    }
}

impl Drop for Calls {
    fn drop(&mut self) {
        if self.is_own() {
            // SAFETY: nobody uses it after this.
            unsafe { ManuallyDrop::drop(&mut self.store) };
        }
        // A forked child leaks it: letting go of a file may write what the parent had yet to write.
    }
}

#[cold]
fn is_inherited() -> Error {
    Error::TooManyParticipants(
        "this process was forked from one that has the store open, which admits one process; \
         close the cache there and open it here, or use another store to share it"
            .into(),
    )
}

impl ByteStore for Calls {
    #[inline]
    fn get(&self, key: &[u8], out: &mut Vec<u8>) -> Result<bool, Error> {
        let _call = self.begin()?;
        self.store.get(key, out)
    }

    fn put(&self, key: &[u8], value: &[u8]) -> Result<Option<i64>, Error> {
        let _call = self.begin()?;
        self.store.put(key, value)
    }

    fn delete(&self, key: &[u8]) -> Result<Option<i64>, Error> {
        let _call = self.begin()?;
        self.store.delete(key)
    }

    fn pop(&self, key: &[u8], most: usize, out: &mut Vec<u8>) -> Result<Popped, Error> {
        let _call = self.begin()?;
        self.store.pop(key, most, out)
    }

    fn scan(
        &self,
        prefix: &[u8],
        cursor: Option<&[u8]>,
        out: &mut Vec<Vec<u8>>,
    ) -> Result<Option<Vec<u8>>, Error> {
        let _call = self.begin()?;
        self.store.scan(prefix, cursor, out)
    }

    fn new_file(&self) -> Result<NewFile, Error> {
        let _call = self.begin()?;
        self.store.new_file()
    }

    fn put_file(
        &self,
        key: &[u8],
        file: &NewFile,
        head: &[u8],
        tail: &[u8],
        end: u64,
    ) -> Result<Option<i64>, Error> {
        let _call = self.begin()?;
        self.store.put_file(key, file, head, tail, end)
    }

    fn open_file(&self, key: &[u8]) -> Result<Option<File>, Error> {
        let _call = self.begin()?;
        self.store.open_file(key)
    }

    fn size(&self) -> Result<u64, Error> {
        let _call = self.begin()?;
        self.store.size()
    }

    fn reclaim(&self) -> Result<(), Error> {
        let _call = self.begin()?;
        self.store.reclaim()
    }

    fn flush(&self) -> Result<(), Error> {
        let _call = self.begin()?;
        self.store.flush()
    }

    fn close(&self) {
        self.end();
    }

    fn aside(&self, work: &mut dyn FnMut()) {
        self.store.aside(work);
    }
}
