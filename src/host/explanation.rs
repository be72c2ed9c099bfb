//! Explains in a sentence for people why an agent may or may not speak.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use dirigent_core::Reason;

use crate::AgentId;
use crate::host::participants::NOT_SEEN;
use crate::ports::write_bar::{ModeratorLacks, WriteBar};
use crate::room::addressing::AddressedBy;
use crate::runtime::presence::FailedCalls;
use crate::runtime::twins::SecondProcess;
use crate::values::error::PostFailure;

/// An explanation why an agent may, or may not, speak now, and what would change that. `Display` says it in words, and
/// [`Explanation::reason`] is for programs.
///
/// ```
/// use dirigent::operate::{Explanation, Reason};
///
/// let why = Explanation::new("poet".into(), Reason::Dormant);
/// assert_eq!(
///     why.to_string(),
///     "poet may not speak: no agent has the floor. A person's message begins a cycle."
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explanation {
    /// The agent that is explained.
    pub agent: AgentId,
    /// The machine-readable reason.
    pub reason: Reason,
    /// The agent that has the floor.
    pub speaker: Option<AgentId>,
    /// The time after which the channel goes on by itself, at the latest. `None` if it waits for a person's word, an
    /// order, or an answer of the chat.
    pub within: Option<Duration>,
    /// The outage, if the chat or the store does not answer this channel: how long it has lasted, and what waits for
    /// it.
    pub outage: Option<OutageNote>,
    /// How long the store has refused the channel's record as it is, if it does. No agent is called until the store
    /// accepts it ([`Status::record_refused_since`](crate::operate::Status::record_refused_since)).
    pub record_refused_for: Option<Duration>,
    /// `true` if the run of the agent that has the floor waits for a free place among the calls of the library. Either
    /// [`LimitRules::calls_max`](crate::settings::LimitRules::calls_max) agents are running, or
    /// [`agent_calls_max`](crate::settings::LimitRules::agent_calls_max) calls of this agent.
    pub waits_for_call: bool,
    /// The number of the agent's replies in a row, three or more, that were not recognised in what was posted. The
    /// reason is that its host reports another text than it posts, and each such turn waits until the agent is quiet.
    pub unrecognised: Option<u32>,
    /// The agent's calls that failed in a row, in any channel of this process. `None` also for an agent that the
    /// library does not call, and once its failures have taken it offline. A turn with a failed call counts as a pass,
    /// and the agent gets its messages again with its next turn.
    pub failed_calls: Option<FailedCalls>,
    /// The chat's error for the agent's newest reply in this channel, if the chat refused it. The reply is not there,
    /// or not all of it. This is unknown after a restart.
    pub refused: Option<PostFailure>,
    /// The messages that an observed agent wrote in this channel outside of its turn, and the setting that prevents
    /// this. `None` if there are none, and for any other agent. The count begins when the channel is loaded into
    /// memory.
    pub unpermitted: Option<UnpermittedPosts>,
    /// How a person's message addressed the agent, if the agent has not had its turn since. This is unknown after a
    /// restart.
    pub addressed_by: Option<AddressedBy>,
    /// `true` if people's messages come to this channel without any content, because the bot lacks the message-content
    /// intent. Such messages wake no agent.
    pub sees_no_content: bool,
    /// Another process that posts here with the same tokens and shares no store with this one, if one was noticed.
    pub twin: Option<SecondProcess>,
    /// The process that acts for the channel, if it is another one and its name is known.
    pub owner: Option<Arc<str>>,
    /// `true` if the channel keeps turns and the agent was missing among those that see it, when the list was read
    /// last. The library then does not call the agent, even if the gate would let it speak. It is unknown if all 64
    /// places of the list are taken.
    pub is_absent: bool,
    /// The reason why the agent surely cannot write here, if it is known.
    pub bar: Option<WriteBar>,
    /// The time after which that ends by itself, if no event ends it before.
    pub bar_ends_in: Option<Duration>,
    /// The permissions that the library's own account lacks here. It needs them to tell agents of their turns.
    pub moderator: ModeratorLacks,
}

/// The messages that an observed agent wrote outside of its turn.
///
/// ```
/// use dirigent::operate::UnpermittedPosts;
///
/// let posts = UnpermittedPosts { posts: 3, remedy: "Let it answer only the moderator.".to_owned() };
/// assert_eq!(posts.to_string(), "It wrote 3 messages outside of its turn. Let it answer only the moderator.");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data")]
pub struct UnpermittedPosts {
    /// The number of messages.
    pub posts: u32,
    /// The setting to change at that bot, as a sentence
    /// ([`ObservedBot::remedy`](crate::settings::ObservedBot::remedy)).
    pub remedy: String,
}

