//! Takes and touches: changes of just the entry that was read.

use super::{explore, run, with_neighbour, work, Host, Process};
use crate::block::Appender;
use crate::tests::setup::text;
use std::sync::Arc;

/// What is set is taken by one, replaced by the next set, or there at the end.
#[test]
fn takers_and_a_setter_race() {
    explore(2000, || {
        let host = with_neighbour(16);
        let taken = Arc::new(std::sync::Mutex::new(Vec::new()));
        let taker = || -> Box<dyn FnOnce(Process) + Send> {
            let taken = taken.clone();
            work!(|process, _appender| {
                for _ in 0..2 {
                    let value = process.take();
                    taken.lock().unwrap().extend(value);
                }
            })
        };
        let work: Vec<Box<dyn FnOnce(Process) + Send>> = vec![
            taker(),
            taker(),
            work!(|process, appender| {
                process.put(appender, "a");
                process.delete_other();
                process.put(appender, "b");
            }),
        ];
        run(&host, work);
        let mut all = taken.lock().unwrap().clone();
        let mut out = Vec::new();
        let last = host.process(61);
        if last
            .engine
            .peek(last.key(), last.floor(), &mut out)
            .is_some()
        {
            all.push(text(&out));
        }
        let times = |value: &str| all.iter().filter(|one| *one == value).count();
        assert!(times("a") <= 1, "{all:?}");
        assert_eq!(times("b"), 1, "{all:?}");
    });
}

/// A take that finds nothing invalidates the load, as a delete would.
#[test]
fn a_take_invalidates_a_load() {
    explore(1000, || {
        let host = with_neighbour(16);
        run(
            &host,
            vec![
                work!(|process, appender| process.load(appender, "loaded")),
                work!(|process, _appender| {
                    let start = process.history.now();
                    if process.take().is_none() {
                        process.history.wrote(None, start);
                    }
                    process.read();
                }),
                work!(|process, _appender| process.delete_other()),
            ],
        );
    });
}

/// A touch never brings back what was replaced, deleted or cleared.
#[test]
fn a_touch_and_writes_race() {
    explore(2000, || {
        let host = Host::new(20);
        host.process(51).put(&mut Appender::default(), "before");
        run(
            &host,
            vec![
                work!(|process, appender| (0..2).for_each(|_| {
                    process.touch(appender);
                })),
                work!(|process, appender| {
                    process.put(appender, "a");
                    process.read();
                    process.delete();
                    process.read();
                }),
                work!(|process, appender| {
                    process.clear();
                    process.read();
                    process.put(appender, "b");
                    process.read();
                }),
            ],
        );
    });
}

/// A clear that comes between what a touch read and what it writes clears that, too.
#[test]
fn a_touch_and_a_clear_race() {
    explore(1000, || {
        let host = Host::new(16);
        host.process(51).put(&mut Appender::default(), "before");
        run(
            &host,
            vec![
                work!(|process, appender| {
                    process.touch(appender);
                }),
                work!(|process, _appender| {
                    process.clear();
                    process.read();
                }),
            ],
        );
    });
}
