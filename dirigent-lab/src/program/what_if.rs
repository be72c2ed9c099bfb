//! `dirigent what-if`: an evening under other rules, as a table.

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use dirigent::AgentId;
use dirigent::replay::{ReplayedStep, Trace};
use dirigent_control::drawing::Score;
use dirigent_core::{AgentKey, Author, Cause, Effect, Input, MessageKind, Outcome, PhaseKind};
use dirigent_store::ChannelRecording;

use super::file::Error;
use crate::what_if::figures::{AgentFigures, is_rest};
use crate::what_if::script::is_reply;
use crate::{Assumption, Evening, Played, RuleChoices};

/// The widest line of a score in the terminal.
const WIDTH: usize = 100;

/// The most points at which an evening takes another way that are listed; the others are counted.
const LISTED: usize = 12;

/// What `dirigent what-if` is given.
#[derive(Clone, Debug, Args)]
#[non_exhaustive]
pub struct WhatIfFlags {
    /// A file that `ChannelRecording::save` wrote.
    #[arg(value_name = "RECORDING")]
    pub recording: PathBuf,
    /// A rule that is other than it was, for example `people.mentions=only`. Give it again for further rules of the same set.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<RuleChoices>,
    /// One more set of rules, which gets a column of its own, for example `order.skip_passed=true,ceilings.chat.cycles=3`.
    #[arg(long, value_name = "NAME=VALUE,…")]
    pub also: Vec<RuleChoices>,
    /// What an agent does if it is asked, as it was not then: pass, or say what it said next.
    #[arg(long, value_name = "pass|next", default_value = "pass", value_parser = assumption)]
    pub assume: Assumption,
    /// Write all scores above each other into one HTML file.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write the evening under the first set of rules as a recording, for `dirigent trace` and `dirigent replay`.
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
}

fn assumption(text: &str) -> Result<Assumption, String> {
    match text {
        "pass" => Ok(Assumption::Passes),
        "next" => Ok(Assumption::AnswersAsNext),
        _ => Err("write pass or next".to_owned()),
    }
}

/// A mark in a score, of an agent or of people.
type Event = (Option<AgentKey>, char);

/// A column of the table.
struct Column {
    name: String,
    played: Played,
}

impl WhatIfFlags {
    /// Plays the recording under its own rules and under each set of rules, and prints what differs.
    ///
    /// # Errors
    ///
    /// A file that cannot be read or written, a rule that is none, or a writer that fails.
    pub fn run(&self, out: &mut dyn Write) -> Result<(), Error> {
        let file = &self.recording;
        let text = std::fs::read_to_string(file).map_err(|error| named(file, &error))?;
        let recording = ChannelRecording::parse(&text).map_err(|error| named(file, &error))?;
        let evening = Evening::of(&recording.recorded).map_err(|error| named(file, &error))?;
        let mut own = RuleChoices::default();
        own.extend(self.set.iter().cloned());
        let is_own = self.set.is_empty() && self.save.is_none();
        let sets = (!is_own).then_some(own).into_iter().chain(self.also.iter().cloned());
        let then = evening.under(&RuleChoices::default(), Assumption::Passes)?;
        let mut columns = vec![Column { name: "as recorded".to_owned(), played: then }];
        let mut caveats = Vec::new();
        for choices in sets {
            caveats.extend(evening.caveats(&choices));
            let played = evening.under(&choices, self.assume)?;
            let name = choices.to_string();
            let name = if name.is_empty() { "played again".to_owned() } else { name };
            columns.push(Column { name, played });
        }
        let name = |key: AgentKey| recording.agents.get(usize::try_from(key.get()).ok()?).cloned();
        out.write_all(told(&evening, &columns, &caveats, &name)?.as_bytes())?;
        if let Some(file) = &self.html {
            std::fs::write(file, page(&columns, &name)?).map_err(|error| named(file, &error))?;
        }
        if let (Some(file), Some(column)) = (&self.save, columns.get(1)) {
            let agents = recording.agents.clone();
            let recorded = column.played.recording.clone();
            ChannelRecording::new(recording.channel, agents, recorded).save(file)?;
        }
        Ok(())
    }
}

