//! Keys of entries that left the small queue, without the entries.
//!
//! A ring of the latest ones, chained by their hash. A new ghost becomes the first of its chain, so
//! overwritten ghosts, which are older than all others, are at the chain's end: a search stops at the
//! first that is too old, and forgetting one needs no removal.

/// At most this many are remembered, so that ages fit in 32 bits.
const MOST: usize = 1 << 31;

/// The latest keys that left. A key is 32 bits of its hash: two keys with the same bits count as one,
/// which only costs an entry its proper queue.
#[derive(Debug, Default)]
pub(crate) struct Ghosts {
    /// Indexed by their numbers. Its length, the number of ghosts kept, is a power of two, or 0.
    ring: Box<[Ghost]>,
    /// Indexed by hash: the number of the latest ghost in that chain.
    chains: Box<[u32]>,
    /// Number of ghosts so far, which is the number of the next one. It may wrap: ages are differences.
    buried: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Ghost {
    hash: u32,
    /// The insertions so far when the entry was inserted.
    born: u32,
    /// The number of the previous ghost in its chain; its own number once its key came back.
    before: u32,
}

impl Ghosts {
    /// Remembers a key that leaves. It is not remembered yet, because it was taken when it came.
    #[inline]
    pub fn bury(&mut self, hash: u32, born: u32) {
        let number = self.buried;
        let (place, chain) = (self.place(number), self.place(hash));
        let (Some(ghost), Some(latest)) = (self.ring.get_mut(place), self.chains.get_mut(chain))
        else {
            return;
        };
        let before = std::mem::replace(latest, number);
        *ghost = Ghost { hash, born, before };
        self.buried = number.wrapping_add(1);
    }

    /// When the key's entry was inserted, if the key is among the last `most` that left. The key is then
    /// forgotten.
    #[inline]
    pub fn take(&mut self, hash: u32, most: usize) -> Option<u32> {
        let chain = self.place(hash);
        let (mut later, mut age) = (None::<usize>, 0);
        let mut number = *self.chains.get(chain)?;
        loop {
            let place = self.place(number);
            let older = self.buried.wrapping_sub(number);
            if older <= age || older as usize > self.ring.len() {
                return None;
            }
            age = older;
            let ghost = &mut self.ring[place];
            if ghost.hash == hash {
                let (born, before) = (ghost.born, ghost.before);
                ghost.before = number;
                match later {
                    None => self.chains[chain] = before,
                    Some(later) => self.ring[later].before = before,
                }
                return (age as usize <= most).then_some(born);
            }
            later = Some(place);
            number = ghost.before;
        }
    }

    /// Remembers at least this many from now on.
    #[inline]
    pub fn keep(&mut self, most: usize) {
        if most > self.ring.len() && self.ring.len() < MOST {
            self.grow(most);
        }
    }

    #[cold]
    fn grow(&mut self, most: usize) {
        let len = most.next_power_of_two().min(MOST);
        let old = std::mem::take(self);
        let begin = old.buried.wrapping_sub(len as u32);
        self.ring = vec![Ghost::default(); len].into();
        self.chains = vec![begin.wrapping_sub(1); len].into();
        for age in (1..=len).rev() {
            let number = old.buried.wrapping_sub(age as u32);
            let known = old
                .ring
                .get(old.place(number))
                .filter(|_| age <= old.ring.len());
            self.buried = number;
            match known {
                Some(ghost) if ghost.before != number => self.bury(ghost.hash, ghost.born),
                _ => {
                    // No ghost has this number: mark the place as if its key had come back.
                    let place = self.place(number);
                    self.ring[place].before = number;
                }
            }
        }
        self.buried = old.buried;
    }

    /// Of a number in the ring, of a hash among the chains.
    #[inline]
    fn place(&self, number: u32) -> usize {
        number as usize & self.ring.len().wrapping_sub(1)
    }
}
