//! What the command does on a terminal.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::FromRawFd;
use std::process::{Child, Command, Stdio};

/// The two ends of a pseudo-terminal: ours, and the command's.
fn terminal() -> (File, File) {
    let (mut ours, mut theirs) = (0, 0);
    let null = std::ptr::null_mut();
    // SAFETY: both descriptors are valid for writing; the other arguments may be null.
    let failed = unsafe { libc::openpty(&mut ours, &mut theirs, null, null.cast(), null.cast()) };
    assert_eq!(failed, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: openpty opened both descriptors, and nothing else owns them.
    unsafe { (File::from_raw_fd(ours), File::from_raw_fd(theirs)) }
}

fn polycache(path: &std::path::Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_polycache"));
    command.arg("--path").arg(path).args(arguments);
    command.env_remove("NO_COLOR").env("TERM", "xterm");
    command
}

fn output(child: Child) -> (Option<i32>, String, String) {
    let output = child.wait_with_output().unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

#[test]
fn a_clear_asks_and_takes_no_for_an_answer() {
    let directory = tempfile::tempdir().unwrap();
    let cache = polycache::Cache::builder()
        .path(directory.path())
        .build()
        .unwrap();
    cache.set("k", "v").unwrap();
    let answer = |answer: &str| {
        let (mut ours, theirs) = terminal();
        ours.write_all(answer.as_bytes()).unwrap();
        let child = polycache(directory.path(), &["clear"])
            .stdin(theirs)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (code, out, error) = output(child);
        assert!(
            error.starts_with("Clear the whole cache in ") && error.ends_with("? [y/N] "),
            "{error}"
        );
        (code, out.split(" the ").next().unwrap().to_owned())
    };
    for no in ["n\n", "\n", "no\n", "\x04"] {
        assert_eq!(answer(no), (Some(1), "did not clear".into()), "{no:?}");
        assert!(cache.has("k").unwrap());
    }
    assert_eq!(answer("y\n"), (Some(0), "cleared".into()));
    assert!(!cache.has("k").unwrap());
}

#[test]
fn colours_are_for_terminals() {
    let directory = tempfile::tempdir().unwrap();
    let cache = polycache::Cache::builder()
        .path(directory.path())
        .build()
        .unwrap();
    cache.set("k", &["text"]).unwrap();
    let on_terminal = |no_color: Option<&str>| {
        let (mut ours, theirs) = terminal();
        let mut command = polycache(directory.path(), &["get", "k"]);
        no_color.map(|value| command.env("NO_COLOR", value));
        let status = command.stdout(theirs).status().unwrap();
        // `command` holds the other end too; reading ends only once it is dropped.
        drop(command);
        assert!(status.success());
        let mut shown = vec![0; 4096];
        let len = ours.read(&mut shown).unwrap();
        String::from_utf8_lossy(&shown[..len]).into_owned()
    };
    assert!(on_terminal(None).contains("[\u{1b}[32m\"text\"\u{1b}[0m]"));
    assert!(on_terminal(Some("")).contains('\u{1b}'));
    assert!(!on_terminal(Some("1")).contains('\u{1b}'));
    let piped = polycache(directory.path(), &["get", "k"]).output().unwrap();
    assert!(!String::from_utf8(piped.stdout).unwrap().contains('\u{1b}'));
}

#[test]
fn a_raw_value_is_escaped_on_a_terminal_only() {
    let directory = tempfile::tempdir().unwrap();
    let cache = polycache::Cache::builder()
        .path(directory.path())
        .build()
        .unwrap();
    cache.set("k", "a\u{1b}]0;title\u{7}\u{202e}b").unwrap();
    let (mut ours, theirs) = terminal();
    let mut command = polycache(directory.path(), &["get", "--raw", "k"]);
    assert!(command.stdout(theirs).status().unwrap().success());
    drop(command);
    let mut shown = vec![0; 4096];
    let len = ours.read(&mut shown).unwrap();
    assert_eq!(
        String::from_utf8_lossy(&shown[..len]),
        "a\\u{1b}]0;title\\u{7}\\u{202e}b\r\n"
    );
}
