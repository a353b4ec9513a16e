//! What is compressed: zeros, as on the page, and what a cache really holds.

use crate::{records, stream, Outcome};
use fastrand::Rng;

pub struct Buffer {
    /// As in `10 KB of JSON`.
    pub name: String,
    make: Make,
    /// Bytes.
    size: usize,
}

type Make = fn(usize) -> Outcome<Vec<u8>>;

impl Buffer {
    /// What has a size of its own.
    pub fn of(name: &str, make: Make) -> Buffer {
        Buffer {
            name: name.into(),
            make,
            size: 0,
        }
    }

    pub fn bytes(&self) -> Outcome<Vec<u8>> {
        (self.make)(self.size)
    }
}

const KIB: usize = 1024;

pub fn buffers() -> Vec<Buffer> {
    let kinds: [(&str, Make); 3] = [("zeros", zeros), ("JSON", json), ("text", text)];
    let mut all = Vec::new();
    for (kind, make) in kinds {
        for size in [1, 10, 100] {
            all.push(Buffer {
                name: format!("{size} KB of {kind}"),
                make,
                size: size * KIB,
            });
        }
    }
    all.push(Buffer {
        name: "10 KB of noise".into(),
        make: noise,
        size: 10 * KIB,
    });
    if stream::is_given() {
        all.push(Buffer::of("a stream as JSON", |_| stream::bytes()));
    }
    all
}

fn zeros(size: usize) -> Outcome<Vec<u8>> {
    Ok(vec![0; size])
}

/// What was compressed or encrypted before looks like this.
fn noise(size: usize) -> Outcome<Vec<u8>> {
    let mut random = Rng::with_seed(7);
    Ok((0..size).map(|_| random.u8(..)).collect())
}

/// A list of records, cut off.
pub fn json(size: usize) -> Outcome<Vec<u8>> {
    // A record takes some 180 bytes.
    let records = records::records(size / 100);
    let mut bytes = serde_json::to_vec(&records)?;
    assert!(bytes.len() >= size);
    bytes.truncate(size);
    Ok(bytes)
}

const WORDS: &str = "the of and to a in that it is was for on with he as you be at by had not are \
    but from or have an they which one were all her she there would their we him been has when who \
    will no more if out so up said what its about than into them can only other time new some could \
    these two may first then do any like my now over such our man me even most made after also did \
    many off before must through years where much way well down should because long each just state \
    those people too little use good world very year still work own see men here get both life \
    between being under three never day same another know while last might us great old come since \
    against right came take used himself few house states during without again place around however \
    home small found thought went say part once general high upon school every don does got united \
    left number course war until always away something fact water less public put think almost hand \
    enough far took head yet government system better set told nothing night end why called eyes find \
    going look asked later knew point next program city business give group toward young let room \
    president side social given present several order national possible rather second face per among \
    form important often things looked early white case john large become need big four within felt \
    along children saw best church ever least power development light thing seemed family interest";

/// Sentences of English words, the frequent ones frequent (Zipf's law).
fn text(size: usize) -> Outcome<Vec<u8>> {
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    let mut random = Rng::with_seed(6);
    let mut text = String::new();
    while text.len() < size {
        let start = text.len();
        for number in 0..random.usize(6..20) {
            let nth = (words.len() as f64).powf(random.f64()) as usize;
            if number > 0 {
                text.push_str(if random.u8(..12) == 0 { ", " } else { " " });
            }
            text.push_str(words[nth.min(words.len()) - 1]);
        }
        text[start..=start].make_ascii_uppercase();
        text.push_str(if random.u8(..6) == 0 { ".\n\n" } else { ". " });
    }
    text.truncate(size);
    Ok(text.into_bytes())
}
