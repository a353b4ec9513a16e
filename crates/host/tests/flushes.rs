//! Flushes: what is changed reaches the disk in time, and nobody waits for it.

mod support;

use polycache_host::io::Io;
use polycache_host::layout::header;
use polycache_host::shared_memory::SharedMemory;
use polycache_host::{Options, Store};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{channel, Receiver};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use support::faulty::Faulty;
use support::{entry, small};

/// Only a broken program takes as long.
const LONG: Duration = Duration::from_secs(60);
const OFTEN: Duration = Duration::from_millis(100);
const SELDOM: Duration = Duration::from_secs(24 * 3600);

/// One test at a time: the thread that flushes is the process'. It ends with the handles that it works for, however
/// long their flushes are ahead.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    wait_until("the thread does not end", || threads() == 0);
    alone
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < LONG, "{what}");
        std::thread::yield_now();
    }
}

/// A store whose flushes are told of: each call of this name.
fn telling(path: &Path, call: &'static str, every: Option<Duration>) -> (Store, Receiver<()>) {
    let (tell, told) = channel();
    let mut io = Faulty::new(-1, 0);
    let tell = Mutex::new(tell);
    let act = move || {
        // The test may be over.
        let _ = tell.lock().unwrap().send(());
    };
    io.meanwhile = Some((call, Box::new(act)));
    let store = open(path, Arc::new(io), every);
    // What opening called is of no concern.
    while told.try_recv().is_ok() {}
    (store, told)
}

fn open(path: &Path, io: Arc<dyn Io>, every: Option<Duration>) -> Store {
    let options = Options {
        flush_every: every,
        io,
        ..small(path)
    };
    Store::open(&options).unwrap()
}

fn put(store: &Store) {
    let ns = store.namespace(&["n"]).unwrap();
    store.put(&ns, b"k", &entry("v")).unwrap();
}

fn is_marked(store: &Store) -> bool {
    store.shared().memory.load(header::MARK_TICK) != 0
}

fn threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let names =
        tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names
        .filter(|name| name.trim() == "polycache-flush")
        .count()
}

#[test]
fn a_change_is_flushed_by_a_thread_that_ends_when_nothing_is_left() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let changes: [fn(&Store); 5] = [
        put,
        |store| {
            let ns = store.namespace(&["n"]).unwrap();
            assert!(store.delete(&ns, b"k").unwrap());
        },
        |store| {
            let ns = store.namespace(&["n"]).unwrap();
            assert!(store.add(&ns, b"k", &entry("v")).unwrap());
        },
        |store| {
            let ns = store.namespace(&["n"]).unwrap();
            let hit = store.get(&ns, b"k", &mut Vec::new()).unwrap().unwrap();
            assert!(store.replace(&ns, b"k", hit, &entry("w")).unwrap());
        },
        |store| store.clear(&store.namespace(&["n"]).unwrap()).unwrap(),
    ];
    let (store, told) = telling(dir.path(), "sync", Some(OFTEN));
    assert!(!is_marked(&store));
    for change in changes {
        change(&store);
        // The blocks, then the index, then the index with the mark.
        for _ in 0..3 {
            told.recv_timeout(LONG).unwrap();
        }
        wait_until("the mark is not set", || is_marked(&store));
        wait_until("the thread does not end", || threads() == 0);
        assert!(told.try_recv().is_err());
    }
}

#[test]
fn a_handle_that_only_reads_or_never_flushes_needs_no_thread() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let (store, told) = telling(dir.path(), "sync", None);
    put(&store);
    let (reader, _told) = telling(dir.path(), "sync", Some(OFTEN));
    let ns = reader.namespace(&["n"]).unwrap();
    assert!(reader.get(&ns, b"k", &mut Vec::new()).unwrap().is_some());
    assert_eq!(threads(), 0);
    assert!(told.try_recv().is_err() && !is_marked(&store));
    // What it is asked for, it does.
    store.flush().unwrap();
    assert!(is_marked(&store));
}

#[test]
fn the_thread_ends_with_the_last_handle() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let [first, second] = [SELDOM; 2].map(|every| telling(dir.path(), "sync", Some(every)).0);
    put(&first);
    put(&second);
    wait_until("there is no thread", || threads() == 1);
    drop(first);
    assert_eq!(threads(), 1);
    // Closed is enough: in Python a closed cache is often still there.
    second.close();
    wait_until("the thread does not end", || threads() == 0);
}

#[test]
fn many_handles_have_one_thread() {
    let _alone = alone();
    let dirs: Vec<_> = (0..20).map(|_| tempfile::tempdir().unwrap()).collect();
    let stores: Vec<_> = dirs
        .iter()
        .map(|dir| telling(dir.path(), "sync", Some(OFTEN)))
        .collect();
    stores.iter().for_each(|(store, _)| put(store));
    assert!(threads() <= 1);
    for (store, told) in &stores {
        told.recv_timeout(LONG).unwrap();
        assert!(threads() <= 1);
        wait_until("the mark is not set", || is_marked(store));
    }
}

