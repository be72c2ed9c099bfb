//! A chat that is not Discord: rooms, nicks and lines in one process, in the manner of IRC.
//!
//! ```text
//! cargo run --example custom_adapter                  two agents talk in it
//! cargo run --example custom_adapter -- --contract    checks the adapter
//! ```
//!
//! An adapter implements `DiscordApi`, six short methods. The test kit's contract suite says what
//! they must keep to, and names every promise that is broken. An adapter of your own runs it in a
//! test: `contract::discord_api(&harness).await.unwrap()`.
#![expect(clippy::print_stdout, reason = "this is what one came to see")]

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clap::{Arg, ArgAction, Command};
use dirigent::operate::{Cause, CreatedChannel, EventOrLag};
use dirigent::ports::Timestamp;
use dirigent::ports::{
    ApiError, AuthorKind, ChatKind, ErrorKind, HistoryRequest, Identity, Nonce, Post, Posted,
};
use dirigent::settings::Pacing;
use dirigent::{
    Agent, AgentError, ChannelId, ChatMessage, Clock, Dirigent, DiscordApi, Driver,
    MemoryIdentities, MessageId, Mode, Reply, Settings, SystemClock, Turn, UserId, async_trait,
};
use dirigent_testkit::contract;
use tokio::sync::mpsc;

type Result<T = ()> = std::result::Result<T, AgentError>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result {
    let contract = Arg::new("contract").long("contract").action(ArgAction::SetTrue);
    let given = Command::new("custom_adapter")
        .about("A chat that is not Discord")
        .arg(contract.help("Lets the test kit check the adapter"))
        .get_matches();
    if given.get_flag("contract") { check_contract().await } else { talk().await }
}

// -------------------------------------------------------------------------------------- the chat

/// The chat. Clones are the same one.
#[derive(Clone)]
struct Chat {
    inner: Arc<Mutex<Inner>>,
    clock: SystemClock,
    /// Where every new line is pushed.
    pushed: mpsc::UnboundedSender<ChatMessage>,
}

#[derive(Default)]
struct Inner {
    /// What was said, oldest first, with the moment.
    lines: Vec<(Timestamp, ChatMessage)>,
    /// Ids are plain numbers here; accounts, rooms and lines share them.
    last_id: u64,
    /// Who may read and write in each room.
    rooms: HashMap<ChannelId, BTreeSet<UserId>>,
    /// Each post's key with the line it made.
    nonces: HashMap<(UserId, Nonce), MessageId>,
}

impl Chat {
    fn new(clock: SystemClock) -> (Self, mpsc::UnboundedReceiver<ChatMessage>) {
        let (pushed, lines) = mpsc::unbounded_channel();
        (Self { inner: Arc::default(), clock, pushed }, lines)
    }

    fn add_nick(&self) -> UserId {
        UserId::new(self.lock().next_id())
    }

    fn add_room(&self, members: &[UserId]) -> ChannelId {
        let mut inner = self.lock();
        let room = ChannelId::new(inner.next_id());
        inner.rooms.insert(room, members.iter().copied().collect());
        room
    }

    /// The chat as this nick uses it.
    fn account(&self, nick: UserId) -> Arc<dyn DiscordApi> {
        Arc::new(Account { chat: self.clone(), nick })
    }

    /// A person types a line.
    fn say(&self, room: ChannelId, person: UserId, text: &str) -> MessageId {
        self.add_line(&mut self.lock(), ChatMessage::new(MessageId::default(), room, person, text))
    }

    /// Keeps the line under a new id, and pushes it.
    fn add_line(&self, inner: &mut Inner, mut line: ChatMessage) -> MessageId {
        line.id = MessageId::new(inner.next_id());
        inner.lines.push((self.clock.now(), line.clone()));
        // It is no error when no client listens.
        let id = line.id;
        let _ = self.pushed.send(line);
        id
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// The members of a room, for one of them.
    fn room(
        &self,
        room: ChannelId,
        nick: UserId,
    ) -> std::result::Result<&BTreeSet<UserId>, ApiError> {
        let members = self.rooms.get(&room).ok_or_else(|| ApiError::new(ErrorKind::Gone))?;
        if members.contains(&nick) { Ok(members) } else { Err(ApiError::new(ErrorKind::Forbidden)) }
    }
}

// ----------------------------------------------------------------------------------- the adapter

/// What the library sees of the chat. One attempt a call: repeating is the library's business.
struct Account {
    chat: Chat,
    nick: UserId,
}

type Answer<T> = std::result::Result<T, ApiError>;

#[async_trait]
impl DiscordApi for Account {
    async fn me(&self) -> Answer<UserId> {
        Ok(self.nick)
    }

