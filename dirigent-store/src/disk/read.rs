//! Reads files.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use crate::error::BadFile;

/// Reads a file of at most this many bytes. Returns `None` if there is no file.
///
/// It reads ordinary files only, because opening a pipe could wait forever.
pub(crate) fn read(path: &Path, limit: usize) -> Result<Option<Vec<u8>>, ReadError> {
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if !found.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not an ordinary file").into());
    }
    let bound = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    // There is room for the whole file, so that one read is enough, and some more to see its end.
    let size = usize::try_from(found.len().min(bound)).unwrap_or(0);
    let mut content = Vec::with_capacity(size.saturating_add(64));
    File::open(path)?.take(bound).read_to_end(&mut content)?;
    if content.len() > limit {
        return Err(ReadError::Bad(BadFile::TooLarge { limit }));
    }
    Ok(Some(content))
}

/// Why a file was not read.
#[derive(Debug)]
pub(crate) enum ReadError {
    /// The system refused.
    Io(io::Error),
    /// There is a file, but it cannot be used.
    Bad(BadFile),
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
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
        let too_large = ReadError::Bad(BadFile::TooLarge { limit: 2 });
        assert_eq!(format!("{:?}", read(&path, 2).unwrap_err()), format!("{too_large:?}"));
        assert!(matches!(read(folder.path(), 3), Err(ReadError::Io(_))));
        assert!(matches!(read(Path::new("/dev/null"), 3), Err(ReadError::Io(_))));
    }
}
