//! The remote tier's way to a server: the native driver for a URL, or the program's own client (`remote.py`).

use polycache::bindings::remote::{
    by_digest_or_text, is_background, Address, Command, Ear, Failure, Fault, Map, Node, Reply,
    Settings, Tls, Topology, Transport,
};
use polycache::Remote;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyList, PyString};
use pyo3::PyTypeInfo;
use std::sync::Arc;
use std::time::Duration;

/// The option `remote`: a URL, or a client.
///
/// # Errors
/// `InvalidArgument`.
pub fn read(value: &Bound<'_, PyAny>) -> PyResult<Remote> {
    let py = value.py();
    if let Ok(url) = value.cast::<PyString>() {
        return native(py, Remote::from(url.to_str()?));
    }
    let cluster = py
        .import("polycache.remote_cluster")?
        .call_method1("settings", (value,))?;
    if !cluster.is_none() {
        let remote = settings(&cluster)?.remote();
        return native(py, remote.map_err(|error| crate::errors::raise(py, error))?);
    }
    let connections = py
        .import("polycache.remote")?
        .getattr("ClientConnections")?
        .call1((value,))?;
    Ok(Remote::new(Arc::new(Client(connections.unbind()))))
}

/// What `remote_cluster.py` found out about a client.
fn settings(found: &Bound<'_, PyAny>) -> PyResult<Settings> {
    type Pem = Vec<u8>;
    type Found = (
        Vec<(String, u16)>,
        Option<String>,
        Option<String>,
        Option<(Option<Pem>, Option<(Pem, Pem)>, bool)>,
    );
    let (nodes, username, password, tls): Found = found.extract()?;
    let addresses = nodes
        .into_iter()
        .map(|(host, port)| Address::Tcp(host, port));
    Ok(Settings {
        topology: Topology::Cluster,
        addresses: addresses.collect(),
        username,
        password,
        tls: tls.map(|(authority, client, insecure)| Tls {
            authority,
            client,
            insecure,
        }),
        ..Settings::default()
    })
}

fn native(py: Python<'_>, remote: Remote) -> PyResult<Remote> {
    let transport = remote.transport();
    let native = transport.map_err(|error| crate::errors::raise(py, error))?;
    Ok(Remote::new(Arc::new(Native(native))))
}

/// Lets other Python threads run. Threads of the remote tier itself hold nothing that those want.
fn aside<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    if is_background() {
        return work();
    }
    Python::attach(|py| py.detach(work))
}

/// A driver that knows nothing of Python.
struct Native(Arc<dyn Transport>);

impl Transport for Native {
    fn is_cluster(&self) -> bool {
        self.0.is_cluster()
    }

    fn send(&self, commands: &[Command], timeout: Duration) -> Result<Vec<Reply>, Failure> {
        aside(|| self.0.send(commands, timeout))
    }

    fn scan(
        &self,
        primary: usize,
        cursor: u64,
        pattern: &[u8],
        timeout: Duration,
    ) -> Result<(u64, Vec<Vec<u8>>), Failure> {
        aside(|| self.0.scan(primary, cursor, pattern, timeout))
    }

    fn map(&self, timeout: Duration) -> Option<Map> {
        aside(|| self.0.map(timeout))
    }

    fn wait(&self, time: Duration) {
        aside(|| self.0.wait(time));
    }

    fn close(&self) {
        self.0.close();
    }

    fn listen(&self, node: &Node, prefixes: &[Vec<u8>], ear: &Ear) {
        self.0.listen(node, prefixes, ear);
    }
}

/// A client of the package redis.
struct Client(Py<PyAny>);

