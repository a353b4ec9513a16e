//! Floors: clearing a namespace in constant time.
//!
//! A clear adds one to the count of clears and raises the floor of its namespace to that. A record is
//! served only if it was born at or above the floors of all enclosing namespaces.
//!
//! The root has a cell of its own. Every other namespace has one of the sixteen cells of two sets, or of two
//! more of each level of the index that was opened. A cell is two words, each with a floor and a half of the
//! namespace's name; it counts when both halves are the name's, and then the smaller of its floors does. So
//! each change is one compare-and-swap, and no word returns, because no two clears have the same number.
//!
//! A floor ends when a survey (`block/survey.rs`) has removed every record below it; then its cell is given to the
//! next namespace that wants one. A clear that finds no such cell raises the floor of a group of
//! namespaces instead: that clears too much, which a cache may do, and it is counted.

use crate::engine::{Engine, Environment};
use crate::hash::key_hash;
use crate::keys::ancestors;
use crate::layout::{header, FLOOR_GROUPS, FLOOR_SET};
use crate::shared_memory::SharedMemory;

/// Bits of a name's half; the rest of a word is the floor.
const HALF_BITS: u32 = 16;
const HALF_MASK: u64 = (1 << HALF_BITS) - 1;
/// Floors from here on are damage, and count as none.
const IMPOSSIBLE: u64 = 1 << 46;
/// In a word of a cell: it was given to its namespace before the disk showed that the floor of before had ended.
const EARLY: u64 = 1 << 62;

/// The floor in a half of a cell.
fn floor_in(word: u64) -> u64 {
    let floor = (word & !EARLY) >> HALF_BITS;
    if floor < IMPOSSIBLE {
        floor
    } else {
        0
    }
}

/// Both halves of a namespace's name, never 0, which stands for no name. The sets are chosen by other bits.
fn halves(name: u64) -> [u64; 2] {
    [name >> 32 & HALF_MASK, name >> 48].map(|half| half.max(1))
}

fn with_floor(floor: u64, half: u64) -> u64 {
    floor << HALF_BITS | half
}

/// A cell that a namespace may be given.
struct Candidate {
    /// It is free on the disk, too; free cells of its set.
    rank: (bool, u64),
    at: (usize, usize),
    words: [u64; 2],
}

impl<M: SharedMemory, E: Environment> Engine<M, E> {
    /// Clears everything born before now in the namespace whose prefix has this hash. Once it returns,
    /// no reader anywhere is served an older entry of that namespace.
    pub fn raise_floor(&self, name: u64, root: u64) {
        let mut is_new = false;
        loop {
            let clears = self.memory.fetch_add(header::CLEARS, 1) + 1;
            let standing = if name == root {
                self.root_floor()
            } else {
                self.root_floor().max(self.lookup(name))
            };
            if standing > clears {
                // A damaged floor: what is stored from now on must be born above it.
                self.memory.fetch_max(header::CLEARS, standing);
                continue;
            }
            if name == root {
                self.lift(header::ROOT_FLOOR, 0, clears);
                self.lift(header::ROOT_FLOOR + 8, 0, clears);
            } else {
                is_new |= self.raise(name, clears);
            }
            // A survey that was announced meanwhile may not have seen this floor.
            let target = self.memory.load(header::FLOOR_TARGET);
            // Nor may a flush that began meanwhile have written this floor: its mark says so of floors up to
            // its own number.
            let barred = target.max(self.memory.load(header::FLUSH_CLEARS));
            if barred < clears || barred >= IMPOSSIBLE {
                break;
            }
            self.memory.fetch_max(header::CLEARS, barred);
        }
        self.memory.fetch_add(header::EPOCH, 1);
        if is_new {
            self.survey_for_floors();
        }
    }

