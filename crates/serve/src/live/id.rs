//! Ids of a stream's entries.

use std::fmt;

/// `<milliseconds>-<sequence>`, in the order of Redis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Id(u64, u64);

impl Id {
    /// Before all entries.
    pub const FIRST: Id = Id(0, 0);

    /// A whole id, as Redis writes it; `None` for anything else.
    pub fn parse(text: &str) -> Option<Id> {
        let (milliseconds, sequence) = text.split_once('-')?;
        let number = |digits: &str| {
            let digits =
                Some(digits).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
            digits?.parse().ok()
        };
        Some(Id(number(milliseconds)?, number(sequence)?))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.0, self.1)
    }
}

#[cfg(test)]
mod tests {
    use super::Id;

    #[test]
    fn ids_are_redis_own() {
        let last = "18446744073709551615-18446744073709551615";
        assert_eq!(Id::parse(last).unwrap().to_string(), last);
        assert!(Id::parse("2-0").unwrap() > Id::parse("1-10").unwrap());
        for wrong in [
            "",
            "1",
            "1-",
            "-1",
            "+1-0",
            "1-0-0",
            "1- 0",
            "18446744073709551616-0",
            "$",
            "1-0\n",
        ] {
            assert_eq!(Id::parse(wrong), None, "{wrong}");
        }
    }
}
