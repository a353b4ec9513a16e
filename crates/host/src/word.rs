//! The 64-bit slot word: the state of a key's slot in the index at one instant (`spec/host.md`).
//!
//! ```text
//! low  32 bits  ver: state:2 | tag:10 | gen:20     the half that JavaScript loads atomically
//! high 32 bits  loc: VALUE: record's offset in units | LEASE: owner:12, deadline:20 | EMPTY: 0
//! ```

const STATE_SHIFT: u32 = 30;
pub(crate) const TAG_SHIFT: u32 = 20;
const GENERATION_BITS: u32 = 20;
const GENERATION_MASK: u32 = (1 << GENERATION_BITS) - 1;
/// The epoch moves whenever a new generation is a multiple of this, twice per lap, so that a repeated
/// generation is never mistaken for the one a reader remembers.
const EPOCH_EVERY: u32 = 1 << (GENERATION_BITS - 1);
/// Ticks of a lease's deadline are sixteenths of a second, modulo 2^20 (18.2 hours).
const DEADLINE_BITS: u32 = 20;
const DEADLINE_MASK: u32 = (1 << DEADLINE_BITS) - 1;
/// The longest lease, 8 hours, in ticks.
pub const MAX_LEASE_TICKS: u32 = 8 * 3600 * 16;

/// State and tag of an empty slot.
pub const EMPTY: u32 = 0;

/// State and tag of a value.
#[inline(always)]
#[must_use]
pub const fn value_of(tag: u32) -> u32 {
    (2 << 10) | tag
}

/// State and tag of a lease.
#[inline(always)]
#[must_use]
pub const fn lease_of(tag: u32) -> u32 {
    (1 << 10) | tag
}

/// What a slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing.
    Empty,
    /// The right to load a key with this tag.
    Lease,
    /// A record's location.
    Value,
}

/// One slot's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word(pub u64);

impl Word {
    /// What the slot holds. The fourth bit pattern is never written; it reads as `Empty`.
    #[inline(always)]
    #[must_use]
    pub fn state(self) -> State {
        match (self.0 as u32) >> STATE_SHIFT {
            1 => State::Lease,
            2 => State::Value,
            _ => State::Empty,
        }
    }

    /// The ten hash bits that a reader compares before it reads a record.
    #[inline(always)]
    #[must_use]
    pub fn tag(self) -> u32 {
        (self.0 as u32 >> TAG_SHIFT) & 0x3ff
    }

    /// True when the word's state and tag are these twelve bits: of a value, a lease ([`value_of`],
    /// [`lease_of`]) or an empty slot ([`EMPTY`]).
    #[inline(always)]
    #[must_use]
    pub fn begins_with(self, beginning: u32) -> bool {
        (self.0 as u32) >> TAG_SHIFT == beginning
    }

    /// True for a `Value` of this tag: one compare on the hot path.
    #[inline(always)]
    #[must_use]
    pub fn is_value_of(self, tag: u32) -> bool {
        self.begins_with(value_of(tag))
    }

    /// True for a `Lease` of this tag.
    #[inline(always)]
    #[must_use]
    pub fn is_lease_of(self, tag: u32) -> bool {
        self.begins_with(lease_of(tag))
    }

    /// Number of changes of this slot, modulo 2^20.
    #[inline(always)]
    #[must_use]
    pub fn generation(self) -> u32 {
        self.0 as u32 & GENERATION_MASK
    }

    /// True when this is the slot's very next word.
    #[must_use]
    pub fn follows(self, before: Word) -> bool {
        self.generation() == before.generation().wrapping_add(1) & GENERATION_MASK
    }

