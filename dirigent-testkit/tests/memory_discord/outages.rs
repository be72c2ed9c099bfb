//! Outages that last until they are lifted, and posts that land late.

use dirigent::ports::Certainty;
use dirigent_testkit::memory_discord::Outage;

use super::*;

#[tokio::test(flavor = "current_thread")]
async fn an_outage_lasts_until_it_is_lifted_and_concerns_whom_and_what_it_names() {
    let room = room();
    let other = room.discord.account(room.discord.add_bot());
    room.discord.join(room.channel, other.user());
    room.discord.begin_outage(Outage::refused().of(room.agent).only(Call::Post));
    for number in 0..3 {
        let error = room.bot.post(room.post(number)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert_eq!(error.certainty(), Certainty::NotDone);
    }
    room.bot.members(room.channel, vec![room.bot.user()]).await.unwrap();
    other.post(room.post(1)).await.unwrap();
    room.discord.end_outages();
    room.bot.post(room.post(1)).await.unwrap();
    assert_eq!(room.ids().len(), 2);
    assert_eq!(room.discord.calls().of(Call::Post), 5, "refused attempts count too");
}

#[test]
fn a_request_that_hangs_is_carried_out_when_the_outage_is_lifted_unless_it_was_dropped() {
    let room = room();
    room.discord.begin_outage(Outage::hanging());
    let mut waits = pin!(room.bot.post(room.post(1)));
    {
        let mut dropped = pin!(room.bot.post(room.post(2)));
        assert!(poll(waits.as_mut()).is_pending() && poll(dropped.as_mut()).is_pending());
    }
    room.clock.advance(3_600 * SECOND);
    assert!(poll(waits.as_mut()).is_pending());
    assert_eq!(room.ids().len(), 0);
    room.discord.end_outages();
    assert!(matches!(poll(waits.as_mut()), Poll::Ready(Ok(_))));
    assert_eq!(room.ids().len(), 1);
}

#[tokio::test(flavor = "current_thread")]
async fn the_outage_that_began_last_decides() {
    let room = room();
    room.discord.begin_outage(Outage::refused());
    room.discord.begin_outage(Outage::failing(Fault::LostAnswer).only(Call::Post));
    let error = room.bot.post(room.post(1)).await.unwrap_err();
    assert_eq!((error.kind(), room.ids().len()), (ErrorKind::NoAnswer, 1));
    assert_eq!(room.bot.me().await.unwrap_err().kind(), ErrorKind::Unavailable);
}

#[tokio::test(flavor = "current_thread")]
async fn a_post_that_lands_late_lands_once_though_nobody_waits() {
    let room = room();
    room.discord.next_post(Fault::LandsLate { by: 20 * SECOND });
    let error = room.bot.post(room.post(1)).await.unwrap_err();
    assert_eq!((error.kind(), error.certainty()), (ErrorKind::NoAnswer, Certainty::Unknown));
    let mut events = room.discord.events();
    let mut landing = pin!(room.discord.land_late_posts());
    assert!(poll(landing.as_mut()).is_pending());
    room.clock.advance(19 * SECOND);
    assert!(poll(landing.as_mut()).is_pending());
    assert_eq!(events.try_next(), None);
    room.clock.advance(SECOND);
    assert!(poll(landing.as_mut()).is_pending());
    assert!(matches!(events.try_next(), Some(Event::MessageCreated(_))));
    let repeated = room.bot.post(room.post(1)).await.unwrap();
    assert!(repeated.deduplicated, "the nonce is that of the post that landed");
    assert_eq!(room.ids(), [repeated.id]);
}
