//! Writes each check's seeds as files into `<folder>/<check>/`, for libFuzzer.

use polycache_check_decoders::{seeds, CHECKS};
use std::path::Path;
use std::{env, error::Error, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args_os().nth(1).ok_or("give the folder to write to")?;
    for (name, _) in CHECKS {
        let corpus = Path::new(&folder).join(name);
        fs::create_dir_all(&corpus)?;
        for (number, seed) in seeds::of(name).iter().enumerate() {
            fs::write(corpus.join(format!("seed-{number}")), seed)?;
        }
    }
    Ok(())
}
