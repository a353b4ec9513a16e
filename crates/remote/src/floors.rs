//! What an operation knows of the clock and the floors.

use crate::command::{number, parse_number, Command};
use crate::last_clear::LastClear;
use crate::names::Names;
use crate::near::{Copied, Near, Place};
use crate::reply::Reply;
use polycache_entry::{decode_payload, encode, EntryOptions, Limits, Serializer, Value, Verify};
use smallvec::SmallVec;

/// The clock and the floors around one key.
#[derive(Clone, Debug)]
pub(crate) struct Floors<Fence> {
    /// By [`place`]: 0 is the clock. `None`: not known.
    known: SmallVec<[Option<u64>; 4]>,
    /// What was asked for.
    asked: SmallVec<[usize; 4]>,
    /// The rights to make copies of that, by the same numbers.
    fences: Vec<(usize, Fence)>,
}

fn place(number: usize) -> Place {
    match number {
        0 => Place::Clock,
        floor => Place::Floor(floor - 1),
    }
}

impl<Fence: Clone> Floors<Fence> {
    /// What the copies say. A caller that would serve by it must look whether they are fresh.
    pub fn look<N: Near<Fence = Fence>>(near: &mut N, names: &Names) -> Floors<Fence> {
        let known = (0..=names.floors.len())
            .map(|one| near.number(place(one)))
            .collect();
        Floors {
            known,
            asked: SmallVec::new(),
            fences: Vec::new(),
        }
    }

    /// How many there are, with the clock.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Commands for what is not known, or for everything if copies are not fresh; for the clock only `with_clock`, which
    /// readers do not need. There is room for two more.
    pub fn ask<N: Near<Fence = Fence>>(
        &mut self,
        near: &mut N,
        names: &Names,
        with_clock: bool,
        fresh: bool,
    ) -> Vec<Command> {
        let mut commands = Vec::with_capacity(self.len() + 2);
        self.ask_behind(near, names, with_clock, fresh, &mut commands);
        commands
    }

    /// As [`Floors::ask`], behind other commands.
    pub fn ask_behind<N: Near<Fence = Fence>>(
        &mut self,
        near: &mut N,
        names: &Names,
        with_clock: bool,
        fresh: bool,
        commands: &mut Vec<Command>,
    ) {
        for one in usize::from(!with_clock)..self.known.len() {
            if fresh && self.known[one].is_some() {
                continue;
            }
            if let Some(Copied::Acquired(fence)) = fresh.then(|| near.lease(place(one))) {
                self.fences.push((one, fence));
            }
            self.asked.push(one);
            let name = match place(one) {
                Place::Floor(floor) => &names.floors[floor],
                _ => &names.clock,
            };
            commands.push(Command::get(name));
        }
    }

    /// Takes the replies to what was asked.
    pub fn take<N: Near<Fence = Fence>>(
        &mut self,
        near: &mut N,
        replies: impl IntoIterator<Item = Reply>,
    ) {
        let mut fences = std::mem::take(&mut self.fences).into_iter().peekable();
        for (one, reply) in std::mem::take(&mut self.asked).into_iter().zip(replies) {
            let found = parse_number(&reply);
            let fence = fences.next_if(|(of, _)| *of == one);
            let filled =
                fence.is_some_and(|(_, fence)| near.fill(place(one), fence, &copy_of(found)));
            if !filled {
                near.void(place(one));
            }
            // Two answers may cross each other: the higher one is the later one.
            self.known[one] = Some(self.known[one].unwrap_or(0).max(found));
        }
        if let Some(last) = near.last_clear() {
            last.hear(self.born());
        }
    }

    /// There will be no replies.
    pub fn give_up<N: Near<Fence = Fence>>(&mut self, near: &mut N) {
        self.asked.clear();
        for (one, fence) in self.fences.drain(..) {
            near.release(place(one), fence);
        }
    }

    /// Entries born below this are not served.
    pub fn floor(&self) -> u64 {
        self.known[1..].iter().flatten().copied().max().unwrap_or(0)
    }

    /// What is written now was born then.
    pub fn born(&self) -> u64 {
        self.known.iter().flatten().copied().max().unwrap_or(0)
    }

    /// As [`Floors::born`], where the replies to what is asked come only after the write: what this process remembers
    /// is right until another clear.
    pub fn presumably_born<N: Near<Fence = Fence>>(&self, near: &N, fresh: bool) -> u64 {
        let asks = !fresh || self.known[0].is_none();
        let remembered = near.last_clear().filter(|_| asks);
        self.born().max(remembered.map_or(0, LastClear::number))
    }
}

/// The entry that stands for a number in the directory.
fn copy_of(value: u64) -> Vec<u8> {
    let options = EntryOptions {
        serializer: Serializer::Bytes,
        ..EntryOptions::default()
    };
    let mut entry = Vec::new();
    encode(&Value::Bytes(number(value).into()), &options, &mut entry)
        .map(|()| entry)
        .unwrap_or_default()
}

/// The number that a copy of the clock or of a floor stands for.
#[must_use]
pub fn copied_number(entry: &[u8]) -> Option<u64> {
    let mut scratch = Vec::new();
    let limits = Limits::default();
    let (_, payload) = decode_payload(entry, Verify::Trusted, &limits, &mut scratch).ok()?;
    std::str::from_utf8(payload).ok()?.parse().ok()
}
