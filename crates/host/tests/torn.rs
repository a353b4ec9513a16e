//! What is replaced while it is read, by an entry of another length too, is read whole or not at all.

mod support;

use polycache_host::Store;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use support::large::{open, undamaged, value, MIB};
use support::{entry, get};

/// Of short texts, of long ones, which are copied in another way, and of one to three blocks.
const LENGTHS: [usize; 8] = [40, 1000, 5000, 5200, 10_240, 30_000, 65_000, 130_000];
const KEYS: u64 = 3;
/// With the reader more threads than many machines have processors, so that it is stopped in the middle of copies, too.
const WRITERS: u64 = 4;
/// Reads that found another value than the one before.
const CHANGES: u32 = 100_000;
/// So many reads end a test that would not end.
const MOST_READS: u32 = 50_000_000;

/// Writes one key after the other, each time at another length, until the reader has seen enough.
fn write(store: &Store, writer: u64, is_over: &AtomicBool) {
    let ns = store.namespace::<&str>(&[]).unwrap();
    for turn in 0.. {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        let serial = turn * WRITERS + writer;
        let len = LENGTHS[(serial / 3) as usize % LENGTHS.len()];
        let key = (serial % KEYS).to_le_bytes();
        store.put(&ns, &key, &entry(&value(serial, len))).unwrap();
    }
}

#[test]
fn an_entry_replaced_during_its_copy_is_read_whole() {
    let directory = tempfile::tempdir().unwrap();
    // So small that the bytes of what was replaced are soon written over.
    let stores = [(); 1 + WRITERS as usize].map(|()| open(directory.path(), 2 * MIB));
    let is_over = AtomicBool::new(false);
    let [reader, writers @ ..] = &stores;
    let ns = reader.namespace::<&str>(&[]).unwrap();
    thread::scope(|scope| {
        for (writer, store) in (0..).zip(writers) {
            let is_over = &is_over;
            scope.spawn(move || write(store, writer, is_over));
        }
        let read_all = || {
            let (mut changes, mut last) = (0, String::new());
            for key in (0..u64::from(MOST_READS)).map(|read| read % KEYS) {
                // It compares the checksum.
                let Some(text) = get(reader, &ns, &key.to_le_bytes()) else {
                    continue;
                };
                let serial: u64 = text[..15].trim_start().parse().unwrap();
                assert!(text == value(serial, text.len()), "a torn value");
                assert_eq!(serial % KEYS, key, "another key's value");
                if text != last {
                    changes += 1;
                    last = text;
                }
                if changes == CHANGES {
                    return true;
                }
            }
            false
        };
        let read = std::panic::catch_unwind(std::panic::AssertUnwindSafe(read_all));
        is_over.store(true, Ordering::Relaxed);
        assert!(read.unwrap(), "the writers do not write");
    });
    undamaged(reader);
}
