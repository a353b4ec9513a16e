//! The command `polycache`, which `polycache/command.py` runs.

use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the command with these arguments, the program's name first, and gives its exit code.
#[pyfunction]
pub fn cli(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| polycache_cli::run(arguments))
}
