//! Compares a recorded evening with the same evening under other rules.

use std::collections::BTreeMap;

use dirigent::AgentId;
use dirigent::replay::{RecordedChannel, Trace};
use dirigent_control::drawing::{Score, WhatIf, WhatIfAsked, WhatIfEvening, WhatIfFigure};
use dirigent_core::{AgentKey, Cause};

use super::file::Error;
use crate::what_if::figures::AgentFigures;
use crate::{Assumption, Evening, Played, RuleChoices};

/// The most points that are listed. Further ones are only counted.
const LISTED: usize = 12;

/// The most rule sets that [`compare`] plays.
const SETS_MAX: usize = 4;

/// The most inputs of a recording that [`compare`] plays. A replay shows as many.
const INPUTS_MAX: usize = 20_000;

/// Returns the names of agents.
pub(super) type Names<'a> = &'a dyn Fn(AgentKey) -> Option<AgentId>;

/// Reads the answer of an agent that is asked as it was not then.
pub(super) fn assumption(text: &str) -> Result<Assumption, String> {
    match text {
        "pass" => Ok(Assumption::Passes),
        "next" => Ok(Assumption::AnswersAsNext),
        _ => Err("write pass or next".to_owned()),
    }
}

/// Plays a recording under other rules, for the control page: pass it to `ControlBuilder::what_if` of `dirigent-control`.
///
/// The work is limited because a visitor asks for it: at most 4 rule sets, and recordings of at most 20,000 inputs. One rule set
/// takes about a second of a core for such a recording.
///
/// # Errors
///
/// Returns a sentence for people if a rule or the assumption does not exist, if the recording cannot be restored, or if it exceeds a
/// limit.
pub fn compare(
    recorded: &RecordedChannel,
    name: &dyn Fn(AgentKey) -> Option<AgentId>,
    asked: &WhatIfAsked,
) -> Result<WhatIf, String> {
    if recorded.inputs.len() > INPUTS_MAX {
        return Err(format!(
            "the recording has more than {INPUTS_MAX} inputs: use dirigent what-if"
        ));
    }
    let lines = asked.set.lines().map(str::trim).filter(|line| !line.is_empty());
    let sets: Result<Vec<RuleChoices>, _> = lines.map(str::parse).collect();
    let sets = sets.map_err(|error| error.to_string())?;
    if sets.len() > SETS_MAX {
        return Err(format!("these are more than {SETS_MAX} rule sets"));
    }
    let assume = if asked.assume.is_empty() { "pass" } else { &asked.assume };
    let compared = Compared::of(recorded, sets, assumption(assume)?);
    let compared = compared.map_err(|error| error.to_string())?;
    compared.drawn(name).map_err(|error| error.to_string())
}

/// An evening under one rule set.
pub(super) struct Column {
    pub(super) name: String,
    pub(super) played: Played,
}

/// An evening under several rule sets. Its own rules come first.
pub(super) struct Compared {
    evening: Evening,
    pub(super) columns: Vec<Column>,
    caveats: Vec<String>,
}

impl Compared {
    pub(super) fn of(
        recorded: &RecordedChannel,
        sets: impl IntoIterator<Item = RuleChoices>,
        assumption: Assumption,
    ) -> Result<Self, Error> {
        let evening = Evening::of(recorded)?;
        let then = evening.under(&RuleChoices::default(), Assumption::Passes)?;
        let mut columns = vec![Column { name: "as recorded".to_owned(), played: then }];
        let mut caveats = Vec::new();
        for choices in sets {
            caveats.extend(evening.caveats(&choices));
            let played = evening.under(&choices, assumption)?;
            let name = choices.to_string();
            let name = if name.is_empty() { "played again".to_owned() } else { name };
            columns.push(Column { name, played });
        }
        Ok(Self { evening, columns, caveats })
    }

    /// Returns the evenings as a part of a page: scores, points at which they take another way, and figures.
    pub(super) fn drawn(&self, name: Names<'_>) -> Result<WhatIf, Error> {
        let evenings = self.columns.iter().map(|column| {
            let trace = Trace::of(&column.played.recording, name)?;
            let score = Score::of(trace.entries(), name, None).sheet();
            Ok(WhatIfEvening { name: column.name.clone(), score, ways: self.ways(column, name) })
        });
        let evenings = evenings.collect::<Result<_, Error>>()?;
        let figures = self.figures(name);
        let figures = figures.into_iter().map(|(name, values)| WhatIfFigure { name, values });
        Ok(WhatIf { evenings, figures: figures.collect(), notes: self.notes() })
    }

