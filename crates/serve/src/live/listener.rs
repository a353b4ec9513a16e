//! One client of a live stream.

use super::facts::Entry;
use super::follower::{event, Follower};
use super::gap;
use super::pages::Pages;
use super::redis_error::problem_of;
use super::Id;
use crate::app::told_to_stop;
use crate::tracked::{count, Counts, One};
use bytes::{Bytes, BytesMut};
use futures_util::stream::{self, Stream};
use polycache_http::Problem;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{interval_at, Instant, Interval, MissedTickBehavior};

/// What a client hears: first what it missed, read page by page as it reads, then what comes.
pub(crate) struct Listener {
    follower: Arc<Follower>,
    counts: Arc<Counts>,
    _one: One,
    /// A page of what it missed, and whether there is another one.
    missed: VecDeque<Entry>,
    is_behind: bool,
    pages: Pages,
    /// The last entry that it was sent of what it missed.
    sent: Id,
    /// That it cannot hear all that came after the entry it had.
    gap: Option<Bytes>,
    /// How often the stream had begun anew by then; only ids of that time go on from there.
    era: u64,
    /// The number of the next event.
    next: u64,
    newest: watch::Receiver<u64>,
}

enum Heard {
    Bytes(Bytes),
    /// It cannot be told everything any more.
    Lost,
}

impl Listener {
    /// # Errors
    /// Those of reading what came after the id.
    pub(super) async fn new(
        follower: Arc<Follower>,
        one: One,
        after: Option<Id>,
        counts: Arc<Counts>,
    ) -> Result<Listener, Problem> {
        // Before what was missed is read, so that nothing is between.
        let (next, era, newest) = follower.now();
        let (after, gap, pages) = match after {
            None => (None, None, Pages::default()),
            Some(id) => {
                let (id, gap, pages) = go_on(&follower, id).await?;
                (Some(id), gap, pages)
            }
        };
        let mut listener = Listener {
            follower,
            counts,
            _one: one,
            missed: VecDeque::new(),
            is_behind: after.is_some(),
            pages,
            sent: after.unwrap_or(Id::FIRST),
            gap,
            era,
            next,
            newest,
        };
        // The first page now, because an error still has a status of its own.
        listener.page().await?;
        Ok(listener)
    }

    async fn page(&mut self) -> Result<(), Problem> {
        if self.is_behind {
            let (connections, key) = (&self.follower.connections, self.follower.key());
            let page = connections.after(key, self.sent, &mut self.pages).await;
            let (entries, is_more) = page.map_err(|error| problem_of(&error))?;
            self.missed = entries.into();
            self.is_behind = is_more;
            if let Some(last) = self.missed.back().and_then(|(id, _)| Id::parse(id)) {
                self.sent = last;
            }
        }
        Ok(())
    }

    /// What the client is sent: events, and a comment where there is none for a while. It ends when the server stops, when
    /// the stream is none any more, and when the client is too far behind; the client then connects again and says what it
    /// had last.
    pub fn events(
        self,
        heartbeat: Duration,
        stopping: watch::Receiver<bool>,
    ) -> impl Stream<Item = Result<Bytes, Infallible>> {
        let mut beats = interval_at(Instant::now() + heartbeat, heartbeat);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let begin = (self, beats, stopping, true);
        stream::unfold(
            begin,
            |(mut listener, mut beats, mut stopping, is_first)| async move {
                if is_first {
                    let mut first = BytesMut::from(&*retry(random()));
                    first.extend(listener.gap.take());
                    let first = first.freeze();
                    return Some((Ok(first), (listener, beats, stopping, false)));
                }
                match listener.hear(&mut beats, &mut stopping).await {
                    Heard::Bytes(bytes) => Some((Ok(bytes), (listener, beats, stopping, false))),
                    Heard::Lost => None,
                }
            },
        )
    }

    async fn hear(&mut self, beats: &mut Interval, stopping: &mut watch::Receiver<bool>) -> Heard {
        if *stopping.borrow() {
            return Heard::Lost;
        }
        if self.missed.is_empty() && self.is_behind && self.page().await.is_err() {
            return Heard::Lost;
        }
        if !self.missed.is_empty() {
            let mut bytes = BytesMut::new();
            for entry in self.missed.drain(..) {
                bytes.extend_from_slice(&event(&entry));
            }
            return Heard::Bytes(bytes.freeze());
        }
        loop {
            while self.next < *self.newest.borrow_and_update() {
                let Some(event) = self.follower.event(self.next) else {
                    count(&self.counts.slow);
                    return Heard::Lost;
                };
                self.next += 1;
                // It may have been among what was missed.
                if event.era != self.era || event.id > self.sent {
                    return Heard::Bytes(event.bytes);
                }
            }
            let follower = self.follower.clone();
            tokio::select! {
                biased;
                () = told_to_stop(stopping) => return Heard::Lost,
                changed = self.newest.changed() => {
                    if changed.is_err() {
                        return Heard::Lost;
                    }
                }
                () = follower.ended() => return Heard::Lost,
                _ = beats.tick() => return Heard::Bytes(Bytes::from_static(b":\n\n")),
            }
        }
    }
}

/// After which entry a client goes on that had one, what it is told if it cannot hear all that came since, and how much of
/// the stream is read at once.
async fn go_on(follower: &Follower, had: Id) -> Result<(Id, Option<Bytes>, Pages), Problem> {
    let facts = follower.connections.facts(follower.key()).await;
    let facts = facts.map_err(|error| problem_of(&error))?;
    let Some(facts) = facts else {
        // All that comes is of another stream.
        return Ok((Id::FIRST, None, Pages::default()));
    };
    let pages = Pages::of(&facts);
    if had > facts.end {
        return Ok(match follower.before(had) {
            Some(id) => (id, None, pages),
            // The stream lost entries, or is another one. Clients that come back are told so, and are not sent all of it again.
            None => (facts.end, Some(gap::lost(had, facts.end)), pages),
        });
    }
    // Who had none is told all that is there.
    let first = facts
        .removed_before()
        .filter(|first| had < *first && had > Id::FIRST);
    Ok((had, first.map(|first| gap::trimmed(had, first)), pages))
}

/// The time after which a browser connects again, in milliseconds: another one for each, so that those that a stream's end
/// has sent away do not all come back at once.
fn retry(random: u64) -> String {
    format!("retry: {}\n\n", 1000 + random % 2001)
}

fn random() -> u64 {
    RandomState::new().hash_one(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_come_back_at_different_times() {
        assert_eq!(retry(0), "retry: 1000\n\n");
        assert_eq!(retry(2000), "retry: 3000\n\n");
        assert_eq!(retry(2001), "retry: 1000\n\n");
        let all: std::collections::HashSet<u64> = (0..100).map(|_| random()).collect();
        assert!(all.len() > 90);
    }
}
