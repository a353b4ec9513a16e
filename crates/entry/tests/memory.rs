//! Decoding takes memory in proportion to the bytes really there, whatever lengths they declare.

use polycache_entry::tagged::{hex_decode, read_rows};
use polycache_entry::{
    decode_payload, decode_value, deserialize, encode, encode_typed, Compressor, EntryOptions,
    Limits, Serializer, Structs, Value, Verify,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Counts the memory that this thread holds, and its maximum.
struct Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    let held = HELD.get() + bytes;
    HELD.set(held);
    PEAK.set(PEAK.get().max(held));
    CALLS.set(CALLS.get() + usize::from(bytes > 0));
}

// SAFETY: every call is passed on unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller's promise is passed on unchanged.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller's promise is passed on unchanged.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most bytes that `run` held at once, and its allocations.
fn measure<T>(run: impl FnOnce() -> T) -> (usize, usize) {
    let (before, calls) = (HELD.get(), CALLS.get());
    PEAK.set(before);
    drop(run());
    ((PEAK.get() - before) as usize, CALLS.get() - calls)
}

/// Room for error messages and the smallest of vectors.
const SMALL: usize = 4096;

fn decode(entry: &[u8]) -> (usize, usize) {
    let limits = Limits::default();
    measure(|| {
        let mut scratch = Vec::new();
        if let Ok((header, payload)) =
            decode_payload(entry, Verify::Checksum, &limits, &mut scratch)
        {
            let _ = decode_value(header.serializer, payload, &limits);
        }
    })
}

#[test]
fn malformed_entries_take_little() {
    let text = include_str!("../../../spec/vectors/malformed.json");
    for row in read_rows(text).unwrap() {
        let entry = hex_decode(row["entry"].as_str().unwrap()).unwrap();
        // A compressed block may hold 128 KiB, which only decompression shows.
        let block = match row["name"].as_str().unwrap() {
            name if name.contains("compressed block") => 128 * 1024,
            "a block above 128 KiB" => 128 * 1024 + 1,
            _ => 0,
        };
        let (peak, _) = decode(&entry);
        assert!(
            peak <= SMALL + block + 80 * entry.len(),
            "{}: {peak} bytes",
            row["name"]
        );
    }
}

#[test]
fn the_densest_payloads_take_80_times_their_length_at_most() {
    const LEN: usize = 1 << 20;
    let array = |element: &[u8], width: usize| {
        let count = (LEN / width) as u32;
        let mut payload = vec![0xDD];
        payload.extend(count.to_be_bytes());
        payload.extend(element.repeat(count as usize));
        payload
    };
    let mut map = array(b"\xA0\xC0", 2);
    map[0] = 0xDF;
    let mut distinct = vec![0xDF];
    distinct.extend(65_536u32.to_be_bytes());
    for first in 0..=255u8 {
        for second in 0..=255u8 {
            distinct.extend([0xA2, first & 0x7F, second & 0x7F, 0xC0]);
        }
    }
    let mut json = b"[".to_vec();
    json.extend(b"0,".repeat(LEN / 2));
    json.extend(b"0]");
    let mut json_map = b"{".to_vec();
    json_map.extend(b"\"\":0,".repeat(LEN / 5));
    json_map.extend(b"\"\":0}");
    for (name, serializer, payload) in [
        ("nulls", Serializer::MessagePack, array(b"\xC0", 1)),
        ("empty lists", Serializer::MessagePack, array(b"\x90", 1)),
        (
            "lists of one",
            Serializer::MessagePack,
            array(b"\x91\xC0", 2),
        ),
        ("equal keys", Serializer::MessagePack, map),
        ("short keys", Serializer::MessagePack, distinct),
        ("JSON zeros", Serializer::Json, json),
        ("JSON equal keys", Serializer::Json, json_map),
    ] {
        let limits = Limits::default();
        let (peak, _) = measure(|| decode_value(serializer, &payload, &limits).unwrap());
        let factor = peak as f64 / payload.len() as f64;
        println!("{name}: {factor:.1}");
        assert!(peak <= SMALL + 80 * payload.len(), "{name}: {factor:.1}");
    }
}

