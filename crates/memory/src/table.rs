//! A hash table whose items keep their index.
//!
//! Items of one bucket are chained through their slots: finding an item takes a look at its bucket and
//! one at its slot, and inserting or removing one takes two writes. A caller that keeps more data of an
//! item elsewhere finds it by the index.

/// No index.
const NONE: u32 = u32::MAX;
/// Initial number of buckets.
const FEWEST: usize = 8;
/// Least number of buckets per item. With fewer, the processor too often mispredicts whether a bucket's
/// first item is the wanted one, which costs more than the rest of a lookup.
const FOR_EACH: usize = 2;

/// Items by the hash of their key. Fewer than 2^32 - 1 of them.
#[derive(Debug)]
pub(crate) struct Table<T> {
    /// The latest item of each bucket. The number of buckets is a power of two, or 0.
    buckets: Box<[u32]>,
    slots: Vec<Slot<T>>,
    /// The slot that was freed last.
    free: u32,
    len: usize,
}

#[derive(Debug)]
struct Slot<T> {
    hash: u32,
    /// The next slot of the same bucket; for a free slot, the one that was freed before it.
    next: u32,
    item: Option<T>,
}

impl<T> Default for Table<T> {
    fn default() -> Table<T> {
        Table {
            buckets: Box::default(),
            slots: Vec::new(),
            free: NONE,
            len: 0,
        }
    }
}

impl<T> Table<T> {
    pub fn len(&self) -> usize {
        self.len
    }

    /// Greater than every index.
    pub fn indices(&self) -> usize {
        self.slots.len()
    }

    /// Number of indices that memory is allocated for.
    pub fn capacity(&self) -> usize {
        self.slots.capacity()
    }

    #[inline]
    pub fn get(&self, index: u32) -> Option<&T> {
        self.slots.get(index as usize)?.item.as_ref()
    }

    #[inline]
    pub fn get_mut(&mut self, index: u32) -> Option<&mut T> {
        self.slots.get_mut(index as usize)?.item.as_mut()
    }

    /// The hash of the item at this index.
    #[inline]
    pub fn hash(&self, index: u32) -> u32 {
        self.slots[index as usize].hash
    }

    #[inline]
    pub fn find(&self, hash: u32, same: impl Fn(&T) -> bool) -> Option<(u32, &T)> {
        let mut index = *self.buckets.get(self.bucket(hash))?;
        // NONE is not the index of a slot.
        while let Some(slot) = self.slots.get(index as usize) {
            if slot.hash == hash {
                if let Some(item) = slot.item.as_ref().filter(|item| same(item)) {
                    return Some((index, item));
                }
            }
            index = slot.next;
        }
        None
    }

    /// Inserts an item that is not in the table; returns its index.
    pub fn insert(&mut self, hash: u32, item: T) -> u32 {
        if FOR_EACH * self.len >= self.buckets.len() {
            self.grow();
        }
        let index = match self.free {
            NONE => self.slots.len() as u32,
            free => free,
        };
        let bucket = self.bucket(hash);
        let slot = Slot {
            hash,
            next: std::mem::replace(&mut self.buckets[bucket], index),
            item: Some(item),
        };
        match self.slots.get_mut(index as usize) {
            Some(place) => self.free = std::mem::replace(place, slot).next,
            None => self.slots.push(slot),
        }
        self.len += 1;
        index
    }

    /// Removes the item at this index.
    pub fn remove(&mut self, index: u32) -> Option<T> {
        let slot = self.slots.get_mut(index as usize)?;
        let item = slot.item.take()?;
        let (hash, next) = (slot.hash, std::mem::replace(&mut slot.next, self.free));
        self.free = index;
        self.len -= 1;
        let bucket = self.bucket(hash);
        let mut at = self.buckets[bucket];
        if at == index {
            self.buckets[bucket] = next;
            return Some(item);
        }
        while self.slots[at as usize].next != index {
            at = self.slots[at as usize].next;
        }
        self.slots[at as usize].next = next;
        Some(item)
    }

    /// Removes all items.
    pub fn clear(&mut self) -> impl Iterator<Item = T> {
        let all = std::mem::take(self);
        all.slots.into_iter().filter_map(|slot| slot.item)
    }

    #[inline]
    fn bucket(&self, hash: u32) -> usize {
        hash as usize & self.buckets.len().wrapping_sub(1)
    }

    #[cold]
    fn grow(&mut self) {
        let buckets = (2 * self.buckets.len()).max(FEWEST);
        self.buckets = vec![NONE; buckets].into();
        for (index, slot) in self.slots.iter_mut().enumerate() {
            if slot.item.is_some() {
                let bucket = slot.hash as usize & (buckets - 1);
                slot.next = std::mem::replace(&mut self.buckets[bucket], index as u32);
            }
        }
    }
}
