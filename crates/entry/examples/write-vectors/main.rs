//! Writes `spec/vectors/entries.rust.json` and `malformed.json`:
//! `cargo run -p polycache-entry --example write-vectors`. A test keeps them fresh.

mod generate;

fn main() -> std::io::Result<()> {
    for (name, text) in generate::files() {
        let path = generate::folder().join(name);
        std::fs::write(&path, text)?;
        println!("wrote {}", path.display());
    }
    Ok(())
}
