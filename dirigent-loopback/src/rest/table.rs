//! Who answers what.

use super::ask::Ask;
use super::refusal::Refusal;
use super::reply::Reply;
use super::{channels, commands, guilds, interactions, messages, posting, threads, users};
use crate::endpoint::Endpoint as E;
use crate::state::State;
use dirigent_testkit::memory_discord::world::World;

/// Carries out a request.
pub(super) fn carry_out(state: &State, world: &mut World, ask: &Ask) -> Result<Reply, Refusal> {
    match ask.matched.endpoint {
        E::GetCurrentUser => Ok(users::current(world, ask)),
        E::ListCurrentUserGuilds => users::guilds(world, ask),
        E::CreateDirect => users::direct(world, ask),
        E::GetUser => users::one(world, ask),
        E::GetGateway => Ok(users::gateway(state)),
        E::GetGatewayBot => Ok(users::gateway_bot(state)),
        E::GetCurrentApplication | E::GetOauthApplication => Ok(users::application(world, ask)),
        E::GetGuild => guilds::one(world, ask),
        E::ListGuildChannels => guilds::channels(world, ask),
        E::CreateGuildChannel => channels::create(world, ask),
        E::ListGuildMembers => guilds::members(world, ask),
        E::SearchGuildMembers => guilds::search(world, ask),
        E::GetGuildMember => guilds::member(world, ask),
        E::AddMemberRole => guilds::set_role(world, ask, true),
        E::RemoveMemberRole => guilds::set_role(world, ask, false),
        E::ListGuildRoles => guilds::roles(world, ask),
        E::ListActiveThreads => guilds::active_threads(world, ask),
        E::GetChannel => channels::one(world, ask),
        E::UpdateChannel => channels::update(world, ask),
        E::DeleteChannel => channels::delete(world, ask),
        E::SetOverwrite => channels::set_overwrite(world, ask),
        E::DeleteOverwrite => channels::delete_overwrite(world, ask),
        E::ListMessages => messages::list(world, ask),
        E::CreateMessage => posting::create(world, ask),
        E::DeleteMessages => messages::delete_several(world, ask),
        E::GetMessage => messages::one(world, ask),
        E::UpdateMessage => messages::update(world, ask),
        E::DeleteMessage => messages::delete(world, ask),
        E::TriggerTyping => messages::typing(world, ask),
        E::CreateThread => threads::create(world, ask),
        E::CreateThreadFromMessage => threads::create_from_message(world, ask),
        E::ListThreadMembers => threads::members(world, ask),
        E::GetThreadMember => threads::member(world, ask),
        E::AddThreadMember => threads::add_member(world, ask, ask.user(1)),
        E::RemoveThreadMember => threads::remove_member(world, ask, ask.user(1)),
        E::JoinThread => threads::add_member(world, ask, ask.me),
        E::LeaveThread => threads::remove_member(world, ask, ask.me),
        E::ListCommands | E::ListGuildCommands => commands::list(world, ask),
        E::CreateCommand | E::CreateGuildCommand => commands::create(world, ask),
        E::SetCommands | E::SetGuildCommands => commands::set(world, ask),
        E::GetCommand | E::GetGuildCommand => commands::one(world, ask),
        E::UpdateCommand | E::UpdateGuildCommand => commands::update(world, ask),
        E::DeleteCommand | E::DeleteGuildCommand => commands::delete(world, ask),
        E::CreateInteractionAnswer => interactions::first(world, ask),
        E::CreateFollowup => interactions::follow_up(world, ask),
        E::GetOriginalAnswer => interactions::one(world, ask, true),
        E::UpdateOriginalAnswer => interactions::update(world, ask, true),
        E::DeleteOriginalAnswer => interactions::delete(world, ask, true),
        E::GetFollowup => interactions::one(world, ask, false),
        E::UpdateFollowup => interactions::update(world, ask, false),
        E::DeleteFollowup => interactions::delete(world, ask, false),
    }
}
