//! Asks the driver, the registry and the chat, and makes looks of what they tell.

use dirigent::operate::EventOrLag;
use dirigent::replay::Trace;
use dirigent::snapshot::AgentKey;
use dirigent::store::Barred;
use dirigent::{AgentId, CallError, ChannelId};
use dirigent_viewer::Score;
use futures_util::stream::{self, StreamExt as _};

use crate::look::{ChannelFacts, ChannelLook, Known, Names, Overview, Query, Row};
use crate::order::Order;
use crate::problem::Problem;
use crate::shared::Shared;

/// The number of channels that are read from the store at once.
const READ_AT_ONCE: usize = 32;

impl Shared {
    pub(crate) async fn names(&self) -> Result<Names, Problem> {
        Ok(Names::new(&self.identities.all().await?))
    }

    /// Every channel that is asked for.
    pub(crate) async fn overview(&self, query: &Query) -> Result<Overview, Problem> {
        let places = self.places.get(&self.dirigent).await;
        let names = self.names().await?;
        let now = self.clock.now();
        let known = self.dirigent.channels();
        let listed = places.channels.keys().copied().filter(|id| places.lists(*id));
        let listed = listed.filter(|id| known.binary_search(id).is_err());
        let unmanaged = listed.map(|id| Row::of(id, (&Known::Unmanaged, &names), &places, now));
        let mut rows: Vec<Row> = unmanaged.collect();
        let places = &places;
        let names = &names;
        let managed = stream::iter(known.iter().copied())
            .map(|id| async move {
                let known = self.known(id).await?;
                let row = Row::of(id, (&known, names), places, now);
                Ok::<_, Problem>(is_listed(&row, places.lists(id)).then_some(row))
            })
            .buffer_unordered(READ_AT_ONCE);
        let managed: Vec<_> = managed.collect().await;
        for row in managed {
            rows.extend(row?);
        }
        Ok(Overview::of(rows, query, places.trouble.clone()))
    }

    /// Those of these channels that there are, each in one line.
    pub(crate) async fn row(&self, id: ChannelId) -> Result<Row, Problem> {
        let places = self.places.get(&self.dirigent).await;
        self.must_exist(id).await?;
        let known = self.known(id).await?;
        Ok(Row::of(id, (&known, &self.names().await?), &places, self.clock.now()))
    }

    /// One channel, with everything that explains it.
    pub(crate) async fn channel(&self, id: ChannelId) -> Result<ChannelLook, Problem> {
        let row = self.row(id).await?;
        let names = self.names().await?;
        let channel = self.dirigent.channel(id);
        let status = match self.known(id).await? {
            Known::Status(status) => Some(status),
            Known::Unmanaged | Known::Unusable(_) => None,
        };
        let mut explanations = Vec::new();
        for (agent, _) in status.iter().flat_map(|status| &status.agents) {
            explanations.push(channel.explain(agent).await?);
        }
        let discussion = match &status {
            Some(_) => channel.discussion().await?,
            None => None,
        };
        let places = self.places.get(&self.dirigent).await;
        let history = match &status {
            Some(_) => channel.history().await?,
            None => Vec::new(),
        };
        let workers = channel.workers();
        let facts = ChannelFacts { status, explanations, discussion, workers, history };
        Ok(ChannelLook::of(row, &facts, &names, &places))
    }

    /// The channel's score: from its recording where it is recorded, else from its history, which knows of no denials.
    pub(crate) async fn score(&self, id: ChannelId) -> Result<Score, Problem> {
        self.must_exist(id).await?;
        let names = self.names().await?;
        let name = |key: AgentKey| self.agent_name(&names, key);
        let now = self.clock.now();
        let is_live =
            matches!(self.known(id).await?, Known::Status(status) if status.speaker.is_some());
        let now = is_live.then_some(now);
        if let Some(recorded) = self.recorder.as_ref().and_then(|recorder| recorder.channel(id)) {
            let trace = Trace::of(&recorded, name).map_err(unreadable)?;
            return Ok(Score::of(newest(trace.entries()), name, now));
        }
        if matches!(self.known(id).await?, Known::Unusable(_)) {
            return Ok(Score::of(&[], name, None));
        }
        let history = self.dirigent.channel(id).history().await?;
        let transitions: Vec<_> = history.iter().map(|event| event.transition).collect();
        let agent = |key: AgentKey| {
            let event = history.iter().rfind(|event| event.transition.agent == Some(key));
            let agent = event.and_then(|event| event.agent.as_ref());
            agent.map(|agent| AgentId::from(names.of(agent)))
        };
        let trace = Trace::of_transitions(&transitions, agent);
        Ok(Score::of(newest(trace.entries()), agent, now))
    }

    /// Gives a channel an order, and has open pages look again.
    pub(crate) async fn order(&self, id: ChannelId, order: Order) -> Result<(), Problem> {
        self.must_exist(id).await?;
        let given = order.give(self.dirigent.channel(id)).await;
        self.orders.send_modify(|orders| *orders += 1);
        given
    }

    /// A channel is there when it has a record, or when the chat tells of it.
    pub(crate) async fn must_exist(&self, id: ChannelId) -> Result<(), Problem> {
        let is_there =
            self.dirigent.channel(id).is_known() || self.places.get(&self.dirigent).await.lists(id);
        if is_there { Ok(()) } else { Err(Problem::not_found("channel")) }
    }

    pub(crate) fn agent_name(&self, names: &Names, key: AgentKey) -> Option<AgentId> {
        self.dirigent.agent(key).map(|agent| AgentId::from(names.of(&agent)))
    }

    async fn known(&self, id: ChannelId) -> Result<Known, Problem> {
        match self.dirigent.channel(id).status().await {
            Ok(Some(status)) => Ok(Known::Status(Box::new(status))),
            Ok(None) => Ok(Known::Unmanaged),
            Err(
                error @ (CallError::Barred(Barred::Damaged | Barred::Newer)
                | CallError::Unreadable(_)
                | CallError::Failed(_)),
            ) => Ok(Known::Unusable(error)),
            Err(error) => Err(error.into()),
        }
    }
}

/// The most entries of a trace that are drawn.
const DRAWN: usize = 600;

fn newest<T>(entries: &[T]) -> &[T] {
    entries.get(entries.len().saturating_sub(DRAWN)..).unwrap_or_default()
}

/// A channel that was given the mode none is nothing to list where it is public.
fn is_listed(row: &Row, is_private: bool) -> bool {
    row.mode != "none" || row.needs_person.is_some() || is_private
}

pub(crate) fn unreadable(error: dirigent::snapshot::RestoreError) -> Problem {
    Problem::new(409, "recording-unusable", error.to_string())
}

/// Whether what was heard concerns the channel.
pub(crate) fn concerns(heard: &EventOrLag, channel: ChannelId) -> bool {
    match heard {
        EventOrLag::Transition(event) => event.channel == channel,
        EventOrLag::AgentFailed(failure) => failure.channel == channel,
        EventOrLag::ReplyLost(lost) => lost.channel == channel,
        EventOrLag::Progress(progress) => progress.channel == channel,
        EventOrLag::Lagged(_) | _ => true,
    }
}
