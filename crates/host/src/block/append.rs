//! Appending: a record goes to the end of a block that the writer holds until the record is published.

use super::lanes::{Asking, Lane};
use super::{descriptor, BlockState};
use crate::engine::{Engine, Environment, Key, Participant};
use crate::error::Error;
use crate::layout::{MOST_PREPARED, RECORD_HEADER};
use crate::record::{checksum_of_entry, RecordHeader};
use crate::shared_memory::SharedMemory;

/// How often a writer asks every lane for a block before it gives up. It yields the processor between two
/// rounds.
const ROUNDS: u32 = 2_000;
/// Rounds after which it no longer waits for the writers that it met: they may have been stopped.
const PATIENT_ROUNDS: u32 = 100;

/// A held block with room.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenBlock {
    pub block: u64,
    pub sequence: u64,
    pub tail: u64,
    /// The number of the lane that it was taken from.
    pub lane: u64,
    /// It was taken for one large record, and the lane goes on with the block that it named.
    pub is_for_one: bool,
}

impl OpenBlock {
    /// What becomes of it when its holder leaves it.
    #[inline(always)]
    pub fn left(&self) -> BlockState {
        if self.is_for_one {
            BlockState::Sealed
        } else {
            BlockState::Open
        }
    }
}

/// What a writer remembers between two appends: the lane where it met no other writer. It holds nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Appender {
    lane: u64,
}

impl Appender {
    /// Begins at the lane with this number.
    #[must_use]
    pub fn at(lane: u64) -> Appender {
        Appender { lane }
    }

    /// The lane to begin at the next time.
    #[must_use]
    pub fn lane(self) -> u64 {
        self.lane
    }
}

/// A record that no word points to yet. Its block is held: `publish`, then `Engine::appended`.
#[must_use]
pub(crate) struct Appended {
    /// The record's location in units.
    pub location: u32,
    /// The record's count of clears.
    pub born: u64,
    /// The sequence number of its block.
    pub sequence: u64,
    pub(super) open: OpenBlock,
    /// Bytes of the record; of a value larger than a block, those of all its blocks.
    pub(super) size: u64,
}

impl<M: SharedMemory, E: Environment> Engine<M, E> {
    /// Writes a record at the end of a block and holds the block; one that does not fit a block goes to
    /// several. The caller publishes the record and then calls [`Engine::appended`]. A record that is given
    /// no `born` is born now: while its block is held, so that a survey either waits for it or has announced
    /// no target above it.
    ///
    /// # Errors
    /// `EntryTooLarge`, `NoSpace`, `Io`; `Closed` when this handle was closed meanwhile.
    pub(crate) fn append(
        &self,
        appender: &mut Appender,
        me: Participant,
        key: Key<'_>,
        entry: &[u8],
        born: Option<u64>,
    ) -> Result<Appended, Error> {
        let size = self.geometry.record_size(key.bytes.len(), entry.len());
        if size > self.geometry.block_size || key.bytes.len() > crate::layout::MAX_KEY {
            return self.append_large(appender, me, key, entry, born);
        }
        let returns = self.take_ghost(key.hash);
        let open = self.open_block(appender, me, size, returns)?;
        let born = born.unwrap_or_else(|| self.clears());
        let (location, tail) = self.write_record(&open, key, entry, born, size);
        self.note_expiry(polycache_entry::expires(entry));
        Ok(Appended {
            location,
            born,
            sequence: open.sequence,
            open: OpenBlock { tail, ..open },
            size,
        })
    }

    /// Counts the record of an append as dead, because another change of the key came first.
    pub(crate) fn never_published(&self, appended: &Appended) {
        if appended.size > self.geometry.block_size {
            return self.large_never_published(appended);
        }
        let at = u64::from(appended.location) * self.geometry.unit;
        self.count_dead(at, appended.size);
    }

    /// Ends an append: gives the block back, and pays for the space with a step of cleaning.
    pub(crate) fn appended(&self, appended: &Appended, me: Participant) {
        if appended.size > self.geometry.block_size {
            return self.large_appended(appended, me);
        }
        let open = &appended.open;
        self.leave_block(open.block, open.left());
        // The next record is probably as long as this one, and other cores may have the lines of its room.
        let next = open.block * self.geometry.block_size + open.tail;
        self.memory.prefetch_room(next, appended.size as usize);
        if self
            .geometry
            .is_in_another_step(open.tail - appended.size, open.tail)
        {
            self.pay(appended.size, open.lane, me);
        }
    }

