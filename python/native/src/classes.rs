//! Classes of Python's standard library that rows of the type map become. They are not part of the
//! stable ABI, so they are imported when the first such value comes along.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

pub struct Classes {
    pub datetime: Py<PyType>,
    pub timedelta: Py<PyType>,
    pub decimal: Py<PyType>,
    pub uuid: Py<PyType>,
    pub utc: Py<PyAny>,
    /// 1970-01-01T00:00Z, an aware `datetime` in UTC.
    pub epoch: Py<PyAny>,
}

static CLASSES: PyOnceLock<Classes> = PyOnceLock::new();

/// An object made once. No lock is held while it is made: that may run code of users, such as a `__del__` in the middle
/// of an import, which may come here again. If several make it, the first one is kept.
pub fn once<'py, T>(
    py: Python<'py>,
    cell: &'py PyOnceLock<T>,
    make: impl FnOnce() -> PyResult<T>,
) -> PyResult<&'py T> {
    if let Some(made) = cell.get(py) {
        return Ok(made);
    }
    let made = make()?;
    Ok(cell.get_or_init(py, || made))
}

/// `polycache.MISSING`, whose module the package has imported before this extension.
pub fn missing(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static MISSING: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    imported(py, &MISSING, "polycache.missing", "MISSING")
}

/// `module.name`, imported once.
pub fn imported<'py>(
    py: Python<'py>,
    cell: &'py PyOnceLock<Py<PyAny>>,
    module: &str,
    name: &str,
) -> PyResult<&'py Bound<'py, PyAny>> {
    let found = once(py, cell, || Ok(py.import(module)?.getattr(name)?.unbind()))?;
    Ok(found.bind(py))
}

impl Classes {
    pub fn get(py: Python<'_>) -> PyResult<&Classes> {
        once(py, &CLASSES, || Classes::import(py))
    }

    fn import(py: Python<'_>) -> PyResult<Classes> {
        let datetime = py.import("datetime")?;
        let class = |module: &str, name: &str| -> PyResult<Py<PyType>> {
            Ok(py
                .import(module)?
                .getattr(name)?
                .cast_into::<PyType>()?
                .unbind())
        };
        let utc = datetime.getattr("timezone")?.getattr("utc")?;
        Ok(Classes {
            datetime: class("datetime", "datetime")?,
            timedelta: class("datetime", "timedelta")?,
            decimal: class("decimal", "Decimal")?,
            uuid: class("uuid", "UUID")?,
            epoch: datetime
                .getattr("datetime")?
                .call1((1970, 1, 1, 0, 0, 0, 0, &utc))?
                .unbind(),
            utc: utc.unbind(),
        })
    }
}
