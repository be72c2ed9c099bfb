//! Streams the turns of agents to their programs: server-sent events with ids and no text.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::{Query, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use dirigent::hooks::TurnId;
use dirigent::operate::{Cause, EventOrLag, Events};
use dirigent::ports::Timestamp;
use dirigent::{AgentId, ChannelId};
use futures_util::stream::{Stream, unfold};
use http::StatusCode;
use serde::Serialize;
use tokio::sync::OwnedSemaphorePermit;
use utoipa::ToSchema;

use crate::asking::{bound, channel_id};
use crate::keys::Asker;
use crate::parts::FrontParts;
use crate::problem::Problem;
use crate::queries;

/// The interval between signs of life, so that a broken connection is noticed.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// The time after which a stream ends. The program connects again, and its secret is checked again.
const LASTS: Duration = Duration::from_secs(15 * 60);
/// The interval between checks that this process still owns the one channel of a stream, because no event says so.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// One event of the stream. Its name is `your-turn`, `turn-over`, or `person-wrote` while the agent has the floor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TurnNews {
    #[serde(skip)]
    name: &'static str,
    agent: String,
    channel: String,
    /// The number of the turn in its channel.
    turn: u64,
}

/// Streams the turns of agents in the channels that this process owns. It begins with their current turns, so that you
/// miss none when you connect again.
#[utoipa::path(get, path = "/turns", params(queries::TurnsAsked), responses((status = 200, body = TurnNews, content_type = "text/event-stream"), (status = "4XX", body = Problem)))]
pub(crate) async fn turns(
    State(front): State<Arc<FrontParts>>,
    Extension(asker): Extension<Arc<Asker>>,
    Query(query): Query<queries::TurnsAsked>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    let agents: BTreeSet<AgentId> = match &query.agents {
        Some(agents) => agents.split(',').map(|it| bound(&asker, it)).collect::<Result<_, _>>()?,
        None => asker.agents.clone(),
    };
    let only = query.channel.as_deref().map(channel_id).transpose()?;
    if let Some(channel) = only {
        front.must_be_in(&asker, channel).await?;
        front.must_act_for(channel, &agents).await?;
    }
    let place = asker.place()?;
    let events = front.dirigent.events();
    let mut watched = Watched { agents, told: BTreeMap::new() };
    let mut first = VecDeque::new();
    for channel in channels(&front, only) {
        first.extend(watched.look(channel, floor(&front, channel)));
    }
    let ends = front.clock.now() + LASTS;
    let watch = Watch { front, events, ends, only, watched, news: first, _place: place };
    let stream = unfold(watch, async |mut watch| {
        let news = watch.next().await?;
        Some((Ok(event(&news)), watch))
    });
    Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}

impl FrontParts {
    /// Refuses a channel of another process, because this one hears no events of it. The refusal names that process, if it is known.
    async fn must_act_for(
        &self,
        channel: ChannelId,
        agents: &BTreeSet<AgentId>,
    ) -> Result<(), Problem> {
        let channel = self.dirigent.channel(channel);
        let Some(agent) = agents.first().filter(|_| !channel.standing().acts()) else {
            return Ok(());
        };
        let why = channel.explain(agent).await?;
        let owner = why.owner.map_or_else(|| "another process".to_owned(), |it| it.to_string());
        let detail = format!("{owner} acts for this channel: open the stream at its front");
        Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, "urn:dirigent:problem:elsewhere", detail))
    }
}

/// Returns the channels of a stream: one, or all of this process.
fn channels(front: &FrontParts, only: Option<ChannelId>) -> Vec<ChannelId> {
    only.map_or_else(|| front.dirigent.channels(), |only| vec![only])
}

fn event(news: &TurnNews) -> Event {
    let id = format!("{}-{}", news.channel, news.turn);
    let event = Event::default().event(news.name).id(id);
    // Text and numbers are always valid JSON.
    event.data(serde_json::to_string(news).unwrap_or_default())
}

