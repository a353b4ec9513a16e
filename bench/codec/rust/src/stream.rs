//! A Redis stream's entries as a server answers with them: a file of JSON, where there is one.

use crate::Outcome;
use std::{env, fs};

/// Id, and names and values in turn.
pub type Stream = Vec<(String, Vec<String>)>;

pub fn is_given() -> bool {
    env::var_os("CODEC_STREAM").is_some()
}

/// The bytes of the file that `CODEC_STREAM` names.
pub fn bytes() -> Outcome<Vec<u8>> {
    let path = env::var_os("CODEC_STREAM").ok_or("CODEC_STREAM names no file")?;
    Ok(fs::read(path)?)
}

pub fn stream() -> Outcome<Stream> {
    Ok(serde_json::from_slice(&bytes()?)?)
}
