//! A file of a reply.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub(crate) const FILES_MAX: usize = 10;
/// The most bytes that the files of a reply may have together. Discord takes no more from a bot.
pub(crate) const FILE_BYTES_MAX: usize = 10 * 1024 * 1024;
const NAME_CHARS_MAX: usize = 100;

/// A file that an agent sends with its reply. See [`Reply::file`](crate::Reply::file). Its `Debug` output contains
/// neither its name nor its bytes.
///
/// Serialization writes only its name, for example into a record or for another process. A file that was read back has
/// no bytes, and a file without bytes is not posted.
///
/// ```
/// use dirigent::ports::ReplyFile;
///
/// let file = ReplyFile::new("build/report \"1\".txt", "all is well".as_bytes());
/// assert_eq!((file.name(), file.bytes().len()), ("report__1_.txt", 11));
/// assert_eq!(format!("{file:?}"), "ReplyFile(11 bytes)");
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct ReplyFile {
    name: Arc<str>,
    bytes: Arc<[u8]>,
}

impl ReplyFile {
    /// Creates a file with these bytes. Of the name it uses only the part behind the last slash, and at most the last
    /// 100 characters. Every character except for letters, digits, `.`, `-` and `_` becomes `_`, because a name may
    /// become part of an address or a header. A file without a name is called `file`.
    pub fn new(name: impl AsRef<str>, bytes: impl Into<Arc<[u8]>>) -> Self {
        Self { name: plain(name.as_ref()), bytes: bytes.into() }
    }

    /// Returns the name for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the bytes.
    pub const fn bytes(&self) -> &Arc<[u8]> {
        &self.bytes
    }

    /// Returns the file without its bytes.
    pub(crate) fn named(&self) -> Self {
        Self { name: Arc::clone(&self.name), bytes: Arc::default() }
    }

    pub(crate) fn is_at_hand(&self) -> bool {
        !self.bytes.is_empty()
    }
}

fn plain(name: &str) -> Arc<str> {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let surplus = name.chars().count().saturating_sub(NAME_CHARS_MAX);
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    let name: String =
        name.chars().skip(surplus).map(|c| if is_plain(c) { c } else { '_' }).collect();
    if name.is_empty() { "file".into() } else { name.into() }
}

impl From<String> for ReplyFile {
    fn from(name: String) -> Self {
        Self::new(name, Vec::new())
    }
}

impl From<ReplyFile> for String {
    fn from(file: ReplyFile) -> Self {
        file.name.as_ref().to_owned()
    }
}

impl fmt::Debug for ReplyFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReplyFile({} bytes)", self.bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HR17
    #[test]
    fn a_name_is_plain_and_short() {
        for (given, name) in [
            ("report.txt", "report.txt"),
            ("/etc/passwd", "passwd"),
            ("..\\..\\boot.ini", "boot.ini"),
            ("a\"; filename=\"b", "a___filename__b"),
            ("a\r\nX-Header: 1", "a__X-Header__1"),
            ("結果 1.csv", "結果_1.csv"),
            ("\u{202e}gpj.exe", "_gpj.exe"),
            ("", "file"),
            ("dir/", "file"),
        ] {
            assert_eq!(ReplyFile::new(given, *b"x").name(), name, "{given:?}");
        }
        let long = ReplyFile::new(format!("{}.tar.gz", "x".repeat(5_000)), *b"x");
        assert!(long.name().len() == 100 && long.name().ends_with("xx.tar.gz"));
    }

    /// HR17
    #[test]
    fn only_the_name_is_written() {
        let file = ReplyFile::new("a.txt", *b"secret");
        assert_eq!(serde_json::to_string(&file).unwrap(), "\"a.txt\"");
        let read: ReplyFile = serde_json::from_str("\"a.txt\"").unwrap();
        assert_eq!(read, file.named());
        assert!(!read.is_at_hand());
    }
}
