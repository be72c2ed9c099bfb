//! The command `dirigent prove`, which tries to break claims about the rules and agents of a file.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use dirigent::replay::Trace;
use dirigent::{AgentId, ChannelId};
use dirigent_core::AgentKey;
use dirigent_store::ChannelRecording;

use super::file::{Error, File};
use crate::{Broken, Claim, Explored, Inquiry, RuleChoices, Told};

/// The time between two lines about the progress.
const TELL: Duration = Duration::from_secs(5);

/// The number of steps that are printed at either end of a long counterexample.
const SHOWN: usize = 20;

/// The arguments of `dirigent prove`.
#[derive(Clone, Debug, Args)]
#[non_exhaustive]
pub struct ProveFlags {
    /// The moderator's file, for its rules and agents. Without it, the file of `--config` counts, and without that the default rules.
    #[arg(value_name = "CONFIG")]
    pub file: Option<PathBuf>,
    /// A claim: heard, addressed-next, calls-without-person=N, waits=N, rests or answered-within=N. You can give several.
    #[arg(long = "claim", value_name = "CLAIM", required = true)]
    pub claims: Vec<Claim>,
    /// A rule that differs from the file, for example `people.mentions=only`.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<RuleChoices>,
    /// The number of agents in the room. Default: those of the file.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(2..=64))]
    pub agents: Option<u32>,
    /// The most messages of people in a small room.
    #[arg(long, value_name = "NUMBER", default_value_t = 2)]
    pub words: u32,
    /// The most turns in a small room that break off, or in which the agent never answers.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub failures: u32,
    /// The most replies in a small room that name the next speaker, ask people, or leave a person time to write before they arrive.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub special_replies: u32,
    /// The most turns in a small room. Default: twice the number of agents plus one.
    #[arg(long, value_name = "NUMBER")]
    pub turns: Option<u64>,
    /// The seconds after which the search ends.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub seconds: u64,
    /// Write the first counterexample as a recording, for example for `dirigent replay`.
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Write the first counterexample as a Mermaid sequence diagram.
    #[arg(long, value_name = "FILE")]
    pub mermaid: Option<PathBuf>,
}

impl ProveFlags {
    /// Tries to break the claims, and prints the result and the extent of the search. Returns true if no claim broke. `config` is the file
    /// to read if the arguments name none.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be read or written, if a rule does not exist, or if the writer fails.
    pub fn run(&self, config: &Path, out: &mut dyn Write) -> Result<bool, Error> {
        let read = File::of(self.file.as_deref(), config)?;
        let (mut file, path) =
            read.map_or_else(Default::default, |(file, path)| (file, Some(path)));
        let mut choices = RuleChoices::default();
        choices.extend(self.set.iter().cloned());
        file.rules = choices.over_all(&file.rules)?;
        let agents = self.agents.unwrap_or_else(|| file.agents());
        let mut inquiry = Inquiry::new(&file.rules, agents, self.claims.clone());
        (inquiry.words, inquiry.failures) = (self.words, self.failures);
        inquiry.special_replies = self.special_replies;
        inquiry.turns = self.turns.unwrap_or(inquiry.turns);
        let elapsed = stopwatch();
        let say = |line| eprintln!("{line}");
        let told = inquiry.ask(&mut watch(Duration::from_secs(self.seconds), elapsed, say));
        let mut names: Vec<AgentId> =
            file.agents.iter().map(|agent| agent.name.as_str().into()).collect();
        names.truncate(agents as usize);
        let more = names.len()..agents as usize;
        names.extend(more.map(|at| AgentId::from(format!("agent-{at}").as_str())));
        for claim in &self.claims {
            tell(*claim, &inquiry, &told, &names, out)?;
        }
        let rules = match path {
            Some(path) => format!("the rules of {}", path.display()),
            None => "the default rules, because there is no dirigent.toml here".to_owned(),
        };
        bounds(&rules, &inquiry, &told, out)?;
        if let Some(broken) = told.broken.first() {
            self.keep(broken, &names)?;
        }
        Ok(told.broken.is_empty())
    }

