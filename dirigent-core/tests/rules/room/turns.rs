//! Who writes, and how runs and turns go.

use dirigent_core::{AgentKey, Author, Input, MessageId, MessageKind, Outcome, RunId, Tail};

use super::inputs::{ended, gate, message};
use super::{Room, Step, name, secs, spoke};

impl Room {
    /// A message by anybody; its id is above all before.
    #[track_caller]
    pub(crate) fn post(&mut self, author: Author, kind: MessageKind, text: &str) -> Step {
        self.message += 1;
        let id = self.message;
        self.tell(message(id, author, kind, text))
    }

    /// A person writes.
    #[track_caller]
    pub(crate) fn human(&mut self, text: &str) -> Step {
        self.post(Author::Human, MessageKind::Conversation, text)
    }

    /// An agent's account writes.
    #[track_caller]
    pub(crate) fn says(&mut self, agent: AgentKey, text: &str) -> Step {
        self.post(Author::Agent(agent), MessageKind::Conversation, text)
    }

    /// An unregistered bot writes.
    #[track_caller]
    pub(crate) fn bot(&mut self, text: &str) -> Step {
        self.post(Author::Bot, MessageKind::Conversation, text)
    }

    /// The library's own account writes.
    #[track_caller]
    pub(crate) fn moderator(&mut self, text: &str) -> Step {
        self.post(Author::Moderator, MessageKind::Conversation, text)
    }

    /// A system message (somebody joined, pinned, boosted) in somebody's name.
    #[track_caller]
    pub(crate) fn system(&mut self, author: Author) -> Step {
        self.post(author, MessageKind::System, "")
    }

    /// An edit of a message.
    #[track_caller]
    pub(crate) fn edit(&mut self, id: u64, author: Author, text: &str) -> Step {
        self.tell(Input::MessageEdited { id: MessageId::new(id), author, tail: Tail::of(text) })
    }

    /// A run id never used before.
    pub(crate) fn fresh_run(&mut self) -> RunId {
        self.run += 1;
        RunId::new(self.run)
    }

    /// An agent asks whether a new run may start.
    #[track_caller]
    pub(crate) fn gate(&mut self, agent: AgentKey) -> Step {
        let run = self.fresh_run();
        self.gate_run(agent, run)
    }

    /// An agent asks whether this run may start.
    #[track_caller]
    pub(crate) fn gate_run(&mut self, agent: AgentKey, run: RunId) -> Step {
        self.runs.retain(|(whose, _)| *whose != agent);
        self.runs.push((agent, run));
        self.tell(gate(agent, Some(run)))
    }

    /// An agent that has the floor starts its run.
    #[track_caller]
    pub(crate) fn start(&mut self, agent: AgentKey) -> Step {
        let step = self.gate(agent);
        assert!(step.verdict().is_allowed(), "{:?}", step.reason());
        step
    }

    /// The agent's newest run.
    #[track_caller]
    pub(crate) fn run_of(&self, agent: AgentKey) -> RunId {
        let mut runs = self.runs.iter();
        runs.find(|(whose, _)| *whose == agent).expect("has a run").1
    }

    /// The agent's newest run ends.
    #[expect(clippy::large_types_passed_by_value, reason = "it reads better")]
    #[track_caller]
    pub(crate) fn ends(&mut self, agent: AgentKey, outcome: Outcome) -> Step {
        let run = Some(self.run_of(agent));
        self.tell(ended(agent, run, outcome))
    }

    /// A whole turn with nothing to say; gives the last step.
    #[track_caller]
    pub(crate) fn passes(&mut self, agent: AgentKey) -> Step {
        self.start(agent);
        self.ends(agent, Outcome::Pass)
    }

    /// A run that ends with a reply which has not arrived yet.
    #[track_caller]
    pub(crate) fn talks(&mut self, agent: AgentKey, text: &str) -> Step {
        self.start(agent);
        self.ends(agent, spoke(text))
    }

    /// A run that has started ends with a reply that arrives at once; gives the last step.
    #[track_caller]
    pub(crate) fn talks_on(&mut self, agent: AgentKey, text: &str) -> Step {
        self.ends(agent, spoke(text));
        self.says(agent, text)
    }

    /// A whole turn with a reply that arrives at once; gives the last step.
    #[track_caller]
    pub(crate) fn speaks(&mut self, agent: AgentKey) -> Step {
        let text = format!("this is reply number {} of {}", self.message, name(agent));
        self.talks(agent, &text);
        self.says(agent, &text)
    }

    /// A whole turn with a reply that does not arrive in time.
    #[track_caller]
    pub(crate) fn speaks_unconfirmed(&mut self, agent: AgentKey, text: &str) -> Step {
        self.talks(agent, text);
        self.wait(self.config().confirmation.delivery_timeout)
    }

    /// Everybody passes, in the order of the list, until the list is read again.
    #[track_caller]
    pub(crate) fn all_pass(&mut self) -> Step {
        let mut last = None;
        while let Some(agent) = self.speaker() {
            last = Some(self.passes(agent));
        }
        last.expect("somebody has the floor")
    }

    /// A whole cycle in which everybody speaks, up to the first grant of the next; gives the order.
    #[track_caller]
    pub(crate) fn cycle_of_replies(&mut self) -> Vec<AgentKey> {
        let mut order = Vec::new();
        while let Some(agent) = self.speaker() {
            order.push(agent);
            self.speaks(agent);
            self.wait(secs(31));
        }
        self.human("go on");
        self.members();
        order
    }
}
