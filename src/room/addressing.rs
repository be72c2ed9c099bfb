//! Decides which agents a person's message addresses. No other code decides this.

use dirigent_core::{AgentKey, MessageId};

use super::directory::Directory;
use crate::values::mentions::{mentioned, mentioned_first};
use crate::values::message::AuthorKind;
use crate::values::shown::QuotedAs;
use crate::{ChatMessage, UserId};

/// How a person's message addresses an agent.
///
/// ```
/// use dirigent::operate::{AddressedBy, Explanation, Reason};
///
/// let mut why = Explanation::new("poet".into(), Reason::YourTurn);
/// why.addressed_by = Some(AddressedBy::Reply);
/// assert_eq!(why.to_string(), "poet may speak: it has the floor. A person answered its message.");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AddressedBy {
    /// The message mentions the agent, or the role that Discord manages for its bot.
    Mention,
    /// The message begins with `@` and the agent's name or id.
    Name,
    /// The message answers a message of the agent.
    Reply,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Addressed {
    pub(super) message: MessageId,
    /// At least one agent.
    pub(super) agents: Vec<AgentKey>,
    pub(super) by: AddressedBy,
}

/// Returns the registered agents that a person's message addresses. The text that its author typed counts before the
/// message that it answers. For example, an answer to the sceptic that mentions the poet addresses the poet.
pub(super) fn addressed(directory: &Directory, message: &ChatMessage) -> Option<Addressed> {
    let mentions = || {
        let users = mentioned(&message.content).into_iter();
        users.filter_map(|user| directory.of_user(user)).collect()
    };
    let named = || directory.named_at_start(&message.content);
    let answered = || {
        let quoted = message.quoted.as_deref().filter(|it| it.kind == QuotedAs::Answered);
        let agent = quoted.and_then(|quoted| directory.of_user(quoted.author?));
        agent.into_iter().collect()
    };
    // The order is the rule: an answer to the sceptic that mentions the poet is for the poet.
    let ways: [(AddressedBy, &dyn Fn() -> Vec<AgentKey>); 3] = [
        (AddressedBy::Mention, &mentions),
        (AddressedBy::Name, &named),
        (AddressedBy::Reply, &answered),
    ];
    let mut found = ways.into_iter().map(|(by, agents)| (by, agents()));
    let (by, agents) = found.find(|(_, agents)| !agents.is_empty())?;
    Some(Addressed { message: message.id, agents, by })
}

