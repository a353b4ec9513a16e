//! Blocks that are used again beside their readers and writers.

use super::{explore, run, work, Host, Process};
use crate::block::Appender;
use shuttle::thread;

#[test]
fn recycling_beside_readers_and_a_slow_writer() {
    // One run in about 500 finds a check that comes too late.
    explore(4000, || {
        // Eight blocks of one record each, and more entries than that: some are evicted, some are kept.
        let host = Host::new(8);
        run(
            &host,
            vec![
                work!(|process, appender| {
                    for round in 0..3 {
                        process.put(appender, &format!("value {round} that fills half a block or more, so that blocks go round often"));
                    }
                }),
                work!(|process, appender| {
                    for round in 0..10 {
                        process.put_other(appender, &format!("::o{round}"), &format!("other {round} that fills half a block or more, so that blocks go round often"));
                    }
                }),
                work!(|process, _appender| (0..6).for_each(|_| process.read())),
            ],
        );
    });
}

#[test]
fn recycling_beside_clears() {
    explore(400, || {
        let host = Host::new(10);
        run(
            &host,
            vec![
                work!(|process, appender| {
                    for round in 0..3 {
                        process.put(appender, &format!("value {round} that fills half a block or more, so that blocks go round often"));
                        process.read();
                    }
                }),
                work!(|process, appender| {
                    for round in 0..6 {
                        process.put_other(appender, &format!("::o{}", round % 3), &format!("other {round} that fills half a block or more, so that blocks go round often"));
                    }
                }),
                work!(|process, appender| {
                    for round in 0..2 {
                        process.clear();
                        process.put(appender, &format!("after clear {round}, as long as the others, so that blocks go round often"));
                        process.read();
                    }
                }),
            ],
        );
    });
}

/// A touch makes a copy, which may recycle the block in which the entry lies.
#[test]
fn a_touch_beside_recycling() {
    explore(400, || {
        let host = Host::new(9);
        host.process(51).put(
            &mut Appender::default(),
            "before, and long enough to fill half a block of two hundred and fifty-six bytes",
        );
        run(
            &host,
            vec![
                work!(|process, appender| for _ in 0..4 {
                    process.touch(appender);
                    process.read();
                }),
                work!(|process, appender| {
                    for round in 0..6 {
                        process.put_other(appender, &format!("::o{}", round % 3), &format!("other {round} that fills half a block or more, so that blocks go round often"));
                    }
                }),
                work!(|process, _appender| {
                    process.take();
                    process.read();
                }),
            ],
        );
    });
}

/// A writer stopped with a claimed block continues long after the others went round the ring.
#[test]
fn a_stopped_writer_wakes_up() {
    explore(300, || {
        let host = Host::new(7);
        let stopped = host.process(40);
        let mut appender = Appender::default();
        stopped.put_other(&mut appender, "::s0", "before the stop");
        let (process, history) = (stopped.clone(), host.history.clone());
        let waking = thread::spawn(move || {
            process.put(&mut appender, "after the stop");
            process.put_other(&mut appender, "::s1", "and once more");
            drop(history);
        });
        let busy = host.process(41);
        let writer = thread::spawn(move || {
            let mut appender = Appender::default();
            for round in 0..12 {
                busy.put_other(
                    &mut appender,
                    &format!("::o{round}"),
                    &format!("other {round}, long enough that every record takes most of a block of two hundred and fifty-six bytes, so the ring turns"),
                );
                busy.read();
            }
        });
        waking.join().unwrap();
        writer.join().unwrap();
        host.judge();
    });
}
