//! Every language reads what every language wrote: values, types and times to live, over one server; and of two
//! callers in two languages one loads.

use crate::languages::Language;
use crate::outcome::{Fallible, Outcome};
use crate::process::{end_with_us, pause};
use crate::worker::now;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

/// When both callers of a load begin, from now.
const SOON: Duration = Duration::from_millis(20);

/// For entries that live a second.
const LATER: Duration = Duration::from_millis(1200);

/// A cell a pair of languages: one that writes and one that reads, on two hosts.
pub fn run(
    outcome: &mut Outcome,
    languages: &[Language],
    remote: &str,
    folder: &Path,
) -> Fallible<()> {
    let start = |host: &str| -> Fallible<Vec<Speaker>> {
        let each = languages.iter().map(|language| {
            let directory = folder.join(format!("{host}-{}", language.name()));
            Speaker::start(*language, remote, &directory)
        });
        each.collect()
    };
    let mut writers = start("writes")?;
    let mut readers = start("reads")?;
    for writer in &mut writers {
        let said = writer.ask("write")?;
        if said != "ok" {
            return Err(format!("{} could not write: {said}", writer.language.name()).into());
        }
    }
    let mut wrong = Vec::new();
    for reader in &mut readers {
        for writer in &mut writers {
            let name = writer.language.name();
            let read = reader.ask(&format!("read {name}"))?;
            let loaded = load(reader, writer)?;
            for said in [read, loaded].iter().filter(|said| *said != "ok") {
                wrong.push(format!("{} of {name}: {said}", reader.language.name()));
            }
        }
    }
    pause(LATER)?;
    for reader in &mut readers {
        for writer in &writers {
            let name = writer.language.name();
            let said = reader.ask(&format!("gone {name}"))?;
            if said != "ok" {
                wrong.push(format!("{} of {name}: {said}", reader.language.name()));
            }
        }
    }
    let all = languages.len() * languages.len();
    let seen = match wrong.is_empty() {
        true => format!("{all}/{all}"),
        false => wrong.join("\n        "),
    };
    outcome.test(
        "matrix: values, types, times to live, one load",
        wrong.is_empty(),
        &seen,
    );
    Ok(())
}

/// Both load a key at once: one runs its loader, and both have its value.
fn load(one: &mut Speaker, other: &mut Speaker) -> Fallible<String> {
    let at = now() + SOON.as_nanos() as u64;
    let key = format!("loaded-{}-{}", one.language.name(), other.language.name());
    let line = format!("load {key} {at}");
    one.tell(&line)?;
    other.tell(&line)?;
    let said = [one.hear()?, other.hear()?];
    let mut words = said.iter().map(|said| said.split_once(' '));
    let (Some(Some(first)), Some(Some(second))) = (words.next(), words.next()) else {
        return Ok(format!("a load said {said:?}"));
    };
    let ran = [first.0, second.0];
    let once = ran.iter().filter(|word| **word == "loaded").count() == 1;
    Ok(match once && first.1 == second.1 {
        true => "ok".into(),
        false => format!("two callers of one load: {said:?}"),
    })
}

/// A process that does what a line says, and answers by a line.
struct Speaker {
    language: Language,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Speaker {
    fn start(language: Language, remote: &str, directory: &Path) -> Fallible<Speaker> {
        let mut command = language.matrix()?;
        command
            .arg(directory)
            .arg(remote)
            .arg(language.name())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        end_with_us(&mut command);
        let mut child = command.spawn()?;
        let input = child.stdin.take().ok_or("a pipe")?;
        let output = child.stdout.take().ok_or("a pipe")?;
        Ok(Speaker {
            language,
            child,
            input,
            output: BufReader::new(output),
        })
    }

    fn ask(&mut self, line: &str) -> Fallible<String> {
        self.tell(line)?;
        self.hear()
    }

    fn tell(&mut self, line: &str) -> Fallible<()> {
        Ok(writeln!(self.input, "{line}")?)
    }

    fn hear(&mut self) -> Fallible<String> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            return Err(format!("{} ended without an answer", self.language.name()).into());
        }
        Ok(line.trim_end().to_owned())
    }
}

impl Drop for Speaker {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
