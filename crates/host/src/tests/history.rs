//! What was done to one key and what was read, checked against the rule of `spec/host.md`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// An acknowledged write. `made` is when its value came into being: for a fill, the start of its load.
#[derive(Clone, Debug)]
struct Write {
    value: Option<String>,
    start: u64,
    made: u64,
    end: u64,
}

#[derive(Clone, Debug)]
struct Read {
    value: Option<String>,
    start: u64,
}

/// One key's history on one logical clock.
#[derive(Clone, Default)]
pub struct History {
    time: Arc<AtomicU64>,
    writes: Arc<Mutex<Vec<Write>>>,
    reads: Arc<Mutex<Vec<Read>>>,
    invalidated: Arc<Mutex<Vec<String>>>,
}

impl History {
    pub fn now(&self) -> u64 {
        self.time.fetch_add(1, Ordering::SeqCst)
    }

    /// A put or delete (no value) that began at `start` is acknowledged now.
    pub fn wrote(&self, value: Option<&str>, start: u64) {
        let end = self.now();
        let value = value.map(str::to_owned);
        self.writes.lock().unwrap().push(Write {
            value,
            start,
            made: end,
            end,
        });
    }

    /// A fill whose load began at `loaded` is acknowledged now.
    pub fn filled(&self, value: &str, loaded: u64) {
        let end = self.now();
        let value = Some(value.to_owned());
        self.writes.lock().unwrap().push(Write {
            value,
            start: loaded,
            made: loaded,
            end,
        });
    }

    /// A fill was refused: its value may never be read.
    pub fn invalidated(&self, value: &str) {
        self.invalidated.lock().unwrap().push(value.to_owned());
    }

    /// A read that began at `start` returned this.
    pub fn read(&self, value: Option<String>, start: u64) {
        self.reads.lock().unwrap().push(Read { value, start });
    }

    /// Fails on a value read after a later write was acknowledged, and on a lost entry. `evictions` says
    /// that the counters grew, so a miss proves nothing.
    pub fn judge(&self, evictions: bool) {
        let writes = self.writes.lock().unwrap();
        for read in self.reads.lock().unwrap().iter() {
            match &read.value {
                Some(value) => {
                    assert!(
                        !self.invalidated.lock().unwrap().contains(value),
                        "{read:?} was refused"
                    );
                    let Some(source) = writes.iter().find(|w| w.value.as_ref() == Some(value))
                    else {
                        continue; // Not acknowledged yet: concurrent with the read.
                    };
                    let later = writes
                        .iter()
                        .find(|w| w.start > source.made && w.end < read.start);
                    assert!(
                        later.is_none(),
                        "{read:?} gave {source:?}, superseded by {later:?}"
                    );
                }
                None if evictions => {}
                None => {
                    let stored = writes
                        .iter()
                        .filter(|w| w.value.is_some() && w.end < read.start);
                    for source in stored {
                        let removed = writes
                            .iter()
                            .any(|w| w.value.is_none() && w.end > source.start);
                        assert!(removed, "{read:?} lost {source:?}");
                    }
                }
            }
        }
    }
}
