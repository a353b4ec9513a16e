//! Standard output: buffered, and coloured on a terminal.

use crate::text::SafeJson;
use serde::Serialize;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};

/// Standard output.
pub struct Output {
    out: BufWriter<Stdout>,
    colour: bool,
    /// True on a terminal.
    pub terminal: bool,
    /// True when JSON is asked for.
    pub json: bool,
}

/// The meaning of a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Secondary information.
    Dim,
    /// The name of something.
    Name,
    /// An error.
    Bad,
    /// A text within a value.
    Text,
    /// Any other value.
    Other,
}

impl Output {
    pub fn new(json: bool) -> Output {
        let terminal = io::stdout().is_terminal();
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
        Output {
            out: BufWriter::new(io::stdout()),
            colour: terminal && !plain,
            terminal,
            json,
        }
    }

    /// `text`, coloured if colours are wanted.
    pub fn paint(&self, style: Style, text: &str) -> String {
        let code = match style {
            Style::Dim => "2",
            Style::Name => "1",
            Style::Bad => "31",
            Style::Text => "32",
            Style::Other => "36",
        };
        if self.colour {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    /// One line.
    pub fn line(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{text}")
    }

    /// One line of JSON.
    pub fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        value.serialize(&mut serde_json::Serializer::with_formatter(
            &mut self.out,
            SafeJson,
        ))?;
        self.out.write_all(b"\n")
    }

    /// Bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)
    }

    /// Flushes the output, for a program that waits for it, and so that errors are noticed.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
