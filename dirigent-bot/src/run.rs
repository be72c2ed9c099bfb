//! `dirigent run`: the moderator until a signal ends it.

use std::path::Path;

use dirigent::Dirigent;
use tokio::signal::unix::{SignalKind, signal};

use crate::bot::{Bot, Result, store};
use crate::config::{BotConfig, ChannelConfig};
use crate::reload::reload;

/// Runs until SIGINT or SIGTERM. SIGHUP reads the file again.
pub(crate) async fn run(path: &Path) -> Result {
    let (config, text) = BotConfig::read(path)?;
    let store = store(&config.store, &text)?;
    let mut hangup = signal(SignalKind::hangup())?;
    let mut bot = Bot::new(config, &text, store, &|_| None).await?;
    bot.start(&text).await?;
    for (what, address) in &bot.listening {
        tracing::info!("the {what} is at http://{address}");
    }
    tokio::spawn(give_modes(bot.dirigent.clone(), bot.config.channels.clone()));
    let mut end = std::pin::pin!(interrupted());
    loop {
        tokio::select! {
            ended = bot.ended() => return ended,
            interrupted = &mut end => break interrupted?,
            Some(()) = hangup.recv() => reload(&mut bot, path).await,
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

/// Gives channels the modes that the configuration has for them, and says who takes turns there.
pub(crate) async fn give_modes(dirigent: Dirigent, channels: Vec<ChannelConfig>) {
    for configured in channels {
        let (channel, Some(mode)) = (dirigent.channel(configured.id()), configured.mode()) else {
            continue;
        };
        let now = channel.status().await.ok().flatten().map(|status| status.mode);
        let given = if now == Some(mode) {
            channel.participants().await
        } else {
            channel.set_mode(mode).await
        };
        match given {
            Ok(there) => tracing::info!(channel = %channel.id(), "its mode is {mode}. {there}"),
            Err(error) => {
                tracing::error!(channel = %channel.id(), "its mode is not {mode}: {error}");
            }
        }
    }
}
