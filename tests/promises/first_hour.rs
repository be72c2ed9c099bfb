//! What the first hour with the library would otherwise swallow, or let be misused (N1, N2, N9).

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::hooks::RunReport;
use dirigent::host::BuildError;
use dirigent::operate::{AgentFault, DriverEnd, EventOrLag, FailedCalls, Reason};
use dirigent::ports::{
    ApiError, Embed, ErrorKind, HistoryRequest, Identity, Post, PostFailure, Posted,
};
use dirigent::settings::Pacing;
use dirigent::snapshot::{AgentState, PhaseKind};
use dirigent::{
    Agent, AgentError, CallError, ChannelId, ChatMessage, Clock as _, Config, Denial, Dirigent,
    DiscordApi, Driver, MemoryIdentities, MessageId, Mode, Reply, Settings, SystemClock, Turn,
    UserId, agent_fn,
};
use dirigent_testkit::memory_discord::{Call, Event, Fault, MemoryAccount};
use dirigent_testkit::scripted_agent::{Act, Line, SeenTurn};
use dirigent_testkit::{Log, ManualClock, MemoryDiscord};
use dirigent_verify::stage::{Setup, Stage};
use futures_util::StreamExt as _;

use super::kit::{HOUR, MINUTE, SECOND};

/// "a" has the floor, and its host asks.
fn granted() -> Stage {
    let mut stage =
        Setup::new().hooked("a", []).hosted("b", [Act::Hang.into()]).without_pump().stage();
    stage.chat();
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).wake(Some(&"a".into())).await }).unwrap();
    stage.advance(SECOND);
    stage
}

/// N1
#[test]
fn a_permit_that_is_dropped_before_its_run_is_ended_is_warned_of() {
    let (mut stage, log) = (granted(), Log::default());
    let channel = stage.channel();
    let permit =
        stage.call(move |d| async move { d.channel(channel).may_speak(&"a".into(), None).await });
    log.during(|| drop(permit.unwrap()));
    let lines = log.lines();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("a permit was dropped before its run was ended"), "{lines:?}");
    assert!(lines[0].contains("agent=a"), "{lines:?}");
}

/// N1
#[test]
fn a_permit_that_is_ended_or_kept_or_whose_turn_was_taken_away_is_not_warned_of() {
    for how in ["ended", "kept", "taken away"] {
        let (mut stage, log) = (granted(), Log::default());
        let channel = stage.channel();
        let permit = stage
            .call(move |d| async move { d.channel(channel).may_speak(&"a".into(), None).await });
        let permit = permit.unwrap();
        if how == "taken away" {
            stage.call(move |d| async move { d.channel(channel).stop().await }).unwrap();
        }
        log.during(|| match how {
            "ended" => permit.end(RunReport::Pass).unwrap(),
            "kept" => permit.keep(),
            _ => drop(permit),
        });
        assert!(log.lines().is_empty(), "{how}: {:?}", log.lines());
    }
}

/// N1
#[test]
fn work_is_done_with_the_floor_or_not_at_all() {
    let mut stage = granted();
    let channel = stage.channel();
    let ran = stage.call(move |d| async move {
        let asked = d.clone();
        d.channel(channel)
            .run_if_allowed(&"a".into(), None, async |permit| {
                let status = asked.channel(channel).status().await.unwrap().unwrap();
                permit.end(RunReport::Text("Here I am")).unwrap();
                status.phase
            })
            .await
    });
    assert_eq!(ran.unwrap(), PhaseKind::Running, "it holds the floor while it works");
    let denied = stage.call(move |d| async move {
        d.channel(channel)
            .run_if_allowed(&"a".into(), None, async |_| panic!("it may not run"))
            .await
    });
    let Err(denial @ Denial::Denied { .. }) = denied else { panic!("{denied:?}") };
    assert!(!denial.to_string().is_empty() && denial.reason().is_some());
}

/// Refuses the moderator's token.
struct Refusing;

#[dirigent::async_trait]
impl DiscordApi for Refusing {
    fn sent_at(&self, message: MessageId) -> dirigent::ports::Timestamp {
        dirigent::ports::snowflake_time(message)
    }

    async fn me(&self) -> Result<UserId, ApiError> {
        Err(ApiError::new(ErrorKind::Unauthorized))
    }

    async fn post(&self, _: Post) -> Result<Posted, ApiError> {
        Err(ApiError::new(ErrorKind::Unauthorized))
    }

    async fn delete(&self, _: ChannelId, _: MessageId) -> Result<(), ApiError> {
        Err(ApiError::new(ErrorKind::Unauthorized))
    }

    async fn history(&self, _: HistoryRequest) -> Result<Vec<ChatMessage>, ApiError> {
        Err(ApiError::new(ErrorKind::Unauthorized))
    }

    async fn members(&self, _: ChannelId, _: Vec<UserId>) -> Result<Vec<UserId>, ApiError> {
        Err(ApiError::new(ErrorKind::Unauthorized))
    }
}

async fn ended(dirigent: &Dirigent) -> DriverEnd {
    match dirigent.channel(ChannelId::new(1)).stop().await {
        Err(CallError::Ended(end)) => end,
        other => panic!("{other:?}"),
    }
}

