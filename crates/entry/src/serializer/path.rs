use crate::Error;
use std::borrow::Cow;

/// Why a value is rejected, and the path from the faulty part up to the whole value. It grows as the
/// error is passed up, so an accepted value pays nothing for its path.
#[derive(Debug)]
pub(crate) struct Refusal {
    reason: Cow<'static, str>,
    /// From the faulty part outwards.
    segments: Vec<String>,
}

impl Refusal {
    // Boxed, because it is rare and the result passes through every level of a value.
    pub(crate) fn new(reason: impl Into<Cow<'static, str>>) -> Box<Self> {
        Box::new(Refusal {
            reason: reason.into(),
            segments: Vec::new(),
        })
    }

    /// The faulty part is in a list or set, at `index`.
    pub(crate) fn at_index(mut self: Box<Self>, index: usize) -> Box<Self> {
        self.segments.push(format!("[{index}]"));
        self
    }

    /// The faulty part is in a map, under `key`.
    pub(crate) fn at_key(mut self: Box<Self>, key: &str) -> Box<Self> {
        self.segments.push(if is_identifier(key) {
            format!(".{key}")
        } else {
            format!("[{}]", serde_json::Value::from(key))
        });
        self
    }

    pub(crate) fn into_error(self) -> Error {
        let (path, reason) = self.into_parts();
        Error::UnsupportedValue { path, reason }
    }

    /// The faulty part was read, but the requested type has no place for it.
    pub(crate) fn into_wrong_type(self) -> Error {
        let (path, reason) = self.into_parts();
        Error::WrongType { path, reason }
    }

    fn into_parts(self) -> (String, Cow<'static, str>) {
        let mut path = String::from("$");
        path.extend(self.segments.into_iter().rev());
        (path, self.reason)
    }
}

/// `[A-Za-z_][A-Za-z0-9_]*`
fn is_identifier(key: &str) -> bool {
    !key.starts_with(|first: char| first.is_ascii_digit())
        && !key.is_empty()
        && key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
