//! What the server says, in Discord's own form.

mod channel;
mod dispatch;
mod guild;
pub(crate) mod intent;
mod message;
pub(crate) mod moment;
mod people;

pub(crate) use channel::{channel, thread_member};
pub(crate) use dispatch::{Dispatch, dispatch, hide_content};
pub(crate) use guild::{guild, guild_create, guilds_of, listed_guild};
pub(crate) use message::message;
pub(crate) use people::{application, current_user, member, partial_application, role, user};
