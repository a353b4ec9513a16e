//! Commands in their wire format: arrays of bulk strings (RESP,
//! <https://redis.io/docs/latest/develop/reference/protocol-spec/>).

use std::io::Write;

use redis::{Arg, Cmd, RedisWrite};

use crate::rules::Words;

/// Bytes of a word beside its content: a dollar sign, three digits of its length, two line ends.
const AROUND: usize = 8;

/// The words of an encoded command, one by one, without building a list. A malformed word is None, and
/// the last.
#[derive(Clone)]
pub(crate) struct Packed<'a> {
    left: usize,
    bytes: &'a [u8],
    /// True when nothing may follow the command.
    only: bool,
}

impl<'a> Packed<'a> {
    /// The only command in these bytes; None if there is not exactly one.
    pub(crate) fn only(bytes: &'a [u8]) -> Option<Self> {
        let first = Self::first(bytes)?;
        Some(Self {
            only: true,
            ..first
        })
    }

    /// The first command in these bytes; None if there is none.
    pub(crate) fn first(bytes: &'a [u8]) -> Option<Self> {
        let (left, bytes) = number(bytes, b'*')?;
        // A word takes at least five bytes, whatever length is declared.
        (left <= bytes.len()).then_some(Self {
            left,
            bytes,
            only: false,
        })
    }

    /// The bytes after the words read so far.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.bytes
    }

    fn word(&mut self) -> Option<&'a [u8]> {
        let (size, rest) = number(self.bytes, b'$')?;
        let (word, rest) = rest.split_at_checked(size)?;
        self.bytes = rest.strip_prefix(b"\r\n")?;
        let over = self.left == 0 && self.only;
        (!over || self.bytes.is_empty()).then_some(word)
    }
}

impl<'a> Iterator for Packed<'a> {
    type Item = Option<&'a [u8]>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let word = self.word();
        if word.is_none() {
            self.left = 0;
        }
        Some(word)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Packed<'_> {}

/// The words of a redis-rs command; None for the cursor of an iteration, which is private to redis-rs.
pub(crate) fn words_of(
    command: &Cmd,
) -> impl Clone + ExactSizeIterator<Item = Option<&'_ [u8]>> + '_ {
    command.args_iter().map(|word| match word {
        Arg::Simple(word) => Some(word),
        _ => None,
    })
}

/// The destination of a command: encoded bytes, or a command of redis-rs.
pub(crate) trait Out {
    /// Begins a command: its number of words and about its number of bytes.
    fn begin(&mut self, words: usize, bytes: usize);
    /// Adds a word of two parts, the first of which may be empty.
    fn word(&mut self, prefix: &[u8], word: &[u8]);

    /// Adds a whole command.
    fn words(&mut self, words: &Words<'_>) {
        let bytes = words.iter().map(|word| word.len()).sum();
        self.begin(words.len(), bytes);
        for word in words {
            self.word(b"", word);
        }
    }
}

impl Out for Vec<u8> {
    fn begin(&mut self, words: usize, bytes: usize) {
        self.reserve(bytes + AROUND * (words + 1));
        header(b'*', words, self);
    }

    fn word(&mut self, prefix: &[u8], word: &[u8]) {
        header(b'$', prefix.len() + word.len(), self);
        self.extend_from_slice(prefix);
        self.extend_from_slice(word);
        self.extend_from_slice(b"\r\n");
    }
}

impl Out for Cmd {
    fn begin(&mut self, _: usize, _: usize) {}

    fn word(&mut self, prefix: &[u8], word: &[u8]) {
        let mut out = self.writer_for_next_arg();
        // Writing to memory cannot fail.
        let _ = out.write_all(prefix).and_then(|()| out.write_all(word));
    }
}

fn number(bytes: &[u8], kind: u8) -> Option<(usize, &[u8])> {
    let (first, mut bytes) = bytes.split_first()?;
    if *first != kind {
        return None;
    }
    let mut number: usize = 0;
    loop {
        let (byte, rest) = bytes.split_first()?;
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return Some((number, bytes.strip_prefix(b"\r\n")?));
        }
        number = number.checked_mul(10)?.checked_add(usize::from(digit))?;
        bytes = rest;
    }
}

fn header(kind: u8, number: usize, into: &mut Vec<u8>) {
    if number < 10 {
        into.extend_from_slice(&[kind, b'0' + number as u8, b'\r', b'\n']);
        return;
    }
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut left = number;
    while left > 0 {
        at -= 1;
        digits[at] = b'0' + (left % 10) as u8;
        left /= 10;
    }
    into.push(kind);
    into.extend_from_slice(&digits[at..]);
    into.extend_from_slice(b"\r\n");
}
