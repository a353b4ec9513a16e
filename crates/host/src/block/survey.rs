//! Surveys: a look at every slot, a chunk at a time, which removes entries that were cleared or have
//! expired.
//!
//! There are two reasons for one. Clears need the cells of floors that nothing lies below any more. And
//! when space is needed, the blocks of entries that are served no more are to be cleaned first: a removed
//! entry counts as dead bytes of its block. One survey does both.
//!
//! A survey belongs to no participant. Its state is one word; a caller looks at the chunk that the word
//! names, and then moves the word on by a compare-and-swap. So a chunk may be looked at twice and is never
//! left out, and a caller that was killed or stopped holds up no other.

use super::BlockState;
use crate::engine::{Engine, Environment, Record};
use crate::layout::{header, RECORD_HEADER};
use crate::record::RecordHeader;
use crate::shared_memory::SharedMemory;
use crate::word::State;
use polycache_entry::HEADER_LEN;

/// Slots of a chunk at least.
const CHUNK: u64 = 512;
const CHUNK_BITS: u32 = 17;
const TARGET_SHIFT: u32 = CHUNK_BITS + 1;
/// Chunks that a writer looks at for each step of bytes that it appends.
const CHUNKS_FOR_SPACE: u64 = 8;
/// Looks at a block that a writer holds: far more than an append takes, unless its process was stopped.
const LOOKS: u32 = 1_000;
/// Slots whose records are prefetched together.
const BATCH: u64 = 16;

/// A survey's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Survey {
    /// Floors up to this one end with it.
    target: u64,
    /// Every writer that held a block when the target was announced is done; else no floor ends.
    waited: bool,
    /// The chunk to look at next, plus one; 0: there was no survey yet.
    next: u64,
}

impl Survey {
    fn encode(self) -> u64 {
        self.target << TARGET_SHIFT | u64::from(self.waited) << CHUNK_BITS | self.next
    }

    fn decode(word: u64) -> Survey {
        Survey {
            target: word >> TARGET_SHIFT,
            waited: word >> CHUNK_BITS & 1 == 1,
            next: word & ((1 << CHUNK_BITS) - 1),
        }
    }
}

/// What a caller remembers from one slot to the next.
#[derive(Default)]
struct Memo {
    key: Vec<u8>,
    /// The prefix of the last key, and the floor for it.
    prefix: Vec<u8>,
    floor: u64,
    /// Bytes of the records that it removed.
    removed: u64,
}

impl<M: SharedMemory, E: Environment> Engine<M, E> {
    /// A clear was given a cell, so it looks at a chunk. A survey begins when an eighth of the cells was
    /// given since the last one began, and ends before another eighth is.
    pub(crate) fn survey_for_floors(&self) {
        if self.survey(self.chunks_for_floors()) {
            return;
        }
        let given = self.memory.load(header::CELLS_GIVEN);
        let since = given.wrapping_sub(self.memory.load(header::SURVEY_CELLS));
        if since >= self.open_floors() / 8 {
            // Without the writers no floor would end, and the clears that a survey takes would use up cells in vain.
            // So the next clear asks them again.
            self.begin_survey(true);
        }
    }

    /// Space is needed: looks at some chunks. A survey begins when something was cleared or has expired
    /// since the last one began; the less that one removed, the longer it is waited. False when none is
    /// under way.
    pub(super) fn survey_for_space(&self) -> bool {
        if self.survey(CHUNKS_FOR_SPACE) {
            return true;
        }
        let sequence = self.memory.load(header::SEQUENCE);
        let since = sequence.wrapping_sub(self.memory.load(header::SURVEY_SEQUENCE));
        if since < self.memory.load(header::SURVEY_PAUSE) {
            return false;
        }
        let expiry = self.memory.load(header::NEXT_EXPIRY);
        let has_expired = expiry != 0 && expiry <= self.environment.now();
        let is_due = has_expired || self.clears() != self.memory.load(header::SURVEY_CLEARS);
        is_due && self.begin_survey(false)
    }

