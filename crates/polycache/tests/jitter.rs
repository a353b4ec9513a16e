//! Times to live that differ.

use polycache::{Cache, Clock, Jitter, Ttl, TtlLeft};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

const TTL: Duration = Duration::from_millis(1000);

/// The time to live of a write for which the source gives this number.
fn ttl_by(jitter: impl Into<Jitter>, random: u64) -> Duration {
    let cache = Cache::builder()
        .clock(Clock::Manual(Arc::new(AtomicU64::new(1_700_000_000_000))))
        .ttl(TTL)
        .jitter(jitter)
        .jitter_source(move || random)
        .build()
        .unwrap();
    cache.set("k", "v").unwrap();
    let Some(TtlLeft::For(left)) = cache.ttl("k").unwrap() else {
        panic!("no time to live")
    };
    cache.set_with_ttl("own", "v", TTL).unwrap();
    assert_eq!(cache.ttl("own").unwrap(), Some(TtlLeft::For(TTL)));
    cache.set_with_ttl("forever", "v", Ttl::Forever).unwrap();
    assert_eq!(cache.ttl("forever").unwrap(), Some(TtlLeft::Forever));
    left
}

#[test]
fn a_source_decides() {
    let ms = Duration::from_millis;
    assert_eq!(ttl_by(0.1, 0), ms(1000));
    assert_eq!(ttl_by(0.1, u64::MAX), ms(900));
    assert_eq!(ttl_by(0.1, u64::MAX / 2), ms(950));
    assert_eq!(ttl_by(ms(250), u64::MAX), ms(750));
    assert_eq!(ttl_by(0.0, u64::MAX), ms(1000));
    // Never 0.
    assert_eq!(ttl_by(0.9999, u64::MAX), ms(1));
    assert_eq!(ttl_by(ms(999), u64::MAX), ms(1));
}

#[test]
fn writes_spread_evenly_over_the_span() {
    let time = Arc::new(AtomicU64::new(1_700_000_000_000));
    let cache = Cache::builder()
        .clock(Clock::Manual(time.clone()))
        .ttl(TTL)
        .jitter(0.5)
        .build()
        .unwrap();
    for number in 0..2000 {
        cache.set(number.to_string(), &number).unwrap();
    }
    time.fetch_add(499, Ordering::Relaxed);
    assert_eq!(cache.keys("").count(), 2000);
    time.fetch_add(251, Ordering::Relaxed);
    let half = cache.keys("").count();
    assert!(
        (800..1200).contains(&half),
        "{half} are left after half of the span"
    );
    time.fetch_add(250, Ordering::Relaxed);
    assert_eq!(cache.keys("").count(), 0);
}

#[test]
fn out_of_range_is_refused() {
    let wrong = [-0.1, 1.0, 1.1, f64::NAN, f64::INFINITY];
    let builder = || Cache::builder().ttl(TTL);
    let mut wrong: Vec<_> = wrong.map(|part| builder().jitter(part)).into();
    wrong.push(builder().jitter(TTL));
    wrong.push(builder().jitter(Duration::MAX));
    wrong.push(Cache::builder().jitter(0.1));
    for builder in wrong {
        let error = builder.clone().build().expect_err(&format!("{builder:?}"));
        assert_eq!(error.code(), "invalid_argument", "{error}");
    }
    let told = |jitter: Jitter| builder().jitter(jitter).build().unwrap_err().to_string();
    let words = "write a part of the ttl, from 0 to below 1, or a duration below it";
    assert_eq!(told(1.0.into()), format!("jitter is 1: {words}"));
    assert_eq!(
        told(TTL.into()),
        format!("jitter is {} ms: {words}", TTL.as_millis())
    );
}
