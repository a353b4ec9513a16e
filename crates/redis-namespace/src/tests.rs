//! The vectors of `spec/vectors`, shared by all languages.

use redis::{Cmd, ConnectionLike, RedisResult, Value};
use serde_json::Value as Json;

use crate::packed::{words_of, Packed};
use crate::replies::message;
use crate::session::{Namespace, Session};
use crate::Namespaced;

const CALLS: &str = include_str!("../../../spec/vectors/commands.json");
const CASES: &str = include_str!("../../../spec/vectors/namespaces.json");

fn namespace(case: &Json) -> Namespace {
    made(case).expect("good options")
}

/// The namespace of a case with its options.
fn made(case: &Json) -> Result<Namespace, crate::Error> {
    let mut namespace = match &case["namespace"] {
        Json::String(name) => Namespace::new(name),
        names => Namespace::nested(texts(names)),
    }?;
    if let Some(separator) = case.get("separator") {
        namespace = namespace.separator(separator.as_str().expect("a text"))?;
    }
    if let Some(commands) = case.get("commands") {
        for (name, rules) in commands.as_object().expect("rules by name") {
            namespace = namespace.command(name, &rules.to_string())?;
        }
    }
    Ok(namespace)
}

/// Whether the options of a case can be expressed in Rust.
fn is_typed(case: &Json) -> bool {
    let named = match &case["namespace"] {
        Json::String(_) => true,
        names => names.as_array().is_some(),
    };
    named
        && case.get("separator").is_none_or(Json::is_string)
        && case.get("allow").is_none()
        && case.get("commands").is_none_or(Json::is_object)
}

fn texts(list: &Json) -> Vec<String> {
    let list = list.as_array().expect("a list").iter();
    list.map(|text| text.as_str().expect("a text").to_owned())
        .collect()
}

/// Rewrites the words in both forms that a connection takes: encoded, and as a redis-rs command.
fn rewritten(namespace: &Namespace, words: &[String]) -> Result<Vec<String>, crate::Error> {
    let mut given = Cmd::new();
    words.iter().for_each(|word| _ = given.arg(word));
    let encoded = given.get_packed_command();
    let words = || Packed::first(&encoded).expect("what was encoded");
    let (session, command) = (Session::default(), namespace.find(words())?);

    let mut packed = Vec::new();
    session.rewrite(namespace, command, &mut words(), 0, &mut packed)?;
    let mut made = Cmd::new();
    session.rewrite(namespace, command, &mut words_of(&given), 0, &mut made)?;
    assert_eq!(packed, made.get_packed_command());

    let words = Packed::first(&packed).expect("what was encoded");
    Ok(words
        .map(|word| String::from_utf8_lossy(word.expect("encoded well")).into_owned())
        .collect())
}

fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Nil,
        Json::Number(number) => Value::Int(number.as_i64().expect("an integer")),
        Json::String(text) if text == "QUEUED" => Value::SimpleString(text.clone()),
        Json::String(text) => Value::BulkString(text.clone().into_bytes()),
        Json::Array(items) => Value::Array(items.iter().map(value).collect()),
        Json::Object(fields) => Value::Map(
            fields
                .iter()
                .map(|(name, one)| (Value::BulkString(name.clone().into_bytes()), value(one)))
                .collect(),
        ),
        Json::Bool(_) => panic!("no such reply"),
    }
}

fn cases(kind: &str) -> Vec<Json> {
    let cases: Json = serde_json::from_str(CASES).expect("JSON");
    cases[kind].as_array().expect("a list").clone()
}

#[test]
fn the_table_is_the_one_of_spec() {
    assert_eq!(
        include_str!("commands.json"),
        include_str!("../../../spec/commands.json")
    );
}

#[test]
fn keys_are_rewritten_and_nothing_else() {
    let shop = Namespace::new("shop").expect("a good name");
    let calls: Json = serde_json::from_str(CALLS).expect("JSON");
    for call in calls.as_array().expect("a list") {
        let words = texts(&call[0]);
        let prefixed: Vec<u64> = call[1]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(Json::as_u64)
            .collect();
        let expected: Vec<String> = (0..)
            .zip(&words)
            .map(|(at, word)| {
                if prefixed.contains(&at) {
                    format!("shop:{word}")
                } else {
                    word.clone()
                }
            })
            .collect();
        assert_eq!(rewritten(&shop, &words), Ok(expected));
    }
}

#[test]
fn commands() {
    for case in cases("commands") {
        let found = rewritten(&namespace(&case), &texts(&case["words"]));
        match case.get("error") {
            Some(code) => {
                let error = found.expect_err(&case.to_string());
                assert_eq!(error.code(), code, "{case}");
            }
            None => assert_eq!(found, Ok(texts(&case["sent"])), "{case}"),
        }
    }
}