    /// Raises the floor of a namespace in its cell; true when it was given one for that.
    fn raise(&self, name: u64, clears: u64) -> bool {
        let mine = halves(name);
        loop {
            // Before the cells: a floor that ends meanwhile still counts.
            let ended = self.floors_ended();
            let ended_on_disk = self.memory.load(header::MARK_FLOORS_ENDED);
            // A cell that is free on the disk as well, if there is one; of these, one of the emptier set, so that
            // none fills while others are empty.
            let mut best: Option<Candidate> = None;
            for set in self.sets(name) {
                let mut free = 0;
                let mut found: Option<((usize, usize), [u64; 2], bool)> = None;
                for (first, second) in self.cells(set) {
                    let words = [self.memory.load(first), self.memory.load(second)];
                    if [words[0] & HALF_MASK, words[1] & HALF_MASK] == mine
                        && self.lift(first, mine[0], clears)
                        && self.lift(second, mine[1], clears)
                    {
                        return false;
                    }
                    if words.iter().all(|word| floor_in(*word) <= ended) {
                        free += 1;
                        let is_early = words.iter().any(|word| floor_in(*word) > ended_on_disk);
                        if found.is_none_or(|(.., was_early)| was_early && !is_early) {
                            found = Some(((first, second), words, is_early));
                        }
                    }
                }
                if let Some((at, words, is_early)) = found {
                    let rank = (!is_early, free);
                    if best.as_ref().is_none_or(|best| rank > best.rank) {
                        best = Some(Candidate { rank, at, words });
                    }
                }
            }
            let Some(Candidate {
                rank: (is_free_on_disk, _),
                at: (first, second),
                words,
            }) = best
            else {
                self.memory.fetch_add(header::FLOOR_OVERFLOWS, 1);
                self.lift(self.group(name), 0, clears);
                // As if a cell were given: surveys must go on.
                self.memory.fetch_add(header::CELLS_GIVEN, 1);
                return true;
            };
            let early = if is_free_on_disk { 0 } else { EARLY };
            let [a, b] = mine.map(|half| with_floor(clears, half) | early);
            if self.memory.compare_exchange(first, words[0], a)
                && self.memory.compare_exchange(second, words[1], b)
            {
                self.memory.fetch_add(header::CELLS_GIVEN, 1);
                return true;
            }
        }
    }

    /// Raises the floor in a word; false when the word is another namespace's by now.
    fn lift(&self, at: usize, half: u64, clears: u64) -> bool {
        loop {
            let word = self.memory.load(at);
            if half != 0 && word & HALF_MASK != half {
                return false;
            }
            // What the cell said before is of no concern once a mark shows that it was given.
            let is_marked = floor_in(word) <= self.memory.load(header::MARK_CLEARS);
            let early = if is_marked { 0 } else { word & EARLY };
            let higher = with_floor(clears, half) | early;
            if floor_in(word) >= clears || self.memory.compare_exchange(at, word, higher) {
                return true;
            }
        }
    }

    /// The highest floor of these namespaces, the root's first. A caller looks at a record's word after
    /// this: a floor that has ended is found no more, but then the survey has changed the word.
    pub fn floor_of(&self, names: &[u64]) -> u64 {
        names
            .iter()
            .skip(1)
            .map(|name| self.lookup(*name))
            .fold(self.root_floor(), u64::max)
    }

    /// The floor for a full key, from the namespaces in it.
    pub(crate) fn floor_of_key(&self, full_key: &[u8]) -> u64 {
        if self.clears() == 0 {
            return 0;
        }
        ancestors(full_key)
            .skip(1)
            .map(|prefix| self.lookup(key_hash(self.seed, &prefix).as_u64()))
            .fold(self.root_floor(), u64::max)
    }

    /// Clears so far: the `born` of a value that is made from now on.
    #[inline(always)]
    pub fn clears(&self) -> u64 {
        self.memory.load(header::CLEARS)
    }

    /// True while a value that was made at this count of clears may be stored, as far as floors are
    /// concerned that a survey ends.
    #[inline(always)]
    pub(crate) fn may_store(&self, born: u64) -> bool {
        born >= self.memory.load(header::FLOOR_TARGET)
    }

    /// Floors up to this one need no cell.
    pub(crate) fn floors_ended(&self) -> u64 {
        self.memory
            .load(header::FLOORS_ENDED)
            .max(self.root_floor())
    }

    fn root_floor(&self) -> u64 {
        let half = |at| floor_in(self.memory.load(at));
        half(header::ROOT_FLOOR).min(half(header::ROOT_FLOOR + 8))
    }

    fn lookup(&self, name: u64) -> u64 {
        let mine = halves(name);
        let mut floor = floor_in(self.memory.load(self.group(name)));
        for set in self.sets(name) {
            for (first, second) in self.cells(set) {
                let word = self.memory.load(first);
                if word & HALF_MASK != mine[0] {
                    continue;
                }
                let other = self.memory.load(second);
                if other & HALF_MASK == mine[1] {
                    floor = floor.max(floor_in(word).min(floor_in(other)));
                }
            }
        }
        floor
    }

