//! An agent that has a bot of its own asks before it runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::Body;
use dirigent::ports::{Ownership, Standing};
use dirigent::settings::HumanMarker;
use dirigent::{ChannelId, Mode, Settings};
use dirigent_front::Front;
use dirigent_testkit::ManualClock;
use futures_util::FutureExt as _;
use http::{Method, StatusCode};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::stage::{ASKER, FrontStage, SITTER, next};

const ME: (&str, &str) = ("asker", ASKER);

#[tokio::test]
async fn only_the_agent_whose_turn_it_is_may_run_and_it_learns_what_it_missed() {
    let stage = FrontStage::open().await;
    stage.say("Who writes the parser?");
    stage.turn_of("asker").await;
    let begun = stage.ask("begin", ME, json!({ "run": "1" })).await;
    assert_eq!((&begun["allowed"], &begun["holdsFloor"]), (&true.into(), &true.into()), "{begun}");
    assert_eq!((&begun["wasRunning"], &begun["speaker"]), (&false.into(), &"asker".into()));
    let briefing = begun["briefing"].as_str().unwrap();
    assert!(briefing.contains("Asker") && briefing.contains("The other agents here: Sitter"));
    let missed = begun["missed"].as_array().unwrap();
    assert_eq!(missed.len(), 1, "not what the moderator says to begin the turn: {begun}");
    assert!(missed[0]["line"].as_str().unwrap().ends_with(": Who writes the parser?"), "{begun}");
    assert_eq!(missed[0]["isPerson"], true);

    let again = stage.ask("begin", ME, json!({ "run": "1" })).await;
    assert_eq!((&again["allowed"], &again["wasRunning"]), (&true.into(), &true.into()));
    assert_eq!(again["missed"], begun["missed"], "it is read again");
    let other = stage.ask("begin", ("sitter", SITTER), json!({ "run": "1" })).await;
    assert_eq!(other["allowed"], false, "{other}");
    assert!(other["reason"].as_str().unwrap().contains("asker has the floor"), "{other}");
}

#[tokio::test]
async fn an_end_counts_once_and_the_next_turn_shows_only_what_is_new() {
    let stage = FrontStage::open().await;
    stage.say("Who writes the parser?");
    stage.turn_of("asker").await;
    let never = stage.ask("end", ME, json!({ "run": "9", "outcome": "pass" })).await;
    assert_eq!(never["accepted"], false, "a run that never began");
    stage.ask("begin", ME, json!({ "run": "1" })).await;
    let end = json!({ "run": "1", "outcome": "spoke", "text": "I do." });
    let first = stage.ask("end", ME, end.clone()).await;
    assert_eq!((&first["accepted"], &first["duplicate"]), (&true.into(), &false.into()));
    let second = stage.ask("end", ME, end).await;
    assert_eq!((&second["accepted"], &second["duplicate"]), (&true.into(), &true.into()));
    stage.discord.say(stage.channel, stage.accounts[0], "I do.");
    stage.turn_of("sitter").await;
    stage.ask("begin", ("sitter", SITTER), json!({ "run": "1" })).await;
    stage.ask("say", ("sitter", SITTER), json!({ "run": "1", "text": "And I test it." })).await;
    stage.turn_of("asker").await;
    let begun = stage.ask("begin", ME, json!({ "run": "2" })).await;
    let lines: Vec<_> = begun["missed"].as_array().unwrap().iter().map(|it| &it["line"]).collect();
    assert_eq!(lines, ["Sitter: And I test it."], "neither its own words nor what it had read");
    let end = json!({ "run": "2", "outcome": "spoke", "text": "NO_REPLY" });
    assert_eq!(stage.ask("end", ME, end).await["accepted"], true);
    stage.until(|floor| floor != Some("asker")).await;
    assert_eq!(stage.words(), ["Who writes the parser?", "I do.", "And I test it."]);
}

