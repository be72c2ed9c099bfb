//! Requests to begin a run, to end it, to say something in it, and to report that an agent is alive.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::{Extension, Json};
use dirigent::hooks::{RunId, RunReport};
use dirigent::operate::EventOrLag;
use dirigent::ports::{ChannelAnswer, ChannelRequest, CheckAnswer, Identity};
use dirigent::{AgentError, AgentId, ChannelId, Reply};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::keys::Asker;
use crate::missed::{Missed, described, missed};
use crate::parts::FrontParts;
use crate::problem::Problem;
use crate::seats::Taken;

/// The longest wait until the turn of a seat, or the end of its run, is stored.
const STORED_WITHIN: Duration = Duration::from_secs(5);
/// The longest name of a run, in bytes.
const RUN_MAX: usize = 200;

type Asked<T> = Result<Json<T>, JsonRejection>;

/// A question whether a run may begin.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Begin {
    agent: String,
    channel: String,
    /// Your name for the run, for example the id of the message that began it. The same name is the same run.
    run: String,
}

/// The answer to the question.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Begun {
    /// The agent may run only if this is true.
    allowed: bool,
    /// The reason, in a sentence.
    reason: String,
    /// The agent that has the floor.
    #[serde(skip_serializing_if = "Option::is_none")]
    speaker: Option<String>,
    /// True if this run, or another one of this turn, had begun before. The newer run replaces the older.
    was_running: bool,
    /// True if other agents wait for the end of this run. False if the channel keeps no turns.
    holds_floor: bool,
    /// Words for the system prompt: who the agent is, who else is there, and that it is its turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) briefing: Option<String>,
    /// The messages since the agent's last turn, the oldest first. Missing if the chat did not return them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) missed: Option<Vec<Missed>>,
}

/// The end of a run.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct End {
    agent: String,
    channel: String,
    run: String,
    outcome: OutcomeName,
    /// The words that the agent posts now. Needed for `spoke` and `unfinished`.
    #[serde(default)]
    text: Option<String>,
}

/// The outcome of a run.
#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
enum OutcomeName {
    /// With these words. Words such as `NO_REPLY` are a pass.
    Spoke,
    /// Without words.
    Pass,
    /// With an error.
    Failed,
    /// With these words, and more to come: the agent keeps the floor.
    Unfinished,
}

/// Words for a run in a seat: Dirigent posts them.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Say {
    agent: String,
    channel: String,
    run: String,
    text: String,
}

/// The answer to the end of a run.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Ended {
    /// The words may be posted only if this is true.
    pub(crate) accepted: bool,
    /// True if the end of this run had been reported before.
    duplicate: bool,
}

/// A heartbeat of agents.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Heartbeat {
    agents: Vec<String>,
}

/// An empty answer.
#[derive(Serialize, ToSchema)]
pub(crate) struct Done {}

/// The agent, the channel and the run of a request.
pub(crate) struct Run {
    pub(crate) agent: AgentId,
    pub(crate) channel: ChannelId,
    /// The program's name for the run.
    pub(crate) name: String,
}

impl Run {
    fn of(asker: &Asker, agent: &str, channel: &str, name: String) -> Result<Self, Problem> {
        let agent = bound(asker, agent)?;
        if name.is_empty() || name.len() > RUN_MAX {
            return Err(Problem::invalid(format!("a run has a name of 1 to {RUN_MAX} bytes")));
        }
        Ok(Self { agent, channel: channel_id(channel)?, name })
    }

    /// The agent's name is in it, because a channel compares all runs, and two agents may answer one message.
    fn id(&self) -> RunId {
        RunId::from_text(&format!("{}/{}", self.agent, self.name))
    }
}

/// Returns the agent, if the secret is bound to it.
pub(crate) fn bound(asker: &Asker, agent: &str) -> Result<AgentId, Problem> {
    let agent = AgentId::from(agent);
    if asker.agents.contains(&agent) { Ok(agent) } else { Err(Problem::not_bound(&agent)) }
}

pub(crate) fn channel_id(text: &str) -> Result<ChannelId, Problem> {
    text.parse().map_err(|_| Problem::invalid("a channel is the number by which Discord knows it"))
}

