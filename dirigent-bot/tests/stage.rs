//! A Discord on this machine, a folder with a configuration, and the program.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::ports::GuildId;
use dirigent::{ChannelId, Clock, SystemClock, UserId};
use dirigent_loopback::LoopbackDiscord;
use dirigent_testkit::MemoryDiscord;
use dirigent_testkit::memory_discord::{Permissions, RoleId};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

/// How long the program may take for anything.
const PATIENCE: Duration = Duration::from_secs(60);
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_dirigent");

/// Waits until it is so.
pub(crate) async fn until(what: &str, is_so: impl FnMut() -> bool) {
    assert!(within(PATIENCE, is_so).await, "{what} did not happen");
}

/// Waits until it is so, for this long at most. Returns whether it is.
pub(crate) async fn within(patience: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    let clock = SystemClock::new();
    let patience = clock.now() + patience;
    while !is_so() {
        if clock.now() >= patience {
            return false;
        }
        clock.sleep_until(clock.now() + Duration::from_millis(20)).await;
    }
    true
}

pub(crate) struct BotStage {
    pub(crate) discord: MemoryDiscord,
    pub(crate) server: LoopbackDiscord,
    pub(crate) guild: GuildId,
    pub(crate) channel: ChannelId,
    pub(crate) person: UserId,
    pub(crate) moderator: UserId,
    pub(crate) role: RoleId,
    pub(crate) folder: tempfile::TempDir,
}

impl BotStage {
    pub(crate) async fn new() -> Self {
        let discord = MemoryDiscord::default();
        let (moderator, person) = (discord.add_bot(), discord.add_human());
        let guild = discord.add_guild(person);
        let channel = discord.add_channel(guild, "round-table", &[moderator, person]);
        let role = discord.guild(guild).add_role("moderators", Permissions::MANAGE_WEBHOOKS);
        discord.guild(guild).set_role(moderator, role, true);
        let server = LoopbackDiscord::start(discord.clone()).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        Self { discord, server, guild, channel, person, moderator, role, folder }
    }

    /// Begins a configuration: the Discord, its channel, and two personas with the model at this address.
    pub(crate) fn config(&self, model: &str) -> String {
        let (address, channel) = (self.server.address(), self.channel);
        let agent = |name: &str, face: &str| {
            format!(
                "[[agents]]\nname = \"{name}\"\npersona = {{ name = \"{face}\" }}\nmodel = {{ url = \"{model}\", name = \"scripted\" }}\n"
            )
        };
        format!(
            "[discord]\ntoken = {{ env = \"TOKEN_OF_THIS_TEST\" }}\naddress = \"http://{address}\"\n\n\
             [[channels]]\nid = \"{channel}\"\n\n{}\n{}\n",
            agent("optimist", "Optimist"),
            agent("sceptic", "Sceptic")
        )
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("dirigent.toml")
    }

    pub(crate) fn write(&self, config: &str) {
        std::fs::write(self.file(), config).unwrap();
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command
            .args(arguments)
            .current_dir(&self.folder)
            .env("TOKEN_OF_THIS_TEST", self.server.token(self.moderator))
            .env("SECRET_OF_THIS_TEST", SECRET)
            .kill_on_drop(true);
        command
    }

    pub(crate) fn start(&self, arguments: &[&str]) -> Program {
        Program::start(self.command(arguments))
    }

    pub(crate) fn said(&self) -> Vec<(String, String)> {
        let messages = self.discord.messages(self.channel);
        let name = |name: Option<&str>| name.unwrap_or("person").to_owned();
        messages
            .iter()
            .map(|it| (name(it.author_name.as_deref()), it.content.to_string()))
            .collect()
    }
}

/// Where a page and a front listen that choose their ports.
pub(crate) const ANY_PORT: [&str; 2] = ["127.0.0.1:0"; 2];

/// A part of a configuration: where page and front listen, the secret of an operator of the page, and which agents may ask at the front.
pub(crate) fn page_and_front([page, front]: [&str; 2], token: &str, agents: &[&str]) -> String {
    format!(
        "[page]\nlisten = \"{page}\"\noperators = [{{ name = \"ada\", token = {token} }}]\n\
         [front]\nlisten = \"{front}\"\nhosts = [{{ name = \"desk\", secret = {{ env = \"SECRET_OF_THIS_TEST\" }}, agents = {agents:?} }}]\n"
    )
}

/// A secret of every test. It must never be printed.
pub(crate) const SECRET: &str = "4f1c0de4f1c0de4f1c0de4f1c0de4f1c";

/// The program while it runs, with what it prints.
pub(crate) struct Program {
    pub(crate) child: Child,
    out: Arc<Mutex<String>>,
    errors: Arc<Mutex<String>>,
    readers: Vec<tokio::task::JoinHandle<()>>,
}

impl Program {
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (out, errors) = (Arc::default(), Arc::default());
        let readers = vec![
            tokio::spawn(collect(child.stdout.take().unwrap(), Arc::clone(&out))),
            tokio::spawn(collect(child.stderr.take().unwrap(), Arc::clone(&errors))),
        ];
        Self { child, out, errors, readers }
    }

    pub(crate) fn out(&self) -> String {
        self.out.lock().unwrap().clone()
    }

    pub(crate) fn errors(&self) -> String {
        self.errors.lock().unwrap().clone()
    }

    /// Waits until the log, or what is printed, has these words.
    pub(crate) async fn says(&self, words: &str) {
        self.says_within(PATIENCE, words).await;
    }

    pub(crate) async fn says_within(&self, time: Duration, words: &str) {
        let clock = SystemClock::new();
        let patience = clock.now() + time;
        while !self.errors().contains(words) && !self.out().contains(words) {
            assert!(
                clock.now() < patience,
                "{words:?} is not in\n{}\n{}",
                self.out(),
                self.errors()
            );
            clock.sleep_until(clock.now() + Duration::from_millis(20)).await;
        }
    }

    /// What stands behind these words in a line of what is printed.
    pub(crate) async fn after(&self, words: &str) -> String {
        self.says(words).await;
        let all = self.out() + &self.errors();
        let rest = all.split_once(words).unwrap().1;
        rest.split_whitespace().next().unwrap_or_default().to_owned()
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().unwrap().to_string();
        assert!(std::process::Command::new("kill").args([name, &id]).status().unwrap().success());
    }

    pub(crate) async fn types(&mut self, text: &str) {
        self.child.stdin.as_mut().unwrap().write_all(text.as_bytes()).await.unwrap();
    }

    /// Waits for the end; returns the code, what was printed, and the log.
    pub(crate) async fn end(mut self) -> (Option<i32>, String, String) {
        drop(self.child.stdin.take());
        let ended = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        let ended =
            ended.unwrap_or_else(|_| panic!("it does not end:\n{}\n{}", self.out(), self.errors()));
        for reader in std::mem::take(&mut self.readers) {
            reader.await.unwrap();
        }
        (ended.unwrap().code(), self.out(), self.errors())
    }
}

async fn collect(from: impl AsyncRead + Unpin, into: Arc<Mutex<String>>) {
    let mut lines = BufReader::new(from).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let mut into = into.lock().unwrap();
        into.push_str(&line);
        into.push('\n');
    }
}

/// One request, as `METHOD /path`, to an address such as `127.0.0.1:8131`; returns the status and the body.
pub(crate) async fn http(address: &str, request: &str, token: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "{request} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
         Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap();
    (status, answer.split_once("\r\n\r\n").map_or_else(String::new, |(_, body)| body.to_owned()))
}
