//! Serializers: encode, decode and size of the page's data, and of records.

mod bincode;
mod polycache;
mod rmp_serde;
mod serde_json;
mod skp_cache;

use crate::bench::{bytes, proven, time, Operation, Subject, Unit};
use crate::{page, records, Outcome};
use serde::de::DeserializeOwned;
use serde::Serialize;

pub use self::bincode::Bincode;
pub use self::polycache::{Polycache, PolycacheBincode, PolycachePayload};
pub use self::rmp_serde::{RmpSerde, RmpSerdeNamed};
pub use self::serde_json::SerdeJson;
pub use self::skp_cache::SkpCache;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Json,
    MessagePack,
    Bincode,
}

impl Format {
    pub const ALL: [Format; 3] = [Format::Json, Format::MessagePack, Format::Bincode];

    /// As the page names it.
    pub fn name(self) -> &'static str {
        match self {
            Format::Json => "JSON",
            Format::MessagePack => "MsgPack",
            Format::Bincode => "Bincode",
        }
    }
}

/// A subject: a library that encodes in some formats. The buffer that `encode` replaces is kept from
/// one call to the next, for subjects that can write into one.
pub trait Serializer: Sized + 'static {
    const NAME: &'static str;
    const FORMATS: &'static [Format];

    fn notes() -> Vec<String>;

    /// The crate.
    fn version() -> (String, String);

    fn new(format: Format) -> Self;

    fn encode<T: Serialize>(&mut self, value: &T, out: &mut Vec<u8>) -> Outcome<()>;

    fn decode<T: DeserializeOwned>(&mut self, bytes: &[u8]) -> Outcome<T>;
}

/// What is encoded.
pub trait Data: Serialize + DeserializeOwned + PartialEq + 'static {}

impl<T: Serialize + DeserializeOwned + PartialEq + 'static> Data for T {}

pub fn subjects() -> Vec<Subject> {
    let mut all = Vec::new();
    all.extend(with("small", || Ok(page::small())));
    all.extend(with("medium", || Ok(page::medium())));
    all.extend(with("large", || Ok(page::large())));
    all.extend(with("records", || Ok(records::records(records::COUNT))));
    all
}

fn with<T: Data>(data: &str, make: fn() -> Outcome<T>) -> Vec<Subject> {
    vec![
        subject::<PolycachePayload<false>, T>(data, make),
        subject::<PolycachePayload<true>, T>(data, make),
        subject::<Polycache, T>(data, make),
        subject::<PolycacheBincode, T>(data, make),
        subject::<SkpCache, T>(data, make),
        subject::<SerdeJson, T>(data, make),
        subject::<RmpSerde, T>(data, make),
        subject::<RmpSerdeNamed, T>(data, make),
        subject::<Bincode, T>(data, make),
    ]
}

fn subject<S: Serializer, T: Data>(data: &str, make: fn() -> Outcome<T>) -> Subject {
    Subject {
        workload: format!("serializers, {data}"),
        name: S::NAME.into(),
        notes: S::notes(),
        versions: vec![S::version()],
        open: Box::new(move || {
            let formats = S::FORMATS.iter();
            let opened: Outcome<Vec<_>> =
                formats.map(|format| open::<S, T>(*format, make)).collect();
            Ok(opened?.into_iter().flatten().collect())
        }),
    }
}

fn open<S: Serializer, T: Data>(
    format: Format,
    make: fn() -> Outcome<T>,
) -> Outcome<Vec<Operation>> {
    let name = format.name();
    let value = make()?;
    let (mut encoder, mut decoder) = (S::new(format), S::new(format));
    let mut encoded = Vec::new();
    encoder.encode(&value, &mut encoded)?;
    proven(name, &value, &decoder.decode(&encoded)?)?;
    // A kept buffer must not hold what was there before.
    let mut out = encoded.clone();
    encoder.encode(&value, &mut out)?;
    proven(name, &encoded, &out)?;
    let unit = Unit::OfBytes(encoded.len() as u64);
    let size = bytes(format!("size, {name}"), encoded.len());
    Ok(vec![
        time(format!("encode, {name}"), unit, move || {
            encoder
                .encode(std::hint::black_box(&value), &mut out)
                .expect("encodes");
            std::hint::black_box(out.as_ptr());
        }),
        time(format!("decode, {name}"), unit, move || {
            let value: T = decoder
                .decode(std::hint::black_box(&encoded))
                .expect("decodes");
            value
        }),
        size,
    ])
}
