//! A chat that is not Discord: its ids are words, it knows no nonce, and its messages have up to 4,096 characters.
//!
//! ```text
//! cargo run --example custom_adapter                  two agents talk in it
//! cargo run --example custom_adapter -- --contract    checks the adapter
//! ```
//!
//! An adapter implements `DiscordApi`. The test kit's contract suite says what it must keep to, and names every promise that
//! is broken. An adapter of your own runs it in a test: `contract::discord_api(&harness).await.unwrap()`.
//! `other-chats.md` in this folder says what to look at in your own chat.
#![expect(clippy::print_stdout, reason = "this is what one came to see")]

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fmt::Write as _;
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
use dirigent_testkit::memory_discord::Fault;
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

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

// -------------------------------------------------------------------------------------- the chat

/// The longest line, in UTF-16 code units.
const LINE_MAX: usize = 4_096;

/// A line as the chat shows it. Names and ids are words.
#[derive(Clone)]
struct Line {
    id: String,
    room: String,
    author: String,
    at: Timestamp,
    text: String,
    /// The id of the line that it answers.
    answers: Option<String>,
}

/// What a client of the chat hears instead of an answer.
enum Trouble {
    NoSuchRoom,
    NotAMember,
    Refused,
    /// Whether it was done is not known.
    NoAnswer,
    Broken,
    TooFast(Duration),
}

/// The chat, which nothing below may change. Clones are the same one.
#[derive(Clone)]
struct Chat {
    inner: Arc<Mutex<Inner>>,
    clock: SystemClock,
    /// Where every new line is pushed.
    pushed: mpsc::UnboundedSender<Line>,
}

#[derive(Default)]
struct Inner {
    /// What was said, oldest first.
    lines: Vec<Line>,
    made: u64,
    /// Who may read and write in each room.
    rooms: HashMap<String, BTreeSet<String>>,
    /// What happens to the next line.
    fault: Option<Fault>,
}

impl Chat {
    fn new(clock: SystemClock) -> (Self, mpsc::UnboundedReceiver<Line>) {
        let (pushed, lines) = mpsc::unbounded_channel();
        (Self { inner: Arc::default(), clock, pushed }, lines)
    }

    fn add_room(&self, room: &str, members: &[&str]) {
        let members = members.iter().map(|&it| it.to_owned()).collect();
        lock(&self.inner).rooms.insert(room.to_owned(), members);
    }

    /// Says a line, and returns its id.
    fn say(
        &self,
        room: &str,
        author: &str,
        text: &str,
        answers: Option<String>,
    ) -> std::result::Result<String, Trouble> {
        let mut inner = lock(&self.inner);
        inner.admits(room, author)?;
        let text = text.trim().to_owned();
        if text.is_empty() || text.encode_utf16().count() > LINE_MAX {
            return Err(Trouble::Refused);
        }
        let fault = inner.fault.take();
        match fault {
            Some(Fault::NotDelivered) => return Err(Trouble::NoAnswer),
            Some(Fault::ServerErrorNotApplied) => return Err(Trouble::Broken),
            Some(Fault::RateLimited { retry_after }) => return Err(Trouble::TooFast(retry_after)),
            _ => {}
        }
        inner.made += 1;
        let id = format!("${:x}", inner.made.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let answers = answers.filter(|to| inner.lines.iter().any(|line| line.id == *to));
        let (room, author) = (room.to_owned(), author.to_owned());
        let line = Line { id: id.clone(), room, author, at: self.clock.now(), text, answers };
        inner.lines.push(line.clone());
        // It is no error when no client listens.
        let _ = self.pushed.send(line);
        match fault {
            Some(Fault::LostAnswer) => Err(Trouble::NoAnswer),
            Some(Fault::ServerErrorApplied) => Err(Trouble::Broken),
            _ => Ok(id),
        }
    }

    /// The lines of a room, oldest first.
    fn lines(&self, room: &str, reader: &str) -> std::result::Result<Vec<Line>, Trouble> {
        let inner = lock(&self.inner);
        inner.admits(room, reader)?;
        Ok(inner.lines.iter().filter(|line| line.room == room).cloned().collect())
    }
}

impl Inner {
    fn admits(&self, room: &str, name: &str) -> std::result::Result<(), Trouble> {
        let members = self.rooms.get(room).ok_or(Trouble::NoSuchRoom)?;
        if members.contains(name) { Ok(()) } else { Err(Trouble::NotAMember) }
    }
}

// ----------------------------------------------------------------------------------- the adapter

/// How many messages of one millisecond can be told apart.
const SERIAL_BITS: u32 = 12;

/// The numbers that stand for the chat's words. Dirigent orders messages by their ids and asks them for the time, so the number of a
/// message is its time and, among those of one millisecond, a serial number. Rooms and names are numbered as they come.
///
/// A bot keeps this table where it keeps its channels, because their record has these numbers: `written` is what to add there.
#[derive(Default)]
struct Ids {
    numbers: HashMap<String, u64>,
    words: HashMap<u64, String>,
    written: String,
}

impl Ids {
    /// The table as it was kept: a line each, with the number and the word.
    fn restored(kept: &str) -> Self {
        let mut ids = Self::default();
        for (number, word) in kept.lines().filter_map(|line| line.split_once(' ')) {
            if let Ok(number) = number.parse() {
                ids.insert(number, word);
            }
        }
        ids
    }

