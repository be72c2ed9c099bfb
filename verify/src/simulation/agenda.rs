//! What will happen in the simulated world, and when.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use dirigent_core::{MessageId, RunId, Ticket};

use super::texts::Text;

/// Something that will happen. Agents are named by their place in the world's cast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Happening {
    /// A message is pushed.
    Deliver(MessageId),
    /// The chat tells that a message was deleted.
    Delete(MessageId),
    /// An edit is pushed.
    DeliverEdit(MessageId),
    /// An agent posts, and finishes the message later if it is a draft.
    Post { agent: u8, text: Text, draft: bool },
    /// An agent finishes a message.
    Finish { message: MessageId, text: Text },
    /// An agent asks whether it may run.
    Ask { agent: u8, run: RunId, epoch: u32 },
    /// An agent's run ends.
    End { agent: u8, run: RunId, ending: Ending, epoch: u32 },
    /// The host says which messages a run posted.
    Receive { agent: u8, run: RunId, after: Option<MessageId>, epoch: u32 },
    /// The host says that it was restarted, and that what ran is gone.
    LoseRuns { rerun: bool, epoch: u32 },
    /// An agent that crashed is back; later an operator assigns it.
    Back { agent: u8, assigned: bool },
    /// The members were read.
    Members { ticket: Ticket, epoch: u32 },
    /// An effect is settled.
    Settle { ticket: Ticket, how: How, epoch: u32 },
}

/// How a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ending {
    Pass,
    Spoke(Text),
    /// It forgot the signal, or has more to say.
    Unfinished(Text),
    /// A person is to answer.
    AwaitsHuman(Text),
    /// What the host takes for a repetition.
    Repeated,
    Failed,
}

/// How an effect is settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum How {
    Done(Option<MessageId>),
    Failed { retry_ms: u64 },
    Doubtful,
    Dropped,
}

/// Everything that is to come, by time.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    heap: BinaryHeap<Reverse<(u64, u32, Happening)>>,
    number: u32,
}

impl Agenda {
    /// Lets something happen at this moment of real time.
    pub(super) fn add(&mut self, at: u64, happening: Happening) {
        self.number = self.number.wrapping_add(1);
        self.heap.push(Reverse((at, self.number, happening)));
    }

    /// When the next thing happens.
    pub(super) fn next_at(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse((at, ..))| *at)
    }

    /// The next thing and its time.
    pub(super) fn pop(&mut self) -> Option<(u64, Happening)> {
        self.heap.pop().map(|Reverse((at, _, happening))| (at, happening))
    }

    /// How much is to come.
    pub(super) fn len(&self) -> usize {
        self.heap.len()
    }
}
