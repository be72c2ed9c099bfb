//! `dirigent prove`: can it ever happen, under the rules and with the agents of a file?

use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use dirigent::replay::Trace;
use dirigent::{AgentId, ChannelId};
use dirigent_core::AgentKey;
use dirigent_store::ChannelRecording;

use super::file::{Error, File};
use crate::{Broken, Claim, Explored, Inquiry, RuleChoices, Told};

/// How often a long run says how far it is.
const TELL: Duration = Duration::from_secs(5);

/// The steps that are shown at either end of a long way.
const SHOWN: usize = 20;

/// What `dirigent prove` is given.
#[derive(Clone, Debug, Args)]
#[non_exhaustive]
pub struct ProveFlags {
    /// The moderator's file; its rules and its agents are taken. Without it: the default rules, and two agents.
    #[arg(value_name = "CONFIG")]
    pub file: Option<PathBuf>,
    /// What is claimed: heard, addressed-next, calls-without-person=N, waits=N, rests or answered-within=N. Give it again for more.
    #[arg(long = "claim", value_name = "CLAIM", required = true)]
    pub claims: Vec<Claim>,
    /// A rule that is other than in the file, for example `people.mentions=only`.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<RuleChoices>,
    /// How many agents are in the room, in the place of those of the file.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(2..=64))]
    pub agents: Option<u32>,
    /// Most messages of people in a small room.
    #[arg(long, value_name = "NUMBER", default_value_t = 2)]
    pub words: u32,
    /// Most turns in a small room that break off, or whose agent never answers.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub failures: u32,
    /// Most turns in a small room. Default twice as many as agents, and one.
    #[arg(long, value_name = "NUMBER")]
    pub turns: Option<u64>,
    /// The seconds after which it ends.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub seconds: u64,
    /// Write the first way on which a claim breaks as a recording, for `dirigent replay` and the control page.
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Write that way as a Mermaid sequence diagram.
    #[arg(long, value_name = "FILE")]
    pub mermaid: Option<PathBuf>,
}

impl ProveFlags {
    /// Looks for ways on which the claims break, and prints what was found and how far it was looked. Says whether all of them hold.
    ///
    /// # Errors
    ///
    /// A file that cannot be read or written, a rule that is none, or a writer that fails.
    pub fn run(&self, out: &mut dyn Write) -> Result<bool, Error> {
        let mut file = self.file.as_deref().map(File::read).transpose()?.unwrap_or_default();
        let mut choices = RuleChoices::default();
        choices.extend(self.set.iter().cloned());
        file.rules.config = choices.over(&file.rules.config)?;
        let agents = self.agents.unwrap_or_else(|| file.agents());
        let mut inquiry = Inquiry::new(&file.rules, agents, self.claims.clone());
        (inquiry.words, inquiry.failures) = (self.words, self.failures);
        inquiry.turns = self.turns.unwrap_or(inquiry.turns);
        let told = inquiry.ask(&mut watch(Duration::from_secs(self.seconds)));
        let mut names: Vec<AgentId> =
            file.agents.iter().map(|agent| agent.name.as_str().into()).collect();
        names.truncate(agents as usize);
        let more = names.len()..agents as usize;
        names.extend(more.map(|at| AgentId::from(format!("agent-{at}").as_str())));
        for claim in &self.claims {
            tell(*claim, &told, &names, out)?;
        }
        bounds(&inquiry, &told, out)?;
        if let Some(broken) = told.broken.first() {
            self.keep(broken, &names)?;
        }
        Ok(told.broken.is_empty())
    }

    /// Writes the files that were asked for.
    fn keep(&self, broken: &Broken, names: &[AgentId]) -> Result<(), Error> {
        if let Some(file) = &self.save {
            let recorded = broken.recording.clone();
            ChannelRecording::new(ChannelId::new(1), names.to_vec(), recorded).save(file)?;
        }
        if let Some(file) = &self.mermaid {
            let name = |key: AgentKey| names.get(usize::try_from(key.get()).ok()?).cloned();
            std::fs::write(file, Trace::of(&broken.recording, name)?.mermaid())?;
        }
        Ok(())
    }
}

/// Tells on the terminal how far it is, and ends it by time.
#[expect(clippy::disallowed_methods, reason = "a person waits for it, and it must end")]
fn watch(limit: Duration) -> impl FnMut(Explored) -> ControlFlow<()> {
    let begin = Instant::now();
    let mut told = Duration::ZERO;
    move |Explored { states, ahead, depth, worlds, .. }| {
        let spent = begin.elapsed();
        if spent.saturating_sub(told) >= TELL {
            told = spent;
            let seconds = spent.as_secs();
            eprintln!(
                "{seconds} s: {states} states, {ahead} ahead, {depth} steps deep; {worlds} long worlds"
            );
        }
        if spent >= limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

fn tell(claim: Claim, told: &Told, names: &[AgentId], out: &mut dyn Write) -> Result<(), Error> {
    let Some(broken) = told.broken.iter().find(|broken| broken.claim == claim) else {
        let how = match told {
            Told { is_whole: true, .. } => "holds in every order of events within the bounds below",
            _ => "was not broken, and not everything within the bounds was explored",
        };
        writeln!(out, "{claim}: {how}")?;
        return Ok(());
    };
    let length = if broken.is_shortest { "the shortest way" } else { "a way, shrunk" };
    writeln!(out, "{claim}: broken; {length}:")?;
    let left = broken.steps.len().saturating_sub(2 * SHOWN);
    for (at, step) in broken.steps.iter().enumerate() {
        if left > 0 && (SHOWN..SHOWN + left).contains(&at) {
            if at == SHOWN {
                writeln!(out, "  … {left} steps more")?;
            }
            continue;
        }
        let mut step = step.clone();
        // The longest names first, since agent-1 begins agent-10.
        for (at, name) in names.iter().enumerate().rev() {
            step = step.replace(&AgentKey::new(u32::try_from(at)?).to_string(), name.as_str());
        }
        writeln!(out, "  {step}")?;
    }
    Ok(())
}

/// What was explored, and what was not.
fn bounds(inquiry: &Inquiry, told: &Told, out: &mut dyn Write) -> Result<(), Error> {
    let Inquiry { agents, words, turns, failures, shuffles, .. } = inquiry;
    let Explored { states, ahead, depth, worlds, .. } = told.explored;
    let ended = if told.is_ended { ", ended by time" } else { "" };
    writeln!(out, "\nexplored, {agents} agents in a chat:")?;
    if states > 0 {
        let left = || format!("not all of it: {ahead} states were left{ended}");
        let whole = if told.is_whole { "all of it".to_owned() } else { left() };
        writeln!(
            out,
            "  every order of {words} words of people, {turns} turns, {failures} failures, in {shuffles} sequences of shuffles:\n  \
             {states} states, up to {depth} steps deep; {whole}"
        )?;
    }
    writeln!(
        out,
        "  {worlds} long conversations drawn by chance, up to 400 steps each, with {failures} failures in a row{ended}"
    )?;
    writeln!(
        out,
        "not explored: other sequences of shuffles, operators, agents that come and go or ask of their own accord, events that\n  \
         are lost, late or repeated, restarts, outages, discussions, budgets of cost, and what a text says"
    )?;
    Ok(())
}
