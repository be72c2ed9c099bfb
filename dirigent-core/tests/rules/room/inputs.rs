//! Inputs that are not worth a method of the room.

use dirigent_core::{
    AgentKey, Author, Input, Message, MessageId, MessageKind, Outcome, RunId, Tail,
};

/// A message as an input.
pub(crate) fn message(id: u64, author: Author, kind: MessageKind, text: &str) -> Input {
    Input::Message(Message {
        id: MessageId::new(id),
        author,
        kind,
        tail: Tail::of(text),
        backfilled: false,
    })
}

/// A gate call as an input.
pub(crate) const fn gate(agent: AgentKey, run: Option<RunId>) -> Input {
    Input::Gate { agent: Some(agent), run, latest: None }
}

/// A run's end as an input.
#[expect(clippy::large_types_passed_by_value, reason = "it reads better")]
pub(crate) const fn ended(agent: AgentKey, run: Option<RunId>, outcome: Outcome) -> Input {
    Input::RunEnded { agent, run, outcome }
}
