//! The members of an object, in JavaScript's order.

use super::write_text;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

/// So many names are compared one by one, which costs less than an index.
const FEW: usize = 16;

/// The members of an object in the order of a JavaScript object: names that are indexes first, by number, then all others
/// as they came; of a name that stands twice the first place and the last value.
pub struct Members<'a, V> {
    indexes: BTreeMap<u32, (Cow<'a, str>, V)>,
    others: Vec<(Cow<'a, str>, V)>,
    /// Where the others stand, once they are many.
    places: HashMap<Cow<'a, str>, usize>,
}

impl<V> Default for Members<'_, V> {
    fn default() -> Self {
        Members {
            indexes: BTreeMap::new(),
            others: Vec::new(),
            places: HashMap::new(),
        }
    }
}

impl<'a, V> Members<'a, V> {
    /// Adds a member.
    pub fn add(&mut self, name: Cow<'a, str>, value: V) {
        if let Some(index) = index_of(&name) {
            self.indexes.insert(index, (name, value));
            return;
        }
        let place = self.place(&name);
        if let Some(other) = place.and_then(|at| self.others.get_mut(at)) {
            other.1 = value;
            return;
        }
        if self.others.len() == FEW {
            let named = self.others.iter().enumerate();
            self.places = named.map(|(at, (name, _))| (name.clone(), at)).collect();
        }
        if self.others.len() >= FEW {
            self.places.insert(name.clone(), self.others.len());
        }
        self.others.push((name, value));
    }

    fn place(&self, name: &str) -> Option<usize> {
        if self.others.len() > FEW {
            return self.places.get(name).copied();
        }
        self.others.iter().position(|(other, _)| other == name)
    }

    /// The object, of whose values each is written by `write`.
    ///
    /// # Errors
    /// Those of `write`.
    pub fn write<E>(
        self,
        out: &mut Vec<u8>,
        mut write: impl FnMut(V, &mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        out.push(b'{');
        let members = self.indexes.into_values().chain(self.others);
        for (at, (name, value)) in members.enumerate() {
            if at > 0 {
                out.push(b',');
            }
            write_text(&name, out);
            out.push(b':');
            write(value, out)?;
        }
        out.push(b'}');
        Ok(())
    }
}

/// The number of an array index (ECMA-262, 6.1.7): digits without a leading zero, below 2^32 - 1.
fn index_of(name: &str) -> Option<u32> {
    let is_canonical = name == "0" || name.starts_with(|digit: char| ('1'..='9').contains(&digit));
    let number: u32 = is_canonical.then(|| name.parse().ok())??;
    (number < u32::MAX).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn written(names: &[&str]) -> String {
        let mut members = Members::default();
        for (value, name) in names.iter().enumerate() {
            members.add(Cow::Borrowed(name), value);
        }
        let mut out = Vec::new();
        let done = members.write(&mut out, |value, out| {
            out.extend_from_slice(value.to_string().as_bytes());
            Ok::<(), Infallible>(())
        });
        assert!(done.is_ok());
        String::from_utf8(out).expect("JSON is UTF-8")
    }

    #[test]
    fn indexes_come_first() {
        let names = ["b", "10", "9", "01", "4294967295", "4294967294", "+1"];
        assert_eq!(
            written(&names),
            r#"{"9":2,"10":1,"4294967294":5,"b":0,"01":3,"4294967295":4,"+1":6}"#
        );
        assert_eq!(written(&[]), "{}");
    }

    /// Below, at and beyond the number from which they have an index.
    #[test]
    fn a_name_that_stands_twice_has_its_first_place_and_its_last_value() {
        for count in 1..3 * FEW {
            let names: Vec<String> = (0..count).map(|at| format!("n{at}")).collect();
            for twice in 0..count {
                let mut given: Vec<&str> = names.iter().map(String::as_str).collect();
                given.push(&names[twice]);
                let expected: Vec<String> = (0..count)
                    .map(|at| format!("\"n{at}\":{}", if at == twice { count } else { at }))
                    .collect();
                assert_eq!(written(&given), format!("{{{}}}", expected.join(",")));
            }
        }
    }
}
