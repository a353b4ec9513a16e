//! What a caller does about other loads of the key: it waits, takes over, or loads beside them.

mod bare;

use bare::{Bare, ME};
use polycache_operations::{Holder, Lease, Leases};
use polycache_remote::{
    presence, Bounds, Event, Fault, Found, Guards, HolderId, Load, Loaded, Names, RemoteName,
    Reply, Script, Verb,
};
use std::convert::Infallible;
use std::time::Duration;

const ELSEWHERE: HolderId = HolderId {
    host: 2,
    participant: 22,
};

fn ms(number: u64) -> Duration {
    Duration::from_millis(number)
}

/// A guard that is free; `true`: another caller's, beside which this one loads.
struct Guard(bool);

impl Leases for Guard {
    type Fence = bool;
    type Error = Infallible;

    fn lease(&mut self) -> Result<Lease<bool>, Infallible> {
        Ok(Lease::Acquired(self.0))
    }
    fn beside(&mut self, _: Holder) -> Result<Option<bool>, Infallible> {
        Ok(None)
    }
    fn fill(&mut self, _: bool, _: &[u8]) -> Result<bool, Infallible> {
        Ok(false)
    }
    fn release(&mut self, _: bool) {}
}

impl Guards for Guard {
    fn is_beside(&self, fence: &bool) -> bool {
        *fence
    }
}

/// One caller, and what it knows.
struct Caller {
    near: Bare,
    guard: Guard,
    names: Names,
    load: Load<bool, ()>,
}

impl Caller {
    fn new() -> Caller {
        let bounds = Bounds {
            wait_timeout: ms(60_000),
            lease_timeout: ms(30_000),
        };
        Caller {
            near: Bare::default(),
            guard: Guard(false),
            names: Names::new(&RemoteName::new("p"), &[b"::"], b"::k"),
            load: Load::new(bounds, ms(0)),
        }
    }

    fn step(&mut self, event: Event, now: u64) -> Loaded {
        let Ok(loaded) =
            self.load
                .step(&mut self.near, &mut self.guard, &self.names, event, ms(now));
        loaded
    }

    /// Its next commands are answered so: clock and floor are missing, and then these.
    fn answer(&mut self, replies: &[Reply], now: u64) -> Loaded {
        let mut all = vec![Reply::Nil, Reply::Nil];
        all.extend_from_slice(replies);
        self.step(Event::Replies(all), now)
    }

    fn store(&mut self, now: u64) -> Loaded {
        let (near, guard) = (&mut self.near, &mut self.guard);
        self.load.store(near, guard, &self.names, b"entry", ms(now))
    }

    fn end(&mut self, now: u64) -> Loaded {
        let (near, guard) = (&mut self.near, &mut self.guard);
        self.load.end(near, guard, &self.names, ms(now))
    }
}

/// A pending record of a load.
fn pending(holder: HolderId, mark: u64) -> Vec<u8> {
    let mut bytes = vec![0xC1, 0x82, 0, 0, 0, 0, 0, 0];
    bytes.extend_from_slice(&mark.to_le_bytes());
    bytes.extend_from_slice(&holder.host.to_le_bytes());
    bytes.extend_from_slice(&holder.participant.to_le_bytes());
    bytes
}

/// The last command, which has to be there: what it does, and its arguments.
fn last(loaded: &Loaded) -> (Verb, Vec<Vec<u8>>) {
    match loaded {
        Loaded::Send(commands) => {
            let command = commands.last().expect("a command");
            (
                command.verb,
                command.args.iter().map(|arg| arg.to_vec()).collect(),
            )
        }
        other => panic!("nothing is sent: {other:?}"),
    }
}

#[track_caller]
fn runs(loaded: &Loaded, script: Script) -> Vec<Vec<u8>> {
    let (verb, args) = last(loaded);
    assert_eq!(verb, Verb::Run(script));
    args
}

/// A caller that was told of this record when it asked for the key; with what it did then.
fn told(caller: &mut Caller, record: Vec<u8>) -> Loaded {
    runs(&caller.step(Event::Woken, 0), Script::Acquire);
    caller.answer(&[Reply::Bytes(record)], 1)
}

#[test]
fn the_caller_that_acquires_loads_and_stores_by_its_token() {
    let mut caller = Caller::new();
    let token = runs(&caller.step(Event::Woken, 0), Script::Acquire)[0].clone();
    assert_eq!(caller.answer(&[Reply::Nil], 1), Loaded::Load);
    let stores = runs(&caller.store(2), Script::Exchange);
    assert_eq!(stores[0], token[..16]);
    assert_eq!(
        caller.step(Event::Replies(vec![Reply::Int(1)]), 3),
        Loaded::Stored
    );
}

#[test]
fn what_took_the_tokens_place_wins() {
    let mut caller = Caller::new();
    caller.step(Event::Woken, 0);
    caller.answer(&[Reply::Nil], 1);
    caller.store(2);
    assert_eq!(
        caller.step(Event::Replies(vec![Reply::Int(0)]), 3),
        Loaded::Refused
    );
}

#[test]
fn a_loader_that_fails_gives_its_token_back() {
    let mut caller = Caller::new();
    let token = runs(&caller.step(Event::Woken, 0), Script::Acquire)[0].clone();
    caller.answer(&[Reply::Nil], 1);
    assert_eq!(runs(&caller.end(2), Script::Remove), [&token[..16]]);
    assert_eq!(
        caller.step(Event::Replies(vec![Reply::Int(1)]), 3),
        Loaded::Released
    );
}

