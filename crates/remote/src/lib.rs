//! The remote tier: what operations send to Redis or Valkey, and what the replies mean (`spec/remote.md`).
//!
//! Nothing here has a clock, a thread or a socket. An operation is a state machine: its driver sends the
//! commands of a [`Step::Send`] by the user's own client, and gives the machine the replies. So the
//! protocol exists once for four languages and all their clients, and `checks/simulation` runs this very
//! code against a simulated server.

mod board;
mod breaker;
mod change;
mod clear;
mod command;
mod delete;
mod fault;
mod floors;
mod folding;
mod get;
mod invalidate;
mod last_clear;
mod listener;
mod load;
mod lock;
mod names;
mod near;
mod presence;
mod reads;
mod record;
mod reply;
mod script;
mod set;
mod step;
mod sweep;
mod validity;

pub use board::{Board, BoardWords, Seen as SeenBoard, BOARD_WORDS};
pub use breaker::{Breaker, Permit};
pub use change::{Change, Changed, Changing};
pub use clear::Clear;
pub use command::{parse_number, Command, Key, Verb, Word, Words};
pub use delete::Delete;
pub use fault::Fault;
pub use floors::copied_number;
pub use folding::{fold_reads, Folded, Refused};
pub use get::{Found, Get};
pub use invalidate::Invalidate;
pub use last_clear::LastClear;
pub use listener::{slot_of_key, Act, Heard, Listener, Map, Node, PRESENCE_MS};
pub use load::{Bounds, Guards, Load, Loaded, UNLISTED};
pub use lock::{look_at_lock, unlock, Lock, Locked};
pub use names::{Names, Pushed, RemoteName};
pub use near::{Copied, Near, Place};
pub use presence::{is_present, presence, HolderId};
pub use reads::{
    begin, near_reply, proof_of, Armed, Begun, Kept, Prefixes, Ticket, Uncached, Wanted, MOST_KEYS,
    MOST_PREFIXES,
};
pub use record::{head, pending_head, Kind, Record, HEAD_LEN, LARGEST_HEADER};
pub use reply::Reply;
pub use script::Script;
pub use set::Set;
pub use step::{Event, Step};
pub use sweep::{
    end_swept, keep_sweep, leave_sweep, next_swept, remove_cleared, swept, take_sweep, Swept,
};
pub use validity::{Judged, Validity};
