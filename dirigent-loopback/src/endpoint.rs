//! What can be asked for: every route that the server has.

/// A route of Discord's REST API that the server has.
///
/// ```
/// use dirigent_loopback::Endpoint;
///
/// assert_eq!(Endpoint::CreateMessage.method(), "POST");
/// assert_eq!(Endpoint::CreateMessage.path(), "channels/{c}/messages");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Endpoint {
    /// Who the account is.
    GetCurrentUser,
    /// The account's guilds, page by page.
    ListCurrentUserGuilds,
    /// Opens a direct message.
    CreateDirect,
    /// Reads an account.
    GetUser,
    /// The gateway's address.
    GetGateway,
    /// The gateway's address, and how to connect.
    GetGatewayBot,
    /// The account's application.
    GetCurrentApplication,
    /// The same, by its older name.
    GetOauthApplication,
    /// A guild.
    GetGuild,
    /// A guild's channels.
    ListGuildChannels,
    /// Creates a channel.
    CreateGuildChannel,
    /// A guild's members, page by page.
    ListGuildMembers,
    /// Members by the beginning of their names.
    SearchGuildMembers,
    /// A member.
    GetGuildMember,
    /// Gives a member a role.
    AddMemberRole,
    /// Takes a role from a member.
    RemoveMemberRole,
    /// A guild's roles.
    ListGuildRoles,
    /// A guild's threads.
    ListActiveThreads,
    /// A channel.
    GetChannel,
    /// Changes a channel.
    UpdateChannel,
    /// Deletes a channel.
    DeleteChannel,
    /// Sets an overwrite.
    SetOverwrite,
    /// Takes an overwrite away.
    DeleteOverwrite,
    /// Messages, page by page.
    ListMessages,
    /// Posts.
    CreateMessage,
    /// Deletes several messages.
    DeleteMessages,
    /// A message.
    GetMessage,
    /// Changes a message.
    UpdateMessage,
    /// Deletes a message.
    DeleteMessage,
    /// Shows that an account types.
    TriggerTyping,
    /// Creates a thread.
    CreateThread,
    /// Creates a thread from a message.
    CreateThreadFromMessage,
    /// Who was added to a thread.
    ListThreadMembers,
    /// One who was added to a thread.
    GetThreadMember,
    /// Adds an account to a thread.
    AddThreadMember,
    /// Takes an account out of a thread.
    RemoveThreadMember,
    /// Joins a thread.
    JoinThread,
    /// Leaves a thread.
    LeaveThread,
    /// An application's commands everywhere.
    ListCommands,
    /// Adds a command.
    CreateCommand,
    /// Replaces all commands.
    SetCommands,
    /// A command.
    GetCommand,
    /// Changes a command.
    UpdateCommand,
    /// Deletes a command.
    DeleteCommand,
    /// An application's commands in one guild.
    ListGuildCommands,
    /// Adds a command to a guild.
    CreateGuildCommand,
    /// Replaces all commands of a guild.
    SetGuildCommands,
    /// A command of a guild.
    GetGuildCommand,
    /// Changes a command of a guild.
    UpdateGuildCommand,
    /// Deletes a command of a guild.
    DeleteGuildCommand,
    /// Answers a command.
    CreateInteractionAnswer,
    /// The first answer to a command.
    GetOriginalAnswer,
    /// Changes the first answer.
    UpdateOriginalAnswer,
    /// Deletes the first answer.
    DeleteOriginalAnswer,
    /// Answers a command once more.
    CreateFollowup,
    /// A further answer to a command.
    GetFollowup,
    /// Changes a further answer.
    UpdateFollowup,
    /// Deletes a further answer.
    DeleteFollowup,
}

use Endpoint as E;

