//! Ruby objects as values (the type map of `spec/entry.md`).

mod classes;
mod refusal;

use crate::error::to_ruby as raise;
use crate::object::{is_a_very, knows_keys_by_identity};
use crate::path::{refusal, Path};
use crate::string::{content, symbol_name, to_utf8, Content};
use crate::to_ruby::to_ruby;
use magnus::{
    prelude::*, r_hash::ForEach, rb_sys::AsRawValue, Error, Float, Integer, RArray, RHash, RString,
    Ruby, Symbol,
};
use polycache::Value;
use polycache_entry::{MAX_DEPTH, MAX_DIGITS};
use rb_sys::ruby_value_type as Type;
use refusal::{class_name, refuse_twins, BY_IDENTITY, NO_UTF8};
use std::borrow::Cow;
use std::cell::Cell;

/// What a walk through an object has found out.
#[derive(Clone, Copy)]
pub(crate) struct Facts {
    /// A reader is given something else than what was stored: text where a Symbol stood, say.
    pub(crate) changed: bool,
    /// There are rows whose limits are looked at as they are encoded.
    pub(crate) has_limits: bool,
    /// There are registered types. Then the value borrows nothing, and Ruby may be called.
    pub(crate) named: bool,
}

/// Why an object has no value.
pub(crate) enum Unfit {
    /// `UnsupportedValue`, with the path to the culprit.
    Refused(Box<polycache::Error>),
    /// The same, of what the `encode` of a type raised: an exception with its cause.
    Unencodable(Error),
    /// What Ruby raised on the way.
    Raised(Error),
}

impl Unfit {
    /// The error as Ruby raises it.
    pub(crate) fn into_error(self, ruby: &Ruby) -> Error {
        match self {
            Unfit::Refused(error) => raise(ruby, &error),
            Unfit::Unencodable(error) | Unfit::Raised(error) => error,
        }
    }
}

/// Converts `object` and hands the value to `f`, which must not call Ruby: the value may borrow
/// from Ruby's strings. `types` is a `Polycache::Types`, whose functions may run before.
///
/// # Errors
/// `UnsupportedValue` with the path to the culprit; what Ruby raises on the way.
#[inline]
pub(crate) fn with_value<R>(
    ruby: &Ruby,
    types: magnus::Value,
    object: magnus::Value,
    f: impl FnOnce(&Value<'_>) -> R,
) -> Result<R, Error> {
    with_facts(ruby, types, object, |value, _| f(value)).map_err(|unfit| unfit.into_error(ruby))
}

/// As [`with_value`], and says what was found out on the way.
///
/// # Errors
/// Why there is no value.
#[inline]
pub(crate) fn with_facts<R>(
    ruby: &Ruby,
    types: magnus::Value,
    object: magnus::Value,
    f: impl FnOnce(&Value<'_>, Facts) -> R,
) -> Result<R, Unfit> {
    let mut walk = Walk::new(ruby, types, false);
    let value = match walk.value(object, &Path::Root, None) {
        // Rows that need Ruby's help: begin again and copy the strings.
        Err(Stop::NeedsRuby) => {
            walk.own = true;
            walk.value(object, &Path::Root, None)
        }
        other => other,
    };
    let facts = Facts {
        changed: walk.changed.get(),
        has_limits: walk.own,
        named: walk.named.get(),
    };
    match value {
        Ok(value) => Ok(f(&value, facts)),
        Err(stop) => Err(walk.unfit(stop)),
    }
}

/// What a reader is given of `object`, once it is stored; types stand in it as `Polycache::Named`.
///
/// # Errors
/// As for [`with_value`].
pub(crate) fn as_read(
    ruby: &Ruby,
    types: magnus::Value,
    object: magnus::Value,
) -> Result<magnus::Value, Error> {
    let walk = Walk::new(ruby, types, true);
    match walk.value(object, &Path::Root, None) {
        Ok(value) => to_ruby(ruby, &value),
        Err(stop) => Err(walk.unfit(stop).into_error(ruby)),
    }
}

/// Why a walk ends early.
enum Stop {
    /// A row that cannot be read without running Ruby code or allocating Ruby objects.
    NeedsRuby,
    Refused(Box<polycache::Error>),
    Raised(Error),
}

impl Stop {
    fn refused(path: &Path<'_>, reason: impl Into<Cow<'static, str>>) -> Stop {
        Stop::Refused(Box::new(refusal(path, reason)))
    }
}

/// The lists, sets, maps and registered types around a value, innermost first.
struct Parent<'a> {
    object: rb_sys::VALUE,
    depth: usize,
    outer: Option<&'a Parent<'a>>,
}

/// A walk through an object. As long as `own` is false it calls nothing that runs Ruby code or
/// allocates Ruby objects, so strings stay where they are, and values borrow them; otherwise it
/// copies them.
struct Walk<'r> {
    ruby: &'r Ruby,
    /// A `Polycache::Types`.
    types: magnus::Value,
    own: bool,
    changed: Cell<bool>,
    named: Cell<bool>,
    /// Whether what was raised is an `UnsupportedValue`, because an `encode` raised. A case of `Stop`
    /// of its own would make each step of a walk dearer.
    unencodable: Cell<bool>,
}

