//! What each key had, and when.

/// A state of a key: an entry's text, or none.
#[derive(Clone, Debug)]
struct State {
    text: Option<String>,
    /// The earliest moment at which it may have been the key's, and the last.
    from: usize,
    until: usize,
}

/// One key's states.
#[derive(Clone, Debug)]
pub struct History(Vec<State>);

impl History {
    /// A key that had one of these at the beginning.
    pub fn of(texts: impl IntoIterator<Item = Option<String>>) -> History {
        let state = |text| State {
            text,
            from: 0,
            until: 0,
        };
        let mut states: Vec<_> = texts.into_iter().map(state).collect();
        if let Some(last) = states.last_mut() {
            last.until = usize::MAX;
        }
        History(states)
    }

    /// The key had something else after an operation that took from one moment to another.
    pub fn changed(&mut self, text: Option<&str>, from: usize, until: usize) {
        if let Some(last) = self.0.last_mut() {
            last.until = until;
        }
        self.0.push(State {
            text: text.map(str::to_owned),
            from,
            until: usize::MAX,
        });
    }

    /// What it had at some moment of these.
    pub fn between(&self, from: usize, until: usize) -> impl Iterator<Item = &Option<String>> {
        let within = move |state: &&State| state.from <= until && state.until >= from;
        self.0.iter().filter(within).map(|state| &state.text)
    }

    /// True when an operation that could change it went on in this time.
    pub fn changes_between(&self, from: usize, until: usize) -> bool {
        let changes = self.0.iter().skip(1);
        changes
            .zip(&self.0)
            .any(|(then, before)| then.from <= until && before.until >= from)
    }
}
