//! What people, hosts and options ask of a channel, as it stands in a file.

use dirigent_core::{
    AgentKey, Away, Budget, MessageId, Outcome, Rested, RunId, Span, SpokenTurn, Steering, Ticket,
    TurnTerms, Waiting,
};
use serde::{Deserialize, Serialize};

use super::scalar::{Id, Millis, TailText};
use super::snapshot::is_false;

/// Everything beyond the plain rotation. Absent is what is empty.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SteeringFile {
    #[serde(default, skip_serializing_if = "TermsFile::is_empty")]
    terms: TermsFile,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    waiting: Option<WaitingFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    held: Option<SpanFile>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    away: Vec<AwayFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    chosen: Option<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    round: Vec<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    next_round: Vec<u32>,
    #[serde(default, skip_serializing_if = "is_false")]
    awaits_human: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    spoken: Vec<SpokenFile>,
    #[serde(default, skip_serializing_if = "BudgetFile::is_empty")]
    budget: BudgetFile,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct TermsFile {
    until: Option<Millis>,
    slow_at: Option<Millis>,
    spoken: bool,
    continued: u8,
    awaits_human: bool,
}

impl TermsFile {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The turn that rests until a person was answered.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WaitingFile {
    rested: RestedFile,
    since: Millis,
    consult: u64,
    until: Millis,
    asked: SpanFile,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    more: Option<SpanFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unanswered: Option<SpanFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    end: Option<OutcomeFile>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum RestedFile {
    Granted {
        attempt: u8,
    },
    Running {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<Id>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        anchor: Option<Id>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Millis>,
        receipt: bool,
    },
    Continuing,
}

/// How a run ended.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum OutcomeFile {
    Pass,
    Spoke(TailText),
    Unfinished(TailText),
    AwaitsHuman(TailText),
    Failed,
    /// One that is newer than this store.
    #[serde(skip)]
    Newer,
}

#[derive(Debug, Serialize, Deserialize)]
struct SpanFile {
    first: Id,
    last: Id,
}

#[derive(Debug, Serialize, Deserialize)]
struct AwayFile {
    agent: u32,
    offline: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct SpokenFile {
    agent: u32,
    at: Millis,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct BudgetFile {
    turns: u32,
    cycles: u32,
    cost: u64,
    announced: bool,
}

impl BudgetFile {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

fn keys(agents: &[AgentKey]) -> Vec<u32> {
    agents.iter().map(|agent| agent.get()).collect()
}

fn agents(keys: Vec<u32>) -> Vec<AgentKey> {
    keys.into_iter().map(AgentKey::new).collect()
}

impl From<&Steering> for SteeringFile {
    fn from(steering: &Steering) -> Self {
        let away = |away: &Away| AwayFile { agent: away.agent.get(), offline: away.offline };
        let spoken =
            |turn: &SpokenTurn| SpokenFile { agent: turn.agent.get(), at: Millis(turn.at) };
        let TurnTerms { until, slow_at, spoken: has_spoken, continued, awaits_human } =
            steering.terms;
        let Budget { turns, cycles, cost, announced } = steering.budget;
        Self {
            terms: TermsFile {
                until: until.map(Millis),
                slow_at: slow_at.map(Millis),
                spoken: has_spoken,
                continued,
                awaits_human,
            },
            waiting: steering.waiting.as_ref().map(WaitingFile::from),
            held: steering.held.map(SpanFile::from),
            away: steering.away.iter().map(away).collect(),
            chosen: steering.chosen.map(AgentKey::get),
            round: keys(&steering.round),
            next_round: keys(&steering.next_round),
            awaits_human: steering.awaits_human,
            spoken: steering.spoken.iter().map(spoken).collect(),
            budget: BudgetFile { turns, cycles, cost, announced },
        }
    }
}

impl From<SteeringFile> for Steering {
    fn from(file: SteeringFile) -> Self {
        let key = AgentKey::new;
        let away = |away: AwayFile| Away { agent: key(away.agent), offline: away.offline };
        let spoken = |turn: SpokenFile| SpokenTurn { agent: key(turn.agent), at: turn.at.0 };
        let BudgetFile { turns, cycles, cost, announced } = file.budget;
        Self {
            terms: TurnTerms {
                until: file.terms.until.map(|at| at.0),
                slow_at: file.terms.slow_at.map(|at| at.0),
                spoken: file.terms.spoken,
                continued: file.terms.continued,
                awaits_human: file.terms.awaits_human,
            },
            waiting: file.waiting.map(Waiting::from),
            held: file.held.map(Span::from),
            away: file.away.into_iter().map(away).collect(),
            chosen: file.chosen.map(key),
            round: agents(file.round),
            next_round: agents(file.next_round),
            awaits_human: file.awaits_human,
            spoken: file.spoken.into_iter().map(spoken).collect(),
            budget: Budget { turns, cycles, cost, announced },
        }
    }
}

impl From<&Waiting> for WaitingFile {
    fn from(waiting: &Waiting) -> Self {
        let Waiting { rested, since, consult, until, asked, more, unanswered, end } = waiting;
        Self {
            rested: (*rested).into(),
            since: Millis(*since),
            consult: consult.get(),
            until: Millis(*until),
            asked: (*asked).into(),
            more: more.map(SpanFile::from),
            unanswered: unanswered.map(SpanFile::from),
            end: end.as_ref().map(OutcomeFile::from),
        }
    }
}

impl From<WaitingFile> for Waiting {
    fn from(file: WaitingFile) -> Self {
        Self {
            rested: file.rested.into(),
            since: file.since.0,
            consult: Ticket::new(file.consult),
            until: file.until.0,
            asked: file.asked.into(),
            more: file.more.map(Span::from),
            unanswered: file.unanswered.map(Span::from),
            end: file.end.map(Outcome::from),
        }
    }
}

impl From<Rested> for RestedFile {
    fn from(rested: Rested) -> Self {
        match rested {
            Rested::Granted { attempt } => Self::Granted { attempt },
            Rested::Running { run, anchor, until, receipt } => Self::Running {
                run: run.map(|run| Id(run.get())),
                anchor: anchor.map(|anchor| Id(anchor.get())),
                until: until.map(Millis),
                receipt,
            },
            Rested::Continuing => Self::Continuing,
        }
    }
}

impl From<RestedFile> for Rested {
    fn from(file: RestedFile) -> Self {
        match file {
            RestedFile::Granted { attempt } => Self::Granted { attempt },
            RestedFile::Running { run, anchor, until, receipt } => Self::Running {
                run: run.map(|run| RunId::new(run.0)),
                anchor: anchor.map(|anchor| MessageId::new(anchor.0)),
                until: until.map(|until| until.0),
                receipt,
            },
            RestedFile::Continuing => Self::Continuing,
        }
    }
}

impl From<Span> for SpanFile {
    fn from(span: Span) -> Self {
        Self { first: Id(span.first.get()), last: Id(span.last.get()) }
    }
}

impl From<SpanFile> for Span {
    fn from(file: SpanFile) -> Self {
        Self { first: MessageId::new(file.first.0), last: MessageId::new(file.last.0) }
    }
}

impl From<&Outcome> for OutcomeFile {
    fn from(outcome: &Outcome) -> Self {
        match *outcome {
            Outcome::Pass => Self::Pass,
            Outcome::Spoke { tail } => Self::Spoke(TailText(tail)),
            Outcome::Unfinished { tail } => Self::Unfinished(TailText(tail)),
            Outcome::AwaitsHuman { tail } => Self::AwaitsHuman(TailText(tail)),
            Outcome::Failed => Self::Failed,
            _ => Self::Newer,
        }
    }
}

impl From<OutcomeFile> for Outcome {
    fn from(file: OutcomeFile) -> Self {
        match file {
            OutcomeFile::Pass => Self::Pass,
            OutcomeFile::Spoke(tail) => Self::Spoke { tail: tail.0 },
            OutcomeFile::Unfinished(tail) => Self::Unfinished { tail: tail.0 },
            OutcomeFile::AwaitsHuman(tail) => Self::AwaitsHuman { tail: tail.0 },
            OutcomeFile::Failed | OutcomeFile::Newer => Self::Failed,
        }
    }
}
