//! The implementation that the derive writes.

use crate::attributes::{OfField, OfType};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Error, Fields, Ident, Result};

/// `impl CacheKey`: the key parts of a struct are its prefix and its fields, those of an enum its
/// prefix, the variant's name and the variant's fields.
pub fn cache_key(input: &DeriveInput) -> Result<TokenStream> {
    let name = &input.ident;
    let prefix = match OfType::read(&input.attrs)?.prefix {
        Some(prefix) => prefix.value(),
        None => name.to_string(),
    };
    let body = match &input.data {
        Data::Struct(data) => {
            let (pattern, parts) = fields(&data.fields)?;
            quote! { let Self #pattern = self; #parts }
        }
        Data::Enum(data) => {
            let arms = data.variants.iter().map(|variant| {
                let (pattern, parts) = fields(&variant.fields)?;
                let (ident, text) = (&variant.ident, variant.ident.to_string());
                Ok(quote! { Self::#ident #pattern => { parts.push(#text); #parts } })
            });
            let arms = arms.collect::<Result<Vec<_>>>()?;
            quote! { match *self { #(#arms)* } }
        }
        Data::Union(_) => {
            return Err(Error::new_spanned(
                name,
                "a union has no key: it is unknown which of its fields is valid",
            ))
        }
    };
    let body = match &input.data {
        // An enum without variants needs no arms: a match on `*self` binds nothing.
        Data::Enum(_) => quote! { #[allow(clippy::match_single_binding)] #body },
        _ => body,
    };
    let (impl_generics, type_generics, where_clause) = input.generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        impl #impl_generics ::polycache::CacheKey for #name #type_generics #where_clause {
            fn write_key(&self, out: &mut ::std::string::String) {
                let mut parts = ::polycache::KeyParts::new(out);
                parts.push(#prefix);
                #body
            }
        }
    })
}

/// The pattern that binds the fields, and what adds their parts.
fn fields(fields: &Fields) -> Result<(TokenStream, TokenStream)> {
    let mut bound = Vec::<TokenStream>::new();
    let mut parts = TokenStream::new();
    for (place, field) in fields.iter().enumerate() {
        let options = OfField::read(&field.attrs)?;
        let variable: Ident = format_ident!("field_{place}");
        let pattern = match (options.skip, &field.ident) {
            (true, Some(name)) => quote! { #name: _ },
            (true, None) => quote! { _ },
            (false, Some(name)) => quote! { #name: ref #variable },
            (false, None) => quote! { ref #variable },
        };
        bound.push(pattern);
        if options.skip {
            continue;
        }
        parts.extend(if options.display {
            quote! { parts.push_display(#variable); }
        } else {
            quote! { parts.push(#variable); }
        });
    }
    let pattern = match fields {
        Fields::Named(_) => quote! { { #(#bound),* } },
        Fields::Unnamed(_) => quote! { ( #(#bound),* ) },
        Fields::Unit => quote! {},
    };
    Ok((pattern, parts))
}

#[cfg(test)]
mod tests {
    use super::cache_key;
    use syn::{parse_quote, DeriveInput};

    #[track_caller]
    fn refused(input: &DeriveInput, says: &str) {
        let error = cache_key(input).expect_err("this has no key");
        assert!(error.to_string().contains(says), "{error}");
    }

    #[test]
    fn what_has_no_key_is_refused() {
        refused(&parse_quote!(union U { a: u8 }), "a union has no key");
        let empty = parse_quote!(
            #[cache_key(prefix = "")]
            struct S;
        );
        refused(&empty, "a prefix is not empty");
        let unknown = parse_quote!(
            #[cache_key(namespace = "s")]
            struct S;
        );
        refused(&unknown, "there is: prefix");
        let twice = parse_quote!(
            #[cache_key(prefix = "a", prefix = "b")]
            struct S;
        );
        refused(&twice, "said twice");
        let unknown = parse_quote!(
            struct S(#[cache_key(hidden)] u8);
        );
        refused(&unknown, "there are: skip, display");
        let both = parse_quote!(
            struct S(#[cache_key(skip, display)] u8);
        );
        refused(&both, "is not displayed");
    }
}
