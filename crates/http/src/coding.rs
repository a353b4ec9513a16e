//! Content codings (RFC 9110 8.4.1).

use flate2::write::GzEncoder;
use http::HeaderValue;
use std::io::{self, Write};

/// A content coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// Zstandard (RFC 8878).
    Zstd,
    /// Brotli (RFC 7932).
    Br,
    /// gzip (RFC 1952).
    Gzip,
}

impl Coding {
    /// All of them, best first: Zstandard costs least of those that make small bodies.
    pub const ALL: [Coding; 3] = [Coding::Zstd, Coding::Br, Coding::Gzip];

    /// Its name in Accept-Encoding and Content-Encoding.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Coding::Zstd => "zstd",
            Coding::Br => "br",
            Coding::Gzip => "gzip",
        }
    }

    /// The coding of a name in lower case.
    #[must_use]
    pub fn named(name: &str) -> Option<Coding> {
        Coding::ALL.into_iter().find(|one| one.name() == name)
    }

    pub(crate) fn value(self) -> HeaderValue {
        HeaderValue::from_static(self.name())
    }

    pub(crate) fn index(self) -> usize {
        self as usize
    }

    /// Level 3 of Zstandard, quality 5 of Brotli and level 6 of gzip take a few milliseconds of a thread for a megabyte of JSON.
    pub(crate) fn compress(self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            Coding::Zstd => zstd::bulk::compress(bytes, 3),
            Coding::Br => {
                let mut made = brotli::CompressorWriter::new(Vec::new(), 1 << 16, 5, 22);
                made.write_all(bytes)?;
                Ok(made.into_inner())
            }
            Coding::Gzip => {
                let mut made = GzEncoder::new(Vec::new(), flate2::Compression::new(6));
                made.write_all(bytes)?;
                made.finish()
            }
        }
    }
}
