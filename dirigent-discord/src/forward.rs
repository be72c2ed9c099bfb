//! What the gateway pushes, told to the library.

use dirigent::{CallError, ChannelId, ChatMessage, Dirigent, UserId};
use serde::Deserialize;
use twilight_model::gateway::event::Event;

use crate::message::{chat_message, read_message};
use crate::wire;

/// Tells the library of an event of twilight's gateway; what does not concern it is passed over.
///
/// New and edited messages are told, and who was added to a thread. Duplicates, replays after a resume
/// and events of several shards in any order are fine. Twilight drops the nonce of messages;
/// [`forward_text`] keeps it.
///
/// # Errors
///
/// When the driver is not running or a channel cannot be read.
///
/// ```no_run
/// # async fn example(dirigent: dirigent::Dirigent, event: twilight_model::gateway::event::Event) -> Result<(), dirigent::CallError> {
/// dirigent_discord::forward(&dirigent, &event).await?;
/// # Ok(())
/// # }
/// ```
pub async fn forward(dirigent: &Dirigent, event: &Event) -> Result<(), CallError> {
    // Most of what a gateway sends is nothing to us, and new kinds of it appear.
    if let Event::MessageCreate(created) = event {
        tell(dirigent, News::Created(chat_message(created))).await
    } else if let Event::MessageUpdate(updated) = event {
        tell(dirigent, News::Updated(chat_message(updated))).await
    } else if let Event::ThreadMembersUpdate(update) = event {
        let thread = ChannelId::new(update.id.get());
        for added in update.added_members.iter().filter_map(|member| member.user_id) {
            tell(dirigent, News::Joined(thread, UserId::new(added.get()))).await?;
        }
        Ok(())
    } else {
        Ok(())
    }
}

/// Tells the library of a gateway's message as it came, in JSON; what does not concern it, or cannot be
/// read, is passed over.
///
/// For hosts that take the raw text of a shard: it works without parsing the event before, reads partial
/// updates as far as they say something, and keeps the nonce by which a post of our own is known again.
///
/// # Errors
///
/// As [`forward`].
///
/// ```no_run
/// # async fn example(dirigent: dirigent::Dirigent, text: &str) -> Result<(), dirigent::CallError> {
/// // `text` is what `twilight_gateway::Message::Text` holds.
/// dirigent_discord::forward_text(&dirigent, text).await?;
/// # Ok(())
/// # }
/// ```
pub async fn forward_text(dirigent: &Dirigent, text: &str) -> Result<(), CallError> {
    match read(text) {
        Some(news) => tell(dirigent, news).await,
        None => Ok(()),
    }
}

/// What the library wants to know.
#[derive(Debug, PartialEq, Eq)]
enum News {
    Created(ChatMessage),
    Updated(ChatMessage),
    Joined(ChannelId, UserId),
}

async fn tell(dirigent: &Dirigent, news: News) -> Result<(), CallError> {
    match news {
        News::Created(message) => dirigent.message_created(message).await,
        News::Updated(message) => dirigent.message_updated(message).await,
        News::Joined(channel, user) => dirigent.member_joined(channel, user).await,
    }
}

/// The head of a gateway's message.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(default, borrow)]
    t: Option<std::borrow::Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Payload {
    d: wire::Message,
}

fn read(text: &str) -> Option<News> {
    let head: Head<'_> = serde_json::from_str(text).ok()?;
    let news = match head.t?.as_ref() {
        "MESSAGE_CREATE" => News::Created,
        "MESSAGE_UPDATE" => News::Updated,
        _ => return None,
    };
    let payload: Payload = serde_json::from_str(text).ok()?;
    read_message(payload.d).map(news)
}

#[cfg(test)]
mod tests {
    use dirigent::{AuthorKind, ChatKind};

    use super::*;

    fn text(kind: &str, message: &str) -> String {
        format!(r#"{{"op":0,"s":3,"t":"{kind}","d":{message}}}"#)
    }

    /// F13: the nonce of a pushed message is kept, as a text or as a number.
    #[test]
    fn a_pushed_message_keeps_its_nonce() {
        for (nonce, kept) in [
            ("\"0ab1\"", Some("0ab1")),
            ("12345", Some("12345")),
            ("18446744073709551615", None),
            ("null", None),
        ] {
            let message = format!(
                r#"{{"id":"9","channel_id":"7","type":0,"content":"hi","nonce":{nonce},
                "author":{{"id":"5","bot":true,"username":"x"}},"unknown":[{{}}]}}"#
            );
            let Some(News::Created(read)) = read(&text("MESSAGE_CREATE", &message)) else {
                panic!("{nonce}");
            };
            assert_eq!(read.nonce.as_deref(), kept);
            assert_eq!((read.id.get(), read.channel.get(), read.author.get()), (9, 7, 5));
            assert_eq!((read.author_kind, read.kind), (AuthorKind::Bot, ChatKind::Default));
            assert_eq!(read.content, "hi");
        }
    }

    /// F16: a partial update that says too little changes nothing, and one that says enough is told.
    #[test]
    fn partial_updates_are_told_as_far_as_they_go() {
        let whole = r#"{"id":"9","channel_id":"7","type":19,"content":"b","author":{"id":"5"}}"#;
        let Some(News::Updated(edited)) = read(&text("MESSAGE_UPDATE", whole)) else {
            panic!("a whole update was passed over");
        };
        assert_eq!((edited.kind, edited.author_kind), (ChatKind::Reply, AuthorKind::Human));
        for partial in [
            r#"{"id":"9","channel_id":"7","embeds":[]}"#,
            r#"{"id":"9","channel_id":"7","content":"c"}"#,
            r#"{"id":"9","channel_id":"7","type":0,"author":{"id":"5"}}"#,
        ] {
            assert_eq!(read(&text("MESSAGE_UPDATE", partial)), None, "{partial}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_passed_over() {
        for odd in ["", "[]", "{}", "{\"t\":5}", "{\"t\":null,\"d\":null}", "\u{feff}{}"] {
            assert_eq!(read(odd), None, "{odd}");
        }
        assert_eq!(read(&text("MESSAGE_CREATE", "null")), None);
        assert_eq!(read(&text("TYPING_START", "{}")), None);
    }
}
