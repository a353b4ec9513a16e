//! `GET /reads/{command}/{argument...}`: a read command of Redis, from cached reads.

use super::streams::no_redis;
use crate::app::{answered, problem_of, App};
use crate::kept::KeptReply;
use crate::live::redis_problem;
use crate::path;
use axum::extract::{Request, State};
use axum::response::Response;
use http::request::Parts;
use http::StatusCode;
use polycache::Error;
use polycache_http::{Answer, Problem, Representation};
use redis::Cmd;
use std::sync::Arc;

pub(super) async fn get(State(app): State<Arc<App>>, request: Request) -> Response {
    let (request, _) = request.into_parts();
    respond(&app, &request, || command(&app, &request)).await
}

/// Commands that run a script, cached or not.
const SCRIPTS: [&str; 6] = [
    "EVAL",
    "EVALSHA",
    "EVALSHA_RO",
    "EVAL_RO",
    "FCALL",
    "FCALL_RO",
];

/// The words of a command are the parts of the path: `/reads/HGETALL/user:1`.
fn command(app: &App, request: &Parts) -> Result<Cmd, Problem> {
    let path = request.uri.path();
    let mut words = path.strip_prefix("/reads/").unwrap_or_default().split('/');
    let mut command = Cmd::new();
    let name = path::text(words.next().unwrap_or_default())?;
    let runs_scripts = SCRIPTS.iter().any(|one| one.eq_ignore_ascii_case(&name));
    if runs_scripts
        && !app
            .options
            .redis
            .as_ref()
            .is_some_and(|redis| redis.scripts)
    {
        return Err(no_scripts());
    }
    command.arg(name);
    // Which of them are keys, and whether these are served, the reads themselves say.
    for word in words {
        command.arg(path::key(word)?);
    }
    Ok(command)
}

/// Only the keys that a script declares could be looked at, and it may read others.
fn no_scripts() -> Problem {
    let detail = "A script reads every key, whichever it names, and may keep Redis from all others for ever, so the server runs none \
        unless it is started with --allow-scripts.";
    Problem::new(StatusCode::FORBIDDEN, detail)
}

/// Answers with the JSON of a read. What was made for the same target before is used again while the reply is the same.
pub(super) async fn respond(
    app: &Arc<App>,
    request: &Parts,
    command: impl FnOnce() -> Result<Cmd, Problem>,
) -> Response {
    let method = &request.method;
    answered(read(app, request, command).await, method)
}

async fn read(
    app: &Arc<App>,
    request: &Parts,
    command: impl FnOnce() -> Result<Cmd, Problem>,
) -> Result<Answer, Problem> {
    let reads = app.reads.as_ref().ok_or_else(no_redis)?;
    let uri = &request.uri;
    let target = uri
        .path_and_query()
        .map_or(uri.path(), |target| target.as_str());
    let kept = app.kept.replies.get(target);
    let new;
    let command = match &kept {
        Some(kept) => &kept.command,
        None => {
            new = command()?;
            &new
        }
    };
    let json = reads.json(command).await.map_err(|error| refusal(&error))?;
    let kept = match &kept {
        Some(kept) if Arc::ptr_eq(&kept.json, &json) => kept.clone(),
        _ => {
            let kept = Arc::new(KeptReply {
                command: command.clone(),
                representation: Representation::from(&*json),
                json,
            });
            // One that is larger than all that may be kept is made each time.
            let _ = app.kept.replies.set(target.into(), kept.clone());
            kept
        }
    };
    let value = &kept.representation;
    Ok(value
        .respond(&request.method, &request.headers, &app.current)
        .await)
}

fn refusal(error: &Error) -> Problem {
    match error {
        Error::UncacheableRead(why) => Problem::new(
            StatusCode::FORBIDDEN,
            format!("Only reads that can be cached are answered here: {why}."),
        ),
        Error::ReadFailed(error) => redis_problem(error),
        Error::ValueTooLarge { limit, .. } => {
            let detail = format!(
                "The reply would take more than {limit} bytes of the server's memory: ask for less of it, as by a count or a \
                 range. The server was started with this bound (--max-reply)."
            );
            Problem::new(StatusCode::FORBIDDEN, detail).with("limit", *limit)
        }
        // A key with none of the prefixes, too.
        other => problem_of(other),
    }
}
