//! The reasons why a reply is not posted as its agent wants it.

/// A limit that a reply exceeds. The reply is not posted, and its agent's call counts as failed, with this error as the
/// agent's own.
///
/// Embeds are counted from 0.
///
/// ```
/// use dirigent::Reply;
/// use dirigent::ports::{Embed, ReplyError};
///
/// let reply = Reply::text("Done.").embed(Embed::new().title("x".repeat(300)));
/// let error = reply.check().unwrap_err();
/// assert_eq!(error, ReplyError::TooLong { embed: 0, part: "title", chars: 300, max: 256 });
/// assert_eq!(error.to_string(), "the title of embed 0 has 300 characters; 256 is the most");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplyError {
    /// There are more than 10 files. The first 10 are posted, with the rest of the reply.
    #[error("a reply has {0} files; 10 are the most")]
    TooManyFiles(usize),
    /// The files have more than 10 MiB together. The files that fit are posted, in order, with the rest of the reply.
    #[error("the files of a reply have {0} bytes together; 10 MiB are the most")]
    FilesTooLarge(usize),
    /// A file, counted from 0, has no bytes. It is not posted, but the rest of the reply is.
    #[error("file {0} of a reply is empty")]
    EmptyFile(usize),
    /// There are more than 10 embeds.
    #[error("a reply has {0} embeds; 10 is the most")]
    TooManyEmbeds(usize),
    /// The texts of all embeds together have more than 6,000 characters.
    #[error("the embeds of a reply have {0} characters together; 6,000 is the most")]
    EmbedsTooLong(usize),
    /// A text or an address of an embed is too long.
    #[error("the {part} of embed {embed} has {chars} characters; {max} is the most")]
    #[expect(missing_docs, reason = "the variant says it")]
    TooLong { embed: usize, part: &'static str, chars: usize, max: usize },
    /// A footer, an author, or a name or value of a field is only white space.
    #[error("the {part} of embed {embed} is blank")]
    #[expect(missing_docs, reason = "the variant says it")]
    Blank { embed: usize, part: &'static str },
    /// An embed has more than 25 fields.
    #[error("embed {embed} has {fields} fields; 25 is the most")]
    #[expect(missing_docs, reason = "the variant says it")]
    TooManyFields { embed: usize, fields: usize },
    /// An address begins with neither `http://` nor `https://`.
    #[error("the {part} of embed {embed} is no http or https address")]
    #[expect(missing_docs, reason = "the variant says it")]
    BadAddress { embed: usize, part: &'static str },
    /// A colour is higher than `0xFFFFFF`.
    #[error("the colour of embed {embed} is higher than 0xFFFFFF")]
    #[expect(missing_docs, reason = "the variant says it")]
    BadColour { embed: usize },
    /// A timestamp lies beyond the year 9999.
    #[error("the timestamp of embed {embed} lies beyond the year 9999")]
    #[expect(missing_docs, reason = "the variant says it")]
    BadTimestamp { embed: usize },
    /// An embed is empty: it has no text and no picture.
    #[error("embed {embed} shows nothing")]
    #[expect(missing_docs, reason = "the variant says it")]
    EmptyEmbed { embed: usize },
    /// More than 100 users, or more than 100 roles, may be pinged.
    #[error("a reply lets {0} users or roles be pinged; 100 is the most")]
    TooManyMentions(usize),
}