/// Calls Python, if that is still there: at the end of the program it is not.
fn attached<T>(call: impl FnOnce(Python<'_>) -> PyResult<T>) -> Result<T, Failure> {
    let done = Python::try_attach(|py| call(py).map_err(|error| failure(py, &error)));
    done.unwrap_or_else(|| Err(Failure::unreachable("the program ends")))
}

fn failure(py: Python<'_>, error: &PyErr) -> Failure {
    let why = error.value(py).to_string();
    let text = match why.is_empty() {
        true => error.to_string(),
        false => why,
    };
    // A wrong password, say: the server is there, and refuses.
    let answered = [
        "AuthenticationError",
        "AuthorizationError",
        "ServerError",
        "ReadOnlyError",
    ];
    let class = error.get_type(py).name().map(|name| name.to_string());
    let fault = match class.as_deref() {
        Ok("BusyLoadingError" | "MasterDownError") => Fault::Unavailable,
        Ok(name) if answered.contains(&name) => Fault::of_error(&text),
        _ => Fault::Unreachable,
    };
    Failure { fault, why: text }
}

impl Transport for Client {
    fn send(&self, commands: &[Command], timeout: Duration) -> Result<Vec<Reply>, Failure> {
        let reads = commands.iter().all(Command::reads);
        by_digest_or_text(|by_digest| {
            attached(|py| {
                let lines = commands.iter().map(|command| {
                    let words = command.words(by_digest);
                    PyList::new(py, words.iter().map(|word| PyBytes::new(py, word)))
                });
                let lines = PyList::new(py, lines.collect::<PyResult<Vec<_>>>()?)?;
                let arguments = (lines, timeout.as_secs_f64(), reads);
                let replies = self.0.bind(py).call_method1("send", arguments)?;
                replies.try_iter()?.map(|one| reply(&one?)).collect()
            })
        })
    }

    fn scan(
        &self,
        _: usize,
        cursor: u64,
        pattern: &[u8],
        timeout: Duration,
    ) -> Result<(u64, Vec<Vec<u8>>), Failure> {
        attached(|py| {
            let arguments = (cursor, PyBytes::new(py, pattern), timeout.as_secs_f64());
            self.0.bind(py).call_method1("scan", arguments)?.extract()
        })
    }

    fn map(&self, _: Duration) -> Option<Map> {
        // Beacons tell when the connections no longer lead to one server.
        Some(Map {
            nodes: vec![Node::single("")],
        })
    }

    fn wait(&self, time: Duration) {
        aside(|| std::thread::sleep(time));
    }

    fn close(&self) {
        let _ = attached(|py| self.0.bind(py).call_method0("close").map(drop));
    }

    fn listen(&self, _: &Node, prefixes: &[Vec<u8>], ear: &Ear) {
        // The end of the connection is told in any case.
        let _ = attached(|py| {
            let prefixes = PyList::new(py, prefixes.iter().map(|one| PyBytes::new(py, one)))?;
            let hears = Py::new(py, PyEar(ear.clone()))?;
            self.0.bind(py).call_method1("listen", (prefixes, hears))?;
            Ok(())
        });
    }
}

/// A reply as the client gives it, without decoding.
fn reply(value: &Bound<'_, PyAny>) -> PyResult<Reply> {
    if value.is_none() {
        return Ok(Reply::Nil);
    }
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(Reply::Bytes(bytes.as_bytes().to_vec()));
    }
    if PyInt::is_type_of(value) {
        return Ok(Reply::Int(value.extract()?));
    }
    if let Ok(list) = value.cast::<PyList>() {
        let parts = list.iter().map(|one| reply(&one));
        return Ok(Reply::List(parts.collect::<PyResult<_>>()?));
    }
    if value.is_instance_of::<PyException>() {
        return Ok(Reply::Error(value.to_string()));
    }
    Ok(Reply::Status)
}

/// What a listening connection tells.
#[pyclass(frozen, name = "Ear", module = "polycache._native")]
struct PyEar(Ear);

#[pymethods]
impl PyEar {
    fn armed(&self) {
        self.0.armed();
    }

    fn refused(&self) {
        self.0.refused();
    }

    fn pushed(&self, keys: Option<Vec<Vec<u8>>>) {
        self.0.pushed(keys);
    }

    fn is_over(&self) -> bool {
        self.0.is_over()
    }
}
