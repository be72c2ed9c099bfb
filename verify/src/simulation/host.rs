//! The fake host: carries out what the channel asks for, well or badly.

use dirigent_core::{
    AgentKey, Author, Cause, Effect, MessageId, MessageKind, ReminderPlace, RunId, Ticket,
};

use super::agenda::{Happening, How};
use super::texts::Text;
use super::world::World;

/// How many messages a poll reads at most.
const POLLED: usize = 6;

impl World {
    /// Carries out one effect.
    pub(super) fn perform(&mut self, effect: &Effect) {
        match *effect {
            Effect::FetchMembers { ticket } => self.fetch_members(ticket),
            Effect::Trigger { ticket, agent, .. } => {
                if self.post(ticket) {
                    self.wake(agent);
                }
            }
            Effect::Notice { ticket, .. } | Effect::Delete { ticket, .. } => {
                self.post(ticket);
            }
            Effect::Reminder { ticket, initiator, place } => {
                if self.post(ticket) && place == ReminderPlace::Discussion {
                    self.wake(initiator);
                }
            }
            Effect::Poll { ticket, after } => self.poll(ticket, after),
            Effect::Consult { ticket, .. } => self.consult(ticket),
            Effect::Inject { .. } | Effect::Deliver { .. } => {
                self.moves += 1;
                self.answers += 1;
            }
            Effect::CancelRun { agent, .. } => self.cancel(agent),
            Effect::Transition(told) => {
                self.moves += 1;
                self.answers += u64::from(told.cause == Cause::OrchestratorAnswered);
                if crate::invariants::is_grant(&told) {
                    self.answers += 1;
                    self.tally.turns += 1;
                }
            }
        }
    }

    /// An orchestrator that answers, fails, is late or never answers.
    fn consult(&mut self, ticket: Ticket) {
        let epoch = self.epoch;
        let patience = self.watched.channel().config().people.consult_deadline.as_millis();
        let patience = u64::try_from(patience).unwrap_or(30_000);
        if self.fault(self.faults.consult_lost) {
            return;
        }
        let failed = self.fault(self.faults.consult_failed);
        let late = self.fault(self.faults.consult_late);
        let how = if failed { How::Failed { retry_ms: 0 } } else { How::Done(None) };
        let longest = if late { patience * 3 } else { patience / 2 };
        let at = self.time + self.dice.below(longest + 1);
        self.agenda.add(at, Happening::Settle { ticket, how, epoch });
    }

    fn fetch_members(&mut self, ticket: Ticket) {
        let epoch = self.epoch;
        let patience = self.watched.channel().config().members.refresh_deadline.as_millis();
        let patience = u64::try_from(patience).unwrap_or(10_000);
        let soon = self.time + self.dice.below(patience / 8 + 1);
        if self.fault(self.faults.answer_lost) {
            return;
        }
        if self.fault(self.faults.members_failed) {
            let how = How::Failed { retry_ms: 0 };
            return self.agenda.add(soon, Happening::Settle { ticket, how, epoch });
        }
        let at = if self.fault(self.faults.members_late) {
            self.time + self.dice.between(patience / 2, patience * 3)
        } else {
            soon
        };
        self.agenda.add(at, Happening::Members { ticket, epoch });
    }

    /// Posts something of the moderator's; returns whether it really stands there.
    fn post(&mut self, ticket: Ticket) -> bool {
        let epoch = self.epoch;
        let at = self.time + self.dice.between(5, 400);
        if self.fault(self.faults.post_failed) {
            let how = How::Failed { retry_ms: self.dice.below(60_000) };
            self.agenda.add(at, Happening::Settle { ticket, how, epoch });
            return false;
        }
        let doubtful = self.fault(self.faults.post_doubtful);
        let unanswered = self.fault(self.faults.answer_lost);
        if (doubtful || unanswered) && self.dice.hits(500_000) {
            if doubtful {
                let how = How::Doubtful;
                self.agenda.add(at, Happening::Settle { ticket, how, epoch });
            }
            return false;
        }
        let id = self.dice.hits(700_000).then(|| {
            let text = Text::whole(0);
            let id = self.room.post(Author::Moderator, MessageKind::Conversation, text);
            if self.dice.hits(300_000) {
                self.push(id, at);
            }
            id
        });
        let how = if doubtful { How::Doubtful } else { How::Done(id) };
        if !unanswered {
            self.agenda.add(at, Happening::Settle { ticket, how, epoch });
        }
        true
    }

    /// The woken agent asks before long, if it is one that starts.
    pub(super) fn wake(&mut self, agent: AgentKey) {
        let Some(place) = self.cast.iter().position(|known| known.key == agent) else {
            return;
        };
        let starts = self.cast.get(place).map_or(0, |agent| agent.character.starts);
        if !self.dice.hits(starts) {
            return;
        }
        let slow = self.dice.hits(30_000);
        let delay = self.dice.between(20, if slow { 120_000 } else { 1_500 });
        let agent = u8::try_from(place).unwrap_or(0);
        let run = self.name_run();
        let epoch = self.epoch;
        self.agenda.add(self.time + delay, Happening::Ask { agent, run, epoch });
    }

    fn poll(&mut self, ticket: Ticket, after: Option<MessageId>) {
        let epoch = self.epoch;
        let at = self.time + self.dice.between(30, 600);
        if self.fault(self.faults.answer_lost) {
            return;
        }
        let how = if self.fault(self.faults.post_failed) {
            How::Failed { retry_ms: self.dice.below(20_000) }
        } else {
            let found: Vec<_> = self.room.after(after, POLLED).collect();
            for id in found {
                self.agenda.add(at, Happening::Deliver(id));
            }
            How::Done(None)
        };
        self.agenda.add(at, Happening::Settle { ticket, how, epoch });
    }

    /// The run lost its permission; a stubborn agent goes on without one.
    fn cancel(&mut self, key: AgentKey) {
        let Some(agent) = self.cast.iter_mut().find(|known| known.key == key) else {
            return;
        };
        let stubborn = self.dice.hits(agent.character.stubborn);
        let run = agent.run;
        agent.run = run.map(|(run, _)| (run, false)).filter(|_| stubborn);
        if let (Some((run, _)), true) = (run, stubborn) {
            self.ask_again(key, run);
        }
    }

    /// An agent that does not take an end for an answer comes back with the same run.
    pub(super) fn ask_again(&mut self, key: AgentKey, run: RunId) {
        let place = self.cast.iter().position(|known| known.key == key);
        if let Some(agent) = place.and_then(|place| u8::try_from(place).ok()) {
            let at = self.time + self.dice.between(100, 60_000);
            let epoch = self.epoch;
            self.agenda.add(at, Happening::Ask { agent, run, epoch });
        }
    }

    /// Discord pushes a message: once, late, twice or never.
    pub(super) fn push(&mut self, id: MessageId, at: u64) {
        if self.fault(self.faults.message_lost) {
            return;
        }
        let late = self.fault(self.faults.message_reordered);
        let delay = self.dice.between(10, if late { 60_000 } else { 150 });
        self.agenda.add(at + delay, Happening::Deliver(id));
        if self.fault(self.faults.message_repeated) {
            let again = at + delay + self.dice.below(90_000);
            self.agenda.add(again, Happening::Deliver(id));
        }
    }
}