/// N2
#[tokio::test]
async fn a_call_after_the_drivers_end_says_why_it_has_ended() {
    let built = Dirigent::builder(Refusing).build();
    let (dirigent, driver) = built.unwrap();
    let error = tokio::spawn(driver.run()).await.unwrap().unwrap_err();
    let end = ended(&dirigent).await;
    assert_eq!(end, DriverEnd::NotStarted(error.to_string().into()));
    assert!(end.to_string().contains("token is not valid"), "{end}");
}

/// Has nothing to say.
struct Idle;

#[dirigent::async_trait]
impl Agent for Idle {
    async fn speak(&self, _: Turn) -> Result<Reply, AgentError> {
        Ok(Reply::Pass)
    }
}

/// N1
#[tokio::test]
async fn agents_that_share_an_account_or_have_none_end_the_start_with_a_reason() {
    let discord = MemoryDiscord::new(Arc::new(SystemClock::new()));
    let (moderator, a) = (discord.add_bot(), discord.add_bot());
    let start = async |accounts: [Arc<dyn DiscordApi>; 2]| {
        let [one, other] = accounts;
        let builder = Dirigent::builder(discord.account(moderator));
        let (_, driver) = builder.host("a", Idle, one).host("b", Idle, other).build().unwrap();
        tokio::spawn(driver.run()).await.unwrap().unwrap_err()
    };
    let account = |user| Arc::new(discord.account(user)) as Arc<dyn DiscordApi>;
    let shared = start([account(a), account(a)]).await;
    let own = start([account(a), account(moderator)]).await;
    for (error, told) in [
        (shared, "agent b acts as the Discord account of a; give each its own account"),
        (
            own,
            "agent b acts as the Discord account of the library itself; give each its own account",
        ),
    ] {
        assert!(error.to_string().starts_with(told), "{error}");
    }
    let unknown = start([account(a), Arc::new(Refusing)]).await;
    assert!(
        unknown.to_string().starts_with("the Discord account of agent b is not known"),
        "{unknown}"
    );
}

/// N2
#[test]
fn a_call_after_a_shutdown_says_so() {
    let mut stage = granted();
    let (old, channel) = (stage.dirigent(), stage.channel());
    stage.crash();
    stage.restart();
    let late = stage.call(move |_| async move { old.channel(channel).stop().await });
    assert!(matches!(late, Err(CallError::Ended(DriverEnd::Dropped))), "{late:?}");
    drop(stage.begin(|d| async move { d.shutdown(SECOND).await }));
    stage.advance(SECOND * 2);
    let late = stage.call(move |d| async move { d.channel(channel).stop().await });
    assert!(matches!(late, Err(CallError::Ended(DriverEnd::ShutDown))), "{late:?}");
}

/// N9
#[test]
fn a_listener_is_told_which_agent_failed_and_how() {
    let mut stage =
        Setup::new().hosted("a", [Act::Fail.into()]).hosted("b", [Act::Panic.into()]).stage();
    let mut events = stage.dirigent().events();
    stage.chat();
    stage.say("Hello");
    stage.advance(MINUTE);
    let mut failures = Vec::new();
    while let Some(heard) = events.try_next() {
        let told = heard.to_string();
        if let EventOrLag::AgentFailed(failure) = heard {
            assert_eq!(told, failure.to_string());
            failures.push((failure.agent.to_string(), matches!(failure.fault, AgentFault::Panic)));
        }
    }
    assert_eq!(failures[..2], [("a".to_owned(), false), ("b".to_owned(), true)]);
}

/// N9
#[test]
fn a_listener_is_told_of_a_reply_that_could_not_be_posted() {
    let mut stage = Setup::new().hosted("a", ["a1".into()]).hosted("b", []).stage();
    let mut events = stage.dirigent().events();
    stage.chat();
    let account = stage.agent("a").user();
    stage.discord().inject(|faults| faults.next_by(account, Call::Post, Fault::Forbidden));
    stage.say("Hello");
    stage.advance(HOUR);
    let mut heard = std::iter::from_fn(|| events.try_next());
    let lost = heard
        .find_map(|heard| if let EventOrLag::ReplyLost(lost) = heard { Some(lost) } else { None });
    let lost = lost.expect("it was told");
    assert_eq!((lost.agent.as_str(), lost.posted, lost.parts), ("a", 0, 1));
    assert_eq!(lost.failure.map(|failure| failure.kind), Some(ErrorKind::Forbidden));
}

