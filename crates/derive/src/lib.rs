//! `#[derive(CacheKey)]` for the crate `polycache`, which documents it beside the trait.

mod attributes;
mod expand;

use proc_macro::TokenStream;
use syn::{parse_macro_input, DeriveInput};

/// Makes a key from a type's fields; see `polycache::CacheKey`.
#[proc_macro_derive(CacheKey, attributes(cache_key))]
pub fn cache_key(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand::cache_key(&input)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
