//! The workers' values: text that names its key and its writer, so that a reader can tell both.

/// A value's name: the worker in the upper half, that worker's count of values in the lower. 0 is not a value.
pub type Serial = u64;

/// The `counter`-th value of a worker.
pub fn serial(worker: u16, counter: u32) -> Serial {
    u64::from(worker) << 32 | u64::from(counter)
}

/// The worker that made a value.
pub fn maker(serial: Serial) -> u16 {
    (serial >> 32) as u16
}

/// Its form in a value: `3.1207`.
pub fn name(serial: Serial) -> String {
    format!("{}.{}", maker(serial), serial as u32)
}

/// The text of a key.
pub fn key(number: u8) -> String {
    format!("hot-{number}")
}

/// Writes `key:serial:filler`. The filler repeats the serial, so that a copy torn anywhere is detected;
/// its length differs from value to value, so that records start at ever different places.
pub fn write(key: &str, serial: Serial, out: &mut String) {
    let name = name(serial);
    out.clear();
    out.push_str(key);
    out.push(':');
    out.push_str(&name);
    out.push(':');
    (0..(serial as u32).wrapping_mul(389) % 1000).for_each(|_| out.push_str(&name));
}

/// The serial of a text that is exactly one value of this key.
pub fn parse(key: &str, text: &str, scratch: &mut String) -> Option<Serial> {
    let mut parts = text.split(':');
    let named = parts.nth(1)?;
    let (worker, counter) = named.split_once('.')?;
    let found = serial(worker.parse().ok()?, counter.parse().ok()?);
    write(key, found, scratch);
    (scratch == text).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_known_by_its_key_and_every_byte() {
        let (mut text, mut scratch) = (String::new(), String::new());
        for counter in 1..1000 {
            let serial = serial(7, counter);
            write("hot-3", serial, &mut text);
            assert_eq!(parse("hot-3", &text, &mut scratch), Some(serial));
            assert_eq!(parse("hot-4", &text, &mut scratch), None);
            assert_eq!(parse("hot-3", &text[..text.len() - 1], &mut scratch), None);
        }
    }

    #[test]
    fn a_torn_value_is_not_taken_for_one() {
        let (mut old, mut new, mut scratch) = (String::new(), String::new(), String::new());
        // Two values of one length.
        write("hot-3", serial(7, 1001), &mut old);
        write("hot-3", serial(7, 2001), &mut new);
        assert_eq!(old.len(), new.len());
        for cut in 1..old.len() {
            let torn = format!("{}{}", &new[..cut], &old[cut..]);
            let whole = torn == old || torn == new;
            assert_eq!(parse("hot-3", &torn, &mut scratch).is_some(), whole);
        }
    }
}
