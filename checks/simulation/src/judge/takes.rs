//! A value is taken once.
//!
//! That it is not read after it was taken is the register's to say: to that a take is a delete.

use super::View;
use crate::history::{Serial, Written};
use crate::Violation;
use std::collections::BTreeMap;

pub fn judge(view: View<'_>, key: usize, found: &mut Vec<Violation>) {
    let mut first: BTreeMap<Serial, u64> = BTreeMap::new();
    for write in &view.history.writes {
        let Written::Take(of, Some(serial)) = write.what else {
            continue;
        };
        if of != key {
            continue;
        }
        if let Some(before) = first.insert(serial, write.start) {
            found.push(Violation {
                rule: "takes",
                what: format!("key {key}: v{serial} was taken twice"),
                key: Some(key),
                lines: (before.min(write.start), write.end),
            });
        }
    }
}
