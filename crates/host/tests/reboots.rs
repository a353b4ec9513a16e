//! A power loss under a real directory: its files are put together from pages of several moments, and opened as
//! in the next boot. `crates/host/src/tests/replay/` does the same to the engine, at every store and with finer
//! pieces.

mod support;

use polycache_host::{Namespace, Store};
use std::collections::HashSet;
use std::os::unix::fs::FileExt;
use std::path::Path;
use support::faulty::{with_io, Faulty};
use support::{entry, entry_until, get, text};

const KEYS: usize = 900;
const MOMENTS: usize = 14;
const IMAGES: usize = 60;
const PAGE: usize = 4096;
/// Keys that are stored once, so many that another level of the index is opened.
const MORE_KEYS: usize = 26_000;
/// At which moment.
const MORE_AT: usize = 5;
const LIMIT: u64 = 8 << 20;
/// Values from here on lie in several blocks.
const LARGE: usize = 66_000;
const NAMESPACES: [&[&str]; 3] = [&["a"], &["a", "b"], &["c"]];
/// Milliseconds since 1970 at which entries that expire do so: long past, or far ahead.
const EXPIRY: [u64; 2] = [1, 1 << 47];

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % end as u64) as usize
    }
}

/// What was in the files and under the keys at a moment between two operations.
struct Moment {
    files: [Vec<u8>; 2],
    served: Vec<Option<String>>,
    /// What was stored under which key since the moment before.
    stored: Vec<(usize, String)>,
    /// Everything was on the disk.
    is_flushed: bool,
}

const FILES: [&str; 2] = ["v2/index", "v2/blocks/0000"];

fn boot(path: &Path, number: u8) -> Store {
    let mut io = Faulty::new(-1, 0);
    io.boot = number;
    let mut options = with_io(path, io);
    options.limit = Some(LIMIT);
    options.flush_every = None;
    Store::open(&options).unwrap()
}

fn namespaces(store: &Store) -> Vec<Namespace> {
    let of = |parts| store.namespace(parts).unwrap();
    NAMESPACES.into_iter().map(of).collect()
}

fn key(number: usize) -> Vec<u8> {
    format!("key {number}").into_bytes()
}

fn served(store: &Store, all: &[Namespace]) -> Vec<Option<String>> {
    (0..KEYS)
        .map(|number| get(store, &all[number % all.len()], &key(number)))
        .collect()
}

/// Some hundred changes of all kinds; what was stored under which key.
fn live(
    store: &Store,
    all: &[Namespace],
    random: &mut Random,
    moment: usize,
) -> Vec<(usize, String)> {
    let mut stored = Vec::new();
    for change in 0..700 {
        let number = random.below(KEYS);
        let (ns, key) = (&all[number % all.len()], key(number));
        let len = match random.below(100) {
            0 => LARGE + random.below(2 * LARGE),
            _ => random.below(900),
        };
        let value = format!("{moment} {change} {}", "x".repeat(len));
        match random.below(20) {
            0 | 1 => drop(store.delete(ns, &key).unwrap()),
            2 => {
                let expires = EXPIRY[random.below(2)];
                store
                    .put(ns, &key, &entry_until(&value, 0, expires))
                    .unwrap();
                stored.push((number, value));
            }
            3 | 4 => {
                // An increment: the number at the end is one more.
                let mut out = Vec::new();
                if let Some(hit) = store.get(ns, &key, &mut out).unwrap() {
                    let more = format!("{}+1", text(&out));
                    assert!(store.replace(ns, &key, hit, &entry(&more)).unwrap());
                    stored.push((number, more));
                }
            }
            5 if change % 23 == 0 => store.clear(ns).unwrap(),
            6 => {
                let other = store.namespace(&[format!("o{}", random.below(5000))]);
                store.clear(&other.unwrap()).unwrap();
            }
            7 => {
                if store.add(ns, &key, &entry(&value)).unwrap() {
                    stored.push((number, value));
                }
            }
            _ => {
                store.put(ns, &key, &entry(&value)).unwrap();
                stored.push((number, value));
            }
        }
    }
    stored
}

fn more_key(number: usize) -> Vec<u8> {
    format!("more {number}").into_bytes()
}

