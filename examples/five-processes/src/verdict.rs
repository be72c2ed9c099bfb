//! What became of everything that was said.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use dirigent::ChannelId;
use dirigent::ports::Timestamp;
use serde_json::json;

use crate::Result;
use crate::fleet::Fleet;
use crate::ledger::{Asked, End, Ledger};
use crate::people::{Change, Word};

/// How long the last words may take to be heard.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long nothing may be posted before what is missing is lost: longer than a run may last, and its reply may take to arrive.
const QUIET: Duration = Duration::from_secs(32);
/// How long the permission of a run lasts that was accepted and is not posted yet (`confirmation.delivery_timeout`).
const DELIVERY: u64 = 15_000;

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
    /// In words, as the next.
    lost: Vec<String>,
    lost_turns: Vec<String>,
    two_allowed: Vec<String>,
    longest_wait: Duration,
}

impl Verdict {
    /// Has the people stop, and waits until all that they said is heard.
    pub(crate) async fn when_all_is_heard(fleet: &mut Fleet) -> Result<Self> {
        fleet.hush();
        let deadline = fleet.now() + PATIENCE;
        let (mut posted, mut since) = (0, fleet.now());
        loop {
            fleet.wait(Duration::from_secs(1)).await;
            let verdict = Self::of(fleet);
            if verdict.posted > posted {
                (posted, since) = (verdict.posted, fleet.now());
            }
            let is_quiet = fleet.now().since(since) > QUIET;
            if (verdict.lost.is_empty() && (verdict.lost_turns.is_empty() || is_quiet))
                || fleet.now() > deadline
            {
                return Ok(verdict);
            }
        }
    }

    fn of(fleet: &Fleet) -> Self {
        let mut verdict = Self::default();
        let words = fleet.words();
        for channel in fleet.channels() {
            let replies = fleet.replies(channel).into_iter();
            let replies = replies.filter_map(|reply| Reply::read(&reply.content, reply.sent_at));
            let replies: Vec<_> = replies.collect();
            let words = words.iter().filter(|word| word.channel == channel);
            verdict.judge(channel, &replies, words, fleet.ledger());
        }
        verdict
    }

    fn judge<'w>(
        &mut self,
        channel: ChannelId,
        replies: &[Reply],
        words: impl Iterator<Item = &'w Word>,
        ledger: &Ledger,
    ) {
        let mut last = 0;
        let (mut turns, mut runs) = (HashSet::new(), HashSet::new());
        let mut heard: HashMap<&str, Timestamp> = HashMap::new();
        for reply in replies {
            self.posted += 1;
            let is_doubled = if reply.is_called {
                turns.insert(reply.number);
                reply.number <= last
            } else {
                !runs.insert(reply.number)
            };
            self.doubled += usize::from(is_doubled);
            if reply.is_called {
                last = last.max(reply.number);
            }
            for word in &reply.words {
                heard.entry(word).or_insert(reply.at);
            }
        }
        let mut spoken_at = Vec::new();
        for word in words {
            spoken_at.push(word.at.as_millis());
            let edited = word.edited();
            let is_heard = heard.get(&*word.text).or_else(|| heard.get(&*edited));
            if let Some(at) = is_heard {
                self.longest_wait = self.longest_wait.max(at.since(word.at));
            } else if word.change != Change::Deleted {
                let Word { channel, text, at, .. } = word;
                self.lost.push(format!("channel {channel}: {text}, said at {}", at.as_millis()));
            }
        }
        let channel = channel.get();
        let of_here = (channel, 0)..=(channel, u64::MAX);
        let called =
            ledger.called.range(of_here.clone()).filter(|((_, turn), _)| !turns.contains(turn));
        let asked = ledger.asked.range(of_here).filter(|((_, run), asked)| {
            !runs.contains(run) && !matches!(asked.end, End::Passed(_))
        });
        self.lost_turns
            .extend(called.map(|((_, turn), at)| {
                format!("channel {channel}: turn {turn}, called at {at:?}")
            }));
        self.lost_turns.extend(
            asked.map(|((_, run), asked)| format!("channel {channel}: run {run}, {asked:?}")),
        );
        let allowed = Allowed::all(channel, replies, &spoken_at, ledger);
        self.two_allowed.extend(
            two_allowed(&allowed)
                .map(|(one, other)| format!("channel {channel}: {one:?} while {other:?}")),
        );
    }

    /// What can be said of each word and each turn that was lost, and of each time at which two were allowed.
    pub(crate) fn details(&self) -> impl Iterator<Item = String> {
        let words = self.lost.iter().map(|word| format!("never heard: {word}"));
        let turns = self.lost_turns.iter().map(|turn| format!("lost: {turn}"));
        words.chain(turns).chain(self.two_allowed.iter().map(|two| format!("two allowed: {two}")))
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        let longest_wait = u64::try_from(self.longest_wait.as_millis()).unwrap_or(u64::MAX);
        json!({
            "posted": self.posted,
            "doubled": self.doubled,
            "lost": self.lost.len(),
            "lost_turns": self.lost_turns.len(),
            "two_allowed": self.two_allowed.len(),
            "longest_wait_ms": longest_wait,
        })
    }

    /// A killed process takes the calls of its agents along: these turns are lost, not the words.
    pub(crate) fn is_right(&self, no_turn_may_be_lost: bool) -> bool {
        self.doubled == 0
            && self.lost.is_empty()
            && self.two_allowed.is_empty()
            && (self.lost_turns.is_empty() || !no_turn_may_be_lost)
    }
}

