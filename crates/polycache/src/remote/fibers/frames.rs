//! Finds where replies end in what a connection has received (RESP: <https://redis.io/docs/latest/develop/reference/protocol-spec/>).
//!
//! The crate `redis` parses a reply that is whole, and has to begin anew where it is not. Here a large one that comes in
//! parts is looked at once.

/// Looks for the end of the next reply.
#[derive(Debug, Default)]
pub(super) struct Frames {
    /// Where to go on.
    at: usize,
    /// Parts that the reply lacks; 0: it has not begun.
    lacks: u64,
}

/// What is no reply of RESP.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Malformed;

impl Frames {
    /// Whether it has looked at nothing of the next reply.
    pub fn is_between(&self) -> bool {
        self.at == 0 && self.lacks == 0
    }

    /// The length of the first reply, once `bytes` hold all of it. They begin with that reply, and only grow until its
    /// end was found.
    pub fn next(&mut self, bytes: &[u8]) -> Result<Option<usize>, Malformed> {
        loop {
            let Some(line) = self.line(bytes) else {
                return Ok(None);
            };
            let mut end = self.at + line.len() + 2;
            let mut lacks = self.lacks.max(1) - 1;
            match line.first() {
                Some(b'$' | b'=' | b'!') => {
                    if let Some(length) = length(line)? {
                        end += usize::try_from(length).map_err(|_| Malformed)? + 2;
                        if bytes.len() < end {
                            return Ok(None);
                        }
                    }
                }
                Some(b'*' | b'~' | b'>') => lacks += length(line)?.unwrap_or(0),
                Some(b'%') => lacks += 2 * length(line)?.unwrap_or(0),
                // Attributes stand before the reply that they are about.
                Some(b'|') => lacks += 2 * length(line)?.unwrap_or(0) + 1,
                Some(b'+' | b'-' | b':' | b'_' | b',' | b'#' | b'(') => {}
                _ => return Err(Malformed),
            }
            self.at = end;
            self.lacks = lacks;
            if lacks == 0 {
                self.at = 0;
                return Ok(Some(end));
            }
        }
    }

    /// The line that begins where to go on, without its end.
    fn line<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let rest = bytes.get(self.at..)?;
        let end = rest.windows(2).position(|pair| pair == b"\r\n")?;
        Some(&rest[..end])
    }
}

/// The number behind a line's first byte; `None` for the -1 of a null.
fn length(line: &[u8]) -> Result<Option<u64>, Malformed> {
    const LARGEST: u64 = 1 << 40;
    let text = std::str::from_utf8(&line[1..]).map_err(|_| Malformed)?;
    if text == "-1" {
        return Ok(None);
    }
    match text.parse() {
        Ok(length) if length <= LARGEST => Ok(Some(length)),
        _ => Err(Malformed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn reply() -> impl Strategy<Value = Vec<u8>> {
        let flat = prop_oneof![
            Just(b"+OK\r\n".to_vec()),
            Just(b"-ERR no\r\n".to_vec()),
            any::<i64>().prop_map(|n| format!(":{n}\r\n").into_bytes()),
            Just(b"$-1\r\n".to_vec()),
            Just(b"*-1\r\n".to_vec()),
            Just(b"_\r\n".to_vec()),
            proptest::collection::vec(prop_oneof![Just(b'\r'), Just(b'\n'), any::<u8>()], 0..40)
                .prop_map(|bytes| {
                    [format!("${}\r\n", bytes.len()).as_bytes(), &bytes, b"\r\n"].concat()
                }),
        ];
        flat.prop_recursive(3, 20, 5, |inner| {
            proptest::collection::vec(inner, 0..5).prop_map(|parts| {
                [format!("*{}\r\n", parts.len()).into_bytes(), parts.concat()].concat()
            })
        })
    }

    /// What a connection does with what it receives, in pieces of the given lengths.
    fn received(bytes: &[u8], pieces: &[usize]) -> Vec<Vec<u8>> {
        let (mut frames, mut unread, mut found) = (Frames::default(), Vec::new(), Vec::new());
        let mut rest = bytes;
        let mut pieces = pieces.iter().cycle();
        while !rest.is_empty() {
            let (piece, behind) = rest.split_at((*pieces.next().unwrap()).min(rest.len()));
            unread.extend_from_slice(piece);
            rest = behind;
            while let Some(end) = frames.next(&unread).unwrap() {
                found.push(unread.drain(..end).collect());
            }
        }
        assert!(unread.is_empty());
        found
    }

    proptest! {
        #[test]
        fn replies_are_found_however_they_come(
            replies in proptest::collection::vec(reply(), 1..6),
            pieces in proptest::collection::vec(1..30usize, 1..6),
        ) {
            prop_assert_eq!(received(&replies.concat(), &pieces), replies);
        }

        #[test]
        fn other_bytes_are_refused_or_waited_for(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(Some(end)) = Frames::default().next(&bytes) {
                prop_assert!(end <= bytes.len());
            }
        }
    }

    #[test]
    fn maps_sets_pushes_and_attributes_of_resp3_are_whole_replies() {
        let replies = [
            "%1\r\n+a\r\n:1\r\n",
            "~2\r\n:1\r\n:2\r\n",
            ">2\r\n+invalidate\r\n*1\r\n$1\r\nk\r\n",
        ];
        let told: Vec<Vec<u8>> = replies
            .iter()
            .map(|reply| reply.as_bytes().to_vec())
            .collect();
        assert_eq!(received(&told.concat(), &[3]), told);
        let attributed = b"|1\r\n+ttl\r\n:3\r\n$1\r\nv\r\n";
        assert_eq!(received(attributed, &[4]), [attributed]);
    }

    #[test]
    fn a_length_that_no_reply_has_is_refused() {
        for bytes in [
            "$x\r\n",
            "$-2\r\n",
            "*99999999999999999999\r\n",
            "$18446744073709551615\r\n",
            "GET / HTTP/1.1\r\n",
        ] {
            assert_eq!(
                Frames::default().next(bytes.as_bytes()),
                Err(Malformed),
                "{bytes}"
            );
        }
    }
}
