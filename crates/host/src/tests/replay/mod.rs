//! What a power loss leaves, and what recovery makes of it (`spec/host.md`, "Reboots").
//!
//! A run of the engine records each store of eight bytes. An image of the disk after a power loss is made from it:
//! each piece of a page is as it was at a moment of its own, at any time since the last complete flush began.
//! Pieces are whole pages, sectors of 512 bytes, or single words. The production recovery opens the image, and each
//! key is compared with its history: it has what it had at or after that moment, or nothing, and nothing only if
//! it was changed since. `REPLAYS=100` makes a hundred times as many images.

mod history;
mod life;
mod memory;
mod random;

use crate::block::descriptor;
use crate::layout::header;
use crate::record::RecordHeader;
use crate::shared_memory::SharedMemory;
use crate::tests::setup::{enter, entry};
use crate::word::State;
use history::History;
use life::{clear, engine, geometry, served, Life, Small, KEYS, LARGE};
use memory::{cut_levels, empty, Image, Recorded};
use random::{mix, Random};
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// Words of a piece of the disk that is written at once.
const PIECES: [usize; 3] = [1, 64, 512];
const OPERATIONS: usize = 260;
const IMAGES: usize = 60;

/// When each piece of the disk was written.
struct Loss {
    /// The last complete flush, if there was one, and when it began.
    flush: Option<usize>,
    begun: usize,
    /// When its mark was on the disk.
    marked: usize,
    crash: usize,
    piece: usize,
    how: usize,
    seed: u64,
}

impl Loss {
    fn new(life: &Life, random: &mut Random) -> Loss {
        let now = life.stores.len();
        let flushes = life.flushes.lock().unwrap();
        // Often soon after a flush, when little was written since.
        let crash = match flushes.last() {
            Some(_) if random.one_in(2) => {
                let flush = &flushes[random.below(flushes.len())];
                (flush.complete.unwrap_or(flush.begun) + random.below(400)).min(now)
            }
            _ => random.below(now + 1),
        };
        let is_complete = |flush: &life::Flush| flush.complete.is_some_and(|at| at <= crash);
        let flush = flushes.iter().rposition(is_complete);
        Loss {
            flush,
            begun: flush.map_or(0, |flush| flushes[flush].begun),
            marked: flush.and_then(|flush| flushes[flush].complete).unwrap_or(0),
            crash,
            piece: PIECES[random.below(PIECES.len())],
            how: random.below(9),
            seed: random.next(),
        }
    }

    /// The machine was stopped in order: everything is on the disk.
    fn none(life: &Life) -> Loss {
        Loss {
            crash: life.stores.len(),
            how: 0,
            ..Loss::new(life, &mut Random(0))
        }
    }

    /// The moment whose bytes of this piece are on the disk.
    fn moment(&self, place: usize, index: usize) -> usize {
        let mark = [header::MARK_CLEARS / 8, header::MARK_FLOORS_ENDED / 8];
        let is_of_mark = mark.contains(&place);
        let (old, new) = (
            if is_of_mark { self.marked } else { self.begun },
            self.crash,
        );
        let chance = mix(self.seed ^ (place / self.piece) as u64);
        let within = old + (chance >> 8) as usize % (new - old + 1);
        let one_in = |chances| chance % chances == 0;
        let is_index = place < index;
        match self.how {
            0 => new,
            1 => old,
            2 => within,
            3 | 4 => [old, new][usize::from(one_in(2))],
            5 => [old, new][usize::from(is_index)],
            6 => [new, old][usize::from(is_index)],
            7 if one_in(6) => within,
            7 => new,
            _ if one_in(6) => within,
            _ => old,
        }
    }

    /// The image, and the levels that its file has.
    fn image(&self, life: &Life) -> (Image, usize) {
        let index = memory::words_of_index(&geometry());
        let mut image = life.first.clone();
        // When the flush began, and when the power went.
        let mut levels = [life.levels; 2];
        for (time, store) in life.stores[..self.crash].iter().enumerate() {
            if time < self.moment(store.place, index) {
                image[store.place] = store.value;
            }
            if store.place == header::EPOCH / 8 {
                levels[1] = geometry().levels_at(store.value);
                if time < self.begun {
                    levels[0] = levels[1];
                }
            }
        }
        // The file was made longer before the level was opened; on the disk it may not be.
        let levels = if self.how == 0 {
            levels[1]
        } else {
            levels[(self.seed % 2) as usize]
        };
        cut_levels(&geometry(), &mut image, levels);
        (image, levels)
    }

    /// What a key may have.
    fn allowed(&self, history: &History) -> Vec<Option<String>> {
        let states = history.between(self.begun, self.crash).cloned();
        states.chain([None]).collect()
    }
}

