//! Keys of tuples and of types that derive `CacheKey`: their text, and that no two values share one.
#![cfg(feature = "derive")]

use polycache::CacheKey;
use proptest::prelude::*;
use std::borrow::Cow;
use std::sync::Arc;

#[derive(CacheKey, Clone, Debug, PartialEq)]
struct UserKey {
    tenant: u64,
    name: String,
}

#[derive(CacheKey, Clone, Debug, PartialEq)]
#[cache_key(prefix = "page")]
enum Page {
    Home,
    Article(u32, Option<String>),
    Search {
        text: String,
        user: UserKey,
        #[cache_key(skip)]
        _trace: u64,
    },
}

#[derive(CacheKey)]
struct Generic<'a, K: CacheKey + ?Sized> {
    key: &'a K,
}

#[derive(CacheKey)]
struct Unit;

#[test]
fn keys_are_this_text() {
    let user = UserKey {
        tenant: 1,
        name: "Ada: 100 %".into(),
    };
    assert_eq!(user.cache_key(), "UserKey:1:Ada%3A 100 %25");
    assert_eq!(Page::Home.cache_key(), "page:Home");
    assert_eq!(Page::Article(7, None).cache_key(), "page:Article:7:%25-");
    let search = Page::Search {
        text: String::new(),
        user,
        _trace: 9,
    };
    // The key of a nested type is one part.
    assert_eq!(
        search.cache_key(),
        "page:Search::UserKey%3A1%3AAda%253A 100 %2525"
    );
    assert_eq!(Generic { key: "k" }.cache_key(), "Generic:k");
    assert_eq!(Unit.cache_key(), "Unit");
    let held: (Arc<str>, Box<i8>, Cow<'_, str>, char, bool) =
        ("a".into(), Box::new(-1), "b".into(), 'é', true);
    assert_eq!(held.cache_key(), "a:-1:b:é:true");
    assert_eq!("as:it%stands".cache_key(), "as:it%stands");
    assert_eq!(("one",).cache_key(), "one");
}

fn text() -> impl Strategy<Value = String> {
    // Whatever could be mistaken for something else.
    "[a:%\\-235A]{0,5}"
}

fn user() -> impl Strategy<Value = UserKey> {
    (0..3_u64, text()).prop_map(|(tenant, name)| UserKey { tenant, name })
}

fn page() -> impl Strategy<Value = Page> {
    prop_oneof![
        Just(Page::Home),
        (0..3_u32, proptest::option::of(text())).prop_map(|(id, part)| Page::Article(id, part)),
        (text(), user()).prop_map(|(text, user)| Page::Search {
            text,
            user,
            _trace: 0
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn two_pages_that_differ_have_two_keys(a in page(), b in page()) {
        prop_assert_eq!(a == b, a.cache_key() == b.cache_key());
    }

    #[test]
    fn two_tuples_that_differ_have_two_keys(
        a in (text(), text(), proptest::option::of(proptest::option::of(text()))),
        b in (text(), text(), proptest::option::of(proptest::option::of(text()))),
    ) {
        prop_assert_eq!(a == b, a.cache_key() == b.cache_key());
    }
}
