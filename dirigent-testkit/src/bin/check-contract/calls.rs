//! Every call of the adapter, in all the shapes that its request can take.
//!
//! Whoever gives the adapter another request adds a call here, and an answer to `answers`.

use dirigent::{
    Access, ApiError, ChannelId, DiscordApi, GuildApi, GuildId, HistoryRequest, Mentions,
    MessageId, NewChannel, Nonce, Post, UserId,
};
use dirigent_discord::DiscordAccount;

use crate::answers::{ANNOUNCEMENTS, DIRECT, GROUP, GUILD, LARGEST, PRIVATE_THREAD, TEXT, THREAD};

/// Calls that did not end as they should.
type Failures = Vec<String>;

/// Makes all calls. None may fail: after a failure requests would be missing.
pub(crate) async fn make_all(account: &DiscordAccount) -> Failures {
    let mut failures = Vec::new();
    chat(account, &mut failures).await;
    history(account, &mut failures).await;
    places(account, &mut failures).await;
    administration(account, &mut failures).await;
    failures
}

fn note<T>(failures: &mut Failures, call: &str, ended: Result<T, ApiError>) {
    if let Err(error) = ended {
        let source = std::error::Error::source(&error).map(ToString::to_string);
        failures.push(format!("{call}: {error}; {}", source.unwrap_or_default()));
    }
}

async fn chat(account: &DiscordAccount, failures: &mut Failures) {
    note(failures, "me", account.me().await);
    let contents = [
        "hello".to_owned(),
        " a line\nand \"another\" \\ \u{1}\u{2028} with <@1> and @everyone ".to_owned(),
        "\u{1f469}\u{200d}\u{1f4bb} \u{fc}\u{202e}".to_owned(),
        "x".repeat(2_000),
        "\u{1f980}".repeat(2_000),
    ];
    let nonces = [Nonce::from_parts(0, 0, 0), Nonce::from_parts(u64::MAX, u64::MAX, u64::MAX)];
    let mentions = [Mentions::Nobody, Mentions::User(UserId::new(LARGEST))];
    let answered = [None, Some(MessageId::new(LARGEST))];
    for content in contents {
        for (nonce, mentions) in nonces.iter().zip(mentions) {
            for reply_to in answered {
                let content = content.clone();
                let channel = ChannelId::new(TEXT);
                let post = Post { channel, content, nonce: nonce.clone(), mentions, reply_to };
                note(failures, "post", account.post(post).await);
            }
        }
    }
    for channel in [ChannelId::new(TEXT), ChannelId::new(LARGEST)] {
        note(failures, "typing", account.typing(channel).await);
        let deleted = account.delete(channel, MessageId::new(LARGEST)).await;
        note(failures, "delete", deleted);
    }
}

async fn history(account: &DiscordAccount, failures: &mut Failures) {
    let channel = ChannelId::new(TEXT);
    for limit in [1, 50, 100] {
        for after in [None, Some(MessageId::new(1)), Some(MessageId::new(LARGEST))] {
            let page = account.history(HistoryRequest { channel, after, limit }).await;
            note(failures, "history", page);
        }
    }
}

async fn places(account: &DiscordAccount, failures: &mut Failures) {
    note(failures, "guilds", account.guilds().await);
    note(failures, "channels", account.channels(GuildId::new(GUILD)).await);
    for channel in [TEXT, ANNOUNCEMENTS, THREAD, PRIVATE_THREAD, DIRECT, GROUP] {
        let channel = ChannelId::new(channel);
        note(failures, "channel", account.channel(channel).await);
        note(failures, "members", account.members(channel).await);
    }
}

async fn administration(account: &DiscordAccount, failures: &mut Failures) {
    let guild = GuildId::new(GUILD);
    for (name, members) in [("a", 0), ("round table \u{1f980}", 2), (&*"\u{fc}".repeat(100), 98)] {
        let name = name.to_owned();
        let members = (1..=members).map(|member| UserId::new(LARGEST - member)).collect();
        let created = account.create_channel(NewChannel { guild, name, members }).await;
        note(failures, "create a channel", created);
    }
    let user = UserId::new(LARGEST);
    for access in [Access::Full, Access::None] {
        let set = account.set_access(ChannelId::new(TEXT), user, access).await;
        note(failures, "set access", set);
    }
    note(failures, "is administrator", account.is_administrator(guild, user).await);
    note(failures, "delete a channel", account.delete_channel(ChannelId::new(TEXT)).await);
}