#[test]
fn a_directory_after_a_power_loss_has_what_it_had_since_the_last_flush() {
    let dir = tempfile::tempdir().unwrap();
    let files = FILES.map(|name| dir.path().join(name));
    let mut random = Random(20_261_123);
    let store = boot(dir.path(), 0);
    let all = namespaces(&store);
    let more = store.namespace(&["more"]).unwrap();
    let mut moments = Vec::new();
    for moment in 0..MOMENTS {
        let stored = live(&store, &all, &mut random, moment);
        for number in (0..MORE_KEYS).filter(|_| moment == MORE_AT) {
            let value = entry(&number.to_string());
            store.put(&more, &more_key(number), &value).unwrap();
        }
        let is_flushed = moment % 3 == 1;
        if is_flushed {
            store.flush().unwrap();
        }
        let served = served(&store, &all);
        moments.push(Moment {
            // What is mapped is what is read.
            files: files.each_ref().map(|file| std::fs::read(file).unwrap()),
            served,
            stored,
            is_flushed,
        });
    }
    drop(store);
    let lens: HashSet<_> = moments.iter().map(|moment| moment.files[0].len()).collect();
    assert_eq!(lens.len(), 2, "a level was opened");
    let (mut kept, mut kept_large, mut kept_more) = (0, 0, 0);
    for image in 0..IMAGES {
        let last = 2 + random.below(MOMENTS - 2);
        let flush = (0..=last).rfind(|at| moments[*at].is_flushed).unwrap();
        // From one of two moments, or any.
        let span = last - flush + 1;
        let choice = random.below(3);
        for (place, path) in files.iter().enumerate() {
            let file = std::fs::File::options().write(true).open(path).unwrap();
            // The file's length is what the last moment says, or longer pages would be lost.
            let len = moments[last].files[place].len();
            file.set_len(len as u64).unwrap();
            for at in (0..len).step_by(PAGE) {
                let moment = match choice {
                    0 => flush + random.below(span),
                    1 => [flush, last][random.below(2)],
                    _ if random.below(8) == 0 => flush,
                    _ => last,
                };
                let bytes = &moments[moment].files[place];
                let end = bytes.len().min(at + PAGE);
                file.write_all_at(&vec![0; PAGE.min(len - at)], at as u64)
                    .unwrap();
                if at < end {
                    file.write_all_at(&bytes[at..end], at as u64).unwrap();
                }
            }
        }
        let store = boot(dir.path(), 1);
        assert_eq!(store.check().unwrap().damaged, [""; 0], "image {image}");
        let all = namespaces(&store);
        for (number, found) in served(&store, &all).into_iter().enumerate() {
            let Some(found) = found else { continue };
            kept += 1;
            kept_large += usize::from(found.len() > LARGE);
            let mut since = moments[flush + 1..=last]
                .iter()
                .flat_map(|moment| &moment.stored);
            let is_allowed = moments[flush].served[number].as_ref() == Some(&found)
                || since.any(|(key, text)| *key == number && *text == found);
            assert!(is_allowed, "image {image}, key {number}: {found:?}");
        }
        for number in 0..MORE_KEYS {
            if let Some(found) = get(&store, &more, &more_key(number)) {
                assert!(
                    last >= MORE_AT && found == number.to_string(),
                    "image {image}"
                );
                kept_more += 1;
            }
        }
        live(&store, &all, &mut random, MOMENTS);
        assert_eq!(store.check().unwrap().damaged, [""; 0], "image {image}");
    }
    assert!(kept_large > IMAGES && kept_more > IMAGES * MORE_KEYS / 5);
    // A third of what could be there at least.
    assert!(kept > IMAGES * KEYS / 5, "{kept}");
}

#[test]
fn a_directory_after_a_stop_in_order_has_everything() {
    let dir = tempfile::tempdir().unwrap();
    let mut random = Random(7);
    let mut before = Vec::new();
    for number in 0..4 {
        let store = boot(dir.path(), number);
        let all = namespaces(&store);
        if number > 0 {
            assert_eq!(served(&store, &all), before, "boot {number}");
        }
        live(&store, &all, &mut random, number.into());
        before = served(&store, &all);
    }
}
