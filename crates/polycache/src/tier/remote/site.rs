//! One remote database as a host knows it: by its identity it has copies and a board of its own.

use super::near::NearStore;
use crate::tier::Tier;
use polycache_host::Store;
use polycache_remote::{Board, BoardWords, BOARD_WORDS};
use std::sync::atomic::AtomicU64;
use std::sync::Arc;
use std::time::Duration;

/// A database, by its identity.
pub(crate) struct Site {
    /// The reserved namespace of its copies.
    pub outer: String,
    board: SharedBoard,
    identity: u64,
}

enum SharedBoard {
    /// In the directory, by its place.
    Host(Store, usize),
    Own(Box<BoardWords>),
    /// All boards are other databases': copies are voided, and none is served.
    None,
}

/// Of no identity.
static NOBODYS: BoardWords = [const { AtomicU64::new(0) }; BOARD_WORDS];

impl Site {
    /// `None` for a text that is no identity.
    pub fn new(near: &NearStore, identity: &[u8], now: Duration) -> Option<Site> {
        let text = std::str::from_utf8(identity).ok()?;
        let number = u64::from_str_radix(text.get(..16)?, 16).ok()?;
        if text.len() != 32 || u64::from_str_radix(&text[16..], 16).is_err() {
            return None;
        }
        let board = match near {
            NearStore::Host(store) => match Board::find(store.boards(), number, now) {
                Some(place) => SharedBoard::Host(store.clone(), place),
                None => SharedBoard::None,
            },
            NearStore::Memory(_) => {
                let words: Box<BoardWords> = Box::default();
                // Nobody else has it.
                let _ = Board::find(std::iter::once(&*words), number, now);
                SharedBoard::Own(words)
            }
        };
        Some(Site {
            outer: format!("%remote-{text}"),
            board,
            identity: number,
        })
    }

    /// The first 64 bits of its identity.
    #[cfg(feature = "bindings")]
    pub fn identity(&self) -> u64 {
        self.identity
    }

    pub fn has_board(&self) -> bool {
        self.board().is_mine()
    }

    /// It had a board, which became another database's: nobody led for a minute, or the database is gone.
    pub fn lost_its_board(&self) -> bool {
        !matches!(self.board, SharedBoard::None) && !self.has_board()
    }

    /// The same database, if it has no board and a free one is there by now, or lost the one it had.
    pub fn with_board(&self, near: &NearStore, now: Duration) -> Option<Site> {
        if self.has_board() {
            return None;
        }
        let identity = self.outer.strip_prefix("%remote-")?;
        let again = Site::new(near, identity.as_bytes(), now)?;
        (again.has_board() || self.lost_its_board()).then_some(again)
    }

    pub fn board(&self) -> Board<'_> {
        let words = match &self.board {
            SharedBoard::Host(store, place) => store.board(*place),
            SharedBoard::Own(words) => words,
            SharedBoard::None => &NOBODYS,
        };
        Board::new(words, self.identity)
    }
}

/// The copies of one namespace.
pub(crate) struct Mounted {
    pub site: Arc<Site>,
    pub values: Arc<dyn Tier>,
    pub numbers: Arc<dyn Tier>,
    /// Of cached reads.
    #[cfg_attr(not(feature = "bindings"), allow(dead_code))]
    pub replies: Arc<dyn Tier>,
    /// The guards of their keys.
    #[cfg_attr(not(feature = "bindings"), allow(dead_code))]
    pub marks: Arc<dyn Tier>,
}
