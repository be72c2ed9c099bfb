//! The form in which a message goes from one process to another.

use serde_json::{Value, json};

use super::*;

const SENT: u64 = 1_383_825_040_998_400_001;

fn message() -> ChatMessage {
    let user = UserId::new(SENT + 2);
    let file = Attachment {
        content_type: Some("text/plain".into()),
        text: Some("line 1".into()),
        ..Attachment::new("message.txt", "https://cdn.discordapp.com/a", 6)
    };
    let quoted = Quoted::answered(user, Some("Critic".into()), "Where is\nthe proof?");
    ChatMessage {
        author_name: Some("Ann".into()),
        author_kind: AuthorKind::Bridged,
        kind: ChatKind::Reply,
        mentioned_bots: [UserId::new(SENT + 5)].into(),
        reply_to: Some(MessageId::new(SENT + 4)),
        quoted: Some(Box::new(quoted.with(vec![file.clone()], vec![Shown::sticker("cat")]))),
        attachments: vec![file],
        embeds: 1,
        shown: vec![
            Shown::Embed("api is down".into()),
            Shown::components(["is done"]),
            Shown::poll("Tabs?", ["Yes"]),
        ],
        ..ChatMessage::new(MessageId::new(SENT), ChannelId::new(SENT + 1), user, "Here.")
    }
}

fn written() -> Value {
    let file = json!({
        "name": "message.txt", "url": "https://cdn.discordapp.com/a", "size": 6,
        "contentType": "text/plain", "text": "line 1",
    });
    json!({
        "id": "1383825040998400001", "channel": "1383825040998400002", "author": "1383825040998400003",
        "authorName": "Ann", "authorKind": "bridged", "kind": "reply", "content": "Here.",
        "mentionedBots": ["1383825040998400006"], "replyTo": "1383825040998400005",
        "quoted": {
            "kind": "answered", "author": "1383825040998400003", "authorName": "Critic", "content": "Where is the proof?",
            "attachments": [file], "shown": [{ "sticker": "cat" }],
        },
        "attachments": [file], "embeds": 1,
        "shown": [{ "embed": "api is down" }, { "components": "is done" }, { "poll": "Tabs? Yes" }],
        "sentAt": 1_750_000_000_000_u64,
    })
}

#[test]
fn a_message_is_written_for_other_processes_in_this_form() {
    assert_eq!(serde_json::to_value(message()).unwrap(), written());
    assert_eq!(serde_json::from_value::<ChatMessage>(written()).unwrap(), message());
}

/// A process of an earlier version writes no such parts, and one of a later version writes more.
#[test]
fn a_message_of_another_version_is_read() {
    let mut earlier = written();
    let parts = earlier.as_object_mut().unwrap();
    for part in
        ["quoted", "attachments", "embeds", "shown", "authorName", "replyTo", "mentionedBots"]
    {
        parts.remove(part);
    }
    parts.insert("authorKind".to_owned(), json!("human"));
    parts.insert("later".to_owned(), json!({ "some": "thing" }));
    let read: ChatMessage = serde_json::from_value(earlier).unwrap();
    let expected = ChatMessage {
        kind: ChatKind::Reply,
        ..ChatMessage::new(read.id, read.channel, read.author, "Here.")
    };
    assert_eq!(read, expected);
}
