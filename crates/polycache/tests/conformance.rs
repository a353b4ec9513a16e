//! The cases of spec/conformance, one test each; their form is described in the README there.

#[path = "conformance/awaited.rs"]
mod awaited;
#[path = "conformance/forms.rs"]
mod forms;
#[allow(dead_code)]
#[path = "byte_store/in_memory.rs"]
mod in_memory;
#[allow(dead_code)]
#[path = "remote/process.rs"]
mod process;
#[allow(dead_code)]
#[path = "remote/server.rs"]
mod server;

use awaited::Awaited;
use forms::{
    at, bytes, dictionaries, entry_json, integer, key_json, keys, left_json, miss, normal_value,
    sorted, strings, time, ttl, value,
};
use libtest_mimic::{Arguments, Failed, Trial};
use polycache::bindings::Bindings;
use polycache::{
    compressor, serializer, size, Cache, Clock, Error, Lease, StoreErrors, Ttl, TypedCache, Update,
    Value, Version,
};
use polycache_entry::tagged::to_json;
use serde::Deserialize;
use serde_json::{json, Value as Json};
use server::{Server, PROGRAMS};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    #[serde(default)]
    options: serde_json::Map<String, Json>,
    #[serde(default)]
    requires: Vec<String>,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    op: String,
    #[serde(default = "main_handle")]
    on: String,
    #[serde(default, deserialize_with = "some")]
    key: Option<Json>,
    #[serde(default, deserialize_with = "some")]
    value: Option<Json>,
    #[serde(default, deserialize_with = "some")]
    ttl: Option<Json>,
    expires_at: Option<i64>,
    version: Option<String>,
    by: Option<Json>,
    initial: Option<Json>,
    #[serde(default, deserialize_with = "some")]
    returns: Option<Json>,
    sees: Option<Vec<Json>>,
    keys: Option<Json>,
    asked: Option<Json>,
    entries: Option<Vec<(Json, Json)>>,
    #[serde(default, deserialize_with = "some")]
    loads: Option<Json>,
    #[serde(default)]
    during: Vec<Step>,
    #[serde(default, deserialize_with = "some")]
    prefix: Option<Json>,
    field: Option<String>,
    part: Option<String>,
    r#as: Option<String>,
    options: Option<serde_json::Map<String, Json>>,
    directory: Option<String>,
    ms: Option<i64>,
    lease: Option<String>,
    #[serde(default, deserialize_with = "some")]
    wait: Option<Json>,
    #[serde(default, deserialize_with = "some")]
    result: Option<Json>,
    error: Option<String>,
    path: Option<String>,
}

/// The sets of tiers that a cache may have. Memory keeps objects for typed caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tiers {
    Host,
    Memory,
    TypedMemory,
    TypedMemoryAndHost,
    /// On a server, with copies in this process' memory.
    Remote,
    /// On a server alone.
    RemoteThrough,
    RemoteAndHost,
    TypedRemoteAndHost,
    /// By an `AsyncCache`, whose calls ask the server in threads.
    AsyncRemote,
    AsyncRemoteThrough,
    AsyncRemoteAndHost,
    /// A byte store in the place of the host tier; one that does not count its bytes.
    ByteStore,
    CountingByteStore,
}

impl Tiers {
    const ALL: [Tiers; 13] = [
        Tiers::Host,
        Tiers::Memory,
        Tiers::TypedMemory,
        Tiers::TypedMemoryAndHost,
        Tiers::Remote,
        Tiers::RemoteThrough,
        Tiers::RemoteAndHost,
        Tiers::TypedRemoteAndHost,
        Tiers::AsyncRemote,
        Tiers::AsyncRemoteThrough,
        Tiers::AsyncRemoteAndHost,
        Tiers::ByteStore,
        Tiers::CountingByteStore,
    ];

    fn has_host(self) -> bool {
        matches!(
            self,
            Tiers::Host
                | Tiers::TypedMemoryAndHost
                | Tiers::RemoteAndHost
                | Tiers::TypedRemoteAndHost
                | Tiers::AsyncRemoteAndHost
                | Tiers::ByteStore
                | Tiers::CountingByteStore
        )
    }