    /// Holds a block with room for `size` bytes: the first lane from the appender's own on in which no
    /// other writer is. The entry of a key that returns goes to the main queue, unless others hold all of
    /// its lanes.
    #[inline]
    fn open_block(
        &self,
        appender: &mut Appender,
        me: Participant,
        size: u64,
        returns: bool,
    ) -> Result<OpenBlock, Error> {
        if returns {
            if let Some(open) = self.open_main_block(appender.lane, me, size) {
                return Ok(open);
            }
        }
        let lanes = self.geometry.write_lanes();
        // Another directory's may be more.
        let first = appender.lane.min(lanes - 1);
        if let Ok(Some(open)) = self.take_lane(Lane::Write(first), Asking::writer(me, size)) {
            return Ok(open);
        }
        self.any_open_block(appender, me, size)
    }

    #[cold]
    fn open_main_block(&self, first: u64, me: Participant, size: u64) -> Option<OpenBlock> {
        let lanes = self.geometry.keep_lanes();
        (first..first + lanes).find_map(|lane| {
            self.take_lane(Lane::Main(lane % lanes), Asking::writer(me, size))
                .ok()
                .flatten()
        })
    }

    /// As `open_block`, when another writer holds the block of the appender's lane, or there is none.
    #[cold]
    fn any_open_block(
        &self,
        appender: &mut Appender,
        me: Participant,
        size: u64,
    ) -> Result<OpenBlock, Error> {
        let lanes = self.geometry.write_lanes();
        let mut asking = Asking::writer(me, size);
        for round in 0..ROUNDS {
            if self.environment.is_closed() {
                return Err(Error::Closed);
            }
            asking.passes = round >= PATIENT_ROUNDS;
            let mut refused = None;
            for step in 0..lanes {
                let lane = (appender.lane + step) % lanes;
                match self.take_lane(Lane::Write(lane), asking) {
                    Ok(Some(open)) => {
                        appender.lane = lane;
                        return Ok(open);
                    }
                    Ok(None) => {}
                    Err(error) => refused = Some(error),
                }
            }
            if let Some(error) = refused.filter(|_| round > 0) {
                return Err(error);
            }
            self.back_off(round + 1, me);
        }
        Err(Error::NoSpace(
            "stopped processes hold every block that could be written to; end them, or raise the byte limit",
        ))
    }

    /// Writes a record to a held block; its location in units, and the block's tail after it.
    pub(super) fn write_record(
        &self,
        open: &OpenBlock,
        key: Key<'_>,
        entry: &[u8],
        born: u64,
        size: u64,
    ) -> (u32, u64) {
        let at = open.block * self.geometry.block_size + open.tail;
        let tail = open.tail + size;
        let header = RecordHeader {
            checksum: 0,
            key_len: key.bytes.len() as u32,
            flags: 0,
            entry_len: entry.len() as u32,
            hash_hi: key.hash.hi,
            // Without a bond yet.
            origin: open.sequence,
            born,
        };
        // A reader that sees one of these bytes must also see that the word of the record which lay here was
        // emptied, by whichever participant. So the fence stands between acquiring the block's state and the
        // first byte. No instruction on x86-64.
        self.memory.fence();
        let entry_at = open.tail + (RECORD_HEADER + key.bytes.len()) as u64;
        if self.geometry.is_to_be_prepared(open.tail, tail) {
            let first = tail.min(entry_at + MOST_PREPARED);
            self.environment.prepare(open.block, open.tail, first);
        }
        let header = header.encode(key.hash, checksum_of_entry(entry));
        self.memory.write_words(at, header);
        self.memory.write(at + RECORD_HEADER as u64, key.bytes);
        self.write_in_pieces(open.block, entry_at, entry);
        // The record is complete before the tail covers it, and the tail covers it before it is
        // published: a cleaner that walks to the tail meets every published record.
        self.set_field(open.block, descriptor::TAIL, tail);
        ((at / self.geometry.unit) as u32, tail)
    }

    /// Stores bytes at a place of a held block, of which the first piece was prepared.
    #[inline(always)]
    pub(super) fn write_in_pieces(&self, block: u64, place: u64, bytes: &[u8]) {
        let at = block * self.geometry.block_size + place;
        if bytes.len() <= MOST_PREPARED as usize {
            self.memory.write(at, bytes);
        } else {
            self.write_many_pieces(block, place, bytes);
        }
    }

    #[cold]
    fn write_many_pieces(&self, block: u64, place: u64, bytes: &[u8]) {
        let start = block * self.geometry.block_size;
        let mut place = place;
        for piece in bytes.chunks(MOST_PREPARED as usize) {
            let end = place + piece.len() as u64;
            self.environment.prepare(block, place, end);
            self.memory.write(start + place, piece);
            place = end;
        }
    }
}
