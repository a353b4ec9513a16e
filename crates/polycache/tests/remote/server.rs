//! A real server that a test starts on a free port of the loopback interface, and stops after it.

use crate::process::{free_ports, Process};
use std::ops::{Deref, DerefMut};

/// The servers that `tools/setup.sh servers` installs.
pub const PROGRAMS: [&str; 3] = ["redis-server", "redis-server-8", "valkey-server"];

const OPTIONS: [&str; 4] = ["--save", "", "--appendonly", "no"];

pub struct Server {
    process: Process,
    program: &'static str,
}

impl Deref for Server {
    type Target = Process;

    fn deref(&self) -> &Process {
        &self.process
    }
}

impl DerefMut for Server {
    fn deref_mut(&mut self) -> &mut Process {
        &mut self.process
    }
}

impl Server {
    /// `None` where the program is not installed.
    pub fn start(program: &'static str) -> Option<Server> {
        let process = Process::of(program, free_ports(1)[0], OPTIONS)?;
        process.answers();
        Some(Server { process, program })
    }

    /// The same server at the same port, empty.
    pub fn start_again(&mut self) {
        let process = Process::of(self.program, self.port, OPTIONS);
        self.process = process.expect("it started before");
        self.answers();
    }
}
