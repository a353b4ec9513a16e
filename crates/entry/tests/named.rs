//! Values of registered types, as typed Rust writes and reads them.

use polycache_entry::{
    deserialize, from_value, serialize, to_value, Error, Limits, Named, Serializer, Structs, Value,
    MAX_NAME,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Debug;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct User {
    id: u32,
    name: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Shape {
    Point,
    Circle(f32),
}

fn ada() -> User {
    User {
        id: 1,
        name: "Ada".into(),
    }
}

fn written<T: Serialize>(value: &T) -> Result<Vec<u8>, Error> {
    let mut payload = Vec::new();
    serialize(value, Serializer::MessagePack, Structs::Maps, &mut payload)?;
    Ok(payload)
}

fn read<T: DeserializeOwned>(payload: &[u8]) -> Result<T, Error> {
    deserialize(Serializer::MessagePack, payload, &Limits::default())
}

/// A value written under a name is read without it, and with it.
fn is_read<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: T) {
    let named = Named::new("type", value);
    let payload = written(&named).unwrap();
    assert_eq!(read::<T>(&payload).unwrap(), named.value);
    assert_eq!(read::<Named<T>>(&payload).unwrap(), named);
    let value = to_value(&named).unwrap();
    assert_eq!(from_value::<T>(value.clone()).unwrap(), named.value);
    assert_eq!(from_value::<Named<T>>(value).unwrap(), named);
}

#[test]
fn a_type_that_says_what_it_wants_need_not_know_the_name() {
    is_read(ada());
    is_read(vec![ada(), ada()]);
    is_read(Some(ada()));
    is_read((1u8, "a".to_owned(), -1i64, 2.5f64, true, 'x', ()));
    is_read([7u128.pow(20), 1]);
    is_read(i128::MIN);
    is_read(BTreeMap::from([("a".to_owned(), Shape::Circle(1.5))]));
    is_read(Shape::Point);
    is_read("text".to_owned());
}

#[test]
fn it_may_lie_anywhere_in_a_value() {
    let users = BTreeMap::from([("ada".to_owned(), vec![Named::new("user", ada())])]);
    let payload = written(&users).unwrap();
    let plain: BTreeMap<String, Vec<User>> = read(&payload).unwrap();
    assert_eq!(plain["ada"], [ada()]);
    assert_eq!(
        read::<BTreeMap<String, Vec<Named<User>>>>(&payload).unwrap(),
        users
    );
    let value: Value<'static> = read(&payload).unwrap();
    let twice = Named::new("outer", Named::new("inner", ada()));
    assert_eq!(read::<User>(&written(&twice).unwrap()).unwrap(), ada());
    assert_eq!(value, to_value(&users).unwrap());
    assert_eq!(written(&value).unwrap(), payload);
}

#[test]
fn what_has_no_name_is_no_named_value() {
    let payload = written(&ada()).unwrap();
    assert!(matches!(
        read::<Named<User>>(&payload),
        Err(Error::WrongType { .. })
    ));
}

#[test]
fn names_have_1_to_255_bytes() {
    for length in [0, MAX_NAME + 1] {
        let name = "n".repeat(length);
        let users = vec![Named::new(name.clone(), ada())];
        let values = Value::List(vec![Named::new(name, Value::Null).into()]);
        for refused in [written(&users), written(&values)] {
            let Err(Error::UnsupportedValue { path, .. }) = refused else {
                panic!("{length}: {refused:?}");
            };
            assert_eq!(path, "$[0]");
        }
    }
    is_read_back(&Named::new("n".repeat(MAX_NAME), ada()));
}

fn is_read_back(named: &Named<'_, User>) {
    assert_eq!(
        &read::<Named<User>>(&written(named).unwrap()).unwrap(),
        named
    );
}

#[test]
fn other_serializers_refuse_it() {
    for serializer in [Serializer::Json, Serializer::Bincode, Serializer::Text] {
        let mut payload = Vec::new();
        let named = Named::new("user", ada());
        let refused = serialize(&named, serializer, Structs::Maps, &mut payload);
        assert!(
            matches!(refused, Err(Error::UnsupportedValue { .. })),
            "{serializer:?}: {refused:?}"
        );
        assert!(payload.is_empty());
    }
}

#[test]
fn what_does_not_fit_is_a_wrong_type_at_its_path() {
    let users = vec![Named::new("user", BTreeMap::from([("id", "not a number")]))];
    let refused = read::<Vec<User>>(&written(&users).unwrap());
    let Err(Error::WrongType { path, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(path, "$[0].id");
}

#[test]
fn it_counts_as_a_level() {
    let mut value = Value::from(Named::new("deep", Value::Null));
    for _ in 0..127 {
        value = Value::List(vec![value]);
    }
    let payload = written(&value).unwrap();
    assert_eq!(read::<Value<'static>>(&payload).unwrap(), value);
    let deeper = Value::List(vec![value.clone()]);
    assert!(matches!(
        written(&deeper),
        Err(Error::UnsupportedValue { .. })
    ));
    // Typed Rust does not read what no writer may write.
    let deeper = [vec![0x91], payload].concat();
    assert!(read::<Value<'static>>(&deeper).is_err());
}
