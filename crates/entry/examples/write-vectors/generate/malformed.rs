//! `malformed.json`: at least one entry for every check of "Reading" in `spec/entry.md`.

use super::bytes::{
    block_header, frame, plain, raw_block, run_block, seal, zstd, Raw, CREATED, ONE_MIB, WINDOW,
};
use super::{lines, payloads};
use polycache_entry::tagged::hex_encode;
use polycache_entry::{encode_payload, Compressor, EntryOptions, Serializer, Tag};
use serde_json::json;

const MALFORMED: &str = "malformed_entry";
const VERSION: &str = "unsupported_version";
const CHECKSUM: &str = "checksum_mismatch";
const FLAGS: &str = "unsupported_flags";
const SERIALIZER: &str = "unsupported_serializer";
const COMPRESSOR: &str = "unsupported_compressor";
const TOO_LARGE: &str = "value_too_large";

pub fn text() -> String {
    let mut rows = Rows(Vec::new());
    rows.first_bytes();
    rows.checksums();
    rows.ids_and_flags();
    rows.fields();
    rows.compressed();
    for (kind, serializer, name, payload) in payloads::all() {
        rows.add(
            &format!("{kind}: {name}"),
            plain(serializer, &payload),
            MALFORMED,
        );
    }
    lines(rows.0.into_iter().map(|(name, entry, error)| {
        format!(
            r#"{{"name":{},"entry":"{}","error":"{error}"}}"#,
            json!(name),
            hex_encode(&entry)
        )
    }))
}

