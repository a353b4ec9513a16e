//! `polycache serve`.

use crate::arguments::{Arguments, Serve};
use crate::failure::Failure;
use crate::output::Output;
use crate::{namespace, open, text, Outcome};
use polycache_serve::{Limits, Options, Redis, Server, Token};
use serde_json::json;

/// The token, where no file is named.
const TOKEN: &str = "POLYCACHE_TOKEN";

pub fn run(arguments: &Arguments, serve: &Serve, output: &mut Output) -> Result<Outcome, Failure> {
    let directory = serve.directory.as_deref().or(arguments.path.as_deref());
    let cache = open::to_serve(arguments, directory)?;
    let name = namespace::show(&namespace::parse(&arguments.namespace)?);
    let options = Options {
        listen: serve.listen,
        token: token(serve)?,
        hosts: serve.host.clone(),
        redis: arguments.remote.as_ref().map(|url| Redis {
            url: url.clone(),
            prefixes: serve.keys.clone(),
            scripts: serve.allow_scripts,
        }),
        name: if name.is_empty() {
            "default".into()
        } else {
            name
        },
        limits: Limits {
            connections: serve.max_connections,
            listeners: serve.max_listeners,
            entries: serve.max_count,
            reply: serve.max_reply,
            ..Limits::default()
        },
    };
    let server = Server::bind(cache.clone(), options)?;
    let url = format!("http://{}", server.address());
    if output.json {
        let path = directory.map(|path| path.to_string_lossy());
        output.json(&json!({"url": url, "path": path}))?;
    } else {
        let what = match (&arguments.remote, directory) {
            (None, Some(path)) => text::path(path),
            (_, Some(path)) => format!("Redis, with copies in {}", text::path(path)),
            (_, None) => "Redis".into(),
        };
        output.line(&format!("serving {what} at {url}"))?;
    }
    // Whoever started it reads where it listens.
    output.flush()?;
    server.run_until_signal()?;
    cache.close();
    Ok(Outcome::Done)
}

fn token(serve: &Serve) -> Result<Option<Token>, Failure> {
    if let Some(file) = &serve.token_file {
        return Ok(Some(Token::read(file)?));
    }
    match std::env::var(TOKEN) {
        Ok(token) => Ok(Some(Token::new(token.trim())?)),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(std::env::VarError::NotUnicode(_)) => {
            Err(Failure::Usage(format!("{TOKEN} is no text")))
        }
    }
}