/// WY4
#[test]
fn a_reply_that_is_refused_keeps_its_cause_and_comes_back_once() {
    let blocked = PostFailure { kind: ErrorKind::Invalid, code: Some(200_000) };
    let words = "a text that is\nnot wanted";
    let says = |words: &str| Line::from(Reply::text(words));
    let mut stage = Setup::new().hosted("a", []).hosted("b", []).stage();
    let mut events = stage.dirigent().events();
    stage.chat();
    let (account, channel) = (stage.agent("a").user(), stage.channel());
    let mut ask = |stage: &mut Stage, words: &str, fault: Option<Fault>| {
        stage.agent("a").then(says(words));
        if let Some(fault) = fault {
            stage.discord().inject(|faults| faults.next_by(account, Call::Post, fault));
        }
        stage.say("Hello");
        stage.until_dormant();
        let why = stage.call(move |d| async move { d.channel(channel).explain(&"a".into()).await });
        let heard = std::iter::from_fn(|| events.try_next()).filter_map(|heard| {
            if let EventOrLag::ReplyLost(lost) = heard { Some(lost.to_string()) } else { None }
        });
        (why.unwrap(), heard.collect::<Vec<_>>())
    };
    let (why, lost) = ask(&mut stage, words, Some(Fault::Blocked { code: 200_000 }));
    assert_eq!(why.refused, Some(blocked));
    let told = "the chat does not take what it says (code 200000)";
    assert!(why.to_string().ends_with(&format!("Its last reply was not posted: {told}.")), "{why}");
    assert!(matches!(&lost[..], [lost] if lost.ends_with(told)), "{lost:?}");
    // It comes back with its cause. What is said again, and refused again, does not.
    ask(&mut stage, "a text that is not wanted", Some(Fault::Blocked { code: 200_000 }));
    ask(&mut stage, "a text  that is not wanted", Some(Fault::Blocked { code: 200_000 }));
    let back = |stage: &Stage| -> Vec<_> {
        let turns = stage.agent("a").turns().into_iter();
        turns.filter_map(|turn| Some((turn.late_answer?, turn.post_failure))).collect()
    };
    ask(&mut stage, words, None);
    let first = (words.to_owned(), Some(blocked));
    assert_eq!(back(&stage), [first]);
    let (why, _) = ask(&mut stage, "fine", None);
    assert_eq!(why.refused, None, "a reply is in the channel");
    // A right that is missing says nothing of the words: they come back each time.
    for _ in 0..3 {
        ask(&mut stage, "again", Some(Fault::Forbidden));
    }
    ask(&mut stage, "fine", None);
    let forbidden = PostFailure { kind: ErrorKind::Forbidden, code: None };
    assert_eq!(back(&stage)[1..], vec![("again".to_owned(), Some(forbidden)); 3]);
}

/// WY4
#[test]
fn what_is_refused_comes_back_again_where_it_is_something_else() {
    let shown = |title: &str| Reply::Pass.embed(Embed::new().title(title));
    let mut stage = Setup::new().hosted("a", []).hosted("b", []).stage();
    stage.chat();
    let account = stage.agent("a").user();
    let refuse = |stage: &mut Stage, reply: Reply| {
        stage.agent("a").then(Line::from(reply));
        let fault = Fault::Blocked { code: 200_000 };
        stage.discord().inject(|faults| faults.next_by(account, Call::Post, fault));
        stage.say("Hello");
        stage.until_dormant();
    };
    let end = " and much more that is the same, word for word, to the very end of the text";
    for reply in [
        shown("first"),
        shown("second"),
        shown("second"),
        Reply::text(format!("Darn it{end}")),
        // As long, and with the same end.
        Reply::text(format!("Drat it{end}")),
        Reply::text(format!("**Drat** it{end}")),
        Reply::text("done"),
        Reply::Pass,
    ] {
        refuse(&mut stage, reply);
    }
    let back = |turn: SeenTurn| {
        turn.post_failure?;
        let title = turn.late_embeds.first().and_then(|embed| embed.title.clone());
        title.or(turn.late_answer.map(|words| words.replace(end, "")))
    };
    let back: Vec<_> = stage.agent("a").turns().into_iter().filter_map(back).collect();
    assert_eq!(back, ["first", "second", "Darn it", "Drat it", "done"]);
}

/// An agent whose model refuses the key.
struct Refused;

#[async_trait::async_trait]
impl Agent for Refused {
    async fn speak(&self, _: Turn) -> Result<Reply, AgentError> {
        Err("a secret".into())
    }

    fn failure_class(&self, error: &AgentError) -> Option<String> {
        Some(format!("the key is refused ({} bytes)", error.to_string().len()))
    }
}

/// WY8
#[test]
fn an_agent_that_fails_is_named_with_the_kind_of_failure_and_never_with_its_text() {
    let mut stage = Setup::new().hosted("a", []).hosted("b", []).stage();
    let account = stage.discord().account(stage.agent("a").user());
    stage.dirigent().host("a", Refused, account);
    let log = Log::default();
    let mut events = stage.dirigent().events();
    let kind = "the key is refused (8 bytes)";
    log.during(|| {
        stage.chat();
        stage.say("Hello");
        stage.until_dormant();
    });
    let told = log.lines().join("\n");
    assert!(told.contains(kind) && !told.contains("a secret"), "{told}");
    let heard = std::iter::from_fn(|| events.try_next()).find_map(|heard| {
        if let EventOrLag::AgentFailed(failure) = heard { failure.class } else { None }
    });
    assert_eq!(heard.as_deref(), Some(kind));
    let channel = stage.channel();
    let why = stage.call(move |d| async move { d.channel(channel).explain(&"a".into()).await });
    assert!(why.unwrap().to_string().ends_with(&format!("Its last call failed: {kind}.")));
    let status = stage.call(move |d| async move { d.channel(channel).status().await });
    let failing = status.unwrap().unwrap().failing;
    let failed = FailedCalls { number: 1, class: Some(kind.into()) };
    assert_eq!(failing, [("a".into(), failed)]);
}

/// An agent whose host says too much of its errors, nothing, or does not survive them.
struct Careless(Mutex<Vec<Option<String>>>);