    /// Writes the recording and the diagram, if the arguments name files for them.
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

#[expect(clippy::disallowed_methods, reason = "a person waits for it, and it must end")]
fn stopwatch() -> impl Fn() -> Duration {
    let begin = Instant::now();
    move || begin.elapsed()
}

/// Returns a function that prints the progress every five seconds, and ends the search by time. It keeps a quarter of the time for
/// worlds drawn by chance. `elapsed` returns the time since the beginning, so that a test needs no real time.
fn watch(
    limit: Duration,
    elapsed: impl Fn() -> Duration,
    mut say: impl FnMut(String),
) -> impl FnMut(Explored) -> ControlFlow<()> {
    let mut told = Duration::ZERO;
    move |explored| {
        let spent = elapsed();
        if spent.saturating_sub(told) >= TELL {
            told = spent;
            let Explored { states, ahead, depth, worlds, .. } = explored;
            let seconds = spent.as_secs();
            say(format!(
                "{seconds} s: {states} states, {ahead} ahead, {depth} steps deep; {worlds} long worlds"
            ));
        }
        let limit = if explored.is_drawing { limit } else { limit / 4 * 3 };
        if spent >= limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Returns the sentence about a claim that did not break.
fn unbroken(claim: Claim, inquiry: &Inquiry, told: &Told) -> String {
    let turns = inquiry.turns;
    let is_over = |number: u32| u64::from(number) >= turns;
    let cannot = match claim {
        // An agent that goes on is called several times in one turn.
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

/// Prints the extent of the search, and the events that it leaves out.
fn bounds(rules: &str, inquiry: &Inquiry, told: &Told, out: &mut dyn Write) -> Result<(), Error> {
    let Inquiry { agents, words, turns, failures, shuffles, special_replies, .. } = inquiry;
    let Explored { states, ahead, depth, worlds, .. } = told.explored;
    writeln!(out, "\nexplored under {rules}, {agents} agents in a chat:")?;
    if states > 0 {
        let left = || format!("not all of it: {ahead} states were left");
        let whole = if told.is_whole { "all of it".to_owned() } else { left() };
        writeln!(
            out,
            "  every order of {words} words of people, {turns} turns, {failures} failures and {special_replies} special replies, \
             in {shuffles} sequences of shuffles:\n  {states} states, up to {depth} steps deep; {whole}"
        )?;
    }
    let is_open = told.broken.len() < inquiry.claims.len() && worlds < inquiry.worlds;
    let ended = if is_open { ", ended by time" } else { "" };
    writeln!(
        out,
        "  {worlds} long conversations drawn by chance, up to 400 steps each, with {failures} failures in a row{ended}"
    )?;
    let kinds: Vec<&str> = [
        (*special_replies > 0).then_some("names the next speaker"),
        (*special_replies > 0 && inquiry.asks_people).then_some("asks people"),
        (*special_replies > 0).then_some("leaves a person time to write before it arrives"),
    ]
    .into_iter()
    .flatten()
    .collect();
    if !kinds.is_empty() {
        writeln!(out, "  a special reply {}", kinds.join(", or "))?;
    }
    let unasked = if *special_replies == 0 {
        "special replies, "
    } else if inquiry.asks_people {
        ""
    } else {
        "agents that ask people (no reading.human_marker is set), "
    };
    writeln!(
        out,
        "not explored: {unasked}other sequences of shuffles, agents that repeat themselves, come and go or ask of their own accord,\n  \
         time that passes while an agent works, operators, events that are lost, late or repeated, restarts, outages,\n  \
         discussions, budgets of cost, and what a text says"
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use dirigent::settings::Rules;

    use super::*;

    /// Each call counts as two seconds.
    #[test]
    fn a_long_run_says_every_five_seconds_how_far_it_is_and_ends_by_time() {
        let (seconds, said) = (Cell::new(0), RefCell::new(Vec::new()));
        let elapsed = || {
            seconds.set(seconds.get() + 2);
            Duration::from_secs(seconds.get())
        };
        let say = |line| said.borrow_mut().push(line);
        let inquiry = Inquiry::new(&Rules::default(), 3, vec![Claim::Heard]);
        let told = inquiry.ask(&mut watch(Duration::from_secs(60), elapsed, say));
        let said = said.into_inner();
        let at = |line: &String| line.split(" s: ").next().and_then(|it| it.parse().ok());
        let at: Option<Vec<u64>> = said.iter().map(at).collect();
        assert_eq!(at, Some(vec![6, 12, 18, 24, 30, 36, 42, 48, 54, 60]), "{said:?}");
        // The search calls once in 500 states, and ends after three quarters of the time.
        assert!(said.first().is_some_and(|line| line.starts_with("6 s: 1500 states, ")));
        assert_eq!(told.explored.states, 23 * 500);
        assert!(said.last().is_some_and(|line| line.ends_with(" steps deep; 6 long worlds")));
        assert_eq!((told.is_ended, told.explored.worlds, seconds.get()), (true, 6, 60));
    }
}
