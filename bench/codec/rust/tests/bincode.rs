//! That our Bincode is bincode 2's, byte for byte, in both directions.

use polycache_bench_codec::serializers::{Bincode, Format, PolycacheBincode, Serializer};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Everything {
    flag: bool,
    signed: (i8, i16, i32, i64, i128),
    unsigned: (u8, u16, u32, u64, u128),
    floats: (f32, f64),
    letter: char,
    text: String,
    maybe: Option<Box<Everything>>,
    nothing: (),
    unit: Unit,
    shapes: Vec<Shape>,
    map: BTreeMap<(u8, String), Vec<u16>>,
    array: [u32; 3],
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Unit;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Wrapped(u64);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Shape {
    Point,
    Circle(f32),
    Line(i32, i32),
    Box {
        width: Wrapped,
        name: Option<String>,
    },
}

/// Integers of every width in about the same number.
fn bits(random: &mut fastrand::Rng) -> u128 {
    random.u128(..) >> random.u32(..128)
}

fn text(random: &mut fastrand::Rng) -> String {
    (0..random.usize(..300)).map(|_| random.char(..)).collect()
}

fn shape(random: &mut fastrand::Rng) -> Shape {
    match random.u8(..4) {
        0 => Shape::Point,
        1 => Shape::Circle(random.f32()),
        2 => Shape::Line(bits(random) as i32, bits(random) as i32),
        _ => Shape::Box {
            width: Wrapped(bits(random) as u64),
            name: random.bool().then(|| text(random)),
        },
    }
}

fn everything(random: &mut fastrand::Rng, depth: usize) -> Everything {
    let b = bits;
    Everything {
        flag: random.bool(),
        signed: (
            b(random) as i8,
            b(random) as i16,
            -(b(random) as i32 / 2),
            b(random) as i64,
            b(random) as i128,
        ),
        unsigned: (
            b(random) as u8,
            b(random) as u16,
            b(random) as u32,
            b(random) as u64,
            b(random),
        ),
        floats: (random.f32(), random.f64()),
        letter: random.char(..),
        text: text(random),
        maybe: (depth > 0).then(|| Box::new(everything(random, depth - 1))),
        nothing: (),
        unit: Unit,
        shapes: (0..random.usize(..300)).map(|_| shape(random)).collect(),
        map: (0..random.u8(..5))
            .map(|key| {
                (
                    (key, text(random)),
                    vec![b(random) as u16; random.usize(..4)],
                )
            })
            .collect(),
        array: [0, 250, b(random) as u32],
    }
}

#[test]
fn each_reads_what_the_other_wrote() {
    let mut random = fastrand::Rng::with_seed(7);
    let (mut theirs, mut ours) = (Bincode::new(Format::Bincode), PolycacheBincode);
    let (mut their_bytes, mut our_bytes) = (Vec::new(), Vec::new());
    for _ in 0..300 {
        let value = everything(&mut random, 2);
        theirs.encode(&value, &mut their_bytes).expect("encodes");
        ours.encode(&value, &mut our_bytes).expect("encodes");
        assert!(their_bytes == our_bytes);
        assert_eq!(
            ours.decode::<Everything>(&their_bytes).expect("decodes"),
            value
        );
        assert_eq!(
            theirs.decode::<Everything>(&our_bytes).expect("decodes"),
            value
        );
    }
}
