//! The program `polycache`; what it does is in the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(polycache_cli::run(std::env::args_os()))
}
