//! Embeds in Discord's form.

use dirigent::ports::{Embed, EmbedAuthor, EmbedField, EmbedFooter};
use twilight_model::channel::message::embed as discord;
use twilight_model::util::Timestamp;

/// Returns an embed for a post's body, or `None` if Discord cannot write its time.
pub(crate) fn discord_embed(embed: &Embed) -> Option<discord::Embed> {
    let moment = |at: dirigent::ports::Timestamp| {
        let micros = i64::try_from(at.as_millis()).ok()?.checked_mul(1_000)?;
        Timestamp::from_micros(micros).ok()
    };
    let timestamp = match embed.timestamp {
        Some(at) => Some(moment(at)?),
        None => None,
    };
    Some(discord::Embed {
        author: embed.author.as_ref().map(author),
        color: embed.colour,
        description: embed.description.clone(),
        fields: embed.fields.iter().map(field).collect(),
        flags: None,
        footer: embed.footer.as_ref().map(footer),
        image: embed.image.as_deref().map(image),
        kind: "rich".to_owned(),
        provider: None,
        thumbnail: embed.thumbnail.as_deref().map(thumbnail),
        timestamp,
        title: embed.title.clone(),
        url: embed.url.clone(),
        video: None,
    })
}

fn author(author: &EmbedAuthor) -> discord::EmbedAuthor {
    let EmbedAuthor { name, url, icon_url } = author.clone();
    discord::EmbedAuthor { icon_url, name, proxy_icon_url: None, url }
}

fn footer(footer: &EmbedFooter) -> discord::EmbedFooter {
    let EmbedFooter { text, icon_url } = footer.clone();
    discord::EmbedFooter { icon_url, proxy_icon_url: None, text }
}

fn field(field: &EmbedField) -> discord::EmbedField {
    let EmbedField { name, value, inline } = field.clone();
    discord::EmbedField { inline, name, value }
}

fn image(url: &str) -> discord::EmbedImage {
    discord::EmbedImage {
        height: None,
        proxy_url: None,
        url: url.to_owned(),
        width: None,
        content_type: None,
        placeholder: None,
        placeholder_version: None,
        flags: None,
    }
}

fn thumbnail(url: &str) -> discord::EmbedThumbnail {
    discord::EmbedThumbnail { height: None, proxy_url: None, url: url.to_owned(), width: None }
}
