//! Asks the driver, the registry and the chat, and turns their answers into looks.

use crate::drawing::Score;
use dirigent::operate::EventOrLag;
use dirigent::ports::{ChannelAnswer, ChannelRequest, Timestamp};
use dirigent::replay::Trace;
use dirigent::snapshot::AgentKey;
use dirigent::store::Barred;
use dirigent::{AgentId, CallError, ChannelId};
use futures_util::stream::{self, StreamExt as _};

use crate::page::look::{ChannelFacts, ChannelLook, DriverAnswer, Names, OrderLook, Row};
use crate::page::order::Told;
use crate::page::peers::{ChannelSheet, TIME_LIMIT};
use crate::page::places::Places;
use crate::page::problem::Problem;
use crate::page::shared::PageContext;

/// The most rows in one answer to another process. Each row has at most about 5 KB.
const ROWS_AT_ONCE: usize = 500;
/// The number of channels that are read from the store at the same time.
const READ_AT_ONCE: usize = 32;

impl PageContext {
    pub(crate) fn names(&self) -> Names {
        Names::new(self.dirigent.agents())
    }

    /// Returns the rows of these channels, as far as this process acts for them.
    pub(crate) async fn rows_of_ours(
        &self,
        channels: &[ChannelId],
    ) -> Result<Vec<(ChannelId, Row)>, Problem> {
        let places = &self.places.get(&self.dirigent).await;
        let names = &self.names();
        let now = self.clock.now();
        let is_ours = |id: &ChannelId| {
            let is_ours = self.across().is_ours(*id);
            if !is_ours {
                self.since.forget(*id);
            }
            is_ours
        };
        let ours = channels.iter().copied().filter(is_ours);
        let rows = stream::iter(ours)
            .map(|id| async move {
                match self.known(id).await {
                    Ok(known) => {
                        Ok(Some((id, self.row_of(id, (&known, names), places, now).await)))
                    }
                    // The channel has just moved to another process.
                    Err(problem) if problem.is_elsewhere() => Ok(None),
                    Err(problem) => Err(problem),
                }
            })
            .buffer_unordered(READ_AT_ONCE);
        let rows: Vec<_> = rows.collect().await;
        rows.into_iter().filter_map(Result::transpose).collect()
    }

    /// Returns some rows of this process after this channel, ordered by id, and true if there are more.
    pub(crate) async fn own_rows(
        &self,
        after: Option<ChannelId>,
    ) -> Result<(Vec<Row>, bool), Problem> {
        let mut ours = self.dirigent.channels();
        ours.retain(|id| after.is_none_or(|after| *id > after) && self.across().is_ours(*id));
        let has_more = ours.len() > ROWS_AT_ONCE;
        ours.truncate(ROWS_AT_ONCE);
        let mut rows = self.rows_of_ours(&ours).await?;
        rows.sort_unstable_by_key(|(id, _)| *id);
        Ok((rows.into_iter().map(|(_, row)| row).collect(), has_more))
    }

    async fn row_of(
        &self,
        id: ChannelId,
        (known, names): (&DriverAnswer, &Names),
        places: &Places,
        now: Timestamp,
    ) -> Row {
        let row = Row::of(id, (known, names), places, now);
        let since = match known {
            DriverAnswer::Status(status) => self.since.of(&self.dirigent, id, status).await,
            DriverAnswer::Unmanaged | DriverAnswer::Unusable(_) | DriverAnswer::Elsewhere(_) => {
                None
            }
        };
        Row { owner: self.across().owner(id), since, ..row }
    }

    pub(crate) async fn row(&self, id: ChannelId) -> Result<Row, Problem> {
        let places = self.places.get(&self.dirigent).await;
        self.must_exist(id).await?;
        let known = self.known(id).await?;
        Ok(self.row_of(id, (&known, &self.names()), &places, self.clock.now()).await)
    }

    /// Returns the data of a channel's page, for a channel of this process.
    pub(crate) async fn own_sheet(&self, id: ChannelId) -> Result<ChannelSheet, Problem> {
        let look = self.own_channel(id).await?;
        let score = self.own_score(id).await?.sheet();
        Ok(ChannelSheet::new(look, score, self.recorder.is_some()))
    }

