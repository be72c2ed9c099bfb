//! The slash command: registered, used, answered.

use std::sync::Arc;

use dirigent::ports::{ApiError, GuildId};
use dirigent::snapshot::{AgentKey, Pause};
use dirigent::store::{
    ChannelStore, Commit, CommitError, LoadError, MemoryChannels, Revision, StoredChannel,
};
use dirigent::{AgentId, ChannelId, Mode};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::account::CHANNEL;
use crate::account::fixture::{Fixture, Plan, person, settle, until};
use crate::account::server::Reply;

const CALLBACK: &str = "POST /interactions/";
const LISTED: &str = "GET /applications/800/guilds/1/commands";
const REGISTERED: &str = "POST /applications/800/guilds/1/commands";

/// The command as Discord shows it when it is registered.
fn registered() -> Value {
    json!({"id": "77", "application_id": "800", "version": "1", "type": 1, "name": "set-channel-mode",
        "name_localizations": null, "description": "Sets how agents take turns in this channel",
        "default_member_permissions": "16", "dm_permission": true, "contexts": null, "nsfw": false,
        "guild_id": "1",
        "options": [{"type": 3, "name": "mode", "required": true, "name_localizations": null,
            "description": "none: no rules; chat: one after the other; report: no agent is woken",
            "choices": [{"name": "none", "value": "none", "name_localizations": null},
                {"name": "chat", "value": "chat"}, {"name": "report", "value": "report"}]}]})
}

/// A command without options as Discord shows it when it is registered.
fn plain(name: &str, description: &str) -> Value {
    json!({"id": "79", "application_id": "800", "version": "1", "type": 1, "name": name,
        "description": description, "default_member_permissions": "2048", "nsfw": false,
        "guild_id": "1"})
}

/// The commands besides `/set-channel-mode` as they are registered.
fn others() -> [Value; 5] {
    let agent = |is_required: bool, description: &str| json!([{"type": 6, "name": "agent", "required": is_required, "description": description}]);
    let mut why = plain("why", "Says why an agent may or may not speak now");
    why["options"] = agent(false, "Which agent; all that take turns here unless one is named");
    let mut next = plain("next", "Chooses which agent speaks next");
    next["options"] = agent(true, "Which agent is to speak next");
    [
        plain("stop", "Stops the agents in this channel until it is resumed"),
        plain("resume", "Lets the agents in this channel take turns again"),
        plain("status", "Shows whose turn it is in this channel, and who follows"),
        why,
        next,
    ]
}

/// A command of the host's own.
fn another() -> Value {
    json!({"id": "78", "type": 1, "name": "ping", "description": "pong", "options": [
        {"type": 1, "name": "deep", "description": "d", "options": [{"type": 9}]}]})
}

/// A use of the command by somebody who may manage channels, with these changes.
fn used(id: u64, changes: &Value) -> Value {
    let mut used = json!({"id": id.to_string(), "application_id": "800", "type": 2,
        "token": "secret-token", "version": 1, "guild_id": "1", "channel_id": "700",
        "member": {"user": {"id": "33"}, "roles": [], "permissions": "16"},
        "data": {"id": "77", "name": "set-channel-mode", "type": 1,
            "options": [{"type": 3, "name": "mode", "value": "chat"}]}});
    let fields = changes.as_object().cloned().unwrap_or_default();
    used.as_object_mut().unwrap().extend(fields);
    used
}

async fn use_it(fixture: &Fixture, id: u64, changes: &Value) {
    fixture.push("INTERACTION_CREATE", &used(id, changes)).await;
}

/// The bodies of all first answers.
fn answers(fixture: &Fixture) -> Vec<Value> {
    let asked = fixture.server.asked().into_iter();
    let answers = asked.filter(|asked| asked.line.starts_with("POST /api/v10/interactions/"));
    answers.map(|asked| serde_json::from_str(&asked.body).unwrap()).collect()
}

async fn answered(fixture: &Fixture, count: usize) -> Value {
    until("an answer", || fixture.count(CALLBACK) >= count).await;
    answers(fixture).last().cloned().unwrap()
}