impl<'r> Walk<'r> {
    fn new(ruby: &'r Ruby, types: magnus::Value, own: bool) -> Walk<'r> {
        Walk {
            ruby,
            types,
            own,
            changed: Cell::new(false),
            named: Cell::new(false),
            unencodable: Cell::new(false),
        }
    }

    /// Why this walk ended.
    #[cold]
    fn unfit(&self, stop: Stop) -> Unfit {
        match stop {
            Stop::Refused(error) => Unfit::Refused(error),
            Stop::Raised(error) if self.unencodable.get() => Unfit::Unencodable(error),
            Stop::Raised(error) => Unfit::Raised(error),
            Stop::NeedsRuby => unreachable!("a walk that owns calls Ruby itself"),
        }
    }

    fn value<'v>(
        &self,
        object: magnus::Value,
        path: &Path<'_>,
        parent: Option<&Parent<'_>>,
    ) -> Result<Value<'v>, Stop> {
        // SAFETY: the object is alive.
        let kind = unsafe { rb_sys::RB_TYPE(object.as_raw()) };
        match kind {
            Type::RUBY_T_NIL => Ok(Value::Null),
            Type::RUBY_T_TRUE => Ok(Value::Bool(true)),
            Type::RUBY_T_FALSE => Ok(Value::Bool(false)),
            Type::RUBY_T_FIXNUM | Type::RUBY_T_BIGNUM => self.integer(object, path),
            Type::RUBY_T_FLOAT => match Float::from_value(object) {
                Some(value) => Ok(Value::Float(value.to_f64())),
                None => self.refuse(object, path),
            },
            Type::RUBY_T_STRING => match RString::from_value(object) {
                Some(string) => {
                    // SAFETY: the object is alive.
                    if unsafe { !is_a_very(object.as_raw(), rb_sys::rb_cString) } {
                        return self.refuse_heir(object, path, parent, "String");
                    }
                    self.string(string, path)
                }
                None => self.refuse(object, path),
            },
            Type::RUBY_T_ARRAY => match RArray::from_value(object) {
                Some(array) => {
                    // SAFETY: the object is alive.
                    if unsafe { !is_a_very(object.as_raw(), rb_sys::rb_cArray) } {
                        return self.refuse_heir(object, path, parent, "Array");
                    }
                    let inside = self.enter(object, path, parent)?;
                    self.elements(array, path, &inside).map(Value::List)
                }
                None => self.refuse(object, path),
            },
            Type::RUBY_T_HASH => match RHash::from_value(object) {
                Some(hash) => {
                    // SAFETY: the object is alive.
                    if unsafe { !is_a_very(object.as_raw(), rb_sys::rb_cHash) } {
                        return self.refuse_heir(object, path, parent, "Hash");
                    }
                    // SAFETY: it is a Hash, and of no other class, so that nothing raises.
                    if unsafe { knows_keys_by_identity(object.as_raw()) } {
                        return Err(Stop::refused(path, BY_IDENTITY));
                    }
                    let inside = self.enter(object, path, parent)?;
                    self.pairs(hash, path, &inside).map(Value::Map)
                }
                None => self.refuse(object, path),
            },
            // Everything else may need Ruby's help, a refusal too.
            _ if !self.own => Err(Stop::NeedsRuby),
            _ => self.other(object, path, parent),
        }
    }

    /// Enters a list, set or map.
    fn enter<'a>(
        &self,
        object: magnus::Value,
        path: &Path<'_>,
        outer: Option<&'a Parent<'a>>,
    ) -> Result<Parent<'a>, Stop> {
        let object = object.as_raw();
        let mut ancestor = outer;
        while let Some(parent) = ancestor {
            if parent.object == object {
                return Err(Stop::refused(path, "a cycle: it holds itself"));
            }
            ancestor = parent.outer;
        }
        let depth = outer.map_or(0, |parent| parent.depth) + 1;
        if depth > MAX_DEPTH {
            return Err(Stop::refused(
                path,
                "nested deeper than 128 lists, sets and maps",
            ));
        }
        Ok(Parent {
            object,
            depth,
            outer,
        })
    }

    fn elements<'v>(
        &self,
        array: RArray,
        path: &Path<'_>,
        inside: &Parent<'_>,
    ) -> Result<Vec<Value<'v>>, Stop> {
        let mut values = Vec::with_capacity(array.len());
        // Asked anew each time: Ruby code that runs meanwhile may shorten the array.
        while values.len() < array.len() {
            let index = values.len();
            let object: magnus::Value = array.entry(index as isize).map_err(Stop::Raised)?;
            values.push(self.value(object, &Path::Index(path, index), Some(inside))?);
        }
        Ok(values)
    }

    fn pairs<'v>(
        &self,
        hash: RHash,
        path: &Path<'_>,
        inside: &Parent<'_>,
    ) -> Result<Vec<(Cow<'v, str>, Value<'v>)>, Stop> {
        let mut pairs = Vec::with_capacity(hash.len());
        let mut kinds = KeyKinds::default();
        let mut stop = None;
        hash.foreach(|key: magnus::Value, object: magnus::Value| {
            let pair = self.key(key, path, &mut kinds).and_then(|key| {
                let value = self.value(object, &Path::Key(path, &key), Some(inside))?;
                Ok((key, value))
            });
            Ok(match pair {
                Ok(pair) => {
                    pairs.push(pair);
                    ForEach::Continue
                }
                Err(why) => {
                    stop = Some(why);
                    ForEach::Stop
                }
            })
        })
        .map_err(Stop::Raised)?;
        if let Some(stop) = stop {
            return Err(stop);
        }
        if kinds.strings && kinds.symbols {
            refuse_twins(&pairs, path)?;
        }
        Ok(pairs)
    }

    /// A map's key: text, or a symbol, which becomes text.
    fn key<'v>(
        &self,
        key: magnus::Value,
        path: &Path<'_>,
        kinds: &mut KeyKinds,
    ) -> Result<Cow<'v, str>, Stop> {
        let string = match (RString::from_value(key), Symbol::from_value(key)) {
            // SAFETY: the key is alive.
            (Some(string), _) if unsafe { is_a_very(key.as_raw(), rb_sys::rb_cString) } => {
                kinds.strings = true;
                string
            }
            (None, Some(symbol)) => {
                kinds.symbols = true;
                self.changed.set(true);
                symbol_name(symbol)
            }
            _ if !self.own => return Err(Stop::NeedsRuby),
            _ => {
                let class = class_name(key);
                return Err(Stop::refused(
                    path,
                    format!(
                        "a map's key is text, and this one is of class {class}: store key.to_s"
                    ),
                ));
            }
        };
        match self.string(string, path) {
            Ok(Value::Text(text)) => Ok(text),
            Ok(_) => Err(Stop::refused(
                path,
                "a map's key is text, and this one is bytes: give it its encoding (force_encoding)",
            )),
            Err(stop) => Err(stop),
        }
    }

    fn string<'v>(&self, string: RString, path: &Path<'_>) -> Result<Value<'v>, Stop> {
        // SAFETY: with `own` the content is copied at once; without it the walk runs no Ruby code
        // and allocates nothing, and neither does the user of the value (`with_value`).
        match unsafe { content(self.ruby, string) } {
            Content::Text(text) if self.own => Ok(Value::Text(Cow::Owned(text.to_owned()))),
            Content::Text(text) => Ok(Value::Text(Cow::Borrowed(text))),
            Content::Ascii(text) => {
                self.changed.set(true);
                Ok(Value::Text(if self.own {
                    Cow::Owned(text.to_owned())
                } else {
                    Cow::Borrowed(text)
                }))
            }
            Content::Bytes(bytes) if self.own => Ok(Value::Bytes(Cow::Owned(bytes.to_owned()))),
            Content::Bytes(bytes) => Ok(Value::Bytes(Cow::Borrowed(bytes))),
            Content::Foreign if !self.own => Err(Stop::NeedsRuby),
            Content::Foreign => match to_utf8(self.ruby, string).map_err(Stop::Raised)? {
                Some(converted) => {
                    self.changed.set(true);
                    self.string(converted, path)
                }
                None => Err(Stop::refused(path, NO_UTF8)),
            },
            Content::Invalid => Err(Stop::refused(path, NO_UTF8)),
        }
    }

    #[inline(always)]
    fn integer<'v>(&self, object: magnus::Value, path: &Path<'_>) -> Result<Value<'v>, Stop> {
        let Some(integer) = Integer::from_value(object) else {
            return self.refuse(object, path);
        };
        if let Ok(value) = integer.to_i64() {
            return Ok(Value::Int(value.into()));
        }
        if !self.own {
            return Err(Stop::NeedsRuby);
        }
        // Digits take quadratic time: don't make more than may be stored. 2^14285 has 4301.
        const MAX_BYTES: usize = 14_285 / 8 + 1;
        // SAFETY: it is an integer.
        let bytes = unsafe { rb_sys::rb_absint_size(object.as_raw(), std::ptr::null_mut()) };
        if bytes as usize > MAX_BYTES {
            let reason = format!("an integer has at most {MAX_DIGITS} digits");
            return Err(Stop::refused(path, reason));
        }
        let digits: String = object.funcall("to_s", ()).map_err(Stop::Raised)?;
        Ok(match digits.parse() {
            Ok(value) => Value::integer(value),
            Err(_) => Value::BigInt(Cow::Owned(digits)),
        })
    }
}

#[derive(Default)]
struct KeyKinds {
    strings: bool,
    symbols: bool,
}
