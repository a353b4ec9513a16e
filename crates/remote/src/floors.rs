//! What an operation knows of the clock and the floors.

use crate::command::{number, parse_number, Command};
use crate::names::Names;
use crate::near::{Copied, Near, Place};
use crate::reply::Reply;
use polycache_entry::{decode_payload, encode, EntryOptions, Limits, Serializer, Value, Verify};

/// The clock and the floors around one key.
#[derive(Clone, Debug)]
pub(crate) struct Floors<Fence> {
    /// By [`place`]: 0 is the clock. `None`: not known.
    known: Vec<Option<u64>>,
    /// What was asked for, with the right to make a copy of it.
    asked: Vec<(usize, Option<Fence>)>,
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
            .map(|one| near.copy(place(one)).and_then(|entry| decode(&entry)))
            .collect();
        Floors {
            known,
            asked: Vec::new(),
        }
    }

    /// Commands for what is not known, or for everything if copies are not fresh; for the clock only
    /// `with_clock`, which readers do not need.
    pub fn ask<N: Near<Fence = Fence>>(
        &mut self,
        near: &mut N,
        names: &Names,
        with_clock: bool,
        fresh: bool,
    ) -> Vec<Command> {
        let mut commands = Vec::new();
        for one in usize::from(!with_clock)..self.known.len() {
            if fresh && self.known[one].is_some() {
                continue;
            }
            let fence = match fresh.then(|| near.lease(place(one))) {
                Some(Copied::Acquired(fence)) => Some(fence),
                _ => None,
            };
            self.asked.push((one, fence));
            let name = match place(one) {
                Place::Floor(floor) => &names.floors[floor],
                _ => &names.clock,
            };
            commands.push(Command::get(name));
        }
        commands
    }

    /// Takes the replies to what was asked.
    pub fn take<N: Near<Fence = Fence>>(&mut self, near: &mut N, replies: Vec<Reply>) {
        for ((one, fence), reply) in self.asked.drain(..).zip(replies) {
            let found = parse_number(&reply);
            let filled = fence.is_some_and(|fence| near.fill(place(one), fence, &copy_of(found)));
            if !filled {
                near.void(place(one));
            }
            // Two answers may cross each other: the higher one is the later one.
            self.known[one] = Some(self.known[one].unwrap_or(0).max(found));
        }
    }

    /// There will be no replies.
    pub fn give_up<N: Near<Fence = Fence>>(&mut self, near: &mut N) {
        for (one, fence) in self.asked.drain(..) {
            if let Some(fence) = fence {
                near.release(place(one), fence);
            }
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

fn decode(entry: &[u8]) -> Option<u64> {
    let mut scratch = Vec::new();
    let limits = Limits::default();
    let (_, payload) = decode_payload(entry, Verify::Trusted, &limits, &mut scratch).ok()?;
    std::str::from_utf8(payload).ok()?.parse().ok()
}
