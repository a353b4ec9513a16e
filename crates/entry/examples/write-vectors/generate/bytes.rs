//! Entries built by hand, so that this crate's writer does not vouch for its own reader.

/// The parts of an entry; `header_len` and checksum are computed unless given.
pub struct Raw {
    pub version: u8,
    pub serializer: u8,
    pub compressor: u8,
    pub flags: u16,
    pub expires: u64,
    pub header_len: Option<u16>,
    pub fields: Vec<u8>,
    pub payload: Vec<u8>,
}

pub const CREATED: u64 = 1_700_000_000_000;

impl Default for Raw {
    /// A plain entry with the payload `null` in MessagePack.
    fn default() -> Self {
        Raw {
            version: 1,
            serializer: 3,
            compressor: 0,
            flags: 0,
            expires: 0,
            header_len: None,
            fields: Vec::new(),
            payload: vec![0xC0],
        }
    }
}

impl Raw {
    pub fn bytes(&self) -> Vec<u8> {
        let header_len = self.header_len.unwrap_or(24 + self.fields.len() as u16);
        let mut entry = vec![0xC1, self.version, self.serializer, self.compressor];
        entry.extend([0; 4]);
        entry.extend(&CREATED.to_le_bytes()[..6]);
        entry.extend(self.flags.to_le_bytes());
        entry.extend(&self.expires.to_le_bytes()[..6]);
        entry.extend(header_len.to_le_bytes());
        entry.extend(&self.fields);
        entry.extend(&self.payload);
        seal(&mut entry);
        entry
    }
}

/// Corrects the checksum.
pub fn seal(entry: &mut [u8]) {
    let covered = [&entry[..4], &entry[8..]].concat();
    entry[4..8].copy_from_slice(&crc32fast::hash(&covered).to_le_bytes());
}

/// An entry of `payload` as `serializer` (its id) might have written it.
pub fn plain(serializer: u8, payload: &[u8]) -> Vec<u8> {
    Raw {
        serializer,
        payload: payload.to_vec(),
        ..Raw::default()
    }
    .bytes()
}

/// An entry of bytes with `compressed` for its payload and `length` for LENGTH.
pub fn zstd(length: u64, compressed: &[u8]) -> Vec<u8> {
    Raw {
        serializer: 0,
        compressor: 1,
        flags: 2,
        fields: length.to_le_bytes().to_vec(),
        payload: compressed.to_vec(),
        ..Raw::default()
    }
    .bytes()
}

/// A zstd frame (RFC 8878) with this descriptor and rest of the header, and these blocks.
pub fn frame(descriptor: u8, header: &[u8], blocks: &[Vec<u8>]) -> Vec<u8> {
    let mut frame = vec![0x28, 0xB5, 0x2F, 0xFD, descriptor];
    frame.extend(header);
    frame.extend(blocks.concat());
    frame
}

/// The descriptor of a frame without content size, whose header is a window descriptor.
pub const WINDOW: u8 = 0;
/// A window of 1 MiB.
pub const ONE_MIB: &[u8] = &[0x50];

/// A block that holds `content` as it is.
pub fn raw_block(last: bool, content: &[u8]) -> Vec<u8> {
    let mut block = block_header(last, 0, content.len());
    block.extend(content);
    block
}

/// A block that stands for `size` zeros.
pub fn run_block(last: bool, size: usize) -> Vec<u8> {
    let mut block = block_header(last, 1, size);
    block.push(0);
    block
}

pub fn block_header(last: bool, kind: u32, size: usize) -> Vec<u8> {
    let header = u32::from(last) | kind << 1 | (size as u32) << 3;
    header.to_le_bytes()[..3].to_vec()
}
