//! A file that goes with a reply.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The most files of a reply.
pub(crate) const FILES_MAX: usize = 10;
/// How many bytes the files of a reply may have together: what Discord takes from a bot.
pub(crate) const FILE_BYTES_MAX: usize = 10 * 1024 * 1024;
/// The longest name, in characters.
const NAME_CHARS_MAX: usize = 100;

/// A file that an agent sends with its reply: see [`Reply::file`](crate::Reply::file). `Debug` shows neither its name nor
/// what is in it.
///
/// Only its name is ever written, into a record or for another process. A file that was read back has no bytes, and a
/// file without bytes is not posted.
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
    /// A file with these bytes. Of the name only what stands behind the last slash counts, at most its last 100
    /// characters. Everything in it but letters, digits, `.`, `-` and `_` becomes `_`, because a name may end up in an
    /// address or a header. Without a name it is called `file`.
    pub fn new(name: impl AsRef<str>, bytes: impl Into<Arc<[u8]>>) -> Self {
        Self { name: plain(name.as_ref()), bytes: bytes.into() }
    }

    /// What people see.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What is in it.
    pub const fn bytes(&self) -> &Arc<[u8]> {
        &self.bytes
    }

    /// The same without its bytes.
    pub(crate) fn named(&self) -> Self {
        Self { name: Arc::clone(&self.name), bytes: Arc::default() }
    }

    /// Whether it can be posted.
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
