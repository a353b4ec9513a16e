//! The command trains dictionaries, and reads what they compressed.

mod support;

use polycache::Cache;
use serde_json::{json, Value as Json};
use support::{Place, Ran};

#[test]
fn a_dictionary_is_trained_from_lines_and_reads_what_it_compressed() {
    let place = Place::new();
    let file = |name: &str| place.directory.path().join(name).display().to_string();
    let (samples, dictionary) = (file("samples"), file("dictionary"));
    let user = |id: u32| json!({"id": id, "name": format!("user {id}"), "active": true});
    let lines: Vec<String> = (0..500).map(|id| user(id).to_string()).collect();
    std::fs::write(&samples, lines.join("\n") + "\n").unwrap();

    let train = [
        "train-dictionary",
        "--lines",
        "--size",
        "1KiB",
        "-o",
        &dictionary,
        &samples,
    ];
    let said = place.json(&train);
    let bytes = std::fs::read(&dictionary).unwrap();
    let id = u32::from_le_bytes(bytes[4..8].try_into().unwrap());
    let expected = json!({"path": dictionary, "id": id, "bytes": bytes.len(), "samples": 500});
    assert_eq!(said, expected);
    assert!(bytes.len() <= 1024);

    let cache = Cache::builder()
        .path(place.path())
        .serializer(polycache::Json)
        .compressor(polycache::Zstd::default())
        .dictionaries([&bytes])
        .build()
        .unwrap();
    cache.set("k", &user(7)).unwrap();
    place.run(&["get", "k"]).failed(4, &id.to_string());
    let mut get = place.command(&["--json", "get", "k"]);
    get.env("POLYCACHE_DICTIONARIES", &dictionary);
    let found: Json = serde_json::from_slice(&get.output().unwrap().stdout).unwrap();
    assert_eq!(found["value"], user(7));

    get = place.command(&["get", "k"]);
    get.env("POLYCACHE_DICTIONARIES", file("absent"));
    Ran::new(get.output().unwrap()).failed(2, "POLYCACHE_DICTIONARIES");
}

#[test]
fn too_few_samples_are_told() {
    let place = Place::new();
    let sample = place.directory.path().join("sample");
    std::fs::write(&sample, "{}").unwrap();
    let (sample, out) = (
        sample.display().to_string(),
        place.path().display().to_string(),
    );
    let ran = place.run(&["train-dictionary", "-o", &out, &sample]);
    ran.failed(2, "too few");
    assert!(!place.path().exists());
}
