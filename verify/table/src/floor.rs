//! Who had the floor, as `dirigent` told it.

use std::collections::HashSet;

use dirigent::ports::Timestamp;

use crate::Result;
use crate::told::Told;

/// The phases in which an agent has the floor.
const FLOOR: [&str; 6] =
    ["granted", "running", "delivering", "confirming", "continuing", "waiting"];
/// The cause of a turn with which a cycle goes on. With others one begins.
const NEXT: &str = "next-in-list";
/// The line of the log that stands for the cause `retriggered`.
const WOKEN: &str = "an agent has not started in time and is woken once more";

/// One turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) number: u64,
    pub(crate) agent: String,
    pub(crate) from: Timestamp,
    /// None while it goes on.
    pub(crate) until: Option<Timestamp>,
    /// When its run began.
    pub(crate) run: Option<Timestamp>,
    /// How often the agent was woken once more.
    pub(crate) woken: usize,
}

impl Turn {
    pub(crate) fn is_at(&self, moment: Timestamp) -> bool {
        self.from <= moment && self.until.is_none_or(|until| moment <= until)
    }
}

/// Reads the turns.
///
/// # Errors
///
/// When two agents had the floor at once, a number came twice, or an agent had two turns in a cycle.
pub(crate) fn turns(told: &[Told]) -> Result<Vec<Turn>> {
    let mut turns: Vec<Turn> = Vec::new();
    let mut cycle = HashSet::new();
    for line in told {
        let wrong = |what: &str| Err(format!("{what}: {line:?}").into());
        let newest = turns.last().map_or(0, |turn| turn.number);
        let last = turns.last_mut().filter(|turn| turn.until.is_none());
        // What people look for in a log, for example that a channel was resumed, is told without the number.
        let is_granted = line.is.as_deref() == Some("granted");
        let number = line.turn.or_else(|| is_granted.then_some(newest + 1));
        match (line.is.as_deref(), number, &line.agent) {
            (Some(phase), Some(number), Some(agent))
                if FLOOR.contains(&phase) && number > newest =>
            {
                end(last, line.at);
                if line.cause != NEXT {
                    cycle.clear();
                }
                if !cycle.insert(agent.clone()) {
                    return wrong("an agent has two turns in a cycle");
                }
                let (from, agent) = (line.at, agent.clone());
                turns.push(Turn { number, agent, from, until: None, run: None, woken: 0 });
            }
            (Some(phase), ..) if !FLOOR.contains(&phase) => {
                end(last, line.at);
                cycle.clear();
            }
            (_, Some(number), Some(agent)) => {
                let Some(turn) = last.filter(|turn| turn.number == number) else {
                    return wrong("this turn is over");
                };
                let is_its = turn.agent == *agent;
                if line.cause == "run-started" {
                    if !is_its {
                        return wrong("an agent runs in the turn of another");
                    }
                    turn.run.get_or_insert(line.at);
                }
                turn.woken += usize::from(line.cause == WOKEN);
            }
            _ => {}
        }
    }
    Ok(turns)
}

fn end(turn: Option<&mut Turn>, at: Timestamp) {
    if let Some(turn) = turn {
        turn.until = Some(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(lines: &[(&str, u64, &str, &str)]) -> Vec<Told> {
        let line = |(at, (cause, turn, agent, is)): (u64, &(&str, u64, &str, &str))| Told {
            at: Timestamp::from_millis(at),
            cause: (*cause).to_owned(),
            agent: Some((*agent).to_owned()),
            turn: Some(*turn),
            is: Some((*is).to_owned()),
        };
        (0..).zip(lines).map(line).collect()
    }

    #[test]
    fn a_turn_lasts_until_the_next_one_or_rest() {
        let lines = [
            ("human-message", 1, "a", "granted"),
            ("run-started", 1, "a", "running"),
            ("next-in-list", 2, "b", "granted"),
            ("all-passed", 2, "b", "dormant"),
        ];
        let turns = turns(&told(&lines)).unwrap();
        let times = |turn: &Turn| (turn.from.as_millis(), turn.until.unwrap().as_millis());
        assert_eq!(turns.iter().map(times).collect::<Vec<_>>(), [(0, 2), (2, 3)]);
        assert_eq!(turns[0].run, Some(Timestamp::from_millis(1)));
    }

    #[test]
    fn what_must_not_be_is_found() {
        let first = ("human-message", 1, "a", "granted");
        for wrong in [
            vec![first, ("run-started", 1, "b", "running")],
            vec![first, ("next-in-list", 2, "b", "granted"), ("run-started", 1, "a", "running")],
            vec![first, ("next-in-list", 2, "b", "granted"), ("next-in-list", 3, "a", "granted")],
        ] {
            assert!(turns(&told(&wrong)).is_err(), "{wrong:?}");
        }
    }
}
