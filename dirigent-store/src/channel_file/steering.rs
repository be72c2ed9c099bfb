//! What is beyond the plain rotation, as it stands in a file. Absent is what is empty.

use dirigent_core::{
    AgentKey, Away, Budget, MessageId, Outage, Outcome, Rested, RunId, Span, SpokenTurn, Steering,
    Tail, Ticket, TurnTerms, Waiting,
};
use serde::{Deserialize, Serialize};

use super::scalar::{Id, Millis, TailText};
use super::snapshot::is_default;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SteeringFile {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    terms: Option<TermsFile>,
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
    #[serde(default, skip_serializing_if = "is_default")]
    awaits_human: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    spoken: Vec<SpokenFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    budget: Option<BudgetFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    outage: Option<OutageFile>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct OutageFile {
    since: Millis,
    counted_from: Millis,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TermsFile {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until: Option<Millis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    slow_at: Option<Millis>,
    #[serde(default, skip_serializing_if = "is_default")]
    spoken: bool,
    continued: u8,
    #[serde(default, skip_serializing_if = "is_default")]
    awaits_human: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct SpanFile {
    first: Id,
    last: Id,
}

#[derive(Debug, Serialize, Deserialize)]
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
        #[serde(default, skip_serializing_if = "is_default")]
        replied: bool,
    },
    Continuing,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum OutcomeFile {
    Pass,
    Spoke {
        tail: TailText,
    },
    Unfinished {
        tail: TailText,
    },
    AwaitsHuman {
        tail: TailText,
    },
    Failed,
    /// One that is newer than this crate: it cannot be written.
    #[serde(skip)]
    Newer,
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

#[derive(Debug, Serialize, Deserialize)]
struct BudgetFile {
    turns: u32,
    cycles: u32,
    cost: Id,
    announced: bool,
}

impl From<&Steering> for SteeringFile {
    fn from(steering: &Steering) -> Self {
        let keys = |round: &[AgentKey]| round.iter().map(|agent| agent.get()).collect();
        let Steering { terms, waiting, held, away, chosen, round, next_round, .. } = steering;
        let Steering { awaits_human, spoken, budget, outage, .. } = steering;
        Self {
            terms: (*terms != TurnTerms::default()).then(|| (*terms).into()),
            waiting: waiting.as_ref().map(WaitingFile::from),
            held: held.map(SpanFile::from),
            away: away.iter().map(AwayFile::from).collect(),
            chosen: chosen.map(AgentKey::get),
            round: keys(round),
            next_round: keys(next_round),
            awaits_human: *awaits_human,
            spoken: spoken.iter().map(SpokenFile::from).collect(),
            budget: (*budget != Budget::default()).then(|| (*budget).into()),
            outage: outage.map(OutageFile::from),
        }
    }
}

impl From<SteeringFile> for Steering {
    fn from(file: SteeringFile) -> Self {
        let agents = |round: Vec<u32>| round.into_iter().map(AgentKey::new).collect();
        Self {
            terms: file.terms.map(TurnTerms::from).unwrap_or_default(),
            waiting: file.waiting.map(Waiting::from),
            held: file.held.map(Span::from),
            away: file.away.into_iter().map(Away::from).collect(),
            chosen: file.chosen.map(AgentKey::new),
            round: agents(file.round),
            next_round: agents(file.next_round),
            awaits_human: file.awaits_human,
            spoken: file.spoken.into_iter().map(SpokenTurn::from).collect(),
            budget: file.budget.map(Budget::from).unwrap_or_default(),
            outage: file.outage.map(Outage::from),
        }
    }
}

impl From<Outage> for OutageFile {
    fn from(outage: Outage) -> Self {
        Self { since: Millis(outage.since), counted_from: Millis(outage.counted_from) }
    }
}

impl From<OutageFile> for Outage {
    fn from(file: OutageFile) -> Self {
        Self { since: file.since.0, counted_from: file.counted_from.0 }
    }
}

impl From<TurnTerms> for TermsFile {
    fn from(terms: TurnTerms) -> Self {
        let TurnTerms { until, slow_at, spoken, continued, awaits_human } = terms;
        let (until, slow_at) = (until.map(Millis), slow_at.map(Millis));
        Self { until, slow_at, spoken, continued, awaits_human }
    }
}

impl From<TermsFile> for TurnTerms {
    fn from(file: TermsFile) -> Self {
        let TermsFile { until, slow_at, spoken, continued, awaits_human } = file;
        let (until, slow_at) = (until.map(|at| at.0), slow_at.map(|at| at.0));
        Self { until, slow_at, spoken, continued, awaits_human }
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

impl From<&Waiting> for WaitingFile {
    fn from(waiting: &Waiting) -> Self {
        Self {
            rested: waiting.rested.into(),
            since: Millis(waiting.since),
            consult: waiting.consult.get(),
            until: Millis(waiting.until),
            asked: waiting.asked.into(),
            more: waiting.more.map(SpanFile::from),
            unanswered: waiting.unanswered.map(SpanFile::from),
            end: waiting.end.as_ref().map(OutcomeFile::from),
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
            Rested::Running { run, anchor, until, receipt, replied } => Self::Running {
                run: run.map(|run| Id(run.get())),
                anchor: anchor.map(|message| Id(message.get())),
                until: until.map(Millis),
                receipt,
                replied,
            },
            Rested::Continuing => Self::Continuing,
        }
    }
}

impl From<RestedFile> for Rested {
    fn from(file: RestedFile) -> Self {
        match file {
            RestedFile::Granted { attempt } => Self::Granted { attempt },
            RestedFile::Running { run, anchor, until, receipt, replied } => Self::Running {
                run: run.map(|run| RunId::new(run.0)),
                anchor: anchor.map(|message| MessageId::new(message.0)),
                until: until.map(|at| at.0),
                receipt,
                replied,
            },
            RestedFile::Continuing => Self::Continuing,
        }
    }
}

impl From<&Outcome> for OutcomeFile {
    fn from(outcome: &Outcome) -> Self {
        let text = |tail: &Tail| TailText(*tail);
        match outcome {
            Outcome::Pass => Self::Pass,
            Outcome::Spoke { tail } => Self::Spoke { tail: text(tail) },
            Outcome::Unfinished { tail } => Self::Unfinished { tail: text(tail) },
            Outcome::AwaitsHuman { tail } => Self::AwaitsHuman { tail: text(tail) },
            Outcome::Failed => Self::Failed,
            _ => Self::Newer,
        }
    }
}

impl From<OutcomeFile> for Outcome {
    fn from(file: OutcomeFile) -> Self {
        match file {
            OutcomeFile::Pass => Self::Pass,
            OutcomeFile::Spoke { tail } => Self::Spoke { tail: tail.0 },
            OutcomeFile::Unfinished { tail } => Self::Unfinished { tail: tail.0 },
            OutcomeFile::AwaitsHuman { tail } => Self::AwaitsHuman { tail: tail.0 },
            OutcomeFile::Failed | OutcomeFile::Newer => Self::Failed,
        }
    }
}

impl From<&Away> for AwayFile {
    fn from(away: &Away) -> Self {
        Self { agent: away.agent.get(), offline: away.offline }
    }
}

impl From<AwayFile> for Away {
    fn from(file: AwayFile) -> Self {
        Self { agent: AgentKey::new(file.agent), offline: file.offline }
    }
}

impl From<&SpokenTurn> for SpokenFile {
    fn from(turn: &SpokenTurn) -> Self {
        Self { agent: turn.agent.get(), at: Millis(turn.at) }
    }
}

impl From<SpokenFile> for SpokenTurn {
    fn from(file: SpokenFile) -> Self {
        Self { agent: AgentKey::new(file.agent), at: file.at.0 }
    }
}

impl From<Budget> for BudgetFile {
    fn from(budget: Budget) -> Self {
        let Budget { turns, cycles, cost, announced } = budget;
        Self { turns, cycles, cost: Id(cost), announced }
    }
}

impl From<BudgetFile> for Budget {
    fn from(file: BudgetFile) -> Self {
        let BudgetFile { turns, cycles, cost, announced } = file;
        Self { turns, cycles, cost: cost.0, announced }
    }
}
