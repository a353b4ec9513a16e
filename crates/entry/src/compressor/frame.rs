//! The outline of a zstd frame (RFC 8878, section 3.1.1), read without decompressing it.

const MAGIC: [u8; 4] = 0xFD2F_B528_u32.to_le_bytes();
const MAX_BLOCK: u64 = 128 * 1024;

/// The most bytes that `bytes` can decompress to when they are one whole frame without a
/// dictionary and nothing more; `None` when they are not. The sizes of the blocks say so, not the
/// content size in the frame's header, which can lie.
pub(super) fn max_content(bytes: &[u8]) -> Option<u64> {
    let rest = bytes.strip_prefix(&MAGIC)?;
    let (&descriptor, rest) = rest.split_first()?;
    if descriptor & 0b0000_0011 != 0 {
        return None; // names a dictionary
    }
    let single_segment = descriptor & 0b0010_0000 != 0;
    let window_size = usize::from(!single_segment);
    let content_size = match descriptor >> 6 {
        0 => usize::from(single_segment),
        1 => 2,
        2 => 4,
        _ => 8,
    };
    let checksum_size = if descriptor & 0b0000_0100 != 0 { 4 } else { 0 };
    let mut rest = rest.get(window_size + content_size..)?;
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
            return (rest.len() == checksum_size).then_some(content);
        }
    }
}
