//! A command to a server.

use crate::record::LARGEST_HEADER;
use crate::reply::Reply;
use crate::script::Script;
use std::ops::Deref;
use std::sync::Arc;

/// The name of a key on the server.
#[derive(Clone, Debug)]
pub enum Key {
    /// One operation's.
    Own(Vec<u8>),
    /// The clock's or a floor's, which all operations of a namespace ask for.
    Shared(Arc<[u8]>),
}

impl Deref for Key {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Key::Own(name) => name,
            Key::Shared(name) => name,
        }
    }
}

impl From<Vec<u8>> for Key {
    fn from(name: Vec<u8>) -> Key {
        Key::Own(name)
    }
}

impl From<&Arc<[u8]>> for Key {
    fn from(name: &Arc<[u8]>) -> Key {
        Key::Shared(name.clone())
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        **self == **other
    }
}

impl Eq for Key {}

/// One command of one key. Clients of a Cluster send it to the primary that owns the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The command's name, or the script that it runs.
    pub verb: Verb,
    /// The key.
    pub key: Key,
    /// What follows the key.
    pub args: Vec<Vec<u8>>,
}

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    /// `GETEX key`: a GET that only a primary answers.
    Get,
    /// `SET key ...`
    Set,
    /// `GETRANGE key 0 39`: the header of what is there.
    GetHeader,
    /// `UNLINK key`: 1 if something was there.
    Unlink,
    /// `ZADD key n member`
    SortedAdd,
    /// A script with this one key.
    Run(Script),
}

impl Command {
    /// Reads a key.
    #[must_use]
    pub fn get(key: impl Into<Key>) -> Command {
        Command {
            verb: Verb::Get,
            key: key.into(),
            args: Vec::new(),
        }
    }

    /// Reads the header of what is there.
    #[must_use]
    pub fn get_header(key: impl Into<Key>) -> Command {
        Command {
            verb: Verb::GetHeader,
            key: key.into(),
            args: vec![b"0".to_vec(), number(LARGEST_HEADER - 1)],
        }
    }

    /// Stores a value. `px`: milliseconds to live; `None`: for ever.
    #[must_use]
    pub fn set(key: impl Into<Key>, value: Vec<u8>, px: Option<u64>) -> Command {
        let mut args = vec![value];
        if let Some(px) = px {
            args.push(b"PX".to_vec());
            args.push(number(px));
        }
        Command {
            verb: Verb::Set,
            key: key.into(),
            args,
        }
    }

    /// Removes a key.
    pub(crate) fn unlink(key: impl Into<Key>) -> Command {
        Command {
            verb: Verb::Unlink,
            key: key.into(),
            args: Vec::new(),
        }
    }

    /// Stores a value if there is none.
    #[must_use]
    pub fn set_new(key: impl Into<Key>, value: Vec<u8>) -> Command {
        Command {
            verb: Verb::Set,
            key: key.into(),
            args: vec![value, b"NX".to_vec()],
        }
    }

    /// Whether it changes nothing, so that it may be sent twice.
    #[must_use]
    pub fn reads(&self) -> bool {
        matches!(self.verb, Verb::Get | Verb::GetHeader)
    }

    pub(crate) fn run(script: Script, key: impl Into<Key>, args: Vec<Vec<u8>>) -> Command {
        Command {
            verb: Verb::Run(script),
            key: key.into(),
            args,
        }
    }

    /// The words as they are sent: a script by its digest (EVALSHA), or by its text (EVAL) for a server that
    /// does not know it.
    #[must_use]
    pub fn words(&self, by_digest: bool) -> Vec<&[u8]> {
        let mut words: Vec<&[u8]> = Vec::with_capacity(4 + self.args.len());
        match self.verb {
            Verb::Get => words.push(b"GETEX"),
            Verb::GetHeader => words.push(b"GETRANGE"),
            Verb::Set => words.push(b"SET"),
            Verb::Unlink => words.push(b"UNLINK"),
            Verb::SortedAdd => words.push(b"ZADD"),
            Verb::Run(script) => words.extend(match by_digest {
                true => [b"EVALSHA", script.digest().as_bytes(), b"1"],
                false => [b"EVAL".as_slice(), script.text().as_bytes(), b"1"],
            }),
        }
        words.push(&self.key);
        words.extend(self.args.iter().map(Vec::as_slice));
        words
    }

    /// Appends the words as they go over the wire.
    pub fn pack(&self, by_digest: bool, out: &mut Vec<u8>) {
        let words = self.words(by_digest);
        let bytes: usize = words.iter().map(|word| word.len() + 16).sum();
        out.reserve(bytes + 16);
        let mut packing = Packing(out);
        packing.begin(words.len());
        for word in words {
            packing.word(word);
        }
    }
}

/// Appends a command's words as they go over the wire (RESP, an array of bulk strings).
struct Packing<'a>(&'a mut Vec<u8>);

impl Packing<'_> {
    fn begin(&mut self, words: usize) {
        self.line(b'*', words);
    }

    fn word(&mut self, word: &[u8]) {
        self.line(b'$', word.len());
        self.0.extend_from_slice(word);
        self.0.extend_from_slice(b"\r\n");
    }

    fn line(&mut self, kind: u8, number: usize) {
        let mut digits = [0; 20];
        let mut first = digits.len();
        let mut rest = number;
        loop {
            first -= 1;
            digits[first] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.0.push(kind);
        self.0.extend_from_slice(&digits[first..]);
        self.0.extend_from_slice(b"\r\n");
    }
}

/// The number of a clock or a floor; 0 for what is none.
#[must_use]
pub fn parse_number(reply: &Reply) -> u64 {
    let Reply::Bytes(text) = reply else {
        return 0;
    };
    let text = std::str::from_utf8(text).ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// A number in decimal.
pub(crate) fn number(value: u64) -> Vec<u8> {
    value.to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_packed_as_an_array_of_its_words() {
        let mut out = b"before".to_vec();
        Command::get(b"k".to_vec()).pack(true, &mut out);
        Command::set(b"".to_vec(), vec![b'v'; 1234], Some(5)).pack(true, &mut out);
        let value = "v".repeat(1234);
        let expected = format!(
            "before*2\r\n$5\r\nGETEX\r\n$1\r\nk\r\n\
             *5\r\n$3\r\nSET\r\n$0\r\n\r\n$1234\r\n{value}\r\n$2\r\nPX\r\n$1\r\n5\r\n"
        );
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
