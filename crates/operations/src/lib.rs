//! What a cache does where it takes more than one step, as state machines without I/O.
//!
//! A machine knows neither clock, thread, socket nor code of users: its driver tells it what happened and
//! when ([`Event`]), and does what it answers ([`Step`]). So the protocol stands once for four languages,
//! synchronous and asynchronous, over any tiers ([`Leases`]), and `checks/simulation` runs this very code
//! under a clock and a scheduler of its own.

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
