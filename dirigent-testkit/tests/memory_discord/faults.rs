//! Faults on demand.

use super::*;

#[tokio::test(flavor = "current_thread")]
async fn a_planned_fault_hits_the_call_and_the_account_that_it_is_meant_for() {
    let room = room();
    let other = room.discord.account(room.discord.add_bot());
    room.discord.join(room.channel, other.user());
    room.discord.inject(|faults| {
        faults.next_by(other.user(), Call::Post, Fault::Forbidden);
        faults.next(Call::Members, Fault::Gone);
    });
    room.bot.post(room.post(1)).await.unwrap();
    assert_eq!(other.post(room.post(2)).await.unwrap_err().kind(), ErrorKind::Forbidden);
    other.post(room.post(2)).await.unwrap();
    assert_eq!(
        room.bot.members(room.channel, vec![room.bot.user()]).await.unwrap_err().kind(),
        ErrorKind::Gone
    );
    room.bot.members(room.channel, vec![room.bot.user()]).await.unwrap();
}

#[tokio::test(flavor = "current_thread")]
async fn who_asks_again_before_a_rate_limit_ends_is_refused_and_counted() {
    let room = room();
    room.discord.next_post(Fault::RateLimited { retry_after: 3 * SECOND });
    assert_eq!(room.bot.post(room.post(1)).await.unwrap_err().retry_after(), Some(3 * SECOND));
    room.clock.advance(SECOND);
    assert_eq!(room.bot.post(room.post(1)).await.unwrap_err().retry_after(), Some(2 * SECOND));
    assert_eq!(room.discord.calls().too_early(), 1);
    room.read().await;
    room.clock.advance(2 * SECOND);
    room.bot.post(room.post(1)).await.unwrap();
    assert_eq!(room.discord.calls().too_early(), 1);
}

#[tokio::test(flavor = "current_thread")]
async fn a_slow_answer_is_late_and_a_slow_request_can_be_given_up() {
    let room = room();
    room.discord.next_post(Fault::SlowAnswer { by: 5 * SECOND });
    {
        let mut slow = pin!(room.bot.post(room.post(1)));
        assert!(poll(slow.as_mut()).is_pending());
        assert_eq!(room.ids().len(), 1, "it is carried out at once");
        room.clock.advance(5 * SECOND);
        assert!(matches!(poll(slow.as_mut()), Poll::Ready(Ok(_))));
    }
    room.discord.next_post(Fault::SlowRequest { by: 5 * SECOND });
    {
        let mut given_up = pin!(room.bot.post(room.post(2)));
        assert!(poll(given_up.as_mut()).is_pending());
    }
    room.clock.advance(5 * SECOND);
    assert_eq!((room.ids().len(), room.clock.waiting()), (1, 0));
}

#[test]
fn a_pushed_event_can_be_lost_or_doubled() {
    let room = room();
    let mut events = room.discord.events();
    room.discord.next_push(PushFault::Dropped);
    room.discord.next_push(PushFault::Duplicated);
    let ids: Vec<_> = (0..3).map(|_| room.discord.say(room.channel, room.person, "m")).collect();
    assert_eq!(created(&mut events), [ids[1], ids[1], ids[2]]);
    assert_eq!(room.ids(), ids, "the history has them all");
}

#[test]
fn a_held_event_is_overtaken_by_so_many_or_released_in_time() {
    let room = room();
    let mut events = room.discord.events();
    let say = || room.discord.say(room.channel, room.person, "m");
    let hold = PushFault::HeldBack { events: 2, at_most: 60 * SECOND };
    room.discord.next_push(hold);
    let ids = [say(), say(), say(), say()];
    assert_eq!(created(&mut events), [ids[1], ids[2], ids[0], ids[3]]);

    room.discord.next_push(hold);
    let ids = [say(), say()];
    assert_eq!(created(&mut events), [ids[1]]);
    room.clock.advance(59 * SECOND);
    assert_eq!((events.try_next(), events.pending()), (None, 1));
    room.clock.advance(SECOND);
    assert_eq!(created(&mut events), [ids[0]]);
}

#[tokio::test(flavor = "current_thread")]
async fn a_delayed_event_is_waited_for_by_the_clock() {
    let room = room();
    let mut events = room.discord.events();
    room.discord.next_push(PushFault::Delayed { by: 20 * SECOND });
    let id = room.discord.say(room.channel, room.person, "late");
    let due = room.clock.now() + 20 * SECOND;
    let mut next = pin!(events.next());
    assert!(poll(next.as_mut()).is_pending());
    assert_eq!(room.clock.advance_to_next_wake(), Some(due));
    let Poll::Ready(Some(Event::MessageCreated(message))) = poll(next.as_mut()) else {
        panic!("it did not come");
    };
    assert_eq!(message.id, id);
}

#[tokio::test(flavor = "current_thread")]
async fn when_the_faults_stop_all_is_well_at_once() {
    let room = room();
    let mut events = room.discord.events();
    room.discord.inject(|faults| {
        faults.next_push(PushFault::Delayed { by: 3_600 * SECOND });
        faults.next_post(Fault::RateLimited { retry_after: 3_600 * SECOND });
    });
    let id = room.discord.say(room.channel, room.person, "late");
    room.bot.post(room.post(1)).await.unwrap_err();
    room.discord.stop_faults();
    assert_eq!(created(&mut events), [id]);
    room.bot.post(room.post(1)).await.unwrap();
}

#[tokio::test(flavor = "current_thread")]
async fn chance_keeps_to_its_rates() {
    let faults = Faults::new(3)
        .with_call_rate(Call::Post, Fault::LostAnswer, 100)
        .with_call_rate(Call::Post, Fault::NotDelivered, 50)
        .with_push_rate(PushFault::Dropped, 200);
    let room = room_of(|discord| discord.with_post_log(20_000));
    room.discord.inject(|plan| *plan = faults);
    let mut events = room.discord.events();
    for number in 0..10_000 {
        let _ = room.bot.post(room.post(number)).await;
        room.bot.typing(room.channel).await.unwrap();
    }
    let posts = room.discord.take_posts();
    let hit = |fault| posts.iter().filter(|post| post.fault == Some(fault)).count();
    assert!((900..1_100).contains(&hit(Fault::LostAnswer)), "{}", hit(Fault::LostAnswer));
    assert!((425..575).contains(&hit(Fault::NotDelivered)), "{}", hit(Fault::NotDelivered));
    let made = posts.iter().filter(|post| post.message.is_some()).count();
    let pushed = created(&mut events).len();
    assert!((made * 78 / 100..made * 82 / 100).contains(&pushed), "{pushed} of {made}");
}
