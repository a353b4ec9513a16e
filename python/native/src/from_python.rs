//! Python objects as values: the type map of `spec/entry.md`, written.
//!
//! Only the classes of the type map themselves are taken. An instance of a subclass (an `IntEnum`, a
//! `defaultdict`, a named tuple) would come back as something else, so it is refused; a tuple and a
//! frozenset are the exceptions that the type map names.

mod reading;
mod refusal;

pub use reading::{read, Reading};

use crate::classes::Classes;
use crate::errors;
use crate::named::Named;
use crate::types::{Type, Types};
use polycache::{Serializer, Value};
use polycache_entry::{MAX_DEPTH, MAX_NAME};
use pyo3::exceptions::PyUnicodeEncodeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyFrozenSet, PyList, PyMemoryView, PyString,
    PyTuple,
};
use refusal::{base_of, Refusal};
use std::borrow::Cow;
use std::ptr;

/// Converts `object` and hands the value to `use_it`, with about how many bytes it takes. The value borrows text and
/// bytes from the Python objects.
///
/// # Errors
/// `UnsupportedValue` with the path of the first culprit in writing order, and what passes through the
/// `encode` of a registered type: an interrupt, say.
#[inline]
pub fn with_value<R>(
    object: &Bound<'_, PyAny>,
    serializer: Serializer,
    types: Option<&Types>,
    use_it: impl FnOnce(&Value<'_>, usize) -> R,
) -> PyResult<R> {
    let mut reader = Reader::with(types);
    let value = reader.value(object, 0);
    match reader.refusal {
        None => Ok(use_it(&value, reader.size)),
        Some(refusal) => Err(refusal.into_error(object.py(), value, serializer)),
    }
}

/// Days since 1970 that a `datetime` in UTC can have.
const YEARS_1_TO_9999: std::ops::RangeInclusive<i64> = -719_162..=2_932_896;

/// Walks a Python object and everything in it.
#[derive(Default)]
struct Reader<'a, 'py> {
    /// What the program has registered.
    types: Option<&'a Types>,
    /// Owners of what the value borrows. A container may lose its elements while it is read: the
    /// garbage collector can run any finalizer at every allocation.
    kept: Vec<Bound<'py, PyAny>>,
    /// Why the value is refused. Then the walk ends: the culprit is the last leaf of what was made.
    // Boxed, because it is rare, and checked after each part of a value.
    refusal: Option<Box<Refusal>>,
    /// Bytes of text and bytes, and a few for everything else.
    size: usize,
    /// True once there was a value that only writing finds to be unsupported: a set of lists, a decimal that is not a
    /// number, a time far away.
    to_be_tried: bool,
    /// True once there was a part that reading makes another type of.
    differs: bool,
    /// True once there was a value of a registered type.
    named: bool,
}

impl<'a, 'py> Reader<'a, 'py> {
    #[inline]
    fn with(types: Option<&'a Types>) -> Self {
        Reader {
            types,
            ..Reader::default()
        }
    }

    /// The value of `object`, which lies inside `depth` lists, sets and maps.
    #[inline]
    fn value<'v>(&mut self, object: &Bound<'py, PyAny>, depth: usize) -> Value<'v> {
        self.size += 8;
        // SAFETY: the object lives; its type is only compared.
        let class = unsafe { ffi::Py_TYPE(object.as_ptr()) };
        if class == &raw mut ffi::PyUnicode_Type {
            // SAFETY: the class was just compared.
            match self.text(unsafe { object.cast_unchecked::<PyString>() }, depth) {
                Some(text) => Value::Text(Cow::Borrowed(text)),
                None => Value::Null,
            }
        } else if class == &raw mut ffi::PyBytes_Type {
            // SAFETY: as above.
            self.bytes(unsafe { object.cast_unchecked::<PyBytes>() }, depth)
        } else {
            self.other(object, class, depth)
        }
    }

    fn other<'v>(
        &mut self,
        object: &Bound<'py, PyAny>,
        class: *mut ffi::PyTypeObject,
        depth: usize,
    ) -> Value<'v> {
        if object.is_none() {
            Value::Null
        } else if class == &raw mut ffi::PyBool_Type {
            // SAFETY: the class was just compared.
            Value::Bool(unsafe { object.cast_unchecked::<PyBool>() }.is_true())
        } else if class == &raw mut ffi::PyLong_Type {
            self.integer(object)
        } else if class == &raw mut ffi::PyFloat_Type {
            // SAFETY: the class was just compared.
            Value::Float(unsafe { object.cast_unchecked::<PyFloat>() }.value())
        } else if class == &raw mut ffi::PyDict_Type {
            // SAFETY: as above.
            self.map(unsafe { object.cast_unchecked::<PyDict>() }, depth)
        } else if class == &raw mut ffi::PyList_Type || class == &raw mut ffi::PyTuple_Type {
            self.list(object, depth)
        } else if class == &raw mut ffi::PySet_Type || class == &raw mut ffi::PyFrozenSet_Type {
            self.set(object, depth)
        } else {
            match self.instance(object, depth) {
                Ok(value) => value,
                Err(error) => self.fail(
                    format!("reading this {} failed: {error}", errors::class_of(object)),
                    error,
                ),
            }
        }
    }

    fn text<'v>(&mut self, object: &Bound<'py, PyString>, depth: usize) -> Option<&'v str> {
        match object.to_str() {
            Ok(text) => {
                self.size += text.len();
                self.keep(object.as_any(), depth);
                // SAFETY: a str is immutable and holds its UTF-8 form as long as it lives: until
                // `kept` or, at depth 0, the caller of `with_value` lets it go, which is after the
                // value is gone, because `with_value` never hands it out.
                Some(unsafe { &*ptr::from_ref(text) })
            }
            Err(error) if error.is_instance_of::<PyUnicodeEncodeError>(object.py()) => {
                self.refuse("text with a lone surrogate has no UTF-8 form: encode it to bytes");
                None
            }
            Err(error) => {
                self.refuse(error.to_string());
                None
            }
        }
    }

    fn bytes<'v>(&mut self, object: &Bound<'py, PyBytes>, depth: usize) -> Value<'v> {
        let bytes = object.as_bytes();
        self.size += bytes.len();
        self.keep(object.as_any(), depth);
        // SAFETY: as for text; bytes are immutable.
        Value::Bytes(Cow::Borrowed(unsafe { &*ptr::from_ref(bytes) }))
    }

    /// The whole value's owner is the caller.
    #[inline]
    fn keep(&mut self, object: &Bound<'py, PyAny>, depth: usize) {
        if depth > 0 {
            self.kept.push(object.clone());
        }
    }

    fn integer<'v>(&mut self, object: &Bound<'py, PyAny>) -> Value<'v> {
        if let Ok(value) = object.extract::<i64>() {
            return Value::Int(value.into());
        }
        if let Ok(value) = object.extract::<u64>() {
            return Value::Int(value.into());
        }
        // Python stops at 4300 digits, as the type map does.
        match object.str() {
            Ok(text) => Value::BigInt(Cow::Owned(text.to_string_lossy().into_owned())),
            Err(_) => self.refuse("a big integer has at most 4300 digits"),
        }
    }

    fn list<'v>(&mut self, object: &Bound<'py, PyAny>, depth: usize) -> Value<'v> {
        if !self.enter(depth) {
            return Value::Null;
        }
        let list = object.cast_exact::<PyList>();
        let tuple = object.cast_exact::<PyTuple>();
        self.differs |= tuple.is_ok();
        let mut values = Vec::with_capacity(object.len().unwrap_or(0));
        loop {
            // The length is read anew each time: see `kept`.
            let place = values.len();
            let element = match (&list, &tuple) {
                (Ok(list), _) if place < list.len() => list.get_item(place),
                (_, Ok(tuple)) if place < tuple.len() => tuple.get_item(place),
                _ => break,
            };
            match element {
                Ok(element) => values.push(self.value(&element, depth + 1)),
                Err(error) => return self.refuse(error.to_string()),
            }
            if self.refusal.is_some() {
                break;
            }
        }
        Value::List(values)
    }

    fn map<'v>(&mut self, dict: &Bound<'py, PyDict>, depth: usize) -> Value<'v> {
        if !self.enter(depth) {
            return Value::Null;
        }
        let py = dict.py();
        let count = dict.len();
        let mut pairs = Vec::with_capacity(count);
        let mut place = 0;
        let (mut key, mut value) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the pointers are valid for the call, and the objects that it lends are owned before
        // anything else happens.
        while unsafe { ffi::PyDict_Next(dict.as_ptr(), &mut place, &mut key, &mut value) } != 0 {
            // SAFETY: as above.
            let (key, value) = unsafe {
                (
                    Bound::from_borrowed_ptr(py, key),
                    Bound::from_borrowed_ptr(py, value),
                )
            };
            let Ok(name) = key.cast_exact::<PyString>() else {
                return self.refuse(format!(
                    "a map's keys are text (str itself), not {}",
                    errors::class_of(&key)
                ));
            };
            let Some(name) = self.text(name, depth + 1) else {
                return Value::Null;
            };
            pairs.push((Cow::Borrowed(name), self.value(&value, depth + 1)));
            if self.refusal.is_some() {
                return Value::Map(pairs);
            }
        }
        if pairs.len() != count || dict.len() != count {
            return self.refuse("the dict changed while it was read");
        }
        Value::Map(pairs)
    }

    fn set<'v>(&mut self, object: &Bound<'py, PyAny>, depth: usize) -> Value<'v> {
        if !self.enter(depth) {
            return Value::Null;
        }
        self.differs |= object.is_exact_instance_of::<PyFrozenSet>();
        let elements = match object.try_iter() {
            Ok(elements) => elements,
            Err(error) => return self.refuse(error.to_string()),
        };
        let mut values = Vec::with_capacity(object.len().unwrap_or(0));
        for element in elements {
            match element {
                Ok(element) => values.push(self.value(&element, depth + 1)),
                Err(error) => return self.refuse(error.to_string()),
            }
            if self.refusal.is_some() {
                break;
            }
        }
        // What has no hash in Python would make no set again.
        self.to_be_tried |= values.iter().any(|value| {
            matches!(
                value,
                Value::List(_) | Value::Set(_) | Value::Map(_) | Value::Named(_)
            )
        });
        Value::Set(values)
    }

    /// A container on level 129 is refused, and so is a cycle, which has such a level.
    fn enter(&mut self, depth: usize) -> bool {
        if depth >= MAX_DEPTH {
            self.refuse(
                "nested deeper than 128 lists, sets, maps and registered types, or it holds itself",
            );
        }
        self.refusal.is_none()
    }

    /// A value of a class that Python code made.
    #[cold]
    fn instance<'v>(&mut self, object: &Bound<'py, PyAny>, depth: usize) -> PyResult<Value<'v>> {
        let py = object.py();
        let classes = Classes::get(py)?;
        let class = object.get_type();
        if class.is(&classes.datetime) {
            return self.timestamp(object, classes);
        }
        if class.is(&classes.decimal) {
            // The context decides whether an exponent is written as E or e; no other form of a
            // decimal has an e that the type map knows.
            let text = object.str()?.to_string_lossy().replace('e', "E");
            self.to_be_tried |= text.contains(|c: char| c.is_alphabetic() && c != 'E');
            return Ok(Value::Decimal(Cow::Owned(text)));
        }
        if class.is(&classes.uuid) {
            return Ok(Value::Uuid(object.getattr("bytes")?.extract()?));
        }
        // Both can change, so they are copied.
        if let Ok(bytes) = object.cast_exact::<PyByteArray>() {
            return Ok(self.copied(bytes.to_vec()));
        }
        if object.cast::<PyMemoryView>().is_ok() {
            let bytes = object.call_method0("tobytes")?;
            return Ok(self.copied(bytes.extract()?));
        }
        if let Some(class) = self.types.and_then(|types| types.of(object)) {
            return Ok(self.registered(class, object, depth));
        }
        if let Ok(named) = object.cast_exact::<Named>() {
            return Ok(self.named(named, depth));
        }
        let name = errors::class_of(object);
        if name == "coroutine" {
            return Ok(self.refuse(
                "a coroutine is not a value: await it, or use AsyncCache, whose get_or_set awaits its loader",
            ));
        }
        Ok(self.refuse(match base_of(object) {
            Some(base) => {
                let back = match base {
                    "tuple" => "list",
                    "frozenset" => "set",
                    "bytearray" => "bytes",
                    other => other,
                };
                format!(
                    "{name} is a subclass of {base} and would come back as {back}: convert it to {back}"
                )
            }
            None => format!(
                "{name} is not in the type map: convert it to a dict, list or text, or register it with the option types"
            ),
        }))
    }

    /// A value of a registered type: its name, and what its `encode` makes of it.
    fn registered<'v>(
        &mut self,
        class: &Type,
        object: &Bound<'py, PyAny>,
        depth: usize,
    ) -> Value<'v> {
        if !self.enter(depth) {
            return Value::Null;
        }
        self.named = true;
        match class.encode(object) {
            Ok(encoded) => self.under(Cow::Owned(class.name.clone()), &encoded, depth),
            Err(error) => {
                let raised = errors::class_of(error.value(object.py()));
                let reason = format!(
                    "encode of the registered type {:?} raised {raised}: {}",
                    class.name,
                    error.value(object.py()),
                );
                self.fail(reason, error)
            }
        }
    }

    /// The same of a `Named`: what a cache reads that has not registered the type.
    fn named<'v>(&mut self, named: &Bound<'py, Named>, depth: usize) -> Value<'v> {
        if !self.enter(depth) {
            return Value::Null;
        }
        self.named = true;
        let py = named.py();
        let Named { name, value } = named.get();
        let Ok(name) = name.bind(py).cast_exact::<PyString>() else {
            return self.refuse("the name of a registered type is text (str itself)");
        };
        let Some(name) = self.text(name, depth + 1) else {
            return Value::Null;
        };
        if name.is_empty() || name.len() > MAX_NAME {
            return self.refuse("the name of a registered type has 1 to 255 bytes");
        }
        self.under(Cow::Borrowed(name), value.bind(py), depth)
    }

    fn under<'v>(
        &mut self,
        name: Cow<'v, str>,
        value: &Bound<'py, PyAny>,
        depth: usize,
    ) -> Value<'v> {
        let value = self.value(value, depth + 1);
        Value::Named(Box::new(polycache::Named { name, value }))
    }

    fn copied<'v>(&mut self, bytes: Vec<u8>) -> Value<'v> {
        self.size += bytes.len();
        self.differs = true;
        Value::Bytes(Cow::Owned(bytes))
    }

    fn timestamp<'v>(
        &mut self,
        object: &Bound<'py, PyAny>,
        classes: &Classes,
    ) -> PyResult<Value<'v>> {
        if object.call_method0("utcoffset")?.is_none() {
            return Ok(self.refuse(
                "a naive datetime is not a moment: give it a time zone, like datetime.now(timezone.utc)",
            ));
        }
        self.differs |= !object.getattr("tzinfo")?.is(&classes.utc);
        let since_epoch = object.sub(&classes.epoch)?;
        let days: i64 = since_epoch.getattr("days")?.extract()?;
        let seconds: i64 = since_epoch.getattr("seconds")?.extract()?;
        let microseconds: u32 = since_epoch.getattr("microseconds")?.extract()?;
        self.to_be_tried |= !YEARS_1_TO_9999.contains(&days);
        Ok(Value::Timestamp {
            seconds: days * 86_400 + seconds,
            nanos: microseconds * 1000,
        })
    }

    #[cold]
    fn refuse<'v>(&mut self, reason: impl Into<Cow<'static, str>>) -> Value<'v> {
        self.refusal = Some(Box::new(Refusal {
            reason: reason.into(),
            cause: None,
        }));
        Value::Null
    }

    #[cold]
    fn fail<'v>(&mut self, reason: String, cause: PyErr) -> Value<'v> {
        self.refusal = Some(Box::new(Refusal {
            reason: reason.into(),
            cause: Some(cause),
        }));
        Value::Null
    }
}
