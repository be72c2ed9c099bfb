//! Counts what happens during an evening.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::fmt;

/// Each reply is compared with this number of the replies before it.
const KEPT: usize = 10;
/// Two replies say the same if at least this percentage of their word triples are equal.
const SAME_PERCENT: usize = 80;
/// Marks that show that reasoning leaked into a post.
const MARKS: [&str; 6] = ["<think", "</think", "[think]", "[/think]", "◁think", "<|channel|>"];

/// The counts of an evening.
#[derive(Debug, Default)]
pub(crate) struct Count {
    /// Turns that ended. Each of them also counts as posted, passed, failed or held back.
    pub(crate) turns: u64,
    pub(crate) posted: u64,
    pub(crate) passes: u64,
    pub(crate) failures: u64,
    /// Replies that the library did not post because they repeated what had been said.
    pub(crate) held_back: u64,
    /// Calls of agents, counted by the agents themselves.
    pub(crate) calls: u64,
    /// Posted replies that repeat one of the ten replies before them nearly word for word.
    pub(crate) repeats: u64,
    pub(crate) reasoning_leaks: u64,
    /// The times that the channel became dormant, by cause. The cause is `all-failed` if every agent failed in the last
    /// cycle.
    pub(crate) sleeps: BTreeMap<String, u64>,
    pub(crate) prompt_tokens: u64,
    pub(crate) reply_tokens: u64,
    pub(crate) ended: &'static str,
    newest: VecDeque<HashSet<String>>,
}

impl Count {
    /// Counts an agent's post.
    pub(crate) fn post(&mut self, text: &str) {
        let lower = text.to_lowercase();
        self.reasoning_leaks += u64::from(MARKS.iter().any(|mark| lower.contains(mark)));
        let triples = triples(&lower);
        self.repeats += u64::from(self.newest.iter().any(|earlier| are_same(earlier, &triples)));
        self.newest.push_back(triples);
        if self.newest.len() > KEPT {
            self.newest.pop_front();
        }
    }

    /// Returns the number of turns whose agent was called and whose end was never reported. The turn that is running is
    /// not counted.
    pub(crate) fn lost(&self) -> u64 {
        self.calls.saturating_sub(self.turns).saturating_sub(1)
    }

    /// Returns true if no promise was broken.
    pub(crate) fn is_well(&self) -> bool {
        self.ended != "stalled" && self.reasoning_leaks == 0 && self.lost() == 0
    }
}

/// Writes the counts as one line of JSON.
impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let json = serde_json::json!({
            "turns": self.turns, "passes": self.passes, "repeats": self.repeats,
            "reasoning_leaks": self.reasoning_leaks, "ended": self.ended,
            "posted": self.posted, "held_back": self.held_back, "failures": self.failures, "lost": self.lost(), "sleeps": self.sleeps,
            "prompt_tokens": self.prompt_tokens, "reply_tokens": self.reply_tokens,
        });
        json.fmt(f)
    }
}

/// Returns every three consecutive words, without numbers. A shorter text is returned whole.
fn triples(text: &str) -> HashSet<String> {
    let is_in_word = |c: char| !c.is_alphanumeric();
    let words: Vec<&str> = text
        .split(is_in_word)
        .filter(|word| !word.is_empty() && !word.chars().all(char::is_numeric))
        .collect();
    if words.len() < 3 {
        return [words.join(" ")].into();
    }
    words.windows(3).map(|three| three.join(" ")).collect()
}

fn are_same(one: &HashSet<String>, other: &HashSet<String>) -> bool {
    let shared = one.intersection(other).count();
    shared * 100 >= SAME_PERCENT * one.union(other).count()
}
