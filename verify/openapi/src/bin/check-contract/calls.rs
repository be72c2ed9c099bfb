//! Every call of the adapter, in all the shapes that its request can take.
//!
//! A new request of the adapter needs a call here, and an answer in `answers`.

use dirigent::ports::Timestamp;
use dirigent::ports::{
    Access, AllowedMentions, ApiError, Embed, EmbedAuthor, EmbedFooter, GuildApi, GuildId,
    HistoryRequest, Mentions, NewChannel, Nonce, Post, ReplyFile, RoleId,
};
use dirigent::{ChannelId, DiscordApi, MessageId, UserId};
use dirigent_discord::{DiscordAccount, Persona, PersonaAccount};

/// The largest id that a snowflake can be.
const LARGEST: u64 = u64::MAX;

/// Where the calls go.
pub(crate) struct Places {
    pub(crate) guild: GuildId,
    /// A text channel in it.
    pub(crate) text: ChannelId,
    /// Channels of every other kind.
    pub(crate) others: Vec<ChannelId>,
    /// Whose access is changed.
    pub(crate) member: UserId,
    /// Who is invited to new channels, one after the other.
    pub(crate) parties: Vec<Vec<UserId>>,
}

/// Calls that did not end as they should.
pub(crate) type Failures = Vec<String>;

/// Makes all calls. None may fail: after a failure requests would be missing.
pub(crate) async fn make_all(account: &DiscordAccount, places: &Places) -> Failures {
    let mut failures = Vec::new();
    chat(account, places, &mut failures).await;
    history(account, places, &mut failures).await;
    look_around(account, places, &mut failures).await;
    administer(account, places, &mut failures).await;
    failures
}

/// Makes all calls of a persona, in the channel and in its thread.
pub(crate) async fn make_personas(persona: &PersonaAccount, places: &[ChannelId]) -> Failures {
    let (mut failures, mut number) = (Vec::new(), 0);
    let me = note(&mut failures, "me", persona.me().await);
    for channel in places {
        let members = persona.members(*channel, me.into_iter().collect()).await;
        note(&mut failures, "members", members);
        let chosen = AllowedMentions::new().user(UserId::new(5)).role(RoleId::new(LARGEST));
        let mentions = Mentions::from(&chosen.everyone());
        let file = || vec![ReplyFile::new("a.txt", *b"one")];
        for (embeds, files) in
            [(Vec::new(), Vec::new()), (embeds(), Vec::new()), (Vec::new(), file())]
        {
            number += 1;
            let plain = post(*channel, "hello \u{1f980}", number);
            let (embeds, files) = (embeds.into(), files.into());
            let post = Post { mentions: mentions.clone(), embeds, files, ..plain };
            note(&mut failures, "post", persona.post(post).await);
        }
        let id = MessageId::new(903);
        note(&mut failures, "edit", persona.edit(*channel, id, "better").await);
        note(&mut failures, "delete", persona.delete(*channel, id).await);
        refused(&mut failures, "delete", &persona.delete(*channel, MessageId::new(1)).await);
    }
    failures
}

/// The persona whose calls are made.
pub(crate) fn critic() -> Persona {
    Persona::new("Critic").avatar("https://example.org/critic.png")
}

/// Makes calls that a server with a mind of its own refuses.
pub(crate) async fn make_refused(account: &DiscordAccount, places: &Places) -> Failures {
    let mut failures = Vec::new();
    let nowhere = ChannelId::new(LARGEST);
    let nobody = UserId::new(LARGEST);
    let page = HistoryRequest { channel: nowhere, after: None, limit: 1 };
    refused(&mut failures, "history", &account.history(page).await);
    refused(&mut failures, "post", &account.post(post(nowhere, "hello", 1)).await);
    refused(&mut failures, "delete", &account.delete(places.text, MessageId::new(1)).await);
    refused(&mut failures, "typing", &account.typing(nowhere).await);
    refused(&mut failures, "channel", &account.channel(nowhere).await);
    refused(&mut failures, "channels", &account.channels(GuildId::new(LARGEST)).await);
    refused(&mut failures, "administrator", &account.is_administrator(places.guild, nobody).await);
    refused(&mut failures, "bot", &account.is_bot(places.guild, nobody).await);
    refused(&mut failures, "sight", &account.can_see(nowhere, nobody).await);
    failures
}

pub(crate) fn note<T>(
    failures: &mut Failures,
    call: &str,
    ended: Result<T, ApiError>,
) -> Option<T> {
    match ended {
        Ok(answer) => Some(answer),
        Err(error) => {
            let source = std::error::Error::source(&error).map(ToString::to_string);
            failures.push(format!("{call}: {error}; {}", source.unwrap_or_default()));
            None
        }
    }
}

pub(crate) fn refused<T>(failures: &mut Failures, call: &str, ended: &Result<T, ApiError>) {
    if ended.is_ok() {
        failures.push(format!("{call}: was not refused"));
    }
}

fn post(channel: ChannelId, content: &str, number: u64) -> Post {
    let nonce = Nonce::from_parts(channel.get(), 0, number);
    Post::new(channel, content, nonce)
}

