//! Pushed events.

use super::*;

#[tokio::test(flavor = "current_thread")]
async fn everything_that_happens_is_pushed_in_order() {
    let room = room();
    let (channel, person) = (room.channel, room.person);
    let mut events = room.discord.events();
    let newcomer = room.discord.add_human();
    let said = room.discord.say(channel, person, "hello");
    let joined = room.discord.system_message(channel, newcomer, "");
    assert!(room.discord.join(channel, newcomer));
    assert!(!room.discord.join(channel, newcomer));
    room.discord.edit(channel, said, "hello there");
    room.discord.delete_message(channel, said);
    assert!(room.discord.leave(channel, newcomer));
    assert!(!room.discord.leave(channel, newcomer));
    room.discord.channel(channel).delete();

    let pushed = arrived(&mut events);
    let [Event::MessageCreated(first), Event::MessageCreated(second), rest @ ..] = &pushed[..]
    else {
        panic!("{pushed:?}");
    };
    assert_eq!((first.id, first.kind, &*first.content), (said, ChatKind::Default, "hello"));
    assert_eq!((second.id, second.kind), (joined, ChatKind::System));
    let [came, Event::MessageEdited(edited), deleted, went, closed] = rest else {
        panic!("{rest:?}");
    };
    assert_eq!(*came, Event::MemberJoined { channel, user: newcomer });
    assert_eq!((edited.id, &*edited.content), (said, "hello there"));
    assert_eq!(*deleted, Event::MessageDeleted { channel, message: said });
    assert_eq!(*went, Event::MemberLeft { channel, user: newcomer });
    assert!(matches!(*closed, Event::ChannelDeleted { channel: gone, .. } if gone == channel));
}

#[tokio::test(flavor = "current_thread")]
async fn a_post_is_pushed_with_its_nonce_to_its_author_too() {
    let room = room();
    let mut events = room.bot.events();
    let posted = room.bot.post(room.post(1)).await.unwrap();
    let Some(Event::MessageCreated(message)) = events.try_next() else { panic!("nothing came") };
    assert_eq!((message.id, message.author), (posted.id, room.agent));
    assert_eq!(message.nonce, Some(room.post(1).nonce));
    room.bot.post(room.post(1)).await.unwrap();
    assert_eq!(events.try_next(), None, "a repeated post is no event");
}

#[test]
fn an_account_hears_only_of_channels_that_it_sees() {
    let room = room();
    let other = room.discord.add_bot();
    let mut all = room.discord.events();
    let mut mine = room.bot.events();
    let mut theirs = room.discord.account(other).events();
    room.discord.say(room.channel, room.person, "private");
    assert_eq!((all.pending(), mine.pending(), theirs.pending()), (1, 1, 0));
    room.discord.join(room.channel, other);
    room.discord.leave(room.channel, other);
    room.discord.say(room.channel, room.person, "private again");
    assert_eq!(arrived(&mut theirs).len(), 2, "who comes and goes hears of both, and of no more");
    assert_eq!((arrived(&mut all).len(), arrived(&mut mine).len()), (4, 4));
}

#[tokio::test(flavor = "current_thread")]
async fn who_waits_for_an_event_is_woken_and_learns_of_the_end() {
    let room = room();
    let mut events = room.discord.events();
    let discord = room.discord.clone();
    let (event, id) =
        tokio::join!(events.next(), async { discord.say(room.channel, room.person, "hello") });
    assert!(matches!(event, Some(Event::MessageCreated(message)) if message.id == id));
    drop((discord, room));
    assert_eq!(events.next().await, None);
}

#[test]
fn a_lost_connection_replays_when_resumed_and_forgets_when_new() {
    let room = room();
    let mut events = room.discord.events();
    for resumed in [true, false] {
        events.disconnect();
        let missed = room.discord.say(room.channel, room.person, "missed");
        assert_eq!(events.try_next(), None);
        events.reconnect(resumed);
        let heard = room.discord.say(room.channel, room.person, "heard");
        let expected = if resumed { vec![missed, heard] } else { vec![heard] };
        assert_eq!(created(&mut events), expected);
    }
}
