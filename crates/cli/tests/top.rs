//! `polycache top` on a terminal and in a pipe, `polycache usage`, and what `polycache stats` tells of all processes.

use polycache::Cache;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The two ends of a pseudo-terminal of 80 by 24: ours, and the command's.
fn terminal() -> (File, File) {
    let (mut ours, mut theirs) = (0, 0);
    let size = libc::winsize {
        ws_row: 24,
        ws_col: 80,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    let null = std::ptr::null_mut();
    let size = std::ptr::from_ref(&size).cast_mut();
    // SAFETY: the descriptors and the size are valid for the call; the other arguments may be null.
    let failed = unsafe { libc::openpty(&mut ours, &mut theirs, null, null.cast(), size) };
    assert_eq!(failed, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: openpty opened both descriptors, and nothing else owns them.
    unsafe { (File::from_raw_fd(ours), File::from_raw_fd(theirs)) }
}

/// The modes of a terminal.
fn modes(terminal: &File) -> [u32; 4] {
    // SAFETY: termios is plain data for which all zero bytes are valid.
    let mut modes: libc::termios = unsafe { std::mem::zeroed() };
    // SAFETY: the descriptor is open, and `modes` is valid for the call.
    let failed = unsafe { libc::tcgetattr(terminal.as_raw_fd(), &mut modes) };
    assert_eq!(failed, 0, "{}", std::io::Error::last_os_error());
    [modes.c_iflag, modes.c_oflag, modes.c_cflag, modes.c_lflag]
}

fn polycache(path: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_polycache"));
    command.arg("--path").arg(path).args(arguments);
    command.env("NO_COLOR", "1").env("TERM", "xterm");
    command
}

fn json(path: &Path, arguments: &[&str]) -> Vec<Value> {
    let output = polycache(path, arguments).arg("--json").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// A cache with 3 hits, a miss and two namespaces.
fn used(path: &Path) -> Cache {
    let cache = Cache::builder().path(path).build().unwrap();
    let shop = cache.namespace("shop").unwrap();
    shop.set("k", &"x".repeat(1000)).unwrap();
    cache.set("k", "v").unwrap();
    for key in ["k", "k", "k", "absent"] {
        cache.get::<String>(key).unwrap();
    }
    cache
}

/// Reads what is shown until it has all of these.
fn read_until(terminal: &mut File, wanted: &[&str]) -> String {
    let mut shown = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&shown).into_owned();
        if wanted.iter().all(|wanted| text.contains(wanted)) {
            return text;
        }
        let read = terminal.read(&mut buffer).expect("the command ended");
        shown.extend_from_slice(&buffer[..read]);
    }
}

/// Runs `top` on a terminal, ends it, and gives its exit code and what it had shown.
fn run_and_end(end: impl FnOnce(&mut File, &Child)) -> (Option<i32>, String) {
    let directory = tempfile::tempdir().unwrap();
    let cache = used(directory.path());
    let (mut ours, theirs) = terminal();
    let before = modes(&theirs);
    let mut child = polycache(directory.path(), &["top", "--interval", "20ms"])
        .stdin(theirs.try_clone().unwrap())
        .stdout(theirs.try_clone().unwrap())
        .spawn()
        .unwrap();
    let mut shown = read_until(&mut ours, &["in all", "processes (1)", "  shop"]);
    assert_ne!(modes(&theirs), before);
    // What is done now shows as a rate.
    cache.get::<String>("absent").unwrap();
    shown.push_str(&read_until(&mut ours, &["60.0 %"]));
    end(&mut ours, &child);
    shown.push_str(&read_until(&mut ours, &["\u{1b}[?1049l"]));
    let code = child.wait().unwrap().code();
    assert_eq!(modes(&theirs), before);
    (code, shown)
}

#[test]
fn top_fills_the_screen_until_q_is_pressed() {
    let (code, shown) = run_and_end(|terminal, _| terminal.write_all(b"q").unwrap());
    assert_eq!(code, Some(0));
    for expected in [
        // The alternate screen and the cursor: taken and given back.
        "\u{1b}[?1049h",
        "\u{1b}[?25l",
        "\u{1b}[?25h",
        // hits, of memory, misses, ratio, sets
        "in all                3       0       1  75.0 %       2",
        "of 256.0 MiB",
        "2 entries",
        &format!("{:>8} ", std::process::id()),
        "(none)",
    ] {
        assert!(shown.contains(expected), "{expected:?} in {shown}");
    }
    // No line is wider than the terminal.
    for line in shown.split("\r\n").filter(|line| !line.contains('\u{1b}')) {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn control_c_and_signals_end_top_and_restore_the_terminal() {
    let (code, _) = run_and_end(|terminal, _| terminal.write_all(b"\x03").unwrap());
    assert_eq!(code, Some(0));
    let (code, _) = run_and_end(|_, child| {
        // SAFETY: the child was not waited for, so the id is its own.
        let failed = unsafe { libc::kill(child.id() as i32, libc::SIGTERM) };
        assert_eq!(failed, 0, "{}", std::io::Error::last_os_error());
    });
    assert_eq!(code, Some(0));
}

#[test]
fn in_a_pipe_top_prints_lines_until_its_reader_has_enough() {
    let directory = tempfile::tempdir().unwrap();
    let cache = used(directory.path());
    let mut child = polycache(directory.path(), &["top", "--interval", "10ms"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let head = lines.next().unwrap().unwrap();
    assert!(
        head.contains("hits/s") && head.contains("entries"),
        "{head}"
    );
    let quiet = lines.next().unwrap().unwrap();
    assert!(
        quiet.ends_with(" 2") && !quiet.contains('\u{1b}'),
        "{quiet}"
    );
    cache.get::<String>("absent").unwrap();
    assert!(lines.by_ref().any(|line| line.unwrap().contains("0.0 %")));
    drop(lines);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn once_prints_one_screen_or_one_object() {
    let directory = tempfile::tempdir().unwrap();
    let _cache = used(directory.path());
    let once = ["top", "--once", "--interval", "10ms"];
    let output = polycache(directory.path(), &once).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("75.0 %") && text.contains("  shop\n"),
        "{text}"
    );
    assert!(!text.contains('\u{1b}'));
    let [object] = &json(directory.path(), &once)[..] else {
        panic!("one object")
    };
    assert_eq!((&object["hits"], &object["misses"]), (&3.into(), &1.into()));
    assert_eq!(object["hit_ratio"], 0.75);
    assert_eq!(object["per_second"]["hits"], 0.0);
    assert_eq!(object["namespaces"][0]["namespace"][0], "shop");
    assert_eq!(object["processes"][0]["pid"], std::process::id());
    assert!(object["interval"].as_u64().unwrap() >= 10);
    let none = json(
        directory.path(),
        &[&once[..], &["--namespaces", "0"]].concat(),
    );
    assert_eq!(none[0]["namespaces"], Value::Array(Vec::new()));
}

#[test]
fn an_interval_that_leaves_no_pause_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let _cache = used(directory.path());
    for (interval, code) in [("0s", 2), ("9ms", 2), ("10ms", 0)] {
        let arguments = ["top", "--once", "--interval", interval];
        let output = polycache(directory.path(), &arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{output:?}");
    }
}

#[test]
fn stats_and_usage_tell_of_all_processes() {
    let directory = tempfile::tempdir().unwrap();
    let cache = used(directory.path());
    let stats = &json(directory.path(), &["stats"])[0];
    assert_eq!(stats["hit_ratio"], 0.75);
    assert_eq!((&stats["writes"], &stats["loads"]), (&2.into(), &0.into()));
    drop(cache);
    let output = polycache(directory.path(), &["stats"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("3 hits, 1 miss: 75.0 % found their key"),
        "{text}"
    );
    assert!(text.contains("none has it open now"), "{text}");
    let usage = json(directory.path(), &["usage"]);
    let names: Vec<_> = usage.iter().map(|one| one["namespace"].clone()).collect();
    assert_eq!(names, [serde_json::json!(["shop"]), serde_json::json!([])]);
    assert!(usage[0]["bytes"].as_u64().unwrap() > 1000);
    assert_eq!(
        json(directory.path(), &["usage", "--most", "1"]),
        usage[..1]
    );
}

#[test]
fn usage_of_a_namespace_tells_of_it_and_of_those_nested_in_it() {
    let directory = tempfile::tempdir().unwrap();
    let cache = used(directory.path());
    let nested = cache.namespace("shop").unwrap().namespace("eu").unwrap();
    nested.set("k", "v").unwrap();
    // Its name begins as the other one's does, but it is not nested in it.
    let shops = cache.namespace("shops").unwrap();
    shops.set("k", &"x".repeat(2000)).unwrap();
    let names = |arguments: &[&str]| -> Vec<Value> {
        let usage = json(directory.path(), &[&["usage"], arguments].concat());
        usage.iter().map(|one| one["namespace"].clone()).collect()
    };
    let [shop, eu] = [&["shop"][..], &["shop", "eu"]].map(|parts| serde_json::json!(parts));
    assert_eq!(names(&["-n", "shop"]), [shop.clone(), eu.clone()]);
    // The bound counts what is shown: `shops` takes the most space, and is left out before.
    assert_eq!(names(&["-n", "shop", "--most", "1"]), [shop]);
    assert_eq!(names(&["-n", "shop:eu"]), [eu]);
    assert_eq!(names(&["-n", "absent"]), [Value::Null; 0]);
}

/// Every file below a directory, with its bytes.
fn files(path: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(path).unwrap() {
        let entry = entry.unwrap().path();
        if entry.is_dir() {
            found.append(&mut files(&entry));
        } else {
            found.insert(entry.clone(), fs::read(&entry).unwrap());
        }
    }
    found
}

#[test]
fn top_and_usage_change_no_byte_and_make_no_directory() {
    let directory = tempfile::tempdir().unwrap();
    drop(used(directory.path()));
    let before = files(directory.path());
    let once = ["top", "--once", "--interval", "10ms"];
    for arguments in [&once[..], &["usage"], &["stats"]] {
        assert!(polycache(directory.path(), arguments)
            .output()
            .unwrap()
            .status
            .success());
        assert_eq!(files(directory.path()), before);
        let missing = directory.path().join("missing");
        let output = polycache(&missing, arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        assert!(!missing.exists());
    }
}

#[test]
fn top_goes_on_with_a_directory_that_was_made_anew() {
    let directory = tempfile::tempdir().unwrap();
    drop(used(directory.path()));
    let mut child = polycache(directory.path(), &["top", "--interval", "10ms", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut lines = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    assert_eq!(lines.next().unwrap()["hits"], 3);
    let next = directory.path().join("next");
    let cache = Cache::builder().path(&next).build().unwrap();
    cache.set("k", "v").unwrap();
    // Exchanged in one step: top never finds the path empty.
    let old = directory.path().join("v2");
    let paths = [&old, &next.join("v2")]
        .map(|path| std::ffi::CString::new(path.to_str().unwrap()).unwrap());
    // SAFETY: both are texts that end with a zero.
    let failed = unsafe {
        libc::syscall(
            // musl has no function of that name before 1.2.6.
            libc::SYS_renameat2,
            libc::AT_FDCWD,
            paths[0].as_ptr(),
            libc::AT_FDCWD,
            paths[1].as_ptr(),
            libc::RENAME_EXCHANGE,
        )
    };
    assert_eq!(failed, 0, "{}", std::io::Error::last_os_error());
    assert!(lines
        .by_ref()
        .any(|object| object["hits"] == 0 && object["writes"] == 1));
    drop(lines);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
