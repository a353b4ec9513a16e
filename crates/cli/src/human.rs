//! Sizes, counts and durations for people.

use std::time::Duration;

/// `1.5 KiB`; at least three digits, to tell sizes apart.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut size = bytes as f64 / 1024.0;
    let mut unit = 0;
    // A number that would be rounded to 1024 is 1 of the next unit.
    while size >= 1023.95 && unit < UNITS.len() - 1 {
        size /= 1024.0;
        unit += 1;
    }
    if size < 10.0 {
        format!("{size:.2} {}", UNITS[unit])
    } else {
        format!("{size:.1} {}", UNITS[unit])
    }
}

/// `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<_> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(String::from_utf8_lossy)
        .collect();
    groups.join(",")
}

/// `1 entry`, `2 entries`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// The two largest units of a duration: `250ms`, `12s`, `5m 3s`, `2h 5m`, `3d 4h`, `2y 17d`.
pub fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (large, small) = match seconds {
        0 => return format!("{}ms", duration.as_millis()),
        1..60 => return format!("{seconds}s"),
        60..3600 => ((seconds / 60, "m"), (seconds % 60, "s")),
        3600..86_400 => ((seconds / 3600, "h"), (seconds % 3600 / 60, "m")),
        86_400..31_536_000 => ((seconds / 86_400, "d"), (seconds % 86_400 / 3600, "h")),
        _ => {
            let days = seconds / 86_400;
            ((days / 365, "y"), (days % 365, "d"))
        }
    };
    match small {
        (0, _) => format!("{}{}", large.0, large.1),
        (rest, unit) => format!("{}{} {rest}{unit}", large.0, large.1),
    }
}

/// A short time with its fraction: `0.25 ms`, `1.2 s`.
pub fn delay(time: Duration) -> String {
    let milliseconds = time.as_secs_f64() * 1e3;
    match milliseconds {
        ..10.0 => format!("{milliseconds:.2} ms"),
        10.0..1000.0 => format!("{milliseconds:.0} ms"),
        _ => format!("{:.1} s", milliseconds / 1e3),
    }
}

/// The share of hits in reads: `95.7 %`; a dash without any.
pub fn ratio(hits: u64, misses: u64) -> String {
    match hits.saturating_add(misses) {
        0 => "-".into(),
        reads => format!("{:.1} %", hits as f64 * 100.0 / reads as f64),
    }
}

/// A bar of ten cells that is filled up to `part` of `whole`, with the percentage.
pub fn bar(part: u64, whole: u64) -> String {
    let share = part as f64 / whole.max(1) as f64;
    let filled = ((share * 10.0).round() as usize).min(10);
    format!(
        "{}{} {:.0} %",
        "█".repeat(filled),
        "░".repeat(10 - filled),
        share * 100.0
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_keep_the_digits_that_matter() {
        let delays = [250, 9_990, 12_400, 999_000, 1_200_000];
        let shown = delays.map(|micros| delay(Duration::from_micros(micros)));
        assert_eq!(shown, ["0.25 ms", "9.99 ms", "12 ms", "999 ms", "1.2 s"]);
    }

    #[test]
    fn sizes_have_a_unit_that_keeps_them_short() {
        let sizes = [
            0,
            1023,
            1024,
            1536,
            10 << 20,
            (1 << 20) - 1,
            256 << 20,
            5 << 40,
            u64::MAX,
        ];
        let shown = sizes.map(size);
        assert_eq!(
            shown,
            [
                "0 B",
                "1023 B",
                "1.00 KiB",
                "1.50 KiB",
                "10.0 MiB",
                "1.00 MiB",
                "256.0 MiB",
                "5.00 TiB",
                "16777216.0 TiB"
            ]
        );
    }

    #[test]
    fn counts_are_grouped() {
        let counts = [0, 999, 1000, 1_234_567].map(count);
        assert_eq!(counts, ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(counted(1, "entry", "entries"), "1 entry");
        assert_eq!(counted(0, "entry", "entries"), "0 entries");
    }

    #[test]
    fn durations_show_their_two_largest_units() {
        let shown = [
            0,
            999,
            1000,
            59_999,
            60_000,
            303_000,
            7_500_000,
            90_000_000,
            86_400_000,
            63_244_800_000,
        ]
        .map(|ms| duration(Duration::from_millis(ms)));
        assert_eq!(
            shown,
            ["0ms", "999ms", "1s", "59s", "1m", "5m 3s", "2h 5m", "1d 1h", "1d", "2y 2d"]
        );
    }

    #[test]
    fn a_ratio_needs_a_read() {
        assert_eq!(ratio(0, 0), "-");
        assert_eq!(
            [ratio(0, 3), ratio(2, 1), ratio(u64::MAX, 1)],
            ["0.0 %", "66.7 %", "100.0 %"]
        );
    }

    #[test]
    fn a_bar_is_never_longer_than_its_whole() {
        assert_eq!(bar(0, 10), "░░░░░░░░░░ 0 %");
        assert_eq!(bar(5, 10), "█████░░░░░ 50 %");
        assert_eq!(bar(11, 10), "██████████ 110 %");
        assert_eq!(bar(0, 0), "░░░░░░░░░░ 0 %");
    }
}
