//! A process that acts for no channel, and asks the master.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use async_trait::async_trait;
use dirigent::hooks::{RunId, RunReport};
use dirigent::ports::Identity;
use dirigent::{AgentId, ChannelId, Settings, UserId};

use crate::denied::Denied;
use crate::permission::{Asking, Way};
use crate::rules::{
    ChannelState, CheckAnswer, CheckTurn, CompleteAnswer, GetChannelState, GetIdentity,
    TurnComplete,
};
use crate::{Client, HostId, Permission, RelayError};

/// The role of a process among the others: the setting `dirigentRole`.
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
    /// It has the state, and answers the slaves with a [`Master`](crate::Master) in its [`Server`](crate::Server).
    /// Without a relay every process is a master.
    #[default]
    Master,
    /// It has no state, and asks as a [`Slave`].
    Slave,
}

/// The error for a text that is not a role: `master` or `slave`.
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

/// The behaviour of a slave when the master does not answer. A rejected question counts as unanswered, because a
/// rejection does not prove who sent it. So a slave with an old secret behaves like one without a master.
/// [`RelayError::rejection`](crate::RelayError::rejection) says why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "there is no third answer")]
pub enum WhenUnavailable {
    /// No agent runs, because two speakers are worse than none.
    #[default]
    Deny,
    /// Agents run as if the library were absent. Two may speak at once.
    Allow,
}

/// A process that has no state of any channel. The master decides if an agent may run, and how its turn ends. A slave
/// posts, deletes and reads no message in the chat. After the permission, your host posts the text of its agents.
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
    shared: Arc<WayToMaster>,
    asking: Asking,
}

struct WayToMaster {
    client: Client,
    master: HostId,
    when_unavailable: WhenUnavailable,
}

#[async_trait]
impl Way for WayToMaster {
    async fn check(&self, question: CheckTurn) -> Result<CheckAnswer, RelayError> {
        self.client.ask(&self.master, &question).await
    }

    async fn complete(&self, end: TurnComplete) -> Result<CompleteAnswer, RelayError> {
        self.client.ask(&self.master, &end).await
    }
}

impl Slave {
    /// Creates a slave that asks this master. The settings say what an agent's text means: when it is silence, and when
    /// it is complete.
    pub fn new(client: Client, master: HostId, settings: Settings) -> Self {
        Self::with(client, master, settings, WhenUnavailable::default())
    }

    /// Creates a slave, and chooses its behaviour when the master does not answer.
    pub fn with(
        client: Client,
        master: HostId,
        settings: Settings,
        when_unavailable: WhenUnavailable,
    ) -> Self {
        let shared = Arc::new(WayToMaster { client, master, when_unavailable });
        let asking = Asking::new(Arc::clone(&shared) as _, &shared.client, settings);
        Self { shared, asking }
    }

    /// Asks whether this agent may run now. Ask before you call its model. You may ask again with the run's name,
    /// because that has no second effect.
    ///
    /// # Errors
    ///
    /// Returns why the agent must stay silent, for example [`Denied::RelayUnavailable`] if the master does not answer
    /// in time.
    pub async fn may_speak(
        &self,
        channel: ChannelId,
        agent: &AgentId,
        run: Option<RunId>,
    ) -> Result<Permission, Denied> {
        let unanswered = |denied: &Denied| {
            denied.is_unavailable() && self.shared.when_unavailable == WhenUnavailable::Allow
        };
        self.asking.may_speak(channel, agent, run, unanswered).await
    }

    /// Reports that an agent's run ended. Use it if your host learns of the end in another place than where it asked.
    /// You may repeat the report, because it has no second effect.
    ///
    /// # Errors
    ///
    /// Returns the error of the master, or of the way to it. You may report the end again with its run.
    pub async fn turn_ended(
        &self,
        channel: ChannelId,
        agent: &AgentId,
        run: RunId,
        report: RunReport<'_>,
    ) -> Result<CompleteAnswer, RelayError> {
        self.asking.turn_ended(channel, agent, run, report).await
    }

    /// Returns the registry's entry for an account.
    ///
    /// # Errors
    ///
    /// Returns the error of the master, or of the way to it.
    pub async fn identity(&self, account: UserId) -> Result<Option<Identity>, RelayError> {
        let question = GetIdentity { discord_user_id: account };
        self.shared.client.ask(&self.shared.master, &question).await
    }

    /// Returns the state of a channel.
    ///
    /// # Errors
    ///
    /// Returns the error of the master, or of the way to it.
    pub async fn channel_state(&self, channel: ChannelId) -> Result<ChannelState, RelayError> {
        let question = GetChannelState { channel_id: channel };
        self.shared.client.ask(&self.shared.master, &question).await
    }

    /// Returns the client, and the master that it asks.
    pub(crate) fn way(&self) -> (&Client, &HostId) {
        (&self.shared.client, &self.shared.master)
    }
}

impl fmt::Debug for Slave {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slave").field("master", &self.shared.master).finish_non_exhaustive()
    }
}
