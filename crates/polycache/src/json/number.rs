//! Numbers.

/// A double as ECMAScript's Number::toString has it (ECMA-262, 6.1.6.1.20); `null` where JSON has none.
pub fn write_double(number: f64, out: &mut Vec<u8>) {
    if !number.is_finite() {
        out.extend_from_slice(b"null");
        return;
    }
    if number == 0.0 {
        // Without the sign of -0.
        out.push(b'0');
        return;
    }
    // The shortest digits that stand for it, as `-1.25e-7`.
    let shortest = format!("{:e}", number.abs());
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let digits = mantissa.replace('.', "");
    // Where the point stands among the digits.
    let point: i32 = exponent.parse::<i32>().unwrap_or(0) + 1;
    let length = digits.len() as i32;
    if number < 0.0 {
        out.push(b'-');
    }
    let text = match point {
        1..=21 if point >= length => digits.clone() + &"0".repeat((point - length) as usize),
        1..=21 => {
            let (whole, part) = digits.split_at(point as usize);
            format!("{whole}.{part}")
        }
        -5..=0 => format!("0.{}{digits}", "0".repeat(-point as usize)),
        _ => {
            let (first, rest) = digits.split_at(1);
            let dot = if rest.is_empty() { "" } else { "." };
            format!("{first}{dot}{rest}e{:+}", point - 1)
        }
    };
    out.extend_from_slice(text.as_bytes());
}

/// An integer of 64 bits, with all its digits. Larger ones are texts.
pub fn write_integer(number: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(number.to_string().as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By node's `JSON.stringify`.
    #[test]
    fn doubles_are_written_as_javascript_does() {
        for (number, text) in [
            (2.5, "2.5"),
            (-2.5, "-2.5"),
            (1.0, "1"),
            (0.0, "0"),
            (-0.0, "0"),
            (100.0, "100"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1e20, "100000000000000000000"),
            (123456789012345680000.0, "123456789012345680000"),
            (1e21, "1e+21"),
            (1.5e300, "1.5e+300"),
            (0.000001, "0.000001"),
            (0.00000123, "0.00000123"),
            (1e-7, "1e-7"),
            (1.25e-7, "1.25e-7"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (f64::INFINITY, "null"),
            (f64::NAN, "null"),
        ] {
            let mut out = Vec::new();
            write_double(number, &mut out);
            assert_eq!(String::from_utf8_lossy(&out), text);
        }
    }
}