    fn insert(&mut self, number: u64, word: &str) {
        self.numbers.insert(word.to_owned(), number);
        self.words.insert(number, word.to_owned());
        // Writing to a string cannot fail.
        let _ = writeln!(self.written, "{number} {word}");
    }

    fn number(&mut self, word: &str, least: u64) -> u64 {
        if let Some(number) = self.numbers.get(word) {
            return *number;
        }
        let mut number = least.max(1);
        while self.words.contains_key(&number) {
            number += 1;
        }
        self.insert(number, word);
        number
    }

    fn user(&mut self, name: &str) -> UserId {
        UserId::new(self.number(name, 1))
    }

    fn room(&mut self, room: &str) -> ChannelId {
        ChannelId::new(self.number(room, 1))
    }

    fn message(&mut self, line: &Line) -> MessageId {
        MessageId::new(self.number(&line.id, line.at.as_millis() << SERIAL_BITS))
    }

    fn word(&self, number: u64) -> Answer<String> {
        self.words.get(&number).cloned().ok_or_else(|| ApiError::new(ErrorKind::Gone))
    }

    /// A line as the library takes it.
    fn told(&mut self, line: &Line) -> ChatMessage {
        let reply_to = line.answers.as_ref().and_then(|to| self.numbers.get(to).copied());
        let is_bot = line.author.starts_with("bot:");
        ChatMessage {
            author_name: Some(line.author.trim_start_matches("bot:").into()),
            author_kind: if is_bot { AuthorKind::Bot } else { AuthorKind::Human },
            kind: if line.answers.is_some() { ChatKind::Reply } else { ChatKind::Default },
            reply_to: reply_to.map(MessageId::new),
            sent_at: line.at,
            ..ChatMessage::new(
                self.message(line),
                self.room(&line.room),
                self.user(&line.author),
                line.text.as_str(),
            )
        }
    }
}

/// What the library sees of the chat. One attempt a call: repeating is the library's business.
struct Account {
    chat: Chat,
    /// One table for all accounts.
    ids: Arc<Mutex<Ids>>,
    name: String,
    /// The posts that were tried in the last minutes, with the newest line before the first attempt, and the line that each made.
    tried: Mutex<HashMap<Nonce, Tried>>,
}

#[derive(Clone)]
struct Tried {
    at: Timestamp,
    behind: Option<MessageId>,
    line: Option<MessageId>,
}

/// Longer than the library repeats a post whose end it does not know.
const TRIED_KEPT: Duration = Duration::from_secs(600);

type Answer<T> = std::result::Result<T, ApiError>;

/// Which of the library's errors the chat's is. That it says what is certain matters most: `NoAnswer` and `Unavailable` leave doubt.
impl From<Trouble> for ApiError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::NoSuchRoom => Self::new(ErrorKind::Gone),
            Trouble::NotAMember => Self::new(ErrorKind::Forbidden),
            Trouble::Refused => Self::new(ErrorKind::Invalid),
            Trouble::NoAnswer => Self::new(ErrorKind::NoAnswer),
            Trouble::Broken => Self::new(ErrorKind::Unavailable),
            Trouble::TooFast(wait) => Self::new(ErrorKind::RateLimited).with_retry_after(wait),
        }
    }
}

impl Account {
    fn new(chat: &Chat, ids: &Arc<Mutex<Ids>>, name: &str) -> Arc<Self> {
        let (chat, ids, name) = (chat.clone(), Arc::clone(ids), name.to_owned());
        Arc::new(Self { chat, ids, name, tried: Mutex::default() })
    }

    /// The messages of a room, oldest first.
    fn read(&self, room: ChannelId) -> Answer<Vec<ChatMessage>> {
        let mut ids = lock(&self.ids);
        let lines = self.chat.lines(&ids.word(room.get())?, &self.name)?;
        Ok(lines.iter().map(|line| ids.told(line)).collect())
    }