#[async_trait::async_trait]
impl Agent for Careless {
    async fn speak(&self, _: Turn) -> Result<Reply, AgentError> {
        if self.0.lock().unwrap().is_empty() { Ok(Reply::Pass) } else { Err("no".into()) }
    }

    fn failure_class(&self, _: &AgentError) -> Option<String> {
        let class = self.0.lock().unwrap().remove(0);
        assert_ne!(class.as_deref(), Some("panic"), "a bug in the host");
        class
    }
}

/// WY8
#[test]
fn a_kind_of_failure_is_one_short_line_and_a_panic_in_it_is_a_failed_call() {
    let long = "a page\nof\u{2028}HTML ".repeat(1_000);
    let classes = [Some(long), Some(" \n".into()), None, Some("panic".into())];
    let mut stage = Setup::new().hosted("a", []).hosted("b", []);
    stage = stage.settings(|settings| settings.hooks.offline_after_failures = Some(4));
    let mut stage = stage.stage();
    let account = stage.discord().account(stage.agent("a").user());
    let careless = Careless(Mutex::new(classes.to_vec()));
    stage.dirigent().host("a", careless, account);
    let mut events = stage.dirigent().events();
    stage.chat();
    let mut told = Vec::new();
    for number in 1..=4 {
        stage.say("Hello");
        stage.until_dormant();
        let heard = std::iter::from_fn(|| events.try_next()).filter_map(|heard| {
            if let EventOrLag::AgentFailed(failure) = heard { Some(failure.class) } else { None }
        });
        told.extend(heard);
        let failing = stage.status().unwrap().failing;
        let numbers: Vec<_> = failing.iter().map(|(_, failed)| failed.number).collect();
        assert_eq!(numbers, if number < 4 { vec![number] } else { vec![] });
    }
    let first = told.remove(0).unwrap();
    assert!(first.starts_with("a page of HTML a page") && first.ends_with('…'), "{first}");
    assert!(first.chars().count() <= 201 && !first.contains(['\n', '\r', '\u{2028}']), "{first}");
    assert_eq!(told, [None, None, None]);
    let agents = stage.status().unwrap().agents;
    assert!(agents.contains(&("a".into(), AgentState::Offline)), "{agents:?}");
}

/// N9
#[test]
fn events_are_a_stream() {
    let mut stage = granted();
    let mut events = stage.dirigent().events();
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).stop().await }).unwrap();
    stage.settle();
    let first = futures_util::FutureExt::now_or_never(events.by_ref().ready_chunks(8).next());
    assert!(matches!(first, Some(Some(chunk)) if !chunk.is_empty()));
}

/// N9
#[tokio::test]
async fn the_hook_for_failed_agents_is_told_what_they_returned_and_a_hook_that_panics_ends_nothing()
{
    use dirigent::ports::Identity;
    use dirigent::{Agent, AgentError, Reply, Turn};

    struct Broken;

    #[dirigent::async_trait]
    impl Agent for Broken {
        async fn speak(&self, _: Turn) -> Result<Reply, AgentError> {
            Err("the model is out of order".into())
        }
    }

    let discord = MemoryDiscord::new(Arc::new(SystemClock::new()));
    let (moderator, person) = (discord.add_bot(), discord.add_human());
    let accounts = [discord.add_bot(), discord.add_bot()];
    let identities = ["a", "b"].into_iter().zip(accounts).map(|(name, discord_user_id)| Identity {
        discord_user_id,
        agent_id: name.into(),
        agent_name: name.to_owned(),
    });
    let identities = MemoryIdentities::with(identities.collect::<Vec<_>>()).unwrap();
    let guild = discord.add_guild(moderator);
    let members = [moderator, person, accounts[0], accounts[1]];
    let channel = discord.add_channel(guild, "talk", &members);
    let told = Arc::<Mutex<Vec<String>>>::default();
    let telling = Arc::clone(&told);
    let (dirigent, driver) = Dirigent::builder(discord.account(moderator))
        .identities(identities)
        .host("a", Broken, discord.account(accounts[0]))
        .host("b", Broken, discord.account(accounts[1]))
        .on_agent_error(move |failure| {
            telling.lock().unwrap().push(failure.to_string());
            panic!("the hook is out of order, too");
        })
        .build()
        .unwrap();
    let driver = tokio::spawn(driver.run());
    dirigent.channel(channel).set_mode(Mode::Chat).await.unwrap();
    let said = discord.say(channel, person, "Hello");
    dirigent.message_created(discord.message(channel, said).unwrap()).await.unwrap();
    for _ in 0..10_000 {
        if told.lock().unwrap().len() > 1 {
            break;
        }
        tokio::task::yield_now().await;
    }
    let told = told.lock().unwrap().clone();
    assert_eq!(told[0], format!("a failed in channel {channel}: the model is out of order"));
    assert!(told[1].starts_with("b failed"), "the hook's panic has not ended the driver: {told:?}");
    dirigent.shutdown(Duration::ZERO).await;
    driver.await.unwrap().unwrap();
}

