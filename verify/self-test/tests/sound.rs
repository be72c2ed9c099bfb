//! What the self-test does at a Discord that keeps every assumption.

use std::time::Duration;

use dirigent_loopback::RestRoute;
use dirigent_testkit::memory_discord::Permissions;
use practice::Token;
use self_test::{Seen, Trouble, assumptions};
use serde_json::json;

use super::{Scene, differing, not_tried, row};

const WITH_A_PERSON: [&str; 4] = ["command 1", "command 2", "command 4", "command 5"];
const WITH_A_SECOND_BOT: [&str; 5] = ["post 3", "limit 2", "sight 1", "gateway 6", "command 6"];

#[tokio::test]
async fn a_sound_discord_is_as_expected_in_every_row() {
    let scene = Scene::new().await;
    let report = scene.try_all().await;
    assert!(report.rows.iter().all(|row| matches!(row.seen, Seen::Expected(_))), "{report}");
    assert_eq!(report.rows.len(), assumptions().count());
    assert_eq!((report.trouble.as_ref(), report.exit_code()), (None, 0), "{report}");
}

#[tokio::test]
async fn at_most_sixty_requests_are_sent_and_counted_in_less_than_two_minutes() {
    let scene = Scene::new().await;
    let report = scene.try_all().await;
    assert_eq!(u64::from(report.requests), scene.server.traffic().total());
    assert!(report.requests <= 60, "{report}");
    assert!(report.took < Duration::from_secs(120), "{report}");
    assert_eq!(scene.server.traffic().with_status(429), 1, "one limit is reached on purpose");
    assert_eq!(scene.server.traffic().unknown(), 0);
}

#[tokio::test]
async fn nothing_is_left_in_the_channel_and_no_command_in_the_server() {
    let scene = Scene::new().await;
    let report = scene.try_all().await;
    assert_eq!(scene.texts(), ["Good morning"]);
    assert!(report.left_behind.is_empty(), "{report}");
    assert!(!scene.has_command());
}

#[tokio::test]
async fn each_row_is_said_as_soon_as_it_is_known_and_a_person_is_asked_for() {
    let scene = Scene::new().await;
    let (report, lines) = scene.run(scene.both(), true).await;
    let said = |words: &str| lines.iter().position(|line| line.contains(words)).unwrap();
    for row in &report.rows {
        assert_eq!(lines.iter().filter(|line| **line == row.to_string()).count(), 1, "{row}");
    }
    assert!(
        said("limit 9") < said("post 1 ") && said("gateway 1 ") < said("use /dirigent-self-test")
    );
    assert!(
        said("use /dirigent-self-test") < said("command 1") && said("command 1") < said("post 2")
    );
}

#[tokio::test]
async fn what_needs_a_second_bot_is_not_tried_without_one() {
    let scene = Scene::new().await;
    let (report, _) = scene.run(scene.settings(), true).await;
    assert_eq!(not_tried(&report), WITH_A_SECOND_BOT, "{report}");
    assert_eq!((differing(&report).len(), report.exit_code()), (0, 0), "{report}");
    let same = scene.settings().with_second(Token::new(scene.server.token(scene.first)));
    let (report, _) = scene.run(same, true).await;
    assert_eq!(not_tried(&report), WITH_A_SECOND_BOT, "a bot is no second one to itself: {report}");
}

#[tokio::test]
async fn a_second_bot_that_does_not_see_the_channel_is_none() {
    let scene = Scene::new().await;
    let channel = scene.discord.channel(scene.channel);
    channel.set_member_overwrite(scene.second, Permissions::NONE, Permissions::VIEW_CHANNEL);
    let report = scene.try_all().await;
    assert_eq!(not_tried(&report), WITH_A_SECOND_BOT, "{report}");
    assert_eq!(report.exit_code(), 0, "{report}");
}

#[tokio::test]
async fn what_needs_a_person_is_not_tried_without_one() {
    let scene = Scene::new().await;
    let (report, _) = scene.run(scene.both(), false).await;
    assert_eq!(not_tried(&report), WITH_A_PERSON, "{report}");
    assert_eq!(report.exit_code(), 0, "{report}");
    assert!(!scene.has_command());
}

#[tokio::test]
async fn the_commands_that_a_bot_has_are_kept() {
    let scene = Scene::new().await;
    let (first, guild) = (scene.first, scene.guild);
    let mine = json!({ "id": "9", "name": "mine", "type": 1, "description": "Mine" });
    let own = vec![mine.clone()];
    scene.discord.world().applications.commands.insert((first, Some(guild)), own);
    let report = scene.try_all().await;
    assert_eq!(not_tried(&report), ["command 3"], "{report}");
    let commands = scene.discord.world().applications.commands[&(first, Some(guild))].clone();
    assert_eq!(commands, [mine]);
    assert_eq!(scene.server.traffic().of(RestRoute::SetGuildCommands), 0);
}

#[tokio::test]
async fn rights_and_intents_that_are_on_or_off_are_both_as_expected() {
    let scene = Scene::new().await;
    scene.discord.guild(scene.guild).set_administrator(scene.second, true);
    scene.discord.account(scene.first).set_members_hidden(true);
    scene.discord.account(scene.first).set_content_hidden(true);
    let report = scene.try_all().await;
    assert_eq!((differing(&report).len(), not_tried(&report).len()), (0, 0), "{report}");
    let seen = |assumption| row(&report, assumption).to_string();
    assert!(seen("sight 1").contains("may manage messages: status 204"), "{report}");
    assert!(seen("sight 5").contains("the intent is off: status 403"), "{report}");
    assert!(seen("gateway 7").contains("refused with 4014"), "{report}");
}

#[tokio::test]
async fn without_the_history_nothing_is_said_of_it_and_all_is_deleted() {
    let scene = Scene::new().await;
    scene.discord.channel(scene.channel).set_history_hidden(scene.first, true);
    let report = scene.try_all().await;
    assert!(differing(&report).is_empty(), "{report}");
    assert_eq!(not_tried(&report), ["post 8", "history 1", "history 5"], "{report}");
    assert_eq!(scene.texts(), ["Good morning"]);
}

#[tokio::test]
async fn a_thread_is_as_good_as_a_channel() {
    let mut scene = Scene::new().await;
    scene.channel = scene.discord.channel(scene.channel).add_public_thread("aside");
    let report = scene.try_all().await;
    assert_eq!((differing(&report).len(), not_tried(&report).len()), (0, 0), "{report}");
    assert!(scene.texts().is_empty());
}

#[tokio::test]
async fn what_cannot_be_tried_at_all_is_said_with_its_reason() {
    let scene = Scene::new().await;
    let wrong_token = scene.both();
    let revoked = scene.discord.account(scene.first);
    revoked.set_revoked(true);
    let (report, _) = scene.run(wrong_token, true).await;
    assert_eq!(report.exit_code(), 2);
    assert!(report.to_string().contains("status 401: the token is not valid"), "{report}");
    revoked.set_revoked(false);
    scene.discord.channel(scene.channel).set_read_only(scene.first, true);
    let report = scene.try_all().await;
    assert!(
        report.to_string().contains("may not write in the channel (Send Messages)"),
        "{report}"
    );
    assert_eq!(report.exit_code(), 2);
    scene.discord.channel(scene.channel).delete();
    let report = scene.try_all().await;
    assert!(report.to_string().contains("the channel does not exist"), "{report}");
    assert!(matches!(report.trouble, Some(Trouble::Refused(_, 404, _))), "{report}");
}
