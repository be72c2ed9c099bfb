//! The handler of each route.

use super::ask::Ask;
use super::refusal::Refusal;
use super::reply::Reply;
use super::webhooks::{self, By};
use super::{
    channels, commands, guilds, interactions, messages, pins, posting, reactions, threads, users,
    webhook_messages,
};
use crate::endpoint::RestRoute as E;
use crate::state::ServerContext;
use dirigent_testkit::memory_discord::world::World;

/// Performs a request.
type Handler = fn(&ServerContext, &mut World, &Ask) -> Result<Reply, Refusal>;

/// Every route with its handler.
const HANDLERS: &[(E, Handler)] = &[
    (E::GetCurrentUser, |_, world, ask| Ok(users::current(world, ask))),
    (E::ListCurrentUserGuilds, |_, world, ask| users::guilds(world, ask)),
    (E::CreateDirect, |_, world, ask| users::direct(world, ask)),
    (E::GetUser, |_, world, ask| users::one(world, ask)),
    (E::GetGateway, |state, _, _| Ok(users::gateway(state))),
    (E::GetGatewayBot, |state, _, _| Ok(users::gateway_bot(state))),
    (E::GetCurrentApplication, |_, world, ask| Ok(users::application(world, ask))),
    (E::GetOauthApplication, |_, world, ask| Ok(users::application(world, ask))),
    (E::ListDefaultSounds, |_, _, _| Ok(Reply::list([]))),
    (E::GetGuild, |_, world, ask| guilds::one(world, ask)),
    (E::ListGuildChannels, |_, world, ask| guilds::channels(world, ask)),
    (E::CreateGuildChannel, |_, world, ask| channels::create(world, ask)),
    (E::ListGuildMembers, |_, world, ask| guilds::members(world, ask)),
    (E::SearchGuildMembers, |_, world, ask| guilds::search(world, ask)),
    (E::GetGuildMember, |_, world, ask| guilds::member(world, ask)),
    (E::AddMemberRole, |_, world, ask| guilds::set_role(world, ask, true)),
    (E::RemoveMemberRole, |_, world, ask| guilds::set_role(world, ask, false)),
    (E::ListGuildRoles, |_, world, ask| guilds::roles(world, ask)),
    (E::ListActiveThreads, |_, world, ask| guilds::active_threads(world, ask)),
    (E::ListEmojis, |_, world, ask| guilds::emojis(world, ask)),
    (E::GetEmoji, |_, world, ask| guilds::emoji(world, ask)),
    (E::GetChannel, |_, world, ask| channels::one(world, ask)),
    (E::UpdateChannel, |_, world, ask| channels::update(world, ask)),
    (E::DeleteChannel, |_, world, ask| channels::delete(world, ask)),
    (E::SetOverwrite, |_, world, ask| channels::set_overwrite(world, ask)),
    (E::DeleteOverwrite, |_, world, ask| channels::delete_overwrite(world, ask)),
    (E::ListMessages, |_, world, ask| messages::list(world, ask)),
    (E::CreateMessage, |_, world, ask| posting::create(world, ask)),
    (E::DeleteMessages, |_, world, ask| messages::delete_several(world, ask)),
    (E::GetMessage, |_, world, ask| messages::one(world, ask)),
    (E::UpdateMessage, |_, world, ask| messages::update(world, ask)),
    (E::DeleteMessage, |_, world, ask| messages::delete(world, ask)),
    (E::AddReaction, |_, world, ask| reactions::add(world, ask)),
    (E::RemoveOwnReaction, |_, world, ask| reactions::remove(world, ask, ask.me)),
    (E::RemoveReaction, |_, world, ask| reactions::remove(world, ask, ask.user(2))),
    (E::ListReactions, |_, world, ask| reactions::users(world, ask)),
    (E::RemoveReactionsOfEmoji, |_, world, ask| reactions::clear(world, ask, Some(&ask.emoji()?))),
    (E::RemoveReactions, |_, world, ask| reactions::clear(world, ask, None)),
    (E::AddPin, |_, world, ask| pins::add(world, ask)),
    (E::AddPinOld, |_, world, ask| pins::add(world, ask)),
    (E::RemovePin, |_, world, ask| pins::remove(world, ask)),
    (E::RemovePinOld, |_, world, ask| pins::remove(world, ask)),
    (E::ListPins, |_, world, ask| pins::list(world, ask)),
    (E::ListPinsOld, |_, world, ask| pins::old_list(world, ask)),
    (E::TriggerTyping, |_, world, ask| messages::typing(world, ask)),
    (E::CreateThread, |_, world, ask| threads::create(world, ask)),
    (E::CreateThreadFromMessage, |_, world, ask| threads::create_from_message(world, ask)),
    (E::ListThreadMembers, |_, world, ask| threads::members(world, ask)),
    (E::GetThreadMember, |_, world, ask| threads::member(world, ask)),
    (E::AddThreadMember, |_, world, ask| threads::add_member(world, ask, ask.user(1))),
    (E::RemoveThreadMember, |_, world, ask| threads::remove_member(world, ask, ask.user(1))),
    (E::JoinThread, |_, world, ask| threads::add_member(world, ask, ask.me)),
    (E::LeaveThread, |_, world, ask| threads::remove_member(world, ask, ask.me)),
    (E::ListCommands, |_, world, ask| commands::list(world, ask)),
    (E::ListGuildCommands, |_, world, ask| commands::list(world, ask)),
    (E::CreateCommand, |_, world, ask| commands::create(world, ask)),
    (E::CreateGuildCommand, |_, world, ask| commands::create(world, ask)),
    (E::SetCommands, |_, world, ask| commands::set(world, ask)),
    (E::SetGuildCommands, |_, world, ask| commands::set(world, ask)),
    (E::GetCommand, |_, world, ask| commands::one(world, ask)),
    (E::GetGuildCommand, |_, world, ask| commands::one(world, ask)),
    (E::UpdateCommand, |_, world, ask| commands::update(world, ask)),
    (E::UpdateGuildCommand, |_, world, ask| commands::update(world, ask)),
    (E::DeleteCommand, |_, world, ask| commands::delete(world, ask)),
    (E::DeleteGuildCommand, |_, world, ask| commands::delete(world, ask)),
    (E::CreateInteractionAnswer, |_, world, ask| interactions::first(world, ask)),
    (E::ListChannelWebhooks, |_, world, ask| webhooks::of_channel(world, ask)),
    (E::CreateWebhook, |_, world, ask| webhooks::create(world, ask)),
    (E::ListGuildWebhooks, |_, world, ask| webhooks::of_guild(world, ask)),
    (E::GetWebhook, |_, world, ask| webhooks::one(world, ask, By::Bot)),
    (E::UpdateWebhook, |_, world, ask| webhooks::update(world, ask, By::Bot)),
    (E::DeleteWebhook, |_, world, ask| webhooks::delete(world, ask, By::Bot)),
    (E::GetWebhookByToken, |_, world, ask| webhooks::one(world, ask, By::Token)),
    (E::UpdateWebhookByToken, |_, world, ask| webhooks::update(world, ask, By::Token)),
    (E::DeleteWebhookByToken, |_, world, ask| webhooks::delete(world, ask, By::Token)),
    (E::CreateFollowup, |_, world, ask| {
        for_webhook_or(world, ask, webhook_messages::create, |world, ask| {
            interactions::follow_up(world, ask)
        })
    }),
    (E::GetOriginalAnswer, |_, world, ask| interactions::one(world, ask, true)),
    (E::UpdateOriginalAnswer, |_, world, ask| interactions::update(world, ask, true)),
    (E::DeleteOriginalAnswer, |_, world, ask| interactions::delete(world, ask, true)),
    (E::GetFollowup, |_, world, ask| {
        for_webhook_or(world, ask, webhook_messages::one, |world, ask| {
            interactions::one(world, ask, false)
        })
    }),
    (E::UpdateFollowup, |_, world, ask| {
        for_webhook_or(world, ask, webhook_messages::update, |world, ask| {
            interactions::update(world, ask, false)
        })
    }),
    (E::DeleteFollowup, |_, world, ask| {
        for_webhook_or(world, ask, webhook_messages::delete, |world, ask| {
            interactions::delete(world, ask, false)
        })
    }),
];

/// Performs a request.
pub(super) fn carry_out(
    state: &ServerContext,
    world: &mut World,
    ask: &Ask,
) -> Result<Reply, Refusal> {
    let endpoint = ask.matched.endpoint;
    let found = HANDLERS.iter().find(|(handled, _)| *handled == endpoint);
    let (_, handler) = found.ok_or_else(|| Refusal::lacking(endpoint.path()))?;
    handler(state, world, ask)
}

/// Decides by the id whether a webhook or a command is meant, because the messages of both have the
/// same paths.
fn for_webhook_or(
    world: &mut World,
    ask: &Ask,
    of_webhook: fn(&mut World, &Ask) -> Result<Reply, Refusal>,
    of_command: fn(&mut World, &Ask) -> Result<Reply, Refusal>,
) -> Result<Reply, Refusal> {
    let is_webhook = world.webhooks.get(ask.user(0)).is_some();
    if is_webhook { of_webhook(world, ask) } else { of_command(world, ask) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_endpoint_is_handled_once() {
        for endpoint in E::all() {
            let handlers = HANDLERS.iter().filter(|(handled, _)| *handled == endpoint);
            assert_eq!(handlers.count(), 1, "{endpoint:?}");
        }
    }
}
