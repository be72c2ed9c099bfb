//! What happened to a recorded channel, as it stands in its file.

use std::sync::Arc;

use dirigent::{AgentKey, Input, MessageId, Mode, RunId, Timestamp, WakeCause};
use dirigent_core::{Author, Creation, Message, MessageKind, Settlement, Ticket};
use serde::{Deserialize, Serialize};

use super::config::ConfigFile;
use crate::channel_file::{Id, Name, OutcomeFile, TailText, is_default};

/// An input.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum InputFile {
    Create {
        mode: Name<Mode>,
        members: Vec<u32>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        initiator: Option<u32>,
    },
    SetMode(Name<Mode>),
    Gate {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<u32>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<Id>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        latest: Option<Id>,
    },
    RunEnded {
        agent: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<Id>,
        outcome: OutcomeFile,
    },
    Receipt {
        agent: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<Id>,
        messages: Vec<Id>,
    },
    Replied {
        agent: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<Id>,
    },
    Undelivered {
        agent: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<Id>,
        posted: bool,
    },
    Chat {
        away: bool,
    },
    Message(MessageFile),
    Addressed {
        message: MessageFile,
        agents: Vec<u32>,
    },
    MessageEdited {
        id: Id,
        author: AuthorFile,
        tail: TailText,
    },
    Members {
        ticket: u64,
        agents: Vec<u32>,
    },
    MemberJoined(u32),
    MemberLeft(u32),
    Settled {
        ticket: u64,
        settlement: SettlementFile,
    },
    Wake {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first: Option<u32>,
        cause: CauseFile,
    },
    Conclude(u32),
    Archive,
    Stop,
    Hold,
    Resume,
    Mute(u32),
    Unmute(u32),
    SpeakNext(u32),
    Finish,
    Offline(u32),
    Online(u32),
    Assign(u32),
    Spent(u64),
    ResetBudget,
    TriggerAgain,
    RunsLost {
        rerun: bool,
    },
    Reconfigure(Box<ConfigFile>),
    Tick,
    /// One that is newer than this crate.
    #[serde(skip)]
    Newer,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct MessageFile {
    id: Id,
    author: AuthorFile,
    kind: KindFile,
    tail: TailText,
    #[serde(default, skip_serializing_if = "is_default")]
    backfilled: bool,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum AuthorFile {
    Human,
    Agent(u32),
    Bot,
    Moderator,
    #[serde(skip)]
    Newer,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum KindFile {
    Conversation,
    System,
    StopWord,
    ResumeWord,
    #[serde(skip)]
    Newer,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum SettlementFile {
    Done {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<Id>,
    },
    Failed {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_at: Option<u64>,
    },
    Doubtful,
    Dropped,
    #[serde(skip)]
    Newer,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum CauseFile {
    Operator,
    Guide,
    Result,
    #[serde(skip)]
    Newer,
}

fn keys(agents: &[AgentKey]) -> Vec<u32> {
    agents.iter().map(|agent| agent.get()).collect()
}

fn agents(keys: Vec<u32>) -> Vec<AgentKey> {
    keys.into_iter().map(AgentKey::new).collect()
}

const fn id(message: MessageId) -> Id {
    Id(message.get())
}

const fn message(id: Id) -> MessageId {
    MessageId::new(id.0)
}

const fn run_id(run: RunId) -> Id {
    Id(run.get())
}

impl From<&Input> for InputFile {
    fn from(input: &Input) -> Self {
        match input {
            Input::Create(Creation { mode, members, initiator }) => Self::Create {
                mode: Name(*mode),
                members: keys(members),
                initiator: initiator.map(AgentKey::get),
            },
            Input::SetMode(mode) => Self::SetMode(Name(*mode)),
            Input::Gate { agent, run, latest } => Self::Gate {
                agent: agent.map(AgentKey::get),
                run: run.map(run_id),
                latest: latest.map(id),
            },
            Input::RunEnded { agent, run, outcome } => {
                let (agent, run) = (agent.get(), run.map(run_id));
                Self::RunEnded { agent, run, outcome: outcome.into() }
            }
            Input::Receipt { agent, run, messages } => {
                let messages = messages.iter().copied().map(id).collect();
                Self::Receipt { agent: agent.get(), run: run.map(run_id), messages }
            }
            Input::Message(message) => Self::Message(message.into()),
            Input::Addressed { message, agents } => {
                Self::Addressed { message: message.into(), agents: keys(agents) }
            }
            Input::MessageEdited { id: edited, author, tail } => Self::MessageEdited {
                id: id(*edited),
                author: (*author).into(),
                tail: TailText(*tail),
            },
            Input::Members { ticket, agents } => {
                Self::Members { ticket: ticket.get(), agents: keys(agents) }
            }
            Input::Settled { ticket, settlement } => {
                Self::Settled { ticket: ticket.get(), settlement: (*settlement).into() }
            }
            Input::Wake { first, cause } => {
                Self::Wake { first: first.map(AgentKey::get), cause: (*cause).into() }
            }
            Input::Reconfigure(config) => Self::Reconfigure(Box::new(ConfigFile::from(&**config))),
            Input::RunsLost { rerun } => Self::RunsLost { rerun: *rerun },
            Input::Chat { away } => Self::Chat { away: *away },
            Input::Replied { agent, run } => {
                Self::Replied { agent: agent.get(), run: run.map(run_id) }
            }
            Input::Undelivered { agent, run, posted } => {
                let (agent, run) = (agent.get(), run.map(run_id));
                Self::Undelivered { agent, run, posted: *posted }
            }
            Input::Spent { cost } => Self::Spent(*cost),
            Input::MemberJoined(_)
            | Input::MemberLeft(_)
            | Input::Conclude { .. }
            | Input::Archive
            | Input::Stop
            | Input::Hold
            | Input::Resume
            | Input::Mute(_)
            | Input::Unmute(_)
            | Input::SpeakNext(_)
            | Input::Finish
            | Input::Offline(_)
            | Input::Online(_)
            | Input::Assign(_)
            | Input::ResetBudget
            | Input::TriggerAgain
            | Input::Tick
            | _ => order_of(input),
        }
    }
}

/// What is said in a word, and about one agent at most.
fn order_of(input: &Input) -> InputFile {
    match input {
        Input::MemberJoined(agent) => InputFile::MemberJoined(agent.get()),
        Input::MemberLeft(agent) => InputFile::MemberLeft(agent.get()),
        Input::Conclude { by } => InputFile::Conclude(by.get()),
        Input::Mute(agent) => InputFile::Mute(agent.get()),
        Input::Unmute(agent) => InputFile::Unmute(agent.get()),
        Input::SpeakNext(agent) => InputFile::SpeakNext(agent.get()),
        Input::Offline(agent) => InputFile::Offline(agent.get()),
        Input::Online(agent) => InputFile::Online(agent.get()),
        Input::Assign(agent) => InputFile::Assign(agent.get()),
        Input::Archive => InputFile::Archive,
        Input::Stop => InputFile::Stop,
        Input::Hold => InputFile::Hold,
        Input::Resume => InputFile::Resume,
        Input::Finish => InputFile::Finish,
        Input::ResetBudget => InputFile::ResetBudget,
        Input::TriggerAgain => InputFile::TriggerAgain,
        Input::Tick => InputFile::Tick,
        Input::Create(_)
        | Input::SetMode(_)
        | Input::Gate { .. }
        | Input::RunEnded { .. }
        | Input::Receipt { .. }
        | Input::Message(_)
        | Input::Addressed { .. }
        | Input::MessageEdited { .. }
        | Input::Members { .. }
        | Input::Settled { .. }
        | Input::Wake { .. }
        | Input::Spent { .. }
        | Input::RunsLost { .. }
        | Input::Replied { .. }
        | Input::Undelivered { .. }
        | Input::Chat { .. }
        | Input::Reconfigure(_)
        | _ => InputFile::Newer,
    }
}

impl From<InputFile> for Input {
    fn from(file: InputFile) -> Self {
        let key = AgentKey::new;
        match file {
            InputFile::Create { mode, members, initiator } => Self::Create(Creation {
                mode: mode.0,
                members: agents(members),
                initiator: initiator.map(key),
            }),
            InputFile::SetMode(mode) => Self::SetMode(mode.0),
            InputFile::Gate { agent, run, latest } => Self::Gate {
                agent: agent.map(key),
                run: run.map(|run| RunId::new(run.0)),
                latest: latest.map(message),
            },
            InputFile::RunEnded { agent, run, outcome } => Self::RunEnded {
                agent: key(agent),
                run: run.map(|run| RunId::new(run.0)),
                outcome: outcome.into(),
            },
            InputFile::Receipt { agent, run, messages } => Self::Receipt {
                agent: key(agent),
                run: run.map(|run| RunId::new(run.0)),
                messages: messages.into_iter().map(message).collect(),
            },
            InputFile::Message(message) => Self::Message(message.into()),
            InputFile::Addressed { message, agents: addressed } => {
                Self::Addressed { message: message.into(), agents: agents(addressed) }
            }
            InputFile::MessageEdited { id, author, tail } => {
                Self::MessageEdited { id: message(id), author: author.into(), tail: tail.0 }
            }
            InputFile::Members { ticket, agents: present } => {
                Self::Members { ticket: Ticket::new(ticket), agents: agents(present) }
            }
            InputFile::MemberJoined(agent) => Self::MemberJoined(key(agent)),
            InputFile::MemberLeft(agent) => Self::MemberLeft(key(agent)),
            InputFile::Settled { ticket, settlement } => {
                Self::Settled { ticket: Ticket::new(ticket), settlement: settlement.into() }
            }
            InputFile::Wake { first, cause } => {
                Self::Wake { first: first.map(key), cause: cause.into() }
            }
            InputFile::Conclude(by) => Self::Conclude { by: key(by) },
            InputFile::Archive => Self::Archive,
            InputFile::Stop => Self::Stop,
            InputFile::Hold => Self::Hold,
            InputFile::Resume => Self::Resume,
            InputFile::Mute(agent) => Self::Mute(key(agent)),
            InputFile::Unmute(agent) => Self::Unmute(key(agent)),
            InputFile::SpeakNext(agent) => Self::SpeakNext(key(agent)),
            InputFile::Finish => Self::Finish,
            InputFile::Offline(agent) => Self::Offline(key(agent)),
            InputFile::Online(agent) => Self::Online(key(agent)),
            InputFile::Assign(agent) => Self::Assign(key(agent)),
            InputFile::Spent(cost) => Self::Spent { cost },
            InputFile::ResetBudget => Self::ResetBudget,
            InputFile::TriggerAgain => Self::TriggerAgain,
            InputFile::RunsLost { rerun } => Self::RunsLost { rerun },
            InputFile::Chat { away } => Self::Chat { away },
            InputFile::Replied { agent, run } => {
                Self::Replied { agent: key(agent), run: run.map(|run| RunId::new(run.0)) }
            }
            InputFile::Undelivered { agent, run, posted } => {
                let run = run.map(|run| RunId::new(run.0));
                Self::Undelivered { agent: key(agent), run, posted }
            }
            InputFile::Reconfigure(config) => Self::Reconfigure(Arc::new((*config).into())),
            InputFile::Tick | InputFile::Newer => Self::Tick,
        }
    }
}

impl From<&Message> for MessageFile {
    fn from(message: &Message) -> Self {
        let kind = match message.kind {
            MessageKind::Conversation => KindFile::Conversation,
            MessageKind::System => KindFile::System,
            MessageKind::StopWord => KindFile::StopWord,
            MessageKind::ResumeWord => KindFile::ResumeWord,
            _ => KindFile::Newer,
        };
        let (author, tail) = (message.author.into(), TailText(message.tail));
        Self { id: id(message.id), author, kind, tail, backfilled: message.backfilled }
    }
}

impl From<MessageFile> for Message {
    fn from(file: MessageFile) -> Self {
        let kind = match file.kind {
            KindFile::Conversation | KindFile::Newer => MessageKind::Conversation,
            KindFile::System => MessageKind::System,
            KindFile::StopWord => MessageKind::StopWord,
            KindFile::ResumeWord => MessageKind::ResumeWord,
        };
        let (author, tail) = (file.author.into(), file.tail.0);
        Self { id: message(file.id), author, kind, tail, backfilled: file.backfilled }
    }
}

impl From<Author> for AuthorFile {
    fn from(author: Author) -> Self {
        match author {
            Author::Human => Self::Human,
            Author::Agent(agent) => Self::Agent(agent.get()),
            Author::Bot => Self::Bot,
            Author::Moderator => Self::Moderator,
            _ => Self::Newer,
        }
    }
}

impl From<AuthorFile> for Author {
    fn from(file: AuthorFile) -> Self {
        match file {
            AuthorFile::Human => Self::Human,
            AuthorFile::Agent(agent) => Self::Agent(AgentKey::new(agent)),
            AuthorFile::Bot | AuthorFile::Newer => Self::Bot,
            AuthorFile::Moderator => Self::Moderator,
        }
    }
}

impl From<Settlement> for SettlementFile {
    fn from(settlement: Settlement) -> Self {
        match settlement {
            Settlement::Done { message } => Self::Done { message: message.map(id) },
            Settlement::Failed { retry_at } => {
                Self::Failed { retry_at: retry_at.map(Timestamp::as_millis) }
            }
            Settlement::Doubtful => Self::Doubtful,
            Settlement::Dropped => Self::Dropped,
            _ => Self::Newer,
        }
    }
}

impl From<SettlementFile> for Settlement {
    fn from(file: SettlementFile) -> Self {
        match file {
            SettlementFile::Done { message: posted } => Self::Done { message: posted.map(message) },
            SettlementFile::Failed { retry_at } => {
                Self::Failed { retry_at: retry_at.map(Timestamp::from_millis) }
            }
            SettlementFile::Doubtful | SettlementFile::Newer => Self::Doubtful,
            SettlementFile::Dropped => Self::Dropped,
        }
    }
}

impl From<WakeCause> for CauseFile {
    fn from(cause: WakeCause) -> Self {
        match cause {
            WakeCause::Operator => Self::Operator,
            WakeCause::Guide => Self::Guide,
            WakeCause::Result => Self::Result,
            _ => Self::Newer,
        }
    }
}

impl From<CauseFile> for WakeCause {
    fn from(file: CauseFile) -> Self {
        match file {
            CauseFile::Operator | CauseFile::Newer => Self::Operator,
            CauseFile::Guide => Self::Guide,
            CauseFile::Result => Self::Result,
        }
    }
}
