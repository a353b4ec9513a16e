//! Operations on many keys: their commands go out together, in one round trip to each server.

use super::link::count;
use super::near::{AtRemote, Round};
use super::RemoteTier;
use crate::Error;
use polycache_host::monotonic;
use polycache_remote::{Command, Delete, Event, Found, Get, Key, Names, Reply, Set, Step};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

/// Keys of one round trip, and bytes of their entries: it has to end within the timeout.
const MOST_KEYS: usize = 512;
const MOST_BYTES: usize = 1 << 20;

/// Where a question that several operations ask is sent once: the number of the clock, or of a floor.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shared {
    /// A read asks before it reads its key.
    First,
    /// A write asks after it wrote its key.
    Last,
}

/// The commands of one round trip.
struct Together {
    shared: Shared,
    commands: Vec<Command>,
    /// Questions that are sent last.
    questions: Vec<Command>,
    /// Those that were asked, by their keys: a clock and a floor for each namespace around the keys.
    places: Vec<(Arc<[u8]>, Place)>,
}

/// Where a reply will be.
#[derive(Clone, Copy)]
enum Place {
    Command(usize),
    Question(usize),
}

impl Together {
    fn new(shared: Shared) -> Together {
        Together {
            shared,
            commands: Vec::new(),
            questions: Vec::new(),
            places: Vec::new(),
        }
    }

    fn add(&mut self, command: Command) -> Place {
        let Key::Shared(key) = &command.key else {
            return self.push(command);
        };
        let asked = self.places.iter().find(|(one, _)| Arc::ptr_eq(one, key));
        if let Some((_, place)) = asked {
            return *place;
        }
        let key = key.clone();
        let place = match self.shared {
            Shared::First => self.push(command),
            Shared::Last => {
                self.questions.push(command);
                Place::Question(self.questions.len() - 1)
            }
        };
        self.places.push((key, place));
        place
    }

    fn push(&mut self, command: Command) -> Place {
        self.commands.push(command);
        Place::Command(self.commands.len() - 1)
    }

    /// The place among all commands.
    fn index(&self, place: Place) -> usize {
        match place {
            Place::Command(index) => index,
            Place::Question(index) => self.commands.len() + index,
        }
    }

    fn len(&self) -> usize {
        self.commands.len() + self.questions.len()
    }

    fn into_commands(self) -> Vec<Command> {
        let mut all = self.commands;
        all.extend(self.questions);
        all
    }
}

/// One key's operation.
struct Under<D> {
    names: Names,
    /// What its next step is told, if it is to have one now.
    event: Option<Event>,
    /// Where the replies to what it sent will be, among those of all.
    sent: Places<usize>,
    done: Option<D>,
}

/// One for each command of an operation: its own, the clock's and those of some floors.
type Places<P> = SmallVec<[P; 4]>;

