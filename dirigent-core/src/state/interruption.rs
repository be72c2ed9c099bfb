//! A turn that waits while an orchestrator answers a person (rule 55).

use crate::state::span::Span;
use crate::{MessageId, Outcome, RunId, Ticket, Timestamp};

/// The details of a turn that waits until a human was answered.
///
/// ```
/// use dirigent_core::snapshot::{WaitingFrom, Waiting};
/// use dirigent_core::view::Span;
/// use dirigent_core::{MessageId, Ticket};
///
/// let waiting = Waiting {
///     from: WaitingFrom::Granted { attempt: 0 },
///     since: Default::default(),
///     consult: Ticket::new(1),
///     until: Default::default(),
///     asked: Span::of(MessageId::new(1)),
///     more: None,
///     unanswered: None,
///     end: None,
/// };
/// assert!(waiting.end.is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The progress of the turn when it began to wait.
    pub from: WaitingFrom,
    /// The moment when it began to wait.
    pub since: Timestamp,
    /// The pending effect that the answer settles.
    pub consult: Ticket,
    /// The moment until which the answer may come.
    pub until: Timestamp,
    /// The messages that the orchestrator was asked about.
    pub asked: Span,
    /// The messages that people have written since.
    pub more: Option<Span>,
    /// The earlier messages that the orchestrator did not answer.
    pub unanswered: Option<Span>,
    /// The result of the run, if the run ended during the wait.
    pub end: Option<Outcome>,
}

/// The progress of a turn when it began to wait.
///
/// ```
/// use dirigent_core::snapshot::WaitingFrom;
/// assert_ne!(WaitingFrom::Continuing, WaitingFrom::Granted { attempt: 0 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitingFrom {
    /// Its agent had not started.
    Granted {
        /// The number of re-triggers so far.
        attempt: u8,
    },
    /// Its agent was running.
    Running {
        /// The host's name for the run.
        run: Option<RunId>,
        /// The anchor; only later messages belong to the reply.
        anchor: Option<MessageId>,
        /// The moment when the run must have ended, as if its turn did not wait.
        until: Option<Timestamp>,
        /// True if the host has already confirmed the whole reply.
        receipt: bool,
        /// True if the library has the whole reply, which it delivers when the turn goes on.
        replied: bool,
    },
    /// Its agent had spoken without finishing.
    Continuing,
}

/// Widens an optional range of messages by another one.
pub(crate) fn join(range: &mut Option<Span>, other: Option<Span>) {
    match (range.as_mut(), other) {
        (Some(range), Some(other)) => range.cover(other),
        (None, Some(other)) => *range = Some(other),
        (_, None) => {}
    }
}

impl Waiting {
    /// Returns true if the reply was made, which is delivered when the turn goes on.
    pub(crate) const fn is_replied(&self) -> bool {
        matches!(self.from, WaitingFrom::Running { replied: true, .. })
    }

    /// Keeps the question open, because the orchestrator gave no answer.
    pub(crate) fn fail_to_answer(&mut self) {
        join(&mut self.unanswered, Some(self.asked));
    }

    /// Returns all that people have said and no agent has answered yet.
    pub(crate) fn everything_open(&self) -> [Option<Span>; 3] {
        [Some(self.asked), self.more, self.unanswered]
    }

    /// Notes that the run made its reply, which has no deadline. Returns false if that was known, or if there is no
    /// such run.
    pub(crate) fn mark_replied(&mut self) -> bool {
        match &mut self.from {
            WaitingFrom::Running { replied, until, .. } if self.end.is_none() && !*replied => {
                // A finished reply only waits for the chat, so its run has no deadline any more.
                (*replied, *until) = (true, None);
                true
            }
            WaitingFrom::Granted { .. } | WaitingFrom::Continuing | WaitingFrom::Running { .. } => {
                false
            }
        }
    }

    /// Notes that the host has confirmed the whole reply. Returns false if there is no run that could have made one.
    pub(crate) const fn mark_received(&mut self) -> bool {
        if let WaitingFrom::Running { receipt, .. } = &mut self.from {
            *receipt = true;
            return true;
        }
        false
    }

    pub(crate) fn for_each_moment(&mut self, visit: &mut impl FnMut(&mut Timestamp)) {
        visit(&mut self.since);
        visit(&mut self.until);
        if let WaitingFrom::Running { until: Some(until), .. } = &mut self.from {
            visit(until);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(from: WaitingFrom) -> Waiting {
        let (since, until) = (Timestamp::from_millis(1), Timestamp::from_millis(2));
        let (consult, asked) = (Ticket::new(1), Span::of(MessageId::new(5)));
        let (more, unanswered, end) = (None, None, None);
        Waiting { from, since, consult, until, asked, more, unanswered, end }
    }

    fn running() -> WaitingFrom {
        let until = Some(Timestamp::from_millis(9));
        WaitingFrom::Running { run: None, anchor: None, until, receipt: false, replied: false }
    }

    #[test]
    fn a_reply_is_made_once_and_by_a_run_that_has_not_ended() {
        let mut waits = waiting(running());
        assert!(waits.mark_replied() && waits.is_replied() && !waits.mark_replied());
        assert!(
            matches!(waits.from, WaitingFrom::Running { until: None, .. }),
            "no deadline is left"
        );
        let mut ended = Waiting { end: Some(Outcome::Pass), ..waiting(running()) };
        assert!(!ended.mark_replied());
        assert!(!waiting(WaitingFrom::Continuing).mark_replied());
    }

    #[test]
    fn a_receipt_is_of_a_run() {
        assert!(waiting(running()).mark_received());
        assert!(!waiting(WaitingFrom::Granted { attempt: 0 }).mark_received());
    }

    #[test]
    fn what_was_asked_in_vain_stays_open_beside_what_was_said_since() {
        let mut waits = waiting(running());
        waits.fail_to_answer();
        join(&mut waits.more, Some(Span::of(MessageId::new(8))));
        let [asked, more, unanswered] = waits.everything_open();
        assert_eq!((asked, more), (unanswered, Some(Span::of(MessageId::new(8)))));
    }
}
