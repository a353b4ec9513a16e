//! What a writer may ask for, and what is rejected.

use polycache_entry::{
    encode, encode_payload, Compressor, EntryOptions, Error, Header, Limits, Serializer, Tag,
    Value, Verify, HEADER_LEN, MAX_DIGITS, MAX_TIMESTAMP_SECONDS, MAX_TIME_MS,
    MIN_TIMESTAMP_SECONDS,
};

fn write(options: &EntryOptions<'_>) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    encode(&Value::Null, options, &mut out)?;
    Ok(out)
}

fn refused(options: &EntryOptions<'_>) {
    assert_eq!(write(options).unwrap_err().code(), "invalid_argument");
}

#[test]
fn a_plain_entry_costs_24_bytes() {
    let options = EntryOptions {
        created: 1,
        expires: 2,
        ..EntryOptions::default()
    };
    assert_eq!(write(&options).unwrap().len(), HEADER_LEN + 1);
}

#[test]
fn times_have_48_bits() {
    let latest = EntryOptions {
        created: MAX_TIME_MS,
        expires: MAX_TIME_MS,
        ..EntryOptions::default()
    };
    write(&latest).unwrap();
    refused(&EntryOptions {
        created: MAX_TIME_MS + 1,
        ..latest
    });
    refused(&EntryOptions {
        expires: MAX_TIME_MS + 1,
        ..latest
    });
}

#[test]
fn zstd_has_levels_1_to_22() {
    let level = |level| EntryOptions {
        compressor: Compressor::Zstd { level },
        ..EntryOptions::default()
    };
    write(&level(1)).unwrap();
    write(&level(22)).unwrap();
    for wrong in [i32::MIN, -1, 0, 23] {
        refused(&level(wrong));
    }
}

#[test]
fn tags_fill_the_header_and_no_more() {
    // 24 bytes, a count of 2, and per tag 10 more than its name.
    let most = 65_535 - 24 - 2 - 10;
    let name = "x".repeat(most + 1);
    let write = |len: usize| {
        let tags = [Tag {
            name: &name[..len],
            generation: 1,
        }];
        write(&EntryOptions {
            tags: &tags,
            ..EntryOptions::default()
        })
    };
    let entry = write(most).unwrap();
    let header = Header::parse(&entry, Verify::Checksum).unwrap();
    assert_eq!(header.header_len, 65_535);
    assert_eq!(header.tags.iter().next().unwrap().name.len(), most);
    assert_eq!(write(most + 1).unwrap_err().code(), "invalid_argument");
    let many = vec![
        Tag {
            name: "",
            generation: 0
        };
        70_000
    ];
    refused(&EntryOptions {
        tags: &many,
        ..EntryOptions::default()
    });
}

#[test]
fn entries_are_appended_and_failures_leave_nothing() {
    let mut out = write(&EntryOptions::default()).unwrap();
    let first = out.clone();
    let json = EntryOptions {
        serializer: Serializer::Json,
        ..EntryOptions::default()
    };
    let bad = Value::List(vec![Value::from("a"), Value::Float(f64::NAN)]);
    encode(&bad, &json, &mut out).unwrap_err();
    assert_eq!(out, first);
    encode_payload(b"null", Serializer::Json, &json, &mut out).unwrap();
    assert!(out.starts_with(&first));
    Header::parse(&out[first.len()..], Verify::Checksum).unwrap();
}

#[test]
fn numbers_and_moments_outside_the_type_map_are_refused() {
    let digits = |count| "9".repeat(count);
    let moment = |seconds, nanos| Value::Timestamp { seconds, nanos };
    for value in [
        Value::Int(i128::from(u64::MAX) + 1),
        Value::Int(i128::from(i64::MIN) - 1),
        Value::BigInt("5".into()),
        Value::BigInt("18446744073709551615".into()),
        Value::BigInt("0x10000000000000000".into()),
        Value::BigInt(digits(MAX_DIGITS + 1).into()),
        Value::Decimal("1e5".into()),
        Value::Decimal(digits(MAX_DIGITS + 1).into()),
        moment(0, 1_000_000_000),
        moment(MIN_TIMESTAMP_SECONDS - 1, 0),
        moment(MAX_TIMESTAMP_SECONDS + 1, 0),
    ] {
        let mut out = Vec::new();
        let error = encode(&value, &EntryOptions::default(), &mut out).unwrap_err();
        assert_eq!(error.code(), "unsupported_value", "{value:?}");
    }
    for value in [
        Value::integer(i128::MAX),
        Value::BigInt(digits(MAX_DIGITS).into()),
        Value::Decimal(digits(MAX_DIGITS).into()),
        moment(MIN_TIMESTAMP_SECONDS, 0),
        moment(MAX_TIMESTAMP_SECONDS, 999_999_999),
    ] {
        encode(&value, &EntryOptions::default(), &mut Vec::new()).unwrap();
    }
}

#[test]
fn the_limit_holds_for_every_payload() {
    let limits = Limits::of(4);
    for compressor in [Compressor::None, Compressor::Zstd { level: 1 }] {
        let options = EntryOptions {
            compressor,
            ..EntryOptions::default()
        };
        for (payload, fits) in [(&b"four"[..], true), (b"fives", false)] {
            let mut entry = Vec::new();
            encode_payload(payload, Serializer::Bytes, &options, &mut entry).unwrap();
            let mut scratch = Vec::new();
            let read =
                polycache_entry::decode_payload(&entry, Verify::Checksum, &limits, &mut scratch);
            match read {
                Ok((_, read)) => assert_eq!((read, fits), (payload, true)),
                Err(error) => assert_eq!(
                    (error, fits),
                    (Error::ValueTooLarge { size: 5, limit: 4 }, false)
                ),
            }
        }
    }
}

/// Room left over from another payload does not make LENGTH false.
#[test]
fn a_large_scratch_changes_nothing() {
    let options = EntryOptions {
        compressor: Compressor::Zstd { level: 3 },
        ..EntryOptions::default()
    };
    let mut entry = Vec::new();
    encode_payload(&[7; 1000], Serializer::Bytes, &options, &mut entry).unwrap();
    entry[HEADER_LEN..][..8].copy_from_slice(&999u64.to_le_bytes());
    let mut scratch = Vec::with_capacity(5000);
    let read =
        polycache_entry::decode_payload(&entry, Verify::Trusted, &Limits::default(), &mut scratch);
    assert_eq!(read.unwrap_err().code(), "malformed_entry");
}
