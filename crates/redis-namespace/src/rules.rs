//! The positions of keys, patterns and channels among a command's words (`spec/commands.md`).

use std::borrow::Cow;
use std::iter::StepBy;
use std::ops::Range;

use serde_json::Value;

use crate::error::Error;
use crate::prefix::Prefix;

/// The words of a command, its name first.
pub(crate) type Words<'a> = Vec<Cow<'a, [u8]>>;

/// What is done with a word that a rule names.
pub(crate) trait Put<'w>: FnMut(&mut Cow<'w, [u8]>, Kind) -> Result<(), Error> {}

impl<'w, F: FnMut(&mut Cow<'w, [u8]>, Kind) -> Result<(), Error>> Put<'w> for F {}

/// The kind of a word, which decides how it gets its prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Key,
    Pattern,
    Channel,
    Publish,
    ChannelPattern,
    By,
    Get,
}

/// What follows an option's word.
#[derive(Debug, Clone)]
pub(crate) enum Following {
    Words(Vec<Option<Kind>>),
    /// All words that follow are keys.
    Keys,
    /// The first half of the words that follow are keys, the others are ids.
    Streams,
}

/// Every `step`-th word from `first` to `last`, which counts from the end if it is negative.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    first: usize,
    last: i64,
    step: usize,
}

impl Row {
    /// No words.
    pub(crate) const EMPTY: Self = Self {
        first: 1,
        last: 0,
        step: 1,
    };

    /// The positions among this many words.
    pub(crate) fn places(self, words: usize) -> StepBy<Range<usize>> {
        let words = words as i64;
        let last = if self.last < 0 {
            words + self.last
        } else {
            self.last
        };
        let end = (last + 1).clamp(0, words) as usize;
        (self.first..end).step_by(self.step)
    }
}

/// A rule rewrites words in place.
#[derive(Debug, Clone)]
pub(crate) enum Rule {
    Range {
        kind: Kind,
        row: Row,
    },
    /// As many keys from `first` on as the number at `at` says.
    Numkeys {
        at: usize,
        first: usize,
    },
    /// Options in any order, walked one by one; and a key at `otherwise` if none of them was followed by
    /// keys.
    Options {
        first: usize,
        words: Vec<(Vec<u8>, Following)>,
        otherwise: Option<usize>,
    },
}

impl Rule {
    /// Parses a rule of `spec/commands.json`; None if it is invalid.
    pub(crate) fn read(rule: &Value) -> Option<Self> {
        let rule = rule.as_array()?;
        // 0 is the command's name, which is never rewritten, and is not a valid step.
        let number = |at: usize| match rule.get(at)?.as_u64() {
            None | Some(0) => None,
            Some(number) => usize::try_from(number).ok(),
        };
        match rule.first()?.as_str()? {
            "numkeys" => Some(Rule::Numkeys {
                at: number(1)?,
                first: number(2)?,
            }),
            kind @ ("options" | "options-or-key") => {
                let words = rule.get(2)?.as_object()?.iter();
                let words = words
                    .map(|(word, following)| {
                        Some((
                            word.to_uppercase().into_bytes(),
                            Following::read(following)?,
                        ))
                    })
                    .collect::<Option<_>>()?;
                Some(Rule::Options {
                    first: number(1)?,
                    words,
                    otherwise: match kind {
                        "options" => None,
                        _ => Some(number(3)?),
                    },
                })
            }
            kind => Some(Rule::Range {
                kind: Kind::read(kind)?,
                row: Row {
                    first: number(1)?,
                    last: rule.get(2)?.as_i64()?,
                    step: number(3)?,
                },
            }),
        }
    }

    /// The range of keys that the rule names, if it names one.
    pub(crate) fn keys(&self) -> Option<Row> {
        match self {
            Rule::Range {
                kind: Kind::Key,
                row,
            } => Some(*row),
            _ => None,
        }
    }

