//! What the documents around one value under one name have in common.

use bytes::Bytes;
use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};
use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;
use tokio::sync::OnceCell;

/// The beginning of a gzip member (RFC 1952 2.3): deflated, without a name or a time, on no known system.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
/// Most bytes of a stored block (RFC 1951 3.2.4).
const LARGEST_BLOCK: usize = 0xffff;

pub(crate) struct Envelope {
    pub name: String,
    /// The document up to the end of the value.
    pub plain: Bytes,
    deflated: OnceCell<Arc<Deflated>>,
}

struct Deflated {
    /// Blocks that end at a byte and of which none is the last one.
    blocks: Vec<u8>,
    checksum: Crc,
}

impl Envelope {
    pub fn new(name: &str, value: &[u8]) -> Envelope {
        let mut plain = vec![b'{'];
        plain.extend_from_slice(serde_json::Value::from(name).to_string().as_bytes());
        plain.push(b':');
        plain.extend_from_slice(value);
        Envelope {
            name: name.into(),
            plain: plain.into(),
            deflated: OnceCell::new(),
        }
    }

    /// The document as a gzip member, if the value was deflated: its end stands behind that in stored blocks.
    pub fn gzip_now(&self, tail: &[u8]) -> Option<Vec<u8>> {
        Some(self.deflated.get()?.member(tail))
    }

    /// The same; callers that ask meanwhile share the work, which a thread for blocking work does.
    pub async fn gzip(&self, tail: &[u8]) -> io::Result<Vec<u8>> {
        let deflated = self.deflated.get_or_try_init(|| async {
            let plain = self.plain.clone();
            let making = tokio::task::spawn_blocking(move || Deflated::new(&plain).map(Arc::new));
            // The next caller tries again.
            making.await.map_err(io::Error::other)?
        });
        Ok(deflated.await?.member(tail))
    }
}

impl Deflated {
    fn new(plain: &[u8]) -> io::Result<Deflated> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(6));
        encoder.write_all(plain)?;
        // Ends the block, and at a byte.
        encoder.flush()?;
        let blocks = std::mem::take(encoder.get_mut());
        let mut checksum = Crc::new();
        checksum.update(plain);
        Ok(Deflated { blocks, checksum })
    }

    fn member(&self, tail: &[u8]) -> Vec<u8> {
        let mut member = Vec::with_capacity(HEADER.len() + self.blocks.len() + tail.len() + 32);
        member.extend_from_slice(&HEADER);
        member.extend_from_slice(&self.blocks);
        let mut parts = tail.chunks(LARGEST_BLOCK).peekable();
        while let Some(part) = parts.next() {
            let length = part.len() as u16;
            member.push(u8::from(parts.peek().is_none()));
            member.extend_from_slice(&length.to_le_bytes());
            member.extend_from_slice(&(!length).to_le_bytes());
            member.extend_from_slice(part);
        }
        let mut checksum = Crc::new();
        checksum.combine(&self.checksum);
        checksum.update(tail);
        member.extend_from_slice(&checksum.sum().to_le_bytes());
        member.extend_from_slice(&checksum.amount().to_le_bytes());
        member
    }
}

impl fmt::Debug for Envelope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Envelope")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
