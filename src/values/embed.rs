//! An embed, the framed card that a message shows besides its text.

use std::fmt;
use std::hash::{Hash as _, Hasher};

use dirigent_core::Timestamp;
use serde::{Deserialize, Serialize};

use super::reply_error::ReplyError;

// Discord's limits. Those of texts are in characters.
const TITLE_MAX: usize = 256;
const DESCRIPTION_MAX: usize = 4_096;
const FIELDS_MAX: usize = 25;
const FIELD_NAME_MAX: usize = 256;
const FIELD_VALUE_MAX: usize = 1_024;
const FOOTER_MAX: usize = 2_048;
const AUTHOR_MAX: usize = 256;
const ADDRESS_MAX: usize = 2_048;
const COLOUR_MAX: u32 = 0xff_ff_ff;
/// The end of the year 9999. Discord cannot read the form of later times.
const TIMESTAMP_MAX: Timestamp = Timestamp::from_millis(253_402_300_799_999);

/// An embed of a reply. It is a framed card next to the text, or instead of it, as Discord shows it. It must show a
/// title, a description, a field, a footer, an author, an image or a thumbnail. Lengths count characters (Unicode
/// scalars). Its `Debug` output contains no text.
///
/// [`Reply::check`](crate::Reply::check) says which limit an embed exceeds. A reply with such an embed is not posted.
///
/// ```
/// use dirigent::ports::Embed;
///
/// let report = Embed::new()
///     .title("Build 214")
///     .description("All tests passed.")
///     .colour(0x2e_cc_71)
///     .field("Duration", "6 min", true)
///     .footer("nightly");
/// assert_eq!(report.fields.len(), 1);
/// assert!(!format!("{report:?}").contains("nightly"));
/// ```
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[expect(
    clippy::exhaustive_structs,
    reason = "plain data that adapters and stores map field by field"
)]
pub struct Embed {
    /// The heading, at most 256 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The text, in Discord's Markdown, at most 4,096 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The link of the title, an `http` or `https` address of at most 2,048 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The colour of the edge, `0xRRGGBB`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub colour: Option<u32>,
    /// A time that is shown behind the footer, in the reader's own time zone. It may be up to the year 9999.
    #[serde(with = "crate::written::optional", skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
    /// Small print below everything else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub footer: Option<EmbedFooter>,
    /// The address of a large picture below the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// The address of a small picture beside the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thumbnail: Option<String>,
    /// The author above the title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<EmbedAuthor>,
    /// Named values in the order in which they are shown, at most 25.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<EmbedField>,
}

/// A named value of an [`Embed`]. Its `Debug` output contains no text.
///
/// ```
/// use dirigent::ports::{Embed, EmbedField};
///
/// let field = EmbedField { name: "Duration".into(), value: "6 min".into(), inline: true };
/// assert_eq!(Embed::new().field("Duration", "6 min", true).fields, [field]);
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(
    clippy::exhaustive_structs,
    reason = "plain data that adapters and stores map field by field"
)]
pub struct EmbedField {
    /// The name, 1 to 256 characters.
    pub name: String,
    /// The value, 1 to 1,024 characters.
    pub value: String,
    /// `true` if it may stand beside other fields, up to three in a row.
    #[serde(default)]
    pub inline: bool,
}

/// The small print of an [`Embed`]. Its `Debug` output contains no text.
///
/// ```
/// use dirigent::ports::{Embed, EmbedFooter};
///
/// let footer = EmbedFooter { icon_url: Some("https://example.org/i.png".into()), ..EmbedFooter::new("nightly") };
/// let embed = Embed { footer: Some(footer), ..Embed::new() };
/// assert_eq!(embed.footer.map(|footer| footer.text).as_deref(), Some("nightly"));
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(
    clippy::exhaustive_structs,
    reason = "plain data that adapters and stores map field by field"
)]
pub struct EmbedFooter {
    /// The text, 1 to 2,048 characters.
    pub text: String,
    /// The address of a small picture before the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon_url: Option<String>,
}

