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
    /// 1970-01-01T00:00Z, an aware `datetime` in UTC.
    pub epoch: Py<PyAny>,
    /// `polycache.MISSING`.
    pub missing: Py<PyAny>,
}

static CLASSES: PyOnceLock<Classes> = PyOnceLock::new();

impl Classes {
    pub fn get(py: Python<'_>) -> PyResult<&Classes> {
        CLASSES.get_or_try_init(py, || Classes::import(py))
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
                .call1((1970, 1, 1, 0, 0, 0, 0, utc))?
                .unbind(),
            missing: py.import("polycache.missing")?.getattr("MISSING")?.unbind(),
        })
    }
}
