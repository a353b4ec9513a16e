//! The page's six recommended configurations and four best combinations end to end, and JSON with
//! Zstd, whose size it tells: a value becomes compressed bytes, and comes back.

mod crates;
mod polycache;
mod skp_cache;

use crate::bench::{bytes, proven, time, Operation, Subject, Unit};
use crate::compression::{self, Compressor, Level};
use crate::serializers::{Data, Format, Serializer};
use crate::{page, records, stream, Outcome};
use serde::de::DeserializeOwned;
use serde::Serialize;
use std::hint::black_box;

/// A serializer and a compressor, with their name on the page.
const CONFIGURATIONS: [(Format, Level); 7] = [
    // "High Performance", "Speed First".
    (Format::Bincode, None),
    // "High Performance" too; "Balanced (Default)", "Ideal Balance".
    (Format::Bincode, Some(1)),
    // "Storage Optimized", "Size First".
    (Format::Bincode, Some(3)),
    // "Maximum Compression".
    (Format::Bincode, Some(9)),
    // "API/Cross-platform".
    (Format::Json, Some(1)),
    // The size row.
    (Format::Json, Some(3)),
    // "Network Transfer", "Interoperability".
    (Format::MessagePack, Some(1)),
];

/// A subject: libraries that write a value as compressed bytes, and read it.
pub trait Codec: Sized + 'static {
    const NAME: &'static str;
    const FORMATS: &'static [Format];

    fn notes() -> Vec<String>;

    fn versions() -> Vec<(String, String)>;

    fn new(format: Format, level: Level) -> Outcome<Self>;

    /// Replaces `out` by the compressed bytes.
    fn write<T: Serialize>(&mut self, value: &T, out: &mut Vec<u8>) -> Outcome<()>;

    fn read<T: DeserializeOwned>(&mut self, bytes: &[u8]) -> Outcome<T>;
}

/// A serializer, then a compressor.
pub struct Chain<S, C> {
    serializer: S,
    compressor: C,
    between: Vec<u8>,
}

impl<S: Serializer, C: Compressor> Chain<S, C> {
    fn new(format: Format, level: Level) -> Outcome<Chain<S, C>> {
        Ok(Chain {
            serializer: S::new(format),
            compressor: C::new(level)?,
            between: Vec::new(),
        })
    }

    fn write<T: Serialize>(&mut self, value: &T, out: &mut Vec<u8>) -> Outcome<()> {
        self.serializer.encode(value, &mut self.between)?;
        self.compressor.compress(&self.between, out)
    }

    fn read<T: DeserializeOwned>(&mut self, bytes: &[u8]) -> Outcome<T> {
        self.compressor.decompress(bytes, &mut self.between)?;
        self.serializer.decode(&self.between)
    }
}

pub fn subjects() -> Vec<Subject> {
    let mut all = Vec::new();
    all.extend(with("small", || Ok(page::small())));
    all.extend(with("medium", || Ok(page::medium())));
    all.extend(with("large", || Ok(page::large())));
    all.extend(with("records", || Ok(records::records(records::COUNT))));
    if stream::is_given() {
        all.extend(with("a stream", stream::stream));
    }
    all
}

fn with<T: Data>(data: &str, make: fn() -> Outcome<T>) -> Vec<Subject> {
    vec![
        subject::<polycache::Polycache, T>(data, make),
        subject::<skp_cache::SkpCache, T>(data, make),
        subject::<crates::Crates, T>(data, make),
    ]
}

fn subject<C: Codec, T: Data>(data: &str, make: fn() -> Outcome<T>) -> Subject {
    Subject {
        workload: format!("configurations, {data}"),
        name: C::NAME.into(),
        notes: C::notes(),
        versions: C::versions(),
        open: Box::new(move || {
            let mut all = Vec::new();
            for (format, level) in CONFIGURATIONS {
                if C::FORMATS.contains(&format) {
                    all.extend(open::<C, T>(format, level, make)?);
                }
            }
            Ok(all)
        }),
    }
}

fn open<C: Codec, T: Data>(
    format: Format,
    level: Level,
    make: fn() -> Outcome<T>,
) -> Outcome<Vec<Operation>> {
    let name = format!("{} + {}", format.name(), compression::name(level));
    let value = make()?;
    let (mut writer, mut reader) = (C::new(format, level)?, C::new(format, level)?);
    let mut written = Vec::new();
    writer.write(&value, &mut written)?;
    proven(&name, &value, &reader.read(&written)?)?;
    // A kept buffer must not hold what was there before.
    let mut out = written.clone();
    writer.write(&value, &mut out)?;
    proven(&name, &written, &out)?;
    let size = bytes(format!("size, {name}"), written.len());
    Ok(vec![
        time(
            format!("encode and compress, {name}"),
            Unit::Nanoseconds,
            move || {
                writer.write(black_box(&value), &mut out).expect("writes");
                black_box(out.as_ptr());
            },
        ),
        time(
            format!("decompress and decode, {name}"),
            Unit::Nanoseconds,
            move || {
                let value: T = reader.read(black_box(&written)).expect("reads");
                value
            },
        ),
        size,
    ])
}
