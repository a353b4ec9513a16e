//! `GET /entries/{namespace...}/{key}`: an entry of the cache.

use crate::app::{answered, blocking, problem_of, unavailable, App};
use crate::kept::KeptEntry;
use crate::path;
use crate::Limits;
use axum::extract::{Request, State};
use axum::response::Response;
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use polycache::{Cache, Entry, Facts, Value};
use polycache_http::{Answer, CacheControl, Policy, Problem, Representation};
use polycache_json::JsonValue;
use std::sync::Arc;
use std::time::Duration;

/// How much of the path is not the entry's.
const ROUTE: &str = "/entries/";

pub(super) async fn get(State(app): State<Arc<App>>, request: Request) -> Response {
    let (request, _) = request.into_parts();
    let found = find(&app, &request).await;
    let method = &request.method;
    let answer: Result<Answer, Problem> = match found {
        Err(problem) => Err(problem),
        Ok(kept) => {
            let value = &kept.representation;
            Ok(value.respond(method, &request.headers, &kept.policy).await)
        }
    };
    answered(answer, method)
}

async fn find(app: &Arc<App>, request: &Parts) -> Result<Arc<KeptEntry>, Problem> {
    let path = request.uri.path();
    let path = path.strip_prefix(ROUTE).unwrap_or(path);
    app.still_stands()?;
    let kept = app.kept.entries.get(path);
    // A directory is looked into at once; a server may let a caller wait.
    if let (Some(kept), false) = (&kept, app.is_remote()) {
        if stands(kept)? {
            return Ok(kept.clone());
        }
    }
    let (app, path) = (app.clone(), Box::<str>::from(path));
    blocking(move || match kept {
        Some(kept) if stands(&kept)? => Ok(kept),
        _ => load(&app, path),
    })
    .await
}

/// Whether the entry is still the one that was encoded.
fn stands(kept: &KeptEntry) -> Result<bool, Problem> {
    let facts = kept
        .cache
        .facts(&kept.key)
        .map_err(|error| problem_of(&error))?;
    Ok(facts.is_some_and(|facts| facts.version == kept.version))
}

fn load(app: &App, path: Box<str>) -> Result<Arc<KeptEntry>, Problem> {
    let (namespaces, key) = match path.rsplit_once('/') {
        None => (None, &*path),
        Some((namespaces, key)) => (Some(namespaces), key),
    };
    let nested = namespaces.map_or(0, |parts| parts.split('/').count());
    if nested > Limits::NAMESPACES {
        let most = Limits::NAMESPACES;
        return Err(path::refused(&format!(
            "The path names {nested} namespaces, one in the other; {most} are taken. The server's -n names further ones."
        )));
    }
    let mut cache = app.cache.clone();
    for part in namespaces.into_iter().flat_map(|parts| parts.split('/')) {
        let part = path::text(part)?;
        cache = cache.namespace(part).map_err(|error| problem_of(&error))?;
    }
    let key = path::key(key)?;
    let faults = faults(app);
    let Some(entry) = cache.entry(&key).map_err(|error| problem_of(&error))? else {
        app.kept.entries.delete(&path);
        return Err(match faults == self::faults(app) {
            true => Problem::new(StatusCode::NOT_FOUND, "The cache has no entry of this key."),
            false => unavailable("Redis did not say whether there is an entry; try again."),
        });
    };
    let kept = Arc::new(kept(cache, key, entry)?);
    // One that is larger than all that may be kept is encoded each time.
    let _ = app.kept.entries.set(path, kept.clone());
    Ok(kept)
}

/// Commands that had no answer, or were not sent because others had none.
fn faults(app: &App) -> u64 {
    app.cache.remote_stats().map_or(0, |stats| stats.faults)
}

fn kept(cache: Cache, key: Vec<u8>, entry: Entry) -> Result<KeptEntry, Problem> {
    let Entry { value, facts } = entry;
    let representation = match value {
        Value::Bytes(bytes) => {
            let bytes = Bytes::from(bytes.into_owned());
            Representation::new(bytes, HeaderValue::from_static("application/octet-stream"))
        }
        other => {
            let json = serde_json::to_vec(&JsonValue(&other));
            Representation::json(json.map_err(|_| Problem::internal())?)
        }
    };
    Ok(KeptEntry {
        cache,
        key,
        version: facts.version,
        representation: representation.stored_at(facts.created),
        policy: policy(&facts).map_err(|_| Problem::internal())?,
    })
}

/// Caches may keep an entry as long as the program that wrote it said; with the field Age that is the time it has left.
/// One without an end may change at any moment.
fn policy(facts: &Facts) -> Result<Policy, polycache_http::InvalidArgument> {
    let lifetime = facts.expires.map(|end| end.saturating_sub(facts.created));
    let control = CacheControl {
        max_age: lifetime.map(Duration::from_millis),
        no_cache: lifetime.is_none(),
        ..CacheControl::default()
    };
    Policy::default().cache_control(&control)
}
