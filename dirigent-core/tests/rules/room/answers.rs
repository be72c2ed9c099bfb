//! The host's answers: who is here, and what became of effects.

use dirigent_core::{AgentKey, Input, PhaseKind, Settlement, Ticket};

use super::{Room, Step};

impl Room {
    /// The members are read: those present.
    #[track_caller]
    pub(crate) fn members(&mut self) -> Step {
        let ticket = self.fetch.take().expect("the members are asked for");
        let agents = self.present.clone();
        self.tell(Input::Members { ticket, agents })
    }

    /// The members are read, if they were asked for.
    #[track_caller]
    pub(crate) fn members_or_nothing(&mut self) {
        if self.phase() == PhaseKind::Refreshing {
            self.members();
        }
    }

    /// The members cannot be read.
    #[track_caller]
    pub(crate) fn members_fail(&mut self) -> Step {
        let ticket = self.fetch.take().expect("the members are asked for");
        self.settle(ticket, Settlement::Failed { retry_at: None })
    }

    /// What became of an effect.
    #[track_caller]
    pub(crate) fn settle(&mut self, ticket: Ticket, settlement: Settlement) -> Step {
        self.tell(Input::Settled { ticket, settlement })
    }

    /// The last trigger was posted as a message; gives the message's id with the step.
    #[track_caller]
    pub(crate) fn trigger_posted(&mut self) -> (u64, Step) {
        self.message += 1;
        let ticket = self.trigger.take().expect("a trigger is asked for");
        let message = Some(self.newest());
        let step = self.settle(ticket, Settlement::Done { message });
        (self.message, step)
    }

    /// The last poll was answered, with nothing new.
    #[track_caller]
    pub(crate) fn polled(&mut self) -> Step {
        let ticket = self.poll.take().expect("a poll is asked for");
        self.settle(ticket, Settlement::Done { message: None })
    }

    /// An agent comes in.
    #[track_caller]
    pub(crate) fn joins(&mut self, agent: AgentKey) -> Step {
        if !self.present.contains(&agent) {
            self.present.push(agent);
        }
        self.tell(Input::MemberJoined(agent))
    }

    /// An agent leaves.
    #[track_caller]
    pub(crate) fn leaves(&mut self, agent: AgentKey) -> Step {
        self.present.retain(|other| *other != agent);
        self.tell(Input::MemberLeft(agent))
    }
}
