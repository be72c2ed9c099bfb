//! Events of the gateway, read once, from a shard's text or from an event of twilight.

use std::borrow::Cow;

use dirigent::{ChannelId, ChatMessage, MessageId};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use twilight_model::gateway::event::{DispatchEvent, Event};

use crate::message::read_message;
use crate::wire::pushed::{
    DeletedGuild, DeletedMessage, DeletedMessages, DeletedRole, Interaction, Payload, PushedGuild,
    PushedMember, PushedReaction, PushedRole, PushedTyping, Ready, RemovedMember, ThreadList,
    ThreadMembers,
};
use crate::wire::{Channel, Guild, Number, WithId};

/// An event that the library needs.
pub(crate) enum News {
    /// A new session began. Earlier events are not pushed.
    Ready(Ready),
    /// A session was resumed. All events from the gap were pushed.
    Resumed,
    Guild(Box<PushedGuild>),
    /// A channel or thread was deleted.
    ChannelDeleted(WithId),
    Cached(Cached),
    Created(ChatMessage),
    Updated(ChatMessage),
    Deleted(ChannelId, Vec<MessageId>),
    Typing(PushedTyping),
    Reaction(PushedReaction),
    Interaction(Box<Interaction>),
}

/// An event that changes only the guild cache, and with it who sees which channel.
pub(crate) enum Cached {
    GuildUpdated(Guild),
    GuildDeleted(DeletedGuild),
    Role(PushedRole),
    RoleDeleted(DeletedRole),
    /// A new or changed channel or thread.
    Channel(Box<Channel>),
    Threads(ThreadList),
    ThreadMembers(ThreadMembers),
    Member(PushedMember),
    MemberRemoved(RemovedMember),
}

impl From<Cached> for News {
    fn from(event: Cached) -> Self {
        Self::Cached(event)
    }
}

/// An event that the library needs but cannot read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable {
    /// Discord's name for the kind of event, or `unknown` if it is no event at all.
    pub(crate) kind: String,
}

/// The head of a gateway's message.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    t: Option<Cow<'a, str>>,
}

#[derive(Clone, Copy)]
enum Source<'a> {
    Text(&'a str),
    Twilight(&'a Event),
}

impl Source<'_> {
    fn read<T: DeserializeOwned>(self) -> Option<T> {
        match self {
            Self::Text(text) => Some(serde_json::from_str::<Payload<T>>(text).ok()?.d),
            // Twilight's types are converted to Discord's form, so that they are read in a single place.
            Self::Twilight(event) => {
                let event = DispatchEvent::try_from(event.clone()).ok()?;
                serde_json::from_value(serde_json::to_value(event).ok()?).ok()
            }
        }
    }
}

impl News {
    /// Reads a raw message of the gateway. Returns `None` if the library does not need it.
    pub(crate) fn in_text(text: &str) -> Result<Option<Self>, Unreadable> {
        let head = serde_json::from_str::<Head<'_>>(text);
        match head.map_err(|_| Unreadable { kind: "unknown".to_owned() })?.t {
            Some(kind) => Self::read(&kind, Source::Text(text)),
            None => Ok(None),
        }
    }

    /// Reads an event of twilight, which drops the nonce of messages.
    pub(crate) fn in_event(event: &Event) -> Result<Option<Self>, Unreadable> {
        match event.kind().name() {
            Some(kind) => Self::read(kind, Source::Twilight(event)),
            None => Ok(None),
        }
    }

    fn read(kind: &str, data: Source<'_>) -> Result<Option<Self>, Unreadable> {
        let read: Option<Self> = match kind {
            "MESSAGE_CREATE" => data.read().and_then(read_message).map(Self::Created),
            // Many updates contain too little to change anything.
            "MESSAGE_UPDATE" => match data.read() {
                Some(message) => return Ok(read_message(message).map(Self::Updated)),
                None => None,
            },
            "MESSAGE_DELETE" => data.read().map(deleted),
            "MESSAGE_DELETE_BULK" => data.read().map(all_deleted),
            "TYPING_START" => data.read().map(Self::Typing),
            "GUILD_CREATE" => data.read().map(Self::Guild),
            "GUILD_UPDATE" => data.read().map(|guild| Cached::GuildUpdated(guild).into()),
            "GUILD_DELETE" => data.read().map(|gone| Cached::GuildDeleted(gone).into()),
            "GUILD_ROLE_CREATE" | "GUILD_ROLE_UPDATE" => {
                data.read().map(|role| Cached::Role(role).into())
            }
            "GUILD_ROLE_DELETE" => data.read().map(|gone| Cached::RoleDeleted(gone).into()),
            "CHANNEL_CREATE" | "CHANNEL_UPDATE" | "THREAD_CREATE" | "THREAD_UPDATE" => {
                data.read().map(|channel| Cached::Channel(channel).into())
            }
            "CHANNEL_DELETE" | "THREAD_DELETE" => data.read().map(Self::ChannelDeleted),
            "THREAD_LIST_SYNC" => data.read().map(|list| Cached::Threads(list).into()),
            "THREAD_MEMBERS_UPDATE" => {
                data.read().map(|members| Cached::ThreadMembers(members).into())
            }
            "GUILD_MEMBER_ADD" | "GUILD_MEMBER_UPDATE" => {
                data.read().map(|member| Cached::Member(member).into())
            }
            "GUILD_MEMBER_REMOVE" => data.read().map(|gone| Cached::MemberRemoved(gone).into()),
            "MESSAGE_REACTION_ADD" => data.read().map(Self::Reaction),
            "INTERACTION_CREATE" => data.read().map(Self::Interaction),
            "READY" => data.read().map(Self::Ready),
            "RESUMED" => Some(Self::Resumed),
            _ => return Ok(None),
        };
        // Only the kinds above come here.
        read.map(Some).ok_or_else(|| Unreadable { kind: kind.to_owned() })
    }
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
