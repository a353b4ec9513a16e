//! What the operating system tells a server.

use std::io;

/// Returns when the process is told to end: by SIGTERM or SIGINT, or where there are none, by Ctrl-C.
#[cfg(unix)]
pub(crate) async fn told_to_stop() -> io::Result<()> {
    use tokio::signal::unix::{signal, SignalKind};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}

#[cfg(not(unix))]
pub(crate) async fn told_to_stop() -> io::Result<()> {
    tokio::signal::ctrl_c().await
}

/// Lets the process open as many files as it may, and says how many that is.
#[cfg(unix)]
pub(crate) fn most_files() -> Option<u64> {
    use rustix::process::{getrlimit, setrlimit, Resource, Rlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => limit.maximum,
        Err(_) => limit.current,
    }
}

#[cfg(not(unix))]
pub(crate) fn most_files() -> Option<u64> {
    None
}
