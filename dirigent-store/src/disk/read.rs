//! Reads files.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use crate::error::{Action, BadFile, StoreError};

/// Reads a file of at most this many bytes. Returns `None` if there is no file.
///
/// It reads ordinary files only, because opening a pipe could wait forever.
pub(crate) fn read(path: &Path, limit: usize) -> Result<Option<Vec<u8>>, StoreError> {
    match read_ordinary(path, limit) {
        Ok(Some(content)) if content.len() > limit => {
            let source = BadFile::TooLarge { limit };
            Err(StoreError::BadFile { path: path.to_owned(), source })
        }
        Err(error) => Err(StoreError::not_done(Action::Read, path, error)),
        Ok(content) => Ok(content),
    }
}

/// Reads at most one byte more than the limit.
fn read_ordinary(path: &Path, limit: usize) -> io::Result<Option<Vec<u8>>> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => {}
        Ok(_) => return Err(io::Error::new(io::ErrorKind::InvalidInput, "not an ordinary file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    }
    let bound = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    let mut content = Vec::new();
    File::open(path)?.take(bound).read_to_end(&mut content)?;
    Ok(Some(content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ordinary_files_up_to_the_limit_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        assert!(read(&path, 3).unwrap().is_none());
        fs::write(&path, "123").unwrap();
        assert_eq!(read(&path, 3).unwrap().unwrap(), b"123");
        let StoreError::BadFile { source, .. } = read(&path, 2).unwrap_err() else { panic!() };
        assert_eq!(source, BadFile::TooLarge { limit: 2 });
        assert!(matches!(read(folder.path(), 3), Err(StoreError::Io { .. })));
        assert!(matches!(read(Path::new("/dev/null"), 3), Err(StoreError::Io { .. })));
    }
}
