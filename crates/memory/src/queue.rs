//! FIFO queues of indices, linked so that any index can leave.

/// No index.
const NONE: u32 = u32::MAX;

/// The links of all queues of a shard, by index, with the policy's data for an entry.
#[derive(Debug)]
pub(crate) struct Links<T>(Vec<Link<T>>);

#[derive(Clone, Copy, Debug)]
struct Link<T> {
    /// The next one to come.
    newer: u32,
    /// The one that came before.
    older: u32,
    item: T,
}

impl<T> Default for Links<T> {
    fn default() -> Links<T> {
        Links(Vec::new())
    }
}

impl<T: Copy + Default> Links<T> {
    #[inline]
    pub fn get(&self, index: u32) -> &T {
        &self.0[index as usize].item
    }

    #[inline]
    pub fn get_mut(&mut self, index: u32) -> &mut T {
        &mut self.0[index as usize].item
    }

    #[inline]
    fn at(&mut self, index: u32) -> &mut Link<T> {
        &mut self.0[index as usize]
    }
}

/// A queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queue {
    newest: u32,
    oldest: u32,
    len: usize,
}

impl Default for Queue {
    fn default() -> Queue {
        Queue {
            newest: NONE,
            oldest: NONE,
            len: 0,
        }
    }
}

impl Queue {
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Appends an index that is in no queue.
    #[inline]
    pub fn push<T: Copy + Default>(&mut self, links: &mut Links<T>, index: u32, item: T) {
        let link = Link {
            newer: NONE,
            older: self.newest,
            item,
        };
        let place = index as usize;
        if place >= links.0.len() {
            let none = Link {
                newer: NONE,
                older: NONE,
                item: T::default(),
            };
            links.0.resize(place + 1, none);
        }
        links.0[place] = link;
        match self.newest {
            NONE => self.oldest = index,
            newest => links.at(newest).newer = index,
        }
        self.newest = index;
        self.len += 1;
    }

    /// The index that has been in longest.
    #[inline]
    pub fn oldest(&self) -> Option<u32> {
        (self.oldest != NONE).then_some(self.oldest)
    }

    /// Moves the oldest to the newest end.
    pub fn renew_oldest<T: Copy + Default>(&mut self, links: &mut Links<T>) {
        if let Some(index) = self.oldest() {
            let item = *links.get(index);
            self.remove(links, index);
            self.push(links, index, item);
        }
    }

    /// Removes an index that is in this queue.
    #[inline]
    pub fn remove<T: Copy + Default>(&mut self, links: &mut Links<T>, index: u32) {
        let Link { newer, older, .. } = *links.at(index);
        match newer {
            NONE => self.newest = older,
            newer => links.at(newer).older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => links.at(older).newer = newer,
        }
        self.len -= 1;
    }
}