    /// Notes when an entry expires; 0 is never.
    #[inline(always)]
    pub(super) fn note_expiry(&self, expires: u64) {
        if expires != 0 {
            let noted = self.memory.load(header::NEXT_EXPIRY);
            if noted == 0 || expires < noted {
                // Another's may be lost: it steers surveys, no more.
                self.memory.store(header::NEXT_EXPIRY, expires);
            }
        }
    }

    /// Looks at the next chunks of the survey that is under way; false when there is none.
    fn survey(&self, chunks: u64) -> bool {
        let mut word = self.memory.load(header::SURVEY);
        for _ in 0..chunks {
            let survey = Survey::decode(word);
            if survey.next == 0 || survey.next > self.chunks() {
                return false;
            }
            let removed = self.survey_chunk(survey.next - 1);
            self.memory.fetch_add(header::SURVEY_REMOVED, removed);
            let then = Survey {
                next: survey.next + 1,
                ..survey
            };
            // When it fails another caller has looked at this chunk.
            if self
                .memory
                .compare_exchange(header::SURVEY, word, then.encode())
                && then.next > self.chunks()
            {
                self.survey_ended(then);
            }
            word = self.memory.load(header::SURVEY);
        }
        true
    }

    /// Begins a survey unless one is under way; true when one is. Its target is the count of clears when
    /// the last one began, so that only loads older than a whole survey are refused because of it.
    ///
    /// `for_floors` asks for one with which floors end: it is not begun while a writer keeps it waiting.
    #[cold]
    fn begin_survey(&self, for_floors: bool) -> bool {
        let word = self.memory.load(header::SURVEY);
        let last = Survey::decode(word);
        if last.next != 0 && last.next <= self.chunks() {
            return true;
        }
        // Its last caller may have been killed before it said so.
        self.end_floors(last);
        let clears = self.clears();
        let target = self.memory.load(header::SURVEY_CLEARS);
        if target >> (u64::BITS - TARGET_SHIFT) != 0 {
            return false;
        }
        // Before the look at the writers, and before any caller looks at a chunk: what is born below the
        // target from now on is not stored.
        self.memory.fetch_max(header::FLOOR_TARGET, target);
        let waited = self.wait_for_writers();
        if for_floors && !waited {
            return false;
        }
        let next = Survey {
            target,
            waited,
            next: 1,
        };
        if self
            .memory
            .compare_exchange(header::SURVEY, word, next.encode())
        {
            if waited {
                let given = self.memory.load(header::CELLS_GIVEN);
                self.memory.store(header::SURVEY_CELLS, given);
            }
            let sequence = self.memory.load(header::SEQUENCE);
            self.memory.store(header::SURVEY_CLEARS, clears);
            self.memory.store(header::SURVEY_SEQUENCE, sequence);
            self.memory.store(header::SURVEY_REMOVED, 0);
            self.memory.store(header::NEXT_EXPIRY, 0);
        }
        true
    }

    /// Every slot was looked at.
    fn survey_ended(&self, survey: Survey) {
        self.end_floors(survey);
        let blocks = self.geometry.blocks;
        let little = self.memory.load(header::SURVEY_REMOVED) < self.geometry.blocks_len() / 32;
        let pause = self.memory.load(header::SURVEY_PAUSE);
        let pause = if little { pause * 2 } else { 0 };
        let pause = pause.clamp((blocks / 32).max(1), blocks.max(1));
        self.memory.store(header::SURVEY_PAUSE, pause);
    }

    fn end_floors(&self, survey: Survey) {
        if survey.waited {
            self.memory.fetch_max(header::FLOORS_ENDED, survey.target);
        }
    }

    /// Waits for the writers that hold a block now: what they publish may have been born before the
    /// target was announced. False when one of them takes too long.
    fn wait_for_writers(&self) -> bool {
        (0..self.geometry.blocks).all(|block| {
            let seen = self.look_at_block(block);
            let BlockState::Appending(by) = seen.state else {
                return true;
            };
            // A large value takes long to write, and notes its `born` only after that.
            if self.is_before_birth(block) {
                return true;
            }
            let is_done = (0..LOOKS).any(|_| {
                std::hint::spin_loop();
                self.look_at_block(block).word != seen.word
            });
            is_done || !self.is_alive(by)
        })
    }

