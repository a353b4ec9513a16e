//! The arguments of `#[cache_key(...)]`.

use syn::meta::ParseNestedMeta;
use syn::{Attribute, LitStr, Result};

/// Arguments for a type.
#[derive(Default)]
pub struct OfType {
    /// The first part of its keys; its own name by default.
    pub prefix: Option<LitStr>,
}

/// Arguments for a field.
#[derive(Default)]
pub struct OfField {
    /// The field is not part of the key.
    pub skip: bool,
    /// The field is written by its `Display`.
    pub display: bool,
}

impl OfType {
    pub fn read(attributes: &[Attribute]) -> Result<OfType> {
        let mut found = OfType::default();
        each(attributes, |meta| {
            if !meta.path.is_ident("prefix") {
                return Err(meta.error("there is: prefix = \"...\""));
            }
            let text: LitStr = meta.value()?.parse()?;
            if text.value().is_empty() {
                return Err(
                    meta.error("a prefix is not empty: it tells this type's keys from others")
                );
            }
            once(&meta, found.prefix.replace(text).is_some())
        })?;
        Ok(found)
    }
}

impl OfField {
    pub fn read(attributes: &[Attribute]) -> Result<OfField> {
        let mut found = OfField::default();
        each(attributes, |meta| {
            let flag = match &meta.path {
                path if path.is_ident("skip") => &mut found.skip,
                path if path.is_ident("display") => &mut found.display,
                _ => return Err(meta.error("there are: skip, display")),
            };
            once(&meta, std::mem::replace(flag, true))?;
            if found.skip && found.display {
                return Err(meta.error("a field that is skipped is not displayed"));
            }
            Ok(())
        })?;
        Ok(found)
    }
}

fn each(
    attributes: &[Attribute],
    mut read: impl FnMut(ParseNestedMeta<'_>) -> Result<()>,
) -> Result<()> {
    attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("cache_key"))
        .try_for_each(|attribute| attribute.parse_nested_meta(&mut read))
}

fn once(meta: &ParseNestedMeta<'_>, twice: bool) -> Result<()> {
    if twice {
        return Err(meta.error("said twice"));
    }
    Ok(())
}