/// Some KB of zstd that would be gigabytes of values.
#[test]
fn hostile_entries_take_little() {
    // What a list reserves that weighs the limit but for its elements' own, and the payload.
    const MOST: usize = 576 << 20;
    let text = std::fs::read_to_string("../../spec/vectors/weights.json").unwrap();
    let mut hostile = 0;
    for row in read_rows(&text).unwrap() {
        let name = row["name"].as_str().unwrap();
        if name.starts_with("hostile") {
            hostile += 1;
            let entry = hex_decode(row["entry"].as_str().unwrap()).unwrap();
            let (peak, _) = decode(&entry);
            println!("{name}: {} bytes, {peak} in memory", entry.len());
            assert!(peak <= MOST, "{name}: {peak} bytes");
        }
    }
    assert!(hostile > 0);
}

#[test]
fn a_value_takes_at_most_25_times_its_weight() {
    const LIMIT: usize = 4 << 20;
    let limits = Limits::of(LIMIT as u64);
    let list = |element: &[u8], weight: usize| {
        let count = (LIMIT - 16) / weight;
        let mut payload = vec![0xDD];
        payload.extend((count as u32).to_be_bytes());
        payload.extend(element.repeat(count));
        payload
    };
    let json = |element: &str, weight: usize| {
        let count = (LIMIT - 16) / weight;
        format!("[{}]", vec![element; count].join(",")).into_bytes()
    };
    let mut map = list(b"\xA0\xC0", 8);
    map[0] = 0xDF;
    let chain = [vec![0x91; 126], vec![0x90]].concat();
    for (name, serializer, payload) in [
        ("nulls", Serializer::MessagePack, list(b"\xC0", 4)),
        ("empty lists", Serializer::MessagePack, list(b"\x90", 16)),
        (
            "lists of one",
            Serializer::MessagePack,
            list(b"\x91\xC0", 20),
        ),
        ("chains", Serializer::MessagePack, list(&chain, 16 * 127)),
        ("a map", Serializer::MessagePack, map),
        ("maps", Serializer::MessagePack, list(b"\x81\xA0\xC0", 24)),
        (
            "sets",
            Serializer::MessagePack,
            list(b"\xD5\x01\x91\xC0", 20),
        ),
        (
            "types",
            Serializer::MessagePack,
            list(b"\xC7\x03\x05\xA1t\xC0", 24),
        ),
        ("JSON zeros", Serializer::Json, json("0", 4)),
        ("JSON lists of one", Serializer::Json, json("[0]", 20)),
        ("JSON maps", Serializer::Json, json("{\"\":0}", 24)),
    ] {
        let (peak, _) = measure(|| decode_value(serializer, &payload, &limits).unwrap());
        let factor = peak as f64 / LIMIT as f64;
        println!("{name}: {factor:.1}");
        assert!(peak <= 25 * LIMIT, "{name}: {factor:.1}");
    }
}

#[test]
fn the_hot_path_does_not_allocate() {
    let text = "x".repeat(100);
    let value = Value::Map(vec![
        ("text".into(), text.as_str().into()),
        ("n".into(), 1i64.into()),
    ]);
    for (serializer, value) in [
        (Serializer::MessagePack, value.clone()),
        (Serializer::Json, value),
        (Serializer::Text, text.as_str().into()),
        (Serializer::Bytes, text.as_bytes().into()),
    ] {
        for compressor in [
            Compressor::None,
            Compressor::Smart,
            Compressor::Zstd { level: 3 },
        ] {
            let options = EntryOptions {
                serializer,
                compressor,
                ..EntryOptions::default()
            };
            let (mut out, mut scratch) = (Vec::new(), Vec::new());
            let limits = Limits::default();
            encode(&value, &options, &mut out).unwrap();
            decode_payload(&out, Verify::Checksum, &limits, &mut scratch).unwrap();
            let (_, calls) = measure(|| {
                out.clear();
                encode(&value, &options, &mut out).unwrap();
                decode_payload(&out, Verify::Checksum, &limits, &mut scratch)
                    .map(drop)
                    .unwrap();
            });
            assert_eq!(calls, 0, "{serializer:?} {compressor:?}");
        }
    }
}

