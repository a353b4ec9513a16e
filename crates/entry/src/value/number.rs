//! The numbers and moments of the type map. Each check says what is wrong.

/// Digits of a big integer, and bytes of a decimal, that every language converts by default:
/// Python stops there (`sys.int_info.default_max_str_digits`) because the conversion takes
/// quadratic time.
pub const MAX_DIGITS: usize = 4300;
/// 0001-01-01T00:00:00Z, the earliest moment that Python has.
pub const MIN_TIMESTAMP_SECONDS: i64 = -62_135_596_800;
/// 9999-12-31T23:59:59Z, the last second that Python has.
pub const MAX_TIMESTAMP_SECONDS: i64 = 253_402_300_799;

const MIN_INT: i128 = i64::MIN as i128;
const MAX_INT: i128 = u64::MAX as i128;

type Check = Result<(), &'static str>;

pub(crate) fn check_int(value: i128) -> Check {
    if (MIN_INT..=MAX_INT).contains(&value) {
        Ok(())
    } else {
        Err("an Int lies in -2^63 .. 2^64-1: make others with Value::integer or as BigInt")
    }
}

pub(crate) fn check_big_integer(text: &str) -> Check {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || digits.starts_with('0') || !all_digits(digits) {
        return Err("a big integer is decimal text, -?[1-9][0-9]*");
    }
    if digits.len() > MAX_DIGITS {
        return Err("a big integer has at most 4300 digits");
    }
    // Up to 38 digits fit an i128; a number that does not parse is certainly large enough.
    if text.parse().is_ok_and(|value| check_int(value).is_ok()) {
        return Err("an integer in -2^63 .. 2^64-1 is written as Int");
    }
    Ok(())
}

pub(crate) fn check_decimal(text: &str) -> Check {
    const FORM: &str =
        "a decimal is text, -?[0-9]+(\\.[0-9]+)?(E[+-]?[0-9]{1,9})?, NaN, Infinity or -Infinity";
    if text.len() > MAX_DIGITS {
        return Err("a decimal has at most 4300 characters");
    }
    if matches!(text, "NaN" | "Infinity" | "-Infinity") {
        return Ok(());
    }
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (number, exponent) = match unsigned.split_once('E') {
        Some((number, exponent)) => (number, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = match number.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (number, None),
    };
    let exponent_fits = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        all_digits(digits) && digits.len() <= 9
    });
    if all_digits(whole) && fraction.is_none_or(all_digits) && exponent_fits {
        Ok(())
    } else {
        Err(FORM)
    }
}

pub(crate) fn check_timestamp(seconds: i64, nanos: u32) -> Check {
    if nanos > 999_999_999 {
        Err("a timestamp has less than 1,000,000,000 nanoseconds")
    } else if !(MIN_TIMESTAMP_SECONDS..=MAX_TIMESTAMP_SECONDS).contains(&seconds) {
        Err("a timestamp lies in the years 1 to 9999")
    } else {
        Ok(())
    }
}

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