/// Says the same in each turn.
struct Repeats(&'static str);

#[dirigent::async_trait]
impl Agent for Repeats {
    async fn speak(&self, _: Turn) -> Result<Reply, AgentError> {
        Ok(self.0.into())
    }
}

/// N15
#[tokio::test]
async fn a_channel_may_have_rules_of_its_own_and_hosted_agents_need_no_registry() {
    let discord = MemoryDiscord::new(Arc::new(SystemClock::new()));
    let [moderator, a, b] = [discord.add_bot(), discord.add_bot(), discord.add_bot()];
    let person = discord.add_human();
    let guild = discord.add_guild(person);
    let members = [moderator, a, b, person];
    let [brief, usual] = ["brief", "usual"].map(|name| discord.add_channel(guild, name, &members));
    let own = Arc::new(Config::default().with(|config| config.ceilings.chat.turns = Some(2)));
    let settings = Settings::default().with(|settings| settings.limits.pacing = Pacing::off());
    let (dirigent, driver) = Dirigent::builder(discord.account(moderator))
        .host("a", Repeats("I agree"), discord.account(a))
        .host("b", Repeats("So do I"), discord.account(b))
        .config(Config::default().with(|config| config.ceilings.chat.turns = Some(5)))
        .config_for(move |channel| (channel == brief).then(|| Arc::clone(&own)))
        .settings(settings)
        .build()
        .unwrap();
    let driver = tokio::spawn(driver.run());
    for (channel, most) in [(brief, 2), (usual, 5)] {
        dirigent.channel(channel).set_mode(Mode::Chat).await.unwrap();
        let said = discord.say(channel, person, "Hello");
        dirigent.message_created(discord.message(channel, said).unwrap()).await.unwrap();
        let mut status = None;
        for _ in 0..10_000 {
            status = dirigent.channel(channel).status().await.unwrap();
            if status.as_ref().is_some_and(|now| now.silence == Some(Reason::CeilingReached)) {
                break;
            }
            tokio::task::yield_now().await;
        }
        let status = status.unwrap();
        assert_eq!(
            (status.turns_since_human, status.silence),
            (most, Some(Reason::CeilingReached))
        );
    }
    let other = Config::default().with(|config| config.ceilings.chat.turns = Some(7));
    dirigent.reconfigure(other).await.unwrap();
    let status = dirigent.channel(brief).status().await.unwrap().unwrap();
    assert_eq!(status.silence, Some(Reason::CeilingReached), "its own rules stay");
    dirigent.shutdown(Duration::ZERO).await;
    driver.await.unwrap().unwrap();
}

/// N9
#[test]
fn a_hosted_agent_that_is_not_registered_is_warned_of() {
    let (mut stage, log) = (granted(), Log::default());
    let account = stage.discord().account(stage.agent("b").user());
    stage.dirigent().host("ghost", Repeats("I agree"), account);
    log.during(|| stage.call(|d| async move { d.identities_changed().await }).unwrap());
    let lines = log.lines();
    let is_told = |line: &String| line.contains("not in the registry") && line.contains("ghost");
    assert!(lines.iter().any(is_told), "{lines:?}");
}

/// A person's question is not lost with a failed call, and `explain` tells of the failure.
#[test]
fn an_agent_whose_call_failed_is_given_the_question_again_and_it_is_explained() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let clock = ManualClock::new();
        let discord = MemoryDiscord::new(Arc::new(clock.clone()));
        let [moderator, poet, critic] = [(); 3].map(|()| discord.add_bot());
        let person = discord.add_human();
        let members = [moderator, poet, critic];
        let table = discord.add_channel(discord.add_guild(person), "table", &members);
        let model = Arc::new(Mutex::new((false, Vec::new())));
        let asked = Arc::clone(&model);
        let fails = agent_fn(move |turn: Turn| {
            let missed: Vec<_> = turn.missed().iter().map(|it| it.content.to_string()).collect();
            let mut model = asked.lock().unwrap();
            let works = model.0;
            model.1.push(missed);
            async move { if works { Ok("An answer.".into()) } else { Err("502".into()) } }
        });
        let passes = agent_fn(|_: Turn| async { Ok(Reply::Pass) });
        let (dirigent, driver) = Dirigent::builder(discord.account(moderator))
            .clock(clock.clone())
            .host("poet", fails, discord.account(poet))
            .host("critic", passes, discord.account(critic))
            .build()
            .unwrap();
        tokio::spawn(driver.run());
        let channel = dirigent.channel(table);
        channel.set_mode(Mode::Chat).await.unwrap();
        tokio::spawn(discord.events().pump(dirigent.clone()));
        let is_asleep = async || {
            let status = channel.status().await.unwrap().unwrap();
            status.phase == PhaseKind::Dormant
        };
        discord.say(table, person, "What is new?");
        clock.run_until(is_asleep).await;
        let why = channel.explain(&"poet".into()).await.unwrap();
        assert!(why.failed_calls.is_some() && why.to_string().contains("failed."), "{why}");
        let failed = model.lock().unwrap().1.len();
        model.lock().unwrap().0 = true;
        discord.say(table, person, "Hello?");
        clock.run_until(async || model.lock().unwrap().1.len() > failed && is_asleep().await).await;
        let said: Vec<_> =
            discord.messages(table).iter().map(|it| it.content.to_string()).collect();
        assert_eq!(said[..3], ["What is new?", "Hello?", "An answer."]);
        assert_eq!(model.lock().unwrap().1[failed], ["What is new?", "Hello?"]);
        assert_eq!(channel.explain(&"poet".into()).await.unwrap().failed_calls, None);
    });
}