impl fmt::Display for UnpermittedPosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let messages = if self.posts == 1 {
            "a message".to_owned()
        } else {
            format!("{} messages", self.posts)
        };
        write!(f, "It wrote {messages} outside of its turn. {}", self.remedy)
    }
}

/// An outage in a channel: the chat or the store does not answer, and something may wait for it.
///
/// ```
/// use dirigent::operate::{Explanation, OutageNote, Reason};
/// use std::time::Duration;
///
/// let mut why = Explanation::new("poet".into(), Reason::TurnAlreadyUsed);
/// let mut outage = OutageNote::new(Duration::from_secs(40));
/// outage.reply_of = Some("poet".into());
/// outage.given_up_in = Some(Duration::from_secs(3_560));
/// why.outage = Some(outage);
/// assert!(why.to_string().contains("The reply of poet waits for the chat"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutageNote {
    /// How long it has not answered.
    pub silent_for: Duration,
    /// `true` if only the connection to the gateway is lost, and requests are answered.
    pub gateway: bool,
    /// `true` if only the store accepts no commits, and the chat answers.
    pub store: bool,
    /// The reason that the store gave, if it is the store. It may contain the address of a database or a path, so it is
    /// not part of the text.
    pub why: Option<Arc<str>>,
    /// The agent with the reply that waits for it.
    pub reply_of: Option<AgentId>,
    /// The time after which the library gives up the reply. Its agent then gets the text with its next turn.
    pub given_up_in: Option<Duration>,
}

impl OutageNote {
    /// Creates an outage of the chat that has lasted for this time, without a waiting reply.
    pub const fn new(silent_for: Duration) -> Self {
        Self {
            silent_for,
            gateway: false,
            store: false,
            why: None,
            reply_of: None,
            given_up_in: None,
        }
    }
}

impl fmt::Display for OutageNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let silent_for = Spoken(self.silent_for);
        if self.gateway {
            return write!(f, "The connection to the gateway has been lost for {silent_for}.");
        }
        if self.store {
            // This may be read in the channel, and the reason may have the database's address or a path.
            let log = if self.why.is_some() { "; the log says why" } else { "" };
            return write!(f, "The store has taken no record for {silent_for}{log}.");
        }
        let Some(agent) = &self.reply_of else {
            return write!(f, "The chat has not answered for {silent_for}.");
        };
        write!(
            f,
            "The reply of {agent} waits for the chat, which has not answered for {silent_for}"
        )?;
        match self.given_up_in {
            Some(given_up_in) => write!(f, "; it is given up in {}.", Spoken(given_up_in)),
            None => f.write_str("."),
        }
    }
}

impl Explanation {
    /// Creates an explanation with only this reason.
    pub const fn new(agent: AgentId, reason: Reason) -> Self {
        Self {
            agent,
            reason,
            speaker: None,
            within: None,
            outage: None,
            record_refused_for: None,
            waits_for_call: false,
            unrecognised: None,
            failed_calls: None,
            refused: None,
            unpermitted: None,
            addressed_by: None,
            sees_no_content: false,
            twin: None,
            owner: None,
            is_absent: false,
            bar: None,
            bar_ends_in: None,
            moderator: ModeratorLacks::NONE,
        }
    }

    /// Returns whether the agent may speak, as [`may_speak`](crate::Channel::may_speak) would answer now.
    pub const fn allows(&self) -> bool {
        // A run with the floor begins only after its turn is stored, so no run begins while the store takes nothing.
        let is_stored = matches!(self.reason, Reason::YourTurn | Reason::InitiatorPermit);
        let is_refused = self.record_refused_for.is_some() || self.waits_for_store();
        self.reason.allows() && !(is_stored && is_refused)
    }

    /// Returns whether the store takes no commits, so that no turn begins and none is passed on.
    const fn waits_for_store(&self) -> bool {
        let has_turns = matches!(
            self.reason,
            Reason::YourTurn
                | Reason::InitiatorPermit
                | Reason::NotYourTurn { .. }
                | Reason::TurnAlreadyUsed
                | Reason::NothingNew
                | Reason::Refreshing
                | Reason::Dormant
                | Reason::Waiting
        );
        has_turns && matches!(&self.outage, Some(outage) if outage.store)
    }