    fn has_remote(self) -> bool {
        matches!(
            self,
            Tiers::Remote | Tiers::RemoteThrough | Tiers::RemoteAndHost | Tiers::TypedRemoteAndHost
        ) || self.awaited()
    }

    fn awaited(self) -> bool {
        matches!(
            self,
            Tiers::AsyncRemote | Tiers::AsyncRemoteThrough | Tiers::AsyncRemoteAndHost
        )
    }

    fn typed(self) -> bool {
        matches!(
            self,
            Tiers::TypedMemory | Tiers::TypedMemoryAndHost | Tiers::TypedRemoteAndHost
        )
    }
}

/// A cache, with its typed form where that has a memory tier, or its asynchronous one. Operations that such a form has
/// go to it.
#[derive(Clone)]
struct Handle {
    cache: Cache,
    typed: Option<TypedCache<Value<'static>>>,
    awaited: Option<Awaited>,
}

impl Handle {
    fn new(cache: Cache, tiers: Tiers) -> Result<Handle, Error> {
        let typed = tiers.typed().then(|| cache.typed()).transpose()?;
        let awaited = tiers.awaited().then(|| Awaited::new(cache.clone()));
        Ok(Handle {
            cache,
            typed,
            awaited,
        })
    }
}

/// Calls a method of the typed or asynchronous cache if there is one, else of the other.
macro_rules! on {
    ($handle:expr, $method:ident($($argument:expr),*)) => {
        match (&$handle.awaited, &$handle.typed) {
            (Some(awaited), _) => awaited.$method($($argument),*),
            (None, Some(typed)) => typed.$method($($argument),*),
            (None, None) => $handle.cache.$method($($argument),*),
        }
    };
}

/// Calls a method of the asynchronous cache if there is one, else of the other.
macro_rules! on_cache {
    ($handle:expr, $method:ident($($argument:expr),*)) => {
        match &$handle.awaited {
            Some(awaited) => awaited.$method($($argument),*),
            None => $handle.cache.$method($($argument),*),
        }
    };
}

fn main_handle() -> String {
    "cache".into()
}

/// A null that is written down is there.
fn some<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

/// The server of all cases: each has keys of its own there. `None` where none is installed.
static SERVER: Mutex<Option<Server>> = Mutex::new(None);
static LAST_CASE: AtomicU64 = AtomicU64::new(0);

fn main() {
    let server = PROGRAMS.into_iter().find_map(Server::start);
    let has_server = server.is_some();
    *SERVER.lock().unwrap() = server;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/conformance");
    let mut trials = Vec::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let file = file.unwrap().path();
        if file
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            let cases = std::fs::read_to_string(&file).unwrap();
            let cases: Vec<Case> = serde_json::from_str(&cases)
                .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            let file = file.file_stem().unwrap().to_string_lossy();
            for case in cases.into_iter().map(Arc::new) {
                for tiers in Tiers::ALL {
                    let name = format!("{tiers:?}, {file}: {}", case.name);
                    let lacks = |needed: &String| match needed.as_str() {
                        "host" => !tiers.has_host(),
                        "limited" => tiers.has_remote(),
                        // A future has no thread by which it would be known.
                        "own_key" => tiers.awaited(),
                        "atomic" => false,
                        _ => true,
                    };
                    let skipped =
                        case.requires.iter().any(lacks) || (tiers.has_remote() && !has_server);
                    let case = case.clone();
                    let trial = Trial::test(name, move || run(&case, tiers));
                    trials.push(trial.with_ignored_flag(skipped));
                }
            }
        }
    }
    assert!(trials.len() > 100, "only {} cases", trials.len());
    let conclusion = libtest_mimic::run(&Arguments::from_args(), trials);
    // No destructor of a static runs.
    SERVER.lock().unwrap().take();
    conclusion.exit();
}