    /// The line that an earlier attempt of this post made. The chat knows no nonce, so it is looked for among the own lines since.
    fn made(
        &self,
        post: &Post,
        me: UserId,
        since: &Tried,
        all: &[ChatMessage],
    ) -> Option<MessageId> {
        let others: BTreeSet<_> = lock(&self.tried)
            .iter()
            .filter(|(nonce, _)| **nonce != post.nonce)
            .filter_map(|(_, tried)| tried.line)
            .collect();
        let mut later = all.iter().filter(|it| Some(it.id) > since.behind && it.author == me);
        let is_it =
            |it: &&ChatMessage| *it.content == *post.content.trim() && !others.contains(&it.id);
        since.line.or_else(|| later.find(is_it).map(|it| it.id))
    }
}

#[async_trait]
impl DiscordApi for Account {
    async fn me(&self) -> Answer<UserId> {
        Ok(lock(&self.ids).user(&self.name))
    }

    async fn post(&self, post: Post) -> Answer<Posted> {
        if !post.embeds.is_empty() {
            // A line is text. The agent's host gets the error: the reply is lost.
            return Err(ApiError::new(ErrorKind::Unsupported));
        }
        let me = self.me().await?;
        let all = self.read(post.channel)?;
        let now = self.chat.clock.now();
        let earlier = {
            let mut tried = lock(&self.tried);
            tried.retain(|_, tried| now.since(tried.at) < TRIED_KEPT);
            let first = Tried { at: now, behind: all.last().map(|it| it.id), line: None };
            let earlier = tried.get(&post.nonce).cloned();
            tried.entry(post.nonce).or_insert(first);
            earlier
        };
        let made = earlier.and_then(|since| self.made(&post, me, &since, &all));
        let (id, deduplicated) = match made {
            Some(id) => (id, true),
            None => (self.say(&post)?, false),
        };
        if let Some(tried) = lock(&self.tried).get_mut(&post.nonce) {
            tried.line = Some(id);
        }
        Ok(Posted { id, deduplicated })
    }

    async fn delete(&self, room: ChannelId, message: MessageId) -> Answer<()> {
        let me = self.me().await?;
        let found = self.read(room)?.into_iter().find(|it| it.id == message);
        let found = found.ok_or_else(|| ApiError::new(ErrorKind::Gone))?;
        if found.author != me {
            return Err(ApiError::new(ErrorKind::Forbidden));
        }
        let word = lock(&self.ids).word(message.get())?;
        lock(&self.chat.inner).lines.retain(|line| line.id != word);
        Ok(())
    }

    async fn history(&self, request: HistoryRequest) -> Answer<Vec<ChatMessage>> {
        if !(1..=100).contains(&request.limit) {
            return Err(ApiError::new(ErrorKind::Invalid));
        }
        let limit = usize::from(request.limit);
        let all = self.read(request.channel)?.into_iter();
        Ok(match request.after {
            Some(after) => all.filter(|it| it.id > after).take(limit).collect(),
            None => all.rev().take(limit).collect(),
        })
    }

    async fn members(&self, room: ChannelId, mut among: Vec<UserId>) -> Answer<Vec<UserId>> {
        self.read(room)?;
        let ids = lock(&self.ids);
        let (room, inner) = (ids.word(room.get())?, lock(&self.chat.inner));
        let members = inner.rooms.get(&room);
        among.retain(|user| {
            ids.word(user.get()).is_ok_and(|name| members.is_some_and(|all| all.contains(&name)))
        });
        Ok(among)
    }

    /// The numbers of [`Ids`] hold it.
    fn sent_at(&self, message: MessageId) -> Timestamp {
        Timestamp::from_millis(message.get() >> SERIAL_BITS)
    }

    fn id_before(&self, moment: Timestamp) -> Option<MessageId> {
        (moment.as_millis() << SERIAL_BITS).checked_sub(1).map(MessageId::new)
    }

    fn longest_message(&self) -> usize {
        LINE_MAX
    }
}

