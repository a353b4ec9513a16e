//! Which blocks are worth cleaning: those of which much is dead.
//!
//! To find them, all descriptors are looked at, and other processes write to these lines: a look at one that another
//! core wrote last takes as long as half a put. So a handle notes several at each look and takes those first. A block
//! only gets deader until it is cleaned, so a note stays right, or another cleaner took the block.

use super::choose::Victim;
use super::BlockState;
use crate::engine::{Engine, Environment};
use crate::shared_memory::SharedMemory;
use std::sync::atomic::{AtomicU32, Ordering};

/// A block is nearly dead when no more than one of so many parts of it lives.
const NEARLY_DEAD: u64 = 8;
/// Blocks that are noted at a look.
const NOTED: usize = 8;

/// Sealed blocks that a handle found worth cleaning: numbers plus one, 0 for none. Threads may overwrite each other's
/// notes; each block is looked at again before it is taken.
#[derive(Default)]
pub struct Notes([AtomicU32; NOTED]);

/// The sealed blocks with the fewest live bytes that a look came across, the fewest first.
#[derive(Default)]
pub(super) struct Worthiest([Option<(u64, Victim)>; NOTED]);

impl Worthiest {
    pub fn add(&mut self, live: u64, victim: Victim) {
        let is_before = |other: &Option<(u64, Victim)>| other.is_some_and(|(less, _)| less <= live);
        let place = self.0.partition_point(is_before);
        if place < NOTED {
            self.0[place..].rotate_right(1);
            self.0[place] = Some((live, victim));
        }
    }
}

impl<M: SharedMemory, E: Environment> Engine<M, E> {
    /// Of the blocks that are noted, the one with the fewest live bytes, and how many these are.
    pub(super) fn noted(&self) -> Option<(u64, Victim)> {
        let mut best: Option<(u64, Victim)> = None;
        for note in &self.notes.0 {
            let Some(block) = note.load(Ordering::Relaxed).checked_sub(1) else {
                continue;
            };
            match self.if_worth_cleaning(u64::from(block)) {
                Some(found) if best.is_none_or(|best| found.0 < best.0) => best = Some(found),
                Some(_) => {}
                None => note.store(0, Ordering::Relaxed),
            }
        }
        best
    }

    /// Notes what a look at all blocks came across.
    pub(super) fn note(&self, worthiest: &Worthiest) {
        for (note, found) in self.notes.0.iter().zip(&worthiest.0) {
            let noted = found.map_or(0, |(_, victim)| victim.block as u32 + 1);
            note.store(noted, Ordering::Relaxed);
        }
    }

    /// A block of which nearly all is dead: a noted one, else the sealed one with the fewest live bytes.
    pub(crate) fn choose_nearly_dead(&self) -> Option<Victim> {
        let most = self.geometry.block_size / NEARLY_DEAD;
        let nearly_dead = |found: Option<(u64, Victim)>| {
            found.and_then(|(live, victim)| (live <= most).then_some(victim))
        };
        nearly_dead(self.noted()).or_else(|| nearly_dead(self.look_for_worth()))
    }

    #[cold]
    fn look_for_worth(&self) -> Option<(u64, Victim)> {
        let mut worthiest = Worthiest::default();
        for block in 0..self.geometry.blocks {
            if let Some((live, victim)) = self.if_worth_cleaning(block) {
                worthiest.add(live, victim);
            }
        }
        self.note(&worthiest);
        worthiest.0[0]
    }

    /// The block with its live bytes, if it is sealed and mostly dead.
    fn if_worth_cleaning(&self, block: u64) -> Option<(u64, Victim)> {
        let seen = self.look_at_block(block);
        let is_worth_it =
            seen.state == BlockState::Sealed && self.is_mostly_dead(block, BlockState::Sealed);
        is_worth_it.then(|| (self.live_bytes(block), Victim { block, seen }))
    }
}