fn run(case: &Case, tiers: Tiers) -> Result<(), Failed> {
    let mut options = serde_json::Map::new();
    if tiers.has_host() {
        options.insert("limit".to_owned(), json!("4MiB"));
    }
    options.extend(case.options.clone());
    let runner = Runner {
        twice: case.steps.iter().all(|step| step.op != "stats"),
        tiers,
        root: tempfile::tempdir()?,
        number: LAST_CASE.fetch_add(1, Ordering::Relaxed),
        clock: Arc::new(AtomicU64::new(1_700_000_000_000)),
        handles: RefCell::default(),
        leases: RefCell::default(),
        versions: RefCell::default(),
    };
    let cache = Handle::new(runner.open("main", &options)?, tiers)?;
    runner.handles.borrow_mut().insert(main_handle(), cache);
    case.steps.iter().for_each(|step| runner.check(step));
    Ok(())
}

struct Runner {
    /// Reads are repeated, where they are not counted.
    twice: bool,
    tiers: Tiers,
    root: tempfile::TempDir,
    number: u64,
    clock: Arc<AtomicU64>,
    handles: RefCell<HashMap<String, Handle>>,
    leases: RefCell<HashMap<String, Lease>>,
    versions: RefCell<HashMap<String, Version>>,
}

impl Runner {
    fn check(&self, step: &Step) {
        let place = format!("{} {:?}", step.op, step.key);
        match (self.perform(step), &step.error) {
            (Ok(result), None) => {
                if let Some(expected) = &step.result {
                    assert_eq!(result, normal(step, expected), "{place}");
                }
            }
            (Ok(result), Some(code)) => panic!("{place}: {result}, not the error {code}"),
            (Err(error), None) => panic!("{place}: {}: {error}", error.code()),
            (Err(error), Some(code)) => {
                assert_eq!(error.code(), code, "{place}: {error}");
                if let Some(path) = &step.path {
                    assert_eq!(error.path(), Some(path.as_str()), "{place}: {error}");
                }
            }
        }
    }

