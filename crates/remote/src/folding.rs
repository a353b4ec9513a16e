//! Reads of one server as one MGET (`spec/remote.md`, "Operations"), behind a command that only a primary answers: the first
//! key's GETEX, or a SET. A hundred GETEX cost the server half as much again; the three questions of a single write or read cost
//! it, and whoever packs and parses them, as much as the command that they go with.

use crate::command::{Command, Packing, Verb};
use crate::reply::Reply;

/// Commands of which the reads at the end are one MGET.
#[derive(Debug)]
pub struct Folded {
    /// All of them, packed.
    pub packed: Vec<u8>,
    /// How many go before the MGET.
    pub kept: usize,
    /// How many reads it stands for.
    folded: usize,
    only_reads: bool,
}

/// What came where the reads were not answered.
#[derive(Debug, PartialEq)]
pub struct Refused {
    /// The replies to what went before the MGET.
    pub replies: Vec<Reply>,
    /// Another MGET would be refused, too.
    pub for_good: bool,
}

/// The commands with the reads at their end folded, where they can be. All keys must be of one server.
#[must_use]
pub fn fold_reads(commands: &[Command]) -> Option<Folded> {
    let is_read = |one: &&Command| one.verb == Verb::Get;
    let reads = commands.iter().rev().take_while(is_read).count();
    let only_reads = reads == commands.len();
    let kept = match only_reads {
        true => 1,
        false => commands.len() - reads,
    };
    let (before, folded) = commands.split_at_checked(kept)?;
    let shows_primary = only_reads || before.iter().all(|one| one.verb == Verb::Set);
    if folded.is_empty() || !shows_primary {
        return None;
    }
    let names: usize = folded.iter().map(|one| one.key.len() + 16).sum();
    let mut packed = Vec::with_capacity(Command::packed_len(before, true) + names + 32);
    before.iter().for_each(|one| one.pack(true, &mut packed));
    let mut packing = Packing(&mut packed);
    packing.begin(1 + folded.len());
    packing.word(b"MGET");
    for read in folded {
        packing.word(&read.key);
    }
    Some(Folded {
        packed,
        kept,
        folded: folded.len(),
        only_reads,
    })
}

impl Folded {
    /// How many replies there will be.
    #[must_use]
    pub fn count(&self) -> usize {
        self.kept + 1
    }

