//! Paths that begin in the user's home folder.

use crate::Error;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The path, absolute. One that is `~`, or begins with `~/`, is in the folder that the environment variable HOME names,
/// so that all languages find the same directory by the same text. A folder that is called so is `./~`.
///
/// # Errors
/// `InvalidArgument` where HOME is needed and names no absolute path; `Io` where there is no working directory.
pub fn resolve(path: &Path) -> Result<PathBuf, Error> {
    resolve_in(path, std::env::var_os("HOME"))
}

fn resolve_in(path: &Path, home: Option<OsString>) -> Result<PathBuf, Error> {
    let Ok(rest) = path.strip_prefix("~") else {
        return std::path::absolute(path)
            .map_err(Error::io(format!("cannot resolve {}", path.display())));
    };
    let home = home.map(PathBuf::from).filter(|home| home.is_absolute());
    let home = home.ok_or_else(|| {
        Error::InvalidArgument(format!(
            "the path {} begins in the home folder, and HOME names no absolute path",
            path.display()
        ))
    })?;
    Ok(home.join(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(path: &str, home: &str) -> Result<PathBuf, Error> {
        resolve_in(Path::new(path), Some(home.into()))
    }

    #[test]
    fn a_tilde_is_the_home_folder_at_the_beginning_alone() {
        assert_eq!(resolved("~/a/b", "/h").unwrap(), Path::new("/h/a/b"));
        assert_eq!(resolved("~", "/h").unwrap(), Path::new("/h"));
        assert_eq!(resolved("/x/~/a", "/h").unwrap(), Path::new("/x/~/a"));
        let here = std::env::current_dir().unwrap();
        for (path, is) in [("./~/a", "~/a"), ("~a", "~a"), ("a", "a")] {
            assert_eq!(resolved(path, "/h").unwrap(), here.join(is));
        }
    }

    #[test]
    fn without_a_home_such_a_path_is_refused() {
        for home in ["", "relative"] {
            let refused = resolved("~/a", home).unwrap_err();
            assert_eq!(refused.code(), "invalid_argument");
        }
        assert!(resolve_in(Path::new("~"), None).is_err());
    }
}