/// When an agent had the floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Allowed {
    /// The turn, or the run of an agent that asked.
    number: u64,
    /// It got the floor no earlier than this.
    earliest: u64,
    /// It surely had the floor from here
    from: u64,
    /// to here; as long as `from` where no more is known.
    to: u64,
}

impl Allowed {
    /// Those of a channel: the turns of called agents that were posted, and all runs of agents that asked.
    fn all(channel: u64, replies: &[Reply], words: &[u64], ledger: &Ledger) -> Vec<Self> {
        let called = replies.iter().filter(|reply| reply.is_called).filter_map(|reply| {
            let at = reply.at.as_millis();
            let calls = ledger.called.get(&(channel, reply.number))?;
            let from = *calls.iter().rfind(|call| **call <= at)?;
            Some(Self { number: reply.number, earliest: from, from, to: at })
        });
        let asked = ledger.asked.range((channel, 0)..=(channel, u64::MAX));
        let interrupted = ledger.interrupted.get(&channel).map_or(&[][..], Vec::as_slice);
        let given_away = given_away(words, interrupted);
        let asked = asked.map(|((_, run), asked)| {
            let mut posted =
                replies.iter().filter(|reply| !reply.is_called && reply.number == *run);
            Self::asked(*run, asked, posted.next().map(|reply| reply.at.as_millis()), &given_away)
        });
        called.chain(asked).collect()
    }

    /// A person's word that is heard before the reply gives the floor away anew: then the reply comes late, as it may.
    fn asked(number: u64, run: &Asked, posted: Option<u64>, given_away: &[u64]) -> Self {
        let to = match run.end {
            End::Unknown | End::Refused => run.from,
            End::Passed(told) => told,
            End::Accepted(told) => {
                let posted = posted.map_or(told, |at| at.clamp(told, told + DELIVERY));
                given_away.iter().copied().filter(|at| *at >= told).fold(posted, u64::min)
            }
        };
        Self { number, earliest: run.since, from: run.from, to }
    }

    /// Whether it got the floor while the other one had it.
    const fn began_within(&self, other: &Self) -> bool {
        other.from < self.earliest && self.from < other.to
    }
}

/// When the floor may have been given away by a word: when it was said, and when the process that decides says that it heard it, which
/// may be later than an end that was told after the word was said. Each word takes the floor once at most, so an interruption for
/// which there is no word left is not believed.
fn given_away(words: &[u64], interrupted: &[u64]) -> Vec<u64> {
    let mut interrupted = interrupted.to_vec();
    interrupted.sort_unstable();
    let mut believed = 0;
    interrupted.retain(|at| {
        let is_said = words.iter().filter(|said| *said <= at).count() > believed;
        believed += usize::from(is_said);
        is_said
    });
    interrupted.extend(words);
    interrupted
}

/// Each that got the floor while another one surely had it, and the other one.
fn two_allowed(allowed: &[Allowed]) -> impl Iterator<Item = (&Allowed, &Allowed)> {
    let pairs = allowed.iter().flat_map(|one| allowed.iter().map(move |other| (one, other)));
    pairs.filter(|(one, other)| one.began_within(other))
}

#[cfg(test)]
mod tests;