    /// Returns what limits the comparison, in sentences.
    pub(super) fn notes(&self) -> Vec<String> {
        let then = self.columns.first().and_then(|then| then.played.departs_at());
        let differs = then.map(|at| {
            let at = at.since(self.evening.begins());
            format!(
                "Under its own rules the evening is not the recorded one from {at:?} on: compare the columns with one another."
            )
        });
        let caveats = self.caveats.iter().map(|caveat| format!("Note: {caveat}."));
        differs.into_iter().chain(caveats).collect()
    }

    /// Returns the points at which an evening takes another way, each with the assumption by which it goes on.
    pub(super) fn ways(&self, column: &Column, name: Names<'_>) -> Vec<String> {
        let (played, begins) = (&column.played, self.evening.begins());
        let (other_ways, unsaid) = (&played.other_ways, &played.unsaid);
        let taken = other_ways.iter().take(LISTED).map(|way| {
            format!("after {:?} {} {}", way.at.since(begins), name_of(name, way.agent), way.what)
        });
        let missing = unsaid.iter().take(LISTED).map(|(at, agent)| {
            let at = at.since(begins);
            format!("{} does not say what it said after {at:?}", name_of(name, *agent))
        });
        let left = other_ways.len().saturating_sub(LISTED) + unsaid.len().saturating_sub(LISTED);
        let left = (left > 0).then(|| format!("and {left} more"));
        let cut = "it would have gone on for longer, and was ended".to_owned();
        let cut = played.is_cut.then_some(cut);
        taken.chain(missing).chain(left).chain(cut).collect()
    }

    /// Returns the figures, each with one value for each evening.
    pub(super) fn figures(&self, name: Names<'_>) -> Vec<(String, Vec<String>)> {
        let mut rows: Vec<(String, Vec<String>)> = Vec::new();
        let mut row = |name: &str, figure: &dyn Fn(&Played) -> String| {
            let values = self.columns.iter().map(|column| figure(&column.played));
            rows.push((name.to_owned(), values.collect()));
        };
        row("words of people", &|played| played.figures.words.to_string());
        row("model calls", &|played| played.figures.calls.to_string());
        row("turns with words", &|played| played.figures.spoke.to_string());
        row("turns passed", &|played| played.figures.passed.to_string());
        row("turns failed", &|played| played.figures.failed.to_string());
        row("words unanswered", &|played| played.figures.unanswered.to_string());
        row("calls to an answer", &|played| {
            let mean = played.figures.answered.mean_calls();
            mean.map_or_else(|| "-".to_owned(), |mean| format!("{mean:.1}"))
        });
        row("seconds to an answer", &|played| {
            let millis = played.figures.answered.mean_millis();
            let seconds = |millis| format!("{}.{}", millis / 1_000, millis % 1_000 / 100);
            millis.map_or_else(|| "-".to_owned(), seconds)
        });
        for agent in self.evening.agents() {
            let figures = |agents: &BTreeMap<AgentKey, AgentFigures>| {
                agents.get(&agent).copied().unwrap_or_default()
            };
            row(&format!("{}: spoke of calls", name_of(name, agent)), &|played| {
                let AgentFigures { calls, spoke, .. } = figures(&played.figures.agents);
                format!("{spoke} of {calls}")
            });
        }
        row("turns as recorded", &|played| played.taken.to_string());
        row("of these after other words", &|played| played.taken_after_other_words.to_string());
        row("turns assumed", &|played| played.other_ways.len().to_string());
        row("recorded words not said", &|played| played.unsaid.len().to_string());
        row("ends", &|played| played.figures.rests.map_or("awake", Cause::as_str).to_owned());
        rows
    }
}

pub(super) fn name_of(name: Names<'_>, key: AgentKey) -> String {
    name(key).map_or_else(|| key.to_string(), |id| id.to_string())
}
