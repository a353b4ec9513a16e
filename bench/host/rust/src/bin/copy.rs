//! The machine's limit: a bare copy into and out of a mapped file, whose places are known without
//! looking for them. No index, no header, no checksum, no other process.

use memmap2::MmapRaw;
use polycache_bench_host::{
    durability::SURVIVES_KILL, name, operation, Batch, Kind, Operation, Outcome, Place, Subject,
};
use std::fs::{self, OpenOptions};
use std::ptr;

/// Bytes of a record beside its value.
const OVERHEAD: usize = 64;
const UNIT: usize = 16;

struct Copy {
    file: MmapRaw,
    /// Where the next value goes; round and round.
    next: usize,
    /// Place and length by the key's number.
    places: Vec<(usize, usize)>,
    value: Vec<u8>,
}

impl Copy {
    fn put(&mut self, batch: &Batch<'_>) -> Outcome<u64> {
        for (key, value) in batch.writes {
            let size = (value.len() + OVERHEAD).next_multiple_of(UNIT);
            if self.next + size > self.file.len() {
                self.next = 0;
            }
            // SAFETY: the place is within the mapping, which has no other owner.
            unsafe {
                let to = self.file.as_mut_ptr().add(self.next);
                ptr::copy_nonoverlapping(value.as_ptr(), to, value.len());
            }
            let number = number(key);
            if number >= self.places.len() {
                self.places.resize(number + 1, (0, 0));
            }
            self.places[number] = (self.next, value.len());
            self.next += size;
        }
        Ok(0)
    }

    fn get(&mut self, batch: &Batch<'_>) -> Outcome<u64> {
        for key in batch.reads {
            self.copy(key);
        }
        Ok(0)
    }

    fn copy(&mut self, key: &[u8]) {
        let (at, len) = self.places[number(key)];
        self.value.clear();
        self.value.reserve(len);
        // SAFETY: `put` wrote the place within the mapping, and `value` has room.
        unsafe {
            let from = self.file.as_ptr().add(at);
            ptr::copy_nonoverlapping(from, self.value.as_mut_ptr(), len);
            self.value.set_len(len);
        }
    }
}

/// The number in `user:000123`.
fn number(key: &[u8]) -> usize {
    let digits = key.iter().filter(|byte| byte.is_ascii_digit());
    digits.fold(0, |sum, digit| sum * 10 + usize::from(digit - b'0'))
}

impl Subject for Copy {
    const NAME: &'static str = "copy";

    fn open(place: &Place) -> Outcome<Copy> {
        fs::create_dir_all(&place.directory)?;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(place.directory.join("bytes"))?;
        file.set_len(place.limit)?;
        Ok(Copy {
            file: MmapRaw::map_raw(&file)?,
            next: 0,
            places: Vec::new(),
            value: Vec::new(),
        })
    }

    fn operations() -> Vec<Operation<Copy>> {
        vec![
            operation(name::PUT, Kind::Put, SURVIVES_KILL, Copy::put),
            operation(name::GET, Kind::Get, SURVIVES_KILL, Copy::get),
        ]
    }

    fn fill(&mut self, batch: &Batch<'_>) -> Outcome<()> {
        self.put(batch).map(drop)
    }

    fn value(&mut self, key: &[u8]) -> Outcome<Option<String>> {
        self.copy(key);
        Ok(Some(String::from_utf8(self.value.clone())?))
    }
}

fn main() {
    polycache_bench_host::main::<Copy>();
}