    async fn post(&self, post: Post) -> Answer<Posted> {
        let mut inner = self.chat.lock();
        inner.room(post.channel, self.nick)?;
        if !post.embeds.is_empty() {
            // A line is text. The agent's host gets the error: the reply is lost.
            return Err(ApiError::new(ErrorKind::Unsupported));
        }
        let content = post.content.trim().to_owned();
        if content.is_empty() || content.chars().count() > 2_000 {
            return Err(ApiError::new(ErrorKind::Invalid));
        }
        // A post may be repeated when its answer was lost: the same nonce is the same line.
        let key = (self.nick, post.nonce);
        if let Some(id) = inner.nonces.get(&key) {
            return Ok(Posted { id: *id, deduplicated: true });
        }
        let answers = post.reply_to.is_some_and(|to| inner.lines.iter().any(|(_, l)| l.id == to));
        let id = self.chat.add_line(
            &mut inner,
            ChatMessage {
                author_kind: AuthorKind::Bot,
                kind: if answers { ChatKind::Reply } else { ChatKind::Default },
                nonce: Some(post.nonce),
                ..ChatMessage::new(MessageId::default(), post.channel, self.nick, content)
            },
        );
        inner.nonces.insert(key, id);
        Ok(Posted { id, deduplicated: false })
    }

    async fn delete(&self, room: ChannelId, message: MessageId) -> Answer<()> {
        let mut inner = self.chat.lock();
        inner.room(room, self.nick)?;
        let found = inner.lines.iter().position(|(_, l)| l.channel == room && l.id == message);
        let author = found.and_then(|at| inner.lines.get(at)).map(|(_, line)| line.author);
        match (found, author) {
            (Some(at), Some(author)) if author == self.nick => {
                inner.lines.remove(at);
                Ok(())
            }
            (Some(_), _) => Err(ApiError::new(ErrorKind::Forbidden)),
            (None, _) => Err(ApiError::new(ErrorKind::Gone)),
        }
    }

    async fn history(&self, request: HistoryRequest) -> Answer<Vec<ChatMessage>> {
        let inner = self.chat.lock();
        inner.room(request.channel, self.nick)?;
        if !(1..=100).contains(&request.limit) {
            return Err(ApiError::new(ErrorKind::Invalid));
        }
        let limit = usize::from(request.limit);
        let lines = inner.lines.iter().map(|(_, line)| line).cloned();
        let lines = lines.filter(|line| line.channel == request.channel);
        Ok(match request.after {
            Some(after) => lines.filter(|line| line.id > after).take(limit).collect(),
            None => lines.rev().take(limit).collect(),
        })
    }

    async fn members(&self, room: ChannelId, mut among: Vec<UserId>) -> Answer<Vec<UserId>> {
        let inner = self.chat.lock();
        let members = inner.room(room, self.nick)?;
        among.retain(|user| members.contains(user));
        Ok(among)
    }

