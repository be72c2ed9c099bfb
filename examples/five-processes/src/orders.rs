//! What the process that started this one wants of it, a line each.

use std::str::FromStr;

use tokio::io::{AsyncBufReadExt as _, BufReader, Lines, Stdin, stdin};

use crate::gate::Switch;

/// The ways that can be made to fail.
pub(crate) struct Switches {
    /// To and from the other processes.
    pub(crate) relay: Switch,
    pub(crate) database: Switch,
    /// Events only: what is posted gets through, so that a process without a lease could do harm.
    pub(crate) gateway: Switch,
}

/// What is cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Relay,
    Database,
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Cut(Way),
    Heal,
    End,
}

impl Order {
    pub(crate) const fn line(self) -> &'static str {
        match self {
            Self::Cut(Way::Relay) => "cut relay",
            Self::Cut(Way::Database) => "cut database",
            Self::Cut(Way::All) => "cut all",
            Self::Heal => "heal",
            Self::End => "end",
        }
    }
}

impl FromStr for Order {
    type Err = ();

    fn from_str(line: &str) -> Result<Self, ()> {
        let ways = [Way::Relay, Way::Database, Way::All].map(Self::Cut);
        let all = ways.into_iter().chain([Self::Heal, Self::End]);
        all.into_iter().find(|order| order.line() == line).ok_or(())
    }
}

impl Switches {
    pub(crate) fn new() -> Self {
        Self { relay: Switch::on(), database: Switch::on(), gateway: Switch::on() }
    }

    fn set(&self, cut: Option<Way>) {
        self.relay.set(!matches!(cut, Some(Way::Relay | Way::All)));
        self.database.set(!matches!(cut, Some(Way::Database | Way::All)));
        self.gateway.set(cut != Some(Way::All));
    }

    /// Obeys until the process is to end.
    pub(crate) async fn obey(&self) {
        let mut lines: Lines<BufReader<Stdin>> = BufReader::new(stdin()).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            match line.parse() {
                Ok(Order::Cut(way)) => self.set(Some(way)),
                Ok(Order::Heal) => self.set(None),
                Ok(Order::End) | Err(()) => return,
            }
        }
    }
}
