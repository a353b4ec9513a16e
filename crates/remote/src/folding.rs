//! Many reads of one server as two commands (`spec/remote.md`, "Operations"): the first key's GETEX, which only a primary
//! answers, and behind it one MGET of all others. A hundred GETEX cost the server half as much again.

use crate::command::{Command, Packing, Verb};
use crate::reply::Reply;

/// Fewer are sent as they are.
const FEWEST: usize = 8;

/// How many replies [`fold_reads`] has.
pub const FOLDED: usize = 2;

/// The two commands, packed, if these only read whole keys and are many. All keys must be of one server.
#[must_use]
pub fn fold_reads(commands: &[Command]) -> Option<Vec<u8>> {
    let only_reads = || commands.iter().all(|one| one.verb == Verb::Get);
    if commands.len() < FEWEST || !only_reads() {
        return None;
    }
    let (first, others) = commands.split_first()?;
    let bytes: usize = commands.iter().map(|one| one.key.len() + 16).sum();
    let mut packed = Vec::with_capacity(bytes + 64);
    first.pack(true, &mut packed);
    let mut packing = Packing(&mut packed);
    packing.begin(1 + others.len());
    packing.word(b"MGET");
    for other in others {
        packing.word(&other.key);
    }
    Some(packed)
}

/// The replies to each of the `count` reads; `None` where the user may not MGET, or a proxy answers it in a way of its
/// own: then each read is sent.
#[must_use]
pub fn unfold_reads(replies: Vec<Reply>, count: usize) -> Option<Vec<Reply>> {
    let [first, others]: [Reply; FOLDED] = replies.try_into().ok()?;
    match (&first, others) {
        // What refuses the first one may be a replica, whose answer to the MGET says nothing. Only another type is the
        // first key's own matter: a replica would not have looked at it.
        (Reply::Error(why), _) if !why.starts_with("WRONGTYPE") => Some(vec![first; count]),
        (_, Reply::List(others)) if others.len() + 1 == count => {
            let mut all = Vec::with_capacity(count);
            all.push(first);
            all.extend(others);
            Some(all)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(count: usize) -> Vec<Command> {
        let key = |number| format!("k{number}").into_bytes();
        (0..count).map(|number| Command::get(key(number))).collect()
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
        let folded = fold_reads(&reads(9)).unwrap();
        assert_eq!(String::from_utf8(folded).unwrap(), expected);
    }

    #[test]
    fn few_reads_and_what_does_more_are_sent_as_they_are() {
        assert_eq!(fold_reads(&reads(FEWEST - 1)), None);
        let mut mixed = reads(20);
        mixed.push(Command::get_header(b"k".to_vec()));
        assert_eq!(fold_reads(&mixed), None);
    }

    #[test]
    fn each_read_has_its_reply() {
        let replies = vec![text("a"), Reply::List(vec![Reply::Nil, text("c")])];
        let expected = vec![text("a"), Reply::Nil, text("c")];
        assert_eq!(unfold_reads(replies, 3), Some(expected));
    }

    #[test]
    fn what_a_replica_answers_is_nobodys_reply() {
        let refusal = error("READONLY You can't write against a read only replica.");
        let replies = vec![refusal.clone(), Reply::List(vec![text("b"), text("c")])];
        assert_eq!(unfold_reads(replies, 3), Some(vec![refusal; 3]));
    }

    #[test]
    fn another_type_is_the_first_keys_own_matter() {
        let wrong = error("WRONGTYPE Operation against a key holding the wrong kind of value");
        let replies = vec![wrong.clone(), Reply::List(vec![text("b")])];
        assert_eq!(unfold_reads(replies, 2), Some(vec![wrong, text("b")]));
    }

    #[test]
    fn what_gives_no_list_is_asked_for_each_read() {
        for replies in [
            vec![
                text("a"),
                error("NOPERM this user has no permissions to run the 'mget' command"),
            ],
            vec![],
            vec![text("a")],
            vec![text("a"), text("b")],
            vec![text("a"), Reply::List(vec![text("b")])],
        ] {
            assert_eq!(unfold_reads(replies, 3), None);
        }
    }
}
