//! The inputs of a recorded channel in the form of the file.

use std::sync::Arc;

use dirigent::hooks::RunId;
use dirigent::operate::WakeCause;
use dirigent::ports::Timestamp;
use dirigent::replay::Input;
use dirigent::snapshot::AgentKey;
use dirigent::{Config, MessageId, Mode};
use dirigent_core::{Author, Creation, Message, MessageKind, Outcome, Settlement, Tail, Ticket};

use crate::record::form::{enums, structs};

enums! {
    enum InputFile for Input [newer] {
        Create(creation: Creation),
        SetMode(mode: Mode),
        Gate {
            [opt] agent: Option<AgentKey>,
            [opt] run: Option<RunId>,
            [opt] latest: Option<MessageId>,
        },
        RunEnded { agent: AgentKey, [opt] run: Option<RunId>, outcome: Outcome, },
        Receipt { agent: AgentKey, [opt] run: Option<RunId>, messages: Vec<MessageId>, },
        Replied { agent: AgentKey, [opt] run: Option<RunId>, [opt] next: Option<AgentKey>, },
        Undelivered { agent: AgentKey, [opt] run: Option<RunId>, posted: bool, },
        Chat { away: bool, },
        Message(message: Message),
        Addressed { message: Message, agents: Vec<AgentKey>, },
        MessageEdited { id: MessageId, author: Author, tail: Tail, },
        Members { ticket: Ticket, agents: Vec<AgentKey>, },
        MemberJoined(agent: AgentKey),
        MemberLeft(agent: AgentKey),
        Settled { ticket: Ticket, settlement: Settlement, },
        Wake { [opt] first: Option<AgentKey>, cause: WakeCause, },
        Conclude[by: AgentKey],
        Archive,
        Stop,
        EditedToStop(message: MessageId),
        Deleted(message: MessageId),
        Removed(agent: AgentKey),
        Hold,
        Resume,
        Mute(agent: AgentKey),
        Unmute(agent: AgentKey),
        MayNotWrite { agent: AgentKey, [opt] until: Option<Timestamp>, },
        MayWrite(agent: AgentKey),
        SpeakNext(agent: AgentKey),
        Finish,
        Offline(agent: AgentKey),
        Online(agent: AgentKey),
        Assign(agent: AgentKey),
        Spent[cost: u64],
        ResetBudget,
        TriggerAgain,
        RunsLost { rerun: bool, },
        Reconfigure(config: Arc<Config>),
        Tick,
    }

    enum AuthorFile for Author [newer] {
        Human,
        Agent(agent: AgentKey),
        Bot,
        Moderator,
    }

    enum SettlementFile for Settlement [newer] {
        Done { [opt] message: Option<MessageId>, },
        Failed { [opt] retry_at: Option<Timestamp>, },
        Doubtful,
        Dropped,
    }
}

structs! {
    struct CreationFile for Creation as "Creation" {
        mode: Mode,
        members: Vec<AgentKey>,
        [opt] initiator: Option<AgentKey>,
    }

    struct MessageFile for Message as "Message" {
        id: MessageId,
        author: Author,
        kind: MessageKind,
        tail: Tail,
        [opt] backfilled: bool,
    }
}
