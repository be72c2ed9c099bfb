//! What a post shows besides its text, and whom it may ping, as serenity writes it.

use dirigent::ports::{AllowedMentions, ApiError, Embed, ErrorKind, Mentions};
use serenity::all as discord;

/// Whom a post may ping: no account, unless it says so.
pub(crate) fn allowed_mentions(mentions: &Mentions) -> discord::CreateAllowedMentions {
    let none = discord::CreateAllowedMentions::new().replied_user(false);
    match mentions {
        Mentions::User(user) => none.users([discord::UserId::new(user.get())]),
        Mentions::Allowed(chosen) => {
            let AllowedMentions { users, roles, everyone, replied_user } = &**chosen;
            none.users(users.iter().map(|user| discord::UserId::new(user.get())))
                .roles(roles.iter().map(|role| discord::RoleId::new(role.get())))
                .everyone(*everyone)
                .replied_user(*replied_user)
        }
        Mentions::None | _ => none,
    }
}

/// An embed. A moment beyond what serenity can write is refused.
pub(crate) fn embed(embed: Embed) -> Result<discord::CreateEmbed, ApiError> {
    let Embed { title, description, url, colour, timestamp, .. } = embed;
    let Embed { footer, image, thumbnail, author, fields, .. } = embed;
    let mut created = discord::CreateEmbed::new();
    if let Some(title) = title {
        created = created.title(title);
    }
    if let Some(description) = description {
        created = created.description(description);
    }
    if let Some(url) = url {
        created = created.url(url);
    }
    if let Some(colour) = colour {
        created = created.colour(colour);
    }
    if let Some(at) = timestamp {
        let refused = || ApiError::new(ErrorKind::Invalid);
        let millis = i64::try_from(at.as_millis()).map_err(|_| refused())?;
        created =
            created.timestamp(discord::Timestamp::from_millis(millis).map_err(|_| refused())?);
    }
    if let Some(footer) = footer {
        let text = discord::CreateEmbedFooter::new(footer.text);
        created = created.footer(match footer.icon_url {
            Some(icon) => text.icon_url(icon),
            None => text,
        });
    }
    if let Some(image) = image {
        created = created.image(image);
    }
    if let Some(thumbnail) = thumbnail {
        created = created.thumbnail(thumbnail);
    }
    if let Some(author) = author {
        let mut named = discord::CreateEmbedAuthor::new(author.name);
        if let Some(url) = author.url {
            named = named.url(url);
        }
        if let Some(icon) = author.icon_url {
            named = named.icon_url(icon);
        }
        created = created.author(named);
    }
    Ok(created.fields(fields.into_iter().map(|field| (field.name, field.value, field.inline))))
}