/// Every route: `{c}` is a channel and `{g}` a guild, by which limits are counted; `{a}` an application,
/// `{n}` another id, `{t}` a text.
const ROUTES: &[(Endpoint, &str, &str)] = &[
    (E::GetCurrentUser, "GET", "users/@me"),
    (E::ListCurrentUserGuilds, "GET", "users/@me/guilds"),
    (E::CreateDirect, "POST", "users/@me/channels"),
    (E::GetUser, "GET", "users/{n}"),
    (E::GetGateway, "GET", "gateway"),
    (E::GetGatewayBot, "GET", "gateway/bot"),
    (E::GetCurrentApplication, "GET", "applications/@me"),
    (E::GetOauthApplication, "GET", "oauth2/applications/@me"),
    (E::GetGuild, "GET", "guilds/{g}"),
    (E::ListGuildChannels, "GET", "guilds/{g}/channels"),
    (E::CreateGuildChannel, "POST", "guilds/{g}/channels"),
    (E::ListGuildMembers, "GET", "guilds/{g}/members"),
    (E::SearchGuildMembers, "GET", "guilds/{g}/members/search"),
    (E::GetGuildMember, "GET", "guilds/{g}/members/{n}"),
    (E::AddMemberRole, "PUT", "guilds/{g}/members/{n}/roles/{n}"),
    (E::RemoveMemberRole, "DELETE", "guilds/{g}/members/{n}/roles/{n}"),
    (E::ListGuildRoles, "GET", "guilds/{g}/roles"),
    (E::ListActiveThreads, "GET", "guilds/{g}/threads/active"),
    (E::GetChannel, "GET", "channels/{c}"),
    (E::UpdateChannel, "PATCH", "channels/{c}"),
    (E::DeleteChannel, "DELETE", "channels/{c}"),
    (E::SetOverwrite, "PUT", "channels/{c}/permissions/{n}"),
    (E::DeleteOverwrite, "DELETE", "channels/{c}/permissions/{n}"),
    (E::ListMessages, "GET", "channels/{c}/messages"),
    (E::CreateMessage, "POST", "channels/{c}/messages"),
    (E::DeleteMessages, "POST", "channels/{c}/messages/bulk-delete"),
    (E::GetMessage, "GET", "channels/{c}/messages/{n}"),
    (E::UpdateMessage, "PATCH", "channels/{c}/messages/{n}"),
    (E::DeleteMessage, "DELETE", "channels/{c}/messages/{n}"),
    (E::TriggerTyping, "POST", "channels/{c}/typing"),
    (E::CreateThread, "POST", "channels/{c}/threads"),
    (E::CreateThreadFromMessage, "POST", "channels/{c}/messages/{n}/threads"),
    (E::ListThreadMembers, "GET", "channels/{c}/thread-members"),
    (E::JoinThread, "PUT", "channels/{c}/thread-members/@me"),
    (E::LeaveThread, "DELETE", "channels/{c}/thread-members/@me"),
    (E::GetThreadMember, "GET", "channels/{c}/thread-members/{n}"),
    (E::AddThreadMember, "PUT", "channels/{c}/thread-members/{n}"),
    (E::RemoveThreadMember, "DELETE", "channels/{c}/thread-members/{n}"),
    (E::ListCommands, "GET", "applications/{a}/commands"),
    (E::CreateCommand, "POST", "applications/{a}/commands"),
    (E::SetCommands, "PUT", "applications/{a}/commands"),
    (E::GetCommand, "GET", "applications/{a}/commands/{n}"),
    (E::UpdateCommand, "PATCH", "applications/{a}/commands/{n}"),
    (E::DeleteCommand, "DELETE", "applications/{a}/commands/{n}"),
    (E::ListGuildCommands, "GET", "applications/{a}/guilds/{g}/commands"),
    (E::CreateGuildCommand, "POST", "applications/{a}/guilds/{g}/commands"),
    (E::SetGuildCommands, "PUT", "applications/{a}/guilds/{g}/commands"),
    (E::GetGuildCommand, "GET", "applications/{a}/guilds/{g}/commands/{n}"),
    (E::UpdateGuildCommand, "PATCH", "applications/{a}/guilds/{g}/commands/{n}"),
    (E::DeleteGuildCommand, "DELETE", "applications/{a}/guilds/{g}/commands/{n}"),
    (E::CreateInteractionAnswer, "POST", "interactions/{n}/{t}/callback"),
    (E::GetOriginalAnswer, "GET", "webhooks/{a}/{t}/messages/@original"),
    (E::UpdateOriginalAnswer, "PATCH", "webhooks/{a}/{t}/messages/@original"),
    (E::DeleteOriginalAnswer, "DELETE", "webhooks/{a}/{t}/messages/@original"),
    (E::CreateFollowup, "POST", "webhooks/{a}/{t}"),
    (E::GetFollowup, "GET", "webhooks/{a}/{t}/messages/{n}"),
    (E::UpdateFollowup, "PATCH", "webhooks/{a}/{t}/messages/{n}"),
    (E::DeleteFollowup, "DELETE", "webhooks/{a}/{t}/messages/{n}"),
];

