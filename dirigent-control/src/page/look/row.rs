//! The data of one channel in one line.

use std::borrow::Cow;
use std::collections::BTreeMap;

use dirigent::operate::{Reason, Status};
use dirigent::ports::{Identity, Timestamp};
use dirigent::snapshot::PhaseKind;
use dirigent::{AgentId, CallError, ChannelId, Mode};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::words;
use crate::page::places::Places;

/// The most characters of a topic on a page of many channels. The channel's own page has the whole topic.
const TOPIC_CHARS: usize = 80;

/// One channel in one line.
///
/// ```
/// fn is_urgent(row: &dirigent_control::Row) -> bool {
///     row.needs_person.is_some()
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[non_exhaustive]
pub struct Row {
    /// The channel's id.
    pub id: String,
    /// The channel's name, or its id if the chat does not return the name.
    pub name: String,
    /// The topic that people set.
    pub topic: Option<String>,
    /// The guild's name. Empty if the moderator is not an administrator there.
    pub guild: String,
    /// True if everyone in its guild can see it.
    pub is_public: bool,
    /// The mode: `none`, `work`, `report`, `discussion` or `chat`. `unknown` if the record cannot be used.
    pub mode: Cow<'static, str>,
    /// True if the mode was set at creation and can never change.
    pub is_locked: bool,
    /// The state of turn management: `disabled`, `dead`, `normal`, `shuffle` or `archived`. `unknown` if the record cannot be
    /// used.
    pub turns: Cow<'static, str>,
    /// The phase of the turn.
    pub phase: Cow<'static, str>,
    /// The phase in words.
    pub doing: Cow<'static, str>,
    /// The rest: `stopped`, `on hold` or `finished`. `None` if the channel does not rest.
    pub pause: Option<Cow<'static, str>>,
    /// The name of the agent that has the floor.
    pub speaker: Option<String>,
    /// The time since which the channel is in its phase or paused, in milliseconds of Unix time, if its history has it.
    /// For example, it shows how long an agent has been thinking.
    #[serde(default)]
    pub since: Option<u64>,
    /// The time at which something happens by itself, in milliseconds of Unix time.
    pub until: Option<u64>,
    /// The event at the time `until`.
    pub until_what: Option<Cow<'static, str>>,
    /// A sentence that says which agent speaks, or why the room is quiet.
    pub why: String,
    /// The reason why the channel needs a person.
    pub needs_person: Option<String>,
    /// True if an agent has the floor.
    pub is_live: bool,
    /// True if the channel ever had a mode.
    pub is_known: bool,
    /// The process that acts for the channel, if there are several processes and this one is known.
    #[serde(default)]
    pub owner: Option<String>,
    /// True if that process does not answer now. You then see the channel's last known state.
    #[serde(default)]
    pub is_away: bool,
}

/// The driver's answer about a channel.
pub(crate) enum DriverAnswer {
    Unmanaged,
    Status(Box<Status>),
    Unusable(CallError),
    /// Another process acts for the channel and does not answer, for this reason.
    Elsewhere(String),
}

/// The names of agents, for people.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names(BTreeMap<AgentId, String>);

impl Names {
    pub(crate) fn new(agents: Vec<Identity>) -> Self {
        Self(agents.into_iter().map(|agent| (agent.agent_id, agent.agent_name)).collect())
    }

    pub(crate) fn of(&self, agent: &AgentId) -> String {
        self.0.get(agent).cloned().unwrap_or_else(|| agent.as_str().to_owned())
    }
}

impl Row {
    /// Returns true if the agents take turns.
    pub(crate) fn keeps_turns(&self) -> bool {
        matches!(&*self.turns, "normal" | "shuffle")
    }

    /// Returns true if the overview lists the channel. A public channel with the mode `none` is not listed.
    pub(crate) fn is_listed(&self, is_private: bool) -> bool {
        self.mode != "none" || self.needs_person.is_some() || is_private
    }

    pub(crate) fn of(
        id: ChannelId,
        (known, names): (&DriverAnswer, &Names),
        places: &Places,
        now: Timestamp,
    ) -> Self {
        let info = places.channels.get(&id);
        let guild = info.and_then(|info| info.guild);
        let guild = guild.and_then(|guild| places.guilds.get(&guild)).cloned();
        let blank = Self {
            id: id.to_string(),
            name: info.map_or_else(|| id.to_string(), |info| info.name.clone()),
            topic: info.and_then(|info| info.topic.clone()),
            guild: guild.unwrap_or_default(),
            is_public: info.is_some_and(|info| !info.private),
            mode: Mode::None.as_str().into(),
            is_locked: false,
            turns: "disabled".into(),
            phase: "disabled".into(),
            doing: words::phase(PhaseKind::Disabled).into(),
            pause: None,
            speaker: None,
            since: None,
            until: None,
            until_what: None,
            why: "Turns are not kept here.".to_owned(),
            needs_person: None,
            is_live: false,
            is_known: !matches!(known, DriverAnswer::Unmanaged),
            owner: None,
            is_away: false,
        };
        match known {
            DriverAnswer::Unmanaged => blank,
            DriverAnswer::Unusable(error) => Self {
                why: words::sentence(&error.to_string()),
                needs_person: Some("Its record cannot be used".to_owned()),
                ..blank.unknown()
            },
            DriverAnswer::Elsewhere(why) => {
                Self { why: words::sentence(why), is_away: true, ..blank.unknown() }
            }
            DriverAnswer::Status(status) => blank.with(status, names, now),
        }
    }

