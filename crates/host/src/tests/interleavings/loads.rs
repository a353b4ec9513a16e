//! Loads beside what invalidates them.

use super::{explore, run, with_neighbour, work, Process};
use crate::block::Appender;

#[test]
fn a_delete_invalidates_a_load() {
    explore(1000, || {
        let host = with_neighbour(16);
        run(
            &host,
            vec![
                work!(|process, appender| process.load(appender, "loaded")),
                work!(|process, _appender| {
                    process.delete();
                    process.read();
                }),
                work!(|process, _appender| process.delete_other()),
            ],
        );
    });
}

#[test]
fn a_load_a_put_and_a_clear_race() {
    explore(2000, || {
        let host = with_neighbour(20);
        run(
            &host,
            vec![
                work!(|process, appender| process.load(appender, "loaded")),
                work!(|process, appender| {
                    process.delete_other();
                    process.put(appender, "a");
                }),
                work!(|process, appender| {
                    process.clear();
                    process.put(appender, "b");
                    process.read();
                }),
            ],
        );
    });
}

/// The loader chose its slot before the put took another one.
#[test]
fn a_loader_and_an_inserter_race() {
    explore(2000, || {
        let host = with_neighbour(16);
        run(
            &host,
            vec![
                work!(|process, appender| process.load(appender, "loaded")),
                work!(|process, appender| {
                    process.delete_other();
                    process.put(appender, "put");
                    process.read();
                }),
            ],
        );
    });
}

#[test]
fn loaders_a_put_and_a_delete_race() {
    explore(1500, || {
        let host = with_neighbour(20);
        run(
            &host,
            vec![
                work!(|process, appender| process.load(appender, "loaded 1")),
                work!(|process, appender| {
                    process.load(appender, "loaded 2");
                    process.read();
                }),
                work!(|process, appender| {
                    process.delete_other();
                    process.put(appender, "put");
                    process.read();
                }),
                work!(|process, _appender| {
                    process.delete();
                    process.read();
                }),
            ],
        );
    });
}
