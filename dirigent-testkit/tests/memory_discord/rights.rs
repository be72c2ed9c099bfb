//! Who may do what.

use super::*;

#[tokio::test(flavor = "current_thread")]
async fn owner_and_administrators_see_what_they_are_not_named_in() {
    let room = room();
    let guild = room.discord.account(room.person).guilds().await.unwrap()[0];
    let admin = room.discord.add_bot();
    room.discord.guild(guild).set_administrator(admin, true);
    assert_eq!(room.discord.channel(room.channel).audience(), [room.person, room.agent, admin]);
    let message = room.bot.post(room.post(1)).await.unwrap().id;
    room.discord.account(admin).delete(room.channel, message).await.unwrap();
    assert!(!room.discord.leave(room.channel, admin), "an administrator cannot be kept out");
    room.discord.guild(guild).set_administrator(admin, false);
    assert_eq!(room.discord.channel(room.channel).audience(), [room.person, room.agent]);
}

#[tokio::test(flavor = "current_thread")]
async fn an_open_channel_is_seen_by_the_whole_guild_but_for_those_kept_out() {
    let room = room();
    let guild = room.bot.guilds().await.unwrap()[0];
    let open = room.discord.add_open_channel(guild, "plaza");
    assert_eq!(room.discord.channel(open).audience(), [room.person, room.agent]);
    assert!(room.discord.leave(open, room.agent));
    assert_eq!(room.discord.channel(open).audience(), [room.person]);
    assert_eq!(room.bot.channel(open).await.unwrap_err().kind(), ErrorKind::Forbidden);
    assert!(room.discord.join(open, room.agent));
}

#[tokio::test(flavor = "current_thread")]
async fn a_thread_is_seen_by_those_named_who_see_its_channel() {
    let room = room();
    let elsewhere = room.discord.add_bot();
    let thread = room.discord.channel(room.channel).add_thread("aside", &[room.agent, elsewhere]);
    assert_eq!(room.discord.channel(thread).audience(), [room.person, room.agent]);
    let info = room.bot.channel(thread).await.unwrap();
    assert_eq!(info.parent, Some(room.channel));
    let listed = room.bot.channels(info.guild.unwrap()).await.unwrap();
    assert!(listed.iter().all(|channel| channel.id != thread));
    room.discord.leave(room.channel, room.agent);
    assert_eq!(room.discord.channel(thread).audience(), [room.person]);
    room.discord.channel(room.channel).delete();
    let read = room.discord.account(room.person).channel(thread).await;
    assert_eq!(read.unwrap_err().kind(), ErrorKind::Gone);
}

#[tokio::test(flavor = "current_thread")]
async fn rights_can_be_taken_one_by_one() {
    let room = room();
    room.discord.say(room.channel, room.person, "hello");
    room.discord.channel(room.channel).set_read_only(room.agent, true);
    let refused = room.bot.post(room.post(1)).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Forbidden);
    assert_eq!(room.read().await, ["hello"]);
    room.discord.channel(room.channel).set_history_hidden(room.agent, true);
    assert_eq!(room.read().await, [""; 0], "an empty list, and no error");
}

#[tokio::test(flavor = "current_thread")]
async fn without_the_content_intent_others_texts_are_empty_unless_they_mention_the_bot() {
    let room = room();
    let mut events = room.bot.events();
    room.discord.account(room.agent).set_content_hidden(true);
    room.discord.say(room.channel, room.person, "among ourselves");
    room.discord.say(room.channel, room.person, format!("<@{}> your turn", room.agent));
    room.bot.post(room.post(1)).await.unwrap();
    let expected = [String::new(), format!("<@{}> your turn", room.agent), "message 1".to_owned()];
    assert_eq!(room.read().await, expected);
    let pushed = arrived(&mut events).into_iter().filter_map(message);
    assert_eq!(pushed.map(|message| message.content.to_string()).collect::<Vec<_>>(), expected);
}

#[tokio::test(flavor = "current_thread")]
async fn a_revoked_token_gets_nothing_and_is_counted() {
    let room = room();
    room.discord.account(room.agent).set_revoked(true);
    let stranger = room.discord.account(UserId::new(5));
    assert_eq!(room.bot.me().await.unwrap_err().kind(), ErrorKind::Unauthorized);
    assert_eq!(stranger.me().await.unwrap_err().kind(), ErrorKind::Unauthorized);
    assert_eq!(room.discord.calls().unauthorized(), 2);
}

#[test]
fn a_person_without_access_cannot_speak_and_a_webhook_can() {
    let room = room();
    let passer_by = room.discord.add_human();
    let refused = room.discord.try_say(room.channel, passer_by, "hello").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Forbidden);
    let hook = room.discord.add_webhook();
    let id = room.discord.say(room.channel, hook, "news");
    let message = room.discord.message(room.channel, id).unwrap();
    assert_eq!((message.author, message.author_kind), (hook, AuthorKind::Webhook));
}
