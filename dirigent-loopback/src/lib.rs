//! A Discord server on this machine, over the same memory as [`MemoryDiscord`].
//!
//! Bots connect to it as they are: point their HTTP client and their gateway at it. [`LoopbackDiscord`]
//! says how, and what it can do; the program `loopback-discord` puts a terminal before it.
//!
//! | You want to | Start here |
//! | --- | --- |
//! | run a bot on this machine without a token, and be the person | the program: `loopback-discord -- COMMAND` |
//! | test a bot in any language, from its first login to its last message | the same, with `--seed` and `--state` |
//! | test a bot in Rust | [`LoopbackDiscord::start`] over a [`MemoryDiscord`] |
//! | write as a person does: reply, paste, attach, forward, ask in a poll | [`LoopbackDiscord::say`], [`Said`] |
//! | make a thread of a message as a person does | [`LoopbackDiscord::start_thread`] |
//! | use a slash command as a person does | [`LoopbackDiscord::use_command`] |
//! | see what a bot sends, and how often | [`LoopbackDiscord::traffic`], [`Traffic`] |
//! | let requests, the gateway or all of it fail | [`RestFaults`], [`GatewayFaults`], [`ServerOutage`] |
//! | set rate limits | [`ServerLimits`] |
//! | refuse clients that do not say that they are bots | [`LoopbackDiscord::refuse_odd_agents`] |
//! | let it differ from Discord: change requests, answers, files, events | [`LoopbackDiscord::alter`], [`Alterations`] |
//!
//! The program prints what a bot must know as lines to paste into another terminal:
//!
//! ```text
//! $ cargo run -p dirigent-loopback -- --seed 1 --state discord.json
//! export DISCORD_TOKEN=…                                the moderator's
//! export DISCORD_APPLICATION_ID=…
//! export DEVELOPER_TOKEN=…                              an agent's; also REVIEWER_TOKEN, TESTER_TOKEN
//! export DISCORD_GUILD_ID=…                             also DISCORD_CHANNEL_ID, and DISCORD_USER_ID: you
//! export DISCORD_API_URL=http://127.0.0.1:8120/api/v10
//! export DISCORD_PROXY_URL=http://127.0.0.1:8120        serenity: .proxy(url).ratelimiter_disabled(true)
//! export DISCORD_PROXY_HOST=127.0.0.1:8120              twilight: .proxy(host, true)
//! export DISCORD_GATEWAY_URL=ws://127.0.0.1:8120
//! ```
//!
//! With `--seed N` ids and tokens are the same at each start; with `--state FILE` guilds, channels,
//! accounts, tokens and messages are kept from one start to the next. `loopback-discord -- COMMAND` runs
//! a bot with these variables in its environment, passes signals on to it, and ends with its exit code.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use dirigent::UserId;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use dirigent_testkit::memory_discord::MemoryDiscord;

// `server` takes connections, `endpoint` has the table of routes. `rest` answers requests, `gateway` keeps sessions, `wire`
// is Discord's own form of both. `outage` and `door` take parts of the server away, `faults` and `alterations`
// spoil answers. The world itself is `MemoryDiscord` of `dirigent-testkit`.

mod alterations;
mod commands;
mod door;
mod endpoint;
mod faults;
mod files;
mod forward;
pub(crate) mod gateway;
mod limits;
pub(crate) mod managed_roles;
mod outage;
pub(crate) mod parts;
mod poll;
mod resolved;
mod rest;
mod said;
mod server;
mod snapshot;
pub(crate) mod state;
mod stickers;
mod threads;
mod token;
mod traffic;
mod user_agents;
pub(crate) mod wire;

pub use alterations::{Alterations, AlteredAnswer, AlteredEvent, AlteredFile, AlteredRequest};
pub use commands::{CommandError, InteractionId, ShownAnswer};
pub use endpoint::RestRoute;
pub use faults::{RestFault, RestFaults};
pub use gateway::{GatewayFault, GatewayFaults, SessionInfo};
pub use limits::{Limit, Scope, ServerLimits};
pub use outage::ServerOutage;
pub use said::Said;
pub use traffic::{ReceivedRequest, Traffic};

use door::Door;
use state::ServerContext;

