//! Encryption (AES-256-GCM): write, read and size of whole entries, plain and encrypted, and of the
//! crate that encrypts.

mod polycache;
mod ring;

use crate::bench::{bytes, proven, time, Operation, Subject, Unit};
use crate::buffers;
use crate::Outcome;
use std::hint::black_box;

pub use self::polycache::{Encrypted, Plain};
pub use self::ring::Ring;

const KEY: [u8; 32] = [7; 32];

/// Bytes of JSON, and what the table calls them.
const SIZES: [(usize, &str); 3] = [(100, "100 B"), (1024, "1 KB"), (10 * 1024, "10 KB")];

/// A subject. The buffers that `write` and `read` replace are kept from one call to the next.
pub trait Cipher: Sized + 'static {
    const NAME: &'static str;

    fn notes() -> Vec<String>;

    /// The crate.
    fn version() -> (String, String);

    fn new() -> Outcome<Self>;

    fn write(&mut self, data: &[u8], out: &mut Vec<u8>) -> Outcome<()>;

    /// What it hands out lies in `written`, and is gone.
    fn read<'a>(&'a mut self, written: &'a mut [u8]) -> Outcome<&'a [u8]>;
}

pub fn subjects() -> Vec<Subject> {
    SIZES
        .into_iter()
        .flat_map(|(size, name)| {
            [
                subject::<Encrypted>(size, name),
                subject::<Plain>(size, name),
                subject::<Ring>(size, name),
            ]
        })
        .collect()
}

fn subject<C: Cipher>(size: usize, name: &str) -> Subject {
    Subject {
        workload: format!("encryption, {name} of JSON"),
        name: C::NAME.into(),
        notes: C::notes(),
        versions: vec![C::version()],
        open: Box::new(move || open::<C>(size)),
    }
}

fn open<C: Cipher>(size: usize) -> Outcome<Vec<Operation>> {
    let data = buffers::json(size)?;
    let (mut writer, mut reader) = (C::new()?, C::new()?);
    let mut written = Vec::new();
    writer.write(&data, &mut written)?;
    let mut copy = written.clone();
    proven("read", &data.as_slice(), &reader.read(&mut copy)?)?;
    // A kept buffer must not hold what was there before.
    let mut out = written.clone();
    writer.write(&data, &mut out)?;
    proven("read again", &data.as_slice(), &reader.read(&mut out)?)?;
    let size = bytes("size", written.len());
    let unit = Unit::OfBytes(data.len() as u64);
    Ok(vec![
        time("write", unit, move || {
            writer.write(black_box(&data), &mut out).expect("writes");
            black_box(out.as_ptr());
        }),
        time("read", unit, move || {
            // A cache copies an entry out of its store, and what is decrypted in place is gone.
            copy.copy_from_slice(black_box(&written));
            black_box(reader.read(&mut copy).expect("reads").as_ptr());
        }),
        size,
    ])
}
