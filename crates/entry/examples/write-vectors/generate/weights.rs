//! `weights.json`. Another version of zstd may compress differently, so it is written only on request, and tests
//! read the committed file. The payloads are built by hand, so that this crate does not vouch for its own reader.

use super::bytes::CREATED;
use super::{folder, lines};
use polycache_entry::tagged::{hex_decode, hex_encode, read_rows};
use polycache_entry::{
    encode_payload, Compressor, Dictionaries, Encryption, EntryOptions, Serializer,
};
use serde_json::{json, Value as Json};

const MIB: u64 = 1 << 20;
/// The least limit on weights.
const LEAST: u64 = 4 * MIB;
const DEFAULT: u64 = 64 * MIB;
/// How often a row repeats what it is about.
const TIMES: usize = 1000;
const TOO_LARGE: &str = "value_too_large";
const KEY: [u8; 32] = [7; 32];
const FULL_KEY: &[u8] = b"shop::user:1";

/// Name and text of each file.
#[allow(dead_code)] // The tests read what is committed.
pub fn files() -> [(&'static str, String); 1] {
    let mut rows = Vec::new();
    for (name, elements, weight, bytes) in messagepack() {
        let list = List::of(Serializer::MessagePack, elements, weight, bytes);
        rows.extend(list.rows(name, LEAST, Extra::None));
    }
    for (name, elements, weight, text) in json() {
        let list = List::of(Serializer::Json, elements, weight, text.into());
        rows.extend(list.rows(&format!("JSON: {name}"), LEAST, Extra::None));
    }
    let empty = || List::of(Serializer::MessagePack, 1, 16, vec![0x90]);
    rows.extend(empty().rows("a max_value below the least limit", LEAST / 2, Extra::None));
    rows.extend(empty().rows("a max_value above the least limit", 5 * MIB, Extra::None));
    rows.extend(empty().rows("encrypted", LEAST, Extra::Encryption));
    rows.extend(empty().rows("with a dictionary", LEAST, Extra::Dictionary));
    for (name, serializer, payload) in hostile() {
        let name = format!("hostile: {name}");
        let refused = Some(TOO_LARGE);
        rows.push(row(
            &name,
            serializer,
            DEFAULT,
            &payload,
            refused,
            Extra::None,
        ));
    }
    [("weights.json", lines(rows.into_iter()))]
}

/// What a row's reader needs.
#[derive(Clone, Copy, PartialEq)]
enum Extra {
    None,
    Encryption,
    Dictionary,
}

/// Name, number of elements, their weight, their bytes.
fn messagepack() -> Vec<(&'static str, usize, u64, Vec<u8>)> {
    let nested = [vec![0x91; 99], vec![0x90]].concat();
    let twenty: Vec<u8> = (b'a'..b'u').flat_map(|key| [0xA1, key, 0xC0]).collect();
    vec![
        ("null", 1, 4, vec![0xC0]),
        ("bools", 2, 8, vec![0xC2, 0xC3]),
        (
            "integers of every form",
            10,
            40,
            [
                &b"\x07\xE0\xCC\x80\xCD\x01\x00\xCE\x00\x01\x00\x00"[..],
                b"\xCF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xD0\x80\xD1\x80\x00\xD2\x80\x00\x00\x00",
                b"\xD3\x80\x00\x00\x00\x00\x00\x00\x00",
            ]
            .concat(),
        ),
        (
            "floats",
            2,
            8,
            b"\xCA\x3F\xC0\x00\x00\xCB\x3F\xF8\x00\x00\x00\x00\x00\x00".to_vec(),
        ),
        (
            "texts",
            4,
            16,
            b"\xA0\xA2[[\xD9\x01a\xDA\x00\x01b".to_vec(),
        ),
        ("empty list", 1, 16, vec![0x90]),
        ("list of two", 1, 24, vec![0x92, 0xC0, 0x01]),
        ("lists with long heads", 2, 40, b"\xDC\x00\x01\xC0\xDD\x00\x00\x00\x01\xC0".to_vec()),
        ("100 levels", 1, 1600, nested),
        ("empty map", 1, 16, vec![0x80]),
        ("map of two", 1, 32, b"\x82\xA1a\xC0\xA1b\x01".to_vec()),
        ("map with a long head", 1, 176, [&[0xDE, 0, 20][..], &twenty].concat()),
        ("map in a map", 1, 44, b"\x81\xA1a\x81\xA1b\xC0".to_vec()),
        ("bytes", 3, 48, b"\xC4\x00\xC4\x02\x90\x90\xC5\x00\x01\x90".to_vec()),
        (
            "timestamps",
            3,
            48,
            b"\xD6\xFF\x00\x00\x00\x01\xD7\xFF\x00\x00\x00\x04\x00\x00\x00\x01\xC7\x0C\xFF\x00\x00\x00\x01\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"
                .to_vec(),
        ),
        ("set", 2, 40, b"\xD4\x01\x90\xC7\x03\x01\x92\x01\x02".to_vec()),
        ("big integer", 1, 16, b"\xC7\x14\x0218446744073709551616".to_vec()),
        ("decimal", 1, 16, b"\xC7\x03\x031.5".to_vec()),
        ("UUID", 1, 16, [&[0xD8, 4][..], &[0x90; 16]].concat()),
        ("registered type", 1, 24, b"\xC7\x03\x05\xA1t\xC0".to_vec()),
        ("registered type of a list", 1, 40, b"\xD6\x05\xA1t\x91\xC0".to_vec()),
    ]
}

/// Name, number of elements, their weight, their text.
fn json() -> [(&'static str, usize, u64, String); 6] {
    let levels = "[".repeat(100) + &"]".repeat(100);
    [
        (
            "words and numbers",
            5,
            20,
            "null,true,false,0,-1.5e+3".into(),
        ),
        ("texts", 3, 12, r#""","[{,:","\"]\\""#.into()),
        ("white space", 3, 24, "[ ] , 1\n,\t\"a b\" ".into()),
        ("lists", 2, 56, "[],[[],1,2]".into()),
        ("maps", 2, 72, r#"{},{"a[":{},"b\"":[]}"#.into()),
        ("100 levels", 1, 1600, levels),
    ]
}

/// A list of what a row is about, filled up with empty lists and a few zeros until it weighs what it may.
struct List {
    serializer: Serializer,
    elements: usize,
    weight: u64,
    bytes: Vec<u8>,
}

impl List {
    fn of(serializer: Serializer, elements: usize, weight: u64, bytes: Vec<u8>) -> List {
        List {
            serializer,
            elements,
            weight,
            bytes,
        }
    }

    /// The payload of a list that weighs `limit`, with as many zeros `more`.
    fn payload(&self, limit: u64, more: usize) -> Vec<u8> {
        let left = limit - 16 - self.weight * TIMES as u64;
        let (lists, zeros) = ((left / 16) as usize, (left % 16 / 4) as usize + more);
        let count = self.elements * TIMES + lists + zeros;
        match self.serializer {
            Serializer::Json => {
                let text = std::str::from_utf8(&self.bytes).expect("text");
                let mut all = vec![text; TIMES];
                all.extend(vec!["[]"; lists]);
                all.extend(vec!["0"; zeros]);
                format!("[{}]", all.join(",")).into_bytes()
            }
            _ => {
                let mut payload = vec![0xDD];
                payload.extend((count as u32).to_be_bytes());
                payload.extend(self.bytes.repeat(TIMES));
                payload.extend(vec![0x90; lists]);
                payload.extend(vec![0x00; zeros]);
                payload
            }
        }
    }

    /// The row at the limit, and the one above.
    fn rows(&self, name: &str, max_value: u64, extra: Extra) -> [String; 2] {
        let limit = max_value.max(LEAST);
        let (at, above) = (self.payload(limit, 0), self.payload(limit, 1));
        let beyond = format!("{name}, 4 more");
        [
            row(name, self.serializer, max_value, &at, None, extra),
            row(
                &beyond,
                self.serializer,
                max_value,
                &above,
                Some(TOO_LARGE),
                extra,
            ),
        ]
    }
}

/// What is little as bytes and gigabytes as objects.
fn hostile() -> Vec<(&'static str, Serializer, Vec<u8>)> {
    const MANY: usize = 50_000_000;
    let list = |head: u8, count: usize, element: &[u8], times: usize| {
        let mut payload = vec![head];
        payload.extend((count as u32).to_be_bytes());
        payload.extend(element.repeat(times));
        payload
    };
    let of_15 = [&[0x9F][..], &[0x90; 15]].concat();
    let many_15 = MANY / of_15.len();
    let mut json = b"[".to_vec();
    json.extend(b"[],".repeat(MANY / 3));
    json.extend(b"0]");
    vec![
        (
            "50 million empty lists",
            Serializer::MessagePack,
            list(0xDD, MANY, &[0x90], MANY),
        ),
        (
            "50 million zeros",
            Serializer::MessagePack,
            list(0xDD, MANY, &[0], MANY),
        ),
        (
            "50 million empty lists in lists of 15",
            Serializer::MessagePack,
            list(0xDD, many_15, &of_15, many_15),
        ),
        (
            "25 million equal keys",
            Serializer::MessagePack,
            list(0xDF, MANY / 2, &[0xA0, 0xC0], MANY / 2),
        ),
        (
            "16 million empty sets",
            Serializer::MessagePack,
            list(0xDD, MANY / 3, &[0xD4, 1, 0x90], MANY / 3),
        ),
        ("17 million empty lists in JSON", Serializer::Json, json),
    ]
}

fn row(
    name: &str,
    serializer: Serializer,
    max_value: u64,
    payload: &[u8],
    error: Option<&str>,
    extra: Extra,
) -> String {
    let encryption = (extra == Extra::Encryption)
        .then(|| Encryption::new([(7, KEY)]).expect("a key of 32 bytes"));
    let compressor = Compressor::Zstd { level: 19 };
    let dictionary = (extra == Extra::Dictionary)
        .then(|| Dictionaries::new([first_dictionary()], compressor).expect("a dictionary"));
    let options = EntryOptions {
        compressor,
        dictionaries: dictionary.as_ref(),
        created: CREATED,
        encryption: encryption.as_ref().map(|keys| keys.of(FULL_KEY, b"")),
        max_length: u64::MAX,
        ..EntryOptions::default()
    };
    let mut entry = Vec::new();
    encode_payload(payload, serializer, &options, &mut entry).expect("an entry");
    let mut row = json!({
        "name": name,
        "serializer": serializer.name(),
        "max_value": max_value,
        "entry": hex_encode(&entry),
    });
    if let Some(error) = error {
        row["error"] = json!(error);
    }
    match extra {
        Extra::None => {}
        Extra::Encryption => {
            row["encryption"] = json!([{"id": 7, "key": hex_encode(&KEY)}]);
            row["full_key"] = json!(hex_encode(FULL_KEY));
        }
        Extra::Dictionary => row["dictionaries"] = json!(["first"]),
    }
    row.to_string()
}

/// The dictionary of this name in `dictionaries.json`.
fn first_dictionary() -> Vec<u8> {
    let text = std::fs::read_to_string(folder().join("dictionaries.json")).expect("the file");
    let rows = read_rows(&text).expect("dictionaries.json is rows");
    let first = rows.iter().find(|row| row["name"] == "first");
    let hex = first.map_or(&Json::Null, |row| &row["dictionary"]);
    hex_decode(hex.as_str().expect("hex")).expect("hex")
}