#[tokio::test]
async fn what_was_missed_is_whole_also_behind_more_than_a_page() {
    let stage = FrontStage::open().await;
    stage.say("Begin.");
    stage.turn_of("asker").await;
    stage.ask("begin", ME, json!({ "run": "1" })).await;
    stage.ask("end", ME, json!({ "run": "1", "outcome": "pass" })).await;
    stage.until(|floor| floor != Some("asker")).await;
    for number in 0..230 {
        stage.say(&format!("word {number}"));
    }
    stage.turn_of("sitter").await;
    stage.ask("begin", ("sitter", SITTER), json!({ "run": "1" })).await;
    stage.ask("end", ("sitter", SITTER), json!({ "run": "1", "outcome": "pass" })).await;
    stage.turn_of("asker").await;
    let begun = stage.ask("begin", ME, json!({ "run": "2" })).await;
    let missed = begun["missed"].as_array().unwrap();
    let lines: Vec<_> = missed.iter().map(|it| it["line"].as_str().unwrap()).collect();
    assert_eq!(lines.len(), 230, "{lines:?}");
    assert!(lines[0].ends_with("word 0") && lines[229].ends_with("word 229"));
}

#[tokio::test]
async fn a_stream_begins_with_the_turns_there_are_and_tells_when_they_come_and_go() {
    let stage = FrontStage::open().await;
    let mut stream = stage.stream("/v1/turns", ASKER).await;
    stage.say("Who writes the parser?");
    stage.turn_of("asker").await;
    let (name, told) = next(&mut stream).await;
    assert_eq!((&*name, &told["agent"]), ("your-turn", &"asker".into()));
    assert_eq!(told["channel"], stage.channel.to_string());
    let mut late = stage.stream("/v1/turns?agents=asker", ASKER).await;
    assert_eq!(next(&mut late).await, (name, told.clone()), "nothing is missed by who comes late");
    stage.ask("begin", ME, json!({ "run": "1" })).await;
    stage.ask("end", ME, json!({ "run": "1", "outcome": "pass" })).await;
    for stream in [&mut stream, &mut late] {
        let (name, over) = next(stream).await;
        assert_eq!((&*name, &over["turn"]), ("turn-over", &told["turn"]));
    }
    let (status, problem) = stage.get("/v1/turns?agents=sitter", ASKER).await;
    assert_eq!(status, StatusCode::FORBIDDEN, "{problem}");
}

/// A program reads of channels in which one of its agents is, and asks for its own agents.
#[tokio::test]
async fn a_secret_opens_its_own_agents_and_their_channels_only() {
    let stage = FrontStage::open().await;
    let body = json!({ "agent": "sitter", "channel": stage.channel.to_string(), "run": "1" });
    let (status, problem) = stage.post("/v1/begin", ASKER, &body).await;
    assert_eq!(
        (status, &problem["type"]),
        (StatusCode::FORBIDDEN, &"urn:dirigent:problem:not-bound".into())
    );
    let beats = json!({ "agents": ["asker", "sitter"] });
    assert_eq!(stage.post("/v1/heartbeat", ASKER, &beats).await.0, StatusCode::FORBIDDEN);
    assert_eq!(
        stage.post("/v1/heartbeat", ASKER, &json!({ "agents": ["asker"] })).await.0,
        StatusCode::OK
    );

    let secret =
        stage.discord.add_channel(stage.guild, "secret", &[stage.moderator, stage.accounts[1]]);
    for path in [format!("state?channel={secret}"), format!("why?agent=asker&channel={secret}")] {
        let (status, problem) = stage.get(&format!("/v1/{path}"), ASKER).await;
        assert_eq!(
            (status, &problem["type"]),
            (StatusCode::FORBIDDEN, &"urn:dirigent:problem:not-here".into()),
            "{path}"
        );
    }
    stage.dirigent.channel(secret).set_mode(Mode::Chat).await.unwrap();
    let begin = json!({ "agent": "asker", "channel": secret.to_string(), "run": "1" });
    let (status, problem) = stage.post("/v1/begin", ASKER, &begin).await;
    assert_eq!(
        (status, &problem["type"]),
        (StatusCode::FORBIDDEN, &"urn:dirigent:problem:not-here".into()),
        "who speaks there is not told: {problem}"
    );
    let tool = json!({ "agent": "asker", "channel": secret.to_string(), "arguments": {} });
    let (status, _) = stage.post("/v1/tools/create-chat-channel", ASKER, &tool).await;
    assert_eq!(status, StatusCode::FORBIDDEN);

    let (status, channel) = stage.get(&format!("/v1/state?channel={}", stage.channel), ASKER).await;
    assert_eq!((status, &channel["mode"]), (StatusCode::OK, &"chat".into()), "{channel}");
    let path = format!("/v1/why?agent=asker&channel={}", stage.channel);
    let (status, why) = stage.get(&path, ASKER).await;
    assert_eq!((status, &why["allowed"]), (StatusCode::OK, &false.into()), "{why}");
}

