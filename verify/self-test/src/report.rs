//! What a self-test found: a row for each assumption.

use std::fmt;
use std::time::Duration;

use super::trouble::Trouble;

/// What was seen of one assumption.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Seen {
    /// What is expected, with the details.
    Expected(String),
    /// Something else.
    Differs(String),
    /// It was not tried, for this reason.
    NotTried(String),
}

impl Seen {
    const fn mark(&self) -> &'static str {
        match self {
            Self::Expected(_) => "ok",
            Self::Differs(_) => "DIFFERS",
            Self::NotTried(_) => "not tried",
        }
    }

    fn text(&self) -> &str {
        match self {
            Self::Expected(text) | Self::Differs(text) | Self::NotTried(text) => text,
        }
    }
}

/// A row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Row {
    /// The number of the assumption in `verify/assumptions.md`.
    pub assumption: &'static str,
    /// What Discord is assumed to do.
    pub expected: &'static str,
    /// What it did.
    pub seen: Seen,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { assumption, expected, seen } = self;
        write!(f, "{assumption:<10} {:<9}  {expected}: {}", seen.mark(), seen.text())
    }
}

/// The whole result. `Display` is the table and its sum.
#[derive(Debug)]
#[non_exhaustive]
pub struct Report {
    /// The rows, in the order of `verify/assumptions.md`.
    pub rows: Vec<Row>,
    /// Why not everything could be tried, if so: the first thing that failed. What lacks a second bot, a person or a permission
    /// is no trouble.
    pub trouble: Option<Trouble>,
    /// What could not be removed from the server, in words; empty after a complete clean-up.
    pub left_behind: Vec<String>,
    /// The number of requests that were sent.
    pub requests: u32,
    /// The time that all of it took.
    pub took: Duration,
}

impl Report {
    /// The code with which the program ends: 0 if everything that was tried is as expected, 1 if something differs, 2 if
    /// the self-test could not be carried out or left something behind.
    pub fn exit_code(&self) -> u8 {
        if self.count(|seen| matches!(seen, Seen::Differs(_))) > 0 {
            1
        } else if self.trouble.is_some() || !self.left_behind.is_empty() {
            2
        } else {
            0
        }
    }

    fn table(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.rows.iter().map(|row| row.expected.chars().count()).max().unwrap_or(0);
        writeln!(f, "{:<10} {:<9}  {:<width$}  seen", "assumption", "", "expected")?;
        for Row { assumption, expected, seen } in &self.rows {
            let (mark, text) = (seen.mark(), seen.text());
            writeln!(f, "{assumption:<10} {mark:<9}  {expected:<width$}  {text}")?;
        }
        writeln!(f)
    }

    fn count(&self, is_meant: impl Fn(&Seen) -> bool) -> usize {
        self.rows.iter().filter(|row| is_meant(&row.seen)).count()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A table in which nothing was tried says no more than the reason below it.
        if self.count(|seen| matches!(seen, Seen::NotTried(_))) < self.rows.len() {
            self.table(f)?;
        }
        for thing in &self.left_behind {
            writeln!(f, "left behind: {thing}")?;
        }
        if let Some(trouble) = &self.trouble {
            writeln!(f, "not everything could be tried: {trouble}")?;
        }
        write!(
            f,
            "{} as expected, {} differ, {} not tried; {} requests in {} s",
            self.count(|seen| matches!(seen, Seen::Expected(_))),
            self.count(|seen| matches!(seen, Seen::Differs(_))),
            self.count(|seen| matches!(seen, Seen::NotTried(_))),
            self.requests,
            self.took.as_secs(),
        )
    }
}
