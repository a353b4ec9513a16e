//! One line on a terminal that shows the progress of a run; nothing elsewhere.

use std::io::{IsTerminal, Write};

/// The line.
pub struct Progress {
    shown: bool,
}

impl Progress {
    /// Shown only when the standard error is a terminal.
    pub fn new() -> Progress {
        Progress {
            shown: std::io::stderr().is_terminal(),
        }
    }

    /// Replaces the line.
    pub fn show(&self, text: &str) {
        if self.shown {
            eprint!("\r\x1b[K{text}");
            // A closed terminal is no reason to stop.
            let _ = std::io::stderr().flush();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.show("");
    }
}
