//! Work that takes long enough to leave the event loop alone.

use crate::error;
use napi::{Env, Result, Task};
use napi_derive::napi;
use polycache_host::Store;

/// What `check` found.
#[napi(object)]
pub struct CheckReport {
    /// Entries whose checksums agree.
    pub whole: f64,
    /// Entries that are damaged, with the reason, at most a hundred.
    pub damaged: Vec<String>,
    /// Loads under way.
    pub leases: f64,
}

/// Verifies every entry.
pub struct Check(pub(crate) Store);

impl Task for Check {
    type Output = polycache_host::Report;
    type JsValue = CheckReport;

    fn compute(&mut self) -> Result<Self::Output> {
        self.0.check().map_err(error::host)
    }

    fn resolve(&mut self, _: Env, report: Self::Output) -> Result<Self::JsValue> {
        Ok(CheckReport {
            whole: report.whole as f64,
            damaged: report.damaged,
            leases: report.leases as f64,
        })
    }
}

/// Writes everything to the disk.
pub struct Flush(pub(crate) Store);

impl Task for Flush {
    type Output = ();
    type JsValue = ();

    fn compute(&mut self) -> Result<()> {
        self.0.flush().map_err(error::host)
    }

    fn resolve(&mut self, _: Env, (): ()) -> Result<()> {
        Ok(())
    }
}
