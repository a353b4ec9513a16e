//! Writes `spec/vectors/entries.rust.json` and `malformed.json`:
//! `cargo run -p polycache-entry --example write-vectors`. A test keeps them fresh. With the argument
//! `encrypted` it writes `encrypted.rust.json` and `encrypted_malformed.json`, with `dictionaries`
//! `dictionaries.json` and `dictionary_entries.json`, with `weights` `weights.json`.

mod generate;

fn main() -> std::io::Result<()> {
    let files = match std::env::args().nth(1).as_deref() {
        None => Vec::from(generate::files()),
        Some("encrypted") => Vec::from(generate::encrypted::files()),
        Some("dictionaries") => Vec::from(generate::dictionaries::files()),
        Some("weights") => Vec::from(generate::weights::files()),
        Some(other) => panic!("{other} is none of `encrypted`, `dictionaries` and `weights`"),
    };
    for (name, text) in files {
        let path = generate::folder().join(name);
        std::fs::write(&path, text)?;
        println!("wrote {}", path.display());
    }
    Ok(())
}
