//! Tests of the algorithm itself, on test memories.

mod conditional;
mod counters;
mod dead_bytes;
mod floors;
mod growth;
mod history;
mod interleavings;
mod kills;
mod laps;
mod large;
mod memory;
mod queues;
mod replay;
mod setup;
mod stalls;
mod steps;
mod weak_memory;
mod worth;
