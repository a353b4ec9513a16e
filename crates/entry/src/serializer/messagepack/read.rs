use super::extension::{Extension, IN_SET, NAMED, SET};
use crate::serializer::MAX_DEPTH;
use crate::value::{check_name, last_wins, Named, Value};
use crate::weight::{Room, COMPOUND, VALUE};
use crate::{utf8, Error};
use rmp::Marker;
use std::borrow::Cow;

/// The value in `payload`, for a reader whose payloads have at most `max_length` bytes.
pub(in crate::serializer) fn read(payload: &[u8], max_length: u64) -> Result<Value<'_>, Error> {
    let mut room = Room::new(max_length);
    let mut reader = Reader::new(payload, &mut room);
    let value = reader.value(0)?;
    reader.end()?;
    Ok(value)
}

/// The text that `bytes` begin with.
pub(crate) fn first_text(bytes: &[u8]) -> Option<&str> {
    match Reader::new(bytes, &mut Room::unlimited()).key() {
        Ok(Cow::Borrowed(text)) => Some(text),
        _ => None,
    }
}

/// The elements of the set in `payload`, which lies inside `depth` lists and maps.
pub(super) fn read_set<'a>(
    payload: &'a [u8],
    depth: usize,
    room: &mut Room,
) -> Result<Vec<Value<'a>>, Error> {
    let mut reader = Reader::new(payload, room);
    let Shape::List(count) = reader.shape(depth)? else {
        return Err(Error::malformed("a set is one MessagePack array"));
    };
    reader.enter(count, depth)?;
    reader.in_set = true;
    let mut values = Vec::with_capacity(count);
    for _ in 0..count {
        reader.owed -= 1;
        match reader.shape(depth + 1)? {
            Shape::Whole(value) => values.push(value),
            _ => return Err(Error::malformed(IN_SET)),
        }
    }
    reader.end()?;
    Ok(values)
}

/// The value of a registered type in `payload`, which lies inside `depth` lists and maps.
pub(super) fn read_named<'a>(
    payload: &'a [u8],
    depth: usize,
    room: &mut Room,
) -> Result<Value<'a>, Error> {
    let mut reader = Reader::new(payload, room);
    reader.owe(1, depth)?;
    reader.room.take(COMPOUND + 2 * VALUE)?;
    let name = reader.key()?;
    check_name(&name).map_err(Error::malformed)?;
    reader.owed -= 1;
    let value = reader.value(depth + 1)?;
    reader.end()?;
    Ok(Value::Named(Box::new(Named { name, value })))
}

struct Reader<'a, 'r> {
    rest: &'a [u8],
    /// Values that the lists and maps begun so far must still deliver. Each takes at least one byte, so
    /// `owed` never exceeds the bytes left: a false count is detected before memory is reserved for it,
    /// and all counts together reserve no more values than there are bytes.
    owed: usize,
    /// Whether the values being read are elements of a set.
    in_set: bool,
    room: &'r mut Room,
}