/// The author above the title of an [`Embed`]. Its `Debug` output contains no text.
///
/// ```
/// use dirigent::ports::{Embed, EmbedAuthor};
///
/// let author = EmbedAuthor { url: Some("https://example.org".into()), ..EmbedAuthor::new("The build") };
/// let embed = Embed { author: Some(author), ..Embed::new() };
/// assert_ne!(embed.author, Some(EmbedAuthor::new("The build")));
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(
    clippy::exhaustive_structs,
    reason = "plain data that adapters and stores map field by field"
)]
pub struct EmbedAuthor {
    /// The name, 1 to 256 characters.
    pub name: String,
    /// The link of the name, an `http` or `https` address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The address of a small picture before the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon_url: Option<String>,
}

impl EmbedFooter {
    /// Creates a footer without a picture.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), icon_url: None }
    }
}

impl EmbedAuthor {
    /// Creates an author without an address and a picture.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), url: None, icon_url: None }
    }
}

impl Embed {
    /// Creates an empty embed.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the title.
    #[must_use]
    pub fn title(self, title: impl Into<String>) -> Self {
        Self { title: Some(title.into()), ..self }
    }

    /// Sets the text.
    #[must_use]
    pub fn description(self, description: impl Into<String>) -> Self {
        Self { description: Some(description.into()), ..self }
    }

    /// Sets the link of the title.
    #[must_use]
    pub fn url(self, url: impl Into<String>) -> Self {
        Self { url: Some(url.into()), ..self }
    }

    /// Sets the colour of the edge, `0xRRGGBB`.
    #[must_use]
    pub fn colour(self, colour: u32) -> Self {
        Self { colour: Some(colour), ..self }
    }

    /// Sets the time.
    #[must_use]
    pub fn timestamp(self, timestamp: Timestamp) -> Self {
        Self { timestamp: Some(timestamp), ..self }
    }

    /// Sets the small print.
    #[must_use]
    pub fn footer(self, text: impl Into<String>) -> Self {
        Self { footer: Some(EmbedFooter::new(text)), ..self }
    }

    /// Sets the address of the large picture.
    #[must_use]
    pub fn image(self, url: impl Into<String>) -> Self {
        Self { image: Some(url.into()), ..self }
    }

    /// Sets the address of the small picture.
    #[must_use]
    pub fn thumbnail(self, url: impl Into<String>) -> Self {
        Self { thumbnail: Some(url.into()), ..self }
    }

    /// Sets the name above the title.
    #[must_use]
    pub fn author(self, name: impl Into<String>) -> Self {
        Self { author: Some(EmbedAuthor::new(name)), ..self }
    }

    /// Adds a field. With `inline` it may stand beside others.
    #[must_use]
    pub fn field(
        mut self,
        name: impl Into<String>,
        value: impl Into<String>,
        inline: bool,
    ) -> Self {
        self.fields.push(EmbedField { name: name.into(), value: value.into(), inline });
        self
    }

    /// Adds the words of the embed to a text, and its addresses to a hash.
    pub(crate) fn told(&self, text: &mut String, rest: &mut impl Hasher) {
        let author = self.author.as_ref();
        let footer = self.footer.as_ref();
        let named = [author.map(|author| &author.name), footer.map(|footer| &footer.text)];
        let said = [self.title.as_ref(), self.description.as_ref()].into_iter().chain(named);
        let fields = self.fields.iter().map(|field| format!("{}: {}", field.name, field.value));
        for line in said.flatten().cloned().chain(fields) {
            text.push('\n');
            text.push_str(&line);
        }
        (&self.url, &self.image, &self.thumbnail).hash(rest);
        author.map(|author| (&author.url, &author.icon_url)).hash(rest);
        footer.map(|footer| &footer.icon_url).hash(rest);
    }