/// R058, R061, F04: registered in the guild with exactly these choices, for who may manage channels; to
/// stop and to resume for who may write.
#[tokio::test]
async fn the_commands_are_registered_in_each_guild() {
    let fixture = Fixture::open().await;
    fixture.server.rule(LISTED, Reply::ok(Value::from(vec![another()]).to_string()));
    fixture.connect([person(500, &[])]).await;
    until("they are registered", || fixture.count(REGISTERED) == 6).await;
    let asked = fixture.server.asked();
    let bodies = asked.iter().filter(|asked| asked.line.contains("POST"));
    let bodies: Vec<Value> =
        bodies.map(|asked| serde_json::from_str(&asked.body).unwrap()).collect();
    let (body, rest) = bodies.split_first().unwrap();
    let shown = ["name", "type", "default_member_permissions", "description", "options"];
    for (command, expected) in rest.iter().zip(others()) {
        for field in shown {
            let none = if field == "options" { json!([]) } else { Value::Null };
            let expected = expected.get(field).unwrap_or(&none);
            assert_eq!(&command[field], expected, "{}", command["name"]);
        }
    }
    let choice = |mode: &str| json!({"name": mode, "value": mode});
    assert_eq!(
        *body,
        json!({"name": "set-channel-mode", "type": 1, "default_member_permissions": "16",
            "description": "Sets how agents take turns in this channel",
            "options": [{"type": 3, "name": "mode", "required": true,
                "description": "none: no rules; chat: one after the other; report: no agent is woken",
                "choices": [choice("none"), choice("chat"), choice("report")]}]})
    );
    assert!(fixture.server.lines().iter().all(|line| !line.starts_with("PUT")), "others are kept");
    fixture.connect([person(500, &[])]).await;
    settle().await;
    assert_eq!((fixture.count(LISTED), fixture.count(REGISTERED)), (1, 6), "once is enough");
    // An outage takes no command away; being put out of a guild does.
    for (gone, registered) in
        [(json!({"id": "1", "unavailable": true}), 6), (json!({"id": "1"}), 12)]
    {
        fixture.push("GUILD_DELETE", &gone).await;
        fixture.connect([person(500, &[])]).await;
        settle().await;
        until("it is registered", || fixture.count(REGISTERED) >= registered).await;
        assert_eq!(fixture.count(REGISTERED), registered);
    }
}

/// R058: what is registered is left as it is, unless it differs.
#[tokio::test]
async fn only_what_differs_is_registered_anew() {
    let account = async |known: Value| {
        let fixture = Fixture::open().await;
        let listed = Value::from([vec![another(), known], others().to_vec()].concat());
        fixture.server.rule(LISTED, Reply::ok(listed.to_string()));
        let is_any_new = fixture.account.register_commands(GuildId::new(1)).await.unwrap();
        assert_eq!(fixture.count(REGISTERED), usize::from(is_any_new), "only this one");
        is_any_new
    };
    assert!(!account(registered()).await);
    for (field, value) in [
        ("default_member_permissions", Value::Null),
        ("default_member_permissions", "32".into()),
        ("description", "old".into()),
        ("options", json!([])),
        ("type", 2.into()),
    ] {
        let mut known = registered();
        known[field] = value;
        assert!(account(known).await, "{field}");
    }
    let mut known = registered();
    known["options"][0]["choices"][1] = json!({"name": "work", "value": "work"});
    assert!(account(known).await);
}