#[tokio::test]
async fn tools_are_listed_and_carried_out_and_a_refusal_is_what_a_model_reads() {
    let stage = FrontStage::open().await;
    stage.discord.guild(stage.guild).set_administrator(stage.moderator, true);
    let (_, tools) = stage.get("/v1/tools", ASKER).await;
    assert_eq!(tools.as_array().unwrap().len(), 6);
    let channel = stage.channel.to_string();
    let call = |arguments| json!({ "agent": "asker", "channel": channel, "arguments": arguments });
    let (status, refused) =
        stage.post("/v1/tools/create-chat-channel", ASKER, &call(json!({}))).await;
    assert_eq!(
        (status, &refused["error"]),
        (StatusCode::UNPROCESSABLE_ENTITY, &"missing-argument".into())
    );
    let wanted = json!({ "name": "parsers", "participants": [stage.accounts[1].to_string()] });
    let (status, made) = stage.post("/v1/tools/create-chat-channel", ASKER, &call(wanted)).await;
    assert_eq!(status, StatusCode::OK, "{made}");
    let id = made["channelId"].as_str().unwrap().parse().unwrap();
    let seen = stage.discord.channel(id).audience();
    assert!(stage.accounts.iter().all(|account| seen.contains(account)), "{made}");
}

/// Its first call cannot come from a channel in which the registry knows it: its account must be there.
#[tokio::test]
async fn a_new_agent_makes_itself_known_with_an_account_that_is_in_the_channel() {
    let mut stage = FrontStage::open().await;
    stage.discord.guild(stage.guild).set_administrator(stage.moderator, true);
    let [here, elsewhere] = [(); 2].map(|()| {
        let account = stage.discord.add_bot();
        stage.discord.guild(stage.guild).add_member(account);
        account
    });
    let members = [stage.moderator, stage.person, stage.accounts[0], here];
    let channel = stage.discord.add_channel(stage.guild, "newcomers", &members);
    let chat = Arc::new(stage.discord.account(stage.moderator));
    let front = Front::builder(stage.dirigent.clone(), chat);
    stage.router = front.host("late", "0123456789abcdef", ["late"]).build().unwrap().router();
    let call = async |tool: &str, agent: &str, account: Value| {
        let arguments = json!({ "discordUserId": account, "agentName": "Late" });
        let call =
            json!({ "agent": agent, "channel": channel.to_string(), "arguments": arguments });
        let path = format!("/v1/tools/{tool}");
        let (status, answer) = stage.post(&path, "late.0123456789abcdef", &call).await;
        (status.as_u16(), answer)
    };
    let register = async |account: String| call("dirigent-register", "late", account.into()).await;
    for (status, answer) in [
        register(elsewhere.to_string()).await,
        register("here".to_owned()).await,
        call("dirigent-register", "late", here.get().into()).await,
        call("create-chat-channel", "late", here.to_string().into()).await,
        call("dirigent-register", "asker", here.to_string().into()).await,
    ] {
        assert_eq!(status, 403, "{answer}");
    }
    assert_eq!(register(stage.person.to_string()).await.0, 422, "a person is no agent");
    assert_eq!(register(stage.accounts[0].to_string()).await.0, 422, "it is another agent's");
    assert_eq!(stage.dirigent.agents().len(), 2);
    let (status, answer) = register(here.to_string()).await;
    assert_eq!(status, 200, "{answer}");
    let known = stage.dirigent.agents();
    let late = known.iter().find(|it| it.agent_id.as_str() == "late");
    assert_eq!(late.map(|it| it.discord_user_id), Some(here));
    let wanted = call("create-chat-channel", "late", here.to_string().into()).await;
    assert_eq!(wanted.0, 422, "now its tools are answered: {}", wanted.1);
}

