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

/// WY13
#[test]
fn the_nonce_of_a_reply_says_when_it_was_decided_and_when_its_process_began() {
    let ms = Timestamp::from_millis;
    let now = 1_764_414_568_123;
    let (decided, own) = (ms(now), Began::new(ms(now - 7_000)));
    let years = |years: u64| years * 365 * 24 * 3_600 * 1_000;
    for age in [1, 5, 120_001, years(4) + 1] {
        let began = Began::new(ms(now - age));
        assert_eq!(began.at(), ms(now - age));
        let nonce = Nonce::of_reply(u64::MAX, decided, u64::MAX, began);
        assert_eq!(nonce.as_str().len(), Nonce::MAX);
        assert_eq!(nonce.as_str().parse(), Ok(nonce));
        assert_eq!(nonce.by_another(own), Some((decided, began)), "{age}");
        assert_eq!(nonce.by_another(began), None, "{age}");
    }
    // Its clock was set back, or it is older than a nonce can say: it is known all the same.
    for began in [now + 60_000, u64::MAX, now - years(9), 0] {
        let began = Began::new(ms(began));
        let nonce = Nonce::of_reply(7, decided, 9, began);
        assert_eq!(nonce.by_another(began), None);
        assert!(nonce.by_another(own).is_some());
    }
    let of = |channel, at, number, began| {
        Nonce::of_reply(channel, ms(at), number, Began::new(ms(began)))
    };
    let one = of(1, 20, 3, 0);
    assert_eq!(one, of(1, 20, 3, 0), "equal parts, equal nonces");
    let number = (1 << 34) - 1;
    let others = [of(2, 20, 3, 0), of(1, 21, 3, 0), of(1, 20, 4, 0), of(1, 20, 3, 8)];
    let others = others.into_iter().chain([of(1, 20, 3 | 1 << 30, 0), of(1, 20, number, 0)]);
    assert!(others.into_iter().all(|other| other != one));
    for other in [Nonce::from_parts(u64::MAX, u64::MAX, u64::MAX), Nonce::from_parts(0, 0, 0)] {
        assert_eq!(other.by_another(own), None);
    }
    for strange in ["z", "zzzzzzzzzzzzzzzzzzzzzzzz", "123456789012345678"] {
        assert_eq!(strange.parse::<Nonce>().unwrap().by_another(own), None, "{strange}");
    }
    let last: Nonce = "zzzzzzzzzzzzzzzzzzzzzzzzz".parse().unwrap();
    assert!(last.by_another(own).is_some(), "any account may have made it");
}

/// WY13: posts of one account in many channels, at many times and with many numbers are told apart.
#[test]
fn the_nonces_of_replies_are_told_apart() {
    let began = Began::new(Timestamp::from_millis(1_764_414_568_123));
    let mut seen = std::collections::HashSet::new();
    for channel in 0..20 {
        for at in 0..20 {
            for number in 0..20 {
                // Channels that were created one after the other, and parts of runs one after the other.
                let (channel, number) = (channel << 22, number << 14);
                let at = Timestamp::from_millis(1_764_414_600_000 + at);
                let is_new = seen.insert(Nonce::of_reply(channel, at, number, began));
                assert!(is_new, "{channel} {at:?} {number}");
            }
        }
    }
}
