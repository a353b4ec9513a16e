//! `polycache train-dictionary`.

use crate::arguments::TrainDictionary;
use crate::failure::Failure;
use crate::output::Output;
use crate::{human, Outcome};
use polycache::compressor;
use serde_json::json;
use std::path::Path;

pub fn run(train: &TrainDictionary, output: &mut Output) -> Result<Outcome, Failure> {
    let mut samples = Vec::new();
    for path in &train.files {
        let bytes = std::fs::read(path).map_err(|error| failed(path, &error))?;
        if train.lines {
            let lines = bytes
                .split(|byte| *byte == b'\n')
                .filter(|line| !line.is_empty());
            samples.extend(lines.map(<[u8]>::to_vec));
        } else {
            samples.push(bytes);
        }
    }
    let size = usize::try_from(train.size).unwrap_or(usize::MAX);
    let dictionary = compressor::train(&samples, size)?;
    std::fs::write(&train.output, &dictionary).map_err(|error| failed(&train.output, &error))?;
    let mut id = [0; 4];
    id.copy_from_slice(&dictionary[4..8]);
    let (id, bytes) = (u32::from_le_bytes(id), dictionary.len() as u64);
    if output.json {
        let (path, samples) = (train.output.display().to_string(), samples.len());
        output.json(&json!({"path": path, "id": id, "bytes": bytes, "samples": samples}))?;
    } else {
        let samples = human::counted(samples.len() as u64, "sample", "samples");
        output.line(&format!(
            "dictionary {id}: {} from {samples}",
            human::size(bytes)
        ))?;
    }
    Ok(Outcome::Done)
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::Usage(format!("{}: {error}", path.display()))
}
