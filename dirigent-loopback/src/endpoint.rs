//! The routes of the server.

use percent_encoding::percent_decode_str;

/// A route of Discord's REST API that the server has.
///
/// ```
/// use dirigent_loopback::RestRoute;
///
/// assert_eq!(RestRoute::CreateMessage.method(), "POST");
/// assert_eq!(RestRoute::CreateMessage.path(), "channels/{c}/messages");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum RestRoute {
    /// Reads the token's own account.
    GetCurrentUser,
    /// Lists the account's guilds, page by page.
    ListCurrentUserGuilds,
    /// Opens a direct message.
    CreateDirect,
    /// Reads an account.
    GetUser,
    /// Reads the gateway's address.
    GetGateway,
    /// Reads the gateway's address, and how to connect.
    GetGatewayBot,
    /// Reads the account's application.
    GetCurrentApplication,
    /// Reads the account's application, by the older path.
    GetOauthApplication,
    /// Lists Discord's own sounds. Here there are none.
    ListDefaultSounds,
    /// Reads a guild.
    GetGuild,
    /// Lists a guild's channels.
    ListGuildChannels,
    /// Creates a channel.
    CreateGuildChannel,
    /// Lists a guild's members, page by page.
    ListGuildMembers,
    /// Searches members by the beginning of their names.
    SearchGuildMembers,
    /// Reads a member.
    GetGuildMember,
    /// Gives a member a role.
    AddMemberRole,
    /// Takes a role from a member.
    RemoveMemberRole,
    /// Lists a guild's roles.
    ListGuildRoles,
    /// Lists a guild's threads.
    ListActiveThreads,
    /// Lists a guild's own emoji.
    ListEmojis,
    /// Reads one of a guild's own emoji.
    GetEmoji,
    /// Reads a channel.
    GetChannel,
    /// Changes a channel.
    UpdateChannel,
    /// Deletes a channel.
    DeleteChannel,
    /// Sets an overwrite.
    SetOverwrite,
    /// Deletes an overwrite.
    DeleteOverwrite,
    /// Lists messages, page by page.
    ListMessages,
    /// Posts a message.
    CreateMessage,
    /// Deletes several messages.
    DeleteMessages,
    /// Reads a message.
    GetMessage,
    /// Changes a message.
    UpdateMessage,
    /// Deletes a message.
    DeleteMessage,
    /// Adds a reaction to a message.
    AddReaction,
    /// Removes the account's own reaction.
    RemoveOwnReaction,
    /// Removes another account's reaction.
    RemoveReaction,
    /// Lists the accounts that reacted with an emoji, page by page.
    ListReactions,
    /// Removes all reactions with an emoji.
    RemoveReactionsOfEmoji,
    /// Removes all reactions.
    RemoveReactions,
    /// Pins a message.
    AddPin,
    /// Removes a pin.
    RemovePin,
    /// Lists pinned messages, page by page.
    ListPins,
    /// Pins a message, by the older path.
    AddPinOld,
    /// Removes a pin, by the older path.
    RemovePinOld,
    /// Lists the newest 50 pinned messages, by the older path.
    ListPinsOld,
    /// Shows that an account is typing.
    TriggerTyping,
    /// Creates a thread.
    CreateThread,
    /// Creates a thread from a message.
    CreateThreadFromMessage,
    /// Lists the accounts that were added to a thread.
    ListThreadMembers,
    /// Reads an account that was added to a thread.
    GetThreadMember,
    /// Adds an account to a thread.
    AddThreadMember,
    /// Removes an account from a thread.
    RemoveThreadMember,
    /// Joins a thread.
    JoinThread,
    /// Leaves a thread.
    LeaveThread,
    /// Lists an application's global commands.
    ListCommands,
    /// Adds a global command.
    CreateCommand,
    /// Replaces all global commands.
    SetCommands,
    /// Reads a global command.
    GetCommand,
    /// Changes a global command.
    UpdateCommand,
    /// Deletes a global command.
    DeleteCommand,
    /// Lists an application's commands in one guild.
    ListGuildCommands,
    /// Adds a command to a guild.
    CreateGuildCommand,
    /// Replaces all commands of a guild.
    SetGuildCommands,
    /// Reads a command of a guild.
    GetGuildCommand,
    /// Changes a command of a guild.
    UpdateGuildCommand,
    /// Deletes a command of a guild.
    DeleteGuildCommand,
    /// Lists a channel's webhooks.
    ListChannelWebhooks,
    /// Creates a webhook.
    CreateWebhook,
    /// Lists a guild's webhooks.
    ListGuildWebhooks,
    /// Reads a webhook, as a bot.
    GetWebhook,
    /// Changes a webhook, as a bot.
    UpdateWebhook,
    /// Deletes a webhook, as a bot.
    DeleteWebhook,
    /// Reads a webhook, with its token.
    GetWebhookByToken,
    /// Changes a webhook, with its token.
    UpdateWebhookByToken,
    /// Deletes a webhook, with its token.
    DeleteWebhookByToken,
    /// Answers a command.
    CreateInteractionAnswer,
    /// Reads the first answer to a command.
    GetOriginalAnswer,
    /// Changes the first answer.
    UpdateOriginalAnswer,
    /// Deletes the first answer.
    DeleteOriginalAnswer,
    /// Answers a command again, or posts through a webhook. Both have one path.
    CreateFollowup,
    /// Reads a further answer to a command, or a webhook's message.
    GetFollowup,
    /// Changes a further answer, or a webhook's message.
    UpdateFollowup,
    /// Deletes a further answer, or a webhook's message.
    DeleteFollowup,
}

