//! A client that sends what it is told, byte by byte.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// No test waits longer for a byte: only a broken server lets it.
const PATIENCE: Duration = Duration::from_secs(40);

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    /// Names in lower case.
    pub fields: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn field(&self, name: &str) -> Option<&str> {
        let field = self.fields.iter().find(|(one, _)| one == name);
        field.map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("text")
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// It is a problem document of this status.
    pub fn is_problem(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(self.field("content-type"), Some("application/problem+json"));
        assert_eq!(self.field("cache-control"), Some("no-store"));
        let document = self.json();
        assert_eq!(document["status"], status);
        assert_eq!(document["type"], "about:blank");
        assert!(document["title"].is_string() && document["detail"].is_string());
        document
    }
}

/// A connection that is kept.
pub struct Connection(pub BufReader<TcpStream>);

impl Connection {
    pub fn to(address: SocketAddr) -> Connection {
        let stream = TcpStream::connect(address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        Connection(BufReader::new(stream))
    }

    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.0
            .get_mut()
            .write_all(bytes.as_ref())
            .expect("it reads");
    }

    /// Status and fields; `None` when the server has closed.
    pub fn head(&mut self) -> Option<Answer> {
        let first = self.line()?;
        let status = first
            .split(' ')
            .nth(1)
            .expect("a status")
            .parse()
            .expect("a number");
        let mut fields = Vec::new();
        loop {
            let line = self.line().expect("a whole header");
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(": ").expect("a field");
            fields.push((name.to_ascii_lowercase(), value.to_owned()));
        }
        let body = Vec::new();
        Some(Answer {
            status,
            fields,
            body,
        })
    }

    /// A line without its end; `None` at the end.
    pub fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.0.read_line(&mut line) {
            Ok(0) => None,
            Ok(_) => Some(line.trim_end_matches(['\r', '\n']).to_owned()),
            // What the server did not read may reset the connection.
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => None,
            Err(error) => panic!("{error}"),
        }
    }

    pub fn answer(&mut self, method: &str) -> Option<Answer> {
        let mut answer = self.head()?;
        let length = answer
            .field("content-length")
            .map(|length| length.parse().unwrap());
        if method != "HEAD" && answer.status != 304 {
            answer.body = vec![0; length.unwrap_or(0)];
            self.0.read_exact(&mut answer.body).expect("the whole body");
        }
        Some(answer)
    }

    /// Sends a request with these further lines of its header, and reads the answer.
    pub fn ask(&mut self, method: &str, target: &str, fields: &[&str]) -> Answer {
        let mut request = format!("{method} {target} HTTP/1.1\r\nhost: localhost\r\n");
        for field in fields {
            request += &format!("{field}\r\n");
        }
        self.send(request + "\r\n");
        self.answer(method).expect("an answer")
    }

    /// Reads until the server closes.
    pub fn is_closed(&mut self) {
        let mut rest = Vec::new();
        match self.0.read_to_end(&mut rest) {
            Ok(_) => {}
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset),
        }
    }
}
