//! Ruby objects as values (the type map of `spec/entry.md`).

use crate::error::to_ruby as raise;
use crate::object::{is_a_very, kind, knows_keys_by_identity};
use crate::path::{refusal, Path};
use crate::string::{content, symbol_name, to_utf8, Content};
use crate::to_ruby::{named_class, set_class, to_ruby, uuid_class};
use magnus::{
    prelude::*, r_hash::ForEach, rb_sys::AsRawValue, value::Lazy, Error, Exception, Float, Integer,
    RArray, RClass, RHash, RString, Ruby, Symbol, Time,
};
use polycache::{Named, Value};
use polycache_entry::{MAX_DEPTH, MAX_DIGITS};
use rb_sys::ruby_value_type as Type;
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashSet;

static BIG_DECIMAL: Lazy<RClass> = Lazy::new(|ruby| {
    ruby.class_object()
        .const_get("BigDecimal")
        .expect("polycache.rb requires it before it loads the extension")
});

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
        // and allocates nothing, and neither does who uses the value (`with_value`).
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

    /// The rows that are classes in Ruby. Calls Ruby.
    #[inline(never)]
    fn other<'v>(
        &self,
        object: magnus::Value,
        path: &Path<'_>,
        parent: Option<&Parent<'_>>,
    ) -> Result<Value<'v>, Stop> {
        // SAFETY: the object is alive.
        let is_very = |class| unsafe { is_a_very(object.as_raw(), class) };
        if let Some(time) = Time::from_value(object) {
            // SAFETY: Ruby's own.
            if !is_very(unsafe { rb_sys::rb_cTime }) {
                return self.refuse_heir(object, path, parent, "Time");
            }
            // It comes back in UTC and without what is finer than a nanosecond.
            self.changed.set(true);
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
            if !is_very(set_class(self.ruby).as_raw()) {
                return self.refuse_heir(object, path, parent, "Set");
            }
            if object
                .funcall("compare_by_identity?", ())
                .map_err(Stop::Raised)?
            {
                return Err(Stop::refused(path, BY_IDENTITY));
            }
            let inside = self.enter(object, path, parent)?;
            let elements: RArray = object.funcall("to_a", ()).map_err(Stop::Raised)?;
            return self.elements(elements, path, &inside).map(Value::Set);
        }
        if object.is_kind_of(self.ruby.get_inner(&BIG_DECIMAL)) {
            let digits: String = object.funcall("to_s", ()).map_err(Stop::Raised)?;
            return Ok(Value::Decimal(Cow::Owned(decimal(digits))));
        }
        if object.is_kind_of(uuid_class(self.ruby)) {
            if !is_very(uuid_class(self.ruby).as_raw()) {
                return self.refuse_heir(object, path, parent, "Polycache::UUID");
            }
            let bytes: RString = object.funcall("bytes", ()).map_err(Stop::Raised)?;
            // SAFETY: the bytes are copied at once.
            let bytes = unsafe { bytes.as_slice() }.try_into();
            return match bytes {
                Ok(bytes) => Ok(Value::Uuid(bytes)),
                Err(_) => Err(Stop::refused(path, "a UUID has 16 bytes")),
            };
        }
        // SAFETY: the object is alive, and in the heap if it is of that kind.
        let is_named = unsafe {
            kind(object.as_raw()) == Type::RUBY_T_OBJECT && is_very(named_class(self.ruby).as_raw())
        };
        if is_named {
            let inside = self.enter(object, path, parent)?;
            return self.named(object, path, &inside);
        }
        match self.registered(object, path, parent)? {
            Some(value) => Ok(value),
            None => self.refuse(object, path),
        }
    }

    /// What an instance of a registered type is written as; none of another class. Runs code of the
    /// user's.
    #[inline(never)]
    fn registered<'v>(
        &self,
        object: magnus::Value,
        path: &Path<'_>,
        parent: Option<&Parent<'_>>,
    ) -> Result<Option<Value<'v>>, Stop> {
        let types = self.types;
        let is_registered: bool = types
            .funcall("registered?", (object,))
            .map_err(Stop::Raised)?;
        if !is_registered {
            return Ok(None);
        }
        let inside = self.enter(object, path, parent)?;
        match types.funcall("encode", (object,)) {
            Ok(named) => self.named(named, path, &inside).map(Some),
            Err(error) => Err(self.unencodable(object, path, error)),
        }
    }

    /// What a `Polycache::Named` is written as.
    #[inline(never)]
    fn named<'v>(
        &self,
        object: magnus::Value,
        path: &Path<'_>,
        inside: &Parent<'_>,
    ) -> Result<Value<'v>, Stop> {
        self.changed.set(true);
        self.named.set(true);
        let name: magnus::Value = object.funcall("name", ()).map_err(Stop::Raised)?;
        let text = match RString::from_value(name) {
            Some(name) => self.string(name, path)?,
            None => Value::Null,
        };
        let Value::Text(name) = text else {
            return Err(Stop::refused(path, "the name of a registered type is text"));
        };
        let held: magnus::Value = object.funcall("value", ()).map_err(Stop::Raised)?;
        let value = self.value(held, path, Some(inside))?;
        Ok(Value::Named(Box::new(Named { name, value })))
    }

    /// What became of an `encode` that raised. What ends a thread or the program goes through as it
    /// is.
    #[cold]
    fn unencodable(&self, object: magnus::Value, path: &Path<'_>, error: Error) -> Stop {
        let is_error = error.is_kind_of(self.ruby.exception_standard_error())
            || error.is_kind_of(self.ruby.exception_script_error());
        let Some(raised) = error.value().filter(|_| is_error) else {
            return Stop::Raised(error);
        };
        let arguments = (object, path.to_text(), raised);
        let made: Result<magnus::Value, Error> = self.types.funcall("unsupported", arguments);
        match made.map(Exception::from_value) {
            Ok(Some(exception)) => {
                self.unencodable.set(true);
                Stop::Raised(exception.into())
            }
            Ok(None) => Stop::Raised(error),
            Err(failed) => Stop::Raised(failed),
        }
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

    /// Refuses what extends a class of the type map, if it is not registered.
    #[cold]
    #[inline(never)]
    fn refuse_heir<'v>(
        &self,
        object: magnus::Value,
        path: &Path<'_>,
        parent: Option<&Parent<'_>>,
        of: &str,
    ) -> Result<Value<'v>, Stop> {
        if !self.own {
            return Err(Stop::NeedsRuby);
        }
        if let Some(value) = self.registered(object, path, parent)? {
            return Ok(value);
        }
        let class = class_name(object);
        Err(Stop::refused(
            path,
            format!("the class {class} would come back as {of}, which it extends: store a {of} made of it"),
        ))
    }
}

const BY_IDENTITY: &str =
    "it compares by identity and would come back as one that does not: store a copy that does not";
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
