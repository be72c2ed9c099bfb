//! A Discord server on this machine, with the state of a [`MemoryDiscord`].
//!
//! Bots connect to it unchanged, if you point their HTTP client and their gateway at it. [`LoopbackDiscord`] describes
//! how, and what the server can do. The program `loopback-discord` adds a terminal to it.
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
//! The program prints everything that a bot must know, as lines that you paste into another terminal:
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
//! With `--seed N` you get the same ids and tokens at each start. With `--state FILE` guilds, channels, accounts,
//! tokens and messages survive from one start to the next. `loopback-discord -- COMMAND` runs a bot with these
//! variables in its environment, passes signals on to it, and ends with its exit code.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use dirigent::UserId;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use dirigent_testkit::memory_discord::MemoryDiscord;

// `server` accepts connections, and `endpoint` has the table of routes. `rest` answers requests, `gateway` has the
// sessions, and `wire` is Discord's own form of both. `outage` and `door` take parts of the server away, and `faults`
// and `alterations` spoil answers. The world itself is `MemoryDiscord` of `dirigent-testkit`.

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

/// A running Discord on 127.0.0.1. Dropping it ends all its connections.
///
/// It serves what a chatting bot asks for, below `/api/v10`: see [`RestRoute`]. The [`MemoryDiscord`] decides what
/// exists, who may do what, and what time it is. People and your test change it while the server runs.
///
/// Refusals carry Discord's status and code, and a request that the server cannot perform is refused loudly. Limits
/// apply to each bucket and are shown in headers ([`ServerLimits`]). You can let requests fail ([`RestFault`]), count
/// them ([`Traffic`]), and take parts of the server away ([`ServerOutage`]). An application has the id of its bot.
///
/// Faults of the [`MemoryDiscord`] itself also hit pushed events here, but not requests.
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
    /// Returns an error if the port cannot be opened.
    pub async fn start(discord: MemoryDiscord) -> io::Result<Self> {
        Self::start_on(discord, 0).await
    }

    /// Starts on this port; 0 takes a free one. Call it within a tokio runtime with I/O, because the server runs on
    /// that runtime.
    ///
    /// # Errors
    ///
    /// Returns an error if the port cannot be opened.
    pub async fn start_on(discord: MemoryDiscord, port: u16) -> io::Result<Self> {
        let door = Door::open_on(port).await?;
        let (tasks, started) = mpsc::unbounded_channel();
        let state = Arc::new(ServerContext::new(discord, door, tasks));
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(server::serve(Arc::clone(&state), started, stopped));
        Ok(Self { state, stop: Some(stop), serving: Some(serving) })
    }

    /// Returns the address of the REST API, the gateway and the files. There is only this one, because some clients use
    /// a single origin for all of Discord.
    pub fn address(&self) -> SocketAddr {
        self.state.door.address
    }

    /// Returns the Discord in memory.
    pub fn discord(&self) -> &MemoryDiscord {
        &self.state.discord
    }

    /// Returns a bot's token.
    pub fn token(&self, bot: UserId) -> String {
        token::of(bot)
    }

    /// Replaces the limits, and forgets all counts. By default they are [`ServerLimits::default`].
    pub fn set_limits(&self, limits: ServerLimits) {
        self.state.counters().set(limits);
    }

    /// Replaces the plan of faults.
    pub fn set_faults(&self, faults: RestFaults) {
        *self.state.faults() = faults;
    }

    /// Plans a fault for the next request for this route, after those already planned.
    pub fn next(&self, endpoint: RestRoute, fault: RestFault) {
        self.state.faults().next(endpoint, fault);
    }

    /// Changes the plan of faults.
    pub fn inject(&self, change: impl FnOnce(&mut RestFaults)) {
        change(&mut self.state.faults());
    }

    /// Returns all requests since the start, with the results.
    pub fn traffic(&self) -> Traffic {
        self.state.traffic().clone()
    }

    /// Stops the server, and waits until all its tasks have ended.
    pub async fn shutdown(mut self) {
        drop(self.stop.take());
        if let Some(serving) = self.serving.take() {
            // A panic in it was already reported.
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