/// Recovers an image and compares every key with its history; what each has.
fn judge(life: &Life, loss: &Loss, seed: u64) -> (Image, usize, Vec<Option<String>>) {
    let (image, levels) = loss.image(life);
    let memory = Recorded::new(&geometry(), &image);
    let engine = engine(memory);
    let place = format!(
        "seed {seed}, crash {}, begun {}, piece {}, how {}, chance {}",
        loss.crash, loss.begun, loss.piece, loss.how, loss.seed
    );
    // Of some namespaces it is not known what was cleared.
    let lost: Vec<bool> = KEYS
        .iter()
        .map(|key| {
            let key = key.as_bytes();
            engine.floor_on_disk(key) != engine.floor_of_key(key)
        })
        .collect();
    engine.recover(levels);
    assert_eq!(engine.check().damaged, [""; 0], "{place}");
    all_else_is_dead(&engine, &place);
    let found: Vec<_> = KEYS.iter().map(|key| served(&engine, key)).collect();
    let found: Vec<_> = found
        .into_iter()
        .map(|one| one.map(|(_, text)| text))
        .collect();
    for (number, key) in KEYS.iter().enumerate() {
        let allowed = loss.allowed(&life.histories[number]);
        let found = &found[number];
        assert!(
            allowed.contains(found),
            "{place}: {key} has {found:?}, not one of {allowed:?}"
        );
        if !lost[number] {
            if let Some(text) = unchanged(life, loss, number) {
                assert_eq!(found.as_ref(), Some(&text), "{place}: {key} is missing");
            }
        }
    }
    nothing_comes_back(&engine, &found, &place);
    (image, levels, found)
}

/// What a key had when the last complete flush began, if nothing was done to it since.
fn unchanged(life: &Life, loss: &Loss, number: usize) -> Option<String> {
    let flushes = life.flushes.lock().unwrap();
    let (slot, text) = flushes[loss.flush?].seen[number].clone()?;
    let was_stored = |at: usize| {
        let mut since = life.stores[loss.begun..loss.crash].iter();
        since.any(|store| store.place == at / 8)
    };
    let is_changed = life.histories[number].changes_between(loss.begun, loss.crash)
        || was_stored(life.engine.geometry.slot_at(slot))
        || was_stored(header::FLOOR_OVERFLOWS);
    (!is_changed).then_some(text)
}

/// Bytes that do not belong to the record of a word are free, or count as dead.
fn all_else_is_dead(engine: &Small, place: &str) {
    let geometry = engine.geometry;
    let mut live = vec![0; geometry.blocks as usize];
    for word in (0..engine.open_slots()).map(|slot| engine.word(slot)) {
        if word.state() != State::Value {
            continue;
        }
        let at = u64::from(word.location()) * geometry.unit;
        let header = RecordHeader::parse(&engine.memory.read_array(at));
        match engine.large_of(word) {
            Some(large) => large
                .parts(geometry.block_size)
                .for_each(|part| live[part.block as usize] += geometry.block_size),
            None => {
                live[(at / geometry.block_size) as usize] +=
                    geometry.record_size(header.key_len as usize, header.entry_len as usize);
            }
        }
    }
    for (block, live) in live.into_iter().enumerate() {
        let field = |field| {
            let descriptor = geometry.descriptor_at(block as u64);
            engine.memory.load(descriptor + field)
        };
        let (tail, dead) = (field(descriptor::TAIL), field(descriptor::DEAD));
        assert_eq!(tail.checked_sub(dead), Some(live), "{place}, block {block}");
        assert_eq!(tail == 0, live == 0, "{place}, block {block}");
    }
}

/// Floors end and their cells are given away, and all keys are written anew.
fn nothing_comes_back(engine: &Small, found: &[Option<String>], place: &str) {
    for other in 0..24 {
        clear(engine, &format!("p{other}::"));
    }
    for (key, before) in KEYS.iter().zip(found) {
        let now = served(engine, key).map(|(_, text)| text);
        assert!(
            now.is_none() || now == *before,
            "{place}: {key} has {now:?} again"
        );
    }
    let me = enter(engine, 3);
    for key in KEYS {
        let appender = &mut crate::block::Appender::default();
        let full = engine.key(key.as_bytes());
        engine.put(appender, me, full, &entry("new")).unwrap();
        let now = served(engine, key).map(|(_, text)| text);
        assert_eq!(now.as_deref(), Some("new"), "{place}: {key}");
    }
    clear(engine, "a::");
    for key in KEYS {
        let is_cleared = key.starts_with("a:");
        let now = served(engine, key);
        assert!(!is_cleared || now.is_none(), "{place}: {key} has {now:?}");
    }
    assert_eq!(engine.check().damaged, [""; 0], "{place}");
}

fn seeds(count: u64) -> impl Iterator<Item = u64> {
    let times = std::env::var("REPLAYS").map_or(1, |times| times.parse().expect("a number"));
    0..count * times
}

