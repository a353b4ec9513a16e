//! When a reply ends by itself.

use super::call::Call;
use redis::{cmd, Cmd, Value};

/// What is to be asked in front of a read.
pub(super) fn questions(call: &Call) -> Vec<Cmd> {
    let times = call.keys.iter().map(|key| cmd("PTTL").arg(&**key).take());
    // How many hashes have fields that expire (Redis 7.4, Valkey 9).
    let fields = (call.shows_fields).then(|| cmd("INFO").arg("keyspace").take());
    times.chain(fields).collect()
}

/// When the reply expires by the answers to these: milliseconds since 1970, 0 for never; `None` where that is not known.
/// Times to live count from before they were asked for.
pub(super) fn expiry_of(keys: usize, answers: &[Value], sent_at: u64) -> Option<u64> {
    let mut first = 0;
    for (at, answer) in answers.iter().enumerate() {
        match answer {
            Value::Int(left) if at < keys => {
                if let Ok(left) = u64::try_from(*left) {
                    // 0 is for never.
                    let ends = sent_at.saturating_add(left).max(1);
                    first = if first == 0 { ends } else { ends.min(first) };
                }
            }
            Value::BulkString(info)
                if at >= keys && !fields_expire(&String::from_utf8_lossy(info)) => {}
            Value::VerbatimString { text, .. } if at >= keys && !fields_expire(text) => {}
            _ => return None,
        }
    }
    Some(first)
}

/// Whether the server says that some hash has fields that expire.
fn fields_expire(info: &str) -> bool {
    let counts = |name: &str| {
        info.match_indices(name).any(|(at, _)| {
            let rest = info.get(at + name.len()..).unwrap_or_default();
            rest.starts_with(|digit: char| ('1'..='9').contains(&digit))
        })
    };
    counts("subexpiry=") || counts("keys_with_volatile_items=")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(text: &str) -> Value {
        Value::BulkString(text.into())
    }

    #[test]
    fn a_reply_expires_with_its_first_key() {
        let none = Value::Int(-1);
        assert_eq!(expiry_of(2, &[none.clone(), none.clone()], 100), Some(0));
        let answers = [none.clone(), Value::Int(30), Value::Int(20)];
        assert_eq!(expiry_of(3, &answers, 100), Some(120));
        // Expired by now.
        assert_eq!(expiry_of(1, &[Value::Int(0)], 100), Some(100));
        assert_eq!(expiry_of(1, &[Value::Nil], 100), None);
    }

    #[test]
    fn hashes_whose_fields_expire_are_not_kept() {
        let none = Value::Int(-1);
        for (text, expires) in [
            ("db0:keys=1,expires=0,avg_ttl=0,subexpiry=0", Some(0)),
            ("db0:keys=1,expires=0,avg_ttl=0,subexpiry=2", None),
            ("db0:keys=1,keys_with_volatile_items=10", None),
            ("", Some(0)),
        ] {
            assert_eq!(
                expiry_of(1, &[none.clone(), info(text)], 100),
                expires,
                "{text}"
            );
        }
        // A number of fields is no time to live.
        assert_eq!(expiry_of(1, &[none, Value::Int(1)], 100), None);
    }
}