impl Endpoint {
    /// Its method.
    pub fn method(self) -> &'static str {
        self.row().map_or("", |(_, method, _)| method)
    }

    /// Its path below the version, with `{c}` for a channel's id, `{g}` for a guild's, `{a}` for an
    /// application's, `{n}` for another id and `{t}` for a token.
    pub fn path(self) -> &'static str {
        self.row().map_or("", |(_, _, path)| path)
    }

    /// Whether it belongs to an interaction: its token is in the path, and no bot's is needed.
    pub(crate) fn is_interaction(self) -> bool {
        self.path().contains("{t}")
    }

    fn row(self) -> Option<(Self, &'static str, &'static str)> {
        ROUTES.iter().find(|(endpoint, _, _)| *endpoint == self).copied()
    }
}

/// A path that was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Matched {
    pub(crate) endpoint: Endpoint,
    /// The numbers in it, in their order.
    pub(crate) ids: Vec<u64>,
    /// The text in it.
    pub(crate) text: String,
    /// By what its limits are counted: a channel, a guild or an interaction.
    pub(crate) major: String,
}

/// Why a path was not understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unmatched {
    /// There is no such path.
    Path,
    /// There is one, for other methods.
    Method,
    /// Something in it should be an id and is none.
    Id,
}

/// Understands a path below the version.
pub(crate) fn find(method: &str, path: &str) -> Result<Matched, Unmatched> {
    let mut found = Unmatched::Path;
    for (endpoint, its_method, pattern) in ROUTES {
        match fit(*endpoint, pattern, path) {
            Some(Ok(matched)) if *its_method == method => return Ok(matched),
            Some(Ok(_)) => found = Unmatched::Method,
            Some(Err(())) if found == Unmatched::Path => found = Unmatched::Id,
            Some(Err(())) | None => {}
        }
    }
    Err(found)
}

/// The path as this pattern has it; an error where only its ids are none.
fn fit(endpoint: Endpoint, pattern: &str, path: &str) -> Option<Result<Matched, ()>> {
    let mut matched =
        Matched { endpoint, ids: Vec::new(), text: String::new(), major: String::new() };
    if pattern.split('/').count() != path.split('/').count() {
        return None;
    }
    let mut is_id_bad = false;
    for (expected, given) in pattern.split('/').zip(path.split('/')) {
        match expected {
            "{c}" | "{g}" | "{a}" | "{n}" => {
                match given.parse() {
                    Ok(id) => matched.ids.push(id),
                    Err(_) => is_id_bad = true,
                }
                if matches!(expected, "{c}" | "{g}") {
                    given.clone_into(&mut matched.major);
                }
            }
            "{t}" => {
                given.clone_into(&mut matched.text);
                given.clone_into(&mut matched.major);
            }
            word if word == given => {}
            _ => return None,
        }
    }
    Some(if is_id_bad { Err(()) } else { Ok(matched) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_told_from_a_wrong_method_and_from_a_bad_id() {
        let matched = find("DELETE", "channels/11/messages/12").unwrap();
        assert_eq!((matched.endpoint, matched.ids), (Endpoint::DeleteMessage, vec![11, 12]));
        assert_eq!(matched.major, "11");
        let bulk = find("POST", "channels/11/messages/bulk-delete").unwrap();
        assert_eq!(bulk.endpoint, Endpoint::DeleteMessages);
        assert_eq!(find("GET", "users/@me").unwrap().endpoint, Endpoint::GetCurrentUser);
        assert_eq!(find("PUT", "channels/11/messages/12"), Err(Unmatched::Method));
        assert_eq!(find("GET", "channels/abc"), Err(Unmatched::Id));
        assert_eq!(find("GET", "stickers/1"), Err(Unmatched::Path));
    }

    #[test]
    fn every_endpoint_has_one_route() {
        for (number, (endpoint, method, path)) in ROUTES.iter().enumerate() {
            assert_eq!((endpoint.method(), endpoint.path()), (*method, *path));
            let filled = path
                .replace("{c}", "1")
                .replace("{g}", "2")
                .replace("{a}", "3")
                .replace("{n}", "4")
                .replace("{t}", "text");
            let found = find(method, &filled).unwrap();
            assert_eq!(found.endpoint, *endpoint, "row {number}");
        }
    }
}
