//! Any serde type to a value and back.

use polycache_entry::tagged::{from_json, read_rows, to_json};
use polycache_entry::{from_value, to_value, Error, Value, MAX_DEPTH};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Everything {
    flag: bool,
    small: i8,
    wide: i64,
    unsigned: u64,
    huge: i128,
    hugest: u128,
    float: f64,
    letter: char,
    text: String,
    maybe: Option<u32>,
    nothing: (),
    pair: (u8, String),
    list: Vec<Shape>,
    map: BTreeMap<String, Wrapped>,
    marks: BTreeSet<u16>,
    row: Value<'static>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Wrapped(i32);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Unit;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Shape {
    Point,
    Circle(f32),
    Line(i32, i32),
    Box { width: u32, name: Option<String> },
    Tag(Unit),
}

fn shapes() -> impl Strategy<Value = Shape> {
    prop_oneof![
        Just(Shape::Point),
        (-1e6f32..1e6).prop_map(Shape::Circle),
        any::<(i32, i32)>().prop_map(|(x, y)| Shape::Line(x, y)),
        any::<(u32, Option<String>)>().prop_map(|(width, name)| Shape::Box { width, name }),
        Just(Shape::Tag(Unit)),
    ]
}

fn everything() -> impl Strategy<Value = Everything> {
    let numbers = any::<(bool, i8, i64, u64, i128, u128)>();
    let texts = (any::<char>(), any::<String>(), any::<(u8, String)>());
    let rest = (
        -1e300..1e300f64,
        any::<Option<u32>>(),
        prop::collection::vec(shapes(), 0..5),
        prop::collection::btree_map(any::<String>(), any::<i32>().prop_map(Wrapped), 0..5),
        prop::collection::btree_set(any::<u16>(), 0..5),
        any::<[u8; 16]>(),
    );
    (numbers, texts, rest).prop_map(|(numbers, texts, rest)| Everything {
        flag: numbers.0,
        small: numbers.1,
        wide: numbers.2,
        unsigned: numbers.3,
        huge: numbers.4,
        hugest: numbers.5,
        float: rest.0,
        letter: texts.0,
        text: texts.1,
        maybe: rest.1,
        nothing: (),
        pair: texts.2,
        list: rest.2,
        map: rest.3,
        marks: rest.4,
        row: Value::Uuid(rest.5),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn a_type_comes_back(thing in everything()) {
        let value = to_value(&thing).unwrap();
        prop_assert_eq!(from_value::<Everything>(value).unwrap(), thing);
    }
}

#[test]
fn every_row_is_itself() {
    for row in read_rows(include_str!("../../../spec/vectors/values.json")).unwrap() {
        let value = from_json(&row["value"]).unwrap();
        let made = to_value(&value).unwrap();
        assert_eq!(to_json(&made), to_json(&value), "{}", row["name"]);
        let back: Value<'_> = from_value(made).unwrap();
        assert_eq!(to_json(&back), to_json(&value), "{}", row["name"]);
    }
}

#[test]
fn types_look_to_other_languages_as_they_would_write_them() {
    let shapes = [
        Shape::Point,
        Shape::Line(1, 2),
        Shape::Box {
            width: 3,
            name: None,
        },
        Shape::Tag(Unit),
    ];
    let expected = serde_json::json!({"list": [
        "Point",
        {"map": [["Line", {"list": [{"int": "1"}, {"int": "2"}]}]]},
        {"map": [["Box", {"map": [["width", {"int": "3"}], ["name", null]]}]]},
        {"map": [["Tag", null]]},
    ]});
    assert_eq!(to_json(&to_value(&shapes).unwrap()), expected);
    assert_eq!(to_value(&Wrapped(5)).unwrap(), Value::from(5i64));
    assert_eq!(to_value(&b"ab").unwrap(), to_value(&[97, 98]).unwrap());
}

#[test]
fn rows_read_as_the_nearest_type() {
    let texts = vec![Value::from("a"), Value::from("b")];
    let set: BTreeSet<String> = from_value(Value::Set(texts.clone())).unwrap();
    assert_eq!(Vec::from_iter(set), ["a", "b"]);
    assert_eq!(
        from_value::<Vec<String>>(Value::Set(texts)).unwrap().len(),
        2
    );
    assert_eq!(
        from_value::<Vec<u8>>(Value::from(vec![0u8, 255])).unwrap(),
        [0, 255]
    );
    assert_eq!(
        from_value::<String>(Value::Decimal("1.50".into())).unwrap(),
        "1.50"
    );
    let big = u128::MAX.to_string();
    assert_eq!(
        from_value::<u128>(Value::BigInt(big.into())).unwrap(),
        u128::MAX
    );
    assert_eq!(from_value::<f64>(Value::from(2i64)).unwrap(), 2.0);
    assert_eq!(from_value::<Option<u8>>(Value::Null).unwrap(), None);
}

fn refused<T: Serialize + ?Sized>(value: &T) -> (String, String) {
    match to_value(value).unwrap_err() {
        Error::UnsupportedValue { path, reason } => (path, reason.into_owned()),
        other => panic!("{other}"),
    }
}

#[test]
fn what_has_no_row_is_refused_with_its_path() {
    let by_number = BTreeMap::from([(1, "one")]);
    let (path, reason) = refused(&BTreeMap::from([("a", vec![by_number])]));
    assert_eq!(path, "$.a[0]");
    assert!(reason.contains("key that is not text"), "{reason}");

    struct Stubborn;
    impl Serialize for Stubborn {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("I will not"))
        }
    }
    let refusal = refused(&(1, BTreeMap::from([("the key", Stubborn)])));
    assert_eq!(refusal, ("$[1][\"the key\"]".into(), "I will not".into()));
}

