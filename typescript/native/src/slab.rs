//! Things of a thread by number: how a plain callback finds the one it is called for. A number that is
//! wrong is refused, which a pointer would not be.

/// Things with numbers, which are used again.
pub(crate) struct Slab<T> {
    all: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    /// With nothing in it.
    pub const fn new() -> Slab<T> {
        Slab {
            all: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Adds a thing and returns its number.
    pub fn add(&mut self, thing: T) -> u32 {
        if let Some(number) = self.free.pop() {
            self.all[number as usize] = Some(thing);
            return number;
        }
        self.all.push(Some(thing));
        (self.all.len() - 1) as u32
    }

    /// Takes a thing out; `None` when there is none of that number.
    pub fn remove(&mut self, number: u32) -> Option<T> {
        let thing = self.all.get_mut(number as usize)?.take()?;
        self.free.push(number);
        Some(thing)
    }

    /// The thing of a number.
    #[inline(always)]
    pub fn get(&mut self, number: u32) -> Option<&mut T> {
        self.all.get_mut(number as usize)?.as_mut()
    }
}
