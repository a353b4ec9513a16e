//! A hash table whose items keep the index they were given.
//!
//! Items of one bucket are chained through their slots, so that an item is found by a look at its
//! bucket and one at its slot, and put in or taken out by two writes. Who keeps more of an item
//! elsewhere has its index to find that by.

/// No index.
const NONE: u32 = u32::MAX;
/// Buckets at first.
const FEWEST: usize = 8;
/// Buckets for each item at least: with fewer, whether a bucket's first item is the one that is looked
/// for is too often a wrong guess of the processor, which takes longer than all the rest of a look.
const FOR_EACH: usize = 2;

/// Items by the hash of what they are found by. Fewer than 2^32 - 1 of them.
#[derive(Debug)]
pub(crate) struct Table<T> {
    /// The latest item of each bucket. Their number is a power of two, or 0.
    buckets: Box<[u32]>,
    slots: Vec<Slot<T>>,
    /// The latest slot that was left.
    free: u32,
    len: usize,
}

#[derive(Debug)]
struct Slot<T> {
    hash: u32,
    /// In the same bucket; or, of a slot that is free, the one that was left before.
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

    /// Every index is below.
    pub fn indices(&self) -> usize {
        self.slots.len()
    }

    /// Indices that there is memory for.
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
        // NONE is no slot.
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

    /// Puts in an item that is not there; its index.
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

    /// Takes out the item at this index.
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

    /// Takes out all.
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