#[test]
fn nesting_has_the_formats_limit() {
    #[derive(Serialize)]
    struct Nested(Vec<Nested>);
    let nested = |levels| (1..levels).fold(Nested(vec![]), |inside, _| Nested(vec![inside]));
    assert!(to_value(&nested(MAX_DEPTH)).is_ok());
    let (path, reason) = refused(&nested(MAX_DEPTH + 1));
    assert_eq!(path, format!("${}", "[0]".repeat(MAX_DEPTH)));
    assert!(reason.contains("128"), "{reason}");

    #[derive(Serialize)]
    enum Tagged {
        More(Box<Tagged>),
        End,
    }
    let tagged = |levels| (0..levels).fold(Tagged::End, |inside, _| Tagged::More(inside.into()));
    assert!(to_value(&tagged(MAX_DEPTH)).is_ok());
    refused(&tagged(MAX_DEPTH + 1));
}

fn wrong<'a, T: Deserialize<'a> + std::fmt::Debug>(value: Value<'a>) -> String {
    match from_value::<T>(value).unwrap_err() {
        Error::WrongType { path, .. } => path,
        other => panic!("{other}"),
    }
}

#[test]
fn what_does_not_fit_is_named_with_its_path() {
    let user = || {
        let tags = Value::List(vec![Value::from("a"), Value::from(1i64)]);
        Value::Map(vec![("tags".into(), tags)])
    };
    type Users = Vec<BTreeMap<String, Vec<String>>>;
    assert_eq!(wrong::<Users>(Value::List(vec![user()])), "$[0].tags[1]");
    assert_eq!(wrong::<u8>(Value::from(256i64)), "$");
    assert_eq!(wrong::<i32>(Value::Float(1.0)), "$");
    assert_eq!(wrong::<String>(Value::Null), "$");
    assert_eq!(wrong::<String>(Value::Uuid([0; 16])), "$");
    let three = vec![Value::from(1i64); 3];
    assert_eq!(wrong::<(u8, u8)>(Value::List(three)), "$");
    assert_eq!(wrong::<Shape>(Value::from("Blob")), "$");
    assert_eq!(wrong::<Shape>(Value::from("Circle")), "$");
    assert_eq!(wrong::<Shape>(Value::from(1i64)), "$");
    let line = Value::List(vec![Value::from(1i64), Value::Null]);
    assert_eq!(
        wrong::<Shape>(Value::Map(vec![("Line".into(), line)])),
        "$.Line[1]"
    );
}
