//! Events of the gateway, read once, from a shard's text or from an event of twilight.

use std::borrow::Cow;

use dirigent::{ChannelId, ChatMessage, MessageId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use twilight_model::gateway::event::Event;

use crate::message::{chat_message, read_message};
use crate::wire::pushed::{
    DeletedChannel, DeletedGuild, DeletedMessage, DeletedMessages, DeletedRole, Interaction,
    Payload, PushedGuild, PushedMember, PushedReaction, PushedRole, PushedTyping, Ready,
    RemovedMember, ThreadList, ThreadMembers,
};
use crate::wire::{Channel, Guild, Number};

/// An event that the library needs.
pub(crate) enum News {
    /// A new session began. Earlier events are not pushed.
    Ready(Ready),
    /// A session was resumed. All events from the gap were pushed.
    Resumed,
    Guild(Box<PushedGuild>),
    GuildUpdated(Guild),
    GuildDeleted(DeletedGuild),
    Role(PushedRole),
    RoleDeleted(DeletedRole),
    /// A new or changed channel or thread.
    Channel(Box<Channel>),
    ChannelDeleted(DeletedChannel),
    Threads(ThreadList),
    ThreadMembers(ThreadMembers),
    /// A new or changed member.
    Member(PushedMember),
    MemberRemoved(RemovedMember),
    Created(ChatMessage),
    Updated(ChatMessage),
    Deleted(ChannelId, Vec<MessageId>),
    /// An account began to type.
    Typing(PushedTyping),
    Reaction(PushedReaction),
    Interaction(Box<Interaction>),
}

/// An event that the library needs but cannot read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable {
    /// Discord's name for the kind of event, or `unknown` if it is no event at all.
    pub(crate) kind: Cow<'static, str>,
}

/// The head of a gateway's message.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(default, borrow)]
    t: Option<Cow<'a, str>>,
}

impl News {
    /// Reads a raw message of the gateway. Returns `None` if the library does not need it.
    pub(crate) fn in_text(text: &str) -> Result<Option<Self>, Unreadable> {
        let head = serde_json::from_str::<Head<'_>>(text);
        let Some(kind) = head.map_err(|_| Unreadable { kind: "unknown".into() })?.t else {
            return Ok(None);
        };
        let read = match kind.as_ref() {
            "MESSAGE_CREATE" => payload(text).and_then(read_message).map(Self::Created),
            // Many updates contain too little to change anything.
            "MESSAGE_UPDATE" => match payload(text) {
                Some(message) => return Ok(read_message(message).map(Self::Updated)),
                None => None,
            },
            "MESSAGE_DELETE" => payload(text).map(deleted),
            "MESSAGE_DELETE_BULK" => payload(text).map(all_deleted),
            "TYPING_START" => payload(text).map(Self::Typing),
            "GUILD_CREATE" => payload(text).map(Box::new).map(Self::Guild),
            "GUILD_UPDATE" => payload(text).map(Self::GuildUpdated),
            "GUILD_DELETE" => payload(text).map(Self::GuildDeleted),
            "GUILD_ROLE_CREATE" | "GUILD_ROLE_UPDATE" => payload(text).map(Self::Role),
            "GUILD_ROLE_DELETE" => payload(text).map(Self::RoleDeleted),
            "CHANNEL_CREATE" | "CHANNEL_UPDATE" | "THREAD_CREATE" | "THREAD_UPDATE" => {
                payload(text).map(Box::new).map(Self::Channel)
            }
            "CHANNEL_DELETE" | "THREAD_DELETE" => payload(text).map(Self::ChannelDeleted),
            "THREAD_LIST_SYNC" => payload(text).map(Self::Threads),
            "THREAD_MEMBERS_UPDATE" => payload(text).map(Self::ThreadMembers),
            "GUILD_MEMBER_ADD" | "GUILD_MEMBER_UPDATE" => payload(text).map(Self::Member),
            "GUILD_MEMBER_REMOVE" => payload(text).map(Self::MemberRemoved),
            "MESSAGE_REACTION_ADD" => payload(text).map(Self::Reaction),
            "INTERACTION_CREATE" => payload(text).map(Box::new).map(Self::Interaction),
            "READY" => payload(text).map(Self::Ready),
            "RESUMED" => Some(Self::Resumed),
            _ => return Ok(None),
        };
        // Only the kinds above come here.
        read.map(Some).ok_or_else(|| Unreadable { kind: kind.into_owned().into() })
    }

