//! What a load needs from the tiers.

/// A lease as other callers see it: it is the same lease while both numbers are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Holder {
    /// The lease's slot.
    pub slot: u64,
    /// The slot's word.
    pub word: u64,
}

/// The answer to a caller that would load a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lease<Fence> {
    /// The entry is there; the tiers hold it for the driver.
    Hit,
    /// The caller loads, and fills by this fence.
    Acquired(Fence),
    /// Another caller loads.
    Busy {
        /// The holder of that load's lease.
        holder: Holder,
        /// It takes longer than other callers are asked to wait.
        overdue: bool,
    },
    /// There is no room for a lease: the caller loads, and stores nothing.
    Bypass,
}

/// The tiers of a cache, as the operations on one key see them.
pub trait Leases {
    /// The right to fill. It becomes invalid once the key is set, deleted or cleared, or filled by
    /// another caller.
    type Fence: Clone;
    /// An error of the tiers.
    type Error;

    /// Reads the key, or takes the lease to load it.
    ///
    /// # Errors
    /// Errors of the tiers.
    fn lease(&mut self) -> Result<Lease<Self::Fence>, Self::Error>;

    /// The right to load beside the holder of a lease, which keeps it; `None` when that lease no longer
    /// stands.
    ///
    /// # Errors
    /// Errors of the tiers.
    fn beside(&mut self, holder: Holder) -> Result<Option<Self::Fence>, Self::Error>;

    /// True when a holder took its lease directly from another one whose process had died: the dead
    /// one's loader said nothing about the source. Tiers whose holders cannot die return false.
    fn has_inherited(&self, from: Holder, holder: Holder) -> bool {
        let _ = (from, holder);
        false
    }

    /// Stores an entry; false when the fence is no longer valid. The lease ends in any case.
    ///
    /// # Errors
    /// Errors of the tiers; the lease has ended.
    fn fill(&mut self, fence: Self::Fence, entry: &[u8]) -> Result<bool, Self::Error>;

    /// Ends the lease without an entry, unless it belongs to another caller, beside which this one
    /// loads.
    fn release(&mut self, fence: Self::Fence);
}
