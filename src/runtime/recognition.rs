//! Counts whether agents' posts are recognised as the replies that their hosts report.

use std::sync::Mutex;

use crate::values::sync::locked;
use dirigent_core::{AgentKey, Cause, Transition};
use rustc_hash::FxHashMap;

/// The number of unrecognised replies in a row that is reported.
const REPORTED_FROM: u32 = 3;

/// The number of replies of each agent in a row that were not recognised in what was posted, in any channel.
#[derive(Debug, Default)]
pub(crate) struct Recognition {
    streaks: Mutex<FxHashMap<AgentKey, Streak>>,
}

#[derive(Debug, Default)]
struct Streak {
    length: u32,
    /// `true` if the log has said so since the process began.
    is_logged: bool,
}

impl Recognition {
    /// Records how a turn ended. Returns the number of unrecognised replies in a row if it must be logged, which is
    /// once for each agent.
    pub(crate) fn note(&self, transition: &Transition) -> Option<u32> {
        let agent = transition.agent?;
        let cause = transition.cause;
        // A reply that was recognised once proves that the host reports the right text.
        if matches!(cause, Cause::TailMatched | Cause::ReceiptGiven) {
            if let Some(streak) = locked(&self.streaks).get_mut(&agent) {
                streak.length = 0;
            }
        } else if matches!(cause, Cause::QuietAfterMessage | Cause::DeliveryTimedOut) {
            let mut streaks = locked(&self.streaks);
            let streak = streaks.entry(agent).or_default();
            streak.length = streak.length.saturating_add(1);
            // Once for each agent, because it would come with every turn.
            let is_due = streak.length >= REPORTED_FROM && !streak.is_logged;
            streak.is_logged |= is_due;
            return is_due.then_some(streak.length);
        }
        None
    }

    /// Returns how many of the agent's replies in a row were not recognised, if these are enough to report.
    pub(crate) fn unrecognised(&self, agent: AgentKey) -> Option<u32> {
        let length = locked(&self.streaks).get(&agent)?.length;
        (length >= REPORTED_FROM).then_some(length)
    }
}

#[cfg(test)]
mod tests {
    use dirigent_core::{PhaseKind, Timestamp, TurnId};

    use super::*;

    fn ended(agent: u32, cause: Cause) -> Transition {
        Transition {
            at: Timestamp::default(),
            from: PhaseKind::Confirming,
            to: PhaseKind::Confirming,
            agent: Some(AgentKey::new(agent)),
            turn: TurnId::new(1),
            cause,
        }
    }

    #[test]
    fn three_in_a_row_are_reported_and_logged_once() {
        let (recognition, agent) = (Recognition::default(), AgentKey::new(1));
        let note = |cause| recognition.note(&ended(1, cause));
        assert_eq!([Cause::QuietAfterMessage, Cause::DeliveryTimedOut].map(note), [None, None]);
        assert_eq!(recognition.unrecognised(agent), None);
        assert_eq!(note(Cause::QuietAfterMessage), Some(3));
        assert_eq!(note(Cause::QuietAfterMessage), None, "once");
        assert_eq!(recognition.unrecognised(agent), Some(4));
        assert_eq!(recognition.unrecognised(AgentKey::new(2)), None, "another agent");
    }

    #[test]
    fn a_reply_that_is_recognised_ends_the_row() {
        for recognised in [Cause::TailMatched, Cause::ReceiptGiven] {
            let (recognition, agent) = (Recognition::default(), AgentKey::new(1));
            let note = |cause| recognition.note(&ended(1, cause));
            assert_eq!([Cause::QuietAfterMessage; 2].map(note), [None; 2]);
            note(recognised);
            assert_eq!([Cause::QuietAfterMessage; 2].map(note), [None; 2]);
            assert_eq!(recognition.unrecognised(agent), None);
            assert_eq!(note(Cause::Passed), None, "a pass is no reply");
            assert_eq!(note(Cause::DeliveryTimedOut), Some(3));
        }
    }
}
