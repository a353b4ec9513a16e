//! Replies of Redis as bytes for other processes of the host: what a Ruby client makes of them, each value behind a letter.
//! Not by Marshal, which would run what another user's file says.

use crate::error::invalid;
use crate::string::{content, Content};
use magnus::{
    function, prelude::*, r_hash::ForEach, Error, Float, Integer, RArray, RHash, RModule, RString,
    Ruby, Symbol, Value,
};
use polycache::bindings::remote::json::{self, Members};
use std::borrow::Cow;

/// How deep replies may be.
const DEPTH: usize = 64;

/// Why a value has no bytes, or bytes no value.
enum Unfit {
    /// It is nothing that a reply holds.
    Value,
    Raised(Error),
}

impl From<Error> for Unfit {
    fn from(error: Error) -> Unfit {
        Unfit::Raised(error)
    }
}

/// The bytes of a value; nil for what no reply holds.
fn pack(ruby: &Ruby, value: Value) -> Result<Option<RString>, Error> {
    let mut out = Vec::new();
    match write(ruby, &mut out, value, DEPTH) {
        Ok(()) => Ok(Some(ruby.str_from_slice(&out))),
        Err(Unfit::Value) => Ok(None),
        Err(Unfit::Raised(error)) => Err(error),
    }
}

fn head(out: &mut Vec<u8>, letter: u8, count: usize) -> Result<(), Unfit> {
    out.push(letter);
    let count = u32::try_from(count).map_err(|_| Unfit::Value)?;
    out.extend_from_slice(&count.to_le_bytes());
    Ok(())
}

fn chunk(out: &mut Vec<u8>, letter: u8, bytes: &[u8]) -> Result<(), Unfit> {
    head(out, letter, bytes.len())?;
    out.extend_from_slice(bytes);
    Ok(())
}

fn write(ruby: &Ruby, out: &mut Vec<u8>, value: Value, depth: usize) -> Result<(), Unfit> {
    if depth == 0 {
        return Err(Unfit::Value);
    }
    if value.is_nil() {
        return head(out, b'n', 0);
    }
    if let Some(symbol) = Symbol::from_value(value) {
        let name = symbol.name().map_err(Unfit::Raised)?;
        return chunk(out, b'y', name.as_bytes());
    }
    // Instances of subclasses are something else.
    let class = value.class();
    if class.equal(ruby.class_string())? {
        let string = RString::from_value(value).ok_or(Unfit::Value)?;
        // SAFETY: the bytes are copied at once.
        return match unsafe { content(ruby, string) } {
            Content::Text(text) => chunk(out, b's', text.as_bytes()),
            Content::Ascii(text) => chunk(out, b'A', text.as_bytes()),
            Content::Bytes(bytes) => chunk(out, b'b', bytes),
            Content::Invalid | Content::Foreign => Err(Unfit::Value),
        };
    }
    if class.equal(ruby.class_array())? {
        let array = RArray::from_value(value).ok_or(Unfit::Value)?;
        head(out, b'a', array.len())?;
        for part in array {
            write(ruby, out, part, depth - 1)?;
        }
        return Ok(());
    }
    if class.equal(ruby.class_hash())? {
        return write_hash(ruby, out, value, depth);
    }
    if let Some(integer) = Integer::from_value(value) {
        return chunk(out, b'i', integer.to_string().as_bytes());
    }
    if let Some(float) = Float::from_value(value) {
        return chunk(out, b'f', &float.to_f64().to_le_bytes());
    }
    if class.equal(ruby.class_true_class())? {
        return head(out, b't', 0);
    }
    if class.equal(ruby.class_false_class())? {
        return head(out, b'F', 0);
    }
    Err(Unfit::Value)
}

