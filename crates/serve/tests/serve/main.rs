//! The server on a free port of the loopback interface, asked over sockets.

#[allow(dead_code)]
#[path = "../../../polycache/tests/remote/process.rs"]
mod process;
#[allow(dead_code)]
#[path = "../../../polycache/tests/remote/server.rs"]
mod server;

mod browser;
mod client;
mod entries;
mod faults;
mod limits;
mod live;
mod running;
mod statistics;
mod streams;
mod token;
mod tricks;
