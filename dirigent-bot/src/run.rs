//! `dirigent run`: runs the moderator until a signal ends it.

use std::path::Path;
use std::time::Duration;

use dirigent::{CallError, Clock as _, Dirigent, SystemClock};
use tokio::signal::unix::{SignalKind, signal};

use crate::bot::{Bot, Result, Stored};
use crate::config::{BotConfig, ChannelConfig};
use crate::reload::reload;

/// The pause before the next try for channels of another process.
const NEXT_ROUND: Duration = Duration::from_millis(500);
/// The most tries, which take twice as long as a lease lasts.
const ROUNDS: u32 = 40;

/// Runs until SIGINT or SIGTERM. SIGHUP reads the file again.
pub(crate) async fn run(path: &Path) -> Result {
    let (config, text) = BotConfig::read(path)?;
    let stored = Stored::open(&config, &text).await?;
    let mut hangup = signal(SignalKind::hangup())?;
    let mut bot = Box::pin(Bot::new(config, &text, stored, &|_| None)).await?;
    bot.start(&text).await?;
    for (what, address) in &bot.listening {
        let path = if *what == "page" { "/dirigent" } else { "" };
        tracing::info!("the {what} is at http://{address}{path}");
    }
    tokio::spawn(give_modes(bot.dirigent.clone(), bot.config.channels.clone()));
    let mut end = std::pin::pin!(interrupted());
    loop {
        tokio::select! {
            ended = bot.ended() => return ended,
            interrupted = &mut end => break interrupted?,
            Some(()) = hangup.recv() => Box::pin(reload(&mut bot, path)).await,
        }
    }
    tracing::info!("it ends: agents that speak have five seconds");
    bot.shut_down().await;
    Ok(())
}

/// Waits for SIGINT or SIGTERM.
pub(crate) async fn interrupted() -> std::io::Result<()> {
    let mut terminated = signal(SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted,
        _ = terminated.recv() => Ok(()),
    }
}

/// Gives channels their configured modes, and logs who takes turns there.
pub(crate) async fn give_modes(dirigent: Dirigent, mut channels: Vec<ChannelConfig>) {
    let clock = SystemClock::new();
    for round in 1..=ROUNDS {
        let mut elsewhere = Vec::new();
        for configured in channels {
            let (channel, Some(mode)) = (dirigent.channel(configured.id()), configured.mode())
            else {
                continue;
            };
            let now = channel.status().await.ok().flatten().map(|status| status.mode);
            let given = if now == Some(mode) {
                channel.participants().await
            } else {
                channel.set_mode(mode).await
            };
            let id = channel.id();
            match given {
                // One of several processes gets its share a moment after the start, or when earlier leases end.
                Err(CallError::Elsewhere) if round < ROUNDS => elsewhere.push(configured),
                Err(CallError::Elsewhere) => {
                    tracing::info!(channel = %id, "another process gives it its mode");
                }
                Ok(there) => tracing::info!(channel = %id, "its mode is {mode}. {there}"),
                Err(error) => tracing::error!(channel = %id, "its mode is not {mode}: {error}"),
            }
        }
        if elsewhere.is_empty() {
            return;
        }
        channels = elsewhere;
        clock.sleep_until(clock.now() + NEXT_ROUND).await;
    }
}