fn write_hash(ruby: &Ruby, out: &mut Vec<u8>, value: Value, depth: usize) -> Result<(), Unfit> {
    let hash = RHash::from_value(value).ok_or(Unfit::Value)?;
    head(out, b'h', hash.len())?;
    let mut unfit = None;
    hash.foreach(|key: Value, part: Value| {
        let written =
            write(ruby, out, key, depth - 1).and_then(|()| write(ruby, out, part, depth - 1));
        Ok(match written {
            Ok(()) => ForEach::Continue,
            Err(why) => {
                unfit = Some(why);
                ForEach::Stop
            }
        })
    })?;
    unfit.map_or(Ok(()), Err)
}

/// The value of bytes that `pack` made, another each time; frozen to its depth if asked for.
fn unpack(ruby: &Ruby, packed: RString, freeze: bool) -> Result<Value, Error> {
    // SAFETY: the bytes are copied at once, because objects are made while they are read.
    let bytes = unsafe { packed.as_slice() }.to_vec();
    let mut reader = Reader {
        bytes: &bytes,
        freeze,
    };
    reader.value(ruby, DEPTH)
}

struct Reader<'a> {
    bytes: &'a [u8],
    freeze: bool,
}

impl<'a> Reader<'a> {
    fn value(&mut self, ruby: &Ruby, depth: usize) -> Result<Value, Error> {
        let wrong = || invalid(ruby, "that is no packed reply");
        let (head, rest) = self.bytes.split_first_chunk::<5>().ok_or_else(wrong)?;
        let [letter, count @ ..] = *head;
        let count = u32::from_le_bytes(count) as usize;
        self.bytes = rest;
        if depth == 0 {
            return Err(wrong());
        }
        let value = match letter {
            b'n' => return Ok(ruby.qnil().as_value()),
            b't' => return Ok(ruby.qtrue().as_value()),
            b'F' => return Ok(ruby.qfalse().as_value()),
            b'a' => self.array(ruby, count, depth)?.as_value(),
            b'h' => self.hash(ruby, count, depth)?.as_value(),
            _ => {
                let chunk = self.chunk(count).ok_or_else(wrong)?;
                let text = || std::str::from_utf8(chunk).map_err(|_| wrong());
                match letter {
                    b's' => ruby.str_new(text()?).as_value(),
                    b'A' => ruby
                        .enc_str_new(text()?, ruby.usascii_encoding())
                        .as_value(),
                    b'b' => ruby.str_from_slice(chunk).as_value(),
                    b'y' => return Ok(ruby.to_symbol(text()?).as_value()),
                    b'f' => {
                        let float = chunk.try_into().map_err(|_| wrong())?;
                        return Ok(ruby.float_from_f64(f64::from_le_bytes(float)).as_value());
                    }
                    b'i' => {
                        let text = text()?;
                        return match text.parse::<i64>() {
                            Ok(integer) => Ok(ruby.integer_from_i64(integer).as_value()),
                            Err(_) => ruby.str_new(text).funcall("to_i", ()),
                        };
                    }
                    _ => return Err(wrong()),
                }
            }
        };
        if self.freeze {
            value.freeze();
        }
        Ok(value)
    }

    fn chunk(&mut self, count: usize) -> Option<&'a [u8]> {
        let (chunk, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(chunk)
    }

    fn array(&mut self, ruby: &Ruby, count: usize, depth: usize) -> Result<RArray, Error> {
        // Each part takes five bytes at least, so a wrong count takes no room.
        let array = ruby.ary_new_capa(count.min(self.bytes.len() / 5));
        for _ in 0..count {
            array.push(self.value(ruby, depth - 1)?)?;
        }
        Ok(array)
    }

    fn hash(&mut self, ruby: &Ruby, count: usize, depth: usize) -> Result<RHash, Error> {
        let hash = ruby.hash_new();
        for _ in 0..count {
            let key = self.value(ruby, depth - 1)?;
            hash.aset(key, self.value(ruby, depth - 1)?)?;
        }
        Ok(hash)
    }
}

