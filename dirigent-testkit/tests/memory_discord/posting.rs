//! Posting, keeping and reading messages.

use super::*;

#[tokio::test(flavor = "current_thread")]
async fn a_nonce_is_forgotten_after_its_window() {
    let room = room();
    let first = room.bot.post(room.post(1)).await.unwrap();
    room.clock.advance(299 * SECOND);
    assert!(room.bot.post(room.post(1)).await.unwrap().deduplicated);
    room.clock.advance(SECOND);
    let later = room.bot.post(room.post(1)).await.unwrap();
    assert!(!later.deduplicated && later.id > first.id);
}

#[tokio::test(flavor = "current_thread")]
async fn a_known_nonce_answers_with_the_deleted_message() {
    let room = room();
    let first = room.bot.post(room.post(1)).await.unwrap();
    room.bot.delete(room.channel, first.id).await.unwrap();
    let again = room.bot.post(room.post(1)).await.unwrap();
    assert_eq!((again.id, again.deduplicated), (first.id, true));
    assert!(room.ids().is_empty());
}

#[tokio::test(flavor = "current_thread")]
async fn only_so_many_nonces_are_remembered() {
    let room = room_of(|discord| discord.with_nonces_max(2));
    for number in 1..=4 {
        room.bot.post(room.post(number)).await.unwrap();
    }
    assert!(room.bot.post(room.post(4)).await.unwrap().deduplicated);
    assert!(!room.bot.post(room.post(1)).await.unwrap().deduplicated);
}

#[tokio::test(flavor = "current_thread")]
async fn white_space_around_a_content_is_dropped_and_white_space_alone_is_nothing() {
    let room = room();
    room.bot.post(Post { content: "\n  said \n\n".into(), ..room.post(1) }).await.unwrap();
    assert_eq!(room.read().await, ["said"]);
    let refused = room.bot.post(Post { content: " \n\t".into(), ..room.post(2) }).await;
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Invalid);
}

#[tokio::test(flavor = "current_thread")]
async fn old_messages_make_room_for_new_ones() {
    let room = room_of(|discord| discord.with_history_max(3));
    let ids: Vec<_> =
        (0..10).map(|_| room.discord.say(room.channel, room.person, "more")).collect();
    assert_eq!(room.ids(), ids[7..]);
    assert!(!room.discord.edit(room.channel, ids[0], "too late"));
    let gone = room.bot.delete(room.channel, ids[0]).await.unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::Gone);
}

#[tokio::test(flavor = "current_thread")]
async fn deleted_messages_leave_the_others_in_order() {
    let room = room_of(|discord| discord.with_history_max(20));
    let ids: Vec<_> = (0..40).map(|_| room.discord.say(room.channel, room.person, "m")).collect();
    let mut left = ids[20..].to_vec();
    assert!(!room.discord.delete_message(room.channel, ids[19]), "forgotten already");
    // Every third from either end, so that holes lie everywhere and are filled up on the way.
    for step in [0, 3, 6, 9, 12, 15, 18, 19, 16, 13, 10, 7, 4, 1] {
        assert!(room.discord.delete_message(room.channel, ids[20 + step]));
        assert!(!room.discord.delete_message(room.channel, ids[20 + step]));
        left.retain(|id| *id != ids[20 + step]);
        assert_eq!(room.ids(), left);
        let page = HistoryRequest { channel: room.channel, after: Some(ids[24]), limit: 4 };
        let mut read: Vec<_> =
            room.bot.history(page).await.unwrap().iter().map(|message| message.id).collect();
        read.reverse();
        let expected: Vec<_> = left.iter().copied().filter(|id| *id > ids[24]).take(4).collect();
        assert_eq!(read, expected);
    }
    left.extend((0..20).map(|_| room.discord.say(room.channel, room.person, "more")));
    assert_eq!(room.ids(), left[left.len() - 20..], "holes do not count as kept");
}

#[tokio::test(flavor = "current_thread")]
async fn history_comes_newest_first() {
    let room = room();
    let ids: Vec<_> = (0..5).map(|_| room.discord.say(room.channel, room.person, "m")).collect();
    let read = async |after, limit| {
        let page = HistoryRequest { channel: room.channel, after, limit };
        let page = room.bot.history(page).await.unwrap();
        page.into_iter().map(|message| message.id).collect::<Vec<_>>()
    };
    assert_eq!(read(None, 2).await, [ids[4], ids[3]]);
    assert_eq!(read(Some(ids[0]), 2).await, [ids[2], ids[1]]);
}
