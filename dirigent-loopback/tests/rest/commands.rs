//! Commands: registering, using, answering.

use dirigent_loopback::{CommandError, InteractionId};
use dirigent_testkit::memory_discord::Event;

use super::*;

fn mode_command() -> Value {
    json!({
        "name": "set-mode",
        "description": "Sets the mode",
        "type": 1,
        "options": [{
            "name": "mode", "description": "Which", "type": 3, "required": true,
            "choices": [{ "name": "Chat", "value": "chat" }, { "name": "Off", "value": "off" }],
        }],
    })
}

impl RestStage {
    async fn register(&self) -> Answer {
        let path = format!("applications/{}/guilds/{}/commands", self.bot, self.guild);
        self.ask(self.bot, "PUT", &path, json!([mode_command()])).await
    }

    fn use_it(&self, mode: &str) -> Result<InteractionId, CommandError> {
        let options = [("mode", json!(mode))];
        self.loopback.use_command(self.channel, self.owner, self.bot, "set-mode", &options)
    }

    /// The newest interaction as it was pushed.
    fn token(&self, events: &mut dirigent_testkit::memory_discord::GatewayEvents) -> u64 {
        let Some(Event::InteractionCreated { interaction, application }) = events.try_next() else {
            panic!("no interaction was pushed");
        };
        assert_eq!(application, self.bot);
        interaction
    }
}