    /// Discord's ids hold the time; those of this chat do not, so it has to be looked up.
    fn sent_at(&self, message: MessageId) -> Timestamp {
        let inner = self.chat.lock();
        let line = inner.lines.iter().find(|(_, line)| line.id == message);
        line.map_or_else(Timestamp::default, |(at, _)| *at)
    }
}

// -------------------------------------------------------------------------------- agents over it

/// Says its lines, one a turn.
struct Bot(Mutex<VecDeque<&'static str>>);

#[async_trait]
impl Agent for Bot {
    async fn speak(&self, _turn: Turn) -> Result<Reply> {
        let line = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        Ok(line.map_or(Reply::Pass, Reply::from))
    }
}

/// A person asks in a room with two hosted agents, and they talk until none has more to say.
async fn talk() -> Result {
    let clock = SystemClock::new();
    let (chat, mut pushed) = Chat::new(clock);
    let [moderator, person, alice, bert] = [(); 4].map(|()| chat.add_nick());
    let room = chat.add_room(&[moderator, person, alice, bert]);
    let (dirigent, driver) = put_together(&chat, clock, moderator, [alice, bert])?;
    let driver = tokio::spawn(driver.run());
    // The driver must have begun before it can be asked for anything.
    tokio::task::yield_now().await;
    let members = vec!["alice".into(), "bert".into()];
    let talk = CreatedChannel { mode: Mode::Chat, members, ..CreatedChannel::default() };
    dirigent.channel(room).register(talk).await?;
    let mut changes = dirigent.events();
    chat.say(room, person, "Tabs or spaces?");
    loop {
        tokio::select! {
            biased;
            Some(line) = pushed.recv() => {
                let nicks = [(person, "you"), (alice, "alice"), (bert, "bert")];
                let nick = nicks.iter().find(|(nick, _)| *nick == line.author);
                println!("<{}> {}", nick.map_or("?", |(_, name)| name), line.content);
                dirigent.message_created(line).await?;
            }
            Some(EventOrLag::Transition(change)) = changes.next() => {
                if change.transition.cause == Cause::AllPassed {
                    println!("* no agent has anything to add");
                    break;
                }
            }
        }
    }
    dirigent.shutdown(Duration::from_secs(2)).await;
    driver.await??;
    Ok(())
}

/// The library over this chat. Nothing here differs from a bot on Discord but the accounts.
fn put_together(
    chat: &Chat,
    clock: SystemClock,
    moderator: UserId,
    [alice, bert]: [UserId; 2],
) -> Result<(Dirigent, Driver)> {
    let identity = |name: &str, discord_user_id| Identity {
        discord_user_id,
        agent_id: name.into(),
        agent_name: name.to_owned(),
    };
    let identities = MemoryIdentities::with([identity("alice", alice), identity("bert", bert)])?;
    let bot = |lines: &[&'static str]| Bot(Mutex::new(lines.iter().copied().collect()));
    let mut settings = Settings::default();
    settings.limits.pacing = Pacing::off(); // Discord limits posts; this chat does not.
    Ok(Dirigent::builder(chat.account(moderator))
        .identities(identities)
        .clock(clock)
        .settings(settings)
        .host("alice", bot(&["Tabs. One key, one step."]), chat.account(alice))
        .host("bert", bot(&["Spaces.", "Whatever the formatter says, then."]), chat.account(bert))
        .build()?)
}

// ---------------------------------------------------------------------------------- the contract

/// The chat as the suite plays in it.
struct Harness {
    chat: Chat,
    person: UserId,
    bots: [UserId; 2],
    stranger: UserId,
}

#[async_trait]
impl contract::DiscordHarness for Harness {
    fn account(&self) -> Arc<dyn DiscordApi> {
        let [first, _] = self.bots;
        self.chat.account(first)
    }

    fn colleague(&self) -> Arc<dyn DiscordApi> {
        let [_, second] = self.bots;
        self.chat.account(second)
    }

    fn person(&self) -> UserId {
        self.person
    }

    fn stranger(&self) -> Option<Arc<dyn DiscordApi>> {
        Some(self.chat.account(self.stranger))
    }

    async fn fresh_channel(&self) -> ChannelId {
        let [first, second] = self.bots;
        self.chat.add_room(&[first, second, self.person])
    }

    async fn person_says(&self, channel: ChannelId, text: &str) -> MessageId {
        self.chat.say(channel, self.person, text)
    }
}

/// Runs the suite and says what it found; a broken promise ends the program with an error.
async fn check_contract() -> Result {
    let (chat, _pushed) = Chat::new(SystemClock::new());
    let [person, first, second, stranger] = [(); 4].map(|()| chat.add_nick());
    let harness = Harness { chat, person, bots: [first, second], stranger };
    let report = contract::discord_api(&harness).await?;
    for check in report.passed() {
        println!("ok        {}", check.replace('_', " "));
    }
    for check in report.left_out() {
        println!("left out  {}", check.replace('_', " "));
    }
    Ok(())
}
