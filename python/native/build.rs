//! Says which Python this is built for: `Py_GIL_DISABLED` is a build without the GIL.

fn main() {
    pyo3_build_config::use_pyo3_cfgs();
}
