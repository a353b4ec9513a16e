//! Access to what another value holds: fields of structs, elements of lists, pairs of maps, variants with
//! their content.

use super::super::TOO_MANY_EMPTY;
use super::{Fault, Reader};
use serde::de::{
    self, DeserializeSeed, EnumAccess, IntoDeserializer, MapAccess, SeqAccess, VariantAccess,
    Visitor,
};

/// The fields of a tuple or struct, whose type says how many there are.
pub(super) struct Fields<'r, 'de> {
    pub(super) reader: &'r mut Reader<'de>,
    pub(super) len: usize,
    pub(super) index: usize,
    /// None for a tuple's.
    pub(super) names: &'static [&'static str],
}

impl<'de> SeqAccess<'de> for &mut Fields<'_, 'de> {
    type Error = Fault;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Fault> {
        if self.index == self.len {
            return Ok(None);
        }
        let index = self.index;
        self.index += 1;
        match seed.deserialize(&mut *self.reader) {
            Ok(made) => Ok(Some(made)),
            Err(fault) => Err(fault.at(|refusal| match self.names.get(index) {
                Some(name) => refusal.at_key(name),
                None => refusal.at_index(index),
            })),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.len - self.index)
    }
}

/// The elements of a list, or the pairs of a map.
pub(super) struct Elements<'r, 'de> {
    reader: &'r mut Reader<'de>,
    len: usize,
    index: usize,
    /// Those of them that [`Reader::owed`] counts.
    promised: usize,
}

impl<'r, 'de> Elements<'r, 'de> {
    #[inline]
    pub(super) fn new(reader: &'r mut Reader<'de>, len: usize) -> Self {
        let promised = reader.promise(len);
        Elements {
            reader,
            len,
            index: 0,
            promised,
        }
    }

    #[inline]
    fn next(&mut self) -> bool {
        if self.index == self.len {
            return false;
        }
        self.index += 1;
        if self.promised > 0 {
            self.promised -= 1;
            self.reader.owed -= 1;
        }
        true
    }

    /// The element that took the bytes from `before` on is read.
    #[inline]
    fn done(&mut self, before: usize) -> Result<(), Fault> {
        if self.reader.rest.len() == before {
            let left = self.reader.empty.checked_sub(1);
            self.reader.empty = left.ok_or_else(|| Fault::malformed(TOO_MANY_EMPTY))?;
        }
        Ok(())
    }

    #[inline]
    fn read<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Fault> {
        seed.deserialize(&mut *self.reader)
            .map_err(|fault| fault.at(|refusal| refusal.at_index(self.index - 1)))
    }

    #[inline]
    pub(super) fn end(&self) -> Result<(), Fault> {
        if self.index != self.len {
            return Err(de::Error::custom(format_args!(
                "there are {} elements, {} too many",
                self.len,
                self.len - self.index
            )));
        }
        Ok(())
    }
}

impl<'de> SeqAccess<'de> for &mut Elements<'_, 'de> {
    type Error = Fault;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Fault> {
        if !self.next() {
            return Ok(None);
        }
        let before = self.reader.rest.len();
        let made = self.read(seed)?;
        self.done(before)?;
        Ok(Some(made))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.promised)
    }
}

impl<'de> MapAccess<'de> for &mut Elements<'_, 'de> {
    type Error = Fault;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Fault> {
        if !self.next() {
            return Ok(None);
        }
        let before = self.reader.rest.len();
        let made = self.read(seed)?;
        self.done(before)?;
        Ok(Some(made))
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        self.read(seed)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.promised)
    }
}

/// A variant, stored as its number.
pub(super) struct Variant<'r, 'de> {
    pub(super) reader: &'r mut Reader<'de>,
    pub(super) variants: &'static [&'static str],
    pub(super) variant: Option<&'static str>,
}

impl<'de> Variant<'_, 'de> {
    fn at(variant: Option<&'static str>, fault: Fault) -> Fault {
        match variant {
            Some(variant) => fault.at(|refusal| refusal.at_key(variant)),
            None => fault,
        }
    }
}

impl<'de> EnumAccess<'de> for Variant<'_, 'de> {
    type Error = Fault;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(mut self, seed: V) -> Result<(V::Value, Self), Fault> {
        let index = self.reader.unsigned(4)? as u32;
        let made =
            seed.deserialize::<de::value::U32Deserializer<Fault>>(index.into_deserializer())?;
        self.variant = self.variants.get(index as usize).copied();
        Ok((made, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, 'de> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Fault> {
        self.reader.enter()?;
        let made = seed
            .deserialize(&mut *self.reader)
            .map_err(|fault| Self::at(self.variant, fault))?;
        self.reader.depth += 1;
        Ok(made)
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Fault> {
        let read = self.reader.fields(len, &[], visitor);
        read.map_err(|fault| Self::at(self.variant, fault))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let read = self.reader.fields(fields.len(), fields, visitor);
        read.map_err(|fault| Self::at(self.variant, fault))
    }
}
