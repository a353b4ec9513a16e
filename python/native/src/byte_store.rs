//! The option `store`: entries that a Python object keeps (`stores/`).

use crate::{errors, files};
use polycache::bindings::{ByteStore, Durability, Ended, NewFile, Opening, Popped, StoreKind};
use polycache::Error;
use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use std::fs::File;
use std::sync::Arc;

/// The kind that `stores.kind_of` made of the option.
///
/// # Errors
/// What the object's attributes give.
pub fn kind(given: &Bound<'_, PyAny>) -> PyResult<StoreKind> {
    let open = given.getattr("open")?.unbind();
    Ok(StoreKind {
        name: given.getattr("name")?.extract()?,
        is_shared: given.getattr("is_shared")?.extract()?,
        counts: given.getattr("counts")?.extract()?,
        reclaims: given.getattr("reclaims")?.extract()?,
        pops: given.getattr("pops")?.extract()?,
        has_files: given.getattr("has_files")?.extract()?,
        durability: match &*given.getattr("durability")?.extract::<String>()? {
            "none" => Durability::None,
            "synced" => Durability::Synced,
            _ => Durability::Kill,
        },
        max_key: given.getattr("max_key")?.extract()?,
        max_value: given.getattr("max_value")?.extract()?,
        open: Arc::new(move |opening| opened(&open, opening)),
    })
}

fn opened(open: &Py<PyAny>, opening: Opening<'_>) -> Result<Box<dyn ByteStore>, Error> {
    let ended = match opening.ended {
        Ended::Closed => "closed",
        Ended::Killed => "killed",
        Ended::PowerLost => "power lost",
    };
    attached(|py| {
        let folder = opening.folder.as_os_str();
        let arguments = (
            folder,
            opening.limit,
            ended,
            opening.alone,
            opening.read_only,
        );
        let store = open.bind(py).call1(arguments)?;
        let method = |name| store.getattr(name).map(Bound::unbind);
        let file_method = |name| {
            store
                .getattr_opt(name)
                .map(|found| found.map(Bound::unbind))
        };
        Ok(Box::new(PythonStore {
            get: method("get")?,
            put: method("put")?,
            delete: method("delete")?,
            pop: method("pop")?,
            new_file: file_method("new_file")?,
            put_file: file_method("put_file")?,
            open_file: file_method("open_file")?,
            scan: method("scan")?,
            size: method("size")?,
            reclaim: method("reclaim")?,
            flush: method("flush")?,
            close: method("close")?,
        }) as Box<dyn ByteStore>)
    })
}

/// The methods of the object.
struct PythonStore {
    get: Py<PyAny>,
    put: Py<PyAny>,
    delete: Py<PyAny>,
    pop: Py<PyAny>,
    new_file: Option<Py<PyAny>>,
    put_file: Option<Py<PyAny>>,
    open_file: Option<Py<PyAny>>,
    scan: Py<PyAny>,
    size: Py<PyAny>,
    reclaim: Py<PyAny>,
    flush: Py<PyAny>,
    close: Py<PyAny>,
}

/// Calls Python, if that is still there: at the end of the program it is not.
#[inline]
fn attached<T>(call: impl FnOnce(Python<'_>) -> PyResult<T>) -> Result<T, Error> {
    let done = Python::try_attach(|py| call(py).map_err(|error| errors::of_store(py, error)));
    done.unwrap_or_else(|| Err(Error::Io("the program ends".into())))
}

impl PythonStore {
    /// A method that only stores with files have.
    fn of_files(method: &Option<Py<PyAny>>) -> PyResult<&Py<PyAny>> {
        method.as_ref().ok_or_else(|| {
            PyTypeError::new_err("a store that has_files opens, makes and puts some")
        })
    }

    /// By how many bytes it grew, where it tells.
    fn change<'py, A>(py: Python<'py>, method: &Py<PyAny>, arguments: A) -> PyResult<Option<i64>>
    where
        A: pyo3::call::PyCallArgs<'py>,
    {
        let grown = method.bind(py).call1(arguments)?;
        match grown.is_none() {
            true => Ok(None),
            false => grown.extract().map(Some),
        }
    }
}

impl ByteStore for PythonStore {
    fn get(&self, key: &[u8], out: &mut Vec<u8>) -> Result<bool, Error> {
        attached(|py| {
            let found = self.get.bind(py).call1((PyBytes::new(py, key),))?;
            if let Ok(bytes) = found.cast::<PyBytes>() {
                out.extend_from_slice(bytes.as_bytes());
                return Ok(true);
            }
            if found.is_none() {
                return Ok(false);
            }
            let class = errors::class_of(&found);
            let what = format!("a store's get returns bytes or None, not {class}");
            Err(PyTypeError::new_err(what))
        })
    }