/// Asks whether the agent may run now. If an answer was lost, ask again with this run, because its answer does not change.
#[utoipa::path(post, path = "/begin", request_body = Begin, responses((status = 200, body = Begun), (status = "4XX", body = Problem), (status = "5XX", body = Problem)))]
pub(crate) async fn begin(
    State(front): State<Arc<FrontParts>>,
    Extension(asker): Extension<Arc<Asker>>,
    body: Asked<Begin>,
) -> Result<Json<Begun>, Problem> {
    let Json(Begin { agent, channel, run }) = body?;
    let run = Run::of(&asker, &agent, &channel, run)?;
    if let Some(begun) = begin_in_seat(&front, &run) {
        return Ok(Json(begun));
    }
    // A program learns who speaks, and why, only in channels that its agent is in.
    let present = front.agents_in(run.channel).await?;
    let Some(me) = present.iter().find(|it| it.agent_id == run.agent).cloned() else {
        return Err(Problem::not_here());
    };
    if front.seats.has(&run.agent) {
        if let Some(begun) = begin_once_called(&front, &run).await {
            return Ok(Json(begun));
        }
        let reason = front.explained(run.agent, run.channel).await?.text;
        return Ok(Json(Begun { reason, ..Begun::default() }));
    }
    let (agent_id, run_id) = (run.agent.clone(), Some(run.id()));
    let check = ChannelRequest::CheckTurn { agent_id, run_id };
    let answer = front.dirigent.channel(run.channel).request(&check).await?;
    let ChannelAnswer::Turn(answer) = answer else { return Err(Problem::strange()) };
    let CheckAnswer { allowed, current_speaker, reason, holds_floor, was_running, .. } = answer;
    let mut begun = Begun {
        allowed,
        reason,
        speaker: current_speaker.map(|agent| agent.to_string()),
        was_running,
        holds_floor,
        ..Begun::default()
    };
    if allowed && holds_floor {
        (begun.briefing, begun.missed) = surroundings(&front, run.channel, (&me, present)).await;
    }
    Ok(Json(begun))
}

/// Returns the briefing of an agent with a bot of its own, and the messages that it missed if the chat returns them.
async fn surroundings(
    front: &FrontParts,
    channel: ChannelId,
    (me, present): (&Identity, Vec<Identity>),
) -> (Option<String>, Option<Vec<Missed>>) {
    // The guide of another process's channel is not known here.
    let discussion = front.dirigent.channel(channel).discussion().await.ok().flatten();
    let guide = discussion.and_then(|it| it.terms).map(|it| it.guide.clone());
    let turn = described(channel, me, present, guide);
    let missed = front.given.of(&*front.chat, (me, channel), &turn).await;
    if let Err(error) = &missed {
        tracing::warn!(%channel, agent = %me.agent_id, %error, "an agent is not told what it missed");
    }
    (Some(turn.briefing()), missed.ok())
}

/// Begins the turn of an agent in a seat, if it has one.
pub(crate) fn begin_in_seat(front: &FrontParts, run: &Run) -> Option<Begun> {
    let (turn, was_running) = front.seats.begin(&run.agent, run.channel, &run.name)?;
    Some(Begun {
        allowed: true,
        reason: "it is its turn".to_owned(),
        speaker: Some(run.agent.to_string()),
        was_running,
        holds_floor: true,
        briefing: Some(turn.briefing()),
        missed: Some(missed(&turn, turn.missed().iter().cloned())),
    })
}

/// Begins the turn of an agent in a seat that has the floor, but was not called yet. The stream tells of a turn when it is
/// given, and the seat is called only once the turn is stored: a program that asked in between was refused, and the
/// channel stood still until its deadline.
async fn begin_once_called(front: &FrontParts, run: &Run) -> Option<Begun> {
    let (mut news, until) = (front.seats.news(), front.clock.now() + STORED_WITHIN);
    loop {
        if let Some(begun) = begin_in_seat(front, run) {
            return Some(begun);
        }
        let floor = front.dirigent.channel(run.channel).floor();
        if floor.is_none_or(|(agent, _)| agent != run.agent) {
            return None;
        }
        tokio::select! {
            changed = news.changed() => changed.ok()?,
            () = front.clock.sleep_until(until) => return None,
        }
    }
}