/// What a word means is set once, in the library.
#[tokio::test]
async fn words_mean_what_the_settings_of_the_library_say() {
    let mut settings = Settings::default();
    settings.reading.human_marker = Some(HumanMarker("[human]".into()));
    let stage = FrontStage::open_with(settings, |library| library).await;
    stage.say("Who decides?");
    stage.turn_of("asker").await;
    stage.ask("begin", ME, json!({ "run": "1" })).await;
    let text = "A person does. [human]";
    let end = json!({ "run": "1", "outcome": "spoke", "text": text });
    assert_eq!(stage.ask("end", ME, end).await["accepted"], true);
    stage.discord.say(stage.channel, stage.accounts[0], text);
    stage.until(|floor| floor.is_none()).await;
    let status = stage.dirigent.channel(stage.channel).status().await.unwrap().unwrap();
    assert_eq!(status.silence, Some(dirigent::operate::Reason::AwaitingHuman));
}

/// The answer to an end may be lost, so that its program repeats it while the next run goes on.
#[tokio::test]
async fn an_end_that_is_told_again_takes_nothing_from_the_run_after_it() {
    let stage = FrontStage::open().await;
    let sitter = ("sitter", SITTER);
    let pass = |run: &str| json!({ "run": run, "outcome": "pass" });
    stage.say("One.");
    stage.turn_of("asker").await;
    stage.ask("begin", ME, json!({ "run": "1" })).await;
    stage.ask("end", ME, pass("1")).await;
    stage.turn_of("sitter").await;
    stage.ask("begin", sitter, json!({ "run": "1" })).await;
    stage.ask("end", sitter, pass("1")).await;
    stage.until(|floor| floor.is_none()).await;
    stage.say("Two.");
    stage.turn_of("asker").await;
    stage.ask("begin", ME, json!({ "run": "2" })).await;
    assert_eq!(stage.ask("end", ME, pass("1")).await["duplicate"], true);
    stage.ask("end", ME, json!({ "run": "2", "outcome": "failed" })).await;
    stage.say("Three.");
    stage.turn_of("sitter").await;
    stage.ask("begin", sitter, json!({ "run": "2" })).await;
    stage.ask("end", sitter, pass("2")).await;
    stage.turn_of("asker").await;
    let begun = stage.ask("begin", ME, json!({ "run": "3" })).await;
    let lines: Vec<_> = begun["missed"].as_array().unwrap().iter().map(|it| &it["line"]).collect();
    let told = |words: &str| lines.iter().any(|it| it.as_str().unwrap().ends_with(words));
    assert!(told(": Two.") && told(": Three.") && !told(": One."), "{lines:?}");
}

/// An account without the permission is shown an empty history, which must not be taken for silence.
#[tokio::test]
async fn what_the_moderator_may_not_read_is_not_told_as_nothing() {
    let stage = FrontStage::open().await;
    stage.discord.channel(stage.channel).set_history_hidden(stage.moderator, true);
    stage.say("Who writes the parser?");
    stage.turn_of("asker").await;
    let begun = stage.ask("begin", ME, json!({ "run": "1" })).await;
    assert_eq!((&begun["allowed"], begun.get("missed")), (&true.into(), None), "{begun}");
}

