//! What became of everything that was said.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::Duration;

use dirigent::ChannelId;
use dirigent::ports::Timestamp;
use serde_json::json;

use crate::Result;
use crate::fleet::{Fleet, Word};

/// How long the last words may take to be heard.
const PATIENCE: Duration = Duration::from_secs(120);

/// What the processes said.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// Turns for which an agent was called.
    called: BTreeSet<(u64, u64)>,
    /// When agents that asked had permission: whose run, and from when to when. Only of runs whose end was accepted: another's permission had
    /// ended before.
    allowed: BTreeMap<u64, Vec<Allowed>>,
}

#[derive(Clone, Copy, Debug)]
struct Allowed {
    run: u64,
    from: u64,
    to: u64,
}

impl Ledger {
    pub(crate) fn note(&mut self, line: &str) {
        let mut parts = line.split(' ');
        let what = parts.next();
        let numbers: Vec<u64> = parts.filter_map(|part| part.parse().ok()).collect();
        match (what, &*numbers) {
            (Some("called"), &[channel, turn]) => _ = self.called.insert((channel, turn)),
            (Some("spoke"), &[channel, run, from, to]) => {
                self.allowed.entry(channel).or_default().push(Allowed { run, from, to });
            }
            _ => {}
        }
    }
}

/// A reply of an agent, as it says of itself.
struct Reply {
    /// Called by the library in this turn, or by its own asking in this run.
    is_called: bool,
    number: u64,
    words: Vec<String>,
    at: Timestamp,
}

impl Reply {
    fn read(text: &str, at: Timestamp) -> Option<Self> {
        let mut parts = text.split(' ');
        let is_called = parts.next()? == "turn";
        let number = parts.next()?.parse().ok()?;
        Some(Self { is_called, number, words: parts.skip(1).map(str::to_owned).collect(), at })
    }
}

#[derive(Debug, Default)]
pub(crate) struct Verdict {
    posted: usize,
    doubled: usize,
    lost: usize,
    lost_turns: usize,
    two_allowed: usize,
    longest_wait: Duration,
}

impl Verdict {
    /// Has the people stop, and waits until all that they said is heard.
    pub(crate) async fn when_all_is_heard(fleet: &mut Fleet) -> Result<Self> {
        fleet.hush();
        let deadline = fleet.now() + PATIENCE;
        loop {
            fleet.wait(Duration::from_secs(1)).await;
            let verdict = Self::of(fleet);
            if (verdict.lost == 0 && verdict.lost_turns == 0) || fleet.now() > deadline {
                return Ok(verdict);
            }
        }
    }

    fn of(fleet: &Fleet) -> Self {
        let mut verdict = Self::default();
        let words = fleet.words();
        let mut posted = BTreeSet::new();
        for channel in fleet.channels() {
            let replies = fleet.replies(*channel).into_iter();
            let replies = replies.filter_map(|reply| Reply::read(&reply.content, reply.sent_at));
            let replies: Vec<_> = replies.collect();
            let called = replies.iter().filter(|reply| reply.is_called);
            posted.extend(called.map(|reply| (channel.get(), reply.number)));
            verdict.judge(*channel, &replies, &words, fleet.ledger());
        }
        verdict.lost_turns = fleet.ledger().called.difference(&posted).count();
        verdict
    }

    fn judge(&mut self, channel: ChannelId, replies: &[Reply], words: &[Word], ledger: &Ledger) {
        let mut last = 0;
        let mut runs = HashSet::new();
        let mut heard: HashMap<&str, Timestamp> = HashMap::new();
        for reply in replies {
            self.posted += 1;
            let is_doubled =
                if reply.is_called { reply.number <= last } else { !runs.insert(reply.number) };
            self.doubled += usize::from(is_doubled);
            if reply.is_called {
                last = last.max(reply.number);
            }
            for word in &reply.words {
                heard.entry(word).or_insert(reply.at);
            }
        }
        for word in words.iter().filter(|word| word.channel == channel) {
            match heard.get(&*word.text) {
                Some(at) => self.longest_wait = self.longest_wait.max(at.since(word.at)),
                None => self.lost += 1,
            }
        }
        let allowed = ledger.allowed.get(&channel.get()).map_or(&[][..], Vec::as_slice);
        self.two_allowed += two_allowed(allowed, replies);
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        let longest_wait = u64::try_from(self.longest_wait.as_millis()).unwrap_or(u64::MAX);
        json!({
            "posted": self.posted,
            "doubled": self.doubled,
            "lost": self.lost,
            "lost_turns": self.lost_turns,
            "two_allowed": self.two_allowed,
            "longest_wait_ms": longest_wait,
        })
    }

    /// A killed process takes the calls of its agents along: these turns are lost, not the words.
    pub(crate) const fn is_right(&self, no_turn_may_be_lost: bool) -> bool {
        self.doubled == 0
            && self.lost == 0
            && self.two_allowed == 0
            && (self.lost_turns == 0 || !no_turn_may_be_lost)
    }
}

/// How often an agent spoke, or had permission, while another one had.
fn two_allowed(allowed: &[Allowed], replies: &[Reply]) -> usize {
    let is_within = |at: u64, of: &Allowed| of.from < at && at < of.to;
    let others = allowed.iter().flat_map(|one| {
        let others = allowed.iter().filter(|other| other.run != one.run);
        others.filter(|other| is_within(other.from, one) || is_within(other.to, one))
    });
    let called = replies.iter().filter(|reply| reply.is_called);
    let spoke =
        called.filter(|reply| allowed.iter().any(|one| is_within(reply.at.as_millis(), one)));
    others.count() + spoke.count()
}