/// Reports the end of a run. If the answer is lost, report it again: it counts once. Post the words only if the end was
/// accepted, because the turn may have been taken away.
#[utoipa::path(post, path = "/end", request_body = End, responses((status = 200, body = Ended), (status = "4XX", body = Problem), (status = "5XX", body = Problem)))]
pub(crate) async fn end(
    State(front): State<Arc<FrontParts>>,
    Extension(asker): Extension<Arc<Asker>>,
    body: Asked<End>,
) -> Result<Json<Ended>, Problem> {
    let Json(End { agent, channel, run, outcome, text }) = body?;
    let run = Run::of(&asker, &agent, &channel, run)?;
    if front.seats.has(&run.agent) {
        let answer = match outcome {
            OutcomeName::Pass => Ok(Reply::Pass),
            OutcomeName::Failed => Err(AgentError::from("its program says so")),
            OutcomeName::Spoke | OutcomeName::Unfinished => {
                let detail = "Dirigent posts for this agent: use /v1/say";
                return Err(Problem::new(
                    StatusCode::CONFLICT,
                    "urn:dirigent:problem:seat",
                    detail,
                ));
            }
        };
        return Ok(Json(end_in_seat(&front, &run, answer).await));
    }
    let report = match (outcome, &text) {
        (OutcomeName::Spoke, Some(text)) => RunReport::Text(text),
        (OutcomeName::Unfinished, Some(text)) => RunReport::Unfinished(text),
        (OutcomeName::Spoke | OutcomeName::Unfinished, None) => {
            return Err(Problem::invalid("what does the agent say? `text` is missing"));
        }
        (OutcomeName::Pass, _) => RunReport::Pass,
        (OutcomeName::Failed, _) => RunReport::Failed,
    };
    let is_failed = matches!(outcome, OutcomeName::Failed);
    let told = ChannelRequest::TurnComplete {
        agent_id: run.agent.clone(),
        run_id: Some(run.id()),
        outcome: report.outcome(front.dirigent.settings()),
        delivered_message_ids: Vec::new(),
    };
    let answer = front.dirigent.channel(run.channel).request(&told).await?;
    let ChannelAnswer::Ended(answer) = answer else { return Err(Problem::strange()) };
    // A repeated end must not mark the messages of a run that began since then.
    if answer.accepted && !answer.duplicate && !is_failed {
        front.given.read(&run.agent, run.channel);
    }
    Ok(Json(Ended { accepted: answer.accepted, duplicate: answer.duplicate }))
}

/// Ends the run of an agent in a seat with these words. Dirigent posts them once, also if this is asked again.
#[utoipa::path(post, path = "/say", request_body = Say, responses((status = 200, body = Ended), (status = "4XX", body = Problem), (status = "5XX", body = Problem)))]
pub(crate) async fn say(
    State(front): State<Arc<FrontParts>>,
    Extension(asker): Extension<Arc<Asker>>,
    body: Asked<Say>,
) -> Result<Json<Ended>, Problem> {
    let Json(Say { agent, channel, run, text }) = body?;
    let run = Run::of(&asker, &agent, &channel, run)?;
    if !front.seats.has(&run.agent) {
        let detail = "this agent posts by itself: use /v1/end, and post if that is accepted";
        return Err(Problem::new(StatusCode::CONFLICT, "urn:dirigent:problem:no-seat", detail));
    }
    Ok(Json(end_in_seat(&front, &run, Ok(Reply::text(text))).await))
}

/// Returns once the end is stored, or after five seconds.
pub(crate) async fn end_in_seat(
    front: &FrontParts,
    run: &Run,
    answer: Result<Reply, AgentError>,
) -> Ended {
    let mut events = front.dirigent.events();
    let taken = front.seats.end((&run.agent, run.channel, &run.name), answer);
    if taken == Taken::Now {
        // The driver reports a change once it is stored.
        let stored = async {
            while let Some(heard) = events.next().await {
                let is_here =
                    matches!(&heard, EventOrLag::Transition(it) if it.channel == run.channel);
                if is_here || matches!(heard, EventOrLag::Lagged(_)) {
                    return;
                }
            }
        };
        let until = front.clock.now() + STORED_WITHIN;
        tokio::select! {
            () = stored => {}
            () = front.clock.sleep_until(until) => {}
        }
    }
    Ended { accepted: taken != Taken::Not, duplicate: taken == Taken::Before }
}

/// Reports that these agents are alive. Send it every few seconds for agents that are connected. If the settings watch
/// heartbeats, an agent without them is skipped until its next one.
#[utoipa::path(post, path = "/heartbeat", request_body = Heartbeat, responses((status = 200, body = Done), (status = "4XX", body = Problem), (status = "5XX", body = Problem)))]
pub(crate) async fn heartbeat(
    State(front): State<Arc<FrontParts>>,
    Extension(asker): Extension<Arc<Asker>>,
    body: Asked<Heartbeat>,
) -> Result<Json<Done>, Problem> {
    let Json(Heartbeat { agents }) = body?;
    let agents: Vec<_> = agents.iter().map(|it| bound(&asker, it)).collect::<Result<_, _>>()?;
    for agent in &agents {
        front.dirigent.heartbeat(agent).await?;
    }
    Ok(Json(Done {}))
}