fn named(file: &Path, error: &dyn std::fmt::Display) -> Error {
    format!("{}: {error}", file.display()).into()
}

fn told(
    evening: &Evening,
    columns: &[Column],
    caveats: &[String],
    name: &dyn Fn(AgentKey) -> Option<AgentId>,
) -> Result<String, Error> {
    let name_of = |key| name(key).map_or_else(|| key.to_string(), |id| id.to_string());
    let mut text = String::new();
    for column in columns {
        writeln!(text, "{}", column.name)?;
        text.push_str(&lines(&column.played, &name_of)?);
        text.push('\n');
    }
    text.push_str(
        "█ speaks   · passes   x fails   P a person writes   | the channel becomes dormant\n\n",
    );
    text.push_str(&table(evening, columns, &name_of)?);
    let then = columns.first();
    if let Some(at) = then.and_then(|then| then.played.departs_at()) {
        let at = at.since(evening.begins());
        writeln!(
            text,
            "\nUnder its own rules the evening is not the recorded one from {at:?} on: compare the columns with one another."
        )?;
    }
    for caveat in caveats {
        writeln!(text, "\nNote: {caveat}.")?;
    }
    for column in columns {
        text.push_str(&ways(evening, column, &name_of)?);
    }
    Ok(text)
}

/// The points at which the evening takes another way.
fn ways(
    evening: &Evening,
    column: &Column,
    name_of: &dyn Fn(AgentKey) -> String,
) -> Result<String, Error> {
    let (mut text, played) = (String::new(), &column.played);
    let begins = evening.begins();
    if !played.other_ways.is_empty() || !played.unsaid.is_empty() {
        writeln!(text, "\n{}: where the evening takes another way", column.name)?;
    }
    for way in played.other_ways.iter().take(LISTED) {
        let at = way.at.since(begins);
        writeln!(text, "  after {at:?} {} {}", name_of(way.agent), way.what)?;
    }
    for (at, agent) in played.unsaid.iter().take(LISTED) {
        let at = at.since(begins);
        writeln!(text, "  {} does not say what it said after {at:?}", name_of(*agent))?;
    }
    let left =
        played.other_ways.len().saturating_sub(LISTED) + played.unsaid.len().saturating_sub(LISTED);
    if left > 0 {
        writeln!(text, "  and {left} more")?;
    }
    if played.is_cut {
        text.push_str("  it would have gone on for longer, and was ended\n");
    }
    Ok(text)
}

/// What can be counted, a row for each figure.
fn table(
    evening: &Evening,
    columns: &[Column],
    name_of: &dyn Fn(AgentKey) -> String,
) -> Result<String, Error> {
    let mut rows: Vec<(String, Vec<String>)> = Vec::new();
    let mut row = |name: &str, figure: &dyn Fn(&Played) -> String| {
        rows.push((name.to_owned(), columns.iter().map(|column| figure(&column.played)).collect()));
    };
    row("words of people", &|played| played.figures.words.to_string());
    row("model calls", &|played| played.figures.calls.to_string());
    row("turns with words", &|played| played.figures.spoke.to_string());
    row("turns passed", &|played| played.figures.passed.to_string());
    row("turns failed", &|played| played.figures.failed.to_string());
    row("words unanswered", &|played| played.figures.unanswered.to_string());
    row("calls to an answer", &|played| {
        played
            .figures
            .answered
            .mean_calls()
            .map_or_else(|| "-".to_owned(), |mean| format!("{mean:.1}"))
    });
    row("seconds to an answer", &|played| {
        let millis = played.figures.answered.mean_millis();
        millis.map_or_else(
            || "-".to_owned(),
            |millis| format!("{}.{}", millis / 1_000, millis % 1_000 / 100),
        )
    });
    for agent in evening.agents() {
        let figures =
            |played: &Played| played.figures.agents.get(&agent).copied().unwrap_or_default();
        row(&format!("{}: spoke of calls", name_of(agent)), &|played| {
            let AgentFigures { calls, spoke, .. } = figures(played);
            format!("{spoke} of {calls}")
        });
    }
    row("turns as recorded", &|played| played.taken.to_string());
    row("of these after other words", &|played| played.taken_after_other_words.to_string());
    row("turns assumed", &|played| played.other_ways.len().to_string());
    row("recorded words not said", &|played| played.unsaid.len().to_string());
    row("ends", &|played| played.figures.rests.map_or("awake", Cause::as_str).to_owned());
    let first = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
    let mut text = format!("{:first$}", "");
    let widths: Vec<usize> = columns
        .iter()
        .map(|column| column.name.chars().count().max("ceiling-reached".len()))
        .collect();
    for (column, width) in columns.iter().zip(&widths) {
        write!(text, "  {:>width$}", column.name)?;
    }
    text.push('\n');
    for (name, cells) in rows {
        write!(text, "{name:first$}")?;
        for (cell, width) in cells.iter().zip(&widths) {
            write!(text, "  {cell:>width$}")?;
        }
        text.push('\n');
    }
    Ok(text)
}

