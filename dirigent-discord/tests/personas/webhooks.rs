//! Which webhooks there are: one for each persona and channel, made by this application, and no other is touched.

use std::time::Duration;

use dirigent::ports::{Access, Certainty, ErrorKind, GuildApi as _, NewChannel};
use dirigent::{ChannelId, DiscordApi as _, UserId};
use dirigent_discord::{NeededPermission, SetupIssue};
use dirigent_loopback::{RestFault, RestRoute};
use dirigent_testkit::memory_discord::Permissions;
use dirigent_testkit::memory_discord::webhooks::Webhook;

use super::{PersonaStage, TALK, newest, persona, post};

/// Adds a webhook that another account made, with this name.
fn foreign(stage: &PersonaStage, channel: ChannelId, creator: UserId, name: &str) -> UserId {
    let mut world = stage.discord.world();
    let id = UserId::new(world.next_id());
    world.accounts.add(id, dirigent::ports::AuthorKind::Webhook);
    let (name, token) = (name.to_owned(), "foreign".to_owned());
    world.webhooks.by_id.insert(id, Webhook { channel, name, avatar: None, token, creator });
    id
}

fn rename(stage: &PersonaStage, webhook: UserId, name: &str) {
    let mut world = stage.discord.world();
    world.webhooks.by_id.get_mut(&webhook).unwrap().name = name.to_owned();
}

/// A persona posts once more, after a restart of the bot.
async fn posts_again(stage: &PersonaStage, name: &str, channel: ChannelId, number: u64) {
    persona(&stage.restarted(), name).post(post(channel, "again", number)).await.unwrap();
}

#[tokio::test(flavor = "current_thread")]
async fn there_is_one_for_each_persona_and_channel_also_after_a_restart() {
    let stage = PersonaStage::new().await;
    let (one, two) = (stage.channel(), stage.channel());
    for (number, channel) in [(1, one), (2, two), (3, one)] {
        stage.poet.post(post(channel, "a", number)).await.unwrap();
        stage.critic.post(post(channel, "b", number)).await.unwrap();
    }
    let made = stage.webhooks(one);
    assert_eq!((made.len(), stage.webhooks(two).len()), (2, 2));
    assert!(made[0].1.starts_with("Poet (") && made[1].1.starts_with("Critic ("), "{made:?}");
    posts_again(&stage, "Critic", one, 4).await;
    assert_eq!(stage.webhooks(one), made);
    let last = stage.discord.messages(one).pop().unwrap();
    assert_eq!(last.author, made[1].0);
}

#[tokio::test(flavor = "current_thread")]
async fn those_of_others_are_not_used_changed_or_deleted_whatever_their_names() {
    let stage = PersonaStage::new().await;
    let channel = stage.channel();
    stage.critic.post(post(channel, "a", 1)).await.unwrap();
    let [(own, name)] = &stage.webhooks(channel)[..] else { panic!("one") };
    // Of a person, of another application, and of this one for another purpose.
    let other = stage.discord.add_bot();
    let others = [(stage.person, name.as_str()), (other, name), (stage.bot, "Critic")];
    let others = others.map(|(by, name)| foreign(&stage, channel, by, name));
    let before = stage.webhooks(channel);
    posts_again(&stage, "Critic", channel, 2).await;
    assert_eq!(stage.webhooks(channel), before);
    assert_eq!(stage.discord.messages(channel).pop().unwrap().author, *own);
    // Without its own it makes one.
    stage.discord.world().webhooks.by_id.remove(own);
    posts_again(&stage, "Critic", channel, 3).await;
    let after = stage.webhooks(channel);
    assert_eq!(after[..3], before[1..]);
    let author = stage.discord.messages(channel).pop().unwrap().author;
    assert!(after.len() == 4 && !others.contains(&author));
}

/// A webhook is known by its id: one that was given another's name is not taken for that.
#[tokio::test(flavor = "current_thread")]
async fn one_that_was_given_the_name_of_another_is_taken_for_neither() {
    let stage = PersonaStage::new().await;
    let channel = stage.channel();
    stage.poet.post(post(channel, "a", 1)).await.unwrap();
    stage.critic.post(post(channel, "b", 2)).await.unwrap();
    let made = stage.webhooks(channel);
    rename(&stage, made[0].0, &made[1].1);
    rename(&stage, made[1].0, &made[0].1);
    posts_again(&stage, "Poet", channel, 3).await;
    let author = stage.discord.messages(channel).pop().unwrap().author;
    assert!(made.iter().all(|(id, _)| *id != author));
    assert_eq!(stage.webhooks(channel).len(), 3);
}

