//! Servers that tell of each other: in what they say, their ports become those of the proxies by which a host reaches
//! them. So a client of any language goes by its host's own way, and is told nothing of it.

/// Servers' ports, each with the one that stands for it; both have five digits, so that no length changes.
#[derive(Clone, Debug, Default)]
pub struct Names(Vec<([u8; DIGITS], [u8; DIGITS])>);

const DIGITS: usize = 5;

impl Names {
    /// Of servers and their proxies.
    ///
    /// # Errors
    /// A port has fewer than five digits.
    pub fn new(ports: impl IntoIterator<Item = (u16, u16)>) -> Result<Names, String> {
        let digits = |port: u16| {
            let text = port.to_string().into_bytes();
            <[u8; DIGITS]>::try_from(text).map_err(|_| format!("{port} has no five digits"))
        };
        let pairs = ports.into_iter();
        let pairs = pairs.map(|(server, proxy)| Ok((digits(server)?, digits(proxy)?)));
        Ok(Names(pairs.collect::<Result<_, String>>()?))
    }
}

/// How a port stands in `CLUSTER SLOTS`, `MOVED` and `ASK`; in `CLUSTER NODES`; and in what a Sentinel says.
const FORMS: [(&[u8], &[u8]); 3] = [(b":", b"\r"), (b":", b"@"), (b"$5\r\n", b"\r")];

/// Renames what passes, also where it comes in pieces.
pub(super) struct Renaming {
    names: Names,
    bytes: Vec<u8>,
    /// The bytes at the end of `bytes` that may be the beginning of a port: they wait for what follows.
    kept: usize,
}

impl Renaming {
    pub fn new(names: Names) -> Renaming {
        Renaming {
            names,
            bytes: Vec::new(),
            kept: 0,
        }
    }

    /// What may pass on now.
    pub fn pass<'a>(&'a mut self, more: &'a [u8]) -> &'a [u8] {
        if self.names.0.is_empty() {
            return more;
        }
        let passed = self.bytes.len() - self.kept;
        self.bytes.drain(..passed);
        self.bytes.extend_from_slice(more);
        let mut at = 0;
        let mut kept = 0;
        while at < self.bytes.len() {
            match self.begins(at) {
                Begins::Port(place, proxy) => {
                    self.bytes[place..place + DIGITS].copy_from_slice(&proxy);
                    at = place + DIGITS;
                }
                Begins::Part => {
                    kept = self.bytes.len() - at;
                    break;
                }
                Begins::Nothing => at += 1,
            }
        }
        self.kept = kept;
        &self.bytes[..self.bytes.len() - kept]
    }

    fn begins(&self, at: usize) -> Begins {
        let rest = &self.bytes[at..];
        if !matches!(rest.first(), Some(b':' | b'$')) {
            return Begins::Nothing;
        }
        for (before, after) in FORMS {
            for (server, proxy) in &self.names.0 {
                let whole = [before, server, after].concat();
                if rest.starts_with(&whole) {
                    return Begins::Port(at + before.len(), *proxy);
                }
                // A message ends with a line: what ends so is not held back.
                if whole.starts_with(rest) && !rest.ends_with(b"\n") {
                    return Begins::Part;
                }
            }
        }
        Begins::Nothing
    }
}

/// What begins at a byte.
enum Begins {
    /// A server's port, there, and what it becomes.
    Port(usize, [u8; DIGITS]),
    /// The first bytes of one, perhaps.
    Part,
    Nothing,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renamed(pieces: &[&str]) -> String {
        let names = Names::new([(40_001, 50_001), (40_002, 50_002)]).unwrap();
        let mut renaming = Renaming::new(names);
        let mut out = Vec::new();
        for piece in pieces {
            out.extend_from_slice(renaming.pass(piece.as_bytes()));
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn servers_are_told_of_as_their_proxies() {
        for (said, told) in [
            (
                "-MOVED 7 127.0.0.1:40002\r\n",
                "-MOVED 7 127.0.0.1:50002\r\n",
            ),
            (
                "$9\r\n127.0.0.1\r\n:40001\r\n",
                "$9\r\n127.0.0.1\r\n:50001\r\n",
            ),
            (
                "127.0.0.1:40001@40002 master",
                "127.0.0.1:50001@40002 master",
            ),
            ("$5\r\n40002\r\n", "$5\r\n50002\r\n"),
        ] {
            assert_eq!(renamed(&[said]), told);
        }
    }

    #[test]
    fn other_bytes_pass_as_they_are() {
        for said in [
            "$8\r\n:40001.5\r\n",
            "$6\r\n400012\r\n",
            ":400011\r\n",
            ":40003\r\n",
            "+OK\r\n",
        ] {
            assert_eq!(renamed(&[said]), said);
        }
    }

    #[test]
    fn a_port_may_come_in_pieces_and_no_message_waits() {
        let (said, told) = ("$5\r\n40002\r\n:40001\r\n", "$5\r\n50002\r\n:50001\r\n");
        for first in 0..said.len() {
            // Cut behind its length, it cannot be told from the end of a message.
            if first == 4 {
                continue;
            }
            for second in first..said.len() {
                let pieces = [&said[..first], &said[first..second], &said[second..]];
                if second != 4 {
                    assert_eq!(renamed(&pieces), told, "{pieces:?}");
                }
            }
        }
        assert_eq!(renamed(&["$3\r\na$5\r\n"]), "$3\r\na$5\r\n");
    }

    #[test]
    fn ports_have_five_digits() {
        assert!(Names::new([(6379, 50_001)]).is_err());
    }
}
