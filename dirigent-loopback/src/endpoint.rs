//! What can be asked for: every route that the server has.

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
    /// The sounds that Discord itself has; here there are none.
    ListDefaultSounds,
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
    /// A guild's own emoji.
    ListEmojis,
    /// One of a guild's own emoji.
    GetEmoji,
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
    /// Posts a message.
    CreateMessage,
    /// Deletes several messages.
    DeleteMessages,
    /// A message.
    GetMessage,
    /// Changes a message.
    UpdateMessage,
    /// Deletes a message.
    DeleteMessage,
    /// Reacts to a message.
    AddReaction,
    /// Takes the own reaction away.
    RemoveOwnReaction,
    /// Takes another's reaction away.
    RemoveReaction,
    /// Who reacted with an emoji, page by page.
    ListReactions,
    /// Takes all reactions with an emoji away.
    RemoveReactionsOfEmoji,
    /// Takes all reactions away.
    RemoveReactions,
    /// Pins a message.
    AddPin,
    /// Takes a pin away.
    RemovePin,
    /// Pinned messages, page by page.
    ListPins,
    /// Pins a message, by its older path.
    AddPinOld,
    /// Takes a pin away, by its older path.
    RemovePinOld,
    /// The newest 50 pinned messages, by their older path.
    ListPinsOld,
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
    /// A channel's webhooks.
    ListChannelWebhooks,
    /// Creates a webhook.
    CreateWebhook,
    /// A guild's webhooks.
    ListGuildWebhooks,
    /// A webhook, for a bot.
    GetWebhook,
    /// Changes a webhook, for a bot.
    UpdateWebhook,
    /// Deletes a webhook, for a bot.
    DeleteWebhook,
    /// A webhook, for who has its token.
    GetWebhookByToken,
    /// Changes a webhook, for who has its token.
    UpdateWebhookByToken,
    /// Deletes a webhook, for who has its token.
    DeleteWebhookByToken,
    /// Answers a command.
    CreateInteractionAnswer,
    /// The first answer to a command.
    GetOriginalAnswer,
    /// Changes the first answer.
    UpdateOriginalAnswer,
    /// Deletes the first answer.
    DeleteOriginalAnswer,
    /// Answers a command once more, or posts through a webhook: the two have one path.
    CreateFollowup,
    /// A further answer to a command, or a webhook's message.
    GetFollowup,
    /// Changes a further answer, or a webhook's message.
    UpdateFollowup,
    /// Deletes a further answer, or a webhook's message.
    DeleteFollowup,
}

use RestRoute as E;

/// Every route: `{c}` is a channel and `{g}` a guild, by which limits are counted; `{a}` an application,
/// `{n}` another id, `{t}` a token, `{e}` an emoji.
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
    /// Its method.
    pub fn method(self) -> &'static str {
        self.row().map_or("", |(_, method, _)| method)
    }

    /// Its path below the version, with `{c}` for a channel's id, `{g}` for a guild's, `{a}` for an
    /// application's, `{n}` for another id, `{t}` for a token and `{e}` for an emoji.
    pub fn path(self) -> &'static str {
        self.row().map_or("", |(_, _, path)| path)
    }

    /// Whether it belongs to an interaction or a webhook: its token is in the path, and no bot's is needed.
    pub(crate) fn is_interaction(self) -> bool {
        self.path().contains("{t}")
    }

    /// Whether a client may ask for it that does not say that it is a bot's: commands are answered, and
    /// webhooks used, by others too.
    pub(crate) fn takes_any_agent(self) -> bool {
        self.is_interaction() || self.path().starts_with("webhooks/")
    }

    /// Whether files may come with it.
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

    /// All of them.
    #[cfg(test)]
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        ROUTES.iter().map(|(endpoint, _, _)| *endpoint)
    }

    fn row(self) -> Option<(Self, &'static str, &'static str)> {
        ROUTES.iter().find(|(endpoint, _, _)| *endpoint == self).copied()
    }
}

/// A path that was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Matched {
    pub(crate) endpoint: RestRoute,
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
fn fit(endpoint: RestRoute, pattern: &str, path: &str) -> Option<Result<Matched, ()>> {
    let mut matched =
        Matched { endpoint, ids: Vec::new(), text: String::new(), major: String::new() };
    if pattern.split('/').count() != path.split('/').count() {
        return None;
    }
    let mut is_id_bad = false;
    for (expected, given) in pattern.split('/').zip(path.split('/')) {
        // Some clients escape more than they must, `@original` for one.
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
