//! What was asked, and what shows.

use super::*;

#[tokio::test(flavor = "current_thread")]
async fn the_ledger_counts_requests_and_logs_posts_without_their_text() {
    let room = room_of(|discord| discord.with_post_log(2));
    let before = room.discord.calls();
    room.discord.say(room.channel, room.person, "people are not counted");
    room.bot.post(room.post(1)).await.unwrap();
    let addressed = Post { mentions: Mentions::User(room.person), ..room.post(2) };
    let posted = room.bot.post(addressed.clone()).await.unwrap();
    room.discord.next_post(Fault::LostAnswer);
    room.bot.post(addressed).await.unwrap_err();
    room.bot.members(room.channel, vec![room.bot.user()]).await.unwrap();

    let calls = room.discord.calls().since(&before);
    assert_eq!((calls.of(Call::Post), calls.of(Call::Members), calls.total()), (3, 1, 4));
    let posts = room.discord.take_posts();
    assert_eq!(posts.len(), 2, "only the newest are kept");
    for post in &posts {
        assert_eq!((post.author, post.message), (room.agent, Some(posted.id)));
        assert_eq!((&post.mentions, post.chars), (&Mentions::User(room.person), 9));
        assert!(!format!("{post:?}").contains("message 2"));
    }
    assert_eq!(posts[0].fault, None);
    assert_eq!((posts[1].deduplicated, posts[1].fault), (true, Some(Fault::LostAnswer)));
    assert!(room.discord.take_posts().is_empty());
}

#[test]
fn nothing_shows_text_in_debug() {
    let room = room();
    let mut events = room.discord.events();
    room.discord.say(room.channel, room.person, "confidential");
    let shown = format!("{:?} {:?} {events:?} {:?}", room.discord, room.bot, events.try_next());
    assert!(!shown.contains("confidential"), "{shown}");
}
