//! A worker process, and what is common to all that are started.

use crate::languages::Language;
use crate::log::{Op, Record, Writer, RECORD};
use crate::outcome::Fallible;
use crate::worker::now;
use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A worker process; killed when it is dropped.
pub struct Worker {
    /// Its number in values and logs.
    pub number: u16,
    /// Its language.
    pub language: Language,
    child: Child,
    log: PathBuf,
    output: PathBuf,
    ended: Option<ExitStatus>,
}

impl Worker {
    /// Starts it; what it prints stands beside its log.
    pub fn start(
        number: u16,
        language: Language,
        mut command: Command,
        log: PathBuf,
    ) -> Fallible<Worker> {
        let output = log.with_extension("out");
        let file = File::create(&output)?;
        end_with_us(&mut command);
        let child = command
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            .spawn()?;
        Ok(Worker {
            number,
            language,
            child,
            log,
            output,
            ended: None,
        })
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Fallible<Option<ExitStatus>> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait()?;
        }
        Ok(self.ended)
    }

    /// Records that it has logged so far.
    pub fn logged(&self) -> u64 {
        std::fs::metadata(&self.log).map_or(0, |file| file.len() / RECORD as u64)
    }

    /// Kills it with SIGKILL, waits until the kernel has removed it, and logs that. False when it had
    /// already ended.
    pub fn kill(&mut self) -> Fallible<bool> {
        if self.ended()?.is_some() {
            return Ok(false);
        }
        self.child.kill()?;
        self.ended = Some(self.child.wait()?);
        if self.ended.is_some_and(|status| status.code().is_some()) {
            return Ok(false);
        }
        Writer::open(&self.log)?.now(Record {
            op: Op::Died,
            key: 0,
            serial: 0,
            begin: now(),
            end: 0,
        })?;
        Ok(true)
    }

    /// Stops it with SIGSTOP.
    pub fn stop(&self) {
        signal(&self.child, libc::SIGSTOP);
    }

    /// Lets it continue.
    pub fn resume(&self) {
        signal(&self.child, libc::SIGCONT);
    }

    /// Lowers its priority, in favour of workers that are starting.
    pub fn step_back(&self) {
        // SAFETY: the call takes no pointers. The process is our child and has not been waited for, so
        // its id is still its own.
        unsafe { libc::setpriority(libc::PRIO_PROCESS, self.child.id(), 10) };
    }

    /// The last lines that it printed.
    pub fn output(&self) -> String {
        let bytes = std::fs::read(&self.output).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(12)..].join("\n          ")
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if self.ended.is_none() {
            // It may have ended already.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Sends a signal to a child that was not waited for.
pub fn signal(child: &Child, signal: libc::c_int) {
    // SAFETY: the call takes no pointers. A child that has not been waited for keeps its id.
    unsafe { libc::kill(child.id() as libc::pid_t, signal) };
}

/// The process that the command starts is killed when this one ends in whatever way, also while it is stopped.
/// Only the main thread may start it: what counts is the end of the thread that did.
pub fn end_with_us(command: &mut Command) {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::process::CommandExt;
        // SAFETY: prctl is safe to call between fork and exec, and takes no pointers here.
        unsafe {
            command.pre_exec(|| {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                Ok(())
            });
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = command;
}

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

extern "C" fn interrupt(_: libc::c_int) {
    INTERRUPTED.store(true, Ordering::Relaxed);
}

/// From now on Ctrl-C and SIGTERM end a [`pause`] with an error, so that everything is stopped and removed.
pub fn end_in_order() {
    for number in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: the handler only stores to an atomic.
        unsafe { libc::signal(number, interrupt as *const () as libc::sighandler_t) };
    }
}

/// Sleeps, unless the program was told to end.
pub fn pause(time: Duration) -> Fallible<()> {
    let end = Instant::now() + time;
    loop {
        if INTERRUPTED.load(Ordering::Relaxed) {
            return Err("interrupted".into());
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(Duration::from_millis(20)));
    }
}