    /// Returns one channel with the reasons for its state.
    async fn own_channel(&self, id: ChannelId) -> Result<ChannelLook, Problem> {
        let row = self.row(id).await?;
        let names = self.names();
        let channel = self.dirigent.channel(id);
        let status = match self.known(id).await? {
            DriverAnswer::Status(status) => Some(status),
            DriverAnswer::Unmanaged | DriverAnswer::Unusable(_) | DriverAnswer::Elsewhere(_) => {
                None
            }
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
        let (workers, classes) = (channel.workers(), channel.failure_classes());
        let given = self.order_log.of(id).await;
        let facts =
            ChannelFacts { status, explanations, discussion, workers, history, classes, given };
        Ok(ChannelLook::of(row, &facts, &names, &places))
    }

    /// Returns the channel's score. It is read from the recording, or else from the history, which has no denials.
    pub(crate) async fn own_score(&self, id: ChannelId) -> Result<Score, Problem> {
        self.must_exist(id).await?;
        let names = self.names();
        let name = |key: AgentKey| self.agent_name(&names, key);
        let now = self.clock.now();
        let is_live = matches!(self.known(id).await?, DriverAnswer::Status(status) if status.speaker.is_some());
        let now = is_live.then_some(now);
        if let Some(recorded) = self.recorder.as_ref().and_then(|recorder| recorder.channel(id)) {
            let trace = Trace::of(&recorded, name).map_err(unreadable)?;
            return Ok(Score::of(newest(trace.entries()), name, now));
        }
        if matches!(self.known(id).await?, DriverAnswer::Unusable(_)) {
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

    /// Gives an order to a channel of this process, and makes open pages look again.
    pub(crate) async fn own_order(
        &self,
        id: ChannelId,
        told: &Told,
        (by, reason): (&str, Option<&str>),
    ) -> Result<(), Problem> {
        let given = match told {
            Told::Request(request) => {
                self.must_exist(id).await?;
                let answer = self.dirigent.request_here(id, request, TIME_LIMIT).await;
                answer.and_then(ChannelAnswer::into_result).map(drop).map_err(Problem::from)
            }
            Told::Post(text) => self.own_post(id, text).await,
        };
        self.record_order((id, told), (by, reason), &given).await;
        self.orders.send_modify(|orders| *orders += 1);
        given
    }

    /// Logs an order with its operator. If another process gets the order instead, that process logs it.
    pub(crate) async fn record_order(
        &self,
        (id, told): (ChannelId, &Told),
        (by, reason): (&str, Option<&str>),
        given: &Result<(), Problem>,
    ) {
        if given.as_ref().is_err_and(|problem| self.across().changes_hands(problem)) {
            return;
        }
        let refused = given.as_ref().err().map(|problem| problem.name().to_owned());
        let at = self.clock.now().as_millis();
        let named = told.name();
        let known = self.names();
        let (mut agent, mut mode, mut to) = (None, None, None);
        if let Told::Request(request) = told {
            agent = agent_of(request).map(|agent| known.of(agent));
            if let ChannelRequest::SetMode { mode: given } = request {
                mode = Some(given.as_str().into());
            }
            if let ChannelRequest::SendResult { to: other } = request {
                to = Some(other.to_string());
            }
        }
        let (by_whom, reason) = (by.to_owned(), reason.map(ToOwned::to_owned));
        let order = OrderLook {
            at,
            order: named.into(),
            agent,
            mode,
            to,
            entry: None,
            by: by_whom,
            reason,
            refused,
        };
        self.order_log.add(Some(id), order).await;
        match given {
            Ok(()) => tracing::info!(channel = %id, order = named, by, "an order was carried out"),
            Err(problem) => {
                let why = &problem.kind;
                tracing::info!(channel = %id, order = named, by, why, "an order was refused");
            }
        }
    }

    /// Refuses a channel that does not exist. A channel exists if it has a record or if the chat knows it.
    pub(crate) async fn must_exist(&self, id: ChannelId) -> Result<(), Problem> {
        let is_there =
            self.dirigent.channel(id).is_known() || self.places.get(&self.dirigent).await.lists(id);
        if is_there { Ok(()) } else { Err(Problem::not_found("channel")) }
    }

    pub(crate) fn agent_name(&self, names: &Names, key: AgentKey) -> Option<AgentId> {
        self.dirigent.agent(key).map(|agent| AgentId::from(names.of(&agent)))
    }

    pub(crate) async fn known(&self, id: ChannelId) -> Result<DriverAnswer, Problem> {
        match self.dirigent.channel(id).status().await {
            Ok(Some(status)) => Ok(DriverAnswer::Status(Box::new(status))),
            Ok(None) => Ok(DriverAnswer::Unmanaged),
            Err(
                error @ (CallError::Barred(Barred::Damaged | Barred::OtherVersion)
                | CallError::Unreadable(_)
                | CallError::Failed(_)),
            ) => Ok(DriverAnswer::Unusable(error)),
            Err(error) => Err(error.into()),
        }
    }
}

/// The agent that an order is about.
fn agent_of(request: &ChannelRequest) -> Option<&AgentId> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others are about the channel")]
    match request {
        ChannelRequest::Wake { first } => first.as_ref(),
        ChannelRequest::SpeakNext { agent }
        | ChannelRequest::Mute { agent }
        | ChannelRequest::Unmute { agent }
        | ChannelRequest::Assign { agent } => Some(agent),
        _ => None,
    }
}

/// The most entries of a trace that are drawn.
const DRAWN: usize = 600;

fn newest<T>(entries: &[T]) -> &[T] {
    entries.get(entries.len().saturating_sub(DRAWN)..).unwrap_or_default()
}

pub(crate) fn unreadable(error: dirigent::snapshot::RestoreError) -> Problem {
    Problem::new(409, "recording-unusable", error.to_string())
}

/// Returns true if an event concerns the channel.
pub(crate) fn concerns(heard: &EventOrLag, channel: ChannelId) -> bool {
    match heard {
        EventOrLag::Transition(event) => event.channel == channel,
        EventOrLag::AgentFailed(failure) => failure.channel == channel,
        EventOrLag::ReplyLost(lost) => lost.channel == channel,
        EventOrLag::Progress(progress) => progress.channel == channel,
        EventOrLag::Lagged(_) | _ => true,
    }
}
