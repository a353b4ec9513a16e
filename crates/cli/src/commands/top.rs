//! `polycache top`: what all processes do with a directory, again and again.

mod sample;
mod screen;
mod terminal;

use crate::arguments::{Arguments, Top};
use crate::commands::usage;
use crate::failure::Failure;
use crate::output::{Output, Style};
use crate::{open, Outcome};
use polycache::{Cache, Usage};
use sample::{Change, Sample};
use serde_json::json;
use std::io::IsTerminal;
use std::time::{Duration, Instant};
use terminal::{Screen, Wait};

/// Looking for the space of namespaces takes at most this share of the time.
const SHARE_OF_USAGE: u32 = 20;

pub fn run(arguments: &Arguments, top: &Top, output: &mut Output) -> Result<Outcome, Failure> {
    open::needs_directory(arguments, "top")?;
    let mut source = Source::new(arguments, top.namespaces)?;
    let first = source.sample()?;
    if output.terminal && !output.json && !top.once && std::io::stdin().is_terminal() {
        return on_screen(&mut source, first, top.interval, output);
    }
    let mut last = first;
    let mut printed = 0;
    loop {
        std::thread::sleep(top.interval);
        let change = Change::between(&last, source.sample()?);
        if output.json {
            output.json(&to_json(&source, &change))?;
        } else if top.once {
            for line in screen::lines(source.cache.path(), &change, &source.usage, usize::MAX) {
                output.line(&line)?;
            }
        } else {
            if printed % screen::LINES_BELOW_A_HEAD == 0 {
                output.line(&output.paint(Style::Dim, screen::HEAD))?;
            }
            output.line(&screen::line(&change))?;
        }
        output.flush()?;
        printed += 1;
        if top.once {
            return Ok(Outcome::Done);
        }
        last = change.now;
    }
}

/// Fills the screen until the user ends it. The terminal is as it was when this returns, and when it panics.
fn on_screen(
    source: &mut Source<'_>,
    first: Sample,
    interval: Duration,
    output: &Output,
) -> Result<Outcome, Failure> {
    let mut screen = Screen::open()?;
    let mut last = first;
    let mut change = Change::between(&last, last.clone());
    let mut next = Instant::now() + interval;
    loop {
        let head = |text: &str| output.paint(Style::Dim, text);
        let shown =
            |height| screen::painted(source.cache.path(), &change, &source.usage, height, head);
        screen.show(shown)?;
        match screen.wait(next)? {
            Wait::Ended => return Ok(Outcome::Done),
            Wait::Resized => {}
            Wait::Over => {
                change = Change::between(&last, source.sample()?);
                last = change.now.clone();
                next = Instant::now() + interval;
            }
        }
    }
}

fn to_json(source: &Source<'_>, change: &Change) -> serde_json::Value {
    let now = &change.now;
    let mut object = polycache_json::statistics(source.cache.path(), &now.machine, &now.stats);
    if let Some(object) = object.as_object_mut() {
        let namespaces: Vec<_> = source.usage.iter().map(usage::json).collect();
        let interval = u64::try_from(change.time.as_millis()).unwrap_or(u64::MAX);
        object.insert("interval".into(), json!(interval));
        object.insert("per_second".into(), change.per_second());
        object.insert("namespaces".into(), json!(namespaces));
    }
    object
}

/// The cache, opened for reading, and what was seen of it.
struct Source<'a> {
    arguments: &'a Arguments,
    cache: Cache,
    most: usize,
    usage: Vec<Usage>,
    /// When the space of namespaces is looked for again.
    usage_due: Instant,
}

impl<'a> Source<'a> {
    fn new(arguments: &'a Arguments, most: usize) -> Result<Source<'a>, Failure> {
        Ok(Source {
            arguments,
            cache: open::to_read(arguments)?,
            most,
            usage: Vec::new(),
            usage_due: Instant::now(),
        })
    }

    /// Looks once more. A directory that was made anew is opened again.
    fn sample(&mut self) -> Result<Sample, Failure> {
        let sample = Sample::of(&self.cache).or_else(|_| {
            self.cache = open::to_read(self.arguments)?;
            self.usage_due = Instant::now();
            Sample::of(&self.cache)
        })?;
        let began = Instant::now();
        if self.most > 0 && began >= self.usage_due {
            // Where it fails, the directory was made anew a moment ago: the next look opens it again.
            if let Ok(usage) = self.cache.usage(self.most) {
                self.usage = usage.unwrap_or_default();
                self.usage_due = began + began.elapsed() * SHARE_OF_USAGE;
            }
        }
        Ok(sample)
    }
}
