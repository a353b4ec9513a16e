//! Any operations, one after the other, against a plain map with a clock.

mod common;

use common::{Time, Told};
use polycache_memory::{Builder, MemoryCache, RemovalCause, Ttl, TtlLeft};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::time::Duration;

const TTL: u64 = 50;
const IDLE: u64 = 30;

#[derive(Clone, Debug)]
enum Step {
    Set(u64, u64),
    SetFor(u64, u64, u64),
    SetForever(u64, u64),
    Get(u64),
    Peek(u64),
    Has(u64),
    Left(u64),
    Delete(u64),
    Take(u64),
    Load(u64, u64),
    FailToLoad(u64),
    Modify(u64, u64),
    ModifyOrInsert(u64, u64),
    Clear,
    Purge,
    Walk,
    Pass(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let key = || 0..40_u64;
    let value = || 0..60_u64;
    let step = prop_oneof![
        5 => (key(), value()).prop_map(|(key, value)| Step::Set(key, value)),
        2 => (key(), value(), 1..100_u64).prop_map(|(key, value, ms)| Step::SetFor(key, value, ms)),
        1 => (key(), value()).prop_map(|(key, value)| Step::SetForever(key, value)),
        5 => key().prop_map(Step::Get),
        1 => key().prop_map(Step::Peek),
        1 => key().prop_map(Step::Has),
        1 => key().prop_map(Step::Left),
        2 => key().prop_map(Step::Delete),
        1 => key().prop_map(Step::Take),
        3 => (key(), value()).prop_map(|(key, value)| Step::Load(key, value)),
        1 => key().prop_map(Step::FailToLoad),
        1 => (key(), value()).prop_map(|(key, value)| Step::Modify(key, value)),
        1 => (key(), value()).prop_map(|(key, value)| Step::ModifyOrInsert(key, value)),
        1 => Just(Step::Clear),
        1 => Just(Step::Purge),
        1 => Just(Step::Walk),
        4 => (0..40_u64).prop_map(Step::Pass),
    ];
    prop::collection::vec(step, 1..300)
}

/// What the cache must hold, except for entries that it may evict.
#[derive(Clone, Copy, Debug)]
struct Kept {
    value: u64,
    expires: u64,
    used: u64,
}

#[derive(Debug)]
struct Model {
    entries: BTreeMap<u64, Kept>,
    ttl: bool,
    idle: bool,
    /// Entries that it may hold; if bytes are bounded, each weighs `1 + value`.
    max_entries: u64,
    max_bytes: Option<u64>,
}

impl Model {
    fn over(&self, kept: &Kept, now: u64) -> bool {
        now >= kept.expires || (self.idle && now >= kept.used + IDLE)
    }

    fn live(&self, key: u64, now: u64) -> Option<Kept> {
        let kept = self.entries.get(&key).copied();
        kept.filter(|kept| !self.over(kept, now))
    }

    fn set(&mut self, key: u64, value: u64, ttl: Option<u64>, now: u64) -> bool {
        if self.max_bytes.is_some_and(|most| 1 + value > most) {
            self.entries.remove(&key);
            return false;
        }
        let ttl = ttl.or(self.ttl.then_some(TTL));
        let expires = ttl.map_or(u64::MAX, |ttl| now.saturating_add(ttl));
        let used = now;
        self.entries.insert(
            key,
            Kept {
                value,
                expires,
                used,
            },
        );
        true
    }

