//! Cached reads on real servers, which the tests start and stop.
#![cfg(target_os = "linux")]

mod asynchronous;
mod cluster;
mod commands;
mod connections;
#[allow(dead_code)]
#[path = "../remote/hosts.rs"]
mod hosts;
mod json;
mod listeners;
#[allow(dead_code)]
#[path = "../remote/nodes.rs"]
mod nodes;
mod options;
#[allow(dead_code)]
#[path = "../remote/process.rs"]
mod process;
mod replies;
#[allow(dead_code)]
#[path = "../remote/server.rs"]
mod server;
mod support;
