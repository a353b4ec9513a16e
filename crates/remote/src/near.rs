//! What a machine needs from the host's directory, where copies stand.

use crate::floors::copied_number;
use crate::last_clear::LastClear;
use crate::presence::HolderId;
use crate::validity::Judged;

/// A copy that an operation on one key uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// The key's.
    Value,
    /// The clock's.
    Clock,
    /// A floor's: 0 is the root's, then those of the namespaces around the key, from the outermost on.
    Floor(usize),
    /// What the leader tells of its arming (`spec/reads.md`).
    Armed,
    /// The guard of one of the keys of a cached read.
    Guard(usize),
}

/// The answer to a caller that would make a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Copied<Fence> {
    /// There is one: its entry.
    There(Vec<u8>),
    /// The caller makes it, and fills by this fence.
    Acquired(Fence),
    /// Another caller of the host makes it.
    Busy,
    /// There is no room for a lease, or the directory can only be read.
    Bypass,
}

/// The directory, as an operation on one key sees it. It does not fail: what it cannot keep is no copy.
pub trait Near {
    /// The right to make a copy. It becomes invalid once the copy is voided.
    type Fence: Clone;

    /// How far this host has heard of writes; to be asked before copies are read.
    fn judge(&self) -> Judged;

    /// Whether copies that were read after `judged` may be served now.
    fn is_fresh(&self, judged: Judged) -> bool;

    /// A copy, whether it is fresh or not.
    fn copy(&mut self, place: Place) -> Option<Vec<u8>>;

    /// What the copy of the clock or of a floor says.
    fn number(&mut self, place: Place) -> Option<u64> {
        copied_number(&self.copy(place)?)
    }

    /// What this process remembers of clears; `None`: nothing.
    fn last_clear(&self) -> Option<&LastClear> {
        None
    }

    /// A copy, or the lease to make it.
    fn lease(&mut self, place: Place) -> Copied<Self::Fence>;

    /// Makes a copy; false when the fence is no longer valid. The lease ends in any case.
    fn fill(&mut self, place: Place, fence: Self::Fence, entry: &[u8]) -> bool;

    /// Ends the lease.
    fn release(&mut self, place: Place, fence: Self::Fence);

    /// Whether the fence is still valid.
    fn stands(&self, place: Place, fence: &Self::Fence) -> bool;

    /// Removes a copy, and invalidates the lease to make it.
    fn void(&mut self, place: Place);

    /// Removes all copies of the namespace at this number, as in [`Place::Floor`], and of those in it.
    fn clear(&mut self, floor: usize);

    /// Milliseconds since 1970.
    fn now(&self) -> u64;

    /// A random number.
    fn random(&mut self) -> u64;

    /// This process, as the holder of a load.
    fn me(&self) -> HolderId;

    /// Whether a process of this host lives; `None` for another host's.
    fn lives(&self, holder: HolderId) -> Option<bool>;
}
