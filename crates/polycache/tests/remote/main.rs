//! The remote tier on real servers, which the tests start and stop.

mod asynchronous;
mod cluster;
mod copies;
mod counts;
mod faults;
mod fibers;
mod handles;
mod hosts;
mod loads;
mod many;
mod nodes;
mod objects;
mod process;
mod rights;
mod sentinel;
mod sentinels;
mod server;
mod sweep;
