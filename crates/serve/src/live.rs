//! Live streams: one connection to Redis follows a stream for all clients that listen to it.

mod facts;
mod follower;
mod gap;
mod history;
mod hub;
mod id;
mod listener;
mod pages;
mod redis_error;
mod ring;

pub(crate) use hub::Hub;
pub(crate) use id::Id;
pub(crate) use redis_error::problem_of as redis_problem;