#[tokio::test(flavor = "current_thread")]
async fn commands_are_kept_by_name_and_place() {
    let stage = RestStage::new().await;
    let set = stage.register().await;
    assert_eq!((set.status, set.json().as_array().unwrap().len()), (200, 1));
    let id = set.json()[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(set.json()[0]["guild_id"], stage.guild.to_string());
    let everywhere = format!("applications/{}/commands", stage.bot);
    let created = stage.ask(stage.bot, "POST", &everywhere, mode_command()).await;
    assert_eq!(created.status, 201);
    let again = stage.ask(stage.bot, "POST", &everywhere, mode_command()).await;
    assert_eq!((again.status, &again.json()["id"]), (200, &created.json()["id"]));
    assert_eq!(stage.get(&everywhere).await.json().as_array().unwrap().len(), 1);
    let here = format!("applications/{}/guilds/{}/commands/{id}", stage.bot, stage.guild);
    let changed = json!({ "description": "Sets it anew" });
    let changed = stage.ask(stage.bot, "PATCH", &here, changed).await.json();
    assert_eq!((&changed["id"], &changed["name"]), (&json!(id), &json!("set-mode")));
    assert_eq!(stage.get(&here).await.json()["description"], "Sets it anew");
    assert_eq!(stage.ask(stage.bot, "DELETE", &here, Value::Null).await.status, 204);
    assert_eq!(stage.get(&here).await.refusal(), (404, 10063));
    let foreign = format!("applications/{}/commands", stage.moderator);
    assert_eq!(stage.get(&foreign).await.refusal(), (403, 50001));
    for bad in [
        json!({ "name": "Set Mode", "description": "x" }),
        json!({ "name": "x".repeat(33), "description": "x" }),
        json!({ "name": "mode", "description": "" }),
        json!({ "name": "mode" }),
    ] {
        let refused = stage.ask(stage.bot, "POST", &everywhere, bad).await;
        assert_eq!(refused.refusal(), (400, 50035));
    }
    let twice = stage.ask(stage.bot, "PUT", &everywhere, json!([mode_command(), mode_command()]));
    assert_eq!(twice.await.refusal(), (400, 50035));
}

/// EZ2
/// disnake sends the field with every command.
#[tokio::test(flavor = "current_thread")]
async fn a_command_may_say_that_it_is_on_by_default_but_not_that_it_is_off() {
    let stage = RestStage::new().await;
    let path = format!("applications/{}/commands", stage.bot);
    for (is_on, status) in [(true, 200), (false, 501)] {
        let command = json!({ "name": "chat", "description": "d", "default_permission": is_on });
        let answer = stage.ask(stage.bot, "PUT", &path, json!([command])).await;
        assert_eq!(answer.status, status, "{}", answer.text);
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_command_is_answered_once_and_in_time() {
    let stage = RestStage::new().await;
    stage.register().await;
    let mut events = stage.discord.account(stage.bot).gateway_events();
    let used = stage.use_it("chat").unwrap();
    assert_eq!(stage.token(&mut events), used.get());
    let token = format!("loopback-{used}-{:016x}", used.get().wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let callback = format!("interactions/{used}/{token}/callback");
    let body = json!({ "type": 4, "data": { "content": "It is chat.", "flags": 64 } });
    // No token of a bot is needed.
    let agent = [("User-Agent", AGENT)];
    let answer = stage.send("POST", &callback, &agent, body.clone()).await.unwrap();
    assert_eq!(answer.status, 204);
    assert_eq!(answer.header("x-ratelimit-bucket"), None, "answers to commands have no limit");
    let answer = stage.send("POST", &callback, &agent, body.clone()).await.unwrap();
    assert_eq!(answer.refusal(), (400, 40060), "a second answer");
    let answers = stage.loopback.answers(used);
    assert_eq!((answers.len(), &*answers[0].content), (1, "It is chat."));
    assert!(answers[0].is_private);
    assert!(stage.discord.messages(stage.channel).is_empty(), "only the user sees it");

    let wrong = format!("interactions/{used}/other/callback");
    let answer = stage.send("POST", &wrong, &agent, body.clone()).await.unwrap();
    assert_eq!(answer.refusal(), (404, 10062));
    let late = stage.use_it("off").unwrap();
    let token = format!("loopback-{late}-{:016x}", late.get().wrapping_mul(0x9e37_79b9_7f4a_7c15));
    stage.clock.advance(3 * SECOND);
    assert!(!stage.loopback.is_unanswered(late), "it may still be answered");
    stage.clock.advance(SECOND / 1_000);
    assert!(stage.loopback.is_unanswered(late) && !stage.loopback.is_unanswered(used));
    let callback = format!("interactions/{late}/{token}/callback");
    let answer = stage.send("POST", &callback, &agent, body).await.unwrap();
    assert_eq!(answer.refusal(), (404, 10062), "too late");
}

#[tokio::test(flavor = "current_thread")]
async fn a_promised_answer_is_given_later_and_followed_by_more() {
    let stage = RestStage::new().await;
    stage.register().await;
    let used = stage.use_it("chat").unwrap();
    let token = format!("loopback-{used}-{:016x}", used.get().wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let original = format!("webhooks/{}/{token}/messages/@original", stage.bot);
    let agent = [("User-Agent", AGENT)];
    let early = stage.send("GET", &original, &agent, Value::Null).await.unwrap();
    assert_eq!(early.refusal(), (404, 10015), "nothing was answered yet");
    let callback = format!("interactions/{used}/{token}/callback?with_response=true");
    let promised = stage.send("POST", &callback, &agent, json!({ "type": 5 })).await.unwrap();
    assert_eq!(promised.json()["resource"]["message"]["flags"], 128);
    stage.clock.advance(60 * SECOND);
    let body = json!({ "content": "Done." });
    let given = stage.send("PATCH", &original, &agent, body).await.unwrap().json();
    assert_eq!((&given["content"], &given["flags"]), (&json!("Done."), &json!(0)));
    assert_eq!(given["interaction_metadata"]["user"]["id"], stage.owner.to_string());
    let more = format!("webhooks/{}/{token}", stage.bot);
    let more = stage.send("POST", &more, &agent, json!({ "content": "And more." })).await.unwrap();
    assert_eq!(more.status, 200);
    assert!(more.header("x-ratelimit-bucket").is_some());
    let contents: Vec<_> =
        stage.loopback.answers(used).into_iter().map(|answer| answer.content).collect();
    assert_eq!(contents, ["Done.", "And more."]);
    let kinds: Vec<_> =
        stage.discord.messages(stage.channel).iter().map(|message| message.kind).collect();
    assert_eq!(kinds, [dirigent::ports::ChatKind::System; 2], "no talk");
    assert_eq!(stage.send("DELETE", &original, &agent, Value::Null).await.unwrap().status, 204);
    stage.clock.advance(15 * 60 * SECOND);
    let over = stage.send("GET", &original, &agent, Value::Null).await.unwrap();
    assert_eq!(over.refusal(), (401, 50027), "the token is over");
}

#[tokio::test(flavor = "current_thread")]
async fn a_client_lets_no_wrong_command_pass() {
    let stage = RestStage::new().await;
    assert_eq!(stage.use_it("chat"), Err(CommandError::NoCommand));
    stage.register().await;
    assert_eq!(stage.use_it("loud"), Err(CommandError::BadValue("mode".to_owned())));
    let tried = |user, options: &[(&str, Value)]| {
        stage.loopback.use_command(stage.channel, user, stage.bot, "set-mode", options)
    };
    assert_eq!(tried(stage.owner, &[]), Err(CommandError::MissingOption("mode".to_owned())));
    let more = [("mode", json!("chat")), ("what", json!("else"))];
    assert_eq!(tried(stage.owner, &more), Err(CommandError::NoOption("what".to_owned())));
    let stranger = stage.discord.add_human();
    assert_eq!(tried(stranger, &[("mode", json!("chat"))]), Err(CommandError::NotAllowed));
    let path = format!("applications/{}/guilds/{}/commands", stage.bot, stage.guild);
    let mut command = mode_command();
    command["default_member_permissions"] = json!((1_u64 << 4).to_string());
    stage.ask(stage.bot, "PUT", &path, json!([command])).await;
    let member = stage.discord.add_human();
    stage.discord.join(stage.channel, member);
    assert_eq!(tried(member, &[("mode", json!("chat"))]), Err(CommandError::NotAllowed));
    assert!(tried(stage.owner, &[("mode", json!("chat"))]).is_ok());
}
