//! A host without copies, as machines see it.

use polycache_remote::{Copied, HolderId, Judged, LastClear, Near, Place};

/// Who the machines are.
pub const ME: HolderId = HolderId {
    host: 1,
    participant: 11,
};

/// A directory that keeps no copies, and knows which of its processes are dead and what its process heard of clears.
#[derive(Default)]
pub struct Bare {
    pub dead: Vec<HolderId>,
    pub last_clear: LastClear,
    marks: u64,
}

impl Near for Bare {
    type Fence = ();

    fn judge(&self) -> Judged {
        Judged::NEVER
    }
    fn is_fresh(&self, _: Judged) -> bool {
        false
    }
    fn copy(&mut self, _: Place) -> Option<Vec<u8>> {
        None
    }
    fn last_clear(&self) -> Option<&LastClear> {
        Some(&self.last_clear)
    }
    fn lease(&mut self, _: Place) -> Copied<()> {
        Copied::Bypass
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
        1_700_000_000_000
    }
    fn random(&mut self) -> u64 {
        self.marks += 1;
        self.marks
    }
    fn me(&self) -> HolderId {
        ME
    }
    fn lives(&self, holder: HolderId) -> Option<bool> {
        (holder.host == ME.host).then(|| !self.dead.contains(&holder))
    }
}
