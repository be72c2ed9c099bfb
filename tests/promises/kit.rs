//! What the promises share.

use std::time::Duration;

use dirigent::hooks::RunId;
use dirigent::host::{Consultation, Orchestrator};
use dirigent::operate::{CreatedChannel, Opening};
use dirigent::store::Discussion;
use dirigent::{AgentError, AgentId, CallError, ChannelId, Mode, Reply};
use dirigent_testkit::ScriptedAgent;
use dirigent_verify::stage::Stage;

pub(crate) const MILLI: Duration = Duration::from_millis(1);
pub(crate) const SECOND: Duration = Duration::from_secs(1);
pub(crate) const MINUTE: Duration = Duration::from_secs(60);
pub(crate) const HOUR: Duration = Duration::from_secs(3_600);

/// How long after the end of an outage a room may take to go on.
pub(crate) const RETURN: Duration = Duration::from_secs(30);

/// An operator's or a person's act that lets nothing more be posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    Stop,
    StopWord,
    Finish,
    Hold,
    ModeChange,
    Archive,
}

impl Halt {
    pub(crate) const ALL: [Self; 6] =
        [Self::Stop, Self::StopWord, Self::Finish, Self::Hold, Self::ModeChange, Self::Archive];

    /// Those that a discussion, whose mode cannot be changed, knows too.
    pub(crate) const OF_DISCUSSIONS: [Self; 5] =
        [Self::Stop, Self::StopWord, Self::Finish, Self::Hold, Self::Archive];

    /// Returns when the act is in force.
    #[track_caller]
    pub(crate) fn act(self, stage: &mut Stage) {
        let channel = stage.channel();
        let done: Result<(), CallError> = match self {
            Self::Stop => stage.call(move |d| async move { d.channel(channel).stop().await }),
            Self::Finish => stage.call(move |d| async move { d.channel(channel).finish().await }),
            Self::Hold => stage.call(move |d| async move { d.channel(channel).hold().await }),
            Self::Archive => stage.call(move |d| async move { d.channel(channel).archive().await }),
            Self::ModeChange => stage.call(move |d| async move {
                d.channel(channel).set_mode(Mode::Report).await.map(drop)
            }),
            Self::StopWord => {
                stage.say("stop");
                Ok(())
            }
        };
        assert!(done.is_ok(), "{self:?}: {done:?}");
    }
}

#[track_caller]
pub(crate) fn stop(stage: &mut Stage) {
    Halt::Stop.act(stage);
}

#[track_caller]
pub(crate) fn resume(stage: &mut Stage) {
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).resume().await }).unwrap();
}

/// Wakes the first channel, and lets the agent "a" begin the run 1 in a process of its own.
#[track_caller]
pub(crate) fn begin_run(stage: &mut Stage) {
    begin_run_as(stage, RunId::new(1));
}

/// The same with an id for the run.
pub(crate) fn begin_run_as(stage: &mut Stage, run: RunId) {
    let channel = stage.channel();
    stage.call(move |d| async move {
        d.channel(channel).wake(None).await.unwrap();
        let permit = d.channel(channel).may_speak(&"a".into(), Some(run)).await.unwrap();
        permit.keep();
    });
}

/// An orchestrator that answers at once.
pub(crate) struct Answers;

#[async_trait::async_trait]
impl Orchestrator for Answers {
    async fn answer(&self, _: Consultation) -> Result<Reply, AgentError> {
        Ok("In a minute.".into())
    }
}

/// How many runs have begun.
pub(crate) fn runs(stage: &Stage) -> usize {
    stage.agents().map(|agent| agent.turns().len()).sum()
}

/// Whether an agent that the library calls was handed this word.
pub(crate) fn is_heard(stage: &Stage, word: &str) -> bool {
    let turns = stage.agents().flat_map(ScriptedAgent::turns);
    turns.flat_map(|turn| turn.missed.into_iter().chain(turn.injected)).any(|heard| heard == word)
}

/// What an agent was handed back of earlier turns.
pub(crate) fn late_answers(stage: &Stage, agent: &str) -> Vec<String> {
    stage.agent(agent).turns().into_iter().filter_map(|turn| turn.late_answer).collect()
}

/// The agents that may speak now.
pub(crate) fn allowed(stage: &mut Stage, channel: ChannelId) -> Vec<AgentId> {
    let names: Vec<AgentId> = stage.agents().map(|agent| agent.name().clone()).collect();
    let may = |stage: &mut Stage, name: &AgentId| {
        let asked = name.clone();
        let explained =
            stage.try_call(move |d| async move { d.channel(channel).explain(&asked).await });
        explained.is_some_and(|why| why.is_ok_and(|why| why.allows()))
    };
    names.into_iter().filter(|name| may(stage, name)).collect()
}

/// The words of the idle reminder in the tests that count reminders.
pub(crate) const REMINDER: &str = "Are you done?";

/// How many reminders stand in the discussion and in the channel that it came from.
pub(crate) fn reminders(stage: &Stage) -> usize {
    let rooms = stage.rooms().iter();
    let posted = rooms.flat_map(|room| stage.moderation(*room));
    posted.filter(|text| text.contains(REMINDER)).count()
}

/// Opens a discussion of these agents in the first channel, begun by "a", with its result in the second.
#[track_caller]
pub(crate) fn open_discussion(stage: &mut Stage, guide: &str, members: &[&str]) {
    let [channel, callback] = stage.rooms() else { panic!("a discussion needs two channels") };
    let (channel, callback, guild) = (*channel, *callback, stage.guild());
    let terms = Discussion { callback, callback_guild: Some(guild), guide: guide.to_owned() };
    let made = CreatedChannel {
        mode: Mode::Discussion,
        members: members.iter().map(|name| (*name).into()).collect(),
        opening: Some(Opening { initiator: "a".into(), terms: Some(terms) }),
    };
    stage.call(move |d| async move { d.channel(channel).register(made).await }).unwrap();
}
