//! The field Cache-Control (RFC 9111 5.2, RFC 5861, RFC 8246).

use crate::InvalidArgument;
use std::time::Duration;

/// Who may store an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// Everyone.
    Public,
    /// The user's own browser only.
    Private,
}

/// Directives of a response. Times are told in whole seconds, so they are rounded down. What is not set is not said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CacheControl {
    /// Who may store it. Default: not said.
    pub visibility: Option<Visibility>,
    /// How long it is fresh. Default: not said, so that caches guess; say `no_cache` if they must not.
    pub max_age: Option<Duration>,
    /// How long it is fresh in caches that many users share. Default: as `max_age`.
    pub shared_max_age: Option<Duration>,
    /// How long after that it may be served while a newer one is fetched (RFC 5861 3). Default: not at all.
    pub stale_while_revalidate: Option<Duration>,
    /// How long after that it may be served where no newer one can be had (RFC 5861 4). Default: not at all.
    pub stale_if_error: Option<Duration>,
    /// It may be stored, and each use of it asks first whether it is current. Default: false.
    pub no_cache: bool,
    /// Nobody stores it. Default: false.
    pub no_store: bool,
    /// It is never served stale. Default: false.
    pub must_revalidate: bool,
    /// It never changes while it is fresh (RFC 8246). Default: false.
    pub immutable: bool,
}

impl CacheControl {
    /// The text of the field.
    ///
    /// # Errors
    /// Without a directive, and for `no_store` with others: what nobody stores has no age.
    pub fn text(&self) -> Result<String, InvalidArgument> {
        let flag = |on: bool, name: &str| on.then(|| name.to_owned());
        let seconds = |name: &str, time: Option<Duration>| {
            time.map(|time| format!("{name}={}", time.as_secs()))
        };
        let visibility = self.visibility.map(|who| match who {
            Visibility::Public => "public".to_owned(),
            Visibility::Private => "private".to_owned(),
        });
        let directives: Vec<String> = [
            visibility,
            flag(self.no_cache, "no-cache"),
            flag(self.no_store, "no-store"),
            flag(self.must_revalidate, "must-revalidate"),
            flag(self.immutable, "immutable"),
            seconds("max-age", self.max_age),
            seconds("s-maxage", self.shared_max_age),
            seconds("stale-while-revalidate", self.stale_while_revalidate),
            seconds("stale-if-error", self.stale_if_error),
        ]
        .into_iter()
        .flatten()
        .collect();
        if directives.is_empty() {
            return Err(InvalidArgument("Cache-Control has no directive".into()));
        }
        if self.no_store && directives.len() > 1 {
            let why = "no_store stands alone: what nobody stores has no age";
            return Err(InvalidArgument(why.into()));
        }
        Ok(directives.join(", "))
    }
}
