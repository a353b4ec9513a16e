//! Where in a value the culprit stands: `$.user.tags[3]`.

use std::borrow::Cow;
use std::fmt::Write;

/// One step into a list, set or map, with those that led there. It lives on the stack of the walk
/// through a value, so that a value that is accepted pays nothing for its path.
pub(crate) enum Path<'a> {
    Root,
    Index(&'a Path<'a>, usize),
    Key(&'a Path<'a>, &'a str),
}

impl Path<'_> {
    /// The path as text.
    pub(crate) fn to_text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    fn write(&self, out: &mut String) {
        match self {
            Path::Root => out.push('$'),
            Path::Index(parent, index) => {
                parent.write(out);
                // A String takes everything.
                let _ = write!(out, "[{index}]");
            }
            Path::Key(parent, key) => {
                parent.write(out);
                if is_identifier(key) {
                    let _ = write!(out, ".{key}");
                } else {
                    let _ = write!(out, "[{}]", serde_json::Value::from(*key));
                }
            }
        }
    }
}

/// Why a value is refused.
pub(crate) fn refusal(path: &Path<'_>, reason: impl Into<Cow<'static, str>>) -> polycache::Error {
    polycache::Error::UnsupportedValue {
        path: path.to_text(),
        reason: reason.into().into_owned(),
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