#[test]
fn a_failed_flush_leaves_no_mark_and_is_tried_again() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let io = Arc::new(Faulty::new(-1, libc::EIO));
    let store = open(dir.path(), io.clone(), None);
    put(&store);
    // Each call on the way to the mark fails once: of the blocks and of the index the pieces and the file, then the
    // two folders. From the second flush on the pieces are made dirty first.
    let mut failed = 0;
    loop {
        io.left.store(failed, Ordering::SeqCst);
        let flushed = store.flush();
        if io.left.load(Ordering::SeqCst) >= 0 {
            break flushed.unwrap();
        }
        assert_eq!(flushed.unwrap_err().code(), "io");
        failed += 1;
        assert_eq!(store.stats().unwrap().failed_flushes, failed as u64);
        // When only the mark itself is left to write, what it says is true.
        let is_last = is_marked(&store);
        assert!(!is_last || failed > 7, "{failed}");
    }
    assert!(failed > 8, "{failed}");
    io.left.store(-1, Ordering::SeqCst);
    assert!(is_marked(&store));

    // In the background: of the calls after the put, the lock, and then the first page.
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), io.clone(), Some(OFTEN));
    put(&store);
    io.left.store(1, Ordering::SeqCst);
    wait_until("the mark is not set", || is_marked(&store));
    assert!(io.left.load(Ordering::SeqCst) < 0, "nothing failed");
}

/// The system takes pages for written that the disk refused. So after a failure all is written again, by whichever
/// process flushes next, until a flush is complete.
#[test]
fn after_a_failed_flush_every_page_is_written_again() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let io = Arc::new(Faulty::new(-1, libc::EIO));
    let store = open(dir.path(), io.clone(), None);
    let other_io = Arc::new(Faulty::new(-1, libc::EIO));
    let other = open(dir.path(), other_io.clone(), None);
    put(&store);
    let of = |ranges: &[(&'static str, u64, u64)], wanted| -> Vec<(u64, u64)> {
        let ranges = ranges.iter().filter(|(call, ..)| *call == wanted);
        ranges.map(|(_, at, len)| (*at, *len)).collect()
    };
    store.flush().unwrap();
    let all = of(&io.take_ranges(), "write_back");
    assert!(all.len() >= 2);
    put(&store);
    io.left.store(1, Ordering::SeqCst);
    store.flush().unwrap_err();
    assert_eq!(of(&io.take_ranges(), "make_dirty"), []);
    // Its disk refuses it, too, after everything was made dirty.
    other_io.left.store(2 * all.len() as i64, Ordering::SeqCst);
    other_io.take_ranges();
    other.flush().unwrap_err();
    assert!(!of(&other_io.take_ranges(), "make_dirty").is_empty());
    other.flush().unwrap();
    let ranges = other_io.take_ranges();
    assert_eq!(
        (of(&ranges, "make_dirty"), of(&ranges, "write_back")),
        (all.clone(), all)
    );
    // A piece is made dirty before it is written.
    let calls: Vec<_> = ranges.iter().map(|(call, ..)| *call).collect();
    assert!(calls
        .chunks(2)
        .all(|pair| pair == ["make_dirty", "write_back"]));
    store.flush().unwrap();
    assert_eq!(of(&io.take_ranges(), "make_dirty"), []);
    assert_eq!(store.stats().unwrap().failed_flushes, 2);
}

/// A flush mends what failed before it began.
#[test]
fn a_failure_during_a_flush_is_not_forgotten() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let failing = Arc::new(Faulty::new(-1, libc::EIO));
    let failing_store = open(dir.path(), failing.clone(), None);
    let mut io = Faulty::new(-1, 0);
    let fail_once = Mutex::new(Some(failing_store.clone()));
    let fails = failing.clone();
    let act = move || {
        if let Some(store) = fail_once.lock().unwrap().take() {
            fails.left.store(0, Ordering::SeqCst);
            store.flush().unwrap_err();
        }
    };
    io.meanwhile = Some(("sync", Box::new(act)));
    put(&failing_store);
    failing.left.store(0, Ordering::SeqCst);
    failing_store.flush().unwrap_err();
    open(dir.path(), Arc::new(io), None).flush().unwrap();
    failing.take_ranges();
    failing_store.flush().unwrap();
    assert_eq!(failing.take_ranges()[0].0, "make_dirty");
}