/// A value without the values that it holds. Separate from [`Reader::value`], so that a level of nesting
/// takes little stack.
enum Shape<'a> {
    Whole(Value<'a>),
    List(usize),
    Map(usize),
    /// The payload of a value of a registered type.
    Named(&'a [u8]),
}

impl<'a, 'r> Reader<'a, 'r> {
    fn new(payload: &'a [u8], room: &'r mut Room) -> Self {
        Reader {
            rest: payload,
            owed: 0,
            in_set: false,
            room,
        }
    }

    fn end(&self) -> Result<(), Error> {
        if !self.rest.is_empty() {
            return Err(Error::malformed("MessagePack: bytes after the value"));
        }
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<Value<'a>, Error> {
        match self.shape(depth)? {
            Shape::Whole(value) => Ok(value),
            Shape::List(count) => self.list(count, depth),
            Shape::Map(count) => self.map(count, depth),
            Shape::Named(payload) => read_named(payload, depth, self.room),
        }
    }

    fn list(&mut self, count: usize, depth: usize) -> Result<Value<'a>, Error> {
        self.enter(count, depth)?;
        let mut values = Vec::with_capacity(count);
        for _ in 0..count {
            self.owed -= 1;
            values.push(self.value(depth + 1)?);
        }
        Ok(Value::List(values))
    }

    fn map(&mut self, count: usize, depth: usize) -> Result<Value<'a>, Error> {
        self.enter(count.saturating_mul(2), depth)?;
        let mut pairs = Vec::with_capacity(count);
        for _ in 0..count {
            self.owed -= 1;
            let key = self.key()?;
            self.owed -= 1;
            pairs.push((key, self.value(depth + 1)?));
        }
        Ok(Value::Map(last_wins(pairs)))
    }

    fn key(&mut self) -> Result<Cow<'a, str>, Error> {
        let marker = Marker::from_u8(self.array::<1>()?[0]);
        self.text(marker)
    }

    fn shape(&mut self, depth: usize) -> Result<Shape<'a>, Error> {
        let marker = Marker::from_u8(self.array::<1>()?[0]);
        Ok(Shape::Whole(match marker {
            Marker::FixArray(count) => return Ok(Shape::List(count.into())),
            Marker::Array16 => return self.length(2).map(Shape::List),
            Marker::Array32 => return self.length(4).map(Shape::List),
            Marker::FixMap(count) => return Ok(Shape::Map(count.into())),
            Marker::Map16 => return self.length(2).map(Shape::Map),
            Marker::Map32 => return self.length(4).map(Shape::Map),
            Marker::Null => Value::Null,
            Marker::False => Value::Bool(false),
            Marker::True => Value::Bool(true),
            Marker::FixPos(value) => Value::Int(value.into()),
            Marker::FixNeg(value) => Value::Int(value.into()),
            Marker::U8 => Value::Int(u8::from_be_bytes(self.array()?).into()),
            Marker::U16 => Value::Int(u16::from_be_bytes(self.array()?).into()),
            Marker::U32 => Value::Int(u32::from_be_bytes(self.array()?).into()),
            Marker::U64 => Value::Int(u64::from_be_bytes(self.array()?).into()),
            Marker::I8 => Value::Int(i8::from_be_bytes(self.array()?).into()),
            Marker::I16 => Value::Int(i16::from_be_bytes(self.array()?).into()),
            Marker::I32 => Value::Int(i32::from_be_bytes(self.array()?).into()),
            Marker::I64 => Value::Int(i64::from_be_bytes(self.array()?).into()),
            Marker::F32 => Value::Float(f32::from_be_bytes(self.array()?).into()),
            Marker::F64 => Value::Float(f64::from_be_bytes(self.array()?)),
            Marker::FixStr(_) | Marker::Str8 | Marker::Str16 | Marker::Str32 => {
                Value::Text(self.text(marker)?)
            }
            Marker::Bin8 => self.bytes(1)?,
            Marker::Bin16 => self.bytes(2)?,
            Marker::Bin32 => self.bytes(4)?,
            Marker::FixExt1 => return self.extension(1, depth),
            Marker::FixExt2 => return self.extension(2, depth),
            Marker::FixExt4 => return self.extension(4, depth),
            Marker::FixExt8 => return self.extension(8, depth),
            Marker::FixExt16 => return self.extension(16, depth),
            Marker::Ext8 => {
                let len = self.length(1)?;
                return self.extension(len, depth);
            }
            Marker::Ext16 => {
                let len = self.length(2)?;
                return self.extension(len, depth);
            }
            Marker::Ext32 => {
                let len = self.length(4)?;
                return self.extension(len, depth);
            }
            Marker::Reserved => return Err(Error::malformed("MessagePack: the byte 0xC1")),
        }))
    }

    fn extension(&mut self, len: usize, depth: usize) -> Result<Shape<'a>, Error> {
        let id = i8::from_be_bytes(self.array()?);
        let payload = self.take(len)?;
        match id {
            SET | NAMED if self.in_set => Err(Error::malformed(IN_SET)),
            NAMED => Ok(Shape::Named(payload)),
            _ => Extension { id, payload }
                .decode(depth, self.room)
                .map(Shape::Whole),
        }
    }

    fn text(&mut self, marker: Marker) -> Result<Cow<'a, str>, Error> {
        let len = match marker {
            Marker::FixStr(len) => len.into(),
            Marker::Str8 => self.length(1)?,
            Marker::Str16 => self.length(2)?,
            Marker::Str32 => self.length(4)?,
            _ => return Err(Error::malformed("MessagePack: a map key is not text")),
        };
        utf8::text(self.take(len)?)
            .map(Cow::Borrowed)
            .ok_or_else(|| Error::malformed("MessagePack: text is not valid UTF-8"))
    }

    fn bytes(&mut self, width: usize) -> Result<Value<'a>, Error> {
        let len = self.length(width)?;
        let bytes = self.take(len)?;
        self.room.take(COMPOUND)?;
        Ok(Value::Bytes(Cow::Borrowed(bytes)))
    }

    /// A length or count of `width` bytes.
    fn length(&mut self, width: usize) -> Result<usize, Error> {
        let bytes = self.take(width)?;
        let length = bytes
            .iter()
            .fold(0u32, |high, &byte| high << 8 | u32::from(byte));
        Ok(length as usize)
    }

    /// Enters a list, map or set at `depth` that must deliver `count` values, which are weighed before memory is
    /// reserved for them.
    fn enter(&mut self, count: usize, depth: usize) -> Result<(), Error> {
        self.owe(count, depth)?;
        self.room.enter(count)
    }

    fn owe(&mut self, count: usize, depth: usize) -> Result<(), Error> {
        if depth >= MAX_DEPTH {
            return Err(Error::malformed(
                "nested deeper than 128 lists, sets and maps",
            ));
        }
        self.owed = self.owed.saturating_add(count);
        self.check_owed()
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], Error> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or_else(cut_off)?;
        self.rest = rest;
        self.check_owed()?;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or_else(cut_off)?;
        self.rest = rest;
        Ok(*taken)
    }

    fn check_owed(&self) -> Result<(), Error> {
        if self.owed > self.rest.len() {
            return Err(cut_off());
        }
        Ok(())
    }
}

fn cut_off() -> Error {
    Error::malformed("MessagePack: the payload ends before its last value")
}