/// F22: without the scope it is not tried again and again; a limit is waited for.
#[tokio::test]
async fn a_refused_registration_is_left_and_a_limited_one_is_not() {
    let fixture = Fixture::open().await;
    fixture.server.rule(LISTED, Reply::status(403, r#"{"code":50001}"#));
    fixture.connect([person(500, &[])]).await;
    until("it was tried", || fixture.count(LISTED) == 1).await;
    fixture.pass(3_600_000);
    settle().await;
    assert_eq!(fixture.count(LISTED), 1);

    let fixture = Fixture::open().await;
    let limited = Reply::status(429, r#"{"retry_after":7.0}"#).header("X-RateLimit-Scope", "user");
    fixture.server.rule(LISTED, limited);
    fixture.connect([person(500, &[])]).await;
    until("it was tried", || fixture.count(LISTED) == 1).await;
    settle().await;
    fixture.server.rule(LISTED, Reply::ok("[]"));
    fixture.pass(6_999);
    settle().await;
    assert_eq!(fixture.count(LISTED), 1);
    fixture.pass(1);
    until("they are registered", || fixture.count(REGISTERED) == 6).await;
}

/// R062, R063: a use is carried out and answered at once, to who asked and nobody else.
#[tokio::test]
async fn a_use_is_answered_at_once_and_only_to_who_asked() {
    let fixture = Fixture::open().await;
    use_it(&fixture, 900, &json!({})).await;
    let answer = answered(&fixture, 1).await;
    assert_eq!(
        answer,
        json!({"type": 4, "data": {"content": "The mode of this channel is now chat. a, b take turns here.", "flags": 64,
            "allowed_mentions": {"parse": []}}})
    );
    assert_eq!(fixture.status().await.mode, Mode::Chat);
    let asked = fixture.server.asked();
    let asked = asked.iter().find(|asked| asked.line.contains("interactions")).unwrap();
    assert!(asked.line.starts_with("POST /api/v10/interactions/900/secret-token/callback"));
    assert_eq!(asked.header("authorization"), None, "the bot's token is not needed");
}

/// F04: who may write in the channel stops and resumes it, whatever the host says about modes.
#[tokio::test]
async fn stop_and_resume_are_answered_at_once() {
    let fixture = Fixture::with(Plan { may_set_mode: Some(false), ..Plan::default() }).await;
    fixture.dirigent.channel(CHANNEL).set_mode(Mode::Chat).await.unwrap();
    let command = |name: &str, permissions: &str| {
        json!({"data": {"id": "79", "name": name, "type": 1},
            "member": {"user": {"id": "33"}, "permissions": permissions}})
    };
    for (number, (changes, part, rest)) in [
        (command("resume", "2048"), "is not stopped", None),
        (command("stop", "1024"), "able to write", None),
        (command("stop", "2048"), "Stopped: no agent speaks", Some(Pause::Stopped)),
        (command("stop", "2048"), "is stopped already", Some(Pause::Stopped)),
        (command("resume", "1024"), "able to write", Some(Pause::Stopped)),
        (command("resume", "2048"), "Resumed", None),
        (json!({"guild_id": null, "data": {"name": "stop", "type": 1}}), "direct message", None),
    ]
    .into_iter()
    .enumerate()
    {
        use_it(&fixture, 900 + number as u64, &changes).await;
        let answer = answered(&fixture, number + 1).await;
        assert_eq!((&answer["type"], &answer["data"]["flags"]), (&json!(4), &json!(64)));
        let words = answer["data"]["content"].as_str().unwrap();
        assert!(words.contains(part), "{words}");
        assert_eq!(fixture.status().await.rest, rest, "{words}");
    }
}

/// R059, R060, D25, D26: what is refused is answered too.
#[tokio::test]
async fn a_refusal_is_answered_too() {
    let fixture = Fixture::open().await;
    let option = |word: &str| {
        json!({"data": {"id": "77", "name": "set-channel-mode", "type": 1,
            "options": [{"type": 3, "name": "mode", "value": word}]}})
    };
    for (number, (changes, part)) in [
        (option("work"), "create-work-channel"),
        (option("loud"), "There is no such mode"),
        (json!({"member": {"user": {"id": "33"}, "permissions": "2048"}}), "Manage Channels"),
        (json!({"member": null}), "Manage Channels"),
        (json!({"guild_id": null}), "direct message"),
        (json!({"data": {"name": "set-channel-mode", "type": 1}}), "There is no such mode"),
    ]
    .into_iter()
    .enumerate()
    {
        use_it(&fixture, 900 + number as u64, &changes).await;
        let answer = answered(&fixture, number + 1).await;
        let words = answer["data"]["content"].as_str().unwrap();
        assert!(words.contains(part), "{words}");
    }
    assert!(fixture.dirigent.channel(CHANNEL).status().await.unwrap().is_none());
}

/// D25: the host may decide.
#[tokio::test]
async fn the_host_may_decide_who_may() {
    for (may, permissions, mode) in [(true, "0", Some(Mode::Chat)), (false, "16", None)] {
        let fixture = Fixture::with(Plan { may_set_mode: Some(may), ..Plan::default() }).await;
        let member = json!({"member": {"user": {"id": "33"}, "permissions": permissions}});
        use_it(&fixture, 900, &member).await;
        answered(&fixture, 1).await;
        let status = fixture.dirigent.channel(CHANNEL).status().await.unwrap();
        assert_eq!(status.map(|status| status.mode), mode);
    }
}

/// Another command, and what is no command, is the host's; the same use twice is one.
#[tokio::test]
async fn another_command_is_not_answered_and_a_duplicate_once() {
    let fixture = Fixture::open().await;
    for changes in [
        json!({"data": {"id": "78", "name": "ping", "type": 1}}),
        json!({"data": {"id": "78", "name": "set-channel-mode", "type": 3}}),
        json!({"type": 3, "data": {"custom_id": "set-channel-mode", "component_type": 2}}),
        json!({"type": 4}),
        json!({"type": 1, "data": null}),
        json!({"channel_id": null}),
    ] {
        use_it(&fixture, 899, &changes).await;
    }
    for _ in 0..3 {
        use_it(&fixture, 900, &json!({"channel_id": null, "channel": {"id": "700", "type": 0}}))
            .await;
    }
    answered(&fixture, 1).await;
    settle().await;
    assert_eq!(fixture.count(CALLBACK), 1);
}

/// A store that lets nothing be written until it is told.
#[derive(Clone)]
struct Gate {
    inner: Arc<MemoryChannels>,
    open: Arc<Semaphore>,
}

#[dirigent::async_trait]
impl ChannelStore for Gate {
    async fn channels(&self) -> Result<Vec<ChannelId>, ApiError> {
        self.inner.channels().await
    }

    async fn load(&self, channel: ChannelId) -> Result<Option<StoredChannel>, LoadError> {
        self.inner.load(channel).await
    }

    async fn commit(&self, commit: Commit) -> Result<Revision, CommitError> {
        let _open = self.open.acquire().await.unwrap();
        self.inner.commit(commit).await
    }

    async fn agents(&self) -> Result<Vec<AgentId>, ApiError> {
        self.inner.agents().await
    }

    async fn add_agent(&self, agent: AgentId) -> Result<AgentKey, ApiError> {
        self.inner.add_agent(agent).await
    }
}

/// R063: where the store is slow, who asked is told within three seconds to wait, and then what came of it.
#[tokio::test]
async fn a_slow_store_is_waited_for_after_a_first_answer() {
    let gate = Gate { inner: Arc::default(), open: Arc::new(Semaphore::new(0)) };
    let fixture = Fixture::with(Plan { store: Arc::new(gate.clone()), ..Plan::default() }).await;
    use_it(&fixture, 900, &json!({})).await;
    settle().await;
    fixture.pass(1_499);
    settle().await;
    assert_eq!(fixture.count(CALLBACK), 0);
    fixture.pass(1);
    let first = answered(&fixture, 1).await;
    assert_eq!(first, json!({"type": 5, "data": {"flags": 64, "allowed_mentions": {"parse": []}}}));
    fixture.pass(5_000);
    settle().await;
    assert_eq!(fixture.count("PATCH /webhooks/800/secret-token/messages/@original"), 0);
    gate.open.add_permits(1);
    until("the last words", || fixture.count("PATCH /webhooks/800/") == 1).await;
    let asked = fixture.server.asked();
    let last = &asked.iter().find(|asked| asked.line.starts_with("PATCH")).unwrap().body;
    let last: Value = serde_json::from_str(last).unwrap();
    assert_eq!(last["content"], "The mode of this channel is now chat. a, b take turns here.");
    assert_eq!(
        (fixture.count(CALLBACK), last["allowed_mentions"]["parse"].clone()),
        (1, json!([]))
    );
}

/// F04: a stop is answered within a second and is in force, also where the store lets nothing be written.
#[tokio::test]
async fn a_stop_does_not_wait_for_a_slow_store() {
    let gate = Gate { inner: Arc::default(), open: Arc::new(Semaphore::new(1)) };
    let fixture = Fixture::with(Plan { store: Arc::new(gate.clone()), ..Plan::default() }).await;
    fixture.dirigent.channel(CHANNEL).set_mode(Mode::Chat).await.unwrap();
    let _closed = gate.open.acquire().await.unwrap();
    use_it(&fixture, 900, &json!({"data": {"name": "stop", "type": 1}})).await;
    settle().await;
    fixture.pass(999);
    settle().await;
    assert_eq!(fixture.count(CALLBACK), 0);
    fixture.pass(1);
    let answer = answered(&fixture, 1).await;
    assert_eq!(answer["type"], 4, "no promise of a later answer");
    let words = answer["data"]["content"].as_str().unwrap();
    assert!(words.contains("Stopped") && words.contains("could not be stored yet"), "{words}");
    assert_eq!(fixture.status().await.rest, Some(Pause::Stopped));
}

/// R063: an answer that is lost is given again while there is time; one that arrived is not doubled.
#[tokio::test]
async fn an_answer_that_was_lost_is_given_again_in_time() {
    let fixture = Fixture::open().await;
    fixture.server.rule(CALLBACK, Reply::status(503, ""));
    use_it(&fixture, 900, &json!({})).await;
    until("a first try", || fixture.count(CALLBACK) == 1).await;
    settle().await;
    fixture.server.rule(CALLBACK, Reply::status(400, r#"{"code":40060}"#));
    fixture.pass(200);
    until("a second try", || fixture.count(CALLBACK) == 2).await;
    for _ in 0..20 {
        fixture.pass(500);
        settle().await;
    }
    assert_eq!(fixture.count(CALLBACK), 2, "it was answered before");

    fixture.server.rule(CALLBACK, Reply::status(503, ""));
    use_it(&fixture, 901, &json!({})).await;
    for _ in 0..40 {
        fixture.pass(500);
        settle().await;
    }
    let tries = fixture.count(CALLBACK) - 2;
    assert!((2..=8).contains(&tries), "{tries}");
    assert_eq!(fixture.count("PATCH /webhooks/"), 0, "who was not answered cannot be told more");
}

/// An answer shows no token of the account, and so no limit of the account holds it back: a global 429, a refused
/// token, a route or an address that is turned away.
#[tokio::test]
async fn an_answer_waits_for_no_limit_of_the_account() {
    use dirigent::DiscordApi;
    for refusal in [
        Reply::status(429, r#"{"retry_after": 600, "global": true}"#)
            .header("X-RateLimit-Scope", "global")
            .header("Retry-After", "600"),
        Reply::status(429, "<html>").header("Retry-After", "600"),
        Reply::status(401, r#"{"code":0}"#),
    ] {
        let fixture = Fixture::open().await;
        settle().await;
        fixture.server.rule("GET /users/@me ", refusal);
        fixture.account.me().await.unwrap_err();
        let asked = fixture.count("GET /users/@me ");
        fixture.account.me().await.unwrap_err();
        assert_eq!(fixture.count("GET /users/@me "), asked, "the gate is closed");
        use_it(&fixture, 900, &json!({})).await;
        assert_eq!(answered(&fixture, 1).await["type"], 4);
    }
}

/// Where the answer's own route is limited, it is given as soon as it may be.
#[tokio::test]
async fn an_answers_own_limit_is_kept() {
    let fixture = Fixture::open().await;
    let limited = Reply::status(429, "{}").header("Retry-After", "1");
    fixture.server.rule(CALLBACK, limited.header("X-RateLimit-Scope", "user"));
    use_it(&fixture, 900, &json!({})).await;
    until("a first try", || fixture.count(CALLBACK) == 1).await;
    settle().await;
    fixture.server.rule(CALLBACK, Reply::status(204, ""));
    fixture.pass(999);
    settle().await;
    assert_eq!(fixture.count(CALLBACK), 1);
    fixture.pass(1);
    until("a second try", || fixture.count(CALLBACK) == 2).await;
}

/// A guild whose limit is used up keeps no other guild from having its commands.
#[tokio::test]
async fn one_limited_guild_keeps_no_other_waiting() {
    let fixture = Fixture::open().await;
    let limited = Reply::status(429, "{}").header("Retry-After", "600");
    fixture.server.rule(LISTED, limited.header("X-RateLimit-Scope", "user"));
    fixture.server.rule("GET /applications/800/guilds/2/commands", Reply::ok("[]"));
    fixture.server.rule("POST /applications/800/guilds/2/commands", Reply::status(201, "{}"));
    for guild in ["1", "2"] {
        let mut told = crate::account::fixture::guild([person(500, &[])]);
        (told["id"], told["channels"]) = (guild.into(), json!([]));
        fixture.push("GUILD_CREATE", &told).await;
    }
    let elsewhere = || fixture.count("POST /applications/800/guilds/2/commands");
    until("the other guild has its commands", || elsewhere() == 6).await;
    assert_eq!((fixture.count(LISTED), fixture.count(REGISTERED)), (1, 0));
    fixture.server.rule(LISTED, Reply::ok("[]"));
    fixture.pass(600_000);
    until("this guild has them too", || fixture.count(REGISTERED) == 6).await;
}