    fn perform(&self, step: &Step) -> Result<Json, Error> {
        let named = self.handles.borrow().get(&step.on).cloned();
        let handle = named.unwrap_or_else(|| panic!("no handle {}", step.on));
        let cache = &handle.cache;
        let key = || bytes(step.key.as_ref().expect("a key"));
        // A single key in its place is for languages that take one for a list.
        let keys = || {
            let listed = step.keys.as_ref().and_then(Json::as_array);
            listed.expect("keys").iter().map(bytes)
        };
        let given_ttl = || match (step.expires_at, &step.ttl) {
            (Some(ms), None) => Ok(Some(at(ms))),
            (None, given) => given.as_ref().map(ttl).transpose(),
            (Some(_), Some(_)) => panic!("a time and a time to live"),
        };
        let ttl = || given_ttl().map(Option::unwrap_or_default);
        let mut opened: Option<Cache> = None;
        let result = match step.op.as_str() {
            "get" => match (&handle.awaited, &handle.typed) {
                // A second read is served by a copy, or from memory.
                (Some(awaited), _) if self.twice => {
                    awaited.get(key()).and_then(|_| awaited.get(key()))
                }
                (Some(awaited), _) => awaited.get(key()),
                (None, Some(typed)) if self.twice => {
                    typed.get(key()).and_then(|_| typed.get(key()))
                }
                (None, Some(typed)) => typed.get(key()),
                (None, None) => cache.get_value(key()),
            }?
            .map_or_else(miss, |v| to_json(&v)),
            "peek" => match (&handle.awaited, &handle.typed) {
                (Some(awaited), _) => awaited.peek(key()),
                (None, Some(typed)) => typed.peek(key()),
                (None, None) => cache.peek_with(&key(), |value| value.into_owned()),
            }?
            .map_or_else(miss, |v| to_json(&v)),
            "take" => match (&handle.awaited, &handle.typed) {
                (Some(awaited), _) => awaited.take(key()),
                (None, Some(typed)) => typed.take(key()),
                (None, None) => cache.take_with(&key(), |value| value.into_owned()),
            }?
            .map_or_else(miss, |v| to_json(&v)),
            "entry" => on_cache!(handle, entry(key()))?.map_or_else(miss, entry_json),
            "touch" => json!(on!(handle, touch(key(), ttl()?))?),
            "set" => {
                let value = value(step.value.as_ref().expect("a value"));
                on!(handle, set_with_ttl(key(), &value, ttl()?))?;
                Json::Null
            }
            "add" => {
                let value = value(step.value.as_ref().expect("a value"));
                json!(on!(handle, add_with_ttl(key(), &value, ttl()?))?)
            }
            "replace" => {
                let value = value(step.value.as_ref().expect("a value"));
                json!(on!(handle, replace_with_ttl(key(), &value, ttl()?))?)
            }
            "version" => match on_cache!(handle, entry(key()))? {
                Some(entry) => {
                    let name = step.r#as.clone().expect("a name");
                    let version = entry.facts.version;
                    self.versions.borrow_mut().insert(name, version);
                    Json::Null
                }
                None => miss(),
            },
            "compare_and_set" => {
                let value = value(step.value.as_ref().expect("a value"));
                let seen = self.versions.borrow()[step.version.as_deref().expect("a version")];
                json!(on!(
                    handle,
                    compare_and_set_with_ttl(key(), seen, &value, ttl()?)
                )?)
            }
            "increment" | "decrement" => {
                let by = step.by.as_ref().map_or(1, integer);
                let initial = step.initial.as_ref().map_or(0, integer);
                let plain = step.initial.is_none() && given_ttl()?.is_none();
                let sum = match (step.op.as_str(), plain) {
                    ("increment", true) => on_cache!(handle, increment(key(), by)),
                    ("increment", false) => {
                        let ttl = ttl()?;
                        on_cache!(handle, increment_with_ttl(key(), by, initial, ttl))
                    }
                    (_, true) => on_cache!(handle, decrement(key(), by)),
                    (_, false) => {
                        let ttl = ttl()?;
                        on_cache!(handle, decrement_with_ttl(key(), by, initial, ttl))
                    }
                }?;
                to_json(&Value::from(sum))
            }
            "update" => {
                let calls = Cell::new(0);
                let change = |found: Option<Value<'static>>| {
                    if let Some(sees) = &step.sees {
                        let expected = sees.get(calls.get()).expect("too many calls");
                        let found = found.map_or_else(miss, |value| to_json(&value));
                        assert_eq!(found, normal_value(expected), "call {}", calls.get());
                    }
                    calls.set(calls.get() + 1);
                    step.during.iter().for_each(|step| self.check(step));
                    let returns = step.returns.as_ref().expect("what it returns");
                    match returns {
                        _ if *returns == json!({"delete": true}) => Update::Delete,
                        _ if *returns == json!({"leave": true}) => Update::Leave,
                        other => Update::Set(value(other)),
                    }
                };
                let updated = match given_ttl()? {
                    Some(ttl) => on!(handle, update_with_ttl(key(), ttl, change)),
                    None => on!(handle, update(key(), change)),
                };
                if let Some(sees) = &step.sees {
                    assert_eq!(calls.get(), sees.len(), "calls");
                }
                updated?.map_or_else(miss, |value| to_json(&value))
            }
            "delete" => json!(on!(handle, delete(key()))?),
            "has" => json!(on!(handle, has(key()))?),
            "ttl" => on!(handle, ttl(key()))?.map_or_else(miss, left_json),
            "get_many" => {
                let found: HashMap<_, Value<'static>> = on!(handle, get_many(keys()))?;
                sorted(found.iter().map(|(k, v)| json!([key_json(k), to_json(v)])))
            }
            "set_many" => {
                let entries = step.entries.as_ref().expect("entries").iter();
                let entries = entries.map(|(k, v)| (bytes(k), value(v)));
                on!(handle, set_many_with_ttl(entries, ttl()?))?;
                Json::Null
            }
            "delete_many" => json!(on!(handle, delete_many(keys()))?),
            "delete_prefix" => {
                let prefix = bytes(step.prefix.as_ref().expect("a prefix"));
                json!(on!(handle, delete_prefix(prefix))?)
            }
            "get_or_set_many" => {
                let loads = Cell::new(0);
                let load = |asked: Vec<Vec<u8>>| {
                    loads.set(loads.get() + 1);
                    let wanted = step.asked.as_ref().and_then(Json::as_array);
                    let wanted = wanted.expect("no load").iter().map(bytes);
                    let wanted = sorted(wanted.map(|key| key_json(&key)));
                    assert_eq!(sorted(asked.iter().map(|key| key_json(key))), wanted);
                    step.during.iter().for_each(|step| self.check(step));
                    let loaded = step.loads.as_ref().expect("what it loads");
                    let Some(loaded) = loaded.as_array() else {
                        return Err("the loader's own error");
                    };
                    let pairs = loaded.iter().map(|pair| (bytes(&pair[0]), value(&pair[1])));
                    Ok(pairs.collect::<Vec<_>>())
                };
                let found = on!(handle, get_or_set_many_with_ttl(keys(), ttl()?, load));
                assert_eq!(loads.get(), usize::from(step.loads.is_some()), "loads");
                let found: HashMap<_, Value<'static>> = found?;
                sorted(found.iter().map(|(k, v)| json!([key_json(k), to_json(v)])))
            }
            "get_or_set" => {
                let loads = Cell::new(0);
                let load = || {
                    loads.set(loads.get() + 1);
                    let loaded = step.loads.as_ref().expect("no load");
                    step.during.iter().for_each(|step| self.check(step));
                    if *loaded == json!({"error": true}) {
                        return Err("the loader's own error");
                    }
                    Ok(value(loaded))
                };
                let got = on!(handle, get_or_set_with_ttl(key(), ttl()?, load));
                assert_eq!(loads.get(), usize::from(step.loads.is_some()), "loads");
                to_json(&got?)
            }
            "keys" => {
                let prefix = step.prefix.as_ref().map(bytes).unwrap_or_default();
                let keys = match &handle.awaited {
                    Some(awaited) => awaited.keys(prefix)?,
                    None => {
                        let keys = match &handle.typed {
                            Some(typed) => typed.keys(prefix),
                            None => cache.keys(prefix),
                        };
                        keys.collect::<Result<Vec<_>, _>>()?
                    }
                };
                sorted(keys.iter().map(|key| key_json(key)))
            }
            "clear" => json!(on!(handle, clear())?),
            "flush" => json!(cache.flush()?),
            "close" => json!(on_cache!(handle, close())),
            "stats" => {
                let stats = on!(handle, stats())?;
                match step.field.as_deref() {
                    // Of a cache on a server they are those of its copies on this host.
                    Some("entries" | "limit") if self.tiers.has_remote() => {
                        step.result.clone().unwrap_or_default()
                    }
                    Some("hits") => json!(stats.hits),
                    Some("misses") => json!(stats.misses),
                    Some("writes") => json!(stats.writes),
                    Some("deletes") => json!(stats.deletes),
                    Some("invalidated_loads") => json!(stats.invalidated_loads),
                    Some("unstored") => json!(stats.unstored),
                    Some("wait_timeouts") => json!(stats.wait_timeouts),
                    Some("entries") => json!(stats.entries),
                    Some("limit") => json!(stats.limit),
                    other => panic!("no such field: {other:?}"),
                }
            }
            "lease" => {
                let name = step.r#as.clone().expect("a name");
                let lease = cache.lease(key());
                self.leases.borrow_mut().insert(name, lease);
                Json::Null
            }
            "acquire" => {
                let wait = match &step.wait {
                    None | Some(Json::Bool(true)) => cache.wait_timeout(),
                    Some(Json::Bool(false)) => Duration::ZERO,
                    Some(wait) => time(wait)?,
                };
                json!(self.with_lease(step, |lease| match self.tiers.awaited() {
                    true => awaited::wait(lease.acquire_async(wait)),
                    false => lease.acquire(wait),
                })?)
            }
            "release" => json!(self.with_lease(step, |lease| match self.tiers.awaited() {
                true => awaited::wait(lease.release_async()),
                false => lease.release(),
            })),
            "locked" => json!(self.with_lease(step, |lease| match self.tiers.awaited() {
                true => awaited::wait(lease.locked_async()),
                false => lease.locked(),
            })?),
            "check" => json!(cache.check()?.damaged.len()),
            "namespace" => {
                opened = Some(cache.namespace(step.part.as_deref().expect("a part"))?);
                Json::Null
            }
            "open" => {
                let directory = step.directory.as_deref().unwrap_or("main");
                opened = Some(self.open(directory, step.options.as_ref().expect("options"))?);
                Json::Null
            }
            "advance" => {
                let ms = step.ms.expect("ms");
                self.clock.fetch_add(ms as u64, Ordering::Relaxed);
                Json::Null
            }
            other => panic!("no such operation: {other}"),
        };
        if let Some(cache) = opened {
            let name = step.r#as.clone().expect("a name");
            let handle = Handle::new(cache, self.tiers)?;
            self.handles.borrow_mut().insert(name, handle);
        }
        Ok(result)
    }

    fn with_lease<R>(&self, step: &Step, f: impl FnOnce(&Lease) -> R) -> R {
        f(&self.leases.borrow()[step.lease.as_deref().expect("a lease")])
    }

    fn open(
        &self,
        directory: &str,
        options: &serde_json::Map<String, Json>,
    ) -> Result<Cache, Error> {
        let mut builder = Cache::builder().clock(Clock::Manual(self.clock.clone()));
        if self.tiers.has_host() {
            builder = builder.path(self.root.path().join(directory));
        }
        if let Tiers::ByteStore | Tiers::CountingByteStore = self.tiers {
            builder = builder.byte_store(in_memory::kind(self.tiers == Tiers::CountingByteStore));
        }
        if self.tiers.has_remote() {
            let server = SERVER.lock().unwrap();
            let url = server.as_ref().expect("it was started").url();
            builder = builder
                .remote(url)
                .prefix(format!("{}-{directory}", self.number))
                .timeout(Duration::from_secs(20));
        }
        if let Tiers::RemoteThrough | Tiers::AsyncRemoteThrough = self.tiers {
            builder = builder.max_staleness(Duration::ZERO);
        }
        for (name, value) in options {
            let text = || value.as_str().expect("text");
            builder = match name.as_str() {
                "namespace" if value.is_string() => builder.namespace(text()),
                "namespace" => builder.namespaces(strings(value)),
                "mode" => builder.mode(value.as_u64().expect("a mode") as u32),
                "limit" if value.is_string() => builder.limit(size::parse(text())?),
                "limit" => builder.limit(value.as_u64().expect("a size")),
                "ttl" => match ttl(value)? {
                    Ttl::For(ttl) => builder.ttl(ttl),
                    _ => builder.ttl(None),
                },
                "serializer" => builder.serializer(serializer::parse(text())?),
                "compressor" => builder.compressor(compressor::parse(text())?),
                "time_to_idle" => builder.time_to_idle(time(value)?),
                "lease_timeout" => builder.lease_timeout(time(value)?),
                "wait_timeout" => builder.wait_timeout(time(value)?),
                "store_errors" => builder.store_errors(match text() {
                    "report" => StoreErrors::Report,
                    "raise" => StoreErrors::Raise,
                    other => panic!("no such word: {other}"),
                }),
                "empty_at_boot" => builder.empty_at_boot(value.as_bool().expect("a bool")),
                "flush_every" if value == "never" => builder.flush_every(None),
                "flush_every" => builder.flush_every(time(value)?),
                "encryption" => builder.encryption(keys(value)),
                "dictionaries" => builder.dictionaries(dictionaries(value)),
                other => panic!("no such option: {other}"),
            };
        }
        builder.build()
    }
}

/// What a step expects, in the form that its operation gives.
fn normal(step: &Step, expected: &Json) -> Json {
    let value = normal_value;
    let list = || expected.as_array().expect("a list").iter();
    match step.op.as_str() {
        "get" | "peek" | "take" | "get_or_set" | "update" | "increment" | "decrement" => {
            value(expected)
        }
        "get_many" | "get_or_set_many" => {
            sorted(list().map(|pair| json!([key_json(&bytes(&pair[0])), value(&pair[1])])))
        }
        "keys" => sorted(list().map(|key| key_json(&bytes(key)))),
        _ => expected.clone(),
    }
}
