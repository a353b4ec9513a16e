//! Errors as Ruby raises them.

use magnus::{prelude::*, Error, Exception, RModule, Ruby};

/// The exception for `error`: an instance of its class in `ruby/lib/polycache/errors.rb`.
#[cold]
pub(crate) fn to_ruby(ruby: &Ruby, error: &polycache::Error) -> Error {
    build(ruby, error).unwrap_or_else(|failed| failed)
}

fn build(ruby: &Ruby, error: &polycache::Error) -> Result<Error, Error> {
    let details = ruby.hash_new();
    match error {
        polycache::Error::UnsupportedValue { path, .. }
        | polycache::Error::WrongType { path, .. } => {
            details.aset(ruby.sym_new("path"), path.as_str())?;
        }
        polycache::Error::EntryTooLarge { size, limit }
        | polycache::Error::ValueTooLarge { size, limit } => {
            details.aset(ruby.sym_new("size"), *size)?;
            details.aset(ruby.sym_new("limit"), *limit)?;
        }
        _ => {}
    }
    let class: magnus::RClass = ruby
        .class_object()
        .const_get::<_, RModule>("Polycache")?
        .const_get("Error")?;
    let exception: Exception =
        class.funcall("build", (error.code(), error.to_string(), details))?;
    Ok(exception.into())
}

/// An `InvalidArgument`.
pub(crate) fn invalid(ruby: &Ruby, message: impl Into<String>) -> Error {
    to_ruby(ruby, &polycache::Error::InvalidArgument(message.into()))
}

/// The facade's results as a method returns them.
pub(crate) trait OrRaise<T> {
    /// The error as Ruby raises it.
    fn or_raise(self, ruby: &Ruby) -> Result<T, Error>;
}

impl<T> OrRaise<T> for Result<T, polycache::Error> {
    #[inline]
    fn or_raise(self, ruby: &Ruby) -> Result<T, Error> {
        self.map_err(|error| to_ruby(ruby, &error))
    }
}
