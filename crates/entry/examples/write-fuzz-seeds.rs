//! Writes one seed per vector for the fuzz target:
//! `cargo run -p polycache-entry --example write-fuzz-seeds`.

use polycache_entry::tagged::{hex_decode, read_rows};
use std::path::Path;
use std::{error::Error, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let corpus = here.join("fuzz/corpus/decode");
    fs::create_dir_all(&corpus)?;
    for file in ["entries.rust.json", "malformed.json"] {
        let text = fs::read_to_string(here.join("../../spec/vectors").join(file))?;
        for (number, row) in read_rows(&text)?.iter().enumerate() {
            let entry = hex_decode(row["entry"].as_str().ok_or("no entry")?)?;
            fs::write(corpus.join(format!("{file}-{number}")), &entry)?;
        }
    }
    println!("wrote seeds into {}", corpus.display());
    Ok(())
}
