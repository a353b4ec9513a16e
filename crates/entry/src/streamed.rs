//! Entries whose payload is written or read piece by piece, and is never in memory as a whole.

use crate::header::HEADER_LEN;
use crate::Error;

/// The checksum of bytes that come piece by piece.
#[derive(Clone, Debug, Default)]
pub struct Checksum(crc32fast::Hasher);

impl Checksum {
    /// Of `len` bytes whose CRC-32 (IEEE 802.3) somebody else has computed.
    #[must_use]
    pub fn of(crc: u32, len: u64) -> Checksum {
        Checksum(crc32fast::Hasher::new_with_initial_len(crc, len))
    }

    /// Adds the bytes that follow.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Whether an entry that begins with `head` and goes on with the bytes of this is as it was written.
    ///
    /// # Errors
    /// [`Error::MalformedEntry`] for a beginning that is shorter than a header.
    pub fn seals(&self, head: &[u8]) -> Result<bool, Error> {
        let sum = sum(head, self)?;
        Ok(head[4..8] == sum.to_le_bytes())
    }
}

/// Fills in the checksum of an entry whose header this is and whose payload is elsewhere.
///
/// # Errors
/// [`Error::MalformedEntry`] for less than a header.
pub fn seal_head(head: &mut [u8], payload: &Checksum) -> Result<(), Error> {
    let sum = sum(head, payload)?;
    head[4..8].copy_from_slice(&sum.to_le_bytes());
    Ok(())
}

fn sum(head: &[u8], rest: &Checksum) -> Result<u32, Error> {
    if head.len() < HEADER_LEN {
        return Err(Error::malformed("an entry has at least 24 bytes"));
    }
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&head[..4]);
    hasher.update(&head[8..]);
    hasher.combine(&rest.0);
    Ok(hasher.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{encode, encode_payload, EntryOptions, Header, Serializer, Value, Verify};

    #[test]
    fn a_payload_in_pieces_gives_the_entry_of_the_whole() {
        let payload: Vec<u8> = (0..100_000u32).map(|at| at as u8).collect();
        let options = EntryOptions {
            serializer: Serializer::Bytes,
            time_to_idle: 5000,
            created: 7,
            ..EntryOptions::default()
        };
        let mut whole = Vec::new();
        encode(&Value::Bytes(payload[..].into()), &options, &mut whole).unwrap();

        let mut entry = Vec::new();
        encode_payload(b"", Serializer::Bytes, &options, &mut entry).unwrap();
        let crc = crc32fast::hash(&payload);
        seal_head(&mut entry, &Checksum::of(crc, payload.len() as u64)).unwrap();
        let head = entry.clone();
        entry.extend_from_slice(&payload);
        assert_eq!(entry, whole);
        assert!(Header::parse(&entry, Verify::Checksum).is_ok());

        let mut pieces = Checksum::default();
        payload.chunks(777).for_each(|piece| pieces.update(piece));
        assert!(pieces.seals(&head).unwrap());
        for at in 0..head.len() {
            let mut changed = head.clone();
            changed[at] ^= 1;
            assert!(!pieces.seals(&changed).unwrap(), "byte {at}");
        }
        pieces.update(b"x");
        assert!(!pieces.seals(&head).unwrap());
        assert!(pieces.seals(&head[..23]).is_err());
    }
}