    /// Returns the number of characters of its texts together, as Discord counts them, without addresses.
    pub(crate) fn chars(&self) -> usize {
        let own = [self.title.as_ref(), self.description.as_ref()];
        let named = [
            self.footer.as_ref().map(|footer| &footer.text),
            self.author.as_ref().map(|author| &author.name),
        ];
        let fields = self.fields.iter().flat_map(|field| [&field.name, &field.value]);
        own.into_iter().chain(named).flatten().chain(fields).map(|text| text.chars().count()).sum()
    }

    /// Checks whether a chat would take it as the embed with this number.
    pub(crate) fn check(&self, embed: usize) -> Result<(), ReplyError> {
        let within = Within { embed };
        within.text("title", self.title.as_deref(), TITLE_MAX)?;
        within.text("description", self.description.as_deref(), DESCRIPTION_MAX)?;
        if let Some(footer) = &self.footer {
            within.required("footer", &footer.text, FOOTER_MAX)?;
            within.address("icon of the footer", footer.icon_url.as_deref())?;
        }
        if let Some(author) = &self.author {
            within.required("author", &author.name, AUTHOR_MAX)?;
            within.address("address of the author", author.url.as_deref())?;
            within.address("icon of the author", author.icon_url.as_deref())?;
        }
        if self.fields.len() > FIELDS_MAX {
            return Err(ReplyError::TooManyFields { embed, fields: self.fields.len() });
        }
        for field in &self.fields {
            within.required("name of a field", &field.name, FIELD_NAME_MAX)?;
            within.required("value of a field", &field.value, FIELD_VALUE_MAX)?;
        }
        within.address("address", self.url.as_deref())?;
        within.address("image", self.image.as_deref())?;
        within.address("thumbnail", self.thumbnail.as_deref())?;
        if self.timestamp.is_some_and(|at| at > TIMESTAMP_MAX) {
            return Err(ReplyError::BadTimestamp { embed });
        }
        if self.colour.is_some_and(|colour| colour > COLOUR_MAX) {
            return Err(ReplyError::BadColour { embed });
        }
        if self.shows_nothing() { Err(ReplyError::EmptyEmbed { embed }) } else { Ok(()) }
    }

    fn shows_nothing(&self) -> bool {
        let is_blank =
            |text: &Option<String>| text.as_deref().is_none_or(|it| it.trim().is_empty());
        is_blank(&self.title)
            && is_blank(&self.description)
            && self.fields.is_empty()
            && self.footer.is_none()
            && self.author.is_none()
            && self.image.is_none()
            && self.thumbnail.is_none()
    }
}

/// The embed that is checked.
struct Within {
    embed: usize,
}

impl Within {
    fn text(&self, part: &'static str, text: Option<&str>, max: usize) -> Result<(), ReplyError> {
        let chars = text.map_or(0, |text| text.chars().count());
        if chars <= max {
            return Ok(());
        }
        Err(ReplyError::TooLong { embed: self.embed, part, chars, max })
    }

    fn required(&self, part: &'static str, text: &str, max: usize) -> Result<(), ReplyError> {
        if text.trim().is_empty() {
            return Err(ReplyError::Blank { embed: self.embed, part });
        }
        self.text(part, Some(text), max)
    }

    fn address(&self, part: &'static str, address: Option<&str>) -> Result<(), ReplyError> {
        let is_web = |address: &str| {
            let rest = address.strip_prefix("https://").or(address.strip_prefix("http://"));
            rest.is_some_and(|rest| !rest.is_empty() && !rest.contains(char::is_whitespace))
        };
        if !address.is_none_or(is_web) {
            return Err(ReplyError::BadAddress { embed: self.embed, part });
        }
        self.text(part, address, ADDRESS_MAX)
    }
}

impl fmt::Debug for Embed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Embed({} characters, {} fields)", self.chars(), self.fields.len())
    }
}

impl fmt::Debug for EmbedField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EmbedField({} bytes: {} bytes)", self.name.len(), self.value.len())
    }
}

impl fmt::Debug for EmbedFooter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EmbedFooter({} bytes)", self.text.len())
    }
}

impl fmt::Debug for EmbedAuthor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EmbedAuthor({} bytes)", self.name.len())
    }
}
