//! A struct and an enum in the cache, under the names by which other languages register theirs.

use polycache::{Cache, Error, Named, Ttl};
use serde::{Deserialize, Serialize};
use std::convert::Infallible;

#[derive(Serialize, Deserialize, PartialEq, Debug)]
#[serde(rename_all = "lowercase")]
enum Status {
    Active,
    Retired,
}

#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct User {
    id: u64,
    name: String,
    status: Named<'static, Status>,
    tags: Vec<String>,
}

fn user(id: u64, name: &str, tags: [&str; 1]) -> Named<'static, User> {
    let user = User {
        id,
        name: name.into(),
        status: Named::new("status", Status::Active),
        tags: tags.map(String::from).into(),
    };
    Named::new("user", user)
}

fn main() -> Result<(), Error> {
    let cache = Cache::builder()
        .path(".cache")
        .namespaces(["examples", "types"])
        .build()?;
    let ada = user(1, "Ada Lovelace", ["admin"]);
    cache.set("ada", &ada)?;
    // A reader of a struct need not know its name.
    let read: Option<User> = cache.get("ada")?;
    println!("{read:?}");
    assert_eq!(read.as_ref(), Some(&ada.value));

    // Any of the examples, in any language, may have written it.
    let load = || Ok::<_, Infallible>(user(2, "Grace Hopper", ["navy"]));
    let shared: Named<User> = cache.get_or_set_with_ttl("shared", Ttl::Default, load)?;
    println!("{shared:?}");
    assert_eq!(shared.value.name, "Grace Hopper");
    Ok(())
}
