//! The Rust part of the matrix; `workers/matrix.*` are the same in the other languages.

use crate::outcome::Fallible;
use crate::reached::reached;
use crate::worker::now;
use polycache::{Cache, Ttl, TtlLeft, Value};
use std::path::PathBuf;
use std::time::Duration;

/// What every part of the matrix takes, in this order.
#[derive(clap::Args)]
pub struct Options {
    /// The host's directory
    directory: PathBuf,
    /// A URL, or `sentinel:port,port` or `cluster:port,port`
    remote: String,
    /// What its keys begin with
    me: String,
}

/// Does what each line says, and answers by a line.
pub fn run(options: &Options) -> Fallible<()> {
    let cache = Cache::builder()
        .path(&options.directory)
        .remote(reached(&options.remote)?)
        .timeout(Duration::from_secs(10))
        .build()?;
    for line in std::io::stdin().lines() {
        let line = line?;
        let words: Vec<&str> = line.split(' ').collect();
        let answer = match words[..] {
            ["write"] => write(&cache, &options.me),
            ["read", who] => read(&cache, who),
            ["gone", who] => gone(&cache, who),
            ["load", key, at] => load(&cache, key, at.parse()?, &options.me),
            _ => return Err(format!("what is {line:?}?").into()),
        };
        println!("{}", answer.unwrap_or_else(|error| format!("bad: {error}")));
    }
    Ok(())
}

/// One of each kind that all languages have.
fn values() -> Vec<(&'static str, Value<'static>)> {
    let text = |text: &'static str| Value::Text(text.into());
    vec![
        ("text", text("grüße")),
        ("bytes", Value::Bytes(vec![0, 255, 65].into())),
        ("negative", Value::Int(-7)),
        ("large", Value::Int((1 << 40) + 1)),
        ("float", Value::Float(1.5)),
        ("true", Value::Bool(true)),
        ("null", Value::Null),
        (
            "list",
            Value::List(vec![Value::Int(1), text("two"), Value::Null]),
        ),
        (
            "map",
            Value::Map(vec![
                ("a".into(), Value::Int(1)),
                ("b".into(), Value::List(vec![Value::Float(2.5)])),
            ]),
        ),
        ("set", Value::Set(vec![Value::Int(7)])),
        (
            "time",
            Value::Timestamp {
                seconds: 1_767_323_045,
                nanos: 0,
            },
        ),
    ]
}

fn write(cache: &Cache, me: &str) -> Fallible<String> {
    for (name, value) in values() {
        cache.set_value(format!("{me}-{name}").as_bytes(), &value, Ttl::Default)?;
    }
    cache.set_with_ttl(format!("{me}-lives"), "x", Duration::from_secs(1000))?;
    cache.set_with_ttl(format!("{me}-ends"), "x", Duration::from_secs(1))?;
    Ok("ok".into())
}

fn read(cache: &Cache, who: &str) -> Fallible<String> {
    for (name, value) in values() {
        let key = format!("{who}-{name}");
        let found = cache.get_with(key.as_bytes(), |found| found.into_owned())?;
        if found.as_ref() != Some(&value) {
            return Ok(format!("{key} is {found:?}"));
        }
    }
    let left = cache.ttl(format!("{who}-lives"))?;
    Ok(match left {
        Some(TtlLeft::For(left)) if (990..=1000).contains(&left.as_secs()) => "ok".into(),
        _ => format!("{who}-lives has {left:?} left"),
    })
}

fn gone(cache: &Cache, who: &str) -> Fallible<String> {
    Ok(match cache.has(format!("{who}-ends"))? {
        true => format!("{who}-ends has not ended"),
        false => "ok".into(),
    })
}

fn load(cache: &Cache, key: &str, at: u64, me: &str) -> Fallible<String> {
    let mut ran = "found";
    std::thread::sleep(Duration::from_nanos(at.saturating_sub(now())));
    let value: String = cache.get_or_set(key, || {
        ran = "loaded";
        std::thread::sleep(Duration::from_millis(100));
        Ok::<_, polycache::Error>(format!("{me}-{}", std::process::id()))
    })?;
    Ok(format!("{ran} {value}"))
}
