//! Hit ratios of eviction policies. A policy is one file in `policy/`, a workload one in
//! `workload/`; `plan.rs` pairs them, `simulation.rs` runs them.

pub mod plan;
pub mod policy;
pub mod simulation;
pub mod structures;
pub mod workload;

/// Why something could not be simulated.
pub type Error = Box<dyn std::error::Error + Send + Sync>;
