//! Discord's messages in the library's form.

use std::sync::Arc;

use dirigent::ports::{
    Attachment, AuthorKind, ChatKind, Embed, EmbedAuthor, EmbedField, Quoted, Shown,
};
use dirigent::{ChannelId, ChatMessage, MessageId, UserId};
use serde_json::Value;
use twilight_model::channel::Message;

use crate::wire;

/// Converts a message of twilight for the library.
///
/// A message in a thread has the thread's id as its channel. Joins, pins, boosts and the like are [`ChatKind::System`],
/// and so are answers to commands, whichever account wrote them. The nonce is missing, because twilight drops it;
/// [`ShardFeed::text`](crate::ShardFeed::text) keeps it. A mention of the role that Discord manages for a bot stays as
/// it is. A [`Feed`](crate::Feed) turns it into a mention of the bot.
///
/// ```no_run
/// # fn example(event: &twilight_model::gateway::payload::incoming::MessageCreate) {
/// let message = dirigent_discord::chat_message(event);
/// assert_eq!(message.id.get(), event.id.get());
/// # }
/// ```
pub fn chat_message(message: &Message) -> ChatMessage {
    // Convert it to Discord's form first, so that there is a single reader.
    let written = serde_json::to_value(message).and_then(serde_json::from_value);
    written.ok().and_then(read_message).unwrap_or_else(|| ChatMessage {
        kind: ChatKind::System,
        ..ChatMessage::new(
            MessageId::new(message.id.get()),
            ChannelId::new(message.channel_id.get()),
            UserId::new(message.author.id.get()),
            message.content.as_str(),
        )
    })
}

/// Reads a message from the wire. Returns `None` without an author, which a partial update may lack.
pub(crate) fn read_message(message: wire::Message) -> Option<ChatMessage> {
    let name = message.shown_name();
    let author = message.author?;
    let kind = message.kind?;
    // Older messages have only the older field.
    let answers_command = message.interaction_metadata.is_some() || message.interaction.is_some();
    let is_webhook = message.webhook_id.is_some();
    // An answer to a command has its application's id as a webhook's, but the bot wrote it.
    let author_kind = if is_webhook && !answers_command {
        AuthorKind::Webhook
    } else if is_webhook || author.bot == Some(true) {
        AuthorKind::Bot
    } else {
        AuthorKind::Human
    };
    let chat_kind = match kind {
        // Discord's own account wrote it, or a command's answer.
        _ if answers_command || author.system == Some(true) => ChatKind::System,
        REGULAR => ChatKind::Default,
        REPLY => ChatKind::Reply,
        _ => ChatKind::System,
    };
    let reference = message.reference.unwrap_or_default();
    // Other kinds also refer to messages, for example a pin, a thread's first message or a forward.
    let answered_id = reference.message_id.filter(|_| kind == REPLY);
    let quoted = match kind {
        REPLY => answered(message.referenced),
        STARTER => starter(message.referenced),
        _ if reference.kind == Some(FORWARD) => forwarded(&message.snapshots),
        _ => None,
    };
    let content = message.content?;
    let by_person = author_kind == AuthorKind::Human;
    Some(ChatMessage {
        author_name: name,
        author_kind,
        kind: chat_kind,
        mentioned_bots: mentioned_bots(message.mentions, &content),
        reply_to: answered_id.map(|id| MessageId::new(id.0)),
        quoted: quoted.map(Box::new),
        attachments: message.attachments.into_iter().flatten().map(attached).collect(),
        embeds: message
            .embeds
            .as_array()
            .map_or(0, |all| u8::try_from(all.len()).unwrap_or(u8::MAX)),
        shown: shown(
            // A person's embeds are previews of links.
            if by_person { &Value::Null } else { &message.embeds },
            &message.components,
            &message.sticker_items,
            &message.poll,
        ),
        nonce: message.nonce.and_then(wire::Nonce::ours),
        ..ChatMessage::new(
            MessageId::new(message.id.0),
            ChannelId::new(message.channel_id.0),
            author.id.user(),
            content,
        )
    })
}

/// Returns the bots that a text mentions. Discord's list also includes the author of the answered message.
fn mentioned_bots(mentions: Value, content: &str) -> Box<[UserId]> {
    let named: Vec<wire::User> = serde_json::from_value(mentions).unwrap_or_default();
    let bots = named.into_iter().filter(|named| named.bot == Some(true));
    let bots = bots.map(|bot| bot.id.user());
    bots.filter(|bot| {
        [format!("<@{bot}>"), format!("<@!{bot}>")].iter().any(|it| content.contains(it))
    })
    .collect()
}

/// The values of `type` in a message and in a reference.
const REGULAR: u8 = 0;
const REPLY: u8 = 19;
const STARTER: u8 = 21;
const FORWARD: u8 = 1;

