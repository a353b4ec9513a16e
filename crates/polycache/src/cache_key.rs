//! Keys made of parts.

use std::borrow::Cow;
use std::fmt::{Display, Write};
use std::rc::Rc;
use std::sync::Arc;

/// What a key can be made of. Text and numbers are keys as they are. Tuples and types that derive `CacheKey` (cargo
/// feature `derive`) are made of parts, each escaped like a namespace's and joined by colons (`spec/keys.md`): no two
/// values of a type share a key, nor do types with different prefixes.
///
/// ```
/// use polycache::CacheKey;
///
/// assert_eq!(("user", 42).cache_key(), "user:42");
/// assert_eq!(("a:b", "c").cache_key(), "a%3Ab:c");
/// assert_eq!(("a", "b:c").cache_key(), "a:b%3Ac");
/// ```
///
/// A derived key begins with the type's name, or with its `prefix`. Then come an enum's variant and
/// the fields in order. Other languages write the same text.
///
#[cfg_attr(feature = "derive", doc = "```")]
#[cfg_attr(not(feature = "derive"), doc = "```ignore")]
/// use polycache::CacheKey;
/// use std::net::Ipv4Addr;
///
/// #[derive(CacheKey)]
/// #[cache_key(prefix = "quote")]
/// struct QuoteKey<'a> {
///     shop: u32,
///     product: &'a str,
///     currency: Option<&'a str>,
///     #[cache_key(display)]
///     seen_from: Ipv4Addr,
///     #[cache_key(skip)]
///     request: u64,
/// }
///
/// let key = QuoteKey {
///     shop: 7,
///     product: "pear",
///     currency: None,
///     seen_from: Ipv4Addr::LOCALHOST,
///     request: 1,
/// };
/// assert_eq!(key.cache_key(), "quote:7:pear:%25-:127.0.0.1");
///
/// # let directory = tempfile::tempdir()?;
/// # let cache = polycache::Cache::builder().path(directory.path()).build()?;
/// cache.set(key.cache_key(), &1.25)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Floats are not keys (what is the key of NaN?). Neither are lists: their order and length would have to be encoded.
/// `#[cache_key(display)]` takes the `Display` of any field instead.
pub trait CacheKey {
    /// Appends the key.
    fn write_key(&self, out: &mut String);

    /// The key.
    fn cache_key(&self) -> String {
        let mut key = String::new();
        self.write_key(&mut key);
        key
    }
}

/// A key while its parts are put together.
#[derive(Debug)]
pub struct KeyParts<'a> {
    out: &'a mut String,
    first: bool,
}

impl<'a> KeyParts<'a> {
    /// A key without a part yet, at the end of `out`.
    pub fn new(out: &'a mut String) -> KeyParts<'a> {
        KeyParts { out, first: true }
    }

    /// Adds a part.
    pub fn push<K: CacheKey + ?Sized>(&mut self, part: &K) {
        self.add(|out| part.write_key(out));
    }

    /// Adds a part, as its `Display` writes it.
    pub fn push_display<T: Display + ?Sized>(&mut self, part: &T) {
        // A String takes everything; a Display that fails by itself leaves what it has written.
        self.add(|out| {
            let _ = write!(out, "{part}");
        });
    }

    fn add(&mut self, write: impl FnOnce(&mut String)) {
        if !std::mem::take(&mut self.first) {
            self.out.push(':');
        }
        let start = self.out.len();
        write(self.out);
        let part = &self.out[start..];
        if part.contains(['%', ':']) {
            // In this order, so that the escape of a colon is not escaped again.
            let escaped = part.replace('%', "%25").replace(':', "%3A");
            self.out.truncate(start);
            self.out.push_str(&escaped);
        }
    }
}

impl CacheKey for str {
    fn write_key(&self, out: &mut String) {
        out.push_str(self);
    }
}

macro_rules! as_text {
    ($($type:ty),*) => {$(
        impl CacheKey for $type {
            fn write_key(&self, out: &mut String) {
                // A String takes everything.
                let _ = write!(out, "{self}");
            }
        }
    )*};
}

as_text!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, bool, char, String);

macro_rules! as_what_it_points_to {
    ($($type:ty),*) => {$(
        impl<K: CacheKey + ?Sized> CacheKey for $type {
            fn write_key(&self, out: &mut String) {
                (**self).write_key(out);
            }
        }
    )*};
}

as_what_it_points_to!(&K, Box<K>, Rc<K>, Arc<K>);

impl<K: CacheKey + ToOwned + ?Sized> CacheKey for Cow<'_, K> {
    fn write_key(&self, out: &mut String) {
        (**self).write_key(out);
    }
}

/// Stands for `None`; text that begins with it gets one more of it.
const NONE: &str = "%-";

impl<K: CacheKey> CacheKey for Option<K> {
    fn write_key(&self, out: &mut String) {
        let start = out.len();
        if let Some(key) = self {
            key.write_key(out);
            if !out[start..].starts_with(NONE) {
                return;
            }
        }
        out.insert_str(start, NONE);
    }
}

macro_rules! parts {
    ($($part:ident)*) => {
        impl<$($part: CacheKey),*> CacheKey for ($($part,)*) {
            #[allow(non_snake_case)]
            fn write_key(&self, out: &mut String) {
                let ($($part,)*) = self;
                let mut parts = KeyParts::new(out);
                $(parts.push($part);)*
            }
        }
    };
}

parts!(A);
parts!(A B);
parts!(A B C);
parts!(A B C D);
parts!(A B C D E);
parts!(A B C D E F);
parts!(A B C D E F G);
parts!(A B C D E F G H);
