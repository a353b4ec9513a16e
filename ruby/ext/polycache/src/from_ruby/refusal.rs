//! What is refused, and what the error says of it.

use super::{Parent, Stop, Walk};
use crate::path::Path;
use magnus::prelude::*;
use polycache::Value;
use std::borrow::Cow;
use std::collections::HashSet;

pub(super) const BY_IDENTITY: &str =
    "it compares by identity and would come back as one that does not: store a copy that does not";
pub(super) const NO_UTF8: &str =
    "the text has no UTF-8 form: give bytes the encoding BINARY (String#b), or \
                       text its own encoding (force_encoding)";

impl Walk<'_> {
    #[cold]
    pub(super) fn refuse<'v>(
        &self,
        object: magnus::Value,
        path: &Path<'_>,
    ) -> Result<Value<'v>, Stop> {
        let class = class_name(object);
        let reason = match class.as_str() {
            "Symbol" => "a Symbol would come back as a String: store symbol.to_s".to_owned(),
            _ => format!(
                "the class {class} is not in the type map: store a Hash, Array, String, number, Time, Set, \
                 BigDecimal or Polycache::UUID made of it"
            ),
        };
        Err(Stop::refused(path, reason))
    }

    /// Refuses what extends a class of the type map, if it is not registered.
    #[cold]
    #[inline(never)]
    pub(super) fn refuse_heir<'v>(
        &self,
        object: magnus::Value,
        path: &Path<'_>,
        parent: Option<&Parent<'_>>,
        of: &str,
    ) -> Result<Value<'v>, Stop> {
        if !self.own {
            return Err(Stop::NeedsRuby);
        }
        if let Some(value) = self.registered(object, path, parent)? {
            return Ok(value);
        }
        let class = class_name(object);
        Err(Stop::refused(
            path,
            format!("the class {class} would come back as {of}, which it extends: store a {of} made of it"),
        ))
    }
}

/// Refuses a symbol and a string that become the same key: one of them would be lost.
pub(super) fn refuse_twins(
    pairs: &[(Cow<'_, str>, Value<'_>)],
    path: &Path<'_>,
) -> Result<(), Stop> {
    let mut seen = HashSet::with_capacity(pairs.len());
    for (key, _) in pairs {
        if !seen.insert(key.as_ref()) {
            return Err(Stop::refused(
                &Path::Key(path, key),
                "a symbol and a string become the same key: use one of them",
            ));
        }
    }
    Ok(())
}

pub(super) fn class_name(object: magnus::Value) -> String {
    // SAFETY: the name is copied at once.
    unsafe { object.classname() }.into_owned()
}