    /// Returns the row with the start of its topic, for a list of many channels.
    pub(crate) fn brief(self) -> Self {
        let cut = |topic: String| match topic.char_indices().nth(TOPIC_CHARS) {
            Some((end, _)) => format!("{}…", topic.get(..end).unwrap_or_default().trim_end()),
            None => topic,
        };
        Self { topic: self.topic.map(cut), ..self }
    }

    /// Returns the row without any state.
    fn unknown(self) -> Self {
        let unknown = Cow::Borrowed("unknown");
        let (mode, turns, phase, doing) =
            (unknown.clone(), unknown.clone(), unknown.clone(), unknown);
        Self { mode, turns, phase, doing, ..self }
    }

    /// Returns the row in its last known state, because its process does not answer now.
    pub(crate) fn grey(self, why: &str) -> Self {
        let why = words::sentence(why);
        Self {
            why,
            is_away: true,
            needs_person: None,
            is_live: false,
            speaker: None,
            since: None,
            until: None,
            until_what: None,
            ..self
        }
    }

    fn with(self, status: &Status, names: &Names, now: Timestamp) -> Self {
        let speaker = status.speaker.as_ref().map(|speaker| names.of(speaker));
        let is_live = speaker.is_some() && status.rest.is_none();
        let deadline = status.deadline.filter(|due| words::is_shown(due.reason) && due.at > now);
        let why = match (&speaker, status.rest, status.silence) {
            (Some(speaker), None, _) if status.phase == PhaseKind::Delivering => {
                format!("{speaker}’s reply is being delivered.")
            }
            (Some(speaker), None, _) => format!("{speaker} {}.", words::phase(status.phase)),
            (_, _, Some(Reason::Dormant)) => "Quiet until a person writes.".to_owned(),
            (_, _, Some(reason)) => words::sentence(&reason.to_string()),
            (_, _, None) => words::sentence(words::phase(status.phase)),
        };
        Self {
            mode: status.mode.as_str().into(),
            is_locked: matches!(status.mode, Mode::Work | Mode::Discussion),
            turns: status.turn_state.as_str().into(),
            phase: status.phase.as_str().into(),
            doing: words::phase(status.phase).into(),
            pause: status.rest.map(|pause| words::pause(pause).into()),
            until: deadline.map(|due| due.at.as_millis()),
            until_what: deadline.map(|due| words::deadline(due.reason).into()),
            why,
            needs_person: needs_person(status, names),
            is_live,
            speaker,
            ..self
        }
    }
}

/// Returns the names of the agents that fail. If it is one agent, the text also has the kind of failure.
fn failing(status: &Status, names: &Names) -> Option<String> {
    match &status.failing[..] {
        [] => None,
        [(agent, failed)] => Some(match &failed.class {
            Some(class) => format!("{} fails: {class}", names.of(agent)),
            None => format!("{} fails", names.of(agent)),
        }),
        several => {
            let names: Vec<_> = several.iter().map(|(agent, _)| names.of(agent)).collect();
            Some(format!("{} fail", names.join(", ")))
        }
    }
}

/// Returns the reason why the channel needs a person, if it does.
fn needs_person(status: &Status, names: &Names) -> Option<String> {
    if let Some(failing) = failing(status, names).filter(|_| status.mode.keeps_turns()) {
        return Some(failing);
    }
    let told = if status.record_refused_since.is_some() {
        "The store refuses its record"
    } else if status.chat_away_since.is_some() {
        "The chat does not answer"
    } else if status.twin.is_some() {
        "Another process posts here with the same tokens"
    } else if status.sees_no_content {
        "People’s messages come without content: the Message Content Intent is off"
    } else if !status.unrecognised.is_empty() {
        "Replies are not recognised"
    } else if status.given_up > 0 {
        "The chat refuses a message of the discussion"
    } else {
        match status.silence {
            Some(Reason::RecordDamaged) => "Its record is damaged",
            Some(Reason::AwaitingHuman) => "An agent asks for a person",
            Some(Reason::CeilingReached) => "The agents talked as long as they may",
            Some(Reason::BudgetSpent) => "A budget is spent",
            Some(Reason::MembersUnknown) => "Its member list cannot be read",
            _ => return None,
        }
    };
    Some(told.to_owned())
}
