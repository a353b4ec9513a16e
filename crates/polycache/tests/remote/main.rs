//! The remote tier on real servers, which the tests start and stop.

mod cluster;
mod copies;
mod faults;
mod fibers;
mod handles;
mod hosts;
mod loads;
mod many;
mod nodes;
mod process;
mod proxy;
mod rights;
mod sentinel;
mod sentinels;
mod server;
mod sweep;
