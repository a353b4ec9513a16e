use super::{take, take_u64};
use crate::Error;

/// A tag, with its generation when the entry was written: the entry becomes invalid once the tag's
/// generation changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag<'a> {
    /// The tag; at most 65,535 bytes.
    pub name: &'a str,
    /// Its generation.
    pub generation: u64,
}

/// The tags of an entry, in the order they were written. They are decoded during iteration, so that
/// reading a header allocates nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tags<'a> {
    count: u16,
    /// Checked when the header was read: `count` times length, UTF-8 bytes, generation.
    bytes: &'a [u8],
}

impl<'a> Tags<'a> {
    pub(super) const EMPTY: Tags<'static> = Tags {
        count: 0,
        bytes: &[],
    };

    /// How many there are.
    pub fn len(&self) -> usize {
        usize::from(self.count)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The tags one by one.
    pub fn iter(&self) -> TagsIter<'a> {
        TagsIter { rest: *self }
    }

    /// Takes the field from the front of `fields`.
    pub(super) fn take(fields: &mut &'a [u8]) -> Result<Self, Error> {
        let count = u16::from_le_bytes(take(fields)?);
        let bytes = *fields;
        for _ in 0..count {
            take_tag(fields)?;
        }
        let bytes = &bytes[..bytes.len() - fields.len()];
        Ok(Tags { count, bytes })
    }
}

impl<'a> IntoIterator for Tags<'a> {
    type Item = Tag<'a>;
    type IntoIter = TagsIter<'a>;

    fn into_iter(self) -> TagsIter<'a> {
        TagsIter { rest: self }
    }
}

/// Iterates over [`Tags`].
#[derive(Clone, Debug)]
pub struct TagsIter<'a> {
    rest: Tags<'a>,
}

impl<'a> Iterator for TagsIter<'a> {
    type Item = Tag<'a>;

    fn next(&mut self) -> Option<Tag<'a>> {
        self.rest.count = self.rest.count.checked_sub(1)?;
        take_tag(&mut self.rest.bytes).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.rest.len(), Some(self.rest.len()))
    }
}

impl ExactSizeIterator for TagsIter<'_> {}

fn take_tag<'a>(fields: &mut &'a [u8]) -> Result<Tag<'a>, Error> {
    let len = u16::from_le_bytes(take(fields)?);
    let (name, rest) = fields
        .split_at_checked(usize::from(len))
        .ok_or_else(|| Error::malformed("a tag reaches beyond header_len"))?;
    *fields = rest;
    let generation = take_u64(fields)?;
    let name =
        std::str::from_utf8(name).map_err(|_| Error::malformed("a tag is not valid UTF-8"))?;
    Ok(Tag { name, generation })
}

/// Bytes of the field that holds `tags`; 0 without tags, because the field is then left out.
pub(super) fn field_len(tags: &[Tag<'_>]) -> Result<usize, Error> {
    if tags.is_empty() {
        return Ok(0);
    }
    if u16::try_from(tags.len()).is_err() {
        return Err(Error::invalid("an entry has at most 65,535 tags"));
    }
    if tags
        .iter()
        .any(|tag| u16::try_from(tag.name.len()).is_err())
    {
        return Err(Error::invalid("a tag has at most 65,535 bytes"));
    }
    Ok(2 + tags.iter().map(|tag| 10 + tag.name.len()).sum::<usize>())
}

/// Appends the field; [`field_len`] has accepted the tags.
pub(super) fn write(tags: &[Tag<'_>], out: &mut Vec<u8>) {
    out.extend_from_slice(&(tags.len() as u16).to_le_bytes());
    for tag in tags {
        out.extend_from_slice(&(tag.name.len() as u16).to_le_bytes());
        out.extend_from_slice(tag.name.as_bytes());
        out.extend_from_slice(&tag.generation.to_le_bytes());
    }
}
