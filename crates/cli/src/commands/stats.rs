//! `polycache stats`.

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::human::{bar, count, counted, size};
use crate::output::{Output, Style};
use crate::text;
use crate::{open, Outcome};
use polycache::Stats;
use serde_json::json;
use std::path::Path;

pub fn run(arguments: &Arguments, output: &mut Output) -> Result<Outcome, Failure> {
    let cache = open::to_read(arguments)?;
    let stats = cache.stats()?;
    if output.json {
        // Without the counts of this process's own reads and writes.
        output.json(&json!({
            "path": cache.path().to_string_lossy(),
            "entries": stats.entries,
            "bytes": stats.bytes,
            "limit": stats.limit,
            "max_record": stats.max_record,
            "evicted_by_age": stats.evicted_by_age,
            "evicted_by_conflict": stats.evicted_by_conflict,
            "evicted_by_failed_put": stats.evicted_by_failed_put,
            "expired": stats.expired,
            "reinserted": stats.reinserted,
            "blocks_claimed": stats.blocks_claimed,
            "floor_overflows": stats.floor_overflows,
        }))?;
        return Ok(Outcome::Done);
    }
    for (name, text) in lines(cache.path(), &stats) {
        let name = output.paint(Style::Dim, &format!("{name:<10}"));
        output.line(&format!("{name}  {text}"))?;
    }
    Ok(Outcome::Done)
}

fn lines(path: &Path, stats: &Stats) -> Vec<(&'static str, String)> {
    let mut lines = vec![
        ("directory", text::path(path)),
        (
            "entries",
            format!(
                "{} (expired and cleared ones count until their place is recycled)",
                count(stats.entries)
            ),
        ),
        (
            "space",
            format!(
                "{} of {}  {}",
                size(stats.bytes),
                size(stats.limit),
                bar(stats.bytes, stats.limit)
            ),
        ),
        (
            "largest",
            format!("{} for a key and its entry", size(stats.max_record)),
        ),
        (
            "evicted",
            format!(
                "{} by age, {} by conflict, {} by a failed write",
                count(stats.evicted_by_age),
                count(stats.evicted_by_conflict),
                count(stats.evicted_by_failed_put)
            ),
        ),
        (
            "recycled",
            format!(
                "{} so far; kept {} that had been read, dropped {} that had expired",
                counted(stats.blocks_claimed, "block claimed", "blocks claimed"),
                counted(stats.reinserted, "entry", "entries"),
                counted(stats.expired, "entry", "entries"),
            ),
        ),
    ];
    if stats.floor_overflows > 0 {
        let times = counted(stats.floor_overflows, "clear", "clears");
        lines.push((
            "overflow",
            format!("{times} cleared a group of namespaces: too many were cleared"),
        ));
    }
    lines
}
