//! What a load asks of the tiers.

/// A lease as others see it: it is the same lease while both numbers are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Holder {
    /// Where the lease stands.
    pub slot: u64,
    /// What stands there.
    pub word: u64,
}

/// What a caller that would load a key gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lease<Fence> {
    /// The entry is there; the tiers hold it for the driver.
    Hit,
    /// The caller loads, and fills by this fence.
    Acquired(Fence),
    /// Another caller loads.
    Busy {
        /// Whose load it is.
        holder: Holder,
        /// It takes longer than others are asked to wait for it.
        overdue: bool,
    },
    /// There is no room for a lease: the caller loads, and stores nothing.
    Bypass,
}

/// The tiers of a cache, as the operations on one key see them.
pub trait Leases {
    /// The right to fill. It is worth nothing once the key was set, deleted or cleared, or filled by
    /// another.
    type Fence: Clone;
    /// What tiers fail with.
    type Error;

    /// Reads the key, or takes the lease to load it.
    ///
    /// # Errors
    /// The tiers' own.
    fn lease(&mut self) -> Result<Lease<Self::Fence>, Self::Error>;

    /// The right to load beside the holder of a lease, who keeps it; `None` when that lease stands no
    /// more.
    ///
    /// # Errors
    /// The tiers' own.
    fn beside(&mut self, holder: Holder) -> Result<Option<Self::Fence>, Self::Error>;

    /// True when a holder took its lease straight from another one, whose process had died: that one's loader
    /// told nothing of the source. Tiers whose holders do not die say false.
    fn has_inherited(&self, from: Holder, holder: Holder) -> bool {
        let _ = (from, holder);
        false
    }

    /// Stores an entry; false when the fence is worth nothing any more. The lease ends in any case.
    ///
    /// # Errors
    /// The tiers' own; the lease has ended.
    fn fill(&mut self, fence: Self::Fence, entry: &[u8]) -> Result<bool, Self::Error>;

    /// Ends the lease without an entry, unless it is another's, beside whom the caller loads.
    fn release(&mut self, fence: Self::Fence);
}
