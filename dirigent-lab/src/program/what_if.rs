//! The command `dirigent what-if`, which prints an evening under other rules.

use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use dirigent::replay::ReplayedStep;
use dirigent_core::{AgentKey, Author, Cause, Effect, Input, MessageKind, Outcome, PhaseKind};
use dirigent_store::ChannelRecording;

use super::compare::{Compared, Names, assumption, name_of};
use super::file::{Error, named, names, recording};
use crate::what_if::figures::is_rest;
use crate::what_if::script::is_reply;
use crate::{Assumption, Played, RuleChoices};

/// The most columns of a score in the terminal.
const WIDTH: usize = 100;

/// The arguments of `dirigent what-if`.
#[derive(Clone, Debug, Args)]
#[non_exhaustive]
pub struct WhatIfFlags {
    /// A file that `ChannelRecording::save` wrote.
    #[arg(value_name = "RECORDING")]
    pub recording: PathBuf,
    /// A rule to change, for example `people.mentions=only`. Give it again for further rules of the same rule set.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<RuleChoices>,
    /// A further rule set with a column of its own, for example `order.skip_passed=true,ceilings.chat.cycles=3`.
    #[arg(long, value_name = "NAME=VALUE,…")]
    pub also: Vec<RuleChoices>,
    /// The answer of an agent that is asked as it was not then: `pass`, or `next` if it says what it said next.
    #[arg(long, value_name = "pass|next", default_value = "pass", value_parser = assumption)]
    pub assume: Assumption,
    /// Write the scores above each other, and the figures, into one HTML file.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write the evening under the first rule set as a recording, for example for `dirigent trace`.
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
}

/// A mark in the line of an agent, or of people.
type Event = (Option<AgentKey>, char);

impl WhatIfFlags {
    /// Plays the recording under its own rules and under each rule set, and prints the differences.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be read or written, if a rule does not exist, or if the writer fails.
    pub fn run(&self, out: &mut dyn Write) -> Result<(), Error> {
        let wrong = |error: &dyn std::fmt::Display| named(&self.recording, error);
        let recording = recording(&self.recording).map_err(|error| wrong(&error))?;
        let mut own = RuleChoices::default();
        own.extend(self.set.iter().cloned());
        let is_own = self.set.is_empty() && self.save.is_none();
        let sets = (!is_own).then_some(own).into_iter().chain(self.also.iter().cloned());
        let compared = Compared::of(&recording.recorded, sets, self.assume)?;
        let name = names(&recording);
        out.write_all(told(&compared, &name)?.as_bytes())?;
        if let Some(file) = &self.html {
            let page = compared.drawn(&name)?.html("What if");
            std::fs::write(file, page).map_err(|error| named(file, &error))?;
        }
        if let (Some(file), Some(column)) = (&self.save, compared.columns.get(1)) {
            let recorded = column.played.recording.clone();
            let agents = recording.agents.clone();
            ChannelRecording::new(recording.channel, agents, recorded).save(file)?;
        }
        Ok(())
    }
}

/// Returns the evenings for the terminal: scores, figures, and the points at which they take another way.
fn told(compared: &Compared, name: Names<'_>) -> Result<String, Error> {
    let mut text = String::new();
    for column in &compared.columns {
        writeln!(text, "{}", column.name)?;
        text.push_str(&lines(&column.played, name)?);
        text.push('\n');
    }
    text.push_str(
        "█ speaks   · passes   x fails   P a person writes   | the channel becomes dormant\n\n",
    );
    text.push_str(&table(compared, name)?);
    for note in compared.notes() {
        writeln!(text, "\n{note}")?;
    }
    for column in &compared.columns {
        let ways = compared.ways(column, name);
        if !ways.is_empty() {
            writeln!(text, "\n{}: where the evening takes another way", column.name)?;
        }
        for way in ways {
            writeln!(text, "  {way}")?;
        }
    }
    Ok(text)
}

/// Returns the figures as a table with one row for each.
fn table(compared: &Compared, name: Names<'_>) -> Result<String, Error> {
    let (columns, rows) = (&compared.columns, compared.figures(name));
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

/// Returns the score of an evening for the terminal. It has a line for each agent, and a column for each turn.
fn lines(played: &Played, name: Names<'_>) -> Result<String, Error> {
    let mut events: Vec<Event> = Vec::new();
    for step in played.recording.steps()? {
        tell(&step, &mut events);
    }
    let agents: std::collections::BTreeSet<AgentKey> =
        events.iter().filter_map(|(agent, _)| *agent).collect();
    let width = agents.iter().map(|agent| name_of(name, *agent).chars().count()).max().unwrap_or(0);
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
            writeln!(text, "  {:width$}  {}", name_of(name, *agent), marks.trim_end())?;
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
