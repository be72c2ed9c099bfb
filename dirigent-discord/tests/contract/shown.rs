//! What a post has besides its text, through HTTP and back.

use std::sync::Arc;

use dirigent::ports::Timestamp;
use dirigent::ports::{
    AllowedMentions, Embed, EmbedAuthor, EmbedFooter, ErrorKind, Mentions, Nonce, Post,
};
use dirigent::{ChannelId, DiscordApi};
use dirigent_testkit::contract::DiscordHarness;
use dirigent_testkit::memory_discord::{Permissions, RoleId};

use super::GuildStage;

fn post(channel: ChannelId, content: &str) -> Post {
    Post::new(channel, content, Nonce::from_parts(channel.get(), 0, 1))
}

#[tokio::test(flavor = "current_thread")]
async fn an_embed_arrives_as_it_was_made() {
    let stage = GuildStage::new().await;
    let channel = stage.fresh_channel().await;
    let address = "https://example.org/i.png";
    let whole = Embed::new().title("a \"title\"").description("two\nlines").url(address);
    let whole = whole.colour(0xff_ff_ff).timestamp(Timestamp::from_millis(1_750_000_000_123));
    let whole = whole.image(address).thumbnail("http://example.org/t.png");
    let whole = whole.field("beside", "東京", true).field("below", "🎻", false);
    let footer = EmbedFooter { icon_url: Some(address.to_owned()), ..EmbedFooter::new("a footer") };
    let author = EmbedAuthor { url: Some(address.to_owned()), ..EmbedAuthor::new("an author") };
    let author = EmbedAuthor { icon_url: Some("http://example.org/a.png".to_owned()), ..author };
    let whole = Embed { footer: Some(footer), author: Some(author), ..whole };
    let embeds = vec![whole, Embed::new().description("bare"), Embed::new().image(address)];
    let shown = Post { embeds: embeds.as_slice().into(), ..post(channel, "see there") };
    let posted = stage.account().post(shown).await.unwrap();
    assert_eq!(stage.loopback.discord().channel(channel).embeds(posted.id), Some(embeds));
}

#[tokio::test(flavor = "current_thread")]
async fn whom_a_post_may_ping_is_whom_its_agent_chose() {
    let stage = GuildStage::new().await;
    let channel = stage.fresh_channel().await;
    let question = stage.person_says(channel, "a question").await;
    let [_, bot] = stage.bots;
    let text = format!("@everyone <@&7> <@&8> <@{bot}> <@{}>", stage.owner);
    let chosen = AllowedMentions::new().user(bot).role(RoleId::new(7)).everyone();
    let (mentions, reply_to) = (Mentions::Allowed(Arc::new(chosen)), Some(question));
    let answer = Post { mentions, reply_to, ..post(channel, &text) };
    let posted = stage.account().post(answer).await.unwrap();
    let room = stage.loopback.discord().channel(channel);
    let pings = room.pings(posted.id).unwrap();
    assert_eq!((pings.everyone, pings.users, pings.roles), (true, vec![bot], vec![RoleId::new(7)]));
    let answered = stage.loopback.discord().message(channel, posted.id).unwrap().reply_to;
    assert_eq!(answered, Some(question));

    let chosen = Mentions::Allowed(Arc::new(AllowedMentions::new().replied_user()));
    let answer = Post { mentions: chosen, reply_to, ..post(channel, &text) };
    let posted = stage.accounts[1].post(answer).await.unwrap();
    let pings = room.pings(posted.id).unwrap();
    assert_eq!((pings.everyone, pings.users, pings.roles), (false, vec![stage.person], vec![]));
}

#[tokio::test(flavor = "current_thread")]
async fn embeds_without_the_permission_for_them_are_forbidden() {
    let stage = GuildStage::new().await;
    let channel = stage.fresh_channel().await;
    let (room, [bot, _]) = (stage.loopback.discord().channel(channel), stage.bots);
    room.set_member_overwrite(bot, Permissions::TALK, Permissions::EMBED_LINKS);
    let shown = Post { embeds: [Embed::new().title("t")].into(), ..post(channel, "see there") };
    let refused = stage.account().post(shown).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Forbidden);
    stage.account().post(post(channel, "see there")).await.unwrap();
}