/// The JSON of the value of bytes that `pack` made (`spec/reads.md`, "As JSON"), of which no object is made.
fn json_of(ruby: &Ruby, packed: RString) -> Result<RString, Error> {
    let mut out = Vec::new();
    // SAFETY: no object is made while they are read.
    let mut bytes = unsafe { packed.as_slice() };
    match write_json(&mut bytes, DEPTH, &mut out) {
        Some(()) => Ok(ruby.str_from_slice(&out)),
        None => Err(invalid(ruby, "that is no packed reply")),
    }
}

/// The letter of the next value and its count.
fn next(bytes: &mut &[u8]) -> Option<(u8, usize)> {
    let (head, rest) = bytes.split_first_chunk::<5>()?;
    let [letter, count @ ..] = *head;
    *bytes = rest;
    Some((letter, u32::from_le_bytes(count) as usize))
}

fn write_json(bytes: &mut &[u8], depth: usize, out: &mut Vec<u8>) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    let (letter, count) = next(bytes)?;
    match letter {
        b'n' => out.extend_from_slice(b"null"),
        b't' => out.extend_from_slice(b"true"),
        b'F' => out.extend_from_slice(b"false"),
        b'a' => {
            return json::write_list(0..count, out, |_, out| {
                write_json(bytes, depth, out).ok_or(())
            })
            .ok()
        }
        b'h' => {
            let mut members = Members::default();
            for _ in 0..count {
                members.add(name_of(bytes, depth)?, taken(bytes, depth)?);
            }
            let write =
                |mut value: &[u8], out: &mut Vec<u8>| write_json(&mut value, depth, out).ok_or(());
            return members.write(out, write).ok();
        }
        _ => {
            let (chunk, rest) = bytes.split_at_checked(count)?;
            *bytes = rest;
            match letter {
                b's' | b'A' | b'b' | b'y' => json::write_bytes(chunk, out),
                b'f' => json::write_double(f64::from_le_bytes(chunk.try_into().ok()?), out),
                b'i' => {
                    let digits = std::str::from_utf8(chunk).ok()?;
                    match digits.parse() {
                        Ok(integer) => json::write_integer(integer, out),
                        Err(_) => json::write_text(digits, out),
                    }
                }
                _ => return None,
            }
        }
    }
    Some(())
}

/// The next value, as its name in an object.
fn name_of<'a>(bytes: &mut &'a [u8], depth: usize) -> Option<Cow<'a, str>> {
    let (letter, count) = next(&mut &**bytes)?;
    if matches!(letter, b's' | b'A' | b'b' | b'y') {
        let (_, chunk) = bytes.split_at_checked(5)?;
        let (chunk, rest) = chunk.split_at_checked(count)?;
        *bytes = rest;
        return Some(String::from_utf8_lossy(chunk));
    }
    let mut name = Vec::new();
    write_json(bytes, depth, &mut name)?;
    Some(String::from_utf8_lossy(&name).into_owned().into())
}

/// The bytes of the next value.
fn taken<'a>(bytes: &mut &'a [u8], depth: usize) -> Option<&'a [u8]> {
    let before = *bytes;
    skip(bytes, depth)?;
    before.get(..before.len() - bytes.len())
}

fn skip(bytes: &mut &[u8], depth: usize) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    let (letter, count) = next(bytes)?;
    match letter {
        b'n' | b't' | b'F' => {}
        b'a' => (0..count).try_for_each(|_| skip(bytes, depth))?,
        b'h' => (0..count).try_for_each(|_| {
            skip(bytes, depth)?;
            skip(bytes, depth)
        })?,
        _ => *bytes = bytes.split_at_checked(count)?.1,
    }
    Some(())
}

/// Defines the module.
///
/// # Errors
/// What Ruby raises when it cannot.
pub(crate) fn define(native: RModule) -> Result<(), Error> {
    let module = native.define_module("Reply")?;
    module.define_singleton_method("json", function!(json_of, 1))?;
    module.define_singleton_method("pack", function!(pack, 1))?;
    module.define_singleton_method("unpack", function!(unpack, 2))
}
