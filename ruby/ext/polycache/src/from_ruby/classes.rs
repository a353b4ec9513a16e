//! The rows of the type map that are classes in Ruby: Time, Set, BigDecimal, UUID, and registered types.

use super::refusal::BY_IDENTITY;
use super::{Parent, Stop, Walk};
use crate::object::{is_a_very, kind};
use crate::path::Path;
use crate::to_ruby::{named_class, set_class, uuid_class};
use magnus::{
    prelude::*, rb_sys::AsRawValue, value::Lazy, Error, Exception, RArray, RClass, RString, Time,
};
use polycache::{Named, Value};
use rb_sys::ruby_value_type as Type;
use std::borrow::Cow;

static BIG_DECIMAL: Lazy<RClass> = Lazy::new(|ruby| {
    ruby.class_object()
        .const_get("BigDecimal")
        .expect("polycache.rb requires it before it loads the extension")
});

impl Walk<'_> {
    /// The rows that are classes in Ruby. Calls Ruby.
    #[inline(never)]
    pub(super) fn other<'v>(
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
    pub(super) fn registered<'v>(
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
