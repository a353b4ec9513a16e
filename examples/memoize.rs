//! Remembers what a function returned, for every process of the machine, for a while.

use polycache::{Cache, Error};
use serde::{de::DeserializeOwned, Serialize};
use std::cell::Cell;
use std::convert::Infallible;
use std::time::Duration;

fn memoize<A: Serialize, R: Serialize + DeserializeOwned>(
    answers: Cache,
    ttl: Duration,
    work: impl Fn(&A) -> R,
) -> impl Fn(A) -> Result<R, Error> {
    move |question| {
        let key = serde_json::to_string(&question).expect("the arguments have a JSON form");
        answers.get_or_set_with_ttl(key, ttl, || Ok::<_, Infallible>(work(&question)))
    }
}

fn main() -> Result<(), Error> {
    let cache = Cache::builder()
        .path(".cache")
        .namespaces(["examples", "memoize.rs"])
        .build()?;
    cache.clear()?;

    let calls = Cell::new(0);
    let hour = Duration::from_secs(3600);
    let distance = memoize(
        cache.namespace("distance")?,
        hour,
        |(start, end): &(String, String)| {
            calls.set(calls.get() + 1);
            start.len() * end.len()
        },
    );

    for (start, end) in [("Oslo", "Rome"), ("Oslo", "Rome"), ("Rome", "Tallinn")] {
        println!(
            "{start} to {end}: {}",
            distance((start.into(), end.into()))?
        );
    }
    println!("{} calls for 3 questions", calls.get());
    assert_eq!(calls.get(), 2);
    Ok(())
}
