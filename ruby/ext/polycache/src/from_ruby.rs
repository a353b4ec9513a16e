//! Ruby objects as values (the type map of `spec/entry.md`).

use crate::error::to_ruby as raise;
use crate::path::{refusal, Path};
use crate::string::{content, symbol_name, to_utf8, Content};
use crate::to_ruby::{set_class, uuid_class};
use magnus::{
    prelude::*, r_hash::ForEach, rb_sys::AsRawValue, value::Lazy, Error, Float, Integer, RArray,
    RClass, RHash, RString, Ruby, Symbol, Time,
};
use polycache::Value;
use polycache_entry::{MAX_DEPTH, MAX_DIGITS};
use rb_sys::ruby_value_type as Type;
use std::borrow::Cow;
use std::collections::HashSet;

static BIG_DECIMAL: Lazy<RClass> = Lazy::new(|ruby| {
    ruby.class_object()
        .const_get("BigDecimal")
        .expect("polycache.rb requires it before it loads the extension")
});

/// Converts `object` and hands the value to `f`, which must not call Ruby: the value may borrow
/// from Ruby's strings.
///
/// # Errors
/// `UnsupportedValue` with the path to the culprit; what Ruby raises on the way.
#[inline]
pub(crate) fn with_value<R>(
    ruby: &Ruby,
    object: magnus::Value,
    f: impl FnOnce(&Value<'_>) -> R,
) -> Result<R, Error> {
    let mut walk = Walk { ruby, own: false };
    let value = match walk.value(object, &Path::Root, None) {
        // Rows that need Ruby's help: begin again and copy the strings.
        Err(Stop::NeedsRuby) => {
            walk.own = true;
            walk.value(object, &Path::Root, None)
        }
        other => other,
    };
    match value {
        Ok(value) => Ok(f(&value)),
        Err(Stop::Refused(error)) => Err(raise(ruby, &error)),
        Err(Stop::Raised(error)) => Err(error),
        Err(Stop::NeedsRuby) => unreachable!("the second walk calls Ruby itself"),
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

/// The lists, sets and maps around a value, innermost first.
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
    own: bool,
}

impl Walk<'_> {
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
                Some(string) => self.string(string, path),
                None => self.refuse(object, path),
            },
            Type::RUBY_T_ARRAY => match RArray::from_value(object) {
                Some(array) => {
                    let inside = self.enter(object, path, parent)?;
                    self.elements(array, path, &inside).map(Value::List)
                }
                None => self.refuse(object, path),
            },
            Type::RUBY_T_HASH => match RHash::from_value(object) {
                Some(hash) => {
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
            (Some(string), _) => {
                kinds.strings = true;
                string
            }
            (None, Some(symbol)) => {
                kinds.symbols = true;
                symbol_name(symbol)
            }
            (None, None) if !self.own => return Err(Stop::NeedsRuby),
            (None, None) => {
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
        // and allocates nothing, and neither does who uses the value (`with_value`).
        match unsafe { content(self.ruby, string) } {
            Content::Text(text) if self.own => Ok(Value::Text(Cow::Owned(text.to_owned()))),
            Content::Text(text) => Ok(Value::Text(Cow::Borrowed(text))),
            Content::Bytes(bytes) if self.own => Ok(Value::Bytes(Cow::Owned(bytes.to_owned()))),
            Content::Bytes(bytes) => Ok(Value::Bytes(Cow::Borrowed(bytes))),
            Content::Foreign if !self.own => Err(Stop::NeedsRuby),
            Content::Foreign => match to_utf8(self.ruby, string).map_err(Stop::Raised)? {
                Some(converted) => self.string(converted, path),
                None => Err(Stop::refused(path, NO_UTF8)),
            },
            Content::Invalid => Err(Stop::refused(path, NO_UTF8)),
        }
    }

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

    /// The rows that are classes in Ruby. Calls Ruby.
    fn other<'v>(
        &self,
        object: magnus::Value,
        path: &Path<'_>,
        parent: Option<&Parent<'_>>,
    ) -> Result<Value<'v>, Stop> {
        if let Some(time) = Time::from_value(object) {
            return match time.timespec() {
                Ok(moment) => Ok(Value::Timestamp {
                    seconds: moment.tv_sec,
                    nanos: moment.tv_nsec as u32,
                }),
                Err(error)
                    if error.is_kind_of(self.ruby.exception_range_error())
                        || error.is_kind_of(self.ruby.exception_arg_error()) =>
                {
                    Err(Stop::refused(path, "a Time lies in the years 1 to 9999"))
                }
                Err(error) => Err(Stop::Raised(error)),
            };
        }
        if object.is_kind_of(set_class(self.ruby)) {
            let inside = self.enter(object, path, parent)?;
            let elements: RArray = object.funcall("to_a", ()).map_err(Stop::Raised)?;
            return self.elements(elements, path, &inside).map(Value::Set);
        }
        if object.is_kind_of(self.ruby.get_inner(&BIG_DECIMAL)) {
            let digits: String = object.funcall("to_s", ()).map_err(Stop::Raised)?;
            return Ok(Value::Decimal(Cow::Owned(decimal(digits))));
        }
        if object.is_kind_of(uuid_class(self.ruby)) {
            let bytes: RString = object.funcall("bytes", ()).map_err(Stop::Raised)?;
            // SAFETY: the bytes are copied at once.
            let bytes = unsafe { bytes.as_slice() }.try_into();
            return match bytes {
                Ok(bytes) => Ok(Value::Uuid(bytes)),
                Err(_) => Err(Stop::refused(path, "a UUID has 16 bytes")),
            };
        }
        self.refuse(object, path)
    }

    #[cold]
    fn refuse<'v>(&self, object: magnus::Value, path: &Path<'_>) -> Result<Value<'v>, Stop> {
        let class = class_name(object);
        let reason = match class.as_str() {
            "Symbol" => "a Symbol would come back as a String: store symbol.to_s".to_owned(),
            _ => format!(
                "the class {class} is not in the type map: store a Hash, Array, String, number, Time, Set, \
                 BigDecimal or Polycache::UUID made of it"
            ),
        };
        Err(Stop::refused(path, reason))
    }
}