#[tokio::test(flavor = "current_thread")]
async fn one_whose_making_was_not_answered_is_not_left_behind() {
    let stage = PersonaStage::new().await;
    let channel = stage.channel();
    for route in [RestRoute::CreateWebhook, RestRoute::UpdateWebhook] {
        stage.loopback.next(route, RestFault::LostAnswer);
        let error = stage.poet.post(post(channel, "a", 1)).await.unwrap_err();
        assert_eq!((error.kind(), error.certainty()), (ErrorKind::NoAnswer, Certainty::NotDone));
        assert_eq!(stage.webhooks(channel).len(), 1);
    }
    stage.poet.post(post(channel, "a", 1)).await.unwrap();
    assert_eq!(stage.webhooks(channel).len(), 1);
    assert_eq!(stage.said(channel), ["a"]);
}

#[tokio::test(flavor = "current_thread")]
async fn one_of_another_application_with_the_name_of_one_that_is_being_made_stays() {
    let stage = PersonaStage::new().await;
    let (channel, other) = (stage.channel(), stage.discord.add_bot());
    stage.loopback.next(RestRoute::CreateWebhook, RestFault::LostAnswer);
    stage.poet.post(post(channel, "a", 1)).await.unwrap_err();
    let left = stage.webhooks(channel).pop().unwrap();
    let foreign = foreign(&stage, channel, other, &left.1);
    stage.poet.post(post(channel, "a", 1)).await.unwrap();
    let ids: Vec<_> = stage.webhooks(channel).into_iter().map(|(id, _)| id).collect();
    assert!(ids.len() == 2 && ids.contains(&foreign) && !ids.contains(&left.0), "{ids:?}");
}

#[tokio::test(flavor = "current_thread")]
async fn posts_at_once_make_one() {
    let stage = PersonaStage::new().await;
    let channel = stage.channel();
    let posts = (1..=4).map(|number| stage.poet.post(post(channel, "a", number)));
    for posted in futures_util::future::join_all(posts).await {
        posted.unwrap();
    }
    assert_eq!((stage.webhooks(channel).len(), stage.said(channel).len()), (1, 4));
}

/// What a webhook wrote that was deleted stays its persona's as long as the process runs.
#[tokio::test(flavor = "current_thread")]
async fn one_that_was_deleted_is_made_again_and_what_it_wrote_stays_its_personas() {
    let stage = PersonaStage::new().await;
    let channel = stage.channel();
    let first = stage.poet.post(post(channel, "a", 1)).await.unwrap().id;
    stage.discord.world().webhooks.by_id.clear();
    let second = stage.poet.post(post(channel, "b", 2)).await.unwrap().id;
    assert_eq!(stage.webhooks(channel).len(), 1);
    let me = stage.poet.me().await.unwrap();
    let read = stage.moderator.history(newest(channel)).await.unwrap();
    assert!(read.len() == 2 && read.iter().all(|message| message.author == me));
    stage.poet.delete(channel, second).await.unwrap();
    let edited =
        async |message| stage.poet.edit(channel, message, "c").await.map_err(|it| it.kind());
    assert_eq!(edited(second).await, Err(ErrorKind::Gone));
    let foreign = stage.poet.delete(channel, first).await.unwrap_err();
    assert_eq!(foreign.kind(), ErrorKind::Forbidden, "its webhook is gone");
    // Unnoticed until it is used, and known from then on.
    stage.discord.world().webhooks.by_id.clear();
    assert_eq!(edited(second).await, Err(ErrorKind::Gone));
    stage.poet.post(post(channel, "d", 3)).await.unwrap();
}

/// R041
#[tokio::test(flavor = "current_thread")]
async fn a_persona_is_there_where_its_webhook_is_or_may_be_made() {
    let stage = PersonaStage::new().await;
    let (here, there) = (stage.channel(), stage.channel());
    let [poet, critic] = [stage.poet.me().await.unwrap(), stage.critic.me().await.unwrap()];
    let present = async |account: &dirigent_discord::DiscordAccount, channel| {
        let mut present = account.members(channel, vec![poet, critic]).await.unwrap();
        present.sort_unstable();
        present.len()
    };
    let managing = |is_allowed: bool| {
        let none = if is_allowed { Permissions::NONE } else { Permissions::MANAGE_WEBHOOKS };
        stage.discord.channel(there).set_member_overwrite(stage.bot, TALK, none);
    };
    managing(false);
    assert_eq!(present(&stage.moderator, here).await, 2);
    assert_eq!(present(&stage.moderator, there).await, 0);
    let refused = stage.poet.post(post(there, "a", 1)).await.unwrap_err();
    assert_eq!((refused.kind(), refused.certainty()), (ErrorKind::Forbidden, Certainty::NotDone));
    let found = stage.moderator.diagnose(&[here, there], None).await.unwrap();
    let missing = SetupIssue::InChannel(there, NeededPermission::ManageWebhooks);
    assert!(found.contains(&missing), "{found:?}");
    // Allowed again, as the gateway tells.
    managing(true);
    stage.moderator.rights_changed(&[there]);
    assert_eq!(present(&stage.moderator, there).await, 2);
    // Without personas nothing is asked, and nothing missing.
    let asked = stage.loopback.traffic().of(RestRoute::ListChannelWebhooks);
    let plain = stage.restarted();
    managing(false);
    plain.history(newest(there)).await.unwrap();
    assert!(!plain.diagnose(&[there], None).await.unwrap().contains(&missing));
    assert_eq!(stage.loopback.traffic().of(RestRoute::ListChannelWebhooks), asked);
}