    /// Reads an event of twilight, which drops the nonce of messages.
    #[expect(clippy::wildcard_enum_match_arm, reason = "most events are nothing to us")]
    pub(crate) fn in_event(event: &Event) -> Result<Option<Self>, Unreadable> {
        let read = match event {
            Event::MessageCreate(created) => Some(Self::Created(chat_message(created))),
            Event::MessageUpdate(updated) => Some(Self::Updated(chat_message(updated))),
            Event::MessageDelete(gone) => again(gone).map(deleted),
            Event::MessageDeleteBulk(gone) => again(gone).map(all_deleted),
            Event::TypingStart(typing) => again(typing).map(Self::Typing),
            Event::GuildCreate(guild) => again(guild).map(Box::new).map(Self::Guild),
            Event::GuildUpdate(guild) => again(guild).map(Self::GuildUpdated),
            Event::GuildDelete(gone) => again(gone).map(Self::GuildDeleted),
            Event::RoleCreate(role) => again(role).map(Self::Role),
            Event::RoleUpdate(role) => again(role).map(Self::Role),
            Event::RoleDelete(gone) => again(gone).map(Self::RoleDeleted),
            Event::ChannelCreate(channel) => again(channel).map(Box::new).map(Self::Channel),
            Event::ChannelUpdate(channel) => again(channel).map(Box::new).map(Self::Channel),
            Event::ThreadCreate(thread) => again(thread).map(Box::new).map(Self::Channel),
            Event::ThreadUpdate(thread) => again(thread).map(Box::new).map(Self::Channel),
            Event::ChannelDelete(gone) => again(gone).map(Self::ChannelDeleted),
            Event::ThreadDelete(gone) => again(gone).map(Self::ChannelDeleted),
            Event::ThreadListSync(list) => again(list).map(Self::Threads),
            Event::ThreadMembersUpdate(members) => again(members).map(Self::ThreadMembers),
            Event::MemberAdd(member) => again(member).map(Self::Member),
            Event::MemberUpdate(member) => again(member).map(Self::Member),
            Event::MemberRemove(gone) => again(gone).map(Self::MemberRemoved),
            Event::ReactionAdd(added) => again(added).map(Self::Reaction),
            Event::InteractionCreate(used) => again(used).map(Box::new).map(Self::Interaction),
            Event::Ready(ready) => again(ready).map(Self::Ready),
            Event::Resumed => Some(Self::Resumed),
            _ => return Ok(None),
        };
        let kind = || event.kind().name().unwrap_or("unknown").into();
        read.map(Some).ok_or_else(|| Unreadable { kind: kind() })
    }
}

fn payload<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_str::<Payload<T>>(text).ok().map(|payload| payload.d)
}

/// Twilight's types are converted to Discord's form, so that they are read in a single place. This would
/// be too slow for messages.
fn again<T: DeserializeOwned>(event: &impl Serialize) -> Option<T> {
    serde_json::from_value(serde_json::to_value(event).ok()?).ok()
}

fn deleted(gone: DeletedMessage) -> News {
    News::Deleted(ChannelId::new(gone.channel_id.0), vec![MessageId::new(gone.id.0)])
}

fn all_deleted(gone: DeletedMessages) -> News {
    let ids = gone.ids.into_iter().map(|Number(id)| MessageId::new(id)).collect();
    News::Deleted(ChannelId::new(gone.channel_id.0), ids)
}

#[cfg(test)]
mod tests {
    use dirigent::ports::{AuthorKind, ChatKind, Nonce};

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
            ("\"another library's\"", None),
            ("\"abcdefghijklmnopqrstuvwxyz\"", None),
            ("null", None),
        ] {
            let message = format!(
                r#"{{"id":"9","channel_id":"7","type":0,"content":"hi","nonce":{nonce},
                "author":{{"id":"5","bot":true,"username":"x"}},"unknown":[{{}}]}}"#
            );
            let Ok(Some(News::Created(read))) = News::in_text(&text("MESSAGE_CREATE", &message))
            else {
                panic!("{nonce}");
            };
            assert_eq!(read.nonce.as_ref().map(Nonce::as_str), kept);
            assert_eq!((read.id.get(), read.channel.get(), read.author.get()), (9, 7, 5));
            assert_eq!((read.author_kind, read.kind), (AuthorKind::Bot, ChatKind::Default));
            assert_eq!(&*read.content, "hi");
        }
    }

    #[test]
    fn who_types_is_read() {
        let typing =
            r#"{"channel_id":"7","guild_id":"1","user_id":"5","timestamp":1700000000,"member":{}}"#;
        let Ok(Some(News::Typing(read))) = News::in_text(&text("TYPING_START", typing)) else {
            panic!("it was passed over");
        };
        assert_eq!((read.channel_id.0, read.user_id.0), (7, 5));
    }

    /// F16: a partial update that says too little changes nothing, and one that says enough is passed on.
    #[test]
    fn partial_updates_are_told_as_far_as_they_go() {
        let whole = r#"{"id":"9","channel_id":"7","type":19,"content":"b","author":{"id":"5"}}"#;
        let Ok(Some(News::Updated(edited))) = News::in_text(&text("MESSAGE_UPDATE", whole)) else {
            panic!("a whole update was passed over");
        };
        assert_eq!((edited.kind, edited.author_kind), (ChatKind::Reply, AuthorKind::Human));
        for partial in [
            r#"{"id":"9","channel_id":"7","embeds":[]}"#,
            r#"{"id":"9","channel_id":"7","content":"c"}"#,
            r#"{"id":"9","channel_id":"7","type":0,"author":{"id":"5"}}"#,
        ] {
            let read = News::in_text(&text("MESSAGE_UPDATE", partial));
            assert!(matches!(read, Ok(None)), "{partial}");
        }
    }

    /// What concerns the library and cannot be read is named by its kind; the rest is passed over.
    #[test]
    fn what_cannot_be_read_is_named_and_what_does_not_matter_is_passed_over() {
        let unreadable = |text: &str| News::in_text(text).err().map(|error| error.kind);
        for odd in ["", "{\"t\":5}", "\u{feff}{}", "hello"] {
            assert_eq!(unreadable(odd).as_deref(), Some("unknown"), "{odd}");
        }
        for quiet in ["{}", "{\"op\":11}", "{\"t\":null,\"d\":null}"] {
            assert!(matches!(News::in_text(quiet), Ok(None)), "{quiet}");
        }
        for kind in ["MESSAGE_CREATE", "MESSAGE_UPDATE", "TYPING_START", "GUILD_CREATE", "READY"] {
            for data in ["null", "{}", "{\"id\":true}"] {
                assert_eq!(unreadable(&text(kind, data)).as_deref(), Some(kind), "{data}");
            }
        }
        assert!(matches!(News::in_text(&text("SOMETHING_NEW", "{}")), Ok(None)));
    }
}
