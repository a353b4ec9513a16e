//! Operations of a cache that take more than one step, as state machines without I/O.
//!
//! A machine knows no clock, thread, socket or user code: its driver tells it what happened and when
//! ([`Event`]), and does what it answers ([`Step`]). So the protocol exists once for four languages,
//! synchronous and asynchronous, over any tiers ([`Leases`]), and `checks/simulation` runs this very
//! code under its own clock and scheduler.

mod acquire;
mod flights;
mod leases;
mod load;
mod pause;

pub use acquire::{Acquire, Acquiring};
pub use flights::{Flights, Joined, Landed, Leader, Part};
pub use leases::{Holder, Lease, Leases};
pub use load::{Bounds, Done, Event, Load, Step};
pub use pause::pause;
