//! `polycache serve`: a cache over HTTP, for programs without a framework (`docs/serve.md`).
//!
//! A [`Server`] is bound first, so that its address is known and a port that is taken is an error of the start; it then runs
//! until its [`Stopper`] says so. All that it answers with is a [`Representation`](polycache_http::Representation) or a
//! problem document.

mod app;
mod connection;
mod error;
mod guard;
mod kept;
mod live;
mod options;
mod path;
mod report;
mod routes;
mod server;
mod signals;
mod stalling;
mod statistics;
mod token;
mod tracked;

pub use error::Error;
pub use options::{Limits, Options, Redis};
pub use server::{Server, Stopper};
pub use token::Token;
