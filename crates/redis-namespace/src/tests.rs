//! The vectors of `spec/vectors`, shared by all languages.

use std::borrow::Cow;

use redis::Value;
use serde_json::Value as Json;

use crate::packed::{pack, unpack};
use crate::replies::message;
use crate::session::{Namespace, Session};

const CALLS: &str = include_str!("../../../spec/vectors/commands.json");
const CASES: &str = include_str!("../../../spec/vectors/namespaces.json");

fn namespace(name: &Json) -> Namespace {
    match name {
        Json::String(name) => Namespace::new(name),
        names => Namespace::nested(texts(names)),
    }
    .expect("a good name")
}

fn texts(list: &Json) -> Vec<String> {
    let list = list.as_array().expect("a list").iter();
    list.map(|text| text.as_str().expect("a text").to_owned())
        .collect()
}

/// Rewrites the words through their encoded form, as a connection does.
fn rewritten(namespace: &Namespace, words: &[String]) -> Result<Vec<String>, crate::Error> {
    let words: Vec<Cow<'_, [u8]>> = words.iter().map(|word| word.as_bytes().into()).collect();
    let mut packed = Vec::new();
    pack(&words, &mut packed);
    let mut commands = unpack(&packed).expect("what was packed");
    Session::default().rewrite(namespace, &mut commands[0])?;
    let words = commands[0].iter();
    Ok(words
        .map(|word| String::from_utf8_lossy(word).into_owned())
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
        let found = rewritten(&namespace(&case["namespace"]), &texts(&case["words"]));
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
        let namespace = namespace(&case["namespace"]);
        let words = texts(&case["words"]);
        let mut words: Vec<Cow<'_, [u8]>> =
            words.iter().map(|word| word.as_bytes().into()).collect();
        let mut session = Session::default();
        let sent = session
            .rewrite(&namespace, &mut words)
            .expect("it is known");
        assert_eq!(
            session.after(sent, value(&case["reply"])),
            value(&case["returns"]),
            "{case}"
        );
    }
}

#[test]
fn events() {
    for case in cases("events") {
        let prefix = namespace(&case["namespace"])
            .prefix()
            .expect("it has a name");
        let Value::Array(event) = value(&case["event"]) else {
            panic!("an event is a list")
        };
        let told = message(&event, &prefix).map_or(Value::Nil, Value::Array);
        assert_eq!(told, value(&case["told"]), "{case}");
    }
}

#[test]
fn a_namespace_has_a_name() {
    assert!(Namespace::new("").is_err());
    assert!(Namespace::nested(Vec::<String>::new()).is_err());
    assert!(Namespace::asked(Vec::new).prefix().is_err());
}

#[test]
fn bytes_that_are_no_commands_are_refused() {
    for bytes in [
        &b"PING\r\n"[..],
        b"*1\r\n$5\r\nPI",
        b"*1\r\n$99999999999999999999\r\nx\r\n",
        b"*2\r\n$1\r\na\r\n",
    ] {
        assert_eq!(unpack(bytes), None);
    }
}
