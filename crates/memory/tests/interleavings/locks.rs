//! The lock: a writer excludes all others, and no thread waits forever.

use crate::lock::{Lock, Readers};
use crate::{at_once, explore};
use std::sync::Arc;

/// Places for readers: the threads after the third have none of their own.
const PLACES: usize = 3;

type Pair = Arc<(Lock<[u64; 2]>, Lock<u64>, Readers)>;

fn pair() -> Pair {
    Arc::new((Lock::new(1, [0, 0]), Lock::new(2, 0), Readers::new(PLACES)))
}

fn read(pair: &Pair) -> Box<dyn FnOnce() + Send> {
    let pair = pair.clone();
    Box::new(move || {
        let (lock, other, readers) = &*pair;
        for _ in 0..2 {
            let data = lock.read(readers);
            assert_eq!(data[0], data[1], "half a write");
            drop(data);
            drop(other.read(readers));
        }
        if let Some(data) = lock.read_quickly(readers) {
            data.count(0);
            assert_eq!(data[0], data[1], "half a write");
        } else {
            readers.count(0);
        }
    })
}

fn write(pair: &Pair) -> Box<dyn FnOnce() + Send> {
    let pair = pair.clone();
    Box::new(move || {
        let (lock, _, readers) = &*pair;
        for _ in 0..2 {
            let mut data = lock.write(readers);
            data[0] += 1;
            data[1] += 1;
        }
    })
}

#[test]
fn readers_and_writers() {
    explore(|| {
        let pair = pair();
        // More threads than places.
        at_once(vec![
            read(&pair),
            write(&pair),
            read(&pair),
            write(&pair),
            read(&pair),
        ]);
        let (lock, _, readers) = &*pair;
        assert_eq!(*lock.read(readers), [4, 4], "no write is lost");
        assert_eq!(readers.sum(0), 3, "no count is lost");
    });
}

#[test]
fn a_read_within_a_read() {
    explore(|| {
        let pair = pair();
        let inner = pair.clone();
        let within = move || {
            let (lock, other, readers) = &*inner;
            let data = lock.read(readers);
            // Reads the same lock while a writer waits for this thread, and another lock.
            assert_eq!(lock.read(readers)[0], data[1]);
            drop(other.read(readers));
        };
        at_once(vec![Box::new(within), write(&pair)]);
    });
}
