//! Puts and deletes of one key beside each other, readers and clears.

use super::{explore, run, with_neighbour, work, Host, Process, OTHER};
use crate::block::Appender;

#[test]
fn publish_and_replace_beside_readers() {
    explore(600, || {
        let host = Host::new(12);
        run(
            &host,
            vec![
                work!(|process, appender| {
                    process.put(appender, "first, rather long");
                    process.put(appender, "second");
                }),
                work!(|process, _appender| (0..3).for_each(|_| process.read())),
                work!(|process, _appender| (0..3).for_each(|_| process.read())),
            ],
        );
    });
}

#[test]
fn two_inserters_race_for_one_key() {
    explore(1500, || {
        let host = with_neighbour(16);
        run(
            &host,
            vec![
                work!(|process, appender| process.put(appender, "a")),
                work!(|process, appender| {
                    process.put(appender, "b");
                    process.read();
                }),
                work!(|process, _appender| process.delete_other()),
            ],
        );
    });
}

/// The races above concern different slots only if the neighbour occupies the first one.
#[test]
fn the_neighbour_stands_in_the_keys_first_slot() {
    explore(1, || {
        let host = with_neighbour(16);
        let process = host.process(1);
        let first = process.engine.slots_of(process.key().hash).next().unwrap();
        let found = process.engine.find(process.engine.key(OTHER), 1).unwrap();
        assert_eq!(found.slot, first);
    });
}

#[test]
fn put_and_delete_race() {
    explore(1000, || {
        let host = with_neighbour(16);
        run(
            &host,
            vec![
                work!(|process, appender| process.put(appender, "a")),
                work!(|process, appender| process.put(appender, "b")),
                work!(|process, _appender| {
                    process.delete_other();
                    process.delete();
                    process.read();
                }),
            ],
        );
    });
}

/// A put that began before the clear must not replace one that began after it.
#[test]
fn puts_and_a_clear_race() {
    explore(2000, || {
        let host = Host::new(16);
        run(
            &host,
            vec![
                work!(|process, appender| process.put(appender, "a")),
                work!(|process, appender| {
                    process.clear();
                    process.put(appender, "b");
                    process.read();
                }),
                work!(|process, _appender| (0..2).for_each(|_| process.read())),
            ],
        );
    });
}
