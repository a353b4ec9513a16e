//! One remote database as a host knows it: by its identity it has copies and a board of its own.

use super::near::NearStore;
use crate::tier::Tier;
use polycache_host::Store;
use polycache_remote::{Board, BoardWords};
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
}

impl Site {
    /// `None` for a text that is no identity, and in a directory whose boards all are other databases'.
    pub fn new(near: &NearStore, identity: &[u8], now: Duration) -> Option<Site> {
        let text = std::str::from_utf8(identity).ok()?;
        let number = u64::from_str_radix(text.get(..16)?, 16).ok()?;
        if text.len() != 32 || u64::from_str_radix(&text[16..], 16).is_err() {
            return None;
        }
        let board = match near {
            NearStore::Host(store) => {
                let place = Board::find(store.boards(), number, now)?;
                SharedBoard::Host(store.clone(), place)
            }
            NearStore::Memory(_) => {
                let words: Box<BoardWords> = Box::default();
                Board::find(std::iter::once(&*words), number, now)?;
                SharedBoard::Own(words)
            }
        };
        Some(Site {
            outer: format!("%remote-{text}"),
            board,
            identity: number,
        })
    }

    pub fn board(&self) -> Board<'_> {
        let words = match &self.board {
            SharedBoard::Host(store, place) => store.board(*place),
            SharedBoard::Own(words) => words,
        };
        Board::new(words, self.identity)
    }
}

/// The copies of one namespace.
pub(crate) struct Mounted {
    pub site: Arc<Site>,
    pub values: Arc<dyn Tier>,
    pub numbers: Arc<dyn Tier>,
}