/// The kernel tells the one who begins to write of some refusals only.
#[test]
fn a_closing_handle_notes_that_the_disk_refused_it() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let io = Arc::new(Faulty::new(-1, libc::EIO));
    let closing = open(dir.path(), io.clone(), Some(SELDOM));
    let store = open(dir.path(), Arc::new(Faulty::new(-1, 0)), None);
    put(&closing);
    io.left.store(0, Ordering::SeqCst);
    closing.close();
    assert_eq!(store.stats().unwrap().failed_flushes, 1);
}

/// A limit of processes, say. Nobody waits, and the thread is asked for again by a change some time later.
#[test]
fn a_thread_that_the_system_refused_is_asked_for_again() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let mut io = Faulty::new(-1, 0);
    let counter = asked.clone();
    let act = move || {
        counter.fetch_add(1, Ordering::SeqCst);
    };
    io.meanwhile = Some(("begin_thread", Box::new(act)));
    io.refuses_threads.store(true, Ordering::SeqCst);
    let io = Arc::new(io);
    let store = open(dir.path(), io.clone(), Some(OFTEN));
    wait_until("the thread is not asked for again", || {
        put(&store);
        asked.load(Ordering::SeqCst) == 3
    });
    assert!(!is_marked(&store));
    io.refuses_threads.store(false, Ordering::SeqCst);
    wait_until("the mark is not set", || {
        put(&store);
        is_marked(&store)
    });
    // Not at every change.
    let store = open(dir.path(), io.clone(), Some(SELDOM));
    io.refuses_threads.store(true, Ordering::SeqCst);
    wait_until("the thread does not end", || threads() == 0);
    let before = asked.load(Ordering::SeqCst);
    (0..1000).for_each(|_| put(&store));
    assert_eq!(asked.load(Ordering::SeqCst), before + 1);
}

#[test]
fn a_process_waits_for_the_flush_of_another_one() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let (store, told) = telling(dir.path(), "lock", Some(OFTEN));
    let system = polycache_host::io::SystemIo;
    let path = store.path().join("participants");
    let other = std::fs::File::options().read(true).write(true).open(path);
    let other = other.unwrap();
    assert!(system.lock(&other, 4096).unwrap());
    put(&store);
    for _ in 0..3 {
        told.recv_timeout(LONG).unwrap();
    }
    assert!(!is_marked(&store));
    system.unlock(&other, 4096).unwrap();
    wait_until("the mark is not set", || is_marked(&store));
}

/// The flush of one process has done the work of all. Each of them knows only that it changed something, so one or
/// two more follow, but not one for each.
#[test]
fn an_idle_cache_is_not_flushed_once_for_each_process() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let system = polycache_host::io::SystemIo;
    let (first, told) = telling(dir.path(), "sync", Some(OFTEN));
    let path = first.path().join("participants");
    let other = std::fs::File::options().read(true).write(true).open(path);
    let other = other.unwrap();
    assert!(system.lock(&other, 4096).unwrap());
    let mut stores = vec![(first, told)];
    stores.extend((1..12).map(|_| telling(dir.path(), "sync", Some(OFTEN))));
    stores.iter().for_each(|(store, _)| put(store));
    // The flush begins in a later tick than all changes.
    let begin = Instant::now();
    wait_until("time stands still", || begin.elapsed() > OFTEN);
    system.unlock(&other, 4096).unwrap();
    wait_until("the thread does not end", || threads() == 0);
    let calls: usize = stores.iter().map(|(_, told)| told.try_iter().count()).sum();
    let flushes = calls / 3;
    assert!((1..=4).contains(&flushes), "{flushes}");
}

#[test]
fn a_change_after_the_flush_of_another_process_is_flushed_too() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let system = polycache_host::io::SystemIo;
    let other = open(dir.path(), Arc::new(Faulty::new(-1, 0)), None);
    let (store, told) = telling(dir.path(), "sync", Some(OFTEN));
    let path = store.path().join("participants");
    let locks = std::fs::File::options().read(true).write(true).open(path);
    let locks = locks.unwrap();
    // So the store itself does not flush before.
    assert!(system.lock(&locks, 4096).unwrap());
    put(&store);
    let begin = Instant::now();
    wait_until("time stands still", || begin.elapsed() > OFTEN);
    other.flush().unwrap();
    put(&store);
    system.unlock(&locks, 4096).unwrap();
    wait_until("the thread does not end", || threads() == 0);
    assert!(told.try_iter().count() >= 3);
}

#[test]
fn a_child_flushes_what_it_changed() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let (store, _told) = telling(dir.path(), "sync", Some(SELDOM));
    put(&store);
    let often = open(dir.path(), Arc::new(Faulty::new(-1, 0)), Some(OFTEN));
    // SAFETY: the child only uses the store, and ends by _exit.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let begin = Instant::now();
        let ns = often.namespace(&["n"]).unwrap();
        let done = often.put(&ns, b"child", &entry("v")).is_ok();
        while !is_marked(&often) && begin.elapsed() < LONG {
            std::thread::yield_now();
        }
        // SAFETY: as above.
        unsafe { libc::_exit(i32::from(!(done && is_marked(&often)))) };
    }
    let mut status = 0;
    // SAFETY: `status` is a valid buffer, and `child` is a child of this process.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0);
}

