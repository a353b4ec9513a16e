//! The screen of a terminal while `top` fills it. Whatever ends `top`, the terminal is as it was: q, Ctrl-C, an error, a
//! panic, or one of the signals that ask a program to end.

use crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use crossterm::{cursor, execute, queue, style, terminal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::{flag, SigId};
use std::io::{self, Stdout, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A signal is noticed after so long at the latest, in a terminal that restarts what it interrupts.
const NOTICE: Duration = Duration::from_millis(200);

/// How waiting ended.
pub enum Wait {
    /// The time is over.
    Over,
    /// The terminal has another size, or the user wants to see it drawn again.
    Resized,
    /// The user, or a signal, wants it to end.
    Ended,
}

/// The whole screen of a terminal.
pub struct Screen {
    out: Stdout,
    signals: Vec<SigId>,
    ended: Arc<AtomicBool>,
}

impl Screen {
    pub fn open() -> io::Result<Screen> {
        let ended = Arc::new(AtomicBool::new(false));
        let mut screen = Screen {
            out: io::stdout(),
            signals: Vec::new(),
            ended: ended.clone(),
        };
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            screen.signals.push(flag::register(signal, ended.clone())?);
        }
        terminal::enable_raw_mode()?;
        execute!(
            screen.out,
            terminal::EnterAlternateScreen,
            terminal::DisableLineWrap,
            cursor::Hide
        )?;
        Ok(screen)
    }

    /// Draws lines, as many as the height of the screen.
    pub fn show(&mut self, lines: impl FnOnce(usize) -> Vec<String>) -> io::Result<()> {
        let (_, height) = terminal::size()?;
        queue!(self.out, cursor::MoveTo(0, 0))?;
        for (place, line) in lines(height.into()).iter().enumerate() {
            if place > 0 {
                queue!(self.out, style::Print("\r\n"))?;
            }
            let rest = terminal::Clear(terminal::ClearType::UntilNewLine);
            queue!(self.out, style::Print(line), rest)?;
        }
        queue!(
            self.out,
            terminal::Clear(terminal::ClearType::FromCursorDown)
        )?;
        self.out.flush()
    }

    /// Waits until a time, unless the user or a signal does something before.
    pub fn wait(&mut self, until: Instant) -> io::Result<Wait> {
        loop {
            if self.ended.load(Ordering::SeqCst) {
                return Ok(Wait::Ended);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Wait::Over);
            }
            if !event::poll(left.min(NOTICE))? {
                continue;
            }
            match event::read()? {
                Event::Resize(..) => return Ok(Wait::Resized),
                Event::Key(key) if key.kind == KeyEventKind::Press => {
                    let control = key.modifiers.contains(KeyModifiers::CONTROL);
                    match key.code {
                        KeyCode::Char('q' | 'Q') | KeyCode::Esc => return Ok(Wait::Ended),
                        KeyCode::Char('c' | 'd') if control => return Ok(Wait::Ended),
                        KeyCode::Char('l') if control => return Ok(Wait::Resized),
                        KeyCode::Char(' ') => return Ok(Wait::Over),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // Nothing more can be done if the terminal is gone.
        let _ = execute!(
            self.out,
            cursor::Show,
            terminal::EnableLineWrap,
            terminal::LeaveAlternateScreen
        );
        let _ = terminal::disable_raw_mode();
        for signal in &self.signals {
            signal_hook::low_level::unregister(*signal);
        }
    }
}
