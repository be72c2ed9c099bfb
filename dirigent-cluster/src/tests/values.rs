//! Values of every kind that crosses between processes, with each field that it may have.

use dirigent::command::{CommandAnswer, Invoker, SlashCommand};
use dirigent::hooks::{Outcome, RunId};
use dirigent::operate::{CreatedChannel, Opening, Refusal, ResultPost, Summary};
use dirigent::ports::{
    Attachment, AuthorKind, ChannelAnswer, ChannelRequest, ChatKind, ExplainAnswer, GatewayEvent,
    GuildId, Identity, Nonce, Timestamp,
};
use dirigent::store::Discussion;
use dirigent::tools::Caller;
use dirigent::{AgentId, ChannelId, ChatMessage, MessageId, Mode, UserId};
use dirigent_core::Tail;
use dirigent_relay::Refused;
use dirigent_relay::parts::{ToolAnswer, UseTool};
use dirigent_relay::rules::{
    ChannelState, CheckAnswer, CheckTurn, CompleteAnswer, GetChannelState, GetIdentity,
    TurnComplete,
};

use crate::rules::{AskChannel, HeardElsewhere, NotOurs};

fn channel(number: u64) -> ChannelId {
    ChannelId::new(100_000_000_000_000_000 + number)
}

fn user(number: u64) -> UserId {
    UserId::new(200_000_000_000_000_000 + number)
}

fn message(number: u64) -> MessageId {
    MessageId::new(300_000_000_000_000_000 + number)
}

fn guild() -> GuildId {
    GuildId::new(400_000_000_000_000_000)
}

fn poet() -> AgentId {
    "poet".into()
}

fn moment(seconds: u64) -> Timestamp {
    Timestamp::from_millis(1_700_000_000_000 + 1_000 * seconds)
}

/// All that is asked of a channel.
pub(super) fn requests() -> Vec<AskChannel> {
    let terms = Discussion {
        callback: channel(2),
        callback_guild: Some(guild()),
        guide: "Which plan?".to_owned(),
    };
    let members = || vec!["critic".into(), poet()];
    let opening = |terms| CreatedChannel {
        mode: Mode::Discussion,
        members: members(),
        opening: Some(Opening { initiator: poet(), terms }),
    };
    let work = CreatedChannel { mode: Mode::Work, members: members(), opening: None };
    let invoker = Invoker { guild: Some(guild()), permissions: 2_048, host_word: Some(true) };
    let bare = Invoker { guild: None, permissions: 0, host_word: None };
    let command = |command, invoker, input: &str| ChannelRequest::Command {
        command,
        invoker,
        input: input.to_owned(),
    };
    let nowhere = Discussion { callback_guild: None, ..terms.clone() };
    let requests = [
        ChannelRequest::Register(opening(Some(terms))),
        ChannelRequest::Register(opening(Some(nowhere))),
        ChannelRequest::Register(opening(None)),
        ChannelRequest::Register(work),
        ChannelRequest::MayConclude { by: poet() },
        ChannelRequest::Conclude { by: poet(), summary: None },
        ChannelRequest::Conclude { by: poet(), summary: Some(Summary::Path("a/b.md".into())) },
        ChannelRequest::Conclude { by: poet(), summary: Some(Summary::Text("We take it.".into())) },
        ChannelRequest::WakeForResult { first: None },
        ChannelRequest::WakeForResult { first: Some(poet()) },
        command(SlashCommand::SetChannelMode, invoker, "chat"),
        command(SlashCommand::Stop, bare, ""),
        command(SlashCommand::Resume, bare, ""),
        command(SlashCommand::Status, bare, ""),
        command(SlashCommand::Why, bare, "poet"),
        command(SlashCommand::Next, bare, "poet"),
        ChannelRequest::SetMode { mode: Mode::None },
        ChannelRequest::SetMode { mode: Mode::Chat },
        ChannelRequest::SetMode { mode: Mode::Report },
        ChannelRequest::Stop,
        ChannelRequest::Hold,
        ChannelRequest::Resume,
        ChannelRequest::Finish,
        ChannelRequest::Wake { first: None },
        ChannelRequest::Wake { first: Some(poet()) },
        ChannelRequest::SpeakNext { agent: poet() },
        ChannelRequest::Mute { agent: poet() },
        ChannelRequest::Unmute { agent: poet() },
        ChannelRequest::Assign { agent: poet() },
        ChannelRequest::ResetBudget,
        ChannelRequest::Archive,
        ChannelRequest::RetryPosts,
        ChannelRequest::DismissResult,
        ChannelRequest::SendResult { to: channel(2) },
        ChannelRequest::CheckTurn { agent_id: poet(), run_id: None },
        ChannelRequest::CheckTurn { agent_id: poet(), run_id: Some(RunId::new(7)) },
        ChannelRequest::State,
        ChannelRequest::Explain { agent_id: poet() },
    ];
    let ends = outcomes().into_iter().map(|(run_id, outcome, delivered_message_ids)| {
        ChannelRequest::TurnComplete { agent_id: poet(), run_id, outcome, delivered_message_ids }
    });
    let ask = |request| AskChannel { channel_id: channel(1), request, within_ms: 1_700 };
    requests.into_iter().chain(ends).map(ask).collect()
}

