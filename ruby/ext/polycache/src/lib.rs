//! The native extension of the gem `polycache`: `Polycache::Native`, which `ruby/lib/polycache`
//! wraps. It turns Ruby objects into values and back, and leaves everything else to the facade
//! crate.
//!
//! Two rules keep it sound:
//! - Rust's heap holds no Ruby object: the garbage collector would not see it there. The
//!   exceptions are marked: the clock of a cache, and a value that was found, and
//!   what reads the memory tier.
//! - Ruby raises by a long jump, which must not skip a destructor. Whatever may raise is called
//!   within `protect`, and the closure in there owns nothing.

mod atomic;
mod cache;
mod codings;
mod command;
mod copies;
mod copy_in;
mod copy_out;
mod duration;
mod encryption;
mod entry;
mod error;
mod facts;
mod fetch;
mod from_ruby;
mod init;
mod key;
mod landing;
mod lease;
mod load;
mod loads;
mod many;
mod memory_reader;
mod number;
mod object;
mod options;
mod packed;
mod packer;
mod path;
mod process;
mod reads;
mod remote;
mod reply;
mod report;
mod string;
mod to_ruby;
mod unpacker;
mod value_with_origin;
mod weigh;
mod without_gvl;