    /// Gives `put` the words that are named, one by one.
    pub(crate) fn apply<'w>(
        &self,
        words: &mut Words<'w>,
        put: &mut impl Put<'w>,
    ) -> Result<(), Error> {
        match self {
            Rule::Range { kind, row } => row
                .places(words.len())
                .try_for_each(|at| put(&mut words[at], *kind)),
            Rule::Numkeys { at, first } => {
                let Some(number) = words.get(*at) else {
                    return Ok(());
                };
                let end = first.saturating_add(count(number)?).min(words.len());
                keys(words, *first, end, put)
            }
            Rule::Options {
                first,
                words: options,
                otherwise,
            } => {
                if walk(options, *first, words, put)? {
                    return Ok(());
                }
                match otherwise.and_then(|at| words.get_mut(at)) {
                    Some(word) => put(word, Kind::Key),
                    None => Ok(()),
                }
            }
        }
    }
}

impl Kind {
    fn read(name: &str) -> Option<Self> {
        Some(match name {
            "key" | "prefix" => Kind::Key,
            "pattern" => Kind::Pattern,
            "channel" => Kind::Channel,
            "publish" => Kind::Publish,
            "channel-pattern" => Kind::ChannelPattern,
            "by" => Kind::By,
            "get" => Kind::Get,
            _ => return None,
        })
    }
}

impl Following {
    fn read(following: &Value) -> Option<Self> {
        match following {
            Value::String(what) if what == "keys" => Some(Following::Keys),
            Value::String(what) if what == "streams" => Some(Following::Streams),
            Value::Array(kinds) => {
                let kinds = kinds.iter().map(|kind| match kind {
                    Value::String(name) => Kind::read(name).map(Some),
                    Value::Number(number) if number.as_u64() == Some(0) => Some(None),
                    _ => None,
                });
                kinds.collect::<Option<_>>().map(Following::Words)
            }
            _ => None,
        }
    }
}

/// Puts a prefix on a word.
pub(crate) fn put_prefix(
    word: &mut Cow<'_, [u8]>,
    kind: Kind,
    prefix: &Prefix,
) -> Result<(), Error> {
    *word = Cow::Owned(match kind {
        Kind::Key => prefix.key(word),
        Kind::Pattern => prefix.glob(word),
        Kind::Channel => prefix.channel(word)?,
        Kind::Publish => prefix.publish(word)?,
        Kind::ChannelPattern => prefix.channel_pattern(word)?,
        Kind::By => prefix.by(word)?,
        Kind::Get => prefix.get(word)?,
    });
    Ok(())
}

fn keys<'w>(
    words: &mut Words<'w>,
    first: usize,
    end: usize,
    put: &mut impl Put<'w>,
) -> Result<(), Error> {
    words[first.min(end)..end]
        .iter_mut()
        .try_for_each(|word| put(word, Kind::Key))
}

fn count(number: &[u8]) -> Result<usize, Error> {
    let text = std::str::from_utf8(number).ok();
    // `parse` accepts a sign, which no server does.
    let digits = text.filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    digits
        .and_then(|digits| digits.parse().ok())
        .ok_or_else(|| {
            let number = String::from_utf8_lossy(number);
            Error::InvalidArgument(format!(
                "the number of keys is not a number from 0 on: {number}"
            ))
        })
}

/// Whether an option was followed by keys.
fn walk<'w>(
    options: &[(Vec<u8>, Following)],
    first: usize,
    words: &mut Words<'w>,
    put: &mut impl Put<'w>,
) -> Result<bool, Error> {
    let mut at = first;
    while at < words.len() {
        let found = options
            .iter()
            .find(|(word, _)| words[at].eq_ignore_ascii_case(word));
        at += 1;
        match found.map(|(_, following)| following) {
            None => {}
            Some(Following::Words(kinds)) => {
                for kind in kinds {
                    if let (Some(kind), Some(word)) = (kind, words.get_mut(at)) {
                        put(word, *kind)?;
                    }
                    at += 1;
                }
            }
            Some(Following::Keys) => {
                let end = words.len();
                keys(words, at, end, put)?;
                return Ok(true);
            }
            Some(Following::Streams) => {
                let end = at + (words.len() - at) / 2;
                keys(words, at, end, put)?;
                return Ok(true);
            }
        }
    }
    Ok(false)
}
