//! What becomes of a loaded value that cannot be stored.

/// What becomes of a loaded value that cannot be stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StoreErrors {
    /// It is handed to its caller, counted, and reported.
    #[default]
    Report,
    /// It is the error that `set` would give.
    Raise,
}
