//! A cache in this process's memory: the crate `polycache` without a path, and the tier by itself.

use polycache::Cache;
use std::convert::Infallible;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cache = Cache::builder().max_entries(100).build()?;
    let mut loads = 0;
    for _ in 0..3 {
        let answer = cache.get_or_set("answer", || {
            loads += 1;
            Ok::<_, Infallible>(42)
        })?;
        assert_eq!(answer, 42);
    }
    assert_eq!(loads, 1);

    let tier = polycache_memory::MemoryCache::<String, u64>::new(100)?;
    tier.set("answer".into(), cache.get("answer")?.unwrap_or(0))?;
    println!("loaded once: {}", tier.get(&"answer".to_owned()).unwrap_or_default());
    Ok(())
}
