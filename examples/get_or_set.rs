//! A value is loaded once, however many callers and processes ask, until it is deleted.

use polycache::{duration, Cache, Error};
use serde::{Deserialize, Serialize};

/// A map `{"apple": .., "pear": ..}` for every other language.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Prices {
    apple: u32,
    pear: u32,
}

fn main() -> Result<(), Error> {
    let cache = Cache::builder()
        .path(".cache")
        .namespaces(["examples", "get_or_set.rs"])
        .build()?;
    cache.clear()?;

    let mut loads = 0;
    let mut ask = || {
        cache.get_or_set_with_ttl("prices", duration::parse("5m")?, || {
            loads += 1; // stands for your database
            Ok::<_, std::io::Error>(Prices {
                apple: 120,
                pear: 90,
            })
        })
    };
    ask()?;
    ask()?;
    println!("{:?}", ask()?);
    cache.delete("prices")?;
    ask()?;
    assert_eq!(loads, 2, "once, and once after the delete");
    println!("{:?} to live", cache.ttl("prices")?);

    // A loader's error is its caller's; nothing is stored, and the next caller loads.
    let broken = cache.get_or_set("broken", || "a price".parse::<u32>());
    println!("{}", broken.unwrap_err());
    assert!(!cache.has("broken")?);

    // None is a value (null elsewhere), apart from a miss.
    cache.set("discount", &None::<u32>)?;
    assert_eq!(cache.get::<Option<u32>>("discount")?, Some(None));
    assert_eq!(cache.get::<Option<u32>>("absent")?, None);
    Ok(())
}