/// User code may reserve memory by the lengths that it is given.
#[test]
fn typed_reads_take_memory_by_the_bytes_that_are_there() {
    #[derive(serde::Deserialize)]
    struct Tree(#[allow(dead_code)] Vec<Tree>);
    type Wide = Vec<[u64; 8]>;
    type Maps = std::collections::HashMap<String, String>;

    let mut lengths = b"\xDD\xFF\xFF\xFF\xFF".repeat(100);
    lengths.extend([0xC0; 100]);
    let text = [b"\xDB\xFF\xFF\xFF\xFF".as_slice(), &[b'x'; 100]].concat();
    let bytes = [b"\xC6\xFF\xFF\xFF\xFF".as_slice(), &[b'x'; 100]].concat();
    let map = [b"\xDF\xFF\xFF\xFF\xFF".as_slice(), &[0xA0; 100]].concat();
    for payload in [lengths, text, bytes, map] {
        let reads = [
            refuses::<Tree>,
            refuses::<Wide>,
            refuses::<Maps>,
            refuses::<Vec<u8>>,
            refuses::<String>,
        ];
        for read in reads {
            let (peak, _) = measure(|| assert!(read(&payload)));
            assert!(peak <= SMALL + 80 * payload.len(), "{peak} bytes");
        }
    }
}

fn refuses<T: serde::de::DeserializeOwned>(payload: &[u8]) -> bool {
    deserialize::<T>(Serializer::MessagePack, payload, &Limits::default()).is_err()
}

#[test]
fn bincode_takes_memory_by_the_bytes_that_are_there() {
    #[derive(serde::Deserialize)]
    struct Tree(#[allow(dead_code)] Vec<Tree>);
    type Maps = std::collections::HashMap<String, Vec<String>>;

    fn refuses<T: serde::de::DeserializeOwned>(payload: &[u8]) -> bool {
        deserialize::<T>(Serializer::Bincode, payload, &Limits::default()).is_err()
    }
    let huge = [253, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F];
    let mut once = huge.to_vec();
    once.extend([1; 200]);
    for payload in [once, huge.repeat(100), vec![252; 300]] {
        let reads = [
            refuses::<Tree>,
            refuses::<Vec<[u64; 8]>>,
            refuses::<Maps>,
            refuses::<Vec<Vec<Vec<u64>>>>,
            refuses::<Vec<u8>>,
            refuses::<String>,
            refuses::<Vec<()>>,
        ];
        for read in reads {
            let (peak, _) = measure(|| assert!(read(&payload)));
            assert!(peak <= SMALL + 80 * payload.len(), "{peak} bytes");
        }
    }
}

#[test]
fn writing_a_type_does_not_allocate() {
    #[derive(serde::Serialize, serde::Deserialize)]
    struct User {
        name: &'static str,
        visits: Vec<u32>,
    }
    let user = User {
        name: "Ada",
        visits: (0..100).collect(),
    };
    for serializer in [Serializer::Json, Serializer::MessagePack] {
        for structs in [Structs::Maps, Structs::Lists] {
            let options = EntryOptions {
                serializer,
                structs,
                ..EntryOptions::default()
            };
            let mut out = Vec::new();
            encode_typed(&user, &options, &mut out).unwrap();
            let (_, calls) = measure(|| {
                out.clear();
                encode_typed(&user, &options, &mut out).unwrap();
            });
            assert_eq!(calls, 0, "{serializer:?}");
        }
    }
}
