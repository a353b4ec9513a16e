//! Listens, and stops.

use crate::app::{told_to_stop, App};
use crate::connection::{self, Refusals};
use crate::guard;
use crate::signals;
use crate::tracked::count;
use crate::{routes, Error, Options};
use polycache::Cache;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::watch;

/// Files that are no connections: the cache's, those to Redis, the runtime's.
const OTHER_FILES: u64 = 128;
/// How long to wait when the operating system can give no connection, as without a free file.
const PAUSE: Duration = Duration::from_millis(100);

/// A server that listens already, and serves as soon as it runs.
pub struct Server {
    runtime: Runtime,
    listener: TcpListener,
    address: SocketAddr,
    app: Arc<App>,
    stop: Arc<watch::Sender<bool>>,
}

/// Stops a server.
#[derive(Clone)]
pub struct Stopper(Arc<watch::Sender<bool>>);

impl Stopper {
    /// No connection is taken any more, live streams end, and open requests are answered; then `run` returns.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Server {
    /// Listens at the options' address, for what the cache holds.
    ///
    /// # Errors
    /// `InvalidArgument` for an address beyond the machine without a token, a host that is none, an empty prefix, and a wrong
    /// URL of Redis; `Listen` where the address is taken; `Io`.
    pub fn bind(cache: Cache, mut options: Options) -> Result<Server, Error> {
        let address = options.listen;
        if options.token.is_none() && !address.ip().is_loopback() {
            return Err(Error::InvalidArgument(format!(
                "{address} can be reached from other machines, so clients must show a token: give one by \
                 --token-file or POLYCACHE_TOKEN, or listen at 127.0.0.1"
            )));
        }
        if let Some(name) = options.hosts.iter().find(|name| !guard::is_host(name)) {
            return Err(Error::InvalidArgument(format!(
                "{name:?} is no name that a client can call the server by: write it without a scheme and without a port, as \
                 in --host cache.example"
            )));
        }
        let prefixes = options.redis.as_ref().map(|redis| &redis.prefixes);
        if prefixes.into_iter().flatten().any(String::is_empty) {
            // As of a variable that is not set, where somebody wanted to show less than all.
            return Err(Error::InvalidArgument(
                "an empty prefix is that of every key: leave --keys out to show all of them".into(),
            ));
        }
        if let Some(files) = signals::most_files() {
            let most = files.saturating_sub(OTHER_FILES).max(1);
            let most = usize::try_from(most).unwrap_or(usize::MAX);
            options.limits.connections = options.limits.connections.min(most);
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .thread_name("polycache-serve")
            .enable_all()
            .build()?;
        let listening = runtime.block_on(TcpListener::bind(address));
        let listener = listening.map_err(|error| Error::Listen(address, error))?;
        let address = listener.local_addr()?;
        let stop = Arc::new(watch::Sender::new(false));
        let app = {
            let _inside = runtime.enter();
            Arc::new(App::new(cache, options, stop.subscribe())?)
        };
        Ok(Server {
            runtime,
            listener,
            address,
            app,
            stop,
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops it, from any thread.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        Stopper(self.stop.clone())
    }

    /// Serves until it is stopped.
    pub fn run(self) {
        let Server {
            runtime,
            listener,
            app,
            ..
        } = self;
        runtime.block_on(serve(listener, app));
        // A load under way for a request that nobody waits for any more does not keep the process.
        runtime.shutdown_background();
    }

    /// Serves until it is stopped, or the process is told to end by SIGTERM or SIGINT.
    ///
    /// # Errors
    /// When signals cannot be heard.
    pub fn run_until_signal(self) -> io::Result<()> {
        let stopper = self.stopper();
        let (said, heard) = std::sync::mpsc::channel();
        self.runtime.spawn(async move {
            match signals::told_to_stop().await {
                Ok(()) => {}
                Err(error) => drop(said.send(error)),
            }
            stopper.stop();
        });
        self.run();
        heard.try_recv().map_or(Ok(()), Err)
    }
}

async fn serve(listener: TcpListener, app: Arc<App>) {
    let router = routes::router(app.clone());
    let refusals = Refusals::default();
    let mut stopping = app.stopping.clone();
    loop {
        let accepted = tokio::select! {
            biased;
            () = told_to_stop(&mut stopping) => break,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        match app.counts.connections.take(app.options.limits.connections) {
            Some(one) => connection::serve(stream, one, &app, router.clone()),
            None => {
                count(&app.counts.refused);
                connection::refuse(stream, &refusals);
            }
        }
    }
    drop(listener);
    let finished = async {
        while app.counts.connections.now() > 0 {
            app.closed.notified().await;
        }
    };
    let _ = tokio::time::timeout(app.options.limits.stop_time, finished).await;
}
