//! Python objects as values: the type map of `spec/entry.md`, written.
//!
//! Only the classes of the type map themselves are taken. An instance of a subclass (an `IntEnum`, a
//! `defaultdict`, a named tuple) would come back as something else, so it is refused; a tuple and a
//! frozenset are the exceptions that the type map names.

use crate::classes::Classes;
use crate::errors;
use polycache::{Error, Serializer, Value};
use polycache_entry::{encode, EntryOptions, MAX_DEPTH};
use pyo3::exceptions::PyUnicodeEncodeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PyMemoryView, PySet,
    PyString, PyTuple,
};
use std::borrow::Cow;
use std::ptr;

/// Hands the value that `object` stands for to `use_it`, with about how many bytes it takes, and whether it
/// would come back as something else (a tuple as a list, say). The value borrows text and bytes from the
/// Python objects.
///
/// # Errors
/// `UnsupportedValue` with the path of the first culprit in writing order.
#[inline]
pub fn with_value<R>(
    object: &Bound<'_, PyAny>,
    serializer: Serializer,
    use_it: impl FnOnce(&Value<'_>, usize, bool) -> R,
) -> PyResult<R> {
    let mut reader = Reader::default();
    let value = reader.value(object, 0);
    match reader.refusal {
        None => Ok(use_it(&value, reader.size, reader.differs)),
        Some(reason) => Err(errors::raise(
            object.py(),
            locate(value, reason, serializer),
        )),
    }
}

/// The same of a value that is not going to be written: it is refused all the same if it could not be.
pub fn with_writable_value<R>(
    object: &Bound<'_, PyAny>,
    serializer: Serializer,
    use_it: impl FnOnce(&Value<'_>, bool) -> R,
) -> PyResult<R> {
    let mut reader = Reader::default();
    let value = reader.value(object, 0);
    if let Some(reason) = reader.refusal {
        return Err(errors::raise(
            object.py(),
            locate(value, reason, serializer),
        ));
    }
    if reader.to_be_tried {
        let options = EntryOptions {
            serializer,
            ..EntryOptions::default()
        };
        encode(&value, &options, &mut Vec::new())
            .map_err(|error| errors::raise(object.py(), error.into()))?;
    }
    Ok(use_it(&value, reader.differs))
}

/// Days since 1970 that a `datetime` in UTC can have.
const YEARS_1_TO_9999: std::ops::RangeInclusive<i64> = -719_162..=2_932_896;

/// Walks a Python object and everything in it.
#[derive(Default)]
struct Reader<'py> {
    /// Owners of what the value borrows. A container may lose its elements while it is read: the
    /// garbage collector can run anyone's finalizer at every allocation.
    kept: Vec<Bound<'py, PyAny>>,
    /// Why the value is refused. Then the walk ends: the culprit is the last leaf of what was made.
    refusal: Option<Cow<'static, str>>,
    /// Bytes of text and bytes, and a few for everything else.
    size: usize,
    /// True once there was a value that only writing tells to be unsupported: a set of lists, a decimal
    /// that is no number, a time far away.
    to_be_tried: bool,
    /// True once there was a part that reading makes another type of.
    differs: bool,
}

impl<'py> Reader<'py> {
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
            match self.instance(object) {
                Ok(value) => value,
                Err(error) => self.refuse(format!(
                    "reading this {} failed: {error}",
                    errors::class_of(object)
                )),
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
        self.to_be_tried |= values
            .iter()
            .any(|value| matches!(value, Value::List(_) | Value::Set(_) | Value::Map(_)));
        Value::Set(values)
    }

    /// A container on level 129 is refused, and so is a cycle, which has such a level.
    fn enter(&mut self, depth: usize) -> bool {
        if depth >= MAX_DEPTH {
            self.refuse("nested deeper than 128 lists, sets and maps, or it holds itself");
        }
        self.refusal.is_none()
    }

    /// A value of a class that Python code made.
    #[cold]
    fn instance<'v>(&mut self, object: &Bound<'py, PyAny>) -> PyResult<Value<'v>> {
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
        let name = errors::class_of(object);
        if name == "coroutine" {
            return Ok(self.refuse(
                "a coroutine is no value: await it, or use AsyncCache, whose get_or_set awaits its loader",
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
            None => format!("{name} is not in the type map: convert it to a dict, list or text"),
        }))
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
                "a naive datetime is no moment: give it a time zone, like datetime.now(timezone.utc)",
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
        self.refusal = Some(reason.into());
        Value::Null
    }
}

/// The class of the type map that the object's class is derived from.
#[cold]
fn base_of(object: &Bound<'_, PyAny>) -> Option<&'static str> {
    let py = object.py();
    let bases = [
        (object.is_instance_of::<PyString>(), "str"),
        (object.is_instance_of::<PyInt>(), "int"),
        (object.is_instance_of::<PyFloat>(), "float"),
        (object.is_instance_of::<PyDict>(), "dict"),
        (object.is_instance_of::<PyList>(), "list"),
        (object.is_instance_of::<PyTuple>(), "tuple"),
        (object.is_instance_of::<PyBytes>(), "bytes"),
        (object.is_instance_of::<PyByteArray>(), "bytearray"),
        (object.is_instance_of::<PySet>(), "set"),
        (object.is_instance_of::<PyFrozenSet>(), "frozenset"),
    ];
    let builtin = bases.iter().find(|(derived, _)| *derived);
    if let Some((_, name)) = builtin {
        return Some(name);
    }
    let classes = Classes::get(py).ok()?;
    [
        (&classes.datetime, "datetime"),
        (&classes.decimal, "Decimal"),
        (&classes.uuid, "UUID"),
    ]
    .into_iter()
    .find(|(class, _)| object.is_instance(class.bind(py)).unwrap_or(false))
    .map(|(_, name)| name)
}

/// The error for a culprit that is the last leaf of `value`, unless the serializer refuses something
/// that comes before it. Writing what there is tells the path.
#[cold]
fn locate(mut value: Value<'_>, reason: Cow<'static, str>, serializer: Serializer) -> Error {
    let options = EntryOptions {
        serializer,
        ..EntryOptions::default()
    };
    let mut path = "$".to_owned();
    if matches!(value, Value::List(_) | Value::Set(_) | Value::Map(_)) {
        if let Err(earlier) = encode(&value, &options, &mut Vec::new()) {
            return earlier.into();
        }
        spoil_last_leaf(&mut value);
        if let Err(polycache_entry::Error::UnsupportedValue { path: found, .. }) =
            encode(&value, &options, &mut Vec::new())
        {
            path = found;
        }
    }
    Error::UnsupportedValue {
        path,
        reason: reason.into_owned(),
    }
}

/// Puts a value that no serializer writes in the place of the last leaf.
fn spoil_last_leaf(value: &mut Value<'_>) {
    let last = match value {
        Value::List(values) | Value::Set(values) => values.last_mut(),
        Value::Map(pairs) => pairs.last_mut().map(|(_, value)| value),
        _ => None,
    };
    match last {
        Some(last) => spoil_last_leaf(last),
        None => *value = Value::Int(i128::MAX),
    }
}