impl RemoteTier {
    /// The entries of the keys that are there, each a use of it, in the order of the keys.
    ///
    /// # Errors
    /// `Closed`, or what a single read gives, for the first key that cannot be read.
    pub fn get_many(&self, keys: &[&[u8]]) -> Result<Vec<Option<Vec<u8>>>, Error> {
        self.still_open()?;
        let mut entries = Vec::with_capacity(keys.len());
        let mut missing = Vec::new();
        for (index, key) in keys.iter().enumerate() {
            let mut entry = Vec::new();
            let is_near = self.near(key, &mut entry)?.is_some();
            entries.push(is_near.then_some(entry));
            if !is_near {
                missing.push(index);
            }
        }
        for missing in missing.chunks(MOST_KEYS) {
            let keys: Vec<&[u8]> = missing.iter().map(|index| keys[*index]).collect();
            for (index, found) in missing.iter().zip(self.find_many(&keys)) {
                let mut entry = Vec::new();
                match self.take_found(found, &mut entry) {
                    Ok(Some(_)) => entries[*index] = Some(entry),
                    // A read that had no answer is a miss.
                    Ok(None) | Err(Error::RemoteUnavailable(_)) => self.count_miss(),
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(entries)
    }

    fn find_many(&self, keys: &[&[u8]]) -> Vec<Found> {
        if let Err(fault) = self.link().know_site() {
            return keys.iter().map(|_| Found::Fault(fault)).collect();
        }
        let now = monotonic();
        let mut machines: Vec<_> = keys.iter().map(|_| Get::new(now)).collect();
        self.drive_many(keys, Shared::First, |index, near, names, event| {
            machines[index].step(near, names, event, monotonic())
        })
    }

    /// Stores entries, in order. What became of each.
    pub fn put_many(&self, entries: &[(Vec<u8>, Vec<u8>)]) -> Vec<Result<(), Error>> {
        let mut done = Vec::with_capacity(entries.len());
        let mut rest = entries;
        while !rest.is_empty() {
            let mut bytes = 0;
            let fits = |(_, entry): &&(Vec<u8>, Vec<u8>)| {
                bytes += entry.len();
                bytes <= MOST_BYTES
            };
            let fitting = rest.iter().take(MOST_KEYS).take_while(fits).count();
            let (these, others) = rest.split_at(fitting.max(1));
            done.extend(self.put_together(these));
            rest = others;
        }
        done
    }

    fn put_together(&self, entries: &[(Vec<u8>, Vec<u8>)]) -> Vec<Result<(), Error>> {
        if let Err(error) = self.begin() {
            return entries.iter().map(|_| Err(error.clone())).collect();
        }
        let keys: Vec<&[u8]> = entries.iter().map(|(key, _)| key.as_slice()).collect();
        let mut machines: Vec<_> = entries.iter().map(|(_, entry)| Set::new(entry)).collect();
        let done = self.drive_many(&keys, Shared::Last, |index, near, names, event| {
            machines[index].step(near, names, event)
        });
        let stored = done.iter().zip(&keys).filter(|(done, _)| done.is_ok());
        self.end_loads(stored.map(|(_, key)| *key));
        done.into_iter()
            .map(|done| {
                done.map_err(|fault| self.link().error(fault))?;
                self.count_write();
                Ok(())
            })
            .collect()
    }

    /// Deletes keys. Which of them had an entry.
    ///
    /// # Errors
    /// `Closed`, `RemoteUnavailable`; others may have been deleted all the same.
    pub fn delete_many(&self, keys: &[&[u8]]) -> Result<Vec<bool>, Error> {
        let mut deleted = Vec::with_capacity(keys.len());
        for keys in keys.chunks(MOST_KEYS) {
            self.begin()?;
            let mut machines: Vec<_> = keys.iter().map(|_| Delete::new()).collect();
            let done = self.drive_many(keys, Shared::First, |index, near, names, event| {
                machines[index].step(near, names, event)
            });
            let gone = done.iter().zip(keys).filter(|(stood, _)| stood.is_ok());
            self.end_loads(gone.map(|(_, key)| *key));
            for stood in done {
                let stood = stood.map_err(|fault| self.link().error(fault))?;
                if stood {
                    count(&self.link().counts.deletes);
                }
                deleted.push(stood);
            }
        }
        Ok(deleted)
    }

    /// Steps a machine for each key to its end, as [`RemoteTier::drive`] does for one.
    fn drive_many<D>(
        &self,
        keys: &[&[u8]],
        shared: Shared,
        mut step: impl FnMut(usize, &mut AtRemote<'_>, &Names, Event) -> Step<D>,
    ) -> Vec<D> {
        let mounted = self.mounted();
        let link = &self.0.shared.link;
        if !self.is_listening(mounted.as_deref()) {
            link.listening.ask(link);
        }
        let round = RefCell::new(Round::default());
        let mut all: Vec<Under<D>> = keys
            .iter()
            .map(|key| Under {
                names: self.names(key),
                event: Some(Event::Woken),
                sent: Places::new(),
                done: None,
            })
            .collect();
        loop {
            let mut together = Together::new(shared);
            let mut until: Option<Duration> = None;
            let mut sent: Vec<(usize, Places<Place>)> = Vec::with_capacity(all.len());
            round.borrow_mut().begin();
            for (index, (one, key)) in all.iter_mut().zip(keys).enumerate() {
                let Some(event) = one.event.take() else {
                    continue;
                };
                let mut near = AtRemote {
                    tier: self,
                    mounted: mounted.as_deref(),
                    key,
                    round: Some(&round),
                };
                match step(index, &mut near, &one.names, event) {
                    Step::Done(done) => one.done = Some(done),
                    Step::Send(commands) => {
                        let places = commands.into_iter().map(|command| together.add(command));
                        sent.push((index, places.collect()));
                    }
                    Step::Wait { until: its } => {
                        until = Some(until.map_or(its, |until| until.min(its)));
                        one.event = Some(Event::Woken);
                    }
                }
            }
            if together.len() > 0 {
                // How many operations want each reply: the last one takes it, the others copy it.
                let mut wanted = vec![0; together.len()];
                for (index, places) in sent {
                    let places = places.into_iter().map(|place| together.index(place));
                    all[index].sent = places.collect();
                    for place in &all[index].sent {
                        wanted[*place] += 1;
                    }
                }
                let mut event = self.send(mounted.as_deref(), keys, together.into_commands());
                for one in all.iter_mut().filter(|one| !one.sent.is_empty()) {
                    let sent = std::mem::take(&mut one.sent);
                    one.event = Some(match &mut event {
                        Event::Replies(replies) => {
                            let reply = |place| taken(replies, &mut wanted, place);
                            Event::Replies(sent.into_iter().map(reply).collect())
                        }
                        other => other.clone(),
                    });
                }
            } else if let Some(until) = until {
                link.transport.wait(until.saturating_sub(monotonic()));
            } else {
                return all.into_iter().filter_map(|one| one.done).collect();
            }
        }
    }
}

/// The reply at a place.
fn taken(replies: &mut [Reply], wanted: &mut [usize], place: usize) -> Reply {
    let Some(reply) = replies.get_mut(place) else {
        return Reply::Nil;
    };
    match wanted.get_mut(place) {
        Some(left) if *left > 1 => {
            *left -= 1;
            reply.clone()
        }
        _ => std::mem::replace(reply, Reply::Nil),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(name: &str) -> Command {
        Command::get(name.as_bytes().to_vec())
    }

    /// The places of what three operations send: each its own key, and the same question.
    fn places(shared: Shared, own: fn(&str) -> Command) -> Vec<(usize, usize)> {
        let mut together = Together::new(shared);
        let floor: Arc<[u8]> = b"floor".as_slice().into();
        let added: Vec<_> = ["a", "b", "c"]
            .into_iter()
            .map(|key| (together.add(own(key)), together.add(Command::get(&floor))))
            .collect();
        let places = added.into_iter();
        places
            .map(|(own, question)| (together.index(own), together.index(question)))
            .collect()
    }

    #[test]
    fn a_question_of_writes_is_asked_once_behind_them_all() {
        let set = |key: &str| Command::set(key.as_bytes().to_vec(), Vec::new(), None);
        assert_eq!(places(Shared::Last, set), [(0, 3), (1, 3), (2, 3)]);
    }

    #[test]
    fn a_question_of_reads_is_asked_once_before_the_second() {
        assert_eq!(places(Shared::First, own), [(0, 1), (2, 1), (3, 1)]);
    }
}