fn attached(file: wire::Attachment) -> Attachment {
    Attachment {
        content_type: file.content_type.map(Arc::from),
        description: file.description.map(Arc::from),
        ..Attachment::new(file.filename, file.url, file.size)
    }
}

/// Returns the answered message. It is `null` if it was deleted, and missing if Discord did not look it up.
fn answered(referenced: Value) -> Option<Quoted> {
    let answered = referred(referenced)?;
    let name = answered.author_name.clone();
    let files = answered.attachments.iter().map(|file| format!("[file: {}]", file.name));
    let things = files.chain(answered.shown.iter().map(ToString::to_string));
    let words: Vec<String> = [answered.content.to_string()].into_iter().chain(things).collect();
    let quoted = Quoted::answered(answered.author, name, &words.join(" "));
    Some(quoted.by(answered.author_kind))
}

fn starter(referenced: Value) -> Option<Quoted> {
    let starter = referred(referenced)?;
    let quoted = Quoted::starter(starter.author, starter.author_name, &starter.content);
    Some(quoted.with(starter.attachments, starter.shown))
}

fn referred(referenced: Value) -> Option<ChatMessage> {
    let mut referenced: wire::Message = serde_json::from_value(referenced).ok()?;
    // Discord shows one message behind another, but no third one.
    referenced.referenced = Value::Null;
    read_message(referenced)
}

/// Returns the forwarded message. Discord hides its author.
fn forwarded(snapshots: &Value) -> Option<Quoted> {
    let first = snapshots.get(0)?;
    // Serenity takes it out of "message", and writes it back without that.
    let message = first.get("message").unwrap_or(first);
    let files: Option<Vec<wire::Attachment>> =
        message.get("attachments").and_then(|files| serde_json::from_value(files.clone()).ok());
    let part = |name: &str| message.get(name).unwrap_or(&Value::Null);
    let shown = shown(part("embeds"), part("components"), part("sticker_items"), part("poll"));
    let files = files.unwrap_or_default().into_iter().map(attached).collect();
    Some(Quoted::forwarded(text(message, "content").unwrap_or_default()).with(files, shown))
}

/// Returns the parts that have a text. A part in an unknown form is left out, because the words must not be lost.
fn shown(embeds: &Value, components: &Value, stickers: &Value, poll: &Value) -> Vec<Shown> {
    let is_rich = |embed: &&Value| text(embed, "type").is_none_or(|kind| kind == "rich");
    let embeds = list(embeds).iter().filter(is_rich).map(|embed| Shown::embed(&embed_of(embed)));
    let mut texts = Vec::new();
    for component in list(components) {
        add_texts(component, &mut texts);
    }
    let components = (!texts.is_empty()).then(|| Shown::components(texts));
    // Without a name or a question it still shows something, so the message does not hide its text.
    let stickers = list(stickers).iter().filter(|sticker| sticker.is_object());
    let stickers =
        stickers.map(|sticker| Shown::sticker(text(sticker, "name").unwrap_or_default()));
    let poll = poll.is_object().then(|| {
        let question = poll.get("question").and_then(|question| text(question, "text"));
        let question = question.unwrap_or_default();
        let answers = poll.get("answers").map_or(&[][..], list);
        let words =
            |answer: &'_ Value| answer.get("poll_media")?.get("text")?.as_str().map(str::to_owned);
        Shown::poll(question, answers.iter().filter_map(words))
    });
    embeds.chain(components).chain(stickers).chain(poll).collect()
}

fn embed_of(embed: &Value) -> Embed {
    let named = |what: &str| text(embed, what).map(str::to_owned);
    let author = embed.get("author").and_then(|author| text(author, "name"));
    let fields = embed.get("fields").map_or(&[][..], list).iter();
    let field = |field: &Value| EmbedField {
        name: text(field, "name").unwrap_or_default().to_owned(),
        value: text(field, "value").unwrap_or_default().to_owned(),
        inline: false,
    };
    Embed {
        title: named("title"),
        description: named("description"),
        author: author.map(EmbedAuthor::new),
        fields: fields.map(field).collect(),
        ..Embed::new()
    }
}