/// Returns whether a person's message is for another person. Such a message addresses no agent, and begins with the
/// mention of a person or answers one. A person who answers or mentions their own account continues what they said to
/// all.
pub(super) fn is_for_another(directory: &Directory, message: &ChatMessage) -> bool {
    let is_another = |user: UserId| {
        // A bot that is no agent is no person either. "<@music-bot> play" once woke no agent, as talk between people.
        let is_bot = message.mentioned_bots.contains(&user)
            || directory.moderator() == Some(user)
            || directory.of_user(user).is_some();
        user != message.author && !is_bot
    };
    let by_person = |kind| matches!(kind, Some(AuthorKind::Human | AuthorKind::Bridged));
    let answered = message.quoted.as_deref().filter(|it| it.kind == QuotedAs::Answered);
    let answered = answered.filter(|quoted| by_person(quoted.author_kind));
    let asked = mentioned_first(&message.content);
    asked.or(answered.and_then(|quoted| quoted.author)).is_some_and(is_another)
        && addressed(directory, message).is_none()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::ports::Quoted;
    use crate::{AgentId, ChannelId};

    /// Agents 1 to 4 with these names.
    fn directory() -> Directory {
        let ids = ["max", "max-ops", "ann", "poet"].map(AgentId::from);
        let users = ids.iter().cloned().zip((1..).map(UserId::new)).collect();
        let names = ["Max", "Max-Ops", "Ann Lee", "Poet"].map(str::to_owned);
        let names: HashMap<_, _> = ids.iter().cloned().zip(names).collect();
        Directory::new(UserId::new(9), ids.to_vec(), &users).with_names(names)
    }

    fn by(content: &str, answered: Option<u64>) -> Option<(AddressedBy, Vec<u32>)> {
        let quoted = answered.map(|user| Quoted::answered(UserId::new(user), None, "<@4> stop"));
        let message = ChatMessage {
            quoted: quoted.map(Box::new),
            ..ChatMessage::new(MessageId::new(1), ChannelId::new(1), UserId::new(7), content)
        };
        let directory = directory();
        let found = addressed(&directory, &message)?;
        Some((found.by, found.agents.into_iter().map(AgentKey::get).collect()))
    }

    #[test]
    fn a_name_at_the_start_addresses_the_longest_that_fits() {
        for (text, agents) in [
            ("@Max please", vec![0]),
            ("@max-ops please", vec![1]),
            ("  @Max-Ops, please", vec![1]),
            ("@MAX: please", vec![0]),
            ("@ann lee what now", vec![2]),
            ("@ann", vec![2]),
            ("＠poet", vec![3]),
            ("@max, @poet: who is right?", vec![0, 3]),
        ] {
            assert_eq!(by(text, None), Some((AddressedBy::Name, agents)), "{text}");
        }
        for text in [
            "@maxi",
            "@Max-Op",
            "@max-opsy",
            "@max_2",
            "hi @max",
            "Max, please",
            "@",
            "\\@max",
            "`@max`",
        ] {
            assert_eq!(by(text, None), None, "{text}");
        }
    }

    #[test]
    fn what_is_typed_counts_before_what_is_answered() {
        assert_eq!(by("why?", Some(3)), Some((AddressedBy::Reply, vec![2])));
        assert_eq!(by("@poet why?", Some(3)), Some((AddressedBy::Name, vec![3])));
        assert_eq!(by("@poet <@1>?", Some(3)), Some((AddressedBy::Mention, vec![0])));
        assert_eq!(by("why?", Some(8)), None, "no agent wrote what is answered");
        assert_eq!(by("why?", None), None);
    }

    #[test]
    fn what_people_say_to_each_other_is_for_no_agent() {
        let directory = directory();
        let is_aside = |content: &str, answered: Option<(u64, Option<AuthorKind>)>| {
            let quoted = answered.map(|(user, author_kind)| {
                Box::new(Quoted { author_kind, ..Quoted::answered(UserId::new(user), None, "x") })
            });
            let message =
                ChatMessage::new(MessageId::new(1), ChannelId::new(1), UserId::new(7), content);
            let mentioned_bots = [UserId::new(6)].into();
            is_for_another(&directory, &ChatMessage { mentioned_bots, quoted, ..message })
        };
        let (human, bridged) = (Some(AuthorKind::Human), Some(AuthorKind::Bridged));
        for text in ["<@8> lunch?", "  <@!8> lunch?"] {
            assert!(is_aside(text, None), "{text}");
        }
        for text in [
            "<@9> lunch?",
            "<@1> lunch?",
            "<@6> poll: lunch?",
            "<@!6> poll: lunch?",
            "<@7> lunch?",
            "lunch, <@8>?",
            "`<@8>`",
            "<@8> or <@1>?",
            "<@&8> lunch?",
        ] {
            assert!(!is_aside(text, None), "{text}");
        }
        assert!(is_aside("so am I", Some((8, human))) && is_aside("so am I", Some((8, bridged))));
        for answered in [
            (8, None),
            (8, Some(AuthorKind::Bot)),
            (8, Some(AuthorKind::Webhook)),
            (7, human),
            (1, human),
        ] {
            assert!(!is_aside("so am I", Some(answered)), "{answered:?}");
        }
        assert!(!is_aside("@poet so am I", Some((8, human))));
        assert!(!is_aside("<@6> poll: lunch?", Some((8, human))));
    }
}