/// A program whose secret was changed is let go.
/// Which process acts for all channels.
#[derive(Clone, Default)]
struct Leases(Arc<AtomicBool>);

#[dirigent::async_trait]
impl Ownership for Leases {
    fn standing(&self, _: ChannelId) -> Standing {
        if self.0.load(Ordering::SeqCst) { Standing::Elsewhere } else { Standing::Held }
    }

    fn owner(&self, _: ChannelId) -> Option<Arc<str>> {
        Some("bot-2".into())
    }

    async fn changed(&self) -> Vec<ChannelId> {
        std::future::pending().await
    }
}

/// A process hears no events of another one's channels, so a stream that waited for them would be silent for ever.
#[tokio::test]
async fn a_stream_of_one_channel_says_which_process_acts_for_it() {
    let leases = Leases::default();
    let ownership = leases.clone();
    let make = |library: dirigent::host::Builder| library.ownership(ownership);
    let stage = FrontStage::open_with(Settings::default(), make).await;
    let members = [&[stage.moderator, stage.person][..], &stage.accounts].concat();
    let other = stage.discord.add_channel(stage.guild, "other", &members);
    stage.dirigent.channel(other).set_mode(Mode::Chat).await.unwrap();
    let clock = ManualClock::new();
    let chat = Arc::new(stage.discord.account(stage.moderator));
    let builder = Front::builder(stage.dirigent.clone(), chat).clock(Arc::new(clock.clone()));
    let router = builder.host("python", "0123456789abcdef", ["asker"]).build().unwrap().router();
    let open = async |channel: ChannelId| {
        let path = format!("/v1/turns?channel={channel}");
        let request = stage.request(Method::GET, &path, ASKER).body(Body::empty()).unwrap();
        router.clone().oneshot(request).await.unwrap()
    };
    let mut stream = open(stage.channel).await.into_body();
    stage.discord.say(other, stage.person, "Over here!");
    let mut events = stage.dirigent.events();
    while stage.dirigent.channel(other).floor().is_none() {
        events.next().await.unwrap();
    }
    stage.say("Who writes the parser?");
    let (name, data) = next(&mut stream).await;
    assert_eq!((&*name, &data["channel"]), ("your-turn", &stage.channel.to_string().into()));

    leases.0.store(true, Ordering::SeqCst);
    clock.advance(Duration::from_secs(5));
    let ended = tokio::time::timeout(Duration::from_secs(20), stream.frame()).await;
    assert!(ended.unwrap().is_none());
    let refused = open(stage.channel).await;
    assert_eq!(refused.status(), StatusCode::MISDIRECTED_REQUEST);
    let refused = refused.into_body().collect().await.unwrap().to_bytes();
    let refused: Value = serde_json::from_slice(&refused).unwrap();
    assert_eq!(refused["type"], "urn:dirigent:problem:elsewhere");
    assert!(refused["detail"].as_str().unwrap().starts_with("bot-2 acts for this"), "{refused}");
}

#[tokio::test]
async fn a_stream_ends_after_a_quarter_of_an_hour() {
    let stage = FrontStage::open().await;
    let clock = ManualClock::new();
    let chat = Arc::new(stage.discord.account(stage.moderator));
    let builder = Front::builder(stage.dirigent.clone(), chat).clock(Arc::new(clock.clone()));
    let front = builder.host("python", "0123456789abcdef", ["asker"]).build().unwrap();
    let request = stage.request(Method::GET, "/v1/turns", ASKER).body(Body::empty()).unwrap();
    let mut stream = front.router().oneshot(request).await.unwrap().into_body();
    clock.advance(Duration::from_secs(15 * 60 - 1));
    assert!(stream.frame().now_or_never().is_none());
    clock.advance(Duration::from_secs(1));
    let ended = tokio::time::timeout(Duration::from_secs(20), stream.frame()).await;
    assert!(ended.unwrap().is_none());
}
