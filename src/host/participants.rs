//! The agents that take turns in a channel, and those that are missing, with the reason.

use std::fmt;

use dirigent_core::view::Seat;

use crate::ports::write_bar::{ModeratorLacks, WriteBar};
use crate::room::Room;
use crate::room::directory::Directory;
use crate::runtime::Runtime;
use crate::{AgentId, CallError, Channel};

/// The highest number of missing agents that `Display` names.
const NAMED_MAX: usize = 10;

/// The agents that take turns in a channel at one moment, and those that are missing. `Display` says it in sentences,
/// and says what you can do about it.
///
/// ```
/// use dirigent::operate::{Missing, Participants};
/// use dirigent::ports::WriteBar;
///
/// let mut here = Participants::default();
/// here.is_read = true;
/// here.taking_turns = vec!["poet".into()];
/// here.missing = vec![Missing::new("critic".into(), Some(WriteBar::NoSend))];
/// assert_eq!(
///     here.to_string(),
///     "Only poet takes turns here: a second agent is needed. Missing: critic (its bot may not write here: give it Send Messages)."
/// );
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Participants {
    /// `true` if the mode of the channel keeps turns, and its member list was read. Otherwise the library does not know
    /// who takes turns and who is missing.
    pub is_read: bool,
    /// The agents that take turns, in order.
    pub taking_turns: Vec<AgentId>,
    /// The registered agents that take no turns, because they do not see the channel or may not write in it.
    pub missing: Vec<Missing>,
    /// The permissions that the library's own account lacks here.
    pub moderator: ModeratorLacks,
}

/// A registered agent that takes no turns in a channel.
///
/// ```
/// use dirigent::operate::Missing;
/// let missing = Missing::new("critic".into(), None);
/// assert!(missing.to_string().starts_with("critic (its bot is not in this channel: invite it"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Missing {
    /// The missing agent.
    pub agent: AgentId,
    /// The reason, if it is known. `None` means that its account was not among the accounts that see the channel, when
    /// the list was read last.
    pub why: Option<WriteBar>,
}

impl Missing {
    /// Creates the entry of an agent that is missing for this reason.
    pub const fn new(agent: AgentId, why: Option<WriteBar>) -> Self {
        Self { agent, why }
    }
}

/// The reason in words if no other reason is known.
pub(crate) const NOT_SEEN: &str =
    "its bot is not in this channel: invite it, and give it View Channels here";

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.why {
            Some(why) => write!(f, "{} ({why})", self.agent),
            None => write!(f, "{} ({NOT_SEEN})", self.agent),
        }
    }
}

impl Participants {
    pub(crate) fn with_names(mut self, name: impl Fn(&AgentId) -> String) -> Self {
        let missing = self.missing.iter_mut().map(|missing| &mut missing.agent);
        for agent in self.taking_turns.iter_mut().chain(missing) {
            *agent = AgentId::from(name(agent));
        }
        self
    }

    /// Names the missing agents in a sentence. It is empty if no agent is missing.
    pub(crate) fn missing_in_words(&self) -> String {
        let named: Vec<_> = self.missing.iter().take(NAMED_MAX).map(ToString::to_string).collect();
        match self.missing.len() {
            0 => String::new(),
            all if all > NAMED_MAX => {
                format!("Missing: {}, and {} more.", named.join(", "), all - NAMED_MAX)
            }
            _ => format!("Missing: {}.", named.join(", ")),
        }
    }

    pub(crate) fn of(runtime: &Runtime, room: &Room, directory: &Directory) -> Self {
        let view = room.look().machine().view();
        let roster = &room.look().machine().snapshot().state.roster;
        if !view.mode().keeps_turns() {
            return Self::default();
        }
        let accounts = directory.accounts();
        let bars = runtime.write_bars(room.id(), &accounts);
        let bar_of = |user| bars.iter().find(|(one, _)| *one == user).map(|(_, bar)| *bar);
        let id_of = |key| directory.name(key).cloned();
        // An agent that is muted or offline is not missing, because an operator knows of it.
        let takes_turns = |seat: &Seat| !seat.left && !seat.may_not_write;
        let seats: Vec<_> = view.list().collect();
        let is_missing = |key| {
            let seat = seats.iter().find(|seat| seat.agent == key);
            !seat.is_some_and(takes_turns)
        };
        let missing = accounts.iter().filter_map(|user| {
            let key = directory.of_user(*user).filter(|key| is_missing(*key))?;
            Some(Missing::new(id_of(key)?, bar_of(*user)))
        });
        let moderator = runtime.own_lacks(room.id());
        // A moderator that does not see a channel does not learn who sees it. All of its agents were once named as
        // missing.
        let sees = moderator.write_bar.is_none_or(WriteBar::sees_channel);
        let is_read = roster.read_at.is_some() && sees;
        Self {
            is_read,
            taking_turns: seats
                .iter()
                .filter(|seat| takes_turns(seat))
                .filter_map(|seat| id_of(seat.agent))
                .collect(),
            missing: if is_read { missing.collect() } else { Vec::new() },
            moderator,
        }
    }
}

impl fmt::Display for Participants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let taking: Vec<_> = self.taking_turns.iter().map(AgentId::as_str).collect();
        match taking.as_slice() {
            _ if !self.is_read && self.moderator.write_bar.is_some() => {
                f.write_str("Who is here is not known.")?;
            }
            _ if !self.is_read => f.write_str("Who is here is not known yet: /status tells it.")?,
            [] => f.write_str("No agent takes turns here: two are needed.")?,
            [one] => write!(f, "Only {one} takes turns here: a second agent is needed.")?,
            several => write!(f, "{} take turns here.", several.join(", "))?,
        }
        for more in [self.missing_in_words(), self.moderator.to_string()] {
            if !more.is_empty() {
                write!(f, " {more}")?;
            }
        }
        Ok(())
    }
}

impl Channel<'_> {
    /// Returns the agents that take turns in the channel, and the registered agents that are missing, with the reason.
    /// The answer is based on the member list that was read last.
    ///
    /// # Errors
    ///
    /// Fails if the channel has no record, or cannot be read.
    pub async fn participants(self) -> Result<Participants, CallError> {
        let room = self.known_room().await?;
        let runtime = &self.dirigent.runtime;
        let directory = runtime.registry.directory();
        let state = room.lock();
        Ok(Participants::of(runtime, &state.room, &directory))
    }
}
