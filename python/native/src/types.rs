//! The types that a program has registered by name: the option `types` of a cache.
//!
//! Their `encode` and `decode` are code of users, which is called where nothing of ours is locked and the
//! engine is in no operation: `encode` before a write begins (`from_python.rs`), `decode` after a read has
//! ended, over the `Named` that it made (`memory/isolation.rs`).

use crate::errors;
use polycache::{Error, Serializer, Value};
use polycache_entry::{encode, EntryOptions};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};
use pyo3::{PyTraverseError, PyVisit};
use std::collections::HashMap;

/// One registered type.
pub struct Type {
    pub name: String,
    class: Py<PyType>,
    encode: Py<PyAny>,
    decode: Py<PyAny>,
}

/// Those of a cache.
pub struct Types {
    all: Vec<Type>,
    /// Their places, by the addresses of the classes, which are held.
    by_class: HashMap<usize, usize>,
    by_name: HashMap<String, usize>,
}

impl Types {
    /// Reads the option; the package checks it, and knows what to do with dataclasses and the like.
    /// None where it names no type. Raises `InvalidArgument`.
    pub fn read(value: &Bound<'_, PyAny>) -> PyResult<Option<Types>> {
        let checked = value
            .py()
            .import("polycache.registered_types")?
            .call_method1("registered", (value,))?;
        let mut types = Types {
            all: Vec::new(),
            by_class: HashMap::new(),
            by_name: HashMap::new(),
        };
        for one in checked.try_iter()? {
            let (name, class, encode, decode) = one?.extract::<(String, Py<PyType>, _, _)>()?;
            let place = types.all.len();
            types.by_class.insert(class.as_ptr().addr(), place);
            types.by_name.insert(name.clone(), place);
            types.all.push(Type {
                name,
                class,
                encode,
                decode,
            });
        }
        Ok((!types.all.is_empty()).then_some(types))
    }

    /// The type that is registered for the object's own class.
    pub fn of(&self, object: &Bound<'_, PyAny>) -> Option<&Type> {
        let class = object.get_type().as_ptr().addr();
        self.by_class
            .get(&class)
            .and_then(|place| self.all.get(*place))
    }

    pub fn named(&self, name: &Bound<'_, PyAny>) -> Option<&Type> {
        let name = name.cast_exact::<PyString>().ok()?;
        let place = self.by_name.get(name.to_str().ok()?)?;
        self.all.get(*place)
    }

    /// The objects, for the garbage collector.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        for one in &self.all {
            visit.call(&one.class)?;
            visit.call(&one.encode)?;
            visit.call(&one.decode)?;
        }
        Ok(())
    }
}

impl Type {
    /// What is written under the name.
    pub fn encode<'py>(&self, object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.encode.bind(object.py()).call1((object,))
    }

    /// The object that readers get.
    pub fn decode<'py>(&self, value: Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, Box<Failed>> {
        let py = value.py();
        self.decode.bind(py).call1((value,)).map_err(|error| {
            if is_ordinary(py, &error) {
                Box::new(Failed::Decode(Misfit {
                    name: self.name.clone(),
                    cause: error,
                    steps: Vec::new(),
                }))
            } else {
                Box::new(Failed::Raised(error))
            }
        })
    }
}

/// False for an interrupt, an exit or the cancellation of a task, which say nothing of a value.
pub fn is_ordinary(py: Python<'_>, error: &PyErr) -> bool {
    error.is_instance_of::<PyException>(py)
}

/// Why a value could not be handed to its reader. In a box, because it is rare.
pub enum Failed {
    /// By an error that goes through as it is.
    Raised(PyErr),
    /// A `decode` raised.
    Decode(Misfit),
}

/// The value of a registered type that its `decode` does not take.
pub struct Misfit {
    name: String,
    cause: PyErr,
    /// From the value outwards.
    steps: Vec<String>,
}

impl From<PyErr> for Box<Failed> {
    fn from(error: PyErr) -> Self {
        Box::new(Failed::Raised(error))
    }
}

impl Failed {
    /// The value stands in a list, at this place.
    pub fn at_index(mut self: Box<Self>, index: usize) -> Box<Self> {
        if let Failed::Decode(misfit) = &mut *self {
            misfit.steps.push(format!("[{index}]"));
        }
        self
    }

    /// The value stands in a map, under this key.
    pub fn at_key(mut self: Box<Self>, key: &Bound<'_, PyAny>) -> Box<Self> {
        if let Failed::Decode(misfit) = &mut *self {
            misfit.steps.push(step(&key.to_string()));
        }
        self
    }

    #[cold]
    pub fn into_error(self, py: Python<'_>) -> PyErr {
        let misfit = match self {
            Failed::Raised(error) => return error,
            Failed::Decode(misfit) => misfit,
        };
        let mut path = String::from("$");
        path.extend(misfit.steps.into_iter().rev());
        let class = errors::class_of(misfit.cause.value(py));
        let reason = format!(
            "decode of the registered type {:?} raised {class}: {}",
            misfit.name,
            misfit.cause.value(py),
        );
        let error = errors::raise(py, Error::WrongType { path, reason });
        error.set_cause(py, Some(misfit.cause));
        error
    }
}

/// The step of a path to a map's key, as the writer of entries has it.
fn step(key: &str) -> String {
    let options = EntryOptions {
        serializer: Serializer::MessagePack,
        ..EntryOptions::default()
    };
    // No serializer writes it, and says where it stands.
    let refused = Value::Map(vec![(key.into(), Value::Int(i128::MAX))]);
    match encode(&refused, &options, &mut Vec::new()) {
        Err(polycache_entry::Error::UnsupportedValue { path, .. }) => {
            path.trim_start_matches('$').to_owned()
        }
        _ => String::new(),
    }
}