/// An account of a chat whose messages are shorter than Discord's.
struct Brief(MemoryAccount);

#[dirigent::async_trait]
impl DiscordApi for Brief {
    async fn me(&self) -> Result<UserId, ApiError> {
        self.0.me().await
    }

    async fn post(&self, post: Post) -> Result<Posted, ApiError> {
        self.0.post(post).await
    }

    async fn delete(&self, channel: ChannelId, message: MessageId) -> Result<(), ApiError> {
        self.0.delete(channel, message).await
    }

    async fn history(&self, request: HistoryRequest) -> Result<Vec<ChatMessage>, ApiError> {
        self.0.history(request).await
    }

    async fn members(
        &self,
        channel: ChannelId,
        among: Vec<UserId>,
    ) -> Result<Vec<UserId>, ApiError> {
        self.0.members(channel, among).await
    }

    fn sent_at(&self, message: MessageId) -> dirigent::ports::Timestamp {
        self.0.sent_at(message)
    }

    fn longest_message(&self) -> usize {
        300
    }
}

/// EZ1
#[tokio::test]
async fn a_reply_is_cut_where_the_chat_says_that_a_message_ends() {
    let discord = MemoryDiscord::new(Arc::new(SystemClock::new()));
    let [moderator, poet, critic] = [(); 3].map(|()| discord.add_bot());
    let person = discord.add_human();
    let members = [moderator, poet, critic];
    let table = discord.add_channel(discord.add_guild(person), "table", &members);
    let speaks = agent_fn(|turn: Turn| async move {
        Ok(if turn.is_asked() { Reply::text("word ".repeat(100)) } else { Reply::Pass })
    });
    let passes = agent_fn(|_: Turn| async { Ok(Reply::Pass) });
    let (dirigent, driver) = Dirigent::builder(Brief(discord.account(moderator)))
        .host("poet", speaks, Brief(discord.account(poet)))
        .host("critic", passes, Brief(discord.account(critic)))
        .build()
        .unwrap();
    tokio::spawn(driver.run());
    dirigent.channel(table).set_mode(Mode::Chat).await.unwrap();
    let mut events = discord.events();
    discord.say(table, person, "Speak");
    let mut lengths = Vec::new();
    while lengths.len() < 2 {
        let Some(Event::MessageCreated(message)) = events.next().await else { continue };
        if message.author == poet {
            lengths.push(message.content.chars().count());
        }
        dirigent.message_created(message).await.unwrap();
    }
    assert_eq!(lengths, [299, 199], "60 words, then 40");
}

/// EZ1: a chat whose messages are short takes what the moderator says, too, and a trigger keeps the mention that wakes.
#[tokio::test]
async fn what_the_moderator_says_is_cut_where_the_chat_says_that_a_message_ends() {
    let discord = MemoryDiscord::new(Arc::new(SystemClock::new()));
    let [moderator, poet, critic] = [(); 3].map(|()| discord.add_bot());
    let person = discord.add_human();
    let table = discord.add_channel(discord.add_guild(person), "table", &[moderator, poet, critic]);
    let identities = MemoryIdentities::new();
    for (name, user) in [("poet", poet), ("critic", critic)] {
        let agent_name = name.to_owned();
        identities
            .add(Identity { discord_user_id: user, agent_id: name.into(), agent_name })
            .unwrap();
    }
    let mut settings = Settings::default();
    settings.texts.trigger_template = "{identifier}<@{discordUserId}>".to_owned();
    settings.texts.trigger_identifier = "🎺".repeat(200);
    settings.texts.stopped_notice = "word ".repeat(100);
    let (dirigent, driver) = Dirigent::builder(Brief(discord.account(moderator)))
        .identities(identities)
        .settings(settings)
        .build()
        .unwrap();
    tokio::spawn(driver.run());
    dirigent.channel(table).set_mode(Mode::Chat).await.unwrap();
    let mut events = discord.events();
    let mut next = async || loop {
        let Some(Event::MessageCreated(message)) = events.next().await else { continue };
        dirigent.message_created(message.clone()).await.unwrap();
        if message.author == moderator {
            return message.content;
        }
    };
    discord.say(table, person, "Speak");
    let trigger = next().await;
    assert!([poet, critic].iter().any(|user| *trigger == format!("<@{user}>")), "{trigger}");
    discord.say(table, person, "stop");
    assert_eq!(next().await.chars().count(), 299);
}