use RestRoute as E;

/// Every route. `{c}` is a channel and `{g}` a guild, which have limits of their own. `{a}` is an
/// application, `{n}` another id, `{t}` a token, and `{e}` an emoji.
const ROUTES: &[(RestRoute, &str, &str)] = &[
    (E::GetCurrentUser, "GET", "users/@me"),
    (E::ListCurrentUserGuilds, "GET", "users/@me/guilds"),
    (E::CreateDirect, "POST", "users/@me/channels"),
    (E::GetUser, "GET", "users/{n}"),
    (E::GetGateway, "GET", "gateway"),
    (E::GetGatewayBot, "GET", "gateway/bot"),
    (E::GetCurrentApplication, "GET", "applications/@me"),
    (E::GetOauthApplication, "GET", "oauth2/applications/@me"),
    (E::ListDefaultSounds, "GET", "soundboard-default-sounds"),
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
    (E::ListEmojis, "GET", "guilds/{g}/emojis"),
    (E::GetEmoji, "GET", "guilds/{g}/emojis/{n}"),
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
    (E::AddReaction, "PUT", "channels/{c}/messages/{n}/reactions/{e}/@me"),
    (E::RemoveOwnReaction, "DELETE", "channels/{c}/messages/{n}/reactions/{e}/@me"),
    (E::RemoveReaction, "DELETE", "channels/{c}/messages/{n}/reactions/{e}/{n}"),
    (E::ListReactions, "GET", "channels/{c}/messages/{n}/reactions/{e}"),
    (E::RemoveReactionsOfEmoji, "DELETE", "channels/{c}/messages/{n}/reactions/{e}"),
    (E::RemoveReactions, "DELETE", "channels/{c}/messages/{n}/reactions"),
    (E::AddPin, "PUT", "channels/{c}/messages/pins/{n}"),
    (E::RemovePin, "DELETE", "channels/{c}/messages/pins/{n}"),
    (E::ListPins, "GET", "channels/{c}/messages/pins"),
    (E::AddPinOld, "PUT", "channels/{c}/pins/{n}"),
    (E::RemovePinOld, "DELETE", "channels/{c}/pins/{n}"),
    (E::ListPinsOld, "GET", "channels/{c}/pins"),
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
    (E::ListChannelWebhooks, "GET", "channels/{c}/webhooks"),
    (E::CreateWebhook, "POST", "channels/{c}/webhooks"),
    (E::ListGuildWebhooks, "GET", "guilds/{g}/webhooks"),
    (E::GetWebhook, "GET", "webhooks/{n}"),
    (E::UpdateWebhook, "PATCH", "webhooks/{n}"),
    (E::DeleteWebhook, "DELETE", "webhooks/{n}"),
    (E::GetWebhookByToken, "GET", "webhooks/{n}/{t}"),
    (E::UpdateWebhookByToken, "PATCH", "webhooks/{n}/{t}"),
    (E::DeleteWebhookByToken, "DELETE", "webhooks/{n}/{t}"),
    (E::CreateInteractionAnswer, "POST", "interactions/{n}/{t}/callback"),
    (E::GetOriginalAnswer, "GET", "webhooks/{a}/{t}/messages/@original"),
    (E::UpdateOriginalAnswer, "PATCH", "webhooks/{a}/{t}/messages/@original"),
    (E::DeleteOriginalAnswer, "DELETE", "webhooks/{a}/{t}/messages/@original"),
    (E::CreateFollowup, "POST", "webhooks/{a}/{t}"),
    (E::GetFollowup, "GET", "webhooks/{a}/{t}/messages/{n}"),
    (E::UpdateFollowup, "PATCH", "webhooks/{a}/{t}/messages/{n}"),
    (E::DeleteFollowup, "DELETE", "webhooks/{a}/{t}/messages/{n}"),
];

