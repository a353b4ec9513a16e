//! A command to a server.

use crate::record::LARGEST_HEADER;
use crate::reply::Reply;
use crate::script::Script;

/// One command of one key. Clients of a Cluster send it to the primary that owns the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The command's name, or the script that it runs.
    pub verb: Verb,
    /// The key.
    pub key: Vec<u8>,
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
    /// `ZADD key n member`
    SortedAdd,
    /// A script with this one key.
    Run(Script),
}

impl Command {
    /// Reads a key.
    #[must_use]
    pub fn get(key: Vec<u8>) -> Command {
        Command {
            verb: Verb::Get,
            key,
            args: Vec::new(),
        }
    }

    /// Reads the header of what is there.
    #[must_use]
    pub fn get_header(key: Vec<u8>) -> Command {
        Command {
            verb: Verb::GetHeader,
            key,
            args: vec![b"0".to_vec(), number(LARGEST_HEADER - 1)],
        }
    }

    /// Stores a value. `px`: milliseconds to live; `None`: for ever.
    #[must_use]
    pub fn set(key: Vec<u8>, value: Vec<u8>, px: Option<u64>) -> Command {
        let mut args = vec![value];
        if let Some(px) = px {
            args.push(b"PX".to_vec());
            args.push(number(px));
        }
        Command {
            verb: Verb::Set,
            key,
            args,
        }
    }

    /// Stores a value if there is none.
    #[must_use]
    pub fn set_new(key: Vec<u8>, value: Vec<u8>) -> Command {
        Command {
            verb: Verb::Set,
            key,
            args: vec![value, b"NX".to_vec()],
        }
    }

    /// Whether it changes nothing, so that it may be sent twice.
    #[must_use]
    pub fn reads(&self) -> bool {
        matches!(self.verb, Verb::Get | Verb::GetHeader)
    }

    pub(crate) fn run(script: Script, key: Vec<u8>, args: Vec<Vec<u8>>) -> Command {
        Command {
            verb: Verb::Run(script),
            key,
            args,
        }
    }

    /// The words as they are sent: a script by its digest (EVALSHA), or by its text (EVAL) for a server that
    /// does not know it.
    #[must_use]
    pub fn words(&self, by_digest: bool) -> Vec<Vec<u8>> {
        let mut words = match self.verb {
            Verb::Get => vec![b"GETEX".to_vec()],
            Verb::GetHeader => vec![b"GETRANGE".to_vec()],
            Verb::Set => vec![b"SET".to_vec()],
            Verb::SortedAdd => vec![b"ZADD".to_vec()],
            Verb::Run(script) => match by_digest {
                true => vec![b"EVALSHA".to_vec(), script.digest().into(), b"1".to_vec()],
                false => vec![b"EVAL".to_vec(), script.text().into(), b"1".to_vec()],
            },
        };
        words.push(self.key.clone());
        words.extend(self.args.iter().cloned());
        words
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
