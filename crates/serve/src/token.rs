//! What clients must show (RFC 6750).

use crate::Error;
use http::HeaderValue;
use std::fmt;
use std::path::Path;
use subtle::ConstantTimeEq;

/// A secret that clients send as `Authorization: Bearer <token>`.
#[derive(Clone)]
pub struct Token(Vec<u8>);

impl Token {
    /// Fewest characters: what is shorter is guessed.
    const LEAST: usize = 16;

    /// # Errors
    /// For fewer than 16 characters, and for others than letters, digits and `-._~+/=` (RFC 6750 2.1).
    pub fn new(text: &str) -> Result<Token, Error> {
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
        if text.len() < Token::LEAST || !text.bytes().all(legal) {
            let least = Token::LEAST;
            return Err(Error::InvalidArgument(format!(
                "a token has {least} characters or more, of letters, digits and -._~+/=; \
                 `openssl rand -hex 32` makes one"
            )));
        }
        Ok(Token(text.as_bytes().to_vec()))
    }

    /// The token that a file holds; blanks and line ends around it do not count.
    ///
    /// # Errors
    /// When the file cannot be read or holds no token.
    pub fn read(path: &Path) -> Result<Token, Error> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            Error::InvalidArgument(format!(
                "cannot read the token in {}: {error}",
                path.display()
            ))
        })?;
        Token::new(text.trim())
    }

    /// Whether a request's field shows it. How long that takes depends on its length alone.
    pub(crate) fn is_shown(&self, authorization: Option<&HeaderValue>) -> bool {
        let Some((scheme, shown)) =
            authorization.and_then(|field| field.as_bytes().split_at_checked(7))
        else {
            return false;
        };
        scheme.eq_ignore_ascii_case(b"bearer ") && bool::from(self.0.ct_eq(shown))
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}