const NO_UTF8: &str = "the text has no UTF-8 form: give bytes the encoding BINARY (String#b), or \
                       text its own encoding (force_encoding)";

#[derive(Default)]
struct KeyKinds {
    strings: bool,
    symbols: bool,
}

/// Refuses a symbol and a string that become the same key: one of them would be lost.
fn refuse_twins(pairs: &[(Cow<'_, str>, Value<'_>)], path: &Path<'_>) -> Result<(), Stop> {
    let mut seen = HashSet::with_capacity(pairs.len());
    for (key, _) in pairs {
        if !seen.insert(key.as_ref()) {
            return Err(Stop::refused(
                &Path::Key(path, key),
                "a symbol and a string become the same key: use one of them",
            ));
        }
    }
    Ok(())
}

fn class_name(object: magnus::Value) -> String {
    // SAFETY: the name is copied at once.
    unsafe { object.classname() }.into_owned()
}

/// The text of a decimal: Ruby's `0.15e1` as others write it, `1.5`; far from the point as `1.5E+30`.
fn decimal(text: String) -> String {
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(unsigned) => ("-", unsigned),
        None => ("", text.as_str()),
    };
    let Some((digits, exponent)) = unsigned
        .strip_prefix("0.")
        .and_then(|rest| rest.split_once('e'))
        .and_then(|(digits, exponent)| Some((digits, exponent.parse::<i64>().ok()?)))
    else {
        // NaN, Infinity, and 0.0, whose fraction says nothing.
        return text.strip_suffix(".0").map(str::to_owned).unwrap_or(text);
    };
    let count = digits.len() as i64;
    if !(-6..=21).contains(&exponent) {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        format!("{sign}{first}{point}{rest}E{:+}", exponent - 1)
    } else if exponent <= 0 {
        format!("{sign}0.{}{digits}", "0".repeat(-exponent as usize))
    } else if exponent >= count {
        format!("{sign}{digits}{}", "0".repeat((exponent - count) as usize))
    } else {
        let (whole, fraction) = digits.split_at(exponent as usize);
        format!("{sign}{whole}.{fraction}")
    }
}
