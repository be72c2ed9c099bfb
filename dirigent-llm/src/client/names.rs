//! Names that a model writes before its words, because it sees them in the transcript.

use dirigent::{ChatMessage, Turn};

/// The names that are removed from a reply.
pub(crate) struct Names {
    known: Vec<String>,
    /// The agent's own mention, for example `<@1>`.
    mention: String,
}

/// The most names that are removed from one reply.
const NAMES_MAX: usize = 4;

impl Names {
    /// Collects the names of the channel's agents and of the authors of these messages.
    pub(crate) fn of(turn: &Turn) -> Self {
        let me = turn.me();
        let mention = format!("<@{}>", me.discord_user_id);
        let agents = turn.others().into_iter().chain([me]);
        let mut names = Self { known: Vec::new(), mention };
        for agent in agents {
            names.add(&agent.agent_name);
            names.add(agent.agent_id.as_str());
        }
        names
    }

    /// Adds the name of the message's author.
    pub(crate) fn add_author(&mut self, message: &ChatMessage) {
        message.author_name.iter().for_each(|name| self.add(name));
    }

    pub(crate) fn add(&mut self, name: &str) {
        let name = name.trim();
        if !name.is_empty() && !self.known.iter().any(|known| known == name) {
            self.known.push(name.to_owned());
        }
    }

    /// Returns the text without leading names, so `alice: bob: Hello` becomes `Hello`. The mention of another account
    /// stays, because it calls that account.
    pub(crate) fn take_off<'a>(&self, text: &'a str) -> &'a str {
        let mut text = text;
        for _ in 0..NAMES_MAX {
            match self.after_a_name(text) {
                Some(rest) => text = rest,
                None => break,
            }
        }
        text
    }

    fn after_a_name<'a>(&self, text: &'a str) -> Option<&'a str> {
        let start = text.trim_start().trim_start_matches(['*', '_', '[', '@', '`']);
        let names = self.known.iter().chain([&self.mention]);
        names.filter_map(|name| after(start, name)).find_map(|rest| {
            let rest = rest.trim_start_matches(['*', '_', ']', '`', ' ']);
            let rest = rest.strip_prefix([':', '：'])?;
            Some(rest.trim_start_matches(['*', '_', '`']).trim_start())
        })
    }
}

/// Returns the text after a name, in any letter case.
fn after<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = text.chars();
    let is_it = name.chars().all(|expected| {
        let found = rest.next();
        found.is_some_and(|c| c == expected || c.to_lowercase().eq(expected.to_lowercase()))
    });
    if is_it { Some(rest.as_str()) } else { None }
}

#[cfg(test)]
mod tests {
    use dirigent::hooks::TurnId;
    use dirigent::ports::Identity;
    use dirigent::{ChannelId, MessageId, UserId};

    use super::*;

    fn names() -> Names {
        let identity = |user: u64, id: &str, name: &str| Identity {
            discord_user_id: UserId::new(user),
            agent_id: id.into(),
            agent_name: name.to_owned(),
        };
        let agents = vec![identity(1, "alice", "Alice Ä"), identity(2, "bob-2", "Bob")];
        let turn = Turn::new(ChannelId::new(1), "alice".into(), TurnId::new(1)).with_agents(agents);
        let mut names = Names::of(&turn);
        names.add_author(&ChatMessage {
            author_name: Some("Carol".into()),
            ..ChatMessage::new(MessageId::new(1), ChannelId::new(1), UserId::new(3), "Hi")
        });
        names
    }

    #[test]
    fn known_names_before_the_words_are_taken_off() {
        for text in [
            "Hello: there",
            "alice: Hello: there",
            "Bob: Alice Ä: Hello: there",
            "**Alice Ä:** Hello: there",
            "**alice ä**: Hello: there",
            "[Bob]: Hello: there",
            "@Carol: Hello: there",
            "<@1>: Hello: there",
            "bob-2：Hello: there",
            " alice :\nHello: there",
        ] {
            assert_eq!(names().take_off(text).trim(), "Hello: there", "{text}");
        }
        assert_eq!(names().take_off("alice:"), "");
    }

    #[test]
    fn other_words_before_a_colon_and_mentions_of_others_stay() {
        for text in [
            "Note: alice is here",
            "Alice, look: there",
            "alices: three",
            "<@2>: what do you think?",
            "Bob is right",
            "**Bold**: words",
            "",
        ] {
            assert_eq!(names().take_off(text), text);
        }
    }

    #[test]
    fn a_reply_of_names_alone_ends() {
        assert_eq!(names().take_off(&"bob:".repeat(1_000)).len(), 4 * 996);
    }
}