    /// The replies to each of the commands.
    ///
    /// # Errors
    /// Where the MGET was refused, or a proxy answers it in a way of its own: then each read is to be sent.
    pub fn unfold(&self, mut replies: Vec<Reply>) -> Result<Vec<Reply>, Refused> {
        let folded = match replies.len() == self.count() {
            true => replies.pop(),
            false => None,
        };
        // What refuses the first one may be a replica, whose answer to the MGET says nothing. Only another type is the
        // first key's own matter: a replica would not have looked at it. (A write that is refused is no write, whatever the
        // others say.)
        if let (true, Some(Reply::Error(why))) = (self.only_reads, replies.first()) {
            if !why.starts_with("WRONGTYPE") {
                return Ok(vec![Reply::Error(why.clone()); self.kept + self.folded]);
            }
        }
        match folded {
            Some(Reply::List(values)) if values.len() == self.folded => {
                replies.extend(values);
                Ok(replies)
            }
            other => Err(Refused {
                replies,
                for_good: match other {
                    // The user may not, or the server does not know it. All else passes: it loads its data, for example.
                    Some(Reply::Error(why)) => why.starts_with("NOPERM") || why.starts_with("ERR "),
                    Some(_) => true,
                    None => false,
                },
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(count: usize) -> Vec<Command> {
        let key = |number| format!("k{number}").into_bytes();
        (0..count).map(|number| Command::get(key(number))).collect()
    }

    fn packed(commands: &[Command]) -> Option<String> {
        fold_reads(commands).map(|folded| String::from_utf8(folded.packed).unwrap())
    }

    fn unfold(replies: Vec<Reply>, reads: usize) -> Result<Vec<Reply>, Refused> {
        fold_reads(&self::reads(reads)).unwrap().unfold(replies)
    }

    fn text(text: &str) -> Reply {
        Reply::Bytes(text.into())
    }

    fn error(why: &str) -> Reply {
        Reply::Error(why.into())
    }

    #[test]
    fn many_reads_are_one_getex_and_one_mget() {
        let mut expected = "*2\r\n$5\r\nGETEX\r\n$2\r\nk0\r\n*9\r\n$4\r\nMGET\r\n".to_owned();
        for number in 1..9 {
            expected += &format!("$2\r\nk{number}\r\n");
        }
        assert_eq!(packed(&reads(9)).unwrap(), expected);
    }

    #[test]
    fn the_questions_of_writes_are_one_mget_behind_them() {
        let set = Command::set(b"k".to_vec(), b"v".to_vec(), None);
        let commands = [&[set.clone(), set][..], &reads(2)].concat();
        let expected = "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n".repeat(2)
            + "*3\r\n$4\r\nMGET\r\n$2\r\nk0\r\n$2\r\nk1\r\n";
        assert_eq!(packed(&commands).unwrap(), expected);
    }

    #[test]
    fn one_read_and_those_beside_what_a_replica_may_answer_are_sent_as_they_are() {
        let header = Command::get_header(b"k".to_vec());
        let script = Command::run(crate::Script::Add, b"k".to_vec(), vec![]);
        for commands in [
            vec![],
            reads(1),
            [reads(20), vec![header.clone()]].concat(),
            [vec![header], reads(20)].concat(),
            [vec![script], reads(20)].concat(),
        ] {
            assert_eq!(packed(&commands), None);
        }
    }

    #[test]
    fn each_read_has_its_reply() {
        let replies = vec![text("a"), Reply::List(vec![Reply::Nil, text("c")])];
        let expected = vec![text("a"), Reply::Nil, text("c")];
        assert_eq!(unfold(replies, 3), Ok(expected));
    }

    #[test]
    fn what_a_replica_answers_is_nobodys_reply() {
        let refusal = error("READONLY You can't write against a read only replica.");
        let replies = vec![refusal.clone(), Reply::List(vec![text("b"), text("c")])];
        assert_eq!(unfold(replies, 3), Ok(vec![refusal; 3]));
    }

    #[test]
    fn another_type_is_the_first_keys_own_matter() {
        let wrong = error("WRONGTYPE Operation against a key holding the wrong kind of value");
        let replies = vec![wrong.clone(), Reply::List(vec![text("b"), text("c")])];
        assert_eq!(unfold(replies, 3), Ok(vec![wrong, text("b"), text("c")]));
    }

    #[test]
    fn what_gives_no_list_is_asked_for_by_each_read() {
        let refused = |for_good| {
            let replies = vec![text("a")];
            Err(Refused { replies, for_good })
        };
        for (second, for_good) in [
            (
                error("NOPERM this user has no permissions to run the 'mget' command"),
                true,
            ),
            (error("ERR unknown command 'MGET'"), true),
            (text("b"), true),
            (Reply::List(vec![text("b")]), true),
            (
                error("LOADING Redis is loading the dataset in memory"),
                false,
            ),
        ] {
            assert_eq!(unfold(vec![text("a"), second], 3), refused(for_good));
        }
        assert_eq!(unfold(vec![text("a")], 3), refused(false));
    }

    #[test]
    fn a_write_keeps_its_own_reply() {
        let set = Command::set(b"k".to_vec(), b"v".to_vec(), None);
        let folded = fold_reads(&[vec![set], reads(2)].concat()).unwrap();
        let refusal = error("READONLY You can't write against a read only replica.");
        for own in [Reply::Status, refusal] {
            let replies = vec![own.clone(), Reply::List(vec![Reply::Nil, text("b")])];
            assert_eq!(folded.unfold(replies), Ok(vec![own, Reply::Nil, text("b")]));
        }
    }
}