    /// Chunks of all opened levels. When a level opens during a survey, it has more; and one that has ended goes on
    /// in that level. Neither is needed, nor does it harm: what stands in a level that was opened after the
    /// writers were waited for was stored after that, so it was born at the target or later.
    fn chunks(&self) -> u64 {
        self.open_slots().div_ceil(self.chunk_len())
    }

    /// It follows from all levels, opened or not, so that a chunk's number means the same slots as long as a
    /// survey takes.
    pub(crate) fn chunk_len(&self) -> u64 {
        CHUNK.max(self.geometry.slots() >> (CHUNK_BITS - 1))
    }

    /// So many that a survey ends before an eighth of the cells is given.
    fn chunks_for_floors(&self) -> u64 {
        self.chunks().div_ceil(self.open_floors() / 8).max(1)
    }

    fn open_floors(&self) -> u64 {
        self.geometry.floors_in(self.levels())
    }

    /// Removes what is not served of a chunk; how many bytes these entries had.
    fn survey_chunk(&self, chunk: u64) -> u64 {
        let mut memo = Memo::default();
        let from = chunk * self.chunk_len();
        let until = self.open_slots().min(from + self.chunk_len());
        let mut slot = from;
        while slot < until {
            let batch = slot..until.min(slot + BATCH);
            for slot in batch.clone() {
                let word = self.word(slot);
                if word.state() == State::Value {
                    self.memory
                        .prefetch_record(u64::from(word.location()) * self.geometry.unit);
                }
            }
            slot = batch.end;
            batch.for_each(|slot| self.survey_slot(slot, &mut memo));
        }
        memo.removed
    }

    /// Removes a slot's entry if it was cleared or has expired.
    fn survey_slot(&self, slot: u64, memo: &mut Memo) {
        loop {
            let word = self.word(slot);
            let at = u64::from(word.location()) * self.geometry.unit;
            if word.state() != State::Value || !self.geometry.may_hold_record(at) {
                return;
            }
            let header = RecordHeader::parse(&self.memory.read_array(at));
            let record = Record { at, header };
            let size = header.bytes_within(&self.geometry, at);
            // No clear came since it was born, mostly: then its key is of no concern.
            let may_be_cleared = header.born < self.clears();
            let mut entry = [0; HEADER_LEN];
            if size.is_some() {
                entry = self.memory.read_array(record.entry_at());
                memo.key.clear();
                if may_be_cleared {
                    let (from, len) = (at + RECORD_HEADER as u64, header.key_len as usize);
                    self.memory.read(from, len, &mut memo.key);
                }
            }
            self.memory.fence();
            if self.word(slot) != word {
                continue;
            }
            // Damage is for `check` to find.
            let Some(size) = size else {
                return;
            };
            let floor = if may_be_cleared {
                self.floor_by_memo(memo)
            } else {
                0
            };
            let expires = polycache_entry::expires(&entry);
            // One from the future stays: the clock may have been set back.
            let has_expired = expires != 0 && expires <= self.environment.now();
            if header.born >= floor && !has_expired {
                self.note_expiry(expires);
                return;
            }
            // Counted first: a reader that misses the entry finds the counter increased.
            self.memory.fetch_add(header::EXPIRED, 1);
            if self.swap_out(slot, word, word.to_empty(), &record) {
                memo.removed += size;
                return;
            }
        }
    }

    /// The floor for the key. Few namespaces have most keys, so the last one is remembered for a chunk; a
    /// floor that rises meanwhile belongs to a later survey.
    fn floor_by_memo(&self, memo: &mut Memo) -> u64 {
        if memo.prefix.is_empty() || !memo.key.starts_with(&memo.prefix) {
            memo.floor = self.floor_of_key(&memo.key);
            let end = memo.key.windows(2).position(|pair| pair == b"::");
            memo.prefix.clear();
            memo.prefix
                .extend_from_slice(&memo.key[..end.map_or(0, |end| end + 2)]);
        }
        memo.floor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_surveys_word_comes_back() {
        for (target, waited, next) in [(0, false, 0), (7, true, 1), ((1 << 46) - 1, true, 1 << 16)]
        {
            let survey = Survey {
                target,
                waited,
                next,
            };
            assert_eq!(Survey::decode(survey.encode()), survey);
        }
    }
}
