//! What a server answers.

/// A reply of RESP2 or RESP3, as far as the machines tell replies apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// No value.
    Nil,
    /// An integer; a boolean of RESP3 is 0 or 1.
    Int(i64),
    /// Text or bytes.
    Bytes(Vec<u8>),
    /// A list.
    List(Vec<Reply>),
    /// `+OK` and other plain answers.
    Status,
    /// An error, with its text.
    Error(String),
}

impl Reply {
    /// The bytes, taken out; `None` for any other reply.
    pub(crate) fn into_bytes(self) -> Option<Vec<u8>> {
        match self {
            Reply::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Whether the server does not know a script by its digest: it executed nothing.
    #[must_use]
    pub fn lacks_script(&self) -> bool {
        matches!(self, Reply::Error(text) if text.starts_with("NOSCRIPT"))
    }

    /// Whether the server did what it was asked: a script's 1.
    pub(crate) fn is_one(&self) -> bool {
        matches!(self, Reply::Int(1))
    }
}