#[test]
fn an_acquire_without_a_reply_stores_nothing_and_leaves_nothing() {
    let mut caller = Caller::new();
    let token = runs(&caller.step(Event::Woken, 0), Script::Acquire)[0].clone();
    let fault = Fault::Unreachable;
    assert_eq!(caller.step(Event::Fault(fault), 250), Loaded::Load);
    assert_eq!(runs(&caller.store(300), Script::Remove), [&token[..16]]);
    let after = caller.step(Event::Replies(vec![Reply::Int(1)]), 301);
    assert_eq!(after, Loaded::Unstored(fault));
}

#[test]
fn nothing_was_sent_while_the_breaker_is_open_so_nothing_is_given_back() {
    let mut caller = Caller::new();
    caller.step(Event::Woken, 0);
    assert_eq!(caller.step(Event::Fault(Fault::Open), 0), Loaded::Load);
    assert_eq!(caller.store(1), Loaded::Unstored(Fault::Open));
}

#[test]
fn a_living_holder_is_waited_for_and_looked_at_now_and_then() {
    let mut caller = Caller::new();
    let mut step = told(&mut caller, pending(ELSEWHERE, 5));
    let (mut now, mut looks) = (1, 0);
    while now < 30_000 {
        step = match step {
            Loaded::Wait { until } => {
                now = (until.as_millis() as u64).max(now + 1);
                caller.step(Event::Woken, now)
            }
            Loaded::Send(commands) => {
                looks += 1;
                let record = Reply::Bytes(pending(ELSEWHERE, 5));
                let list = Reply::Bytes(presence(&[ELSEWHERE.participant]));
                let asked = commands.len() - 2;
                caller.answer(&[record, list][..asked], now)
            }
            other => panic!("at {now} ms: {other:?}"),
        };
    }
    assert!((100..300).contains(&looks), "{looks} looks in 30 s");
    // Overdue: it loads beside the holder, by the holder's token, and does not end it.
    while let Loaded::Wait { until } = step {
        now = until.as_millis() as u64;
        step = caller.step(Event::Woken, now);
    }
    let record = Reply::Bytes(pending(ELSEWHERE, 5));
    let list = Reply::Bytes(presence(&[ELSEWHERE.participant]));
    assert_eq!(caller.answer(&[record, list], now + 1), Loaded::Load);
    let stores = runs(&caller.store(now + 2), Script::Exchange);
    assert_eq!(stores[0], pending(ELSEWHERE, 5)[..16]);
}

/// A caller that has waited so long that it asks whether the holder's process lives, and is told this.
fn doubts(list: Reply, waited: u64) -> Loaded {
    let mut caller = Caller::new();
    told(&mut caller, pending(ELSEWHERE, 5));
    let step = caller.step(Event::Woken, waited);
    assert!(matches!(&step, Loaded::Send(commands) if commands.len() == 4));
    caller.answer(&[Reply::Bytes(pending(ELSEWHERE, 5)), list], waited + 1)
}

#[test]
fn a_dead_holders_load_is_taken_over() {
    let head = pending(ELSEWHERE, 5)[..16].to_vec();
    let others = Reply::Bytes(presence(&[21, 23]));
    for (list, waited) in [(Reply::Nil, 300), (others.clone(), 1600)] {
        assert_eq!(runs(&doubts(list, waited), Script::Acquire)[2], head);
    }
    // It may have begun after its host last told who lives there.
    assert!(matches!(doubts(others, 300), Loaded::Wait { .. }));
    let lives = Reply::Bytes(presence(&[ELSEWHERE.participant]));
    assert!(matches!(doubts(lives, 1600), Loaded::Wait { .. }));
}

#[test]
fn a_dead_holder_of_this_host_is_taken_over_at_once() {
    let mut caller = Caller::new();
    let neighbour = HolderId {
        participant: 12,
        ..ME
    };
    caller.near.dead = vec![neighbour];
    let step = told(&mut caller, pending(neighbour, 5));
    assert_eq!(runs(&step, Script::Acquire)[2], pending(neighbour, 5)[..16]);
}

#[test]
fn a_caller_that_waited_for_a_load_in_vain_loads_beside_the_next() {
    let mut caller = Caller::new();
    told(&mut caller, pending(ELSEWHERE, 5));
    caller.step(Event::Woken, 100);
    let next = Reply::Bytes(pending(ELSEWHERE, 6));
    assert_eq!(caller.answer(&[next], 101), Loaded::Load);
    let stores = runs(&caller.store(102), Script::Exchange);
    assert_eq!(stores[0], pending(ELSEWHERE, 6)[..16]);
}

#[test]
fn beside_a_guard_it_loads_beside_the_token() {
    let mut caller = Caller::new();
    caller.guard = Guard(true);
    let step = told(&mut caller, pending(ME, 5));
    assert_eq!(step, Loaded::Load);
    // The token is the other's.
    assert_eq!(caller.end(2), Loaded::Released);
}

#[test]
fn waiting_ends_after_the_wait_timeout() {
    let mut caller = Caller::new();
    told(&mut caller, pending(ELSEWHERE, 5));
    assert_eq!(caller.step(Event::Woken, 60_000), Loaded::TimedOut);
}

#[test]
fn bytes_of_another_program_are_handed_out_as_they_are() {
    let mut caller = Caller::new();
    let bytes = b"set by hand".to_vec();
    let step = told(&mut caller, bytes.clone());
    assert_eq!(step, Loaded::Found(Found::Foreign(bytes)));
}
