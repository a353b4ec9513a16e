//! `pair write` stores a user under a derived key; `pair read`, another process, finds it.

use polycache::{Cache, CacheKey};

#[derive(CacheKey)]
#[cache_key(prefix = "user")]
struct UserKey {
    id: u64,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cache = Cache::builder().path(".cache-of-two").build()?;
    let key = UserKey { id: 7 }.cache_key();
    if std::env::args().nth(1).as_deref() == Some("write") {
        cache.set(&key, "Ada")?;
    }
    let name: Option<String> = cache.get(&key)?;
    println!("{key} is {}", name.ok_or("nobody")?);
    Ok(())
}
