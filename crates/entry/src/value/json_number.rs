//! serde_json's feature `arbitrary_precision`, which any crate of a build can switch on for all of
//! them, hands floats out as a map with one key (serde-rs/json#845). Here they stay floats.

use super::{Value, ValueSeed};
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use std::fmt;
use std::sync::OnceLock;

/// The key of that map.
pub(super) const KEY: &str = "$serde_json::private::Number";

/// Whether the feature is on in this build. (If not, a map with [`KEY`] is a map like any other.)
pub(super) fn is_map() -> bool {
    static IS_MAP: OnceLock<bool> = OnceLock::new();
    *IS_MAP.get_or_init(|| serde_json::from_str::<Probe>("0.5").is_ok_and(|probe| probe.map))
}

/// The number that the map's value spells.
pub(super) fn parse<'de, E: Error>(number: &str, seed: ValueSeed) -> Result<Value<'de>, E> {
    if let Ok(integer) = number.parse::<i64>() {
        return seed.visit_i64(integer);
    }
    if let Ok(integer) = number.parse::<u64>() {
        return seed.visit_u64(integer);
    }
    match number.parse::<f64>() {
        Ok(float) if float.is_finite() => seed.visit_f64(float),
        _ => Err(E::custom("number out of range")),
    }
}

struct Probe {
    map: bool,
}

impl<'de> Deserialize<'de> for Probe {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ProbeVisitor)
    }
}

struct ProbeVisitor;

impl<'de> Visitor<'de> for ProbeVisitor {
    type Value = Probe;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_f64<E>(self, _: f64) -> Result<Probe, E> {
        Ok(Probe { map: false })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Probe, A::Error> {
        while access.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Probe { map: true })
    }
}
