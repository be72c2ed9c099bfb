//! What `dirigent` told: the transitions in its log.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dirigent::ports::Timestamp;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// A transition of the channel, as a line of the log has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) at: Timestamp,
    /// The cause, or the sentence that stands for it.
    pub(crate) cause: String,
    pub(crate) agent: Option<String>,
    pub(crate) turn: Option<u64>,
    /// The phase after it; none in a line that tells of trouble.
    pub(crate) is: Option<String>,
}

impl Told {
    /// Reads a line such as `2026-11-30T08:03:12.740596Z DEBUG dirigent::runtime::signals: passed channel=7 agent="a" turn=3
    /// was="running" is="granted"`.
    fn read(line: &str) -> Option<Self> {
        let (head, rest) = line.split_once(" dirigent::runtime::signals: ")?;
        let at = humantime::parse_rfc3339_weak(head.split(' ').next()?).ok()?;
        let at = at.duration_since(std::time::UNIX_EPOCH).ok()?.as_millis();
        let (cause, fields) = rest.split_once(" channel=")?;
        let field = |name: &str| {
            let fields = fields.split(' ').skip(1);
            let value =
                fields.filter_map(|field| field.split_once('=')).find(|(it, _)| *it == name);
            value.map(|(_, value)| value.trim_matches('"').to_owned())
        };
        Some(Self {
            at: Timestamp::from_millis(u64::try_from(at).ok()?),
            cause: cause.to_owned(),
            agent: field("agent"),
            turn: field("turn").and_then(|turn| turn.parse().ok()),
            is: field("is"),
        })
    }
}

/// The lines that a program prints, for as long as it is played.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    fn all(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds what is printed there, until it ends.
    pub(crate) fn collect(&self, from: impl AsyncRead + Unpin + Send + 'static) {
        let lines = self.clone();
        tokio::spawn(async move {
            let mut from = BufReader::new(from).lines();
            while let Ok(Some(line)) = from.next_line().await {
                lines.all().push(line);
            }
        });
    }

    /// How many lines there are.
    pub(crate) fn count(&self) -> usize {
        self.all().len()
    }

    /// The end of the newest line, from this one on, in which these words stand.
    pub(crate) fn after(&self, from: usize, words: &str) -> Option<String> {
        let all = self.all();
        let found = all.iter().skip(from).rev().find_map(|line| line.split_once(words));
        found.map(|(_, rest)| rest.to_owned())
    }

    /// The transitions that are told from this line on.
    pub(crate) fn told(&self, from: usize) -> Vec<Told> {
        self.all().iter().skip(from).filter_map(|line| Told::read(line)).collect()
    }

    pub(crate) fn text(&self) -> String {
        self.all().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_log_is_a_transition() {
        let line = "2026-11-30T08:03:12.740596Z DEBUG dirigent::runtime::signals: next-in-list channel=7 agent=\"helper\" turn=3 was=\"dormant\" is=\"granted\"";
        let told = Told::read(line).unwrap();
        assert_eq!((told.cause.as_str(), told.turn), ("next-in-list", Some(3)));
        assert_eq!((told.agent.as_deref(), told.is.as_deref()), (Some("helper"), Some("granted")));
        assert_eq!(told.at.as_millis() % 1_000, 740);
        assert_eq!(Told::read("2026-11-30T08:03:12.740596Z INFO dirigent::run: it ends"), None);
    }
}