/// WY4: what waits for an agent's next turn waits for as long as the process lives.
#[test]
fn what_was_not_posted_comes_back_however_long_the_channel_rests() {
    let blocked = PostFailure { kind: ErrorKind::Invalid, code: Some(200_000) };
    let reply = Line::from(Reply::text("a text"));
    let mut stage = Setup::new().hosted("a", [reply]).hosted("b", []).stage();
    stage.chat();
    let (account, channel) = (stage.agent("a").user(), stage.channel());
    let fault = Fault::Blocked { code: 200_000 };
    stage.discord().inject(|faults| faults.next_by(account, Call::Post, fault));
    stage.say("Hello");
    for _ in 0..3 {
        stage.advance(HOUR * 5);
        let why = stage.call(move |d| async move { d.channel(channel).explain(&"a".into()).await });
        assert_eq!(why.unwrap().refused, Some(blocked));
    }
    stage.say("And now?");
    stage.advance(MINUTE);
    let turn = stage.agent("a").turns().pop().unwrap();
    assert_eq!((turn.late_answer.as_deref(), turn.post_failure), (Some("a text"), Some(blocked)));
    // Once.
    stage.advance(HOUR * 5);
    stage.say("And then?");
    stage.advance(MINUTE);
    assert_eq!(stage.agent("a").turns().pop().unwrap().late_answer, None);
    // Who erases a channel wants nothing of it back.
    stage.agent("a").then(Line::from(Reply::text("a secret")));
    stage.discord().inject(|faults| faults.next_by(account, Call::Post, fault));
    stage.say("Hello");
    stage.advance(HOUR * 5);
    stage.call(move |d| async move { d.channel(channel).erase().await }).unwrap();
    stage.chat();
    stage.say("Hello");
    stage.advance(MINUTE);
    assert_eq!(stage.agent("a").turns().pop().unwrap().late_answer, None);
}

/// WY7
#[tokio::test]
async fn an_agent_that_is_hosted_twice_is_refused() {
    let discord = MemoryDiscord::new(Arc::new(SystemClock::new()));
    let [moderator, a, b] = [(); 3].map(|()| discord.add_bot());
    let hosting = |name: &str| {
        let builder = Dirigent::builder(discord.account(moderator));
        builder.host("poet", Idle, discord.account(a)).host(name, Idle, discord.account(b)).build()
    };
    assert!(hosting("critic").is_ok());
    let twice = hosting("poet").unwrap_err();
    assert!(matches!(&twice, BuildError::HostedTwice { agent } if agent.as_str() == "poet"));
    assert_eq!(
        twice.to_string(),
        "the agent poet is given twice; give each agent an id of its own"
    );
}

/// A moderator and a poet in a channel, in a chat whose time passes as the test says.
struct Quiet {
    clock: ManualClock,
    discord: MemoryDiscord,
    table: ChannelId,
    dirigent: Dirigent,
    driver: Driver,
}

impl Quiet {
    fn new() -> Self {
        let clock = ManualClock::new();
        let discord = MemoryDiscord::new(Arc::new(clock.clone()));
        let [moderator, poet, critic] = [(); 3].map(|()| discord.add_bot());
        let guild = discord.add_guild(discord.add_human());
        let table = discord.add_channel(guild, "table", &[moderator, poet, critic]);
        let (dirigent, driver) = Dirigent::builder(discord.account(moderator))
            .clock(clock.clone())
            .host("poet", Idle, discord.account(poet))
            .host("critic", Idle, discord.account(critic))
            .build()
            .unwrap();
        Self { clock, discord, table, dirigent, driver }
    }
}

/// WY15
#[tokio::test]
async fn a_call_to_a_driver_that_was_dropped_says_so_at_once() {
    let Quiet { clock, table, dirigent, driver, .. } = Quiet::new();
    let waits = tokio::spawn({
        let dirigent = dirigent.clone();
        async move { dirigent.channel(table).set_mode(Mode::Chat).await }
    });
    tokio::task::yield_now().await;
    assert!(!waits.is_finished(), "the driver may still be run");
    drop(driver);
    let late = dirigent.channel(table).stop().await;
    for refused in [waits.await.unwrap().map(drop), late] {
        assert!(matches!(&refused, Err(CallError::Ended(DriverEnd::Dropped))), "{refused:?}");
        assert!(refused.unwrap_err().to_string().contains("tokio::spawn(driver.run())"));
    }
    assert_eq!(clock.now(), ManualClock::START, "no time has passed");
}

/// A driver that nobody spawned: the log says so long before the call gives up.
#[tokio::test]
async fn a_call_that_waits_for_a_driver_says_in_the_log_what_is_missing() {
    let Quiet { clock, table, dirigent, driver, .. } = Quiet::new();
    let log = Log::default();
    let _listening = log.listen();
    let waits = tokio::spawn(async move { dirigent.channel(table).set_mode(Mode::Chat).await });
    clock.run_for(SECOND * 3).await;
    assert!(log.lines().iter().any(|line| line.contains("spawn Driver::run")), "{:?}", log.lines());
    clock.run_for(SECOND * 7).await;
    let refused = waits.await.unwrap().unwrap_err();
    assert!(matches!(refused, CallError::NotRunning), "{refused:?}");
    drop(driver);
}

/// What a bot has is one line of the log, and what people do to its channels another each.
#[tokio::test]
async fn a_start_says_what_it_has_and_a_stop_that_it_was_stopped() {
    let Quiet { clock, table, dirigent, driver, .. } = Quiet::new();
    let log = Log::with_info();
    let _listening = log.listen();
    tokio::spawn(driver.run());
    clock.run_for(SECOND).await;
    let told = |words: &str| log.lines().iter().filter(|line| line.contains(words)).count();
    assert_eq!(told("started"), 1, "{:?}", log.lines());
    for words in ["agents=2", "hosted=2", "channels=0", "memory, which a restart empties"] {
        assert_eq!(told(words), 1, "{words}: {:?}", log.lines());
    }
    assert_eq!(told("no channel has turns yet"), 1);
    dirigent.channel(table).set_mode(Mode::Chat).await.unwrap();
    dirigent.channel(table).stop().await.unwrap();
    dirigent.channel(table).resume().await.unwrap();
    for words in ["mode-changed", "stopped", "resumed"] {
        assert_eq!(told(words), 1, "{words}: {:?}", log.lines());
    }
}