#[test]
fn replies() {
    for case in cases("replies") {
        let namespace = namespace(&case);
        let words = texts(&case["words"]);
        let mut words = words.iter().map(|word| Some(word.as_bytes()));
        let mut session = Session::default();
        let command = namespace.find(words.clone()).expect("it is known");
        let sent = session
            .rewrite(&namespace, command, &mut words, 0, &mut Vec::new())
            .expect("it is known");
        assert_eq!(
            session.after(sent, value(&case["reply"])),
            value(&case["returns"]),
            "{case}"
        );
    }
}

#[test]
fn options_that_are_wrong() {
    let cases = cases("options");
    assert!(cases.len() > 20);
    for case in cases.into_iter().filter(is_typed) {
        let error = made(&case).expect_err(&case.to_string());
        assert_eq!(error.code(), case["error"], "{case}");
    }
}

#[test]
fn transactions() {
    for case in cases("transactions") {
        let (namespace, mut session) = (namespace(&case), Session::default());
        for step in case["steps"].as_array().expect("a list") {
            let words = texts(&step["words"]);
            let mut words = words.iter().map(|word| Some(word.as_bytes()));
            let command = namespace.find(words.clone()).expect("it is known");
            let sent = session
                .rewrite(&namespace, command, &mut words, 0, &mut Vec::new())
                .expect("it is known");
            if step.get("fails").is_some() {
                session.failed(sent.as_ref());
            } else {
                let reply = session.after(sent, value(&step["reply"]));
                assert_eq!(reply, value(&step["returns"]), "{}", case["says"]);
            }
        }
    }
}

#[test]
fn events() {
    for case in cases("events") {
        let prefix = namespace(&case).prefix().expect("it has a name");
        let Value::Array(event) = value(&case["event"]) else {
            panic!("an event is a list")
        };
        let told = message(&event, &prefix).map_or(Value::Nil, Value::Array);
        assert_eq!(told, value(&case["told"]), "{case}");
    }
}

#[test]
fn a_separator_of_names_that_are_asked_for() {
    let namespace = Namespace::asked(|| vec!["a".to_owned(), "b".to_owned()]);
    let namespace = namespace.separator("-").expect("it is not an empty one");
    assert_eq!(namespace.prefix().expect("two names").text(), b"a-b-");
    assert!(namespace.separator("").is_err());
}

#[test]
fn a_namespace_has_a_name() {
    assert!(Namespace::new("").is_err());
    assert!(Namespace::nested(Vec::<String>::new()).is_err());
    assert!(Namespace::asked(Vec::new).prefix().is_err());
}

/// Keeps what it is sent.
#[derive(Default)]
struct Kept(Vec<u8>);

impl ConnectionLike for Kept {
    fn req_packed_command(&mut self, packed: &[u8]) -> RedisResult<Value> {
        self.0.extend_from_slice(packed);
        Ok(Value::Nil)
    }

    fn req_packed_commands(
        &mut self,
        packed: &[u8],
        _offset: usize,
        count: usize,
    ) -> RedisResult<Vec<Value>> {
        self.0.extend_from_slice(packed);
        Ok(vec![Value::Nil; count])
    }

    fn get_db(&self) -> i64 {
        0
    }

    fn check_connection(&mut self) -> bool {
        true
    }

    fn is_open(&self) -> bool {
        true
    }
}

fn shop() -> Namespaced<Kept> {
    let namespace = Namespace::new("shop").expect("a good name");
    Namespaced::new(Kept::default(), namespace)
}

#[test]
fn bytes_that_are_no_commands_are_refused() {
    for bytes in [
        &b""[..],
        b"PING\r\n",
        b"*1\r\n$5\r\nPI",
        b"*2\r\n$3\r\nGET\r\n$5\r\nke",
        b"*2\r\n$3\r\nGET\r\n",
        b"*3\r\n$4\r\nKEYS\r\n$1\r\na\r\n",
        b"*1\r\n$99999999999999999999\r\nx\r\n",
        b"*99999999999999\r\n$4\r\nPING\r\n",
        b"*1\r\n$-1\r\n",
    ] {
        let mut shop = shop();
        assert!(shop.req_packed_command(bytes).is_err(), "{bytes:?}");
        let after_a_good_one = [b"*1\r\n$4\r\nPING\r\n", bytes].concat();
        let result = shop.req_packed_commands(&after_a_good_one, 0, 2);
        assert_eq!(result.is_err(), !bytes.is_empty(), "{bytes:?}");
        assert_eq!(shop.inner().0.is_empty(), !bytes.is_empty(), "{bytes:?}");
    }
}

#[test]
fn one_command_at_a_time_but_in_a_pipeline() {
    let two = b"*2\r\n$3\r\nGET\r\n$1\r\na\r\n*2\r\n$3\r\nGET\r\n$1\r\nb\r\n";
    let mut shop = shop();
    assert!(shop.req_packed_command(two).is_err());
    assert!(shop.inner().0.is_empty());
    assert!(shop.req_packed_commands(two, 0, 2).is_ok());
    let sent = b"*2\r\n$3\r\nGET\r\n$6\r\nshop:a\r\n*2\r\n$3\r\nGET\r\n$6\r\nshop:b\r\n";
    assert_eq!(shop.inner().0, sent);
}
