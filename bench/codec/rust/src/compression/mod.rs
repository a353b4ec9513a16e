//! Compressors: compress, decompress and size of zeros (as published), of JSON and of text; of a single
//! record with a dictionary as well.

mod dictionary;
mod polycache;
mod polycache_dictionary;
mod skp_cache;
mod zstd_dictionary;
mod zstd_kept;
mod zstd_streamed;

use crate::bench::{bytes, proven, time, Operation, Subject, Unit};
use crate::buffers::{buffers, Buffer};
use crate::Outcome;
use std::hint::black_box;
use std::rc::Rc;

pub use self::polycache::{polycache_compressor, Polycache, PolycachePayload, PolycacheSmart};
pub use self::polycache_dictionary::{PolycacheDictionary, PolycacheSmartDictionary};
pub use self::skp_cache::SkpCache;
pub use self::zstd_dictionary::ZstdDictionary;
pub use self::zstd_kept::ZstdKept;
pub use self::zstd_streamed::ZstdStreamed;

/// zstd's, `None` where nothing is compressed.
pub type Level = Option<i32>;

const LEVELS: [Level; 4] = [None, Some(1), Some(3), Some(9)];

/// As the page names it.
pub fn name(level: Level) -> String {
    level.map_or("Noop".into(), |level| format!("Zstd L{level}"))
}

/// A subject: a library that compresses. The buffers that `compress` and `decompress` replace are
/// kept from one call to the next, for subjects that can write into one.
pub trait Compressor: Sized + 'static {
    const NAME: &'static str;
    const LEVELS: &'static [Level] = &LEVELS;

    fn notes() -> Vec<String>;

    /// The crate.
    fn version() -> (String, String);

    fn new(level: Level) -> Outcome<Self>;

    fn compress(&mut self, data: &[u8], out: &mut Vec<u8>) -> Outcome<()>;

    fn decompress(&mut self, compressed: &[u8], out: &mut Vec<u8>) -> Outcome<()>;
}

pub fn subjects() -> Vec<Subject> {
    let all = buffers().into_iter().map(Rc::new);
    all.flat_map(|buffer| without_dictionary(&buffer))
        .chain(of_a_record())
        .collect()
}

fn without_dictionary(buffer: &Rc<Buffer>) -> Vec<Subject> {
    vec![
        subject::<Polycache>(buffer),
        subject::<PolycacheSmart>(buffer),
        subject::<PolycachePayload>(buffer),
        subject::<SkpCache>(buffer),
        subject::<ZstdKept>(buffer),
        subject::<ZstdStreamed>(buffer),
    ]
}

/// What dictionaries are for.
fn of_a_record() -> Vec<Subject> {
    let record = Rc::new(Buffer::of("a record of JSON", |_| dictionary::record()));
    vec![
        subject::<PolycacheDictionary>(&record),
        subject::<Polycache>(&record),
        subject::<PolycacheSmartDictionary>(&record),
        subject::<PolycacheSmart>(&record),
        subject::<ZstdDictionary>(&record),
        subject::<ZstdKept>(&record),
        subject::<SkpCache>(&record),
    ]
}

fn workload(buffer: &Buffer) -> String {
    format!("compression, {}", buffer.name)
}

fn subject<C: Compressor>(buffer: &Rc<Buffer>) -> Subject {
    let buffer = buffer.clone();
    Subject {
        workload: workload(&buffer),
        name: C::NAME.into(),
        notes: C::notes(),
        versions: vec![C::version()],
        open: Box::new(move || {
            let data = buffer.bytes()?;
            let levels = C::LEVELS.iter();
            let opened: Outcome<Vec<_>> = levels.map(|level| open::<C>(*level, &data)).collect();
            Ok(opened?.into_iter().flatten().collect())
        }),
    }
}

fn open<C: Compressor>(level: Level, data: &[u8]) -> Outcome<Vec<Operation>> {
    let (mut compressor, mut decompressor) = (C::new(level)?, C::new(level)?);
    let (mut compressed, mut read) = (Vec::new(), Vec::new());
    compressor.compress(data, &mut compressed)?;
    decompressor.decompress(&compressed, &mut read)?;
    proven(&name(level), &data, &read.as_slice())?;
    // A kept buffer must not hold what was there before.
    let mut out = compressed.clone();
    compressor.compress(data, &mut out)?;
    proven(&name(level), &compressed, &out)?;
    decompressor.decompress(&compressed, &mut read)?;
    proven(&name(level), &data, &read.as_slice())?;
    let (data, name) = (data.to_vec(), name(level));
    let unit = Unit::OfBytes(data.len() as u64);
    let size = bytes(format!("size, {name}"), compressed.len());
    Ok(vec![
        time(format!("compress, {name}"), unit, move || {
            compressor
                .compress(black_box(&data), &mut out)
                .expect("compresses");
            black_box(out.as_ptr());
        }),
        time(format!("decompress, {name}"), unit, move || {
            decompressor
                .decompress(black_box(&compressed), &mut read)
                .expect("decompresses");
            black_box(read.as_ptr());
        }),
        size,
    ])
}
