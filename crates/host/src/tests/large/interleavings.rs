//! What shuttle finds of writers, readers, touches, removers and cleaners of large values.

use super::long;
use crate::block::Appender;
use crate::tests::interleavings::{explore, run, work, Host, Process};

#[test]
fn replacing_beside_readers() {
    explore(300, || {
        let host = Host::new(12);
        run(
            &host,
            vec![
                work!(|process, appender| {
                    process.put(appender, &long("first", 2));
                    process.put(appender, &long("second", 3));
                    process.put(appender, "third");
                }),
                work!(|process, _appender| (0..3).for_each(|_| process.read())),
                work!(|process, _appender| (0..3).for_each(|_| process.read())),
            ],
        );
    });
}

#[test]
fn blocks_are_used_again_beside_readers() {
    explore(300, || {
        let host = Host::new(8);
        run(
            &host,
            vec![
                work!(|process, appender| {
                    process.put(appender, &long("first", 2));
                    process.put_other(appender, "::o", &long("other", 2));
                    process.put_other(appender, "::p", &long("another", 2));
                    process.put(appender, &long("second", 2));
                    process.put_other(appender, "::o", &long("others", 2));
                }),
                work!(|process, _appender| (0..3).for_each(|_| process.read())),
                work!(|process, appender| {
                    process.put_other(appender, "::q", &long("more", 2));
                    process.read();
                }),
            ],
        );
    });
}

#[test]
fn touches_beside_a_delete_a_take_and_cleaners() {
    explore(300, || {
        let host = Host::new(8);
        host.process(50)
            .put(&mut Appender::default(), &long("touched", 2));
        run(
            &host,
            vec![
                work!(|process, appender| {
                    process.touch(appender);
                    process.touch(appender);
                    process.read();
                }),
                work!(|process, appender| {
                    process.put_other(appender, "::o", &long("other", 2));
                    process.put_other(appender, "::p", &long("another", 2));
                }),
                work!(|process, appender| {
                    process.delete();
                    process.put(appender, &long("new", 2));
                    process.take();
                }),
            ],
        );
    });
}

#[test]
fn loads_beside_sets_and_clears() {
    explore(300, || {
        let host = Host::new(12);
        run(
            &host,
            vec![
                work!(|process, appender| process.load(appender, &long("loaded", 2))),
                work!(|process, appender| {
                    process.clear();
                    process.put(appender, &long("set", 3));
                    process.read();
                }),
                work!(|process, _appender| (0..2).for_each(|_| process.read())),
            ],
        );
    });
}

/// Each needs half of the blocks that are left: one of them gives its own back, and both end.
#[test]
fn two_large_writers_at_once_both_get_their_blocks() {
    explore(200, || {
        let host = Host::new(8);
        run(
            &host,
            vec![
                work!(|process, appender| {
                    process.put(appender, &long("a", 2));
                    process.put(appender, &long("b", 2));
                }),
                work!(|process, appender| process.put_other(appender, "::o", &long("c", 2))),
                work!(|process, appender| process.put_other(appender, "::p", &long("d", 2))),
            ],
        );
    });
}
