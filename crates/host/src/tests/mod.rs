//! Tests of the algorithm itself, on test memories.

mod history;
mod interleavings;
mod kills;
mod laps;
mod memory;
mod setup;
mod weak_memory;
