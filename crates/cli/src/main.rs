//! The program `polycache`; the library beside it does the work.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(polycache_cli::run(std::env::args_os()))
}