    /// Returns whether the obstacle is that the agent is not here, or may not write here.
    const fn is_kept_out(&self) -> bool {
        // Other reasons hold for an agent that is here, too, and say more.
        let is_absence = matches!(self.reason, Reason::NotListed | Reason::Dormant);
        self.is_absent && is_absence || matches!(self.reason, Reason::MayNotWrite)
    }

    /// Returns whether the agent may speak in general, but the library does not call it in this channel.
    const fn is_allowed_elsewhere(&self) -> bool {
        self.is_absent && matches!(self.reason, Reason::TooFewAgents)
    }

    /// Writes the reason why it cannot write here, with what you can do.
    fn tell_bar(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.bar {
            Some(bar) => write!(f, "{bar}.")?,
            None if self.is_absent => write!(f, "{NOT_SEEN}.")?,
            None => write!(f, "{}.", self.reason)?,
        }
        match self.bar_ends_in {
            Some(left) => write!(f, " It ends within {}.", Spoken(left)),
            None => Ok(()),
        }
    }

    pub(crate) fn with_names(mut self, name: impl Fn(&AgentId) -> String) -> Self {
        self.speaker = self.speaker.as_ref().map(|speaker| AgentId::from(name(speaker)));
        self.agent = AgentId::from(name(&self.agent));
        self
    }

    /// Returns what would change the answer.
    const fn remedy(&self) -> Option<&'static str> {
        Some(match self.reason {
            Reason::TooFewAgents => {
                "When a second one comes, they take turns; with order.single_agent one has turns alone."
            }
            Reason::InitiatorPermit => "This is its one run.",
            Reason::Dead => "Another mode would let agents talk.",
            Reason::Archived => "That is for good.",
            Reason::Stopped | Reason::Finished => "A person can resume it with /resume.",
            Reason::Held => "An operator can resume it; the order is kept.",
            Reason::Waiting => "Then it goes on.",
            Reason::Offline => "When it is back, an operator can assign it.",
            Reason::Unassigned => "An operator can assign it.",
            Reason::Capped => "Its next turn comes when the oldest of them is an hour old.",
            Reason::BudgetSpent => "An operator can reset it.",
            Reason::AwaitingHuman | Reason::CeilingReached => "A person's message lets them go on.",
            Reason::Dormant => "A person's message begins a cycle.",
            Reason::MembersUnknown => "It is asked for again by itself.",
            Reason::Refreshing => "Then a turn is given.",
            Reason::NotYourTurn { .. } => "Its turn comes when the list comes to it.",
            Reason::NothingNew => {
                "Its turn comes when another agent or a person has said something."
            }
            Reason::TurnAlreadyUsed => {
                "When the reply has arrived, the next in the list has its turn."
            }
            Reason::RunAlreadyDenied | Reason::RunAlreadyEnded => "A new run may ask anew.",
            Reason::NotRegistered => "Register it first.",
            Reason::RecordDamaged => "An operator who gives the channel a mode begins it anew.",
            Reason::RecordOfOtherVersion => "The version that wrote it can use it.",
            Reason::Elsewhere => "That process can answer.",
            Reason::LeaseEnding => "Then agents go on, in this process or in another.",
            Reason::LeaseLapsed => "When the database answers again, agents go on.",
            Reason::Muted => "An operator can unmute it.",
            Reason::MayNotWrite => "It has turns again once it may write.",
            Reason::NotListed => {
                "If it can see the channel and one of the 64 places is free, it is listed in the next cycle."
            }
            Reason::Unmanaged => {
                "But the library calls no agent here: for that the channel needs a mode with turns, as by \
                 /set-channel-mode chat."
            }
            Reason::YourTurn | _ => return None,
        })
    }

    /// Writes the failures of the agent's newest calls and replies.
    fn tell_what_failed(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(failed) = &self.failed_calls {
            write!(f, " {failed}.")?;
        }
        if let Some(failure) = self.refused {
            write!(f, " Its last reply was not posted: {failure}.")?;
        }
        if let Some(unpermitted) = &self.unpermitted {
            write!(f, " {unpermitted}")?;
        }
        match self.unrecognised {
            Some(replies) => write!(
                f,
                " Its last {replies} replies were not recognised in the channel: its host reports another \
                 text than it posts."
            ),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let may = if self.allows() { "may speak" } else { "may not speak" };
        write!(f, "{} {may}: ", self.agent)?;
        // The store comes first, because no other reason changes while it takes nothing.
        match (&self.speaker, self.reason) {
            _ if self.waits_for_store() => {
                f.write_str("the store takes nothing, so no turn begins.")?;
            }
            (Some(speaker), Reason::NotYourTurn { .. }) => write!(f, "{speaker} has the floor.")?,
            (_, Reason::Elsewhere) if self.owner.is_some() => {
                let owner = self.owner.as_deref().unwrap_or_default();
                write!(f, "{owner} acts for this channel.")?;
            }
            _ if self.is_kept_out() => self.tell_bar(f)?,
            _ => write!(f, "{}.", self.reason)?,
        }
        if self.is_allowed_elsewhere() {
            f.write_str(" But the library does not call it: ")?;
            self.tell_bar(f)?;
        }
        if self.moderator != ModeratorLacks::NONE {
            write!(f, " {}", self.moderator)?;
        }
        // In an outage the time of a turn stands still, so none is named.
        match (&self.outage, self.within.filter(|_| !self.allows())) {
            (Some(outage), _) => write!(f, " {outage}")?,
            (None, Some(within)) => {
                write!(f, " The channel goes on in at most {}.", Spoken(within))?;
            }
            (None, None) => {}
        }
        if let Some(refused_for) = self.record_refused_for {
            write!(
                f,
                " The store has refused the channel's record for {}: no agent is called until it takes it.",
                Spoken(refused_for)
            )?;
        }
        match self.addressed_by {
            None => {}
            Some(AddressedBy::Mention) => f.write_str(" A person mentioned it.")?,
            Some(AddressedBy::Name) => f.write_str(" A person called it by name.")?,
            Some(AddressedBy::Reply) => f.write_str(" A person answered its message.")?,
        }
        if self.sees_no_content {
            f.write_str(
                " People's messages come without anything in them: the bot lacks the Message Content Intent.",
            )?;
        }
        if self.twin.is_some() {
            f.write_str(
                " Another process posts here with the same tokens, and shares no store with this one: end one of them.",
            )?;
        }
        if self.waits_for_call {
            f.write_str(
                " The run waits for a free place: as many agents as allowed are being called.",
            )?;
        }
        // If the channel wakes by itself, no other message is needed.
        let wakes = self.reason == Reason::Dormant && self.within.is_some();
        let is_in_vain = wakes || self.is_kept_out() || self.waits_for_store();
        if let Some(remedy) = self.remedy().filter(|_| !is_in_vain) {
            write!(f, " {remedy}")?;
        }
        self.tell_what_failed(f)
    }
}

