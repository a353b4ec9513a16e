//! Namespaces keep keys apart, nest, and are cleared in one step, however much they hold.

use polycache::{Cache, Error};

fn main() -> Result<(), Error> {
    let shop = Cache::builder()
        .path(".cache")
        .namespaces(["examples", "namespaces.rs"])
        .build()?;
    shop.clear()?;
    let users = shop.namespace("users")?;
    let archive = users.namespace("archive")?;
    let neighbours = shop.namespace("usersAbc")?;
    let all = [&shop, &users, &archive, &neighbours];

    for cache in all {
        cache.set("1", "here")?;
    }
    users.set_many([
        ("name:ada", "Ada"),
        ("name:alan", "Alan"),
        ("city:ada", "London"),
    ])?;
    for key in users.keys("name:") {
        println!("{}", String::from_utf8_lossy(&key?));
    }
    let found = users.get_many::<String, _>(["name:ada", "name:eve"])?;
    assert_eq!(found.len(), 1);
    assert_eq!(found["name:ada"], "Ada");

    // What is nested goes with it; neighbours and parents stay.
    users.clear()?;
    let left = all.map(|cache| cache.has("1").unwrap_or(false));
    println!("{left:?}");
    assert_eq!(left, [true, false, false, true]);
    Ok(())
}
