//! Payloads that do not decode: step 7 for each serializer.

use polycache_entry::tagged::hex_decode;

type Payload = (&'static str, u8, String, Vec<u8>);

const TEXT: u8 = 1;
const JSON: u8 = 2;
const MESSAGEPACK: u8 = 3;

pub fn all() -> Vec<Payload> {
    let mut all = Vec::new();
    for (name, payload) in text() {
        all.push(("text", TEXT, name.to_owned(), payload.to_vec()));
    }
    for (name, payload) in json() {
        all.push(("JSON", JSON, name.to_owned(), payload));
    }
    for (name, payload) in messagepack() {
        all.push(("MessagePack", MESSAGEPACK, name.to_owned(), payload));
    }
    for (name, id, payload) in extensions() {
        let mut whole = vec![0xC8];
        whole.extend((payload.len() as u16).to_be_bytes());
        whole.push(id as u8);
        whole.extend(payload);
        all.push(("MessagePack", MESSAGEPACK, name, whole));
    }
    all
}

fn text() -> [(&'static str, &'static [u8]); 5] {
    [
        ("a stray byte", b"\xFF"),
        ("half a character", b"a\xC3"),
        ("an overlong NUL", b"\xC0\x80"),
        ("a surrogate", b"\xED\xA0\x80"),
        ("beyond U+10FFFF", b"\xF4\x90\x80\x80"),
    ]
}

fn json() -> Vec<(&'static str, Vec<u8>)> {
    let mut all: Vec<(&str, Vec<u8>)> = [
        ("nothing", ""),
        ("white space", "  "),
        ("two values", "1 2"),
        ("a comma behind the value", "1,"),
        ("cut off in a word", "tru"),
        ("cut off in text", "\"a"),
        ("cut off in an escape", "\"\\u12\""),
        ("cut off in a list", "[1"),
        ("cut off in a map", "{\"a\":1"),
        ("NaN", "NaN"),
        ("Infinity", "Infinity"),
        ("-Infinity", "-Infinity"),
        ("NaN in a list", "[NaN]"),
        ("undefined", "undefined"),
        ("a minus alone", "-"),
        ("a plus", "+1"),
        ("a zero in front", "01"),
        ("no digit behind the point", "1."),
        ("no digit before the point", ".5"),
        ("no digit in the exponent", "1e"),
        ("hexadecimal", "0x1F"),
        ("a float that overflows", "1e400"),
        ("a float that overflows, negative", "[-1e400]"),
        ("single quotes", "'a'"),
        ("a bare key", "{a:1}"),
        ("a number for a key", "{1:2}"),
        ("a key without a value", "{\"a\"}"),
        ("a comma before the end of a list", "[1,]"),
        ("a comma before the end of a map", "{\"a\":1,}"),
        ("a comma alone", "[,]"),
        ("the wrong bracket", "[1}"),
        ("a comment", "[1/* one */]"),
        ("an unknown escape", "\"\\x41\""),
        ("an escape with a sign", "\"\\u+041\""),
        ("a line feed in text", "\"a\nb\""),
        ("a NUL in text", "\"a\0b\""),
        ("a NUL behind the value", "1\0"),
        ("half a pair of surrogates", "\"\\ud800\""),
        ("the second half alone", "\"\\udc00\""),
        ("half a pair in a key", "{\"\\ud800\":1}"),
        ("half a pair and a letter", "\"\\ud800a\""),
        ("a byte order mark", "\u{FEFF}1"),
        ("a space that is not ASCII", "\u{A0}1"),
    ]
    .map(|(name, text)| (name, text.as_bytes().to_vec()))
    .into();
    all.push(("text that is not UTF-8", b"\"\xFF\"".to_vec()));
    all.push((
        "text that is not UTF-8: a surrogate",
        b"\"\xED\xA0\x80\"".to_vec(),
    ));
    all.push(("a key that is not UTF-8", b"{\"\xFF\":1}".to_vec()));
    all.push(("129 lists", [vec![b'['; 129], vec![b']'; 129]].concat()));
    all.push((
        "129 maps",
        [b"{\"a\":".repeat(129), b"1".to_vec(), vec![b'}'; 129]].concat(),
    ));
    all.push(("10000 lists begun", vec![b'['; 10_000]));
    all.push(("4000 maps begun", b"{\"a\":".repeat(4000)));
    all
}

fn messagepack() -> Vec<(&'static str, Vec<u8>)> {
    let mut all: Vec<(&str, Vec<u8>)> = [
        ("nothing", ""),
        ("the byte that is never used", "c1"),
        ("two values", "c0c0"),
        ("a byte behind a list", "910101"),
        ("uint 8 cut off", "cc"),
        ("uint 64 cut off", "cf00000000000000"),
        ("int 32 cut off", "d2000000"),
        ("float 32 cut off", "ca000000"),
        ("float 64 cut off", "cb00000000000000"),
        ("fixstr cut off", "a261"),
        ("str 8 without a length", "d9"),
        ("str 8 cut off", "d90261"),
        ("str 32 of 4 GiB", "dbffffffff61"),
        ("bin 8 cut off", "c402ff"),
        ("bin 32 of 4 GiB", "c6ffffffffff"),
        ("array 16 without a count", "dc00"),
        ("fixarray cut off", "9201"),
        ("array 32 of 2^32-1", "ddffffffff"),
        ("array 32 of 2^32-1 with one there", "ddffffffff01"),
        ("fixmap cut off behind a key", "81a161"),
        ("map 32 of 2^32-1", "dfffffffff"),
        ("map 32 of 2^31", "df80000000a16101"),
        (
            "lists that promise more than is there",
            "9f9f9f9f9f9f9f9f9f9f",
        ),
        ("an integer for a key", "810101"),
        ("nil for a key", "81c001"),
        ("bytes for a key", "81c4016101"),
        ("a list for a key", "819001"),
        ("an extension for a key", "81d6ff0000000001"),
        ("text that is not UTF-8", "a1ff"),
        ("text that is not UTF-8: a surrogate", "a3eda080"),
        ("a key that is not UTF-8", "81a1ff01"),
        ("an extension without a type", "d4"),
        ("fixext 16 cut off", "d804000000000000000000000000000000"),
        ("ext 32 of 4 GiB", "c9ffffffff01"),
    ]
    .map(|(name, hex)| (name, hex_decode(hex).expect("hex")))
    .into();
    all.push(("129 lists", [vec![0x91; 128], vec![0x90]].concat()));
    all.push(("129 maps", [b"\x81\xA1a".repeat(128), vec![0x80]].concat()));
    all.push((
        "a set on level 129",
        [&[0x91; 128][..], b"\xD4\x01\x90"].concat(),
    ));
    all.push((
        "a registered type on level 129",
        [&[0x91; 128][..], b"\xC7\x03\x05\xA1a\xC0"].concat(),
    ));
    all.push(("10000 lists begun", vec![0x91; 10_000]));
    all.push(("3000 maps begun", b"\x81\xA1a".repeat(3000)));
    all.push((
        "10000 lists of 2^32-1",
        b"\xDD\xFF\xFF\xFF\xFF".repeat(2000),
    ));
    all
}

fn extensions() -> Vec<(String, i8, Vec<u8>)> {
    let mut all = Vec::new();
    for id in [-128, -2, 0, 6, 127] {
        all.push((format!("extension type {id}"), id, vec![0xC0]));
    }
    for len in [0, 3, 5, 11, 13, 16] {
        all.push((format!("a timestamp of {len} bytes"), -1, vec![0; len]));
    }
    let wide = |nanos: u32, seconds: i64| {
        [nanos.to_be_bytes().to_vec(), seconds.to_be_bytes().to_vec()].concat()
    };
    let narrow = |nanos: u64, seconds: u64| (nanos << 34 | seconds).to_be_bytes().to_vec();
    all.push((
        "a timestamp 64 of 10^9 nanoseconds".into(),
        -1,
        narrow(1_000_000_000, 0),
    ));
    all.push((
        "a timestamp 64 of 2^30-1 nanoseconds".into(),
        -1,
        narrow((1 << 30) - 1, 0),
    ));
    all.push((
        "a timestamp 96 of 10^9 nanoseconds".into(),
        -1,
        wide(1_000_000_000, 0),
    ));
    all.push((
        "a timestamp 96 of 2^32-1 nanoseconds".into(),
        -1,
        wide(u32::MAX, 0),
    ));
    all.push((
        "a timestamp before the year 1".into(),
        -1,
        wide(999_999_999, -62_135_596_801),
    ));
    all.push((
        "a timestamp after the year 9999".into(),
        -1,
        wide(0, 253_402_300_800),
    ));
    all.push((
        "a timestamp at the end of 64 bits".into(),
        -1,
        wide(0, i64::MAX),
    ));
    all.push((
        "a timestamp at the beginning of 64 bits".into(),
        -1,
        wide(0, i64::MIN),
    ));
    for (name, payload) in [
        ("a set of nothing", &b""[..]),
        ("a set that is no array", b"\xC0"),
        ("a set that is a map", b"\x80"),
        ("a set cut off", b"\x92\x01"),
        ("a set of 2^32-1", b"\xDD\xFF\xFF\xFF\xFF"),
        ("a byte behind a set", b"\x91\x01\x01"),
        ("a set of a list", b"\x91\x90"),
        ("a set of a map", b"\x91\x80"),
        ("a set of a set", b"\x91\xD4\x01\x90"),
        ("a set of a registered type", b"\x91\xC7\x03\x05\xA1a\xC0"),
    ] {
        all.push((name.into(), 1, payload.to_vec()));
    }
    let name_of_256 = [&b"\xDA\x01\x00"[..], &[b'a'; 256], b"\xC0"].concat();
    for (name, payload) in [
        ("a registered type of nothing", &b""[..]),
        ("a registered type without a value", b"\xA1a"),
        ("a registered type without a name", b"\xC0"),
        ("a registered type whose name is bytes", b"\xC4\x01a\xC0"),
        ("a registered type whose name is a number", b"\x01\xC0"),
        ("a registered type with an empty name", b"\xA0\xC0"),
        ("a registered type with a name of 256 bytes", &name_of_256),
        ("a registered type whose name is not UTF-8", b"\xA1\xFF\xC0"),
        ("a registered type whose name is cut off", b"\xA2a"),
        (
            "a registered type of a list that is cut off",
            b"\xA1a\x92\xC0",
        ),
        (
            "a registered type of a list of 2^32-1",
            b"\xA1a\xDD\xFF\xFF\xFF\xFF",
        ),
        ("a byte behind a registered type", b"\xA1a\xC0\xC0"),
    ] {
        all.push((name.into(), 5, payload.to_vec()));
    }
    let nines = |count| "9".repeat(count);
    for text in [
        "",
        "-",
        "0",
        "-0",
        "-1",
        "00",
        "+18446744073709551616",
        "018446744073709551616",
        "18446744073709551616.0",
        "18446744073709551616 ",
        " 18446744073709551616",
        "18_446_744_073_709_551_616",
        "1e30",
        "0x10000000000000000",
        "NaN",
        "--18446744073709551616",
        "١٨٤٤٦٧٤٤٠٧٣٧٠٩٥٥١٦١٦",
        "18446744073709551615",
        "-9223372036854775808",
    ] {
        all.push((format!("a big integer {text:?}"), 2, text.into()));
    }
    all.push((
        "a big integer that is not UTF-8".into(),
        2,
        b"9\xFF".to_vec(),
    ));
    all.push(("a big integer of 4301 digits".into(), 2, nines(4301).into()));
    for text in [
        "",
        "-",
        ".",
        "1.",
        ".5",
        "-.5",
        "+1",
        "1e5",
        "1E",
        "1E+",
        "E5",
        "1.E5",
        "1E5.0",
        "1E1234567890",
        "1E-1234567890",
        " 1",
        "1 ",
        "1_000",
        "1,5",
        "nan",
        "-NaN",
        "sNaN",
        "inf",
        "infinity",
        "+Infinity",
        "0x1",
        "١",
        "--1",
    ] {
        all.push((format!("a decimal {text:?}"), 3, text.into()));
    }
    all.push(("a decimal that is not UTF-8".into(), 3, b"1\xFF".to_vec()));
    all.push(("a decimal of 4301 characters".into(), 3, nines(4301).into()));
    for len in [0, 15, 17, 36] {
        all.push((format!("a UUID of {len} bytes"), 4, vec![b'0'; len]));
    }
    all
}
