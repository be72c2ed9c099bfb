//! What a bot on serenity needs for Dirigent: its accounts as a `DiscordApi`, and its events told.
//!
//! Take the files along. `bot.rs` puts them together; `account.rs` says why it does not use serenity's own calls.

mod account;
mod bot;
mod command;
mod message;
mod relay;
mod shown;

pub use account::{SerenityAccount, http};
pub use bot::run;
pub use command::SlashCommands;
pub use message::chat_message;
pub use relay::Relay;