#[test]
fn after_a_power_loss_each_key_has_what_it_had_since_the_last_flush() {
    let (mut missing, mut large, mut levels) = (0, [0; 3], [0; 3]);
    for seed in seeds(600) {
        let mut life = Life::begin(seed, empty(&geometry()), None, 1);
        life.live(OPERATIONS, true);
        let mut random = Random(!seed);
        for _ in 0..IMAGES {
            let loss = Loss::new(&life, &mut random);
            let (_, open, found) = judge(&life, &loss, seed);
            levels[open - 1] += 1;
            missing += found.iter().filter(|one| one.is_none()).count();
            for text in found.iter().flatten() {
                let blocks = LARGE.iter().rposition(|len| text.len() >= *len);
                blocks.into_iter().for_each(|blocks| large[blocks] += 1);
            }
        }
    }
    // What is shown is shown of all of these: losses, large values of each size, and each number of levels.
    assert!(missing > 0 && !large.contains(&0) && !levels.contains(&0));
}

#[test]
fn after_a_stop_in_order_each_key_has_what_it_had() {
    for seed in seeds(200) {
        let mut life = Life::begin(seed, empty(&geometry()), None, 1);
        life.live(OPERATIONS, seed % 2 == 0);
        let loss = Loss::none(&life);
        let (image, ..) = loss.image(&life);
        let on_disk = engine(Recorded::new(&geometry(), &image));
        let (.., found) = judge(&life, &loss, seed);
        for (key, found) in KEYS.iter().zip(found) {
            let floor = on_disk.floor_on_disk(key.as_bytes());
            // Unless it is not known what was cleared.
            if floor == on_disk.floor_of_key(key.as_bytes()) {
                let then = served(&life.engine, key).map(|(_, text)| text);
                assert_eq!(found, then, "seed {seed}: {key}");
            }
        }
    }
}

/// Or its mark would say of a cell that it was given away before, and of a floor that it stood.
#[test]
fn a_clear_that_a_flush_did_not_see_counts_as_later() {
    for stores in 0..6 {
        let memory = Recorded::new(&geometry(), &empty(&geometry()));
        let (clearing, flushing) = (engine(memory.clone()), engine(memory.clone()));
        let floor = |engine: &Small| engine.floor_of_key(b"a::k");
        let seen = Arc::new(AtomicU64::new(0));
        let sees = seen.clone();
        memory.meanwhile(stores, move || {
            flushing.begin_mark();
            sees.store(floor(&flushing), Ordering::SeqCst);
        });
        clear(&clearing, "a::");
        memory.act();
        let marked = clearing.memory.load(header::FLUSH_CLEARS);
        let (seen, floor) = (seen.load(Ordering::SeqCst), floor(&clearing));
        assert!(
            seen == floor || floor > marked,
            "{stores}: {floor}, {marked}"
        );
    }
}

#[test]
fn a_recovery_that_was_cut_off_is_begun_anew() {
    let mut cuts = 0;
    for seed in seeds(150) {
        let mut life = Life::begin(seed, empty(&geometry()), None, 1);
        life.live(OPERATIONS, true);
        let mut random = Random(seed ^ 0x00c0_ffee);
        let loss = Loss::new(&life, &mut random);
        let (image, levels, found) = judge(&life, &loss, seed);
        let whole = Recorded::new(&geometry(), &image);
        engine(whole.clone()).recover(levels);
        for _ in 0..8 {
            let memory = Recorded::new(&geometry(), &image);
            memory.meanwhile(random.below(whole.now()), || resume_unwind(Box::new(())));
            let engine = engine(memory);
            cuts += usize::from(catch_unwind(AssertUnwindSafe(|| engine.recover(levels))).is_err());
            engine.recover(levels);
            all_else_is_dead(&engine, &format!("seed {seed}"));
            for (key, found) in KEYS.iter().zip(&found) {
                let now = served(&engine, key).map(|(_, text)| text);
                assert_eq!(&now, found, "seed {seed}: {key}");
            }
        }
    }
    assert!(cuts > 0);
}

/// The power goes again before anything was flushed: what was on the disk before may show once more.
#[test]
fn a_second_power_loss_takes_back_no_more_than_the_flush_before_the_first() {
    for seed in seeds(200) {
        let mut life = Life::begin(seed, empty(&geometry()), None, 1);
        life.live(OPERATIONS, true);
        let mut random = Random(seed ^ 0x5ec0_0d00);
        let loss = Loss::new(&life, &mut random);
        let (image, levels, found) = judge(&life, &loss, seed);
        let histories = life.histories.iter().zip(found);
        let histories = histories.map(|(history, found)| {
            let mut states = loss.allowed(history);
            states.push(found);
            History::of(states)
        });
        let mut second = Life::begin(!seed, image, Some(histories.collect()), levels);
        second.live(OPERATIONS / 4, false);
        for _ in 0..IMAGES / 2 {
            judge(&second, &Loss::new(&second, &mut random), seed);
        }
    }
}
