//! What is counted of an evening.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::fmt;

/// How many of the newest replies a reply is held against.
const KEPT: usize = 10;
/// From how many of a hundred word triples in common on two replies say the same.
const SAME_PERCENT: usize = 80;
/// What marks reasoning.
const MARKS: [&str; 6] = ["<think", "</think", "[think]", "[/think]", "◁think", "<|channel|>"];

/// The counts.
#[derive(Debug, Default)]
pub(crate) struct Count {
    /// Turns of agents that ended: those in which something was posted, passes, failures and what was held back.
    pub(crate) turns: u64,
    pub(crate) posted: u64,
    pub(crate) passes: u64,
    pub(crate) failures: u64,
    /// Replies that the library did not post, since they said what had been said.
    pub(crate) held_back: u64,
    /// Calls of agents, as the agents count them.
    pub(crate) calls: u64,
    /// Replies that were posted and say nearly word for word what one of the ten before them said.
    pub(crate) repeats: u64,
    pub(crate) reasoning_leaks: u64,
    /// How often the channel became dormant, by the cause; `all-failed` if in the last cycle no agent did anything but fail.
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

    /// Turns whose agent was called and whose end was not told. One may be under way.
    pub(crate) fn lost(&self) -> u64 {
        self.calls.saturating_sub(self.turns).saturating_sub(1)
    }

    /// Whether no promise was broken.
    pub(crate) fn is_well(&self) -> bool {
        self.ended != "stalled" && self.reasoning_leaks == 0 && self.lost() == 0
    }
}

/// One line of JSON.
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

/// Each three words that follow one another, numbers left out; of a shorter text the text.
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
