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
        file.rules = choices.over_all(&file.rules)?;
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
            tell(*claim, &inquiry, &told, &names, out)?;
        }
        let rules = match &self.file {
            Some(file) => format!("the rules of {}", file.display()),
            None => "the default rules (name a file after prove for its own)".to_owned(),
        };
        bounds(&rules, &inquiry, &told, out)?;
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

/// Tells on the terminal how far it is, and ends it by time. A quarter of the time is kept for worlds drawn by chance.
#[expect(clippy::disallowed_methods, reason = "a person waits for it, and it must end")]
fn watch(limit: Duration) -> impl FnMut(Explored) -> ControlFlow<()> {
    let begin = Instant::now();
    let mut told = Duration::ZERO;
    move |explored| {
        let spent = begin.elapsed();
        if spent.saturating_sub(told) >= TELL {
            told = spent;
            let Explored { states, ahead, depth, worlds, .. } = explored;
            let seconds = spent.as_secs();
            eprintln!(
                "{seconds} s: {states} states, {ahead} ahead, {depth} steps deep; {worlds} long worlds"
            );
        }
        let limit = if explored.is_drawing { limit } else { limit / 4 * 3 };
        if spent >= limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// What is said of a claim for which no way was found that breaks it.
fn unbroken(claim: Claim, inquiry: &Inquiry, told: &Told) -> String {
    let turns = inquiry.turns;
    let is_over = |number: u32| u64::from(number) >= turns;
    let cannot = match claim {
        // An agent that goes on is called several times in a turn.
        Claim::CallsWithoutPerson(calls) => is_over(calls) && !inquiry.goes_on,
        Claim::Waits(number) => is_over(number),
        Claim::Heard | Claim::AddressedNext | Claim::Rests | Claim::AnsweredWithin(_) => false,
    };
    if cannot && told.explored.states > 0 {
        return format!(
            "was not broken, and cannot break within {turns} turns: only the long conversations tell, or more --turns"
        );
    }
    if !told.is_whole {
        return "was not broken, and not everything within the bounds was explored".to_owned();
    }
    let holds = "holds in every order of events within the bounds below";
    if matches!(claim, Claim::AnsweredWithin(number) if is_over(number)) {
        return format!(
            "{holds}, where {turns} turns are too few to wait for an answer: no channel became dormant over a word"
        );
    }
    holds.to_owned()
}

fn tell(
    claim: Claim,
    inquiry: &Inquiry,
    told: &Told,
    names: &[AgentId],
    out: &mut dyn Write,
) -> Result<(), Error> {
    let Some(broken) = told.broken.iter().find(|broken| broken.claim == claim) else {
        writeln!(out, "{claim}: {}", unbroken(claim, inquiry, told))?;
        return Ok(());
    };
    let length = if broken.is_shortest { "the shortest way" } else { "a way" };
    writeln!(out, "{claim}: broken; {length}:")?;
    let name = |key: AgentKey| {
        let name = usize::try_from(key.get()).ok().and_then(|at| names.get(at));
        name.map_or_else(|| key.to_string(), ToString::to_string)
    };
    let steps = broken.told(&name);
    let left = steps.len().saturating_sub(2 * SHOWN);
    for (at, step) in steps.iter().enumerate() {
        if left > 0 && (SHOWN..SHOWN + left).contains(&at) {
            if at == SHOWN {
                writeln!(out, "  … {left} steps more")?;
            }
            continue;
        }
        writeln!(out, "  {step}")?;
    }
    Ok(())
}

/// What was explored, and what was not.
fn bounds(rules: &str, inquiry: &Inquiry, told: &Told, out: &mut dyn Write) -> Result<(), Error> {
    let Inquiry { agents, words, turns, failures, shuffles, .. } = inquiry;
    let Explored { states, ahead, depth, worlds, .. } = told.explored;
    writeln!(out, "\nexplored under {rules}, {agents} agents in a chat:")?;
    if states > 0 {
        let left = || format!("not all of it: {ahead} states were left");
        let whole = if told.is_whole { "all of it".to_owned() } else { left() };
        writeln!(
            out,
            "  every order of {words} words of people, {turns} turns, {failures} failures, in {shuffles} sequences of shuffles:\n  \
             {states} states, up to {depth} steps deep; {whole}"
        )?;
    }
    let is_open = told.broken.len() < inquiry.claims.len() && worlds < inquiry.worlds;
    let ended = if is_open { ", ended by time" } else { "" };
    writeln!(
        out,
        "  {worlds} long conversations drawn by chance, up to 400 steps each, with {failures} failures in a row{ended}"
    )?;
    writeln!(
        out,
        "not explored: other sequences of shuffles, agents that name the next speaker, ask people, repeat themselves, come and go\n  \
         or ask of their own accord, words between a reply and its arrival, time that passes while an agent works, operators,\n  \
         events that are lost, late or repeated, restarts, outages, discussions, budgets of cost, and what a text says"
    )?;
    Ok(())
}
