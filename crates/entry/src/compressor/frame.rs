//! The outline of a zstd frame (RFC 8878, section 3.1.1), read without decompressing it.

const MAGIC: [u8; 4] = 0xFD2F_B528_u32.to_le_bytes();
const MAX_BLOCK: u64 = 128 * 1024;

/// What a frame declares without being decompressed.
pub(super) struct Outline {
    /// The most bytes that it can decompress to, from the sizes of its blocks. The content size in the
    /// frame's header can be false.
    pub max_content: u64,
    /// The id of the dictionary that it needs.
    pub dictionary: Option<u32>,
}

/// The outline of `bytes` if they are exactly one whole frame, else `None`. A frame with a dictionary
/// has a checksum of its content (`spec/entry.md`, "Compressors").
pub(super) fn outline(bytes: &[u8]) -> Option<Outline> {
    let rest = bytes.strip_prefix(&MAGIC)?;
    let (&descriptor, rest) = rest.split_first()?;
    let single_segment = descriptor & 0b0010_0000 != 0;
    let window_size = usize::from(!single_segment);
    let dictionary_size = [0, 1, 2, 4][usize::from(descriptor & 0b0000_0011)];
    let content_size = match descriptor >> 6 {
        0 => usize::from(single_segment),
        1 => 2,
        2 => 4,
        _ => 8,
    };
    let checksum_size = if descriptor & 0b0000_0100 != 0 { 4 } else { 0 };
    let (dictionary, rest) = rest.get(window_size..)?.split_at_checked(dictionary_size)?;
    let dictionary = match dictionary {
        [] => None,
        bytes => Some(
            bytes
                .iter()
                .rev()
                .fold(0, |id, byte| id << 8 | u32::from(*byte)),
        ),
    };
    // No dictionary has the id 0.
    if dictionary == Some(0) || dictionary.is_some() && checksum_size == 0 {
        return None;
    }
    let mut rest = rest.get(content_size..)?;
    let mut content = 0u64;
    loop {
        let header = u32::from_le_bytes([*rest.first()?, *rest.get(1)?, *rest.get(2)?, 0]);
        rest = &rest[3..];
        let size = header >> 3;
        let (stored, most) = match (header >> 1) & 3 {
            0 => (size, u64::from(size)),
            1 => (1, u64::from(size)),
            2 => (size, MAX_BLOCK),
            _ => return None,
        };
        rest = rest.get(stored as usize..)?;
        content += most.min(MAX_BLOCK);
        if header & 1 != 0 {
            return (rest.len() == checksum_size).then_some(Outline {
                max_content: content,
                dictionary,
            });
        }
    }
}
