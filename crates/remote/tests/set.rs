//! When a write is born that reads through: at the last clear that its process heard of.

mod bare;

use bare::Bare;
use polycache_remote::{
    head, Clear, Event, LastClear, Names, RemoteName, Reply, Script, Set, Step, Verb,
};

/// The number of the clear in the head of a record.
fn born(record: &[u8]) -> u64 {
    let mut wide = [0; 8];
    wide[..6].copy_from_slice(&head(record)[2..8]);
    u64::from_le_bytes(wide)
}

fn text(number: u64) -> Reply {
    Reply::Bytes(number.to_string().into_bytes())
}

fn names() -> Names {
    Names::new(&RemoteName::new("p"), &[b"::"], b"::k")
}

/// Stores a value on a server where the last clear has this number. The numbers with which it was sent.
fn set(process: &mut Bare, clock: u64) -> Vec<u64> {
    let names = names();
    let mut set = Set::new(b"entry");
    let mut sent = Vec::new();
    let mut event = Event::Woken;
    loop {
        let commands = match set.step(process, &names, event) {
            Step::Send(commands) => commands,
            Step::Done(done) => {
                done.expect("the server answers");
                return sent;
            }
            other => panic!("{other:?}"),
        };
        let mut replies = Vec::new();
        for command in &commands {
            match command.verb {
                Verb::Set => sent.push(born(&command.args[0])),
                Verb::Run(Script::Exchange) => sent.push(born(&command.args[1])),
                _ => {}
            }
            replies.push(match command.verb {
                Verb::Set => Reply::Status,
                Verb::Run(_) => Reply::Int(1),
                _ if clock == 0 => Reply::Nil,
                _ => text(clock),
            });
        }
        event = Event::Replies(replies);
    }
}

#[test]
fn a_clear_costs_each_process_one_second_round_trip() {
    let mut process = Bare::default();
    assert_eq!(set(&mut process, 0), [0]);
    assert_eq!(set(&mut process, 500), [0, 500], "it hears of the clear");
    assert_eq!(set(&mut process, 500), [500], "and remembers it");
    assert_eq!(set(&mut process, 700), [500, 700], "another clear");
    assert_eq!(set(&mut process, 700), [700]);
}

#[test]
fn a_process_knows_its_own_clear() {
    let mut process = Bare::default();
    let names = names();
    let mut clear = Clear::default();
    let sent = clear.step(&mut process, &names, Event::Woken);
    assert!(matches!(sent, Step::Send(_)), "{sent:?}");
    let sent = clear.step(&mut process, &names, Event::Replies(vec![Reply::Int(900)]));
    assert!(matches!(sent, Step::Send(_)), "{sent:?}");
    assert_eq!(set(&mut process, 900), [900]);
}

/// A server that lost its data may give out numbers anew, if its time was set back: nothing may be born above its clock.
#[test]
fn a_clock_that_was_lost_is_believed() {
    let mut process = Bare::default();
    assert_eq!(set(&mut process, 500), [0, 500]);
    assert_eq!(set(&mut process, 0), [500, 0], "after a FLUSHALL");
    assert_eq!(set(&mut process, 0), [0]);
    assert_eq!(set(&mut process, 300), [0, 300]);
    assert_eq!(set(&mut process, 300), [300]);
}

/// Two writes under way: what one of them hears of a lost clock does not undo what the other heard of a clear after it.
#[test]
fn a_later_clear_is_not_forgotten() {
    let last = LastClear::default();
    last.hear(500);
    last.hear(800);
    last.lower(500, 0);
    assert_eq!(last.number(), 800);
    last.lower(800, 0);
    assert_eq!(last.number(), 0);
}
