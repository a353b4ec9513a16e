//! What policies are made of.

mod popularity;
mod queues;

pub use popularity::Popularity;
pub use queues::Queues;
