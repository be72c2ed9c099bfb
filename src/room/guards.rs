//! The guards of runs of hosts. Each holds the permission of one run.

use dirigent_core::{AgentKey, Outcome, PhaseKind, Reason, RunId, TurnId};

use super::calls::{Calls, Guarded};
use super::context::Context;
use super::inbox::Inbox;
use super::turns::Turns;

pub(crate) struct Guards<'a> {
    pub(super) turns: &'a Turns,
    pub(super) calls: &'a mut Calls,
    pub(super) inbox: &'a mut Inbox,
}

impl Guards<'_> {
    /// Guards the run that was permitted just now. Also returns whether this is its first guard.
    pub(crate) fn guard(
        self,
        agent: AgentKey,
        turn: Option<TurnId>,
        run: Option<RunId>,
    ) -> (Guarded, bool) {
        let guarded = Guarded { agent, turn, run, starts: self.calls.starts() };
        // A call may be delivered twice. Only the first guard holds the run.
        (guarded, self.calls.guards_first(guarded))
    }

    /// Returns whether no other run has begun since this one.
    pub(crate) fn is_newest(&self, guarded: Guarded) -> bool {
        let is_its_turn = |turn| turn == self.turns.view().turn();
        self.calls.starts() == guarded.starts && guarded.turn.is_none_or(is_its_turn)
    }

    /// Removes the guard of this run if the permission was taken away since it was given, and returns why.
    pub(crate) fn give_up_withdrawn(self, guarded: Guarded) -> Option<Reason> {
        // With a slow store a run was once allowed after a stop, because the permission was not asked for again.
        if self.is_permitted(guarded) {
            return None;
        }
        self.calls.unguard(guarded);
        let why = self.turns.machine.explain(guarded.agent);
        Some(if why.allows() { Reason::RunAlreadyEnded } else { why })
    }

    fn is_permitted(&self, guarded: Guarded) -> bool {
        let Guarded { agent, turn, run, .. } = guarded;
        let view = self.turns.view();
        let has_floor = match turn {
            // A permit after a reminder has no turn, so the permit itself is compared.
            Some(_) => {
                let runs = matches!(view.phase(), PhaseKind::Running | PhaseKind::Waiting);
                runs && view.speaker() == Some(agent)
            }
            None => view.permit() == Some(agent),
        };
        let is_newest = self.is_newest(guarded);
        has_floor && is_newest && view.run() == run && !self.turns.commit.is_taken_over()
    }

    /// Converts the end of a host's run, with its text if the host knows it. If the agent has the floor and repeats
    /// what was said before, the outcome says so. Without a text the agent's posts in its turn are compared.
    pub(crate) fn recognised(
        self,
        cx: &Context<'_>,
        agent: AgentKey,
        (outcome, text): (Outcome, Option<&str>),
    ) -> Outcome {
        let view = self.turns.view();
        if view.speaker() != Some(agent) || !cx.settings.reading.skip_repetitions {
            return outcome;
        }
        // A host that knows the text reports it. Without it, what the agent posted in its turn is compared.
        let posted = if matches!(outcome, Outcome::Pass | Outcome::Failed) {
            let (user, anchor) = (cx.directory.user(agent), view.anchor());
            user.zip(anchor).and_then(|(user, anchor)| self.inbox.texts().words_of(user, anchor))
        } else {
            None
        };
        let text = text.filter(|_| matches!(outcome, Outcome::Spoke { .. }));
        let text = text.or(posted.as_deref());
        let names = cx.directory.name_words();
        let repeats = text.is_some_and(|text| self.inbox.talk.repeats(agent, (text, None), names));
        if repeats { Outcome::Repeated } else { outcome }
    }

    pub(crate) fn give_up(self, guarded: Guarded) {
        self.calls.unguard(guarded);
    }
}