/// Collects the texts of a component and of those within it. Discord's kind 10 shows text, and others contain
/// components or describe pictures. serde limits their depth.
fn add_texts<'a>(component: &'a Value, texts: &mut Vec<&'a str>) {
    texts.extend(text(component, "content"));
    for within in ["components", "items"].into_iter().filter_map(|name| component.get(name)) {
        for component in list(within) {
            add_texts(component, texts);
        }
    }
    texts.extend(component.get("accessory").and_then(|accessory| text(accessory, "description")));
    texts.extend(text(component, "description"));
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn message(kind: u8, attachments: &Value) -> Value {
        json!({
            "id": "3", "channel_id": "1", "type": kind, "content": "see there",
            "message_reference": {"type": 0, "message_id": "9", "channel_id": "1"},
            "member": {"nick": "Poe", "roles": [], "joined_at": null, "deaf": false, "mute": false, "flags": 0},
            "timestamp": "2025-06-15T15:06:40.000000+00:00", "edited_timestamp": null, "tts": false,
            "mention_everyone": false, "mentions": [], "mention_roles": [], "embeds": [],
            "pinned": false, "attachments": attachments,
            "author": {"id": "2", "username": "p", "global_name": "P", "discriminator": "0", "avatar": null},
        })
    }

    /// The message as both ways of reading tell of it: they agree.
    fn read_both_ways(message: &Value) -> ChatMessage {
        let event: Message = serde_json::from_value(message.clone()).unwrap();
        let read: wire::Message = serde_json::from_value(message.clone()).unwrap();
        let read = read_message(read).unwrap();
        assert_eq!(chat_message(&event), read);
        read
    }

    #[test]
    fn attached_files_are_told_with_what_is_known_of_them() {
        let file = json!({
            "id": "4", "filename": "a.png", "size": 5, "url": "u", "proxy_url": "p",
            "content_type": "image/png", "description": "a table",
        });
        let read = read_both_ways(&message(0, &json!([file])));
        let told = Attachment {
            content_type: Some("image/png".into()),
            description: Some("a table".into()),
            ..Attachment::new("a.png", "u", 5)
        };
        assert_eq!(read.attachments, [told]);
        assert_eq!(read_both_ways(&message(0, &json!([]))).attachments, []);
    }

    /// HR13
    #[test]
    fn of_the_accounts_that_a_text_mentions_the_bots_are_told() {
        let account = |(id, bot)| {
            json!({
                "id": id, "username": "p", "discriminator": "0", "avatar": null, "public_flags": 0, "bot": bot,
                "member": {"nick": null, "roles": [], "joined_at": null, "deaf": false, "mute": false, "flags": 0},
            })
        };
        let mut said = message(0, &json!([]));
        assert_eq!(read_both_ways(&said).mentioned_bots, [].into());
        said["content"] = json!("<@5> and <@!6> and <@7>");
        // Discord lists the author of what is answered, too.
        let mentions = [("5", true), ("6", true), ("7", false), ("8", true)];
        said["mentions"] = mentions.map(account).to_vec().into();
        assert_eq!(read_both_ways(&said).mentioned_bots, [UserId::new(5), UserId::new(6)].into());
        said["mentions"] = json!("in another form");
        let read = read_message(serde_json::from_value(said).unwrap()).unwrap();
        assert_eq!(&*read.content, "<@5> and <@!6> and <@7>");
    }

    #[test]
    fn embeds_are_counted() {
        let mut shown = message(0, &json!([]));
        assert_eq!(read_both_ways(&shown).embeds, 0);
        shown["embeds"] = json!([{ "type": "rich", "title": "t" }, { "type": "link" }]);
        assert_eq!(read_both_ways(&shown).embeds, 2);
    }

    /// HR6, HR7: what is shown besides words has a text; of a person's embeds, which are pictures of links, none.
    #[test]
    fn stickers_polls_embeds_and_components_are_told() {
        let mut shown = message(0, &json!([]));
        shown["sticker_items"] = json!([{ "id": "5", "name": "cat", "format_type": 1 }]);
        shown["poll"] = json!({
            "question": { "text": "Tabs or spaces?" }, "expiry": null, "allow_multiselect": false, "layout_type": 1,
            "answers": [
                { "answer_id": 1, "poll_media": { "text": "Tabs" } },
                { "answer_id": 2, "poll_media": { "text": "Spaces" } },
            ],
        });
        shown["embeds"] = json!([{ "type": "rich", "title": "t" }]);
        let lines = |message: &Value| -> Vec<_> {
            read_both_ways(message).shown.iter().map(ToString::to_string).collect()
        };
        assert_eq!(lines(&shown), ["[sticker: cat]", "[poll: Tabs or spaces? Tabs / Spaces]"]);
        shown["poll"]["question"]["text"] = Value::Null;
        shown["poll"]["answers"] = json!([]);
        shown["sticker_items"][0]["name"] = json!("");
        assert_eq!(lines(&shown), ["[sticker]", "[poll]"]);
        shown["sticker_items"][0]["name"] = json!("cat");
        shown["author"]["bot"] = json!(true);
        shown["poll"] = Value::Null;
        shown["embeds"] = json!([
            { "type": "rich", "title": "api is down", "author": { "name": "Monit" }, "description": "Since\n3 min",
              "fields": [{ "name": "Region", "value": "eu", "inline": true }] },
            { "type": "link", "title": "a page" },
        ]);
        shown["components"] = json!([{ "type": 17, "components": [
            { "type": 10, "content": "Deploy 12" },
            { "type": 9, "components": [{ "type": 10, "content": "is done" }],
              "accessory": { "type": 11, "media": { "url": "https://example.org/p.png" }, "description": "a chart" } },
        ] }]);
        assert_eq!(
            lines(&shown),
            [
                "[embed: Monit | api is down | Since 3 min | Region: eu]",
                "[components: Deploy 12 | is done | a chart]",
                "[sticker: cat]",
            ]
        );
    }

    /// HR1, HR2, HR5, HR9: the message that is answered, forwarded, or from which a thread was made.
    #[test]
    fn a_message_tells_of_the_one_that_it_repeats() {
        let mut other = message(0, &json!([]));
        other["id"] = json!("9");
        other["author"]["id"] = json!("8");
        other["content"] = json!("Where is\nthe proof?");
        other.as_object_mut().unwrap().remove("member");
        let mut reply = message(19, &json!([]));
        reply["referenced_message"] = other.clone();
        let quoted = *read_both_ways(&reply).quoted.unwrap();
        assert_eq!(
            quoted,
            Quoted::answered(UserId::new(8), Some("P".into()), "Where is the proof?")
                .by(AuthorKind::Human)
        );
        reply["referenced_message"] = Value::Null;
        assert_eq!(read_both_ways(&reply).quoted, None, "it was deleted");
        let mut starter = message(21, &json!([]));
        starter["content"] = json!("");
        starter["referenced_message"] = other.clone();
        let read = read_both_ways(&starter);
        assert_eq!(read.to_string(), "P (before this thread): Where is\n  the proof?");
        assert_eq!(read.kind, ChatKind::System);
        let mut forward = message(0, &json!([]));
        forward["content"] = json!("");
        forward["message_reference"]["type"] = json!(1);
        forward["message_snapshots"] = json!([{ "message": {
            "type": 0, "content": "<@2> stop", "embeds": [], "flags": 0, "mentions": [], "mention_roles": [],
            "timestamp": "2025-06-15T15:06:40.000000+00:00", "edited_timestamp": null,
            "sticker_items": [{ "id": "5", "name": "cat", "format_type": 1 }],
            "attachments": [{ "id": "4", "filename": "a.png", "size": 5, "url": "u", "proxy_url": "p" }],
        } }]);
        let read = read_both_ways(&forward);
        assert_eq!(&*read.content, "");
        assert_eq!(read.to_string(), "Poe (forwarding): <@2> stop [sticker: cat] [file: a.png]");
    }

    #[test]
    fn what_is_shown_in_another_form_loses_no_words() {
        for odd in [json!({}), json!("x"), json!([1, null, { "type": [] }]), json!(7)] {
            for part in [
                "embeds",
                "components",
                "sticker_items",
                "poll",
                "message_snapshots",
                "referenced_message",
            ] {
                for (kind, reference) in [(0, 0), (19, 0), (21, 0), (0, 1)] {
                    let mut shown = message(kind, &json!([]));
                    shown["message_reference"]["type"] = json!(reference);
                    shown[part] = odd.clone();
                    let read: wire::Message = serde_json::from_value(shown).unwrap();
                    assert_eq!(
                        read_message(read).map(|read| read.content),
                        Some("see there".into()),
                        "{part}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_name_is_the_nick_then_the_display_name_then_the_user_name() {
        let mut named = message(0, &json!([]));
        for (expected, gone) in [("Poe", "member"), ("P", "global_name"), ("p", "")] {
            assert_eq!(read_both_ways(&named).author_name.as_deref(), Some(expected));
            named.as_object_mut().unwrap().remove(gone);
            named["author"].as_object_mut().unwrap().remove(gone);
        }
    }

    #[test]
    fn only_a_reply_answers_the_message_that_it_refers_to() {
        assert_eq!(read_both_ways(&message(19, &json!([]))).reply_to, Some(MessageId::new(9)));
        assert_eq!(read_both_ways(&message(21, &json!([]))).reply_to, None);
        let sent = read_both_ways(&message(0, &json!([]))).sent_at;
        assert_eq!(sent.as_millis(), 1_420_070_400_000);
    }

    #[test]
    fn what_answers_a_command_is_a_notice_of_the_bot_and_no_webhooks_words() {
        let mut answer = message(20, &json!([]));
        answer["webhook_id"] = json!("2");
        answer["author"]["bot"] = json!(true);
        assert_eq!(read_both_ways(&answer).author_kind, AuthorKind::Webhook);
        answer["type"] = json!(0);
        answer["interaction_metadata"] = json!({
            "id": "5", "type": 2, "user": answer["author"], "authorizing_integration_owners": {},
        });
        let read = read_both_ways(&answer);
        assert_eq!((read.author_kind, read.kind), (AuthorKind::Bot, ChatKind::System));
    }
}