impl RestRoute {
    /// Returns the HTTP method.
    pub fn method(self) -> &'static str {
        self.row().map_or("", |(_, method, _)| method)
    }

    /// Returns the path below the version. It has `{c}` for a channel's id, `{g}` for a guild's, `{a}` for
    /// an application's and `{n}` for another id, `{t}` for a token and `{e}` for an emoji.
    pub fn path(self) -> &'static str {
        self.row().map_or("", |(_, _, path)| path)
    }

    /// Returns true if the route belongs to an interaction or a webhook. The token is then in the path, and
    /// no bot's token is needed.
    pub(crate) fn is_interaction(self) -> bool {
        self.path().contains("{t}")
    }

    /// Returns true if any client may use the route. Commands are answered, and webhooks used, by clients
    /// that are no bots.
    pub(crate) fn takes_any_agent(self) -> bool {
        self.is_interaction() || self.path().starts_with("webhooks/")
    }

    /// Returns true if a request may contain files.
    pub(crate) fn takes_files(self) -> bool {
        matches!(
            self,
            E::CreateMessage
                | E::UpdateMessage
                | E::CreateInteractionAnswer
                | E::UpdateOriginalAnswer
                | E::CreateFollowup
                | E::UpdateFollowup
        )
    }

    /// Returns all routes.
    #[cfg(test)]
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        ROUTES.iter().map(|(endpoint, _, _)| *endpoint)
    }

    fn row(self) -> Option<(Self, &'static str, &'static str)> {
        ROUTES.iter().find(|(endpoint, _, _)| *endpoint == self).copied()
    }
}

/// A path that has a route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Matched {
    pub(crate) endpoint: RestRoute,
    /// The ids in the path, in order.
    pub(crate) ids: Vec<u64>,
    /// The text in the path.
    pub(crate) text: String,
    /// The channel, guild or interaction that has its own limits.
    pub(crate) major: String,
}

/// Why a path has no route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unmatched {
    /// There is no such path.
    Path,
    /// The path exists only for other methods.
    Method,
    /// A part of the path is not an id, but should be one.
    Id,
}

/// Finds the route of a path below the version.
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

/// Compares a path with a pattern. Returns an error if only the ids are wrong.
fn fit(endpoint: RestRoute, pattern: &str, path: &str) -> Option<Result<Matched, ()>> {
    let mut matched =
        Matched { endpoint, ids: Vec::new(), text: String::new(), major: String::new() };
    if pattern.split('/').count() != path.split('/').count() {
        return None;
    }
    let mut is_id_bad = false;
    for (expected, given) in pattern.split('/').zip(path.split('/')) {
        // Some clients escape more than they must, for example `@original`.
        let given = &*percent_decode_str(given).decode_utf8_lossy();
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
            "{e}" => given.clone_into(&mut matched.text),
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
        assert_eq!((matched.endpoint, matched.ids), (RestRoute::DeleteMessage, vec![11, 12]));
        assert_eq!(matched.major, "11");
        let bulk = find("POST", "channels/11/messages/bulk-delete").unwrap();
        assert_eq!(bulk.endpoint, RestRoute::DeleteMessages);
        assert_eq!(find("GET", "users/@me").unwrap().endpoint, RestRoute::GetCurrentUser);
        let original = find("GET", "webhooks/1/token/messages/%40original").unwrap();
        assert_eq!(original.endpoint, RestRoute::GetOriginalAnswer);
        assert_eq!(find("PUT", "channels/11/messages/12"), Err(Unmatched::Method));
        assert_eq!(find("GET", "channels/abc"), Err(Unmatched::Id));
        assert_eq!(find("GET", "stickers/1"), Err(Unmatched::Path));
    }

    /// A row of the page names a path once, with all its methods before it.
    #[test]
    fn the_readme_names_every_route() {
        let page = include_str!("../README.md");
        for (_, method, path) in ROUTES {
            let end = format!(" {path}`");
            let before = page.split(&end).next().filter(|before| before.len() < page.len());
            let methods = before.and_then(|before| before.rsplit('`').next());
            let is_named =
                methods.is_some_and(|methods| methods.split(' ').any(|it| it == *method));
            assert!(is_named, "{method} {path}");
        }
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
                .replace("{t}", "text")
                .replace("{e}", "emoji");
            let found = find(method, &filled).unwrap();
            assert_eq!(found.endpoint, *endpoint, "row {number}");
        }
    }
}