/// Every way in which a run ends, with and without all that may be said of it.
fn outcomes() -> Vec<(Option<RunId>, Outcome, Vec<MessageId>)> {
    let tail = || Tail::of("The moon is a lantern.").with_attachment();
    let run = Some(RunId::new(7));
    vec![
        (run, Outcome::Spoke { tail: tail() }, vec![message(5), message(6)]),
        (run, Outcome::Spoke { tail: Tail::from_parts("lantern.", None, false) }, Vec::new()),
        (run, Outcome::Unfinished { tail: tail() }, Vec::new()),
        (run, Outcome::AwaitsHuman { tail: tail() }, Vec::new()),
        (run, Outcome::Repeated, Vec::new()),
        (run, Outcome::Failed, Vec::new()),
        (None, Outcome::Pass, Vec::new()),
    ]
}

pub(super) fn answers() -> Vec<ChannelAnswer> {
    let command = CommandAnswer { text: "Stopped.".to_owned(), changed: true };
    let why = ExplainAnswer { allows: false, text: "poet may not speak: stopped.".to_owned() };
    vec![
        ChannelAnswer::Done,
        ChannelAnswer::Concluded(ResultPost::Posted),
        ChannelAnswer::Concluded(ResultPost::Queued),
        ChannelAnswer::Concluded(ResultPost::Nowhere),
        ChannelAnswer::Command(command),
        ChannelAnswer::Turn(check_answer()),
        ChannelAnswer::Ended(complete_answer()),
        ChannelAnswer::State(state()),
        ChannelAnswer::Explained(why),
        ChannelAnswer::Refused(Refusal::NotTheInitiator),
        ChannelAnswer::UnknownAgent(poet()),
        ChannelAnswer::UnknownChannel,
    ]
}

pub(super) fn heard() -> HeardElsewhere {
    let [full, bare] = said();
    let (channel_id, user) = (channel(1), user(1));
    let deleted = message(3);
    let newest = message(4);
    HeardElsewhere {
        missed: true,
        events: vec![
            GatewayEvent::MessageCreated(full),
            GatewayEvent::MessageUpdated(bare),
            GatewayEvent::MessageDeleted { channel: channel_id, message: deleted },
            GatewayEvent::TypingStarted { channel: channel_id, user },
            GatewayEvent::MemberJoined { channel: channel_id, user },
            GatewayEvent::MemberLeft { channel: channel_id, user },
            GatewayEvent::NewestMessage { channel: channel_id, message: newest, parent: None },
            GatewayEvent::NewestMessage {
                channel: channel_id,
                message: newest,
                parent: Some(channel(2)),
            },
            GatewayEvent::ThreadSeen { thread: channel_id, parent: channel(2) },
            GatewayEvent::ChannelDeleted(channel_id),
        ],
    }
}