impl Account {
    fn say(&self, post: &Post) -> Answer<MessageId> {
        let (room, answers) = {
            let ids = lock(&self.ids);
            let answers = post.reply_to.and_then(|to| ids.word(to.get()).ok());
            (ids.word(post.channel.get())?, answers)
        };
        let said = self.chat.say(&room, &self.name, &post.content, answers)?;
        let lines = self.chat.lines(&room, &self.name)?;
        let line = lines.iter().find(|line| line.id == said);
        line.map(|line| lock(&self.ids).message(line))
            .ok_or_else(|| ApiError::new(ErrorKind::NoAnswer))
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
    let ids = Arc::<Mutex<Ids>>::default();
    chat.add_room("!table", &["you", "bot:moderator", "bot:alice", "bot:bert"]);
    let (dirigent, driver) = put_together(&chat, &ids, clock)?;
    let driver = tokio::spawn(driver.run());
    // The driver must have begun before it can be asked for anything.
    tokio::task::yield_now().await;
    let members = vec!["alice".into(), "bert".into()];
    let talk = CreatedChannel { mode: Mode::Chat, members, ..CreatedChannel::default() };
    let room = lock(&ids).room("!table");
    dirigent.channel(room).register(talk).await?;
    let mut changes = dirigent.events();
    let _ = chat.say("!table", "you", "Tabs or spaces?", None);
    loop {
        tokio::select! {
            biased;
            Some(line) = pushed.recv() => {
                println!("<{}> {}", line.author.trim_start_matches("bot:"), line.text);
                let message = lock(&ids).told(&line);
                dirigent.message_created(message).await?;
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
    ids: &Arc<Mutex<Ids>>,
    clock: SystemClock,
) -> Result<(Dirigent, Driver)> {
    let identity = |name: &str| Identity {
        discord_user_id: lock(ids).user(&format!("bot:{name}")),
        agent_id: name.into(),
        agent_name: name.to_owned(),
    };
    let identities = MemoryIdentities::with([identity("alice"), identity("bert")])?;
    let account = |name: &str| Account::new(chat, ids, &format!("bot:{name}"));
    let bot = |lines: &[&'static str]| Bot(Mutex::new(lines.iter().copied().collect()));
    let mut settings = Settings::default();
    settings.limits.pacing = Pacing::off(); // Discord limits posts; this chat does not.
    Ok(Dirigent::builder(account("moderator"))
        .identities(identities)
        .clock(clock)
        .settings(settings)
        .host("alice", bot(&["Tabs. One key, one step."]), account("alice"))
        .host("bert", bot(&["Spaces.", "Whatever the formatter says, then."]), account("bert"))
        .build()?)
}

// ---------------------------------------------------------------------------------- the contract

/// The chat as the suite plays in it.
struct Harness {
    chat: Chat,
    ids: Arc<Mutex<Ids>>,
    accounts: [Arc<Account>; 3],
}

#[async_trait]
impl contract::DiscordHarness for Harness {
    fn account(&self) -> Arc<dyn DiscordApi> {
        let [first, _, _] = &self.accounts;
        Arc::clone(first) as Arc<dyn DiscordApi>
    }

    fn colleague(&self) -> Arc<dyn DiscordApi> {
        let [_, second, _] = &self.accounts;
        Arc::clone(second) as Arc<dyn DiscordApi>
    }

    fn person(&self) -> UserId {
        lock(&self.ids).user("you")
    }

    fn stranger(&self) -> Option<Arc<dyn DiscordApi>> {
        let [_, _, stranger] = &self.accounts;
        Some(Arc::clone(stranger) as Arc<dyn DiscordApi>)
    }

    async fn fresh_channel(&self) -> ChannelId {
        let room = format!("!room{}", lock(&self.chat.inner).rooms.len());
        self.chat.add_room(&room, &["you", "bot:one", "bot:two"]);
        lock(&self.ids).room(&room)
    }

    async fn person_says(&self, channel: ChannelId, text: &str) -> MessageId {
        let room = lock(&self.ids).word(channel.get()).unwrap_or_default();
        let said = self.chat.say(&room, "you", text, None).unwrap_or_default();
        let lines = self.chat.lines(&room, "you").unwrap_or_default();
        let line = lines.iter().find(|line| line.id == said);
        line.map_or_else(MessageId::default, |line| lock(&self.ids).message(line))
    }

    fn can_break_posts(&self) -> bool {
        true
    }

    fn break_next_post(&self, fault: Fault) {
        lock(&self.chat.inner).fault = Some(fault);
    }
}

/// Runs the suite and says what it found; a broken promise ends the program with an error.
async fn check_contract() -> Result {
    let (chat, _pushed) = Chat::new(SystemClock::new());
    let ids = Arc::<Mutex<Ids>>::default();
    let accounts = ["bot:one", "bot:two", "bot:three"].map(|name| Account::new(&chat, &ids, name));
    let harness = Harness { chat, ids: Arc::clone(&ids), accounts };
    let report = contract::discord_api(&harness).await?;
    for check in report.passed() {
        println!("ok        {}", check.replace('_', " "));
    }
    for check in report.left_out() {
        println!("left out  {}", check.replace('_', " "));
    }
    let kept = lock(&ids).written.clone();
    let restored = Ids::restored(&kept);
    if restored.numbers != lock(&ids).numbers {
        return Err("the table of ids is not what was kept".into());
    }
    println!("ok        the table of ids is kept");
    Ok(())
}