fn news(name: &'static str, channel: ChannelId, (agent, turn): &(AgentId, TurnId)) -> TurnNews {
    TurnNews { name, agent: agent.to_string(), channel: channel.to_string(), turn: turn.get() }
}

type Floor = Option<(AgentId, TurnId)>;

fn floor(front: &FrontParts, channel: ChannelId) -> Floor {
    front.dirigent.channel(channel).floor()
}

/// Some agents, and the newest events that were sent about them.
#[derive(Debug)]
struct Watched {
    agents: BTreeSet<AgentId>,
    told: BTreeMap<ChannelId, (AgentId, TurnId)>,
}

impl Watched {
    /// Returns the news about a channel, now that this agent has the floor.
    fn look(&mut self, channel: ChannelId, now: Floor) -> Vec<TurnNews> {
        let now = now.filter(|(agent, _)| self.agents.contains(agent));
        let before = self.told.get(&channel);
        if before == now.as_ref() {
            return Vec::new();
        }
        let over = before.map(|before| news("turn-over", channel, before));
        let begun = now.as_ref().map(|now| news("your-turn", channel, now));
        match now {
            Some(now) => self.told.insert(channel, now),
            None => self.told.remove(&channel),
        };
        over.into_iter().chain(begun).collect()
    }
}

/// A stream of one program.
struct Watch {
    front: Arc<FrontParts>,
    events: Events,
    ends: Timestamp,
    /// The one channel that the program asked for.
    only: Option<ChannelId>,
    watched: Watched,
    news: VecDeque<TurnNews>,
    _place: OwnedSemaphorePermit,
}

impl Watch {
    /// Returns the next news. `None` after 15 minutes, when the library is gone, or when the one channel is another
    /// process's.
    async fn next(&mut self) -> Option<TurnNews> {
        loop {
            if let Some(news) = self.news.pop_front() {
                return Some(news);
            }
            let dirigent = &self.front.dirigent;
            if self.only.is_some_and(|only| !dirigent.channel(only).standing().acts()) {
                return None;
            }
            let look_again = self.front.clock.now() + LOOK_AGAIN;
            let heard = tokio::select! {
                biased;
                heard = self.events.next() => heard?,
                () = self.front.clock.sleep_until(self.ends) => return None,
                () = self.front.clock.sleep_until(look_again), if self.only.is_some() => continue,
            };
            if let EventOrLag::Transition(event) = &heard {
                let channel = event.channel;
                if self.only.is_some_and(|only| only != channel) {
                    continue;
                }
                let is_person = event.transition.cause == Cause::HumanMessage;
                let held = self.watched.told.get(&channel).filter(|_| is_person);
                self.news.extend(held.map(|held| news("person-wrote", channel, held)));
                self.look(channel);
            } else if matches!(heard, EventOrLag::Lagged(_)) {
                for channel in channels(&self.front, self.only) {
                    self.look(channel);
                }
            }
        }
    }

    fn look(&mut self, channel: ChannelId) {
        self.news.extend(self.watched.look(channel, floor(&self.front, channel)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_turn_of_a_watched_agent_begins_once_and_is_over_once() {
        let (channel, other) = (ChannelId::new(7), ChannelId::new(8));
        let mut watched = Watched { agents: BTreeSet::from(["a".into()]), told: BTreeMap::new() };
        let floor = |agent: &str, turn| Some((AgentId::from(agent), TurnId::new(turn)));
        let mut look = |channel, floor| {
            let news = watched.look(channel, floor).into_iter();
            news.map(|it| (it.name, it.turn)).collect::<Vec<_>>()
        };
        assert_eq!(look(channel, floor("a", 1)), [("your-turn", 1)]);
        assert_eq!(look(channel, floor("a", 1)), []);
        assert_eq!(look(other, floor("b", 1)), [], "another program's agent");
        assert_eq!(look(channel, floor("a", 2)), [("turn-over", 1), ("your-turn", 2)]);
        assert_eq!(look(channel, floor("b", 3)), [("turn-over", 2)]);
        assert_eq!(look(channel, None), []);
    }
}