pub(super) fn not_ours() -> NotOurs {
    NotOurs { elsewhere: vec![0, 2] }
}

/// A message with every field, and one with none that may be absent.
pub(super) fn said() -> [ChatMessage; 2] {
    let picture = Attachment {
        content_type: Some("image/png".into()),
        description: Some("A cat.".into()),
        ..Attachment::new("cat.png", "https://example.org/cat.png", 512)
    };
    let full = ChatMessage {
        author_name: Some("alice".into()),
        author_kind: AuthorKind::Bot,
        kind: ChatKind::Reply,
        reply_to: Some(message(1)),
        attachments: vec![picture, Attachment::new("a.txt", "https://example.org/a.txt", 1)],
        embeds: 2,
        sent_at: moment(1),
        nonce: Some(Nonce::from_parts(1, 2, 3)),
        ..ChatMessage::new(message(2), channel(1), user(1), "Hello \u{1f319}\n\"you\"")
    };
    let bare = ChatMessage {
        author_kind: AuthorKind::Webhook,
        kind: ChatKind::System,
        sent_at: moment(2),
        ..ChatMessage::new(message(3), channel(1), user(2), "")
    };
    [full, bare]
}

pub(super) fn checks() -> Vec<CheckTurn> {
    [None, Some(RunId::new(7))]
        .map(|run_id| CheckTurn { agent_id: poet(), channel_id: channel(1), run_id })
        .into()
}

pub(super) fn check_answer() -> CheckAnswer {
    CheckAnswer {
        allowed: false,
        current_speaker: Some("critic".into()),
        reason: "critic has the floor".to_owned(),
        holds_floor: false,
        was_running: false,
        no_reply_model: Some("dirigent/no-reply".to_owned()),
    }
}

pub(super) fn ends() -> Vec<TurnComplete> {
    let ends = outcomes().into_iter().map(|(run_id, outcome, delivered_message_ids)| {
        let (agent_id, channel_id) = (poet(), channel(1));
        TurnComplete { agent_id, channel_id, run_id, outcome, delivered_message_ids }
    });
    ends.collect()
}

pub(super) fn complete_answer() -> CompleteAnswer {
    CompleteAnswer { accepted: true, duplicate: false }
}

pub(super) fn get_identity() -> GetIdentity {
    GetIdentity { discord_user_id: user(1) }
}

pub(super) fn identity() -> Identity {
    Identity { discord_user_id: user(1), agent_id: poet(), agent_name: "Poet".to_owned() }
}

pub(super) fn get_state() -> GetChannelState {
    GetChannelState { channel_id: channel(1) }
}

pub(super) fn state() -> ChannelState {
    ChannelState {
        mode: "chat".to_owned(),
        tm_state: "normal".to_owned(),
        current_speaker: Some(poet()),
    }
}

pub(super) fn use_tools() -> Vec<UseTool> {
    let caller = Caller { guild: Some(guild()), channel: Some(channel(1)), ..Caller::new(poet()) };
    let arguments = serde_json::json!({ "name": "ring" });
    vec![
        UseTool::new(&caller, "create-chat-channel", arguments.clone()),
        UseTool::new(&Caller::new(poet()), "create-chat-channel", arguments),
    ]
}

pub(super) fn tool_answers() -> Vec<ToolAnswer> {
    vec![
        ToolAnswer::Done(serde_json::json!({ "channel": "100000000000000002" })),
        ToolAnswer::Error(serde_json::json!({ "error": "missing-argument", "message": "name" })),
    ]
}

/// Why a question is not answered.
pub(super) fn refusals() -> Vec<Refused> {
    vec![
        Refused::UnknownRule,
        Refused::BadQuestion { why: "it is no JSON (column 1)".to_owned() },
        Refused::NotBound { agent: poet() },
        Refused::OnlyPeers,
        Refused::Elsewhere,
        Refused::OwnerUnavailable { may_be_done: true },
        Refused::Failed { why: "the store".to_owned(), may_be_done: false },
    ]
}
