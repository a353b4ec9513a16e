//! What a program asked for that cannot be.

use std::fmt;

/// An argument is out of range; the text says which and what would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidArgument(pub(crate) String);

impl fmt::Display for InvalidArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidArgument {}