/// An evening as a score for the terminal: a line for each agent, a column for each turn.
fn lines(played: &Played, name_of: &dyn Fn(AgentKey) -> String) -> Result<String, Error> {
    let mut events: Vec<Event> = Vec::new();
    for step in played.recording.steps()? {
        tell(&step, &mut events);
    }
    let agents: std::collections::BTreeSet<AgentKey> =
        events.iter().filter_map(|(agent, _)| *agent).collect();
    let width = agents.iter().map(|agent| name_of(*agent).chars().count()).max().unwrap_or(0);
    let width = width.max("people".len());
    let mut text = String::new();
    for part in events.chunks(WIDTH) {
        let people = |(agent, mark): &Event| if agent.is_none() { *mark } else { ' ' };
        let marks: String = part.iter().map(people).collect();
        writeln!(text, "  {:width$}  {}", "people", marks.trim_end())?;
        for agent in &agents {
            let marks = part.iter().map(|(of, mark)| match of {
                Some(of) if of == agent => *mark,
                None if *mark == '|' => '|',
                _ => ' ',
            });
            let marks: String = marks.collect();
            writeln!(text, "  {:width$}  {}", name_of(*agent), marks.trim_end())?;
        }
    }
    Ok(text)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "a score has words, turns and rests")]
fn tell(step: &ReplayedStep, events: &mut Vec<Event>) {
    match &step.input {
        _ if step.answer.is_err() => {}
        Input::Message(message) | Input::Addressed { message, .. }
            if message.author == Author::Human && message.kind == MessageKind::Conversation =>
        {
            events.push((None, 'P'));
        }
        Input::RunEnded { agent, outcome: Outcome::Pass | Outcome::Repeated, .. } => {
            events.push((Some(*agent), '·'));
        }
        Input::RunEnded { agent, .. } if is_reply(&step.input) => events.push((Some(*agent), '█')),
        _ => {}
    }
    for change in step.effects.iter().filter_map(Effect::transition) {
        let has_failed =
            matches!(change.cause, Cause::RunFailed | Cause::StartTimedOut | Cause::RunTimedOut);
        if has_failed && change.agent.is_some() {
            events.push((change.agent, 'x'));
        }
        if change.to == PhaseKind::Dormant && !is_rest(change.from) {
            events.push((None, '|'));
        }
    }
}

/// All scores above each other.
fn page(columns: &[Column], name: &dyn Fn(AgentKey) -> Option<AgentId>) -> Result<String, Error> {
    let mut page = String::from(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>What if</title>\n<style>body{font-family:sans-serif;margin:2rem}div{overflow-x:auto}</style>\n",
    );
    for column in columns {
        let title = column.name.replace('&', "&amp;").replace('<', "&lt;");
        let trace = Trace::of(&column.played.recording, name)?;
        let score = Score::of(trace.entries(), name, None);
        writeln!(page, "<h2>{title}</h2>\n<div>{}</div>", score.file())?;
    }
    page.push_str("</html>\n");
    Ok(page)
}