    fn group(&self, name: u64) -> usize {
        self.geometry.floors_at + (name % FLOOR_GROUPS) as usize * 8
    }

    /// The sets that may hold the cell of a namespace: two of those that came with each opened level. A clear
    /// uses no others than a reader looks at that begins after it, since levels are never closed.
    fn sets(&self, name: u64) -> impl Iterator<Item = u64> {
        let geometry = self.geometry;
        // Other bits than the first's, and all of them.
        let second = (name ^ 0x5851_f42d_4c95_7f2d).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        (0..self.levels()).flat_map(move |level| {
            let mask = geometry.floors_of(level) / FLOOR_SET - 1;
            let before = geometry.floors_in(level) / FLOOR_SET;
            [name, second].map(|choice| before + (choice & mask))
        })
    }

    /// Offsets of both words of each cell of a set. First words share a cache line, as second words do.
    fn cells(&self, set: u64) -> impl Iterator<Item = (usize, usize)> {
        let at = self.geometry.floors_at + (FLOOR_GROUPS + set * 2 * FLOOR_SET) as usize * 8;
        (0..FLOOR_SET as usize)
            .map(move |cell| (at + cell * 8, at + (cell + FLOOR_SET as usize) * 8))
    }

    /// Offsets of every word with a floor.
    fn floor_words(&self) -> impl Iterator<Item = usize> {
        let words = FLOOR_GROUPS + self.geometry.floors_in(self.levels()) * 2;
        let at = self.geometry.floors_at;
        [header::ROOT_FLOOR, header::ROOT_FLOOR + 8]
            .into_iter()
            .chain((0..words as usize).map(move |word| at + word * 8))
    }

    /// Recovery: raises the count of clears to the highest floor, or entries stored from now on would not
    /// be served. The count may have reached the disk before the floors did. A survey that was under way is
    /// begun anew; a floor whose end is not on the disk has not ended, because the entries that the survey
    /// removed may be back.
    pub(crate) fn recover_floors(&self) {
        let counts = [
            header::FLOOR_TARGET,
            header::FLOORS_ENDED,
            header::SURVEY_CLEARS,
            header::FLUSH_CLEARS,
            header::MARK_CLEARS,
        ];
        let counts = counts.map(|at| self.memory.load(at));
        let floors = self.floor_words().map(|at| floor_in(self.memory.load(at)));
        let possible = floors.chain(counts).filter(|count| *count < IMPOSSIBLE);
        let highest = possible.fold(0, u64::max);
        self.memory.fetch_max(header::CLEARS, highest);
        self.memory.store(header::SURVEY, 0);
        let ended = self.memory.load(header::MARK_FLOORS_ENDED);
        self.memory.store(header::FLOORS_ENDED, ended);
    }

    /// Recovery: what a record of this key must at least be born at to be kept. Beside the floors, there are those
    /// that are known no more: of a cell that was given away since the mark, though the disk did not show that the
    /// floor of before had ended. No such floor was higher than the count of clears in the mark, as far as it matters:
    /// later clears may be undone.
    pub(crate) fn floor_on_disk(&self, full_key: &[u8]) -> u64 {
        let marked = self.memory.load(header::MARK_CLEARS);
        let is_lost = |at: usize| {
            let word = self.memory.load(at);
            word & EARLY != 0 && floor_in(word) > marked
        };
        let lost = ancestors(full_key).skip(1).any(|prefix| {
            let name = key_hash(self.seed, &prefix).as_u64();
            self.sets(name).any(|set| {
                self.cells(set)
                    .any(|(first, second)| is_lost(first) || is_lost(second))
            })
        });
        let floor = self.floor_of_key(full_key);
        if lost {
            floor.max(marked)
        } else {
            floor
        }
    }

    /// Floors above the count of clears: no clear has raised these.
    pub(crate) fn damaged_floors(&self) -> u64 {
        let floors = self.floor_words().map(|at| (at, HALF_BITS));
        floors
            .chain([(header::FLOOR_TARGET, 0), (header::FLOORS_ENDED, 0)])
            // The floor first: a clear counts before it raises one.
            .filter(|(at, shift)| {
                let word = self.memory.load(*at);
                let floor = if *shift == 0 {
                    word
                } else {
                    (word & !EARLY) >> shift
                };
                floor > self.clears()
            })
            .count() as u64
    }
}
