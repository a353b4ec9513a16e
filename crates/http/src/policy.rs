//! How representations are answered, checked and put into header fields once.

use crate::{CacheControl, Coding, InvalidArgument};
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use std::sync::atomic::{AtomicU64, Ordering};

/// What the answer itself says, or the server.
const OWN: [HeaderName; 10] = [
    header::AGE,
    header::CACHE_CONTROL,
    header::CONNECTION,
    header::CONTENT_ENCODING,
    header::CONTENT_LENGTH,
    header::CONTENT_TYPE,
    header::DATE,
    header::ETAG,
    header::TRANSFER_ENCODING,
    header::VARY,
];

/// How representations are answered. Make one and use it for all of them: what is made by it is kept.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Tells policies apart; a changed one has another.
    id: u64,
    /// Fields of every answer, 304 included (RFC 9110 15.4.5).
    always: HeaderMap,
    vary: Vec<HeaderName>,
    codings: Vec<Coding>,
    compress_from: usize,
}

impl Default for Policy {
    /// `Cache-Control: no-cache`, all codings, from 1024 bytes on.
    fn default() -> Policy {
        let mut always = HeaderMap::new();
        always.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        Policy {
            id: 0,
            always,
            vary: Vec::new(),
            codings: Coding::ALL.to_vec(),
            compress_from: 1024,
        }
        .changed()
    }
}

impl Policy {
    /// What caches may do. Default: `no-cache`; they keep it, and ask each time whether it is current.
    ///
    /// # Errors
    /// Those of [`CacheControl::text`].
    pub fn cache_control(self, control: &CacheControl) -> Result<Policy, InvalidArgument> {
        let text = control.text()?;
        self.cache_control_text(&text)
    }

    /// The same as the field's text.
    ///
    /// # Errors
    /// For what cannot stand in a field.
    pub fn cache_control_text(mut self, text: &str) -> Result<Policy, InvalidArgument> {
        let value = checked(&header::CACHE_CONTROL, text)?;
        self.always.insert(header::CACHE_CONTROL, value);
        Ok(self.changed())
    }

    /// Request fields that the answer was chosen by, which caches need to know (RFC 9110 12.5.5). Accept-Encoding is named
    /// where there are codings. Default: none.
    #[must_use]
    pub fn vary(mut self, names: impl IntoIterator<Item = HeaderName>) -> Policy {
        self.vary = names.into_iter().collect();
        self.changed()
    }

    /// Content codings that may be used, best first. Default: [`Coding::ALL`].
    #[must_use]
    pub fn codings(mut self, codings: impl IntoIterator<Item = Coding>) -> Policy {
        self.codings = codings.into_iter().collect();
        self.changed()
    }

    /// Bytes below which compression is not worth it. Default: 1024.
    #[must_use]
    pub fn compress_from(mut self, bytes: usize) -> Policy {
        self.compress_from = bytes;
        self.changed()
    }

    /// One more header field, as for CORS or security. Default: none.
    ///
    /// # Errors
    /// For a field that the answer itself says, or the server; for what cannot stand in a field.
    pub fn header(mut self, name: HeaderName, value: &str) -> Result<Policy, InvalidArgument> {
        if OWN.contains(&name) {
            return Err(InvalidArgument(format!(
                "the field {name} is not set by header"
            )));
        }
        let value = checked(&name, value)?;
        self.always.insert(name, value);
        Ok(self.changed())
    }

    /// The same codings with other fields.
    #[cfg(feature = "tower")]
    pub(crate) fn with_fields(&self, always: HeaderMap, vary: Vec<HeaderName>) -> Policy {
        let (codings, compress_from) = (self.codings.clone(), self.compress_from);
        Policy {
            id: 0,
            always,
            vary,
            codings,
            compress_from,
        }
        .changed()
    }

    fn changed(mut self) -> Policy {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let mut names: Vec<&str> = Vec::new();
        let coded = (!self.codings.is_empty()).then_some(&header::ACCEPT_ENCODING);
        for name in self.vary.iter().chain(coded) {
            if !names.contains(&name.as_str()) {
                names.push(name.as_str());
            }
        }
        match HeaderValue::try_from(names.join(", ")) {
            Ok(value) if !names.is_empty() => self.always.insert(header::VARY, value),
            _ => self.always.remove(header::VARY),
        };
        self.id = NEXT.fetch_add(1, Ordering::Relaxed);
        self
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    pub(crate) fn always(&self) -> &HeaderMap {
        &self.always
    }

    pub(crate) fn all_codings(&self) -> &[Coding] {
        &self.codings
    }

    pub(crate) fn least(&self) -> usize {
        self.compress_from
    }
}

/// What would end the field is refused, above all.
fn checked(name: &HeaderName, value: &str) -> Result<HeaderValue, InvalidArgument> {
    HeaderValue::from_str(value)
        .map_err(|_| InvalidArgument(format!("the field {name} cannot be {value:?}")))
}
