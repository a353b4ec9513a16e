//! Access to what another value holds: elements of lists, pairs of maps, variants with their content.

use super::{Failed, Reader};
use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

/// A list's values, one after another.
pub(super) struct Items<'r, 'de> {
    pub(super) reader: &'r mut Reader<'de>,
    pub(super) left: usize,
}

impl<'de> SeqAccess<'de> for &mut Items<'_, 'de> {
    type Error = Failed;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Failed> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        self.reader.owed -= 1;
        seed.deserialize(&mut *self.reader).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

/// A map's pairs, one after another.
pub(super) struct Pairs<'r, 'de> {
    pub(super) reader: &'r mut Reader<'de>,
    pub(super) left: usize,
}

impl<'de> MapAccess<'de> for &mut Pairs<'_, 'de> {
    type Error = Failed;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Failed> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        self.reader.owed -= 2;
        seed.deserialize(Key(self.reader)).map(Some)
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Failed> {
        seed.deserialize(&mut *self.reader)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

/// A map's key, which is text.
struct Key<'r, 'de>(&'r mut Reader<'de>);

impl<'de> Deserializer<'de> for Key<'_, 'de> {
    type Error = Failed;

    fn is_human_readable(&self) -> bool {
        false
    }

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
        let marker = self.0.marker()?;
        let len = self.0.text_len(marker)?.ok_or(Failed)?;
        visitor.visit_borrowed_str(self.0.text(len)?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Failed> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failed> {
        let marker = self.0.marker()?;
        let len = self.0.text_len(marker)?.ok_or(Failed)?;
        let variant = self.0.text(len)?;
        let reader = None;
        visitor.visit_enum(Variant { variant, reader })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// A variant, with the reader at its content, if it has any.
pub(super) struct Variant<'r, 'de> {
    pub(super) variant: &'de str,
    pub(super) reader: Option<&'r mut Reader<'de>>,
}

impl<'r, 'de> EnumAccess<'de> for Variant<'r, 'de> {
    type Error = Failed;
    type Variant = Content<'r, 'de>;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Content<'r, 'de>), Failed> {
        let name = de::value::BorrowedStrDeserializer::new(self.variant);
        let made = seed.deserialize::<de::value::BorrowedStrDeserializer<'de, Failed>>(name)?;
        Ok((made, Content(self.reader)))
    }
}

pub(super) struct Content<'r, 'de>(Option<&'r mut Reader<'de>>);

impl<'r, 'de> Content<'r, 'de> {
    fn reader(self) -> Result<&'r mut Reader<'de>, Failed> {
        self.0.ok_or(Failed)
    }
}

impl<'de> VariantAccess<'de> for Content<'_, 'de> {
    type Error = Failed;

    fn unit_variant(self) -> Result<(), Failed> {
        match self.0 {
            None => Ok(()),
            Some(reader) => <()>::deserialize(reader),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Failed> {
        seed.deserialize(self.reader()?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value, Failed> {
        self.reader()?.deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failed> {
        self.reader()?.deserialize_any(visitor)
    }
}
