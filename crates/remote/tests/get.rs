//! A read beside a listener that hears again only after the copy was read.

use polycache_entry::{encode, EntryOptions, Value};
use polycache_remote::{
    Copied, Event, Get, HolderId, Judged, Names, Near, Place, RemoteName, Step, Validity,
};
use std::cell::Cell;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// A directory with one copy. After the copy is read, a second passes, and the listener hears again.
struct Late {
    validity: AtomicU64,
    now: Cell<Duration>,
}

impl Near for Late {
    type Fence = ();

    fn judge(&self) -> Judged {
        Validity::new(&self.validity).judge()
    }
    fn is_fresh(&self, judged: Judged) -> bool {
        judged.is_fresh(self.now.get(), Duration::from_millis(100))
    }
    fn copy(&mut self, _: Place) -> Option<Vec<u8>> {
        None
    }
    fn lease(&mut self, place: Place) -> Copied<()> {
        if place != Place::Value {
            return Copied::Bypass;
        }
        let mut entry = Vec::new();
        encode(&Value::Null, &EntryOptions::default(), &mut entry).expect("null has an entry");
        self.now.set(self.now.get() + Duration::from_secs(1));
        Validity::new(&self.validity).move_to(0, self.now.get());
        Copied::There(entry)
    }
    fn fill(&mut self, _: Place, (): (), _: &[u8]) -> bool {
        false
    }
    fn release(&mut self, _: Place, (): ()) {}
    fn stands(&self, _: Place, (): &()) -> bool {
        false
    }
    fn void(&mut self, _: Place) {}
    fn clear(&mut self, _: usize) {}
    fn now(&self) -> u64 {
        0
    }
    fn random(&mut self) -> u64 {
        0
    }
    fn me(&self) -> HolderId {
        HolderId {
            host: 1,
            participant: 1,
        }
    }
    fn lives(&self, _: HolderId) -> Option<bool> {
        None
    }
}

#[test]
fn a_copy_is_served_by_what_was_heard_before_it_was_read() {
    let mut near = Late {
        validity: AtomicU64::new(0),
        now: Cell::new(Duration::from_secs(5)),
    };
    Validity::new(&near.validity).move_to(0, near.now.get());
    let names = Names::new(&RemoteName::new("p"), &[b"::"], b"::k");
    let mut get = Get::new(near.now.get());
    let now = near.now.get();
    let step = get.step(&mut near, &names, Event::Woken, now);
    assert!(matches!(step, Step::Send(_)), "{step:?}");
}