    /// Every removed entry had a reason to leave.
    fn left(&mut self, told: &[(u64, u64, RemovalCause)], now: u64) {
        for (key, value, cause) in told {
            match cause {
                RemovalCause::Evicted => {
                    let kept = self.live(*key, now).expect("only what is there is evicted");
                    assert_eq!(kept.value, *value);
                    self.entries.remove(key);
                }
                RemovalCause::Expired => {
                    let kept = self.entries.get(key).expect("only what is there expires");
                    assert_eq!(kept.value, *value);
                    assert!(self.over(kept, now), "its time is over");
                    self.entries.remove(key);
                }
                _ => {}
            }
        }
    }
}

fn check(model: Model, shards: usize, steps: &[Step]) {
    let mut model = model;
    let time = Time::default();
    let mut builder: Builder<u64, u64> = MemoryCache::builder();
    builder = builder
        .max_entries(model.max_entries)
        .clock(time.clock())
        .shards(shards);
    if model.ttl {
        builder = builder.ttl(Duration::from_millis(TTL));
    }
    if model.idle {
        builder = builder.time_to_idle(Duration::from_millis(IDLE));
    }
    if let Some(most) = model.max_bytes {
        builder = builder.max_bytes(most).weigher(|_, value| 1 + value);
    }
    let (builder, told) = Told::by(builder);
    let cache = builder.build().unwrap();
    for step in steps {
        let now = time.now();
        let before: Vec<(u64, Kept)> = model.entries.iter().map(|(k, v)| (*k, *v)).collect();
        // An operation's own effect comes last: entries that make way for it leave first.
        match step.clone() {
            Step::Set(key, value) => {
                let stored = if value % 2 == 0 {
                    cache.set(key, value).is_ok()
                } else {
                    cache.set_by_ref(&key, value).is_ok()
                };
                model.left(&others(&told, key), now);
                assert_eq!(model.set(key, value, None, now), stored);
            }
            Step::SetFor(key, value, ms) => {
                let stored = cache
                    .set_with_ttl(key, value, Duration::from_millis(ms))
                    .is_ok();
                model.left(&others(&told, key), now);
                assert_eq!(model.set(key, value, Some(ms), now), stored);
            }
            Step::SetForever(key, value) => {
                let stored = cache.set_with_ttl(key, value, Ttl::Forever).is_ok();
                model.left(&others(&told, key), now);
                assert_eq!(model.set(key, value, Some(u64::MAX), now), stored);
            }
            Step::Get(key) => {
                let expected = model.live(key, now).map(|kept| kept.value);
                let read = if key % 2 == 0 {
                    cache.get(&key)
                } else {
                    // SAFETY: only this thread has the cache, and numbers do not use it.
                    unsafe { cache.get_exclusively(&key) }
                };
                assert_eq!(read, expected);
                if expected.is_some() {
                    model.entries.entry(key).and_modify(|kept| kept.used = now);
                }
            }
            Step::Peek(key) => {
                let expected = model.live(key, now).map(|kept| kept.value);
                assert_eq!(cache.peek(&key), expected);
            }
            Step::Has(key) => assert_eq!(cache.has(&key), model.live(key, now).is_some()),
            Step::Left(key) => {
                let ends = |kept: Kept| {
                    let idles = if model.idle {
                        kept.used + IDLE
                    } else {
                        u64::MAX
                    };
                    match kept.expires.min(idles) {
                        u64::MAX => TtlLeft::Forever,
                        ends => TtlLeft::For(Duration::from_millis(ends - now)),
                    }
                };
                let left = cache.ttl(&key);
                // Forever, given as a time to live, is a very long time in the model.
                assert_eq!(left, model.live(key, now).map(ends));
            }
            Step::Delete(key) => {
                let expected = model.live(key, now).is_some();
                assert_eq!(cache.delete(&key), expected);
                model.left(&told.take(), now);
                model.entries.remove(&key);
            }
            Step::Take(key) => {
                let expected = model.live(key, now).map(|kept| kept.value);
                assert_eq!(cache.take(&key), expected);
                model.left(&told.take(), now);
                model.entries.remove(&key);
            }
            Step::Load(key, value) => {
                let found = model.live(key, now);
                let loaded = cache.get_or_insert_with(&key, || value);
                match found {
                    Some(kept) => {
                        assert_eq!(loaded.unwrap(), kept.value);
                        model.entries.entry(key).and_modify(|kept| kept.used = now);
                    }
                    None => {
                        model.left(&others(&told, key), now);
                        let stored = model.set(key, value, None, now);
                        assert_eq!(loaded.ok(), stored.then_some(value));
                    }
                }
            }
            Step::FailToLoad(key) => {
                let found = model.live(key, now);
                let loaded = cache.get_or_set(&key, || Err("as planned"));
                assert_eq!(loaded.ok(), found.map(|kept| kept.value));
                if found.is_some() {
                    model.entries.entry(key).and_modify(|kept| kept.used = now);
                }
            }
            Step::Modify(key, add) => {
                let found = model.live(key, now);
                let entry = cache.entry(key).and_modify(|value| *value += add);
                let modified = entry.or_try_insert_with(|| Err("there is none"));
                if let Some(kept) = found {
                    model.left(&others(&told, key), now);
                    let stored = model.set(key, kept.value + add, Some(kept.expires - now), now);
                    assert_eq!(modified.ok(), stored.then_some(kept.value + add));
                } else {
                    assert!(modified.is_err());
                }
            }
            Step::ModifyOrInsert(key, value) => {
                let found = model.live(key, now);
                let entry = cache.entry(key).and_modify(|value| *value += 1);
                let result = entry.or_insert(value);
                model.left(&others(&told, key), now);
                let (value, ttl) = match found {
                    Some(kept) => (kept.value + 1, Some(kept.expires - now)),
                    None => (value, None),
                };
                let stored = model.set(key, value, ttl, now);
                assert_eq!(result.ok(), stored.then_some(value));
            }
            Step::Clear => {
                cache.clear();
                model.entries.clear();
                assert!(cache.is_empty());
            }
            Step::Purge => {
                cache.purge_expired();
                model.left(&told.take(), now);
                let over = model.entries.values().filter(|kept| model.over(kept, now));
                assert_eq!(over.count(), 0, "what is over was taken out");
            }
            Step::Walk => {
                let mut walked: Vec<(u64, u64)> = cache.iter().collect();
                walked.sort_unstable();
                let live = before.iter().filter(|(_, kept)| !model.over(kept, now));
                let live: Vec<_> = live.map(|(key, kept)| (*key, kept.value)).collect();
                assert_eq!(walked, live);
                let mut keys: Vec<u64> = cache.keys().collect();
                keys.sort_unstable();
                assert!(keys.iter().eq(live.iter().map(|(key, _)| key)));
            }
            Step::Pass(ms) => time.pass(ms),
        }
        model.left(&told.take(), time.now());
        assert_eq!(cache.len(), model.entries.len());
        assert!(cache.len() as u64 <= model.max_entries);
        if let Some(most) = model.max_bytes {
            let sum: u64 = model.entries.values().map(|kept| 1 + kept.value).sum();
            assert_eq!(cache.bytes(), sum);
            assert!(sum <= most);
        }
    }
}

/// What the listener was told about other keys, and about this one when it was evicted for its
/// successor.
fn others(told: &Told<u64, u64>, key: u64) -> Vec<(u64, u64, RemovalCause)> {
    let mut told = told.take();
    told.retain(|told| told.0 != key);
    told
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() })]

    #[test]
    fn it_holds_what_a_map_would(
        steps in steps(),
        ttl: bool,
        idle: bool,
        max_entries in prop_oneof![1..12_u64, Just(1000)],
        max_bytes in prop::option::of(1..400_u64),
        shards in prop_oneof![Just(1), Just(2), Just(8)],
    ) {
        let entries = BTreeMap::new();
        let model = Model { entries, ttl, idle, max_entries, max_bytes };
        check(model, shards, &steps);
    }
}