struct Rows(Vec<(String, Vec<u8>, &'static str)>);

impl Rows {
    fn add(&mut self, name: &str, entry: Vec<u8>, error: &'static str) {
        self.0.push((name.to_owned(), entry, error));
    }

    fn raw(&mut self, name: &str, raw: Raw, error: &'static str) {
        self.add(name, raw.bytes(), error);
    }

    /// Steps 1 and 2.
    fn first_bytes(&mut self) {
        let whole = Raw::default().bytes();
        for len in [0, 1, 4, 8, 23] {
            self.add(&format!("{len} bytes"), whole[..len].to_vec(), MALFORMED);
        }
        self.add(
            "text",
            b"not an entry, but thirty bytes".to_vec(),
            MALFORMED,
        );
        let mut magic = whole.clone();
        magic[0] = 0xC0;
        seal(&mut magic);
        self.add("another magic", magic, MALFORMED);
        for version in [0, 2, 255] {
            let raw = Raw {
                version,
                ..Raw::default()
            };
            self.raw(&format!("version {version}"), raw, VERSION);
        }
        let mut version = whole;
        version[1] = 2;
        self.add("version 2 with a wrong checksum", version, VERSION);
    }

    /// Step 3.
    fn checksums(&mut self) {
        let whole = Raw {
            flags: 1,
            fields: vec![1; 8],
            payload: b"\xA5hello".to_vec(),
            ..Raw::default()
        }
        .bytes();
        for (at, what) in [
            (2, "serializer"),
            (3, "compressor"),
            (4, "checksum"),
            (8, "created"),
            (14, "flags"),
            (16, "expires"),
            (22, "header_len"),
            (24, "fields"),
            (whole.len() - 1, "payload"),
        ] {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            self.add(&format!("a bit of the {what} flipped"), damaged, CHECKSUM);
        }
        self.add(
            "cut off by a byte",
            whole[..whole.len() - 1].to_vec(),
            CHECKSUM,
        );
        self.add("longer by a byte", [&whole[..], &[0]].concat(), CHECKSUM);
        let mut zeros = vec![0; 24];
        zeros[..2].copy_from_slice(&[0xC1, 1]);
        self.add("nothing behind the version", zeros, CHECKSUM);
    }

    /// Step 4.
    fn ids_and_flags(&mut self) {
        for bit in [5, 8, 15] {
            let raw = Raw {
                flags: 1 << bit,
                ..Raw::default()
            };
            self.raw(&format!("flag bit {bit}"), raw, FLAGS);
        }
        for (serializer, name) in [
            (4, "serializer 4 (Bincode)"),
            (5, "serializer 5"),
            (255, "serializer 255"),
        ] {
            self.raw(
                name,
                Raw {
                    serializer,
                    ..Raw::default()
                },
                SERIALIZER,
            );
        }
        for compressor in [2, 255] {
            let raw = Raw {
                compressor,
                ..Raw::default()
            };
            self.raw(&format!("compressor {compressor}"), raw, COMPRESSOR);
        }
        let all = || Raw {
            flags: 32,
            serializer: 5,
            compressor: 2,
            header_len: Some(0),
            ..Raw::default()
        };
        // What typed Rust writes with Bincode: (7u64, "seven"), with all that an entry can have.
        let bincode = b"\x07\x05seven";
        self.add("Bincode, tuple", plain(4, bincode), SERIALIZER);
        for compressor in [Compressor::None, Compressor::Zstd { level: 3 }] {
            let options = EntryOptions {
                compressor,
                created: CREATED,
                expires: CREATED + 60_000,
                fresh_until: Some(CREATED + 30_000),
                tags: &[Tag {
                    name: "numbers",
                    generation: 1,
                }],
                ..EntryOptions::default()
            };
            let mut entry = Vec::new();
            encode_payload(bincode, Serializer::Bincode, &options, &mut entry)
                .expect("options in their range");
            let name = match compressor {
                Compressor::None => "Bincode, everything",
                _ => "Bincode, everything, zstd 3",
            };
            self.add(name, entry, SERIALIZER);
        }
        self.raw("flags come before serializer and compressor", all(), FLAGS);
        self.raw(
            "the serializer comes before the compressor",
            Raw { flags: 0, ..all() },
            SERIALIZER,
        );
        self.raw(
            "the compressor comes before header_len",
            Raw {
                flags: 0,
                serializer: 3,
                ..all()
            },
            COMPRESSOR,
        );
    }

    /// Step 5, of the field TIME_TO_IDLE.
    fn times_to_idle(&mut self) {
        let idle = |expires, time: u64, ends: u64| Raw {
            flags: 16,
            expires,
            fields: [time.to_le_bytes(), ends.to_le_bytes()].concat(),
            ..Raw::default()
        };
        const LATER: u64 = CREATED + 9_000;
        for (name, raw) in [
            ("TIME_TO_IDLE of 0 ms", idle(LATER, 0, 0)),
            ("TIME_TO_IDLE of 2^48 ms", idle(LATER, 1 << 48, 0)),
            ("TIME_TO_IDLE ends at 2^48", idle(LATER, 8_000, 1 << 48)),
            ("TIME_TO_IDLE of an entry without expiry", idle(0, 8_000, 0)),
            (
                "TIME_TO_IDLE ends before the entry expires",
                idle(LATER, 8_000, LATER - 1),
            ),
        ] {
            self.raw(name, raw, MALFORMED);
        }
        for cut in [0, 8, 15] {
            let mut raw = idle(LATER, 8_000, 0);
            raw.fields.truncate(cut);
            self.raw(&format!("TIME_TO_IDLE of {cut} bytes"), raw, MALFORMED);
        }
        let mut longer = idle(LATER, 8_000, 0);
        longer.fields.push(0);
        self.raw("a byte behind TIME_TO_IDLE", longer, MALFORMED);
    }

    /// Step 5.
    fn fields(&mut self) {
        for len in [0, 23, 26, 65535] {
            let raw = Raw {
                header_len: Some(len),
                ..Raw::default()
            };
            self.raw(&format!("header_len {len} of 25 bytes"), raw, MALFORMED);
        }
        let spare = Raw {
            header_len: Some(25),
            ..Raw::default()
        };
        self.raw("header_len covers the payload", spare, MALFORMED);
        let fields = |flags, fields: &[u8]| Raw {
            flags,
            fields: fields.to_vec(),
            ..Raw::default()
        };
        self.raw("a field without its flag", fields(0, &[0; 8]), MALFORMED);
        self.raw("a byte behind the fields", fields(1, &[0; 9]), MALFORMED);
        for cut in [0, 7] {
            self.raw(
                &format!("FRESH_UNTIL of {cut} bytes"),
                fields(1, &[0; 8][..cut]),
                MALFORMED,
            );
            let length = Raw {
                compressor: 1,
                ..fields(2, &[0; 8][..cut])
            };
            self.raw(&format!("LENGTH of {cut} bytes"), length, MALFORMED);
        }
        let both = Raw {
            compressor: 1,
            ..fields(3, &[0; 8])
        };
        self.raw("FRESH_UNTIL without the LENGTH behind it", both, MALFORMED);
        self.times_to_idle();
        let tag = [&[1, 0, 2, 0][..], b"ab", &[7, 0, 0, 0, 0, 0, 0, 0]].concat();
        for (cut, what) in [
            (0, "its count"),
            (1, "its count"),
            (3, "a tag's length"),
            (5, "a tag's text"),
            (6, "a tag's generation"),
            (13, "a tag's generation"),
        ] {
            self.raw(
                &format!("TAGS cut off in {what}, after {cut} bytes"),
                fields(4, &tag[..cut]),
                MALFORMED,
            );
            let outside = Raw {
                header_len: Some(24 + tag.len() as u16),
                payload: Vec::new(),
                ..fields(4, &tag[..cut])
            };
            self.raw(
                &format!("the entry cut off in {what}, after {cut} bytes of TAGS"),
                outside,
                MALFORMED,
            );
        }
        let many = [&[255, 255][..], &tag[2..]].concat();
        self.raw(
            "65535 tags declared, one there",
            fields(4, &many),
            MALFORMED,
        );
        let long = [&[1, 0, 255, 255][..], &tag[4..]].concat();
        self.raw(
            "a tag of 65535 bytes declared, two there",
            fields(4, &long),
            MALFORMED,
        );
        for (bad, what) in [
            (*b"\xFFa", "a stray byte"),
            (*b"\xC3(", "half a character"),
            (*b"\xC0\x80", "an overlong NUL"),
        ] {
            let tag = [&tag[..4], &bad, &tag[6..]].concat();
            self.raw(
                &format!("a tag that is not UTF-8: {what}"),
                fields(4, &tag),
                MALFORMED,
            );
        }
        let surrogate = [&[1, 0, 3, 0][..], b"\xED\xA0\x80", &tag[6..]].concat();
        self.raw(
            "a tag that is not UTF-8: a surrogate",
            fields(4, &surrogate),
            MALFORMED,
        );
        self.raw(
            "LENGTH without a compressor",
            fields(2, &1u64.to_le_bytes()),
            MALFORMED,
        );
        self.raw(
            "a compressor without LENGTH",
            Raw {
                compressor: 1,
                ..Raw::default()
            },
            MALFORMED,
        );
    }

    /// Step 6, and step 7 as far as the compressor goes.
    fn compressed(&mut self) {
        const LIMIT: u64 = 64 * 1024 * 1024;
        let hello = frame(WINDOW, ONE_MIB, &[raw_block(true, b"hello")]);
        self.add(
            "LENGTH one above 64 MiB",
            zstd(LIMIT + 1, &hello),
            TOO_LARGE,
        );
        self.add("LENGTH 2^64-1", zstd(u64::MAX, &hello), TOO_LARGE);
        self.add(
            "LENGTH above the limit comes before a bad frame",
            zstd(LIMIT + 1, b""),
            TOO_LARGE,
        );
        self.add(
            "LENGTH 64 MiB over five bytes",
            zstd(LIMIT, &hello),
            MALFORMED,
        );
        self.add("LENGTH one too large", zstd(6, &hello), MALFORMED);
        self.add("LENGTH one too small", zstd(4, &hello), MALFORMED);
        self.add("LENGTH 0 over five bytes", zstd(0, &hello), MALFORMED);
        for len in 0..hello.len() {
            self.add(
                &format!("a frame cut off after {len} bytes"),
                zstd(5, &hello[..len]),
                MALFORMED,
            );
        }
        self.add("no frame", zstd(5, b"hello"), MALFORMED);
        self.add("no frame and LENGTH 0", zstd(0, b""), MALFORMED);
        self.add(
            "a byte behind the frame",
            zstd(5, &[&hello[..], &[0]].concat()),
            MALFORMED,
        );
        self.add("two frames", zstd(10, &hello.repeat(2)), MALFORMED);
        let empty = frame(WINDOW, ONE_MIB, &[raw_block(true, b"")]);
        self.add(
            "an empty frame behind the frame",
            zstd(5, &[&hello[..], &empty].concat()),
            MALFORMED,
        );
        let skippable = b"\x50\x2A\x4D\x18\x01\x00\x00\x00x".to_vec();
        self.add(
            "a skippable frame in front",
            zstd(5, &[&skippable[..], &hello].concat()),
            MALFORMED,
        );
        self.add("a skippable frame alone", zstd(0, &skippable), MALFORMED);
        let dictionary = frame(1, &[ONE_MIB, &[7]].concat(), &[raw_block(true, b"hello")]);
        self.add(
            "a frame that needs a dictionary",
            zstd(5, &dictionary),
            MALFORMED,
        );
        let reserved = frame(8, ONE_MIB, &[raw_block(true, b"hello")]);
        self.add(
            "a reserved bit in the frame's header",
            zstd(5, &reserved),
            MALFORMED,
        );
        let kind = frame(WINDOW, ONE_MIB, &[block_header(true, 3, 0)]);
        self.add("a reserved block type", zstd(0, &kind), MALFORMED);
        let large = frame(WINDOW, ONE_MIB, &[run_block(true, 128 * 1024 + 1)]);
        self.add(
            "a block above 128 KiB",
            zstd(128 * 1024 + 1, &large),
            MALFORMED,
        );
        let content_size = frame(0x20, &[6], &[raw_block(true, b"hello")]);
        self.add(
            "a frame whose own content size is wrong",
            zstd(5, &content_size),
            MALFORMED,
        );
        let sum = [frame(4, ONE_MIB, &[raw_block(true, b"hello")]), vec![0; 4]].concat();
        self.add(
            "a frame whose own checksum is wrong",
            zstd(5, &sum),
            MALFORMED,
        );
        // In a compressed block only decompression shows the real size.
        let text = b"Polycache ".repeat(100);
        let squeezed = zstd_frame(&text);
        for (length, what) in [
            (999, "one too small"),
            (1001, "one too large"),
            (128 * 1024, "the most of a block"),
        ] {
            self.add(
                &format!("LENGTH {what} over a compressed block"),
                zstd(length, &squeezed),
                MALFORMED,
            );
        }
        let huffman = [block_header(true, 2, 5), b"\xFF\xFF\xFF\xFF\xFF".to_vec()].concat();
        self.add(
            "a compressed block of garbage",
            zstd(5, &frame(WINDOW, ONE_MIB, &[huffman])),
            MALFORMED,
        );
        let mut blocks = vec![run_block(false, 128 * 1024); 79];
        blocks.push(run_block(true, 128 * 1024));
        let bomb = frame(WINDOW, ONE_MIB, &blocks);
        self.add(
            "a bomb: 10 MiB of zeros for LENGTH 1000",
            zstd(1000, &bomb),
            MALFORMED,
        );
        self.add(
            "a bomb: 10 MiB of zeros for LENGTH 64 MiB",
            zstd(LIMIT, &bomb),
            MALFORMED,
        );
        // A window of 2^41 bytes or so, which must not be allocated.
        let window = frame(WINDOW, &[0xFF], &[run_block(true, 100)]);
        self.add(
            "a frame that asks for the largest window",
            zstd(100, &window),
            MALFORMED,
        );
    }
}

fn zstd_frame(content: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(content, 3).expect("zstd compresses")
}