    /// What the record that this word publishes in this slot carries: [`crate::record::RecordHeader::bond`].
    /// Two words of a slot have the same one only a lap apart; of two slots, hardly ever.
    #[inline(always)]
    #[must_use]
    pub fn bond(self, slot: u64) -> u32 {
        let mixed = slot.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - GENERATION_BITS);
        mixed as u32 ^ self.generation()
    }

    /// A value's offset, in units.
    #[inline(always)]
    #[must_use]
    pub fn location(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// A lease's participant.
    #[must_use]
    pub fn owner(self) -> u32 {
        self.location() >> DEADLINE_BITS
    }

    /// True when a lease's deadline is no longer ahead of `ticks`. Deadlines wrap around after 18.2
    /// hours; one that is further ahead than the longest lease counts as past.
    #[must_use]
    pub fn expired_at(self, ticks: u32) -> bool {
        let ahead = (self.location() & DEADLINE_MASK).wrapping_sub(ticks) & DEADLINE_MASK;
        // One tick more, because two processes may read the ticks on either side of an edge.
        ahead > MAX_LEASE_TICKS + 1
    }

    fn next(self, state: u32, tag: u32, location: u32) -> Word {
        let generation = self.generation().wrapping_add(1) & GENERATION_MASK;
        let ver = (state << STATE_SHIFT) | (tag << TAG_SHIFT) | generation;
        Word((u64::from(location) << 32) | u64::from(ver))
    }

    /// The word that empties this slot.
    #[must_use]
    pub fn to_empty(self) -> Word {
        self.next(0, 0, 0)
    }

    /// The word that leases this slot to `owner` until `deadline` ticks.
    #[must_use]
    pub fn to_lease(self, tag: u32, owner: u32, deadline: u32) -> Word {
        self.next(
            1,
            tag,
            (owner << DEADLINE_BITS) | (deadline & DEADLINE_MASK),
        )
    }

    /// The word that publishes a record.
    #[must_use]
    pub fn to_value(self, tag: u32, location: u32) -> Word {
        self.next(2, tag, location)
    }

    /// True when the epoch must move before this word is written.
    #[inline(always)]
    #[must_use]
    pub fn needs_epoch(self) -> bool {
        self.generation() % EPOCH_EVERY == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_moves_the_generation_through_all_states_and_tags() {
        let mut word = Word(0);
        for (step, tag) in (1..3000u32).zip((0..1024).cycle()) {
            let next = match step % 3 {
                0 => word.to_empty(),
                1 => word.to_lease(tag, 4095, step),
                _ => word.to_value(tag, u32::MAX),
            };
            assert_eq!(next.generation(), word.generation() + 1);
            word = next;
        }
    }

    #[test]
    fn the_epoch_moves_twice_a_lap() {
        let mut word = Word(0);
        let mut moved = 0;
        for _ in 0..(1 << 20) {
            word = word.to_empty();
            moved += u32::from(word.needs_epoch());
        }
        assert_eq!((word.generation(), moved), (0, 2));
    }

    #[test]
    fn deadlines_compare_across_the_wrap() {
        let lease = |deadline| Word(0).to_lease(1, 2, deadline);
        assert!(!lease(10).expired_at(10));
        assert!(lease(10).expired_at(11));
        assert!(!lease((1 << 20) + 5).expired_at((1 << 20) - 5));
        assert!(lease((1 << 20) - 5).expired_at((1 << 20) + 5));
    }

    #[test]
    fn a_bond_tells_the_words_of_a_slot_apart() {
        let mut bonds = std::collections::HashSet::new();
        let mut word = Word(0);
        for _ in 0..1 << GENERATION_BITS {
            word = word.to_value(7, 0);
            assert!(bonds.insert(word.bond(5)) && word.bond(5) >> GENERATION_BITS == 0);
        }
        let near = (0..1000).filter(|slot| word.bond(*slot) == word.bond(slot + 1));
        assert_eq!(near.count(), 0);
    }

    #[test]
    fn fields_come_back() {
        let word = Word(0).to_value(1023, 77);
        assert_eq!(
            (word.state(), word.tag(), word.location()),
            (State::Value, 1023, 77)
        );
        assert!(word.is_value_of(1023) && !word.is_value_of(1022) && !word.is_lease_of(1023));
        let lease = word.to_lease(5, 4095, 9);
        assert_eq!(
            (lease.state(), lease.owner(), lease.generation()),
            (State::Lease, 4095, 2)
        );
    }
}