/// A channel lets in accounts; a persona comes by its webhook.
#[tokio::test(flavor = "current_thread")]
async fn a_persona_is_invited_to_a_new_channel_and_sees_it() {
    let stage = PersonaStage::new().await;
    let guild = stage.discord.guild(stage.guild);
    let admins = guild.add_role("admins", Permissions::ADMINISTRATOR);
    guild.set_role(stage.bot, admins, true);
    let [poet, critic] = [stage.poet.me().await.unwrap(), stage.critic.me().await.unwrap()];
    let name = "debate".to_owned();
    let members = vec![poet, stage.person, critic];
    let new = NewChannel { guild: stage.guild, name, members };
    let channel = stage.moderator.create_channel(new).await.unwrap().id;
    let let_in = format!("{:?}", stage.discord.world().places.rooms[&channel].overwrites);
    assert!(let_in.contains(&stage.person.to_string()) && !let_in.contains(&poet.to_string()));
    stage.poet.post(post(channel, "a", 1)).await.unwrap();
    assert!(stage.moderator.can_see(channel, poet).await.unwrap());
    assert!(!stage.moderator.is_administrator(stage.guild, poet).await.unwrap());
    let access = async |access| stage.moderator.set_access(channel, poet, access).await;
    access(Access::Full).await.unwrap();
    assert_eq!(access(Access::None).await.unwrap_err().kind(), ErrorKind::Unsupported);
}

#[tokio::test(flavor = "current_thread")]
async fn fifteen_webhooks_leave_the_last_personas_out_and_the_diagnosis_says_so() {
    let stage = PersonaStage::new().await;
    let channel = stage.channel();
    let [poet, critic] = [stage.poet.me().await.unwrap(), stage.critic.me().await.unwrap()];
    for _ in 0..14 {
        foreign(&stage, channel, stage.person, "herald");
    }
    let present = async || stage.moderator.members(channel, vec![critic, poet]).await.unwrap();
    assert_eq!(present().await, [poet]);
    let shortage = SetupIssue::TooManyWebhooks(channel, 1);
    assert!(stage.moderator.diagnose(&[channel], None).await.unwrap().contains(&shortage));
    assert!(shortage.to_string().contains("15 webhooks"), "{shortage}");
    stage.poet.post(post(channel, "a", 1)).await.unwrap();
    assert_eq!(present().await, [poet]);
    let refused = stage.critic.post(post(channel, "a", 2)).await.unwrap_err();
    assert_eq!((refused.kind(), refused.certainty()), (ErrorKind::Forbidden, Certainty::NotDone));
    assert_eq!(stage.webhooks(channel).len(), 15);
    // A person makes room.
    stage.discord.world().webhooks.by_id.retain(|_, webhook| webhook.creator == stage.bot);
    stage.clock.advance(Duration::from_secs(60));
    assert_eq!(present().await, [poet, critic]);
}

/// The same words twice are two messages, and a doubtful one is found by them all the same.
#[tokio::test(flavor = "current_thread")]
async fn a_doubtful_post_is_not_taken_for_one_that_said_the_same() {
    let stage = PersonaStage::new().await;
    let channel = stage.channel();
    let first = stage.poet.post(post(channel, "yes", 1)).await.unwrap().id;
    stage.critic.post(post(channel, "yes", 1)).await.unwrap();
    for (fault, made) in [(RestFault::NotDelivered, 2), (RestFault::LostAnswer, 4)] {
        stage.loopback.next(RestRoute::CreateFollowup, fault);
        stage.poet.post(post(channel, "yes", made)).await.unwrap_err();
        stage.discord.say(channel, stage.person, "yes");
        if fault == RestFault::NotDelivered {
            // It may still be on its way.
            let waits = stage.poet.post(post(channel, "yes", made)).await.unwrap_err();
            assert_eq!(
                (waits.kind(), waits.certainty()),
                (ErrorKind::Unavailable, Certainty::Unknown)
            );
            stage.clock.advance(waits.retry_after().unwrap());
        }
        let posted = stage.poet.post(post(channel, "yes", made)).await.unwrap();
        assert_eq!(posted.deduplicated, fault == RestFault::LostAnswer);
        assert_ne!(posted.id, first);
    }
    assert_eq!(stage.said(channel).len(), 6);
    // As long as the history cannot be read, it is in doubt, and not posted again.
    stage.loopback.next(RestRoute::CreateFollowup, RestFault::LostAnswer);
    stage.poet.post(post(channel, "no", 9)).await.unwrap_err();
    stage.loopback.next(RestRoute::ListMessages, RestFault::Forbidden);
    let unread = stage.poet.post(post(channel, "no", 9)).await.unwrap_err();
    assert_eq!(unread.certainty(), Certainty::Unknown);
    assert_eq!(stage.said(channel).len(), 7);
}
