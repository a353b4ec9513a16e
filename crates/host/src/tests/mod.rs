//! Tests of the algorithm itself, on memories of their own.

mod history;
mod interleavings;
mod kills;
mod laps;
mod memory;
mod setup;
mod weak_memory;