/// A time in words. It is rounded up, so that it is over at the time that it names.
struct Spoken(Duration);

impl fmt::Display for Spoken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_millis().div_ceil(1_000) {
            1 => f.write_str("1 second"),
            seconds @ 0..120 => write!(f, "{seconds} seconds"),
            seconds => write!(f, "{} minutes", seconds.div_ceil(60)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use dirigent_core::AgentKey;

    use super::*;

    const ALL: [Reason; 32] = [
        Reason::Unmanaged,
        Reason::TooFewAgents,
        Reason::YourTurn,
        Reason::InitiatorPermit,
        Reason::Dead,
        Reason::Archived,
        Reason::Stopped,
        Reason::Held,
        Reason::Finished,
        Reason::Waiting,
        Reason::Offline,
        Reason::Unassigned,
        Reason::Capped,
        Reason::BudgetSpent,
        Reason::AwaitingHuman,
        Reason::Dormant,
        Reason::CeilingReached,
        Reason::Refreshing,
        Reason::NotYourTurn { speaker: AgentKey::new(3) },
        Reason::NothingNew,
        Reason::TurnAlreadyUsed,
        Reason::RunAlreadyDenied,
        Reason::RunAlreadyEnded,
        Reason::NotRegistered,
        Reason::RecordDamaged,
        Reason::RecordOfOtherVersion,
        Reason::Elsewhere,
        Reason::LeaseEnding,
        Reason::LeaseLapsed,
        Reason::Muted,
        Reason::MayNotWrite,
        Reason::NotListed,
    ];

    #[test]
    fn every_reason_has_a_sentence_of_its_own() {
        let newer = "a rule says so that is newer than these words";
        let said: HashSet<_> =
            ALL.map(|reason| Explanation::new("poet".into(), reason).to_string()).into();
        assert_eq!(said.len(), ALL.len());
        for sentence in &said {
            assert!(sentence.starts_with("poet may") && sentence.ends_with('.'), "{sentence}");
            assert!(!sentence.contains(newer), "{sentence}");
        }
    }

    #[test]
    fn whoever_is_denied_is_told_what_would_change_it() {
        for reason in ALL.into_iter().filter(|reason| !reason.allows()) {
            assert!(Explanation::new("poet".into(), reason).remedy().is_some(), "{reason:?}");
        }
    }

    #[test]
    fn whose_turn_it_is_and_how_long_at_most_is_said() {
        let mut why = Explanation::new("poet".into(), ALL[18]);
        why.speaker = Some("sceptic".into());
        why.within = Some(Duration::from_millis(44_001));
        assert_eq!(
            why.to_string(),
            "poet may not speak: sceptic has the floor. The channel goes on in at most 45 seconds. \
             Its turn comes when the list comes to it."
        );
        why.within = Some(Duration::from_secs(600));
        assert!(why.to_string().contains("in at most 10 minutes"));
    }

    #[test]
    fn that_a_reply_waits_for_the_chat_is_said_with_both_times() {
        let mut why = Explanation::new("poet".into(), ALL[18]);
        why.speaker = Some("sceptic".into());
        why.within = Some(Duration::from_secs(3_000));
        why.outage = Some(OutageNote::new(Duration::from_secs(44)));
        assert_eq!(
            why.to_string(),
            "poet may not speak: sceptic has the floor. The chat has not answered for 44 seconds. Its \
             turn comes when the list comes to it."
        );
        if let Some(outage) = &mut why.outage {
            outage.reply_of = Some("sceptic".into());
            outage.given_up_in = Some(Duration::from_secs(3_000));
        }
        assert_eq!(
            why.to_string(),
            "poet may not speak: sceptic has the floor. The reply of sceptic waits for the chat, which \
             has not answered for 44 seconds; it is given up in 50 minutes. Its turn comes when the list \
             comes to it."
        );
    }

    #[test]
    fn that_replies_are_not_recognised_is_said() {
        let mut why = Explanation::new("poet".into(), Reason::YourTurn);
        why.unrecognised = Some(4);
        assert_eq!(
            why.to_string(),
            "poet may speak: it has the floor. Its last 4 replies were not recognised in the channel: its \
             host reports another text than it posts."
        );
    }

    #[test]
    fn failed_calls_are_said() {
        let mut why = Explanation::new("poet".into(), Reason::Dormant);
        for (number, class, said) in [
            (1, None, "call failed"),
            (
                3,
                Some("no connection came about".into()),
                "3 calls failed: no connection came about",
            ),
        ] {
            why.failed_calls = Some(FailedCalls { number, class });
            assert_eq!(
                why.to_string(),
                format!(
                    "poet may not speak: no agent has the floor. A person's message begins a cycle. Its last {said}."
                )
            );
        }
    }

    #[test]
    fn that_the_store_refuses_the_record_is_said() {
        let mut why = Explanation::new("poet".into(), Reason::YourTurn);
        why.record_refused_for = Some(Duration::from_secs(600));
        assert_eq!(
            why.to_string(),
            "poet may not speak: it has the floor. The store has refused the channel's record for 10 minutes: \
             no agent is called until it takes it."
        );
    }

    #[test]
    fn a_store_that_takes_nothing_is_named_before_who_has_the_floor() {
        let mut outage = OutageNote::new(Duration::from_secs(40));
        outage.store = true;
        outage.why = Some("the disk is full".into());
        for reason in [Reason::NotYourTurn { speaker: AgentKey::new(3) }, Reason::YourTurn] {
            let mut why = Explanation::new("poet".into(), reason);
            why.speaker = Some("reviewer".into());
            why.outage = Some(outage.clone());
            assert_eq!(
                why.to_string(),
                "poet may not speak: the store takes nothing, so no turn begins. The store has taken no record for 40 seconds; \
                 the log says why."
            );
            assert!(!why.allows());
        }
        // What the store is not asked for is as it was.
        let mut why = Explanation::new("poet".into(), Reason::Muted);
        why.outage = Some(outage);
        assert!(why.to_string().starts_with("poet may not speak: it is muted"), "{why}");
    }

    #[test]
    fn that_a_run_waits_for_a_free_place_is_said() {
        let mut why = Explanation::new("poet".into(), Reason::YourTurn);
        why.waits_for_call = true;
        assert_eq!(
            why.to_string(),
            "poet may speak: it has the floor. The run waits for a free place: as many agents as allowed \
             are being called."
        );
    }
}
