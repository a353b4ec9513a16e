//! A command to a server.

use crate::record::YEAR;
use crate::reply::Reply;
use crate::script::Script;
use smallvec::{smallvec, SmallVec};
use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

/// Where a header ends: `LARGEST_HEADER - 1`.
const LAST_OF_HEADER: &[u8] = b"39";
const YEAR_TEXT: &[u8] = b"31536000000";

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

/// A word of a command.
pub type Word = Cow<'static, [u8]>;

/// What follows a command's key: three words at most without an allocation of their own.
pub type Words = SmallVec<[Word; 3]>;

/// One command of one key. Clients of a Cluster send it to the primary that owns the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The command's name, or the script that it runs.
    pub verb: Verb,
    /// The key.
    pub key: Key,
    /// What follows the key.
    pub args: Words,
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
            args: Words::new(),
        }
    }

    /// Reads the header of what is there.
    #[must_use]
    pub fn get_header(key: impl Into<Key>) -> Command {
        Command {
            verb: Verb::GetHeader,
            key: key.into(),
            args: smallvec![
                Cow::Borrowed(b"0".as_slice()),
                Cow::Borrowed(LAST_OF_HEADER)
            ],
        }
    }

    /// Stores a value. `px`: milliseconds to live; `None`: for ever.
    #[must_use]
    pub fn set(key: impl Into<Key>, value: Vec<u8>, px: Option<u64>) -> Command {
        let mut args: Words = smallvec![Cow::Owned(value)];
        if let Some(px) = px {
            args.push(Cow::Borrowed(b"PX"));
            args.push(milliseconds(px));
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
            args: Words::new(),
        }
    }

    /// Stores a value if there is none.
    #[must_use]
    pub fn set_new(key: impl Into<Key>, value: Vec<u8>) -> Command {
        Command {
            verb: Verb::Set,
            key: key.into(),
            args: smallvec![Cow::Owned(value), Cow::Borrowed(b"NX".as_slice())],
        }
    }

    /// Whether it changes nothing, so that it may be sent twice.
    #[must_use]
    pub fn reads(&self) -> bool {
        matches!(self.verb, Verb::Get | Verb::GetHeader)
    }

    /// A command of any kind.
    #[must_use]
    pub fn new(verb: Verb, key: impl Into<Key>, args: Vec<Vec<u8>>) -> Command {
        Command {
            verb,
            key: key.into(),
            args: args.into_iter().map(Cow::Owned).collect(),
        }
    }

    pub(crate) fn run(script: Script, key: impl Into<Key>, args: Vec<Vec<u8>>) -> Command {
        Command::new(Verb::Run(script), key, args)
    }

    /// The words as they are sent: a script by its digest (EVALSHA), or by its text (EVAL) for a server that
    /// does not know it.
    #[must_use]
    pub fn words(&self, by_digest: bool) -> Vec<&[u8]> {
        let mut words: Vec<&[u8]> = Vec::with_capacity(4 + self.args.len());
        self.visit(by_digest, |word| words.push(word));
        words
    }

    fn visit<'a>(&'a self, by_digest: bool, mut word: impl FnMut(&'a [u8])) {
        match self.verb {
            Verb::Get => word(b"GETEX"),
            Verb::GetHeader => word(b"GETRANGE"),
            Verb::Set => word(b"SET"),
            Verb::Unlink => word(b"UNLINK"),
            Verb::SortedAdd => word(b"ZADD"),
            Verb::Run(script) => {
                let (name, which) = match by_digest {
                    true => (b"EVALSHA".as_slice(), script.digest()),
                    false => (b"EVAL".as_slice(), script.text()),
                };
                word(name);
                word(which.as_bytes());
                word(b"1");
            }
        }
        word(&self.key);
        for arg in &self.args {
            word(arg);
        }
    }

    /// How many words there are.
    fn len(&self) -> usize {
        let of_verb = match self.verb {
            Verb::Run(_) => 3,
            _ => 1,
        };
        of_verb + 1 + self.args.len()
    }

    /// Appends the words as they go over the wire.
    pub fn pack(&self, by_digest: bool, out: &mut Vec<u8>) {
        let mut packing = Packing(out);
        packing.begin(self.len());
        self.visit(by_digest, |word| packing.word(word));
    }

    /// Room enough for all of them.
    pub(crate) fn packed_len(commands: &[Command], by_digest: bool) -> usize {
        let mut bytes = 0;
        for command in commands {
            bytes += 16;
            command.visit(by_digest, |word| bytes += word.len() + 16);
        }
        bytes
    }

    /// All of them, one behind the other.
    #[must_use]
    pub fn pack_all(commands: &[Command], by_digest: bool) -> Vec<u8> {
        let mut packed = Vec::with_capacity(Command::packed_len(commands, by_digest));
        for command in commands {
            command.pack(by_digest, &mut packed);
        }
        packed
    }
}

/// Appends a command's words as they go over the wire (RESP, an array of bulk strings).
pub(crate) struct Packing<'a>(pub &'a mut Vec<u8>);

impl Packing<'_> {
    pub fn begin(&mut self, words: usize) {
        self.line(b'*', words);
    }

    pub fn word(&mut self, word: &[u8]) {
        self.line(b'$', word.len());
        self.0.extend_from_slice(word);
        self.0.extend_from_slice(b"\r\n");
    }

    fn line(&mut self, kind: u8, number: usize) {
        self.0.push(kind);
        // Most have one digit or two.
        if number < 100 {
            if number >= 10 {
                self.0.push(b'0' + (number / 10) as u8);
            }
            self.0.push(b'0' + (number % 10) as u8);
        } else {
            let mut digits = [0; 20];
            self.0
                .extend_from_slice(decimal(number as u64, &mut digits));
        }
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
    let mut digits = [0; 20];
    decimal(value, &mut digits).to_vec()
}

/// A time to live; the usual one is at hand.
fn milliseconds(px: u64) -> Word {
    match px {
        YEAR => Cow::Borrowed(YEAR_TEXT),
        px => Cow::Owned(number(px)),
    }
}

fn decimal(value: u64, digits: &mut [u8; 20]) -> &[u8] {
    let mut first = digits.len();
    let mut rest = value;
    loop {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            return &digits[first..];
        }
    }
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

    #[test]
    fn all_of_them_are_packed_as_each_is() {
        let commands = [
            Command::set(b"k".to_vec(), vec![b'v'; 100], Some(YEAR)),
            Command::run(Script::Remove, b"k".to_vec(), vec![vec![b'h'; 16]]),
            Command::get_header(vec![b'k'; 12]),
        ];
        for by_digest in [true, false] {
            let mut each = Vec::new();
            for command in &commands {
                command.pack(by_digest, &mut each);
                let words = command.words(by_digest);
                assert_eq!(words.len(), command.len());
            }
            assert_eq!(Command::pack_all(&commands, by_digest), each);
        }
    }

    #[test]
    fn numbers_that_are_at_hand_are_the_numbers() {
        assert_eq!(LAST_OF_HEADER, number(crate::record::LARGEST_HEADER - 1));
        assert_eq!(YEAR_TEXT, number(YEAR));
        for value in [0, 9, 10, 99, 100, 12_345, u64::MAX] {
            assert_eq!(number(value), value.to_string().into_bytes());
        }
    }
}
