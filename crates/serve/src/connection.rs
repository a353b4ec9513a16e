//! One connection.

use crate::app::{told_to_stop, App};
use crate::stalling::Stalling;
use crate::tracked::{Gauge, One};
use crate::Limits;
use axum::Router;
use http::{header, Method, StatusCode};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use polycache_http::Problem;
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Serves a connection's requests, one after the other, until it ends or the server stops.
pub(crate) fn serve(stream: TcpStream, one: One, app: &Arc<App>, router: Router) {
    let app = app.clone();
    tokio::spawn(async move {
        let limits = &app.options.limits;
        // Answers are whole when they are written.
        let _ = stream.set_nodelay(true);
        let stream = TokioIo::new(Stalling::new(stream, limits.write_time, app.counts.clone()));
        let serving = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.header_time)
            .max_buf_size(Limits::HEADER)
            .max_headers(Limits::FIELDS)
            .serve_connection(stream, TowerToHyperService::new(router));
        let mut serving = pin!(serving);
        let mut stopping = app.stopping.clone();
        tokio::select! {
            // A client that went away is no error of the server's.
            _ = serving.as_mut() => {}
            () = told_to_stop(&mut stopping) => {
                serving.as_mut().graceful_shutdown();
                let _ = serving.await;
            }
        }
        drop(one);
        app.closed.notify_one();
    });
}

/// Connections that are being refused.
pub(crate) type Refusals = Gauge;

/// How many are told so at once; further ones are only closed.
const MOST: usize = 64;
const PATIENCE: Duration = Duration::from_secs(1);
/// Tells a client that there are too many, without waiting for its request.
pub(crate) fn refuse(mut stream: TcpStream, refusals: &Refusals) {
    let Some(one) = refusals.take(MOST) else {
        return;
    };
    tokio::spawn(async move {
        let told = async {
            stream.write_all(busy()).await?;
            stream.shutdown().await?;
            // Closing while bytes of the client are unread would take the answer from it.
            let mut rest = [0; 4096];
            while stream.read(&mut rest).await? > 0 {}
            std::io::Result::Ok(())
        };
        let _ = tokio::time::timeout(PATIENCE, told).await;
        drop(one);
    });
}

/// Written once: whoever is refused costs little.
fn busy() -> &'static [u8] {
    static BUSY: OnceLock<Vec<u8>> = OnceLock::new();
    BUSY.get_or_init(|| {
        let detail = "The server has too many connections; try again in seconds.";
        let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail);
        let problem = problem
            .field(header::RETRY_AFTER, "5")
            .field(header::CONNECTION, "close");
        let answer = problem.answer(&Method::GET);
        let mut bytes = format!("HTTP/1.1 {}\r\n", answer.status()).into_bytes();
        for (name, value) in answer.headers() {
            for piece in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
                bytes.extend_from_slice(piece);
            }
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(answer.body());
        bytes
    })
}