/// A bare embed, and one in which everything is said.
fn embeds() -> Vec<Embed> {
    let address = "https://example.org/i.png";
    let full = Embed::new().title("t").description("d").url(address).colour(0xff_ff_ff);
    let full = full.timestamp(Timestamp::from_millis(1_750_000_000_123)).image(address);
    let full = full.thumbnail(address).field("n", "v", true).field("n", "v", false);
    let footer = EmbedFooter { text: "f".to_owned(), icon_url: Some(address.to_owned()) };
    let (url, icon_url) = (Some(address.to_owned()), Some(address.to_owned()));
    let author = EmbedAuthor { name: "a".to_owned(), url, icon_url };
    vec![Embed::new().title("t"), Embed { footer: Some(footer), author: Some(author), ..full }]
}

async fn chat(account: &DiscordAccount, places: &Places, failures: &mut Failures) {
    note(failures, "me", account.me().await);
    let contents = [
        "hello".to_owned(),
        " a line\nand \"another\" \\ \u{1}\u{2028} with <@1> and @everyone ".to_owned(),
        "\u{1f469}\u{200d}\u{1f4bb} \u{fc}\u{202e}".to_owned(),
        "x".repeat(2_000),
        "\u{1f980}".repeat(2_000),
    ];
    let mut number = 0;
    for content in contents {
        let chosen = AllowedMentions::new().user(places.member).role(RoleId::new(LARGEST));
        let chosen = Mentions::from(&chosen.everyone().replied_user());
        for mentions in [Mentions::None, Mentions::User(places.member), chosen] {
            for reply_to in [None, Some(MessageId::new(LARGEST))] {
                for embeds in [Vec::new(), embeds()] {
                    number += 1;
                    let plain = post(places.text, &content, number);
                    let post = Post {
                        mentions: mentions.clone(),
                        reply_to,
                        embeds: embeds.into(),
                        ..plain
                    };
                    note(failures, "post", account.post(post).await);
                }
            }
        }
    }
    for files in [1, 10] {
        number += 1;
        let file = |name: u32| ReplyFile::new(format!("{name}\u{fc}.txt"), *b"one");
        let files = (0..files).map(file).collect::<Vec<_>>().into();
        let posted = account.post(Post { files, ..post(places.text, "hello", number) }).await;
        note(failures, "post", posted);
    }
    for (channel, turn, number) in [(0, 0, 0), (u64::MAX, u64::MAX, u64::MAX)] {
        let nonce = Nonce::from_parts(channel, turn, number);
        let posted = account.post(Post { nonce, ..post(places.text, "hello", 0) }).await;
        if let Some(posted) = note(failures, "post", posted) {
            note(failures, "delete", account.delete(places.text, posted.id).await);
        }
    }
    note(failures, "typing", account.typing(places.text).await);
}

async fn history(account: &DiscordAccount, places: &Places, failures: &mut Failures) {
    let channel = places.text;
    for limit in [1, 50, 100] {
        for after in [None, Some(MessageId::new(1)), Some(MessageId::new(LARGEST))] {
            let page = account.history(HistoryRequest { channel, after, limit }).await;
            note(failures, "history", page);
        }
    }
}

async fn look_around(account: &DiscordAccount, places: &Places, failures: &mut Failures) {
    note(failures, "guilds", account.guilds().await);
    note(failures, "channels", account.channels(places.guild).await);
    let everywhere: Vec<ChannelId> = places.others.iter().copied().chain([places.text]).collect();
    note(failures, "diagnose", account.diagnose(&everywhere, None).await);
    for channel in &everywhere {
        note(failures, "channel", account.channel(*channel).await);
        note(failures, "readers", account.readers(*channel, &[]).await);
        note(failures, "members", account.members(*channel, vec![places.member]).await);
        // Of so many the list is read.
        let many = (1..=100).map(UserId::new).collect();
        note(failures, "members", account.members(*channel, many).await);
    }
    let administrator = account.is_administrator(places.guild, places.member).await;
    note(failures, "is administrator", administrator);
    note(failures, "is bot", account.is_bot(places.guild, places.member).await);
    for channel in &everywhere {
        note(failures, "can see", account.can_see(*channel, places.member).await);
    }
}

async fn administer(account: &DiscordAccount, places: &Places, failures: &mut Failures) {
    for access in [Access::Full, Access::None] {
        let set = account.set_access(places.text, places.member, access).await;
        note(failures, "set access", set);
    }
    note(failures, "register", account.register_commands(places.guild).await);
    let names = ["a".to_owned(), "round table \u{1f980}".to_owned(), "\u{fc}".repeat(100)];
    for (name, members) in names.into_iter().zip(&places.parties) {
        let (guild, members) = (places.guild, members.clone());
        let created = account.create_channel(NewChannel { guild, name, members }).await;
        if let Some(created) = note(failures, "create a channel", created) {
            note(failures, "delete a channel", account.delete_channel(created.id).await);
        }
    }
}
