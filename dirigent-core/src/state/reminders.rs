//! The reminders of an idle discussion, and the one run of the initiator after each (rules 36 and 48).

use crate::state::rare::Rare;
use crate::state::seen::Seen;
use crate::{AgentKey, RunId, Timestamp};

/// The most reminders to an initiator while no agent says anything.
pub(crate) const REMINDERS_MAX: u8 = 3;

/// The permit of an idle discussion's initiator. It may run once, to conclude the discussion or to go on.
///
/// ```
/// use dirigent_core::snapshot::{InitiatorPermit, PermitRun};
/// use dirigent_core::AgentKey;
/// let permit = InitiatorPermit { agent: AgentKey::new(1), run: PermitRun::Offered };
/// assert_eq!(permit.run, PermitRun::Offered);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitiatorPermit {
    /// The initiator.
    pub agent: AgentKey,
    /// The progress of its run.
    pub run: PermitRun,
}

/// The progress of the permitted run.
///
/// ```
/// use dirigent_core::snapshot::PermitRun;
/// let running = PermitRun::Running { id: None, until: None, spoke: false, replied: false };
/// assert_ne!(running, PermitRun::Offered);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermitRun {
    /// It has not started.
    Offered,
    /// It is under way.
    Running {
        /// The host's name for the run.
        id: Option<RunId>,
        /// The moment when it must have ended.
        until: Option<Timestamp>,
        /// True if the initiator wrote something during the run.
        spoke: bool,
        /// True if the library has the whole reply and delivers it.
        replied: bool,
    },
}

/// The reminders of an idle discussion. Chats have none.
///
/// ```
/// assert_eq!(dirigent_core::snapshot::Reminders::default().sent, 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Reminders {
    /// The initiator's one run after a reminder.
    pub permit: Option<InitiatorPermit>,
    /// The moment when the last reminder was sent, or when the run after it ended in vain.
    pub last_at: Option<Timestamp>,
    /// The moment of the next reminder, while the discussion is dormant.
    pub due_at: Option<Timestamp>,
    /// The number of reminders since anything was said.
    pub sent: u8,
}

impl InitiatorPermit {
    pub(crate) const fn is_running(&self) -> bool {
        matches!(self.run, PermitRun::Running { .. })
    }

    /// Returns true if the library delivers the reply of the permitted run.
    pub(crate) const fn is_delivering(&self) -> bool {
        matches!(self.run, PermitRun::Running { replied: true, .. })
    }

    pub(crate) const fn has_spoken(&self) -> bool {
        matches!(self.run, PermitRun::Running { spoke: true, .. })
    }

    pub(crate) const fn run_id(&self) -> Option<RunId> {
        match self.run {
            PermitRun::Running { id, .. } => id,
            PermitRun::Offered => None,
        }
    }

    pub(crate) const fn until(&self) -> Option<Timestamp> {
        match self.run {
            PermitRun::Running { until, .. } => until,
            PermitRun::Offered => None,
        }
    }

    /// Returns true if an end or a receipt with this run id is about the permitted run.
    pub(crate) fn matches(&self, agent: AgentKey, run: Option<RunId>) -> bool {
        match self.run {
            PermitRun::Running { id, .. } => self.agent == agent && (id.is_none() || id == run),
            PermitRun::Offered => false,
        }
    }

    /// Returns true if this ends the permitted run.
    pub(crate) fn is_ended_by(&self, agent: AgentKey, run: Option<RunId>, seen: &Seen) -> bool {
        // Without an id, an end that belongs to a run that is known as over must not end this one.
        self.matches(agent, run) && (self.run_id().is_some() || seen.is_open(run))
    }

    /// Notes that the initiator wrote something while it runs.
    pub(crate) const fn mark_spoken(&mut self) {
        if let PermitRun::Running { spoke, .. } = &mut self.run {
            *spoke = true;
        }
    }

    /// Notes that the reply is made, which has no deadline. Returns false if that was known, or if there is no run.
    pub(crate) const fn mark_replied(&mut self) -> bool {
        match &mut self.run {
            PermitRun::Running { until, replied, .. } if !*replied => {
                *replied = true;
                *until = None;
                true
            }
            PermitRun::Offered | PermitRun::Running { .. } => false,
        }
    }
}

impl Rare<Reminders> {
    pub(crate) fn permit(&self) -> Option<InitiatorPermit> {
        self.get().and_then(|reminders| reminders.permit)
    }

    pub(crate) fn permit_mut(&mut self) -> Option<&mut InitiatorPermit> {
        self.existing().and_then(|reminders| reminders.permit.as_mut())
    }

    /// Cancels the reminder that is due.
    pub(crate) fn cancel(&mut self) {
        if let Some(reminders) = self.existing() {
            reminders.due_at = None;
        }
    }

    /// Counts reminders anew, because something was said. Returns true if any were sent.
    pub(crate) fn restart_count(&mut self) -> bool {
        self.existing().is_some_and(|reminders| core::mem::take(&mut reminders.sent) > 0)
    }

    pub(crate) fn for_each_moment(&mut self, visit: &mut impl FnMut(&mut Timestamp)) {
        let Some(reminders) = self.existing() else {
            return;
        };
        let Reminders { permit, last_at, due_at, .. } = reminders;
        [last_at, due_at].into_iter().flatten().for_each(&mut *visit);
        if let Some(InitiatorPermit {
            run: PermitRun::Running { until: Some(until), .. }, ..
        }) = permit
        {
            visit(until);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn running() -> InitiatorPermit {
        let until = Some(Timestamp::from_millis(5));
        let run = PermitRun::Running { id: None, until, spoke: false, replied: false };
        InitiatorPermit { agent: AgentKey::new(1), run }
    }

    #[test]
    fn a_permitted_reply_is_made_once_and_has_no_deadline() {
        let mut permit = running();
        assert!(permit.mark_replied() && permit.is_delivering() && !permit.mark_replied());
        assert_eq!(permit.until(), None);
        assert!(!InitiatorPermit { run: PermitRun::Offered, ..permit }.mark_replied());
    }

    #[test]
    fn only_a_run_that_is_under_way_speaks_or_matches() {
        let (mut offered, mut permit) =
            (InitiatorPermit { run: PermitRun::Offered, ..running() }, running());
        offered.mark_spoken();
        permit.mark_spoken();
        assert_eq!([offered.has_spoken(), permit.has_spoken()], [false, true]);
        assert!(permit.matches(AgentKey::new(1), None) && !permit.matches(AgentKey::new(2), None));
        assert!(!offered.matches(AgentKey::new(1), None));
    }

    #[test]
    fn a_channel_without_reminders_remembers_none() {
        let mut reminders = Rare::<Reminders>::default();
        reminders.cancel();
        assert!(!reminders.restart_count() && reminders.permit().is_none());
        assert_eq!(reminders, Rare::default());
    }
}
