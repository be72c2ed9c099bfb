//! A process that acts for no channel: it asks the master.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use dirigent::hooks::{RunId, RunReport};
use dirigent::ports::Identity;
use dirigent::{AgentId, ChannelId, Settings, UserId};

use crate::denied::Denied;
use crate::rules::{
    ChannelState, CheckTurn, CompleteAnswer, GetChannelState, GetIdentity, TurnComplete,
};
use crate::runs::Runs;
use crate::{Client, HostId, RelayError};

/// What a process is to the others: the setting `dirigentRole`.
///
/// ```
/// use dirigent_relay::DirigentRole;
/// assert_eq!("slave".parse(), Ok(DirigentRole::Slave));
/// assert_eq!(DirigentRole::default(), DirigentRole::Master);
/// assert!("servant".parse::<DirigentRole>().is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the setting has these two values")]
pub enum DirigentRole {
    /// It holds the state, and answers the slaves: a [`Master`](crate::Master) in its [`Server`](crate::Server). Without a
    /// relay this is what every process is.
    #[default]
    Master,
    /// It holds no state, and asks: a [`Slave`].
    Slave,
}

/// The text is no role: `master` or `slave`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a role: expected `master` or `slave`")]
#[non_exhaustive]
pub struct UnknownRole;

impl FromStr for DirigentRole {
    type Err = UnknownRole;

    fn from_str(text: &str) -> Result<Self, UnknownRole> {
        match text {
            "master" => Ok(Self::Master),
            "slave" => Ok(Self::Slave),
            _ => Err(UnknownRole),
        }
    }
}

/// What a slave does where the master does not answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "there is no third answer")]
pub enum WhenUnavailable {
    /// No agent runs: two speakers are worse than none.
    #[default]
    Deny,
    /// Agents run as if the library were absent. Two may speak at once.
    Allow,
}

/// A process that holds no state of any channel: whether an agent may run, and what becomes of its turn, the master
/// decides. It posts nothing, deletes nothing and reads nothing in the chat; what its agents say, its host posts after the permission.
///
/// ```no_run
/// # async fn model() -> String { String::new() }
/// # async fn example(slave: dirigent_relay::Slave, channel: dirigent::ChannelId) {
/// use dirigent::hooks::RunReport;
///
/// match slave.may_speak(channel, &"poet".into(), None).await {
///     Ok(permission) => {
///         let text = model().await;
///         if permission.end(RunReport::Text(&text)).await.is_ok_and(|end| end.accepted) {
///             println!("{text}");
///         }
///     }
///     Err(denied) => println!("the poet is silent: {denied}"),
/// }
/// # }
/// ```
#[derive(Clone)]
pub struct Slave {
    shared: Arc<Shared>,
}

struct Shared {
    client: Client,
    master: HostId,
    settings: Settings,
    when_unavailable: WhenUnavailable,
    runs: Runs,
}

impl Slave {
    /// Asks this master. The settings say what an agent's text means: when it is silence, and when it is complete.
    pub fn new(client: Client, master: HostId, settings: Settings) -> Self {
        Self::with(client, master, settings, WhenUnavailable::default())
    }

    /// The same, with what is done where the master does not answer.
    pub fn with(
        client: Client,
        master: HostId,
        settings: Settings,
        when_unavailable: WhenUnavailable,
    ) -> Self {
        let runs = Runs::new(client.me(), client.clock().now().as_millis());
        Self { shared: Arc::new(Shared { client, master, settings, when_unavailable, runs }) }
    }

    /// May this agent run now? To be asked before its model is called. Asking again with the same run changes nothing.
    ///
    /// # Errors
    ///
    /// Why it is to be silent; [`Denied::RelayUnavailable`] where the master does not answer in time.
    pub async fn may_speak(
        &self,
        channel: ChannelId,
        agent: &AgentId,
        run: Option<RunId>,
    ) -> Result<Permission, Denied> {
        let shared = &self.shared;
        let run = run.unwrap_or_else(|| shared.runs.next());
        let question =
            CheckTurn { agent_id: agent.clone(), channel_id: channel, run_id: Some(run) };
        let permission = |holds_floor| Permission {
            slave: self.clone(),
            channel,
            agent: agent.clone(),
            run,
            holds_floor,
        };
        match shared.client.ask(&shared.master, &question).await {
            Ok(answer) if answer.allowed => Ok(permission(answer.holds_floor)),
            Ok(answer) => Err(Denied::Denied {
                reason: answer.reason,
                speaker: answer.current_speaker,
                no_reply_model: answer.no_reply_model,
            }),
            Err(error) => match (Denied::of(error), shared.when_unavailable) {
                (Denied::RelayUnavailable(_), WhenUnavailable::Allow) => Ok(permission(false)),
                (denied, _) => Err(denied),
            },
        }
    }

    /// An agent's run ended. For hosts that hear of it elsewhere than where they asked. Telling it again changes nothing.
    ///
    /// # Errors
    ///
    /// As the master, or the way to it, fails: it may be told again, with the same run.
    pub async fn turn_ended(
        &self,
        channel: ChannelId,
        agent: &AgentId,
        run: RunId,
        ending: RunReport<'_>,
    ) -> Result<CompleteAnswer, RelayError> {
        let outcome = ending.outcome(&self.shared.settings);
        let end = TurnComplete::new((channel, agent.clone()), Some(run), &outcome);
        self.shared.client.ask(&self.shared.master, &end).await
    }

    /// Returns the registry's entry for an account.
    ///
    /// # Errors
    ///
    /// As the master, or the way to it, fails.
    pub async fn identity(&self, account: UserId) -> Result<Option<Identity>, RelayError> {
        let question = GetIdentity { discord_user_id: account };
        self.shared.client.ask(&self.shared.master, &question).await
    }

    /// Returns how a channel stands.
    ///
    /// # Errors
    ///
    /// As the master, or the way to it, fails.
    pub async fn channel_state(&self, channel: ChannelId) -> Result<ChannelState, RelayError> {
        let question = GetChannelState { channel_id: channel };
        self.shared.client.ask(&self.shared.master, &question).await
    }

    /// Whom it asks, and how.
    pub(crate) fn way(&self) -> (&Client, &HostId) {
        (&self.shared.client, &self.shared.master)
    }
}

impl fmt::Debug for Slave {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slave").field("master", &self.shared.master).finish_non_exhaustive()
    }
}

/// The permission of a run, from the master. The end is to be [told](Self::end): where it is not, the master ends the run by its
/// deadline, and the channel waits until then.
#[derive(Debug)]
#[must_use = "the run's end is to be told, or the channel waits for the run's deadline"]
pub struct Permission {
    slave: Slave,
    channel: ChannelId,
    agent: AgentId,
    run: RunId,
    holds_floor: bool,
}

impl Permission {
    /// Returns the run's name.
    pub const fn run(&self) -> RunId {
        self.run
    }

    /// Returns whether it holds the floor. Not where no turns are kept, nor where the master did not answer.
    pub const fn holds_floor(&self) -> bool {
        self.holds_floor
    }

    /// The run ended. What it said is posted only where the answer is `accepted`.
    ///
    /// # Errors
    ///
    /// As the master, or the way to it, fails: it may be told again, by [`Slave::turn_ended`].
    pub async fn end(&self, ending: RunReport<'_>) -> Result<CompleteAnswer, RelayError> {
        if !self.holds_floor {
            return Ok(CompleteAnswer { accepted: true, duplicate: false });
        }
        self.slave.turn_ended(self.channel, &self.agent, self.run, ending).await
    }
}
