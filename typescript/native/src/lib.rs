//! The native part of the TypeScript package: everything but reading a hit, which JavaScript does in
//! the mapping itself.
//!
//! A [`store::NativeStore`] is one open directory, a [`namespace::NativeNamespace`] one namespace of
//! it as a cache writes and reads it. What a program does often is in [`operations`], plain
//! Node-API callbacks: a method that napi-rs generates costs some 250 ns a call more (measured on
//! Node 24: 265 ns for a method without arguments, 14 ns for a callback, 51 ns for one that takes a
//! Uint8Array and two numbers).
//!
//! Keys and payloads arrive as a buffer with a range, and what is read leaves through a buffer of the
//! caller's, because the package keeps its buffers and making one for each call costs more than the
//! call. `src/host/native.ts` declares what is here for TypeScript.

// In the test build that clippy checks, napi-rs registers nothing, and all of it looks unused.
#![cfg_attr(test, allow(dead_code))]

mod buffers;
mod call;
mod command;
mod conditional;
mod dictionaries;
mod encryption;
mod entry;
mod error;
mod loads;
mod mailbox;
mod namespace;
mod operations;
mod registry;
mod remote;
mod seen;
mod slab;
mod sockets;
mod statistics;
mod store;
mod tasks;
mod workers;
