//! What holds other values while it is written: lists, maps, structs and the content of variants.

use super::key::KeyWriter;
use super::{Format, Outcome, Writer};
use crate::serializer::Refusal;
use crate::typed::Structs;
use crate::value::Refused;
use serde::ser::{self, Serialize};
use std::marker::PhantomData;

/// A list that is being written.
pub(super) struct List<'w, 'o, F> {
    pub(super) writer: &'w mut Writer<'o, F>,
    /// Where it stands.
    pub(super) start: usize,
    /// What it was said to hold, or [`UNKNOWN`]; what it holds is counted, because user code says
    /// that and may be wrong.
    pub(super) len: usize,
    pub(super) count: usize,
}

impl<F: Format> List<'_, '_, F> {
    #[inline]
    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Outcome {
        F::separate(self.count, self.writer.out);
        if let Err(refused) = value.serialize(&mut *self.writer) {
            return Err(refused.at_index(self.count));
        }
        self.count += 1;
        Ok(())
    }

    #[inline]
    fn finish(self) -> Outcome {
        F::end_list(self.start, self.len, self.count, self.writer.out)?;
        self.writer.leave(self.count);
        Ok(())
    }
}

/// A map that is being written.
pub(super) struct Map<'w, 'o, F> {
    pub(super) writer: &'w mut Writer<'o, F>,
    pub(super) start: usize,
    pub(super) len: usize,
    pub(super) count: usize,
    /// Where the key of the value to come stands.
    pub(super) key: usize,
}

/// A struct that is being written, as a map or a list.
pub(super) struct Fields<'w, 'o, F> {
    pub(super) writer: &'w mut Writer<'o, F>,
    pub(super) start: usize,
    pub(super) len: usize,
    pub(super) count: usize,
}

impl<F: Format> Fields<'_, '_, F> {
    #[inline]
    fn field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Outcome {
        F::separate(self.count, self.writer.out);
        if self.writer.structs == Structs::Maps {
            F::text(key, self.writer.out)?;
            F::after_key(self.writer.out);
        }
        if let Err(refused) = value.serialize(&mut *self.writer) {
            return Err(refused.at_key(key));
        }
        self.count += 1;
        Ok(())
    }

    fn skip(&mut self, key: &'static str) -> Outcome {
        match self.writer.structs {
            Structs::Maps => Ok(()),
            Structs::Lists => Err(left_out(key)),
        }
    }

    #[inline]
    fn finish(self) -> Outcome {
        match self.writer.structs {
            Structs::Maps => {
                F::end_map(self.start, self.len, self.count, self.writer.out)?;
                self.writer.leave(2 * self.count);
            }
            Structs::Lists => {
                F::end_list(self.start, self.len, self.count, self.writer.out)?;
                self.writer.leave(self.count);
            }
        }
        Ok(())
    }
}

#[cold]
fn left_out(key: &str) -> Refused {
    let reason = "a field that is left out has no place in a list: write structs as maps";
    Refused(Refusal::new(reason)).at_key(key)
}

/// The content of a variant, in a map of one pair that begins at `start`.
pub(super) struct Variant<C> {
    pub(super) content: C,
    pub(super) variant: &'static str,
    pub(super) start: usize,
}

impl<C> Variant<C> {
    fn inside(&mut self, write: impl FnOnce(&mut C) -> Outcome) -> Outcome {
        write(&mut self.content).map_err(|refused| refused.at_key(self.variant))
    }
}

/// Serde has a trait for each kind of list; they differ in names only.
macro_rules! lists {
    ($($trait:ident, $method:ident);*) => {
        $(impl<F: Format> ser::$trait for List<'_, '_, F> {
            type Ok = ();
            type Error = Refused;

            #[inline]
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Outcome {
                self.element(value)
            }

            #[inline]
            fn end(self) -> Outcome {
                self.finish()
            }
        })*
    };
}

lists!(
    SerializeSeq, serialize_element;
    SerializeTuple, serialize_element;
    SerializeTupleStruct, serialize_field
);

impl<F: Format> ser::SerializeTupleVariant for Variant<List<'_, '_, F>> {
    type Ok = ();
    type Error = Refused;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Outcome {
        self.inside(|list| list.element(value))
    }

    fn end(self) -> Outcome {
        let List {
            writer,
            start,
            len,
            count,
        } = self.content;
        F::end_list(start, len, count, writer.out)?;
        writer.leave(count);
        writer.end_variant(self.start)
    }
}

impl<F: Format> ser::SerializeStruct for Fields<'_, '_, F> {
    type Ok = ();
    type Error = Refused;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Outcome {
        self.field(key, value)
    }

    fn skip_field(&mut self, key: &'static str) -> Outcome {
        self.skip(key)
    }

    #[inline]
    fn end(self) -> Outcome {
        self.finish()
    }
}

impl<F: Format> ser::SerializeStructVariant for Variant<Fields<'_, '_, F>> {
    type Ok = ();
    type Error = Refused;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Outcome {
        self.inside(|fields| fields.field(key, value))
    }

    fn skip_field(&mut self, key: &'static str) -> Outcome {
        self.inside(|fields| fields.skip(key))
    }

    fn end(self) -> Outcome {
        let Fields {
            writer,
            start,
            len,
            count,
        } = self.content;
        let fields = Fields {
            writer: &mut *writer,
            start,
            len,
            count,
        };
        fields.finish()?;
        writer.end_variant(self.start)
    }
}

impl<F: Format> ser::SerializeMap for Map<'_, '_, F> {
    type Ok = ();
    type Error = Refused;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Outcome {
        let out = &mut *self.writer.out;
        F::separate(self.count, out);
        self.key = out.len();
        let format = PhantomData;
        key.serialize(KeyWriter::<F> { out, format })?;
        F::after_key(self.writer.out);
        Ok(())
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Outcome {
        if let Err(refused) = value.serialize(&mut *self.writer) {
            // The key is read back, so that those of accepted values are not kept.
            return Err(refused.at_key(&F::key(&self.writer.out[self.key..])));
        }
        self.count += 1;
        Ok(())
    }

    #[inline]
    fn end(self) -> Outcome {
        F::end_map(self.start, self.len, self.count, self.writer.out)?;
        self.writer.leave(2 * self.count);
        Ok(())
    }
}
