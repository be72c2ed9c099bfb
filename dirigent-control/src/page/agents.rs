//! Reports one agent in all channels: its state there, and its recorded turns.

use std::collections::BTreeMap;
use std::sync::Arc;

use dirigent::operate::{Status, Transition};
use dirigent::replay::{Input, RecordedChannel, Trace, TraceEvent};
use dirigent::snapshot::AgentKey;
use dirigent::{AgentId, ChannelId};
use dirigent_core::TurnMachine;
use futures_util::stream::{self, StreamExt as _};

use crate::page::across::Across;
use crate::page::look::{
    AgentChannel, AgentDay, AgentReport, DriverAnswer, agent_look, failures, utc,
};
use crate::page::metrics::TURNS;
use crate::page::peers::{PageAnswer, PageQuestion};
use crate::page::problem::Problem;
use crate::page::shared::PageContext;

/// The most channels in the answer of one process.
const CHANNELS_MAX: usize = 200;
/// The number of channels that are read from the store at the same time.
const READ_AT_ONCE: usize = 32;

impl PageContext {
    /// Returns the agent in the channels of this process, and the number of further channels. The channel
    /// that changed last comes first.
    pub(crate) async fn own_agent(
        &self,
        agent: &AgentId,
    ) -> Result<(Vec<AgentChannel>, usize), Problem> {
        let ours = self.dirigent.channels().into_iter().filter(|id| self.across().is_ours(*id));
        let found = stream::iter(ours)
            .map(|id| async move {
                let DriverAnswer::Status(status) = self.known(id).await.ok()? else { return None };
                let since = self.since.of(&self.dirigent, id, &status).await;
                let is_there = status.agents.iter().any(|(there, _)| there == agent);
                is_there.then_some((since, id, status))
            })
            .buffer_unordered(READ_AT_ONCE);
        let mut found: Vec<_> = found.filter_map(std::future::ready).collect().await;
        found.sort_by_key(|(since, id, _)| (std::cmp::Reverse(*since), *id));
        let more = found.len().saturating_sub(CHANNELS_MAX);
        found.truncate(CHANNELS_MAX);
        let mut told = Vec::with_capacity(found.len());
        for (_, id, status) in found {
            told.extend(self.agent_in(agent, id, &status).await?);
        }
        Ok((told, more))
    }

    async fn agent_in(
        &self,
        agent: &AgentId,
        id: ChannelId,
        status: &Status,
    ) -> Result<Option<AgentChannel>, Problem> {
        let names = self.names();
        let channel = self.dirigent.channel(id);
        let why = channel.explain(agent).await?;
        let Some(look) = agent_look(status, &why, &names) else { return Ok(None) };
        let history = channel.history().await?;
        let failures = failures(&history, &channel.failure_classes(), agent, &names);
        let recorded = self.recorder.as_ref().and_then(|recorder| recorder.channel(id));
        let (dirigent, agent) = (self.dirigent.clone(), agent.clone());
        let is_its = move |key: AgentKey| dirigent.agent(key).as_ref() == Some(&agent);
        let changes = history.into_iter().map(|event| event.transition).collect();
        let days = self.beside(move || Ok(days(changes, recorded.as_ref(), is_its))).await?;
        Ok(Some(AgentChannel::new(self.row(id).await?, look, days, failures)))
    }
}

/// Counts turns by day. They come from the recording, and for the time before it from the history.
fn days(
    history: Vec<Transition>,
    recorded: Option<&RecordedChannel>,
    is_its: impl Fn(AgentKey) -> bool,
) -> BTreeMap<String, AgentDay> {
    let mut days: BTreeMap<String, AgentDay> = BTreeMap::new();
    let day = |at: u64| utc(at).chars().take(10).collect::<String>();
    let began = recorded.and_then(|recorded| recorded.inputs.first()).map(|(at, _)| *at);
    let before = history.into_iter().filter(|change| began.is_none_or(|began| change.at < began));
    let trace = recorded.and_then(|recorded| Trace::of(recorded, |_| None).ok());
    let after = trace.iter().flat_map(Trace::entries).filter_map(|entry| {
        if let TraceEvent::Changed(change) = entry.event { Some(change) } else { None }
    });
    for change in before.chain(after).filter(|change| change.agent.is_some_and(&is_its)) {
        let end = TURNS.iter().find(|(_, causes)| causes.contains(&change.cause));
        if let Some((end, _)) = end {
            days.entry(day(change.at.as_millis())).or_default().ended(end);
        }
    }
    let Some(recorded) = recorded else { return days };
    // On a recorded day without a report, the cost is zero.
    for counted in days.values_mut() {
        counted.spent(0);
    }
    let Ok(mut machine) = TurnMachine::restore(Arc::clone(&recorded.config), &recorded.start)
    else {
        return days;
    };
    let mut effects = Vec::new();
    for (at, input) in &recorded.inputs {
        if let Input::Spent { cost } = input
            && machine.view().speaker().is_some_and(&is_its)
        {
            days.entry(day(at.as_millis())).or_default().spent(*cost);
        }
        // An input that is refused now was also refused then.
        let _ = machine.handle(*at, input, &mut effects);
        effects.clear();
    }
    days
}

impl Across<'_> {
    /// Returns the agent in the channels of all processes.
    pub(crate) async fn agent(self, agent: &str) -> Result<AgentReport, Problem> {
        let id = AgentId::from(agent);
        let identities = self.shared.dirigent.agents();
        let identity = identities.iter().find(|own| own.agent_id == id);
        let (mut channels, mut more) = self.shared.own_agent(&id).await?;
        let mut silent = Vec::new();
        if let Some(peers) = &self.shared.peers {
            let question = &PageQuestion::Agent { agent: id.clone() };
            let others = peers.others();
            let asked = others.iter().map(|peer| self.ask_peer(peers, peer, question));
            let answers = futures_util::future::join_all(asked).await;
            for (peer, answer) in others.iter().zip(answers) {
                match answer {
                    Ok(PageAnswer::Agent { channels: told, more: left }) => {
                        channels.extend(told);
                        more += left;
                    }
                    _ => silent.push(peer.clone()),
                }
            }
            channels.sort_by_key(|there| std::cmp::Reverse(there.channel.since));
        }
        if identity.is_none() && channels.is_empty() && silent.is_empty() {
            return Err(Problem::not_found("agent"));
        }
        let mut report = AgentReport {
            agent_id: agent.to_owned(),
            name: identity.map_or_else(|| agent.to_owned(), |own| own.agent_name.clone()),
            account: identity.map(|own| own.discord_user_id.to_string()),
            channels,
            more,
            days: BTreeMap::new(),
            silent,
        };
        report.count();
        Ok(report)
    }
}