/// A silence that the agents chose is no fault, and looks like one.
#[test]
fn that_no_agent_has_anything_to_add_and_that_a_reply_was_held_back_is_in_the_log() {
    let rain = |number: u32| Line::from(format!("{number}. The best thing about rain.").as_str());
    let lines = |first| [rain(first), rain(first + 2), rain(first + 4)];
    let mut stage = Setup::new().hosted("a", lines(1)).hosted("b", lines(2)).stage();
    stage.chat();
    let log = Log::with_info();
    log.during(|| {
        stage.say("What do you like about rain?");
        stage.until_dormant();
    });
    let lines = log.lines();
    for told in ["a reply said nothing new and was held back", "no agent has anything to add"] {
        let told: Vec<_> = lines.iter().filter(|line| line.contains(told)).collect();
        assert!(!told.is_empty() && told.iter().all(|it| it.starts_with("INFO")), "{lines:?}");
    }
}

/// A `main` that returns the error prints its `Debug`.
#[test]
fn an_error_of_the_builder_is_a_sentence_also_where_main_returns_it() {
    let discord = MemoryDiscord::default();
    let [moderator, a] = [(); 2].map(|()| discord.add_bot());
    let builder = Dirigent::builder(discord.account(moderator));
    let twice =
        builder.host("poet", Idle, discord.account(a)).host("poet", Idle, discord.account(a));
    let error = twice.build().unwrap_err();
    assert_eq!(format!("{error:?}"), error.to_string());
}

/// Turns are kept from two agents on.
#[tokio::test]
async fn a_start_with_one_agent_says_that_a_second_one_is_needed() {
    let clock = ManualClock::new();
    let discord = MemoryDiscord::new(Arc::new(clock.clone()));
    let [moderator, poet] = [(); 2].map(|()| discord.add_bot());
    let (_dirigent, driver) = Dirigent::builder(discord.account(moderator))
        .clock(clock.clone())
        .host("poet", Idle, discord.account(poet))
        .build()
        .unwrap();
    let log = Log::default();
    let _listening = log.listen();
    tokio::spawn(driver.run());
    clock.run_for(SECOND).await;
    let lines = log.lines();
    assert!(
        lines.iter().any(|it| it.contains("fewer than two agents are registered")),
        "{lines:?}"
    );
}

/// WY15
#[tokio::test]
async fn a_channel_that_does_not_exist_is_given_no_mode() {
    let Quiet { discord, table, dirigent, driver, .. } = Quiet::new();
    tokio::spawn(driver.run());
    let nowhere = dirigent.channel(ChannelId::new(77));
    let refused = nowhere.set_mode(Mode::Chat).await.unwrap_err();
    assert!(matches!(refused, CallError::NoChannel), "{refused:?}");
    assert!(refused.to_string().contains("there is no such channel"), "{refused}");
    assert!(!nowhere.is_known());
    dirigent.channel(table).set_mode(Mode::Chat).await.unwrap();
    // Whether it is still there, is no question for one that is known.
    discord.channel(table).delete();
    dirigent.channel(table).set_mode(Mode::None).await.unwrap();
}

/// WY15
#[tokio::test]
async fn a_host_that_tells_nothing_finds_that_in_the_log() {
    for tells in [false, true] {
        let Quiet { clock, table, dirigent, driver, .. } = Quiet::new();
        let log = Log::default();
        let _listening = log.listen();
        tokio::spawn(driver.run());
        dirigent.channel(table).set_mode(Mode::Chat).await.unwrap();
        if tells {
            dirigent.session_began(0);
        }
        let hints = || log.lines().iter().filter(|it| it.contains("nothing was told")).count();
        clock.run_for(SECOND * 7).await;
        assert_eq!(hints(), 0);
        for _ in 0..2 {
            clock.run_for(HOUR).await;
            assert_eq!(hints(), usize::from(!tells), "{:?}", log.lines());
        }
    }
}

/// WY15
#[tokio::test]
async fn a_start_that_fails_for_a_token_says_whose_it_is() {
    let poets = MemoryDiscord::new(Arc::new(SystemClock::new()));
    let [moderator, poet] = [(); 2].map(|()| poets.add_bot());
    let account = |user| Arc::new(poets.account(user)) as Arc<dyn DiscordApi>;
    for (own, hosted, whose) in [
        (
            Arc::new(Refusing) as Arc<dyn DiscordApi>,
            account(poet),
            "the library itself (the moderator)",
        ),
        (account(moderator), Arc::new(Refusing) as Arc<dyn DiscordApi>, "agent poet"),
    ] {
        let (_, driver) = Dirigent::builder(own).host("poet", Idle, hosted).build().unwrap();
        let error = driver.run().await.unwrap_err().to_string();
        let told = format!(
            "the Discord account of {whose} is not known: the account's token is not valid"
        );
        assert!(error.starts_with(&told), "{error}");
    }
}