/// A running Discord on 127.0.0.1. Dropping it ends it with all its connections.
///
/// It serves what a chatting bot asks for, below `/api/v10`: see [`RestRoute`]. What is there, who may
/// do what and what time it is comes from the [`MemoryDiscord`], which people and the test change
/// meanwhile. Refusals carry Discord's status and code; limits are kept by bucket and told in headers
/// ([`ServerLimits`]); what is asked for and not there is refused loudly. Requests can be made to fail
/// ([`RestFault`]) and are kept account of ([`Traffic`]); parts of the server can be away
/// ([`ServerOutage`]). An application has the id of its bot.
///
/// Faults of the [`MemoryDiscord`] itself hit pushed events here too; those of its calls do not.
///
/// ```
/// use std::sync::Arc;
/// use dirigent_loopback::{RestRoute, LoopbackDiscord};
/// use dirigent_testkit::{ManualClock, MemoryDiscord};
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let discord = MemoryDiscord::new(Arc::new(ManualClock::new()));
/// let (person, bot) = (discord.add_human(), discord.add_bot());
/// let guild = discord.add_guild(person);
/// let channel = discord.add_channel(guild, "round-table", &[bot]);
/// discord.say(channel, person, "Good morning");
///
/// let loopback = LoopbackDiscord::start(discord).await?;
/// // Any HTTP client does; this one is a few lines.
/// let mut client = tokio::net::TcpStream::connect(loopback.address()).await?;
/// let request = format!(
///     "GET /api/v10/channels/{channel}/messages HTTP/1.1\r\nHost: loopback\r\nConnection: close\r\n\
///      Authorization: Bot {}\r\nUser-Agent: DiscordBot (https://example.invalid, 1)\r\n\r\n",
///     loopback.token(bot),
/// );
/// client.write_all(request.as_bytes()).await?;
/// let mut answer = String::new();
/// client.read_to_string(&mut answer).await?;
/// assert!(answer.starts_with("HTTP/1.1 200 OK"));
/// assert!(answer.contains("Good morning"));
/// assert_eq!(loopback.traffic().answered(RestRoute::ListMessages, 200), 1);
/// # Ok(())
/// # }
/// ```
pub struct LoopbackDiscord {
    state: Arc<ServerContext>,
    stop: Option<oneshot::Sender<()>>,
    serving: Option<JoinHandle<()>>,
}

impl LoopbackDiscord {
    /// Starts on a free port.
    ///
    /// # Errors
    ///
    /// When the port cannot be opened.
    pub async fn start(discord: MemoryDiscord) -> io::Result<Self> {
        Self::start_on(discord, 0).await
    }

    /// Starts on this port; 0 takes a free one. It must be called within a tokio runtime with I/O,
    /// on which it then runs.
    ///
    /// # Errors
    ///
    /// When the port cannot be opened.
    pub async fn start_on(discord: MemoryDiscord, port: u16) -> io::Result<Self> {
        let door = Door::open_on(port).await?;
        let (tasks, started) = mpsc::unbounded_channel();
        let state = Arc::new(ServerContext::new(discord, door, tasks));
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(server::serve(Arc::clone(&state), started, stopped));
        Ok(Self { state, stop: Some(stop), serving: Some(serving) })
    }

    /// Returns the address of the REST API, the gateway and the files. There is only this one, because some clients take a
    /// single origin for all of Discord.
    pub fn address(&self) -> SocketAddr {
        self.state.door.address
    }

    /// The chat behind it.
    pub fn discord(&self) -> &MemoryDiscord {
        &self.state.discord
    }

    /// A bot's token.
    pub fn token(&self, bot: UserId) -> String {
        token::of(bot)
    }

    /// Sets other limits; what was counted so far is forgotten. Unless told,
    /// [`ServerLimits::default`] holds.
    pub fn set_limits(&self, limits: ServerLimits) {
        self.state.counters().set(limits);
    }

    /// Lets things go wrong by another plan from now on.
    pub fn set_faults(&self, faults: RestFaults) {
        *self.state.faults() = faults;
    }

    /// Lets the next request for this route go wrong, or the one after those already planned.
    pub fn next(&self, endpoint: RestRoute, fault: RestFault) {
        self.state.faults().next(endpoint, fault);
    }

    /// Changes the plan of what goes wrong.
    pub fn inject(&self, change: impl FnOnce(&mut RestFaults)) {
        change(&mut self.state.faults());
    }

    /// What was asked since it started, and how that was answered.
    pub fn traffic(&self) -> Traffic {
        self.state.traffic().clone()
    }

    /// Ends it, and waits until nothing of it runs any more.
    pub async fn shutdown(mut self) {
        drop(self.stop.take());
        if let Some(serving) = self.serving.take() {
            // A panic in it has been shown already.
            let _ = serving.await;
        }
    }
}

impl Drop for LoopbackDiscord {
    fn drop(&mut self) {
        if let Some(serving) = &self.serving {
            serving.abort();
        }
    }
}

impl fmt::Debug for LoopbackDiscord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoopbackDiscord").field("address", &self.address()).finish_non_exhaustive()
    }
}