#[test]
fn a_handle_that_closes_begins_to_write_what_is_left_but_not_every_time() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let begun = Arc::new(AtomicUsize::new(0));
    let change_and_close = |every, change: fn(&Store)| {
        let before = begun.load(Ordering::SeqCst);
        let mut io = Faulty::new(-1, 0);
        let counter = begun.clone();
        let act = move || {
            counter.fetch_add(1, Ordering::SeqCst);
        };
        io.meanwhile = Some(("begin_sync", Box::new(act)));
        let store = open(dir.path(), Arc::new(io), every);
        change(&store);
        store.close();
        begun.load(Ordering::SeqCst) - before
    };
    assert_eq!(change_and_close(None, put), 0);
    assert_eq!(change_and_close(Some(SELDOM), |_| {}), 0);
    // The block that has disk space, and the index, a MiB at a time.
    let index = std::fs::metadata(dir.path().join("v2/index"))
        .unwrap()
        .len();
    let pieces = 1 + index.div_ceil(1 << 20) as usize;
    assert_eq!(change_and_close(Some(SELDOM), put), pieces);
    assert_eq!(change_and_close(Some(SELDOM), put), 0);
}

#[test]
fn a_handle_that_closes_does_not_wait_for_a_slow_disk() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let begun = Arc::new(AtomicUsize::new(0));
    let counter = begun.clone();
    let mut io = Faulty::new(-1, 0);
    let act = move || {
        counter.fetch_add(1, Ordering::SeqCst);
        let begin = Instant::now();
        // Longer than the handle's patience.
        while begin.elapsed() < OFTEN {
            std::thread::yield_now();
        }
    };
    io.meanwhile = Some(("begin_sync", Box::new(act)));
    let store = open(dir.path(), Arc::new(io), Some(SELDOM));
    put(&store);
    store.close();
    assert_eq!(begun.load(Ordering::SeqCst), 1);
}

/// A process that ends waits for what its thread writes at that moment, so that must not be much.
#[test]
fn a_flush_writes_a_file_in_pieces() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let (tell, told) = channel();
    let tell = Mutex::new(tell);
    let mut io = Faulty::new(-1, 0);
    let act = move || tell.lock().unwrap().send(()).unwrap();
    io.meanwhile = Some(("write_back", Box::new(act)));
    let options = Options {
        limit: Some(64 << 20),
        flush_every: None,
        io: Arc::new(io),
        ..small(dir.path())
    };
    let store = Store::open(&options).unwrap();
    put(&store);
    store.flush().unwrap();
    let few = told.try_iter().count();
    let ns = store.namespace(&["n"]).unwrap();
    let long = entry(&"v".repeat(60_000));
    let before = store.stats().unwrap().bytes;
    for key in 0..300 {
        store.put(&ns, format!("{key}").as_bytes(), &long).unwrap();
    }
    store.flush().unwrap();
    // What has no disk space is left out.
    let blocks = store.shared().geometry.block_size + store.stats().unwrap().bytes - before;
    let more = blocks.div_ceil(8 << 20) as usize;
    assert!(more > 1);
    assert_eq!(told.try_iter().count(), few - 1 + more);
}

#[test]
fn a_handle_that_closes_during_its_flush_begins_to_write_too() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let (flushes, flushing) = channel();
    let (go_on, waits) = channel::<()>();
    let both = Mutex::new((flushes, waits));
    let mut io = Faulty::new(-1, 0);
    let act = move || {
        let both = both.lock().unwrap();
        // The test may be over.
        let _ = both.0.send(());
        let _ = both.1.recv();
    };
    io.meanwhile = Some(("write_back", Box::new(act)));
    let store = open(dir.path(), Arc::new(io), Some(OFTEN));
    put(&store);
    flushing.recv_timeout(LONG).unwrap();
    store.close();
    let memory = store.shared().memory;
    assert_ne!(memory.load(header::WRITE_BACK_TICK), 0);
    drop(go_on);
}

#[test]
fn intervals_that_are_none_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    for every in [
        Duration::ZERO,
        OFTEN - Duration::from_nanos(1),
        SELDOM + Duration::from_nanos(1),
    ] {
        let options = Options {
            flush_every: Some(every),
            ..small(&dir.path().join("new"))
        };
        let refused = Store::open(&options).err().unwrap();
        assert_eq!(refused.code(), "invalid_argument");
    }
    assert!(!dir.path().join("new").exists());
}
