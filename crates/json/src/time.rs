//! Moments as text.

/// A moment as RFC 3339 in UTC, with as many digits after the second as it needs.
#[must_use]
pub fn rfc3339(seconds: i64, nanos: u32) -> String {
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let fraction = format!(".{nanos:09}");
    let fraction = fraction.trim_end_matches('0').trim_end_matches('.');
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z")
}

/// Year, month and day of the day that is `days` after 1970-01-01, in the Gregorian calendar. Years here
/// begin in March, so that a leap day is a year's last, and are grouped in eras of 400 years, all of
/// 146,097 days.
fn date(days: i64) -> (i64, i64, i64) {
    let since_march_0000 = days + 719_468;
    let era = since_march_0000.div_euclid(146_097);
    let day = since_march_0000.rem_euclid(146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let january = i64::from(month >= 10);
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + january, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_every_kind_of_year() {
        // From `date -u -d @N`.
        let moments = [
            (0, 0, "1970-01-01T00:00:00Z"),
            (1_700_000_000, 123_000_000, "2023-11-14T22:13:20.123Z"),
            (951_782_400, 1, "2000-02-29T00:00:00.000000001Z"),
            (-1, 500_000_000, "1969-12-31T23:59:59.5Z"),
            (4_107_542_399, 0, "2100-02-28T23:59:59Z"),
            (4_107_542_400, 0, "2100-03-01T00:00:00Z"),
            (253_402_300_799, 0, "9999-12-31T23:59:59Z"),
            (-62_135_596_800, 0, "0001-01-01T00:00:00Z"),
        ];
        for (seconds, nanos, text) in moments {
            assert_eq!(rfc3339(seconds, nanos), text);
        }
    }

    #[test]
    fn days_follow_each_other() {
        let mut before = date(-800_000);
        for days in -799_999..3_000_000 {
            let (year, month, day) = date(days);
            let next_day = (year, month, day) == (before.0, before.1, before.2 + 1);
            let next_month = (year, month, day) == (before.0, before.1 + 1, 1);
            let next_year = (year, month, day) == (before.0 + 1, 1, 1) && before.1 == 12;
            assert!(next_day || (next_month && before.2 >= 28) || (next_year && before.2 == 31));
            before = (year, month, day);
        }
    }
}