    fn put(&self, key: &[u8], value: &[u8]) -> Result<Option<i64>, Error> {
        attached(|py| {
            let arguments = (PyBytes::new(py, key), PyBytes::new(py, value));
            PythonStore::change(py, &self.put, arguments)
        })
    }

    fn delete(&self, key: &[u8]) -> Result<Option<i64>, Error> {
        attached(|py| PythonStore::change(py, &self.delete, (PyBytes::new(py, key),)))
    }

    fn pop(&self, key: &[u8], most: usize, out: &mut Vec<u8>) -> Result<Popped, Error> {
        attached(|py| {
            let popped = self.pop.bind(py).call1((PyBytes::new(py, key), most))?;
            let (head, grown): (Option<Bound<'_, PyBytes>>, Option<i64>) = popped.extract()?;
            if let Some(head) = &head {
                out.extend_from_slice(head.as_bytes());
            }
            Ok(Popped {
                was_there: head.is_some(),
                grown,
            })
        })
    }

    fn new_file(&self) -> Result<NewFile, Error> {
        attached(|py| {
            let made = PythonStore::of_files(&self.new_file)?.bind(py).call0()?;
            let (descriptor, name) = made.extract()?;
            Ok(NewFile { descriptor, name })
        })
    }

    fn put_file(
        &self,
        key: &[u8],
        file: &NewFile,
        head: &[u8],
        tail: &[u8],
        end: u64,
    ) -> Result<Option<i64>, Error> {
        attached(|py| {
            let arguments = (
                PyBytes::new(py, key),
                (file.descriptor, file.name.as_deref()),
                PyBytes::new(py, head),
                PyBytes::new(py, tail),
                end,
            );
            PythonStore::change(py, PythonStore::of_files(&self.put_file)?, arguments)
        })
    }

    fn open_file(&self, key: &[u8]) -> Result<Option<File>, Error> {
        attached(|py| {
            let method = PythonStore::of_files(&self.open_file)?.bind(py);
            let opened: Option<i32> = method.call1((PyBytes::new(py, key),))?.extract()?;
            opened.map(files::owned).transpose()
        })
    }

    fn scan(
        &self,
        prefix: &[u8],
        cursor: Option<&[u8]>,
        out: &mut Vec<Vec<u8>>,
    ) -> Result<Option<Vec<u8>>, Error> {
        attached(|py| {
            let cursor = cursor.map(|cursor| PyBytes::new(py, cursor));
            let page = self
                .scan
                .bind(py)
                .call1((PyBytes::new(py, prefix), cursor))?;
            let (keys, next) = page
                .cast::<PyTuple>()?
                .extract::<(Bound<'_, PyList>, Option<Bound<'_, PyBytes>>)>()?;
            for key in keys.iter() {
                out.push(key.cast::<PyBytes>()?.as_bytes().to_vec());
            }
            Ok(next.map(|next| next.as_bytes().to_vec()))
        })
    }

    fn size(&self) -> Result<u64, Error> {
        attached(|py| self.size.bind(py).call0()?.extract())
    }

    fn reclaim(&self) -> Result<(), Error> {
        attached(|py| self.reclaim.bind(py).call0().map(drop))
    }

    fn flush(&self) -> Result<(), Error> {
        attached(|py| self.flush.bind(py).call0().map(drop))
    }

    fn close(&self) {
        // Nobody is there to hear that it failed; what is left open ends with the process.
        let _ = attached(|py| self.close.bind(py).call0().map(drop));
    }

    fn aside(&self, work: &mut dyn FnMut()) {
        struct Any<'a>(&'a mut dyn FnMut());
        // SAFETY: the work runs in this very thread, which only gives up the interpreter meanwhile.
        unsafe impl Send for Any<'_> {}
        impl Any<'_> {
            fn run(self) {
                (self.0)();
            }
        }
        let mut left = Some(Any(work));
        let ran = Python::try_attach(|py| {
            if let Some(work) = left.take() {
                py.detach(move || work.run());
            }
        });
        if ran.is_none() {
            if let Some(work) = left {
                work.run();
            }
        }
    }
}

/// An exception that is none of the program's: of a signal, say, which its caller is to get.
pub fn is_foreign(py: Python<'_>, error: &PyErr) -> bool {
    !error.is_instance_of::<PyException>(py)
}
