//! Everything that the server sends, in Discord's own form, for REST and for the gateway.

mod channel;
mod dispatch;
mod guild;
pub(crate) mod intent;
mod marks;
mod media;
mod message;
mod people;
mod view;
mod webhook;

pub(crate) use channel::{channel, thread_member};
pub(crate) use dispatch::{Dispatch, dispatch, managed_role_told};
pub(crate) use guild::{guild, guild_create, guilds_of, listed_guild, roles};
pub(crate) use media::{FILES, guild_emoji};
pub(crate) use message::{message, message_with};
pub(crate) use people::{application, current_user, member, partial_application, user};
pub(crate) use view::View;
pub(crate) use webhook::webhook;
