//! The driver carries turns out: triggers, clean-up, pace, and what it costs.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dirigent::Clock;
use dirigent::hooks::{AgentWaker, WakeCall, WakeOutcome};
use dirigent::ports::{ApiError, Mentions};
use dirigent::settings::{Pace, TriggerCleanup};
use dirigent::snapshot::PhaseKind;
use dirigent_testkit::ScriptedAgent;
use dirigent_testkit::memory_discord::{Call, Fault};
use dirigent_testkit::scripted_agent::{Act, Line};
use dirigent_verify::stage::{Setup, Stage};

const SECOND: Duration = Duration::from_secs(1);

fn hosted() -> Setup {
    Setup::new().hosted("a", ["a1".into(), "a2".into()]).hosted("b", ["b1".into()])
}

fn hooked() -> Setup {
    Setup::new().hooked("a", ["a1".into(), "a2".into()]).hooked("b", ["b1".into()])
}

fn long() -> String {
    (0..900).map(|n| format!("word{n}")).collect::<Vec<_>>().join(" ")
}

fn one_round(setup: Setup) -> Stage {
    let mut stage = setup.stage();
    stage.chat();
    stage.say("Hello");
    stage.until_dormant();
    stage.advance(SECOND);
    assert_eq!(stage.points().breaches(), [""; 0], "I2: write first, effect second");
    stage
}

#[test]
fn hosted_agents_speak_in_turn_and_then_fall_silent() {
    let stage = one_round(hosted());
    assert_eq!(stage.words(), ["Hello", "a1", "b1", "a2"]);
}

/// R197, R255
#[test]
fn a_trigger_wakes_an_agent_of_the_host_and_is_removed_again() {
    let stage = one_round(hooked());
    assert_eq!(stage.words(), ["Hello", "a1", "b1", "a2"]);
    assert_eq!(stage.moderation(stage.channel()), [""; 0]);
}

/// R255
#[test]
fn a_host_that_asks_by_itself_is_not_notified() {
    let mut stage = hooked().settings(|settings| settings.hooks.notify = false).stage();
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND);
    assert_eq!(stage.moderation(stage.channel()), [""; 0]);
    assert_eq!(stage.discord().calls().of(Call::Post), 0, "nobody is woken");
    let channel = stage.channel();
    let asked =
        stage.call(move |d| async move { d.channel(channel).may_speak(&"a".into(), None).await });
    assert!(asked.is_ok(), "the turn is there all the same");
}

/// R197
#[test]
fn the_words_of_a_trigger_are_the_hosts() {
    let stage = one_round(
        hooked()
            .settings(|settings| {
                settings.texts.trigger_template = "<@{discordUserId}> your turn".into();
            })
            .config(|config| config.trigger_cleanup = TriggerCleanup::Never),
    );
    let first = format!("<@{}> your turn", stage.agent("a").user());
    assert_eq!(stage.moderation(stage.channel())[0], first);
}

/// R194
#[test]
fn a_trigger_is_never_posted_by_the_agent_that_it_wakes() {
    let stage = one_round(hooked());
    for post in stage.discord().take_posts() {
        if let Mentions::User(addressed) = post.mentions {
            assert_eq!(post.author, stage.moderator());
            assert_ne!(post.author, addressed);
        }
    }
}

/// R190
#[test]
fn a_trigger_is_not_a_message_of_the_conversation() {
    let mut stage = one_round(hooked());
    let before = stage.status().unwrap().turn;
    let (channel, moderator) = (stage.channel(), stage.moderator());
    stage.discord().say(channel, moderator, "<@1>➡️");
    stage.advance(SECOND * 60);
    assert_eq!(stage.status().unwrap().turn, before);
    let turns = stage.agents().flat_map(ScriptedAgent::turns);
    assert!(turns.flat_map(|turn| turn.missed).all(|text| !text.contains("➡️")));
}

/// F21
#[test]
fn nobody_is_pinged_but_the_agent_addressed() {
    let stage = one_round(hosted().hooked("c", ["@everyone <@1> look".into()]));
    let allowed = stage.agent("c").user();
    let posts = stage.discord().take_posts();
    let own = posts.iter().filter(|post| post.author != allowed);
    assert!(own.clone().count() > 4);
    for post in own {
        assert!(
            matches!(post.mentions, Mentions::None) || post.mentions == Mentions::User(allowed)
        );
        assert!(post.chars <= 2_000 && !post.nonce.as_str().is_empty(), "I15");
    }
}

/// F13
#[test]
fn a_lost_answer_makes_no_second_trigger() {
    let mut stage = hooked().stage();
    stage.chat();
    let moderator = stage.moderator();
    stage.discord().inject(|faults| faults.next_by(moderator, Call::Post, Fault::LostAnswer));
    stage.say("Hello");
    stage.until_dormant();
    let posts = stage.discord().take_posts();
    let nonce = posts[0].nonce;
    let same: Vec<_> = posts.iter().filter(|post| post.nonce == nonce).collect();
    assert_eq!(same.len(), 1, "the event tells that it arrived");
    assert_eq!(stage.words(), ["Hello", "a1", "b1", "a2"]);
    assert!(stage.moderation(stage.channel()).is_empty(), "it is removed like any other");
}

/// F14
#[test]
fn triggers_for_one_agent_keep_their_pace() {
    let lines = |name: &'static str| (0..40).map(move |n| Line::from(format!("{name}{n}")));
    let pace = Pace { burst: 3, window: SECOND * 60 };
    let mut stage = Setup::new()
        .hooked("a", lines("a"))
        .hooked("b", lines("b"))
        .settings(|settings| settings.limits.pacing.agent = Some(pace))
        .config(|config| {
            config.ceilings.chat.turns = Some(20);
            config.deadlines.start = None;
        })
        .stage();
    stage.chat();
    stage.say("Hello");
    stage.until_dormant();
    let to = Mentions::User(stage.agent("a").user());
    let posts = stage.discord().take_posts();
    let at: Vec<_> = posts.iter().filter(|p| p.mentions == to).map(|p| p.at).collect();
    assert!(at.len() >= 9, "{at:?}");
    for window in at.windows(4) {
        assert!(window[3].since(window[0]) >= pace.window, "{window:?}");
    }
}

/// R113
#[test]
fn a_failing_deletion_neither_undoes_nor_delays_the_advance() {
    let mut stage = hooked().stage();
    stage.chat();
    for _ in 0..20 {
        stage.discord().inject(|faults| faults.next(Call::Delete, Fault::Forbidden));
    }
    stage.say("Hello");
    stage.until_dormant();
    assert_eq!(stage.words(), ["Hello", "a1", "b1", "a2"]);
    assert!(!stage.moderation(stage.channel()).is_empty());
}

#[test]
fn the_last_trigger_is_removed_with_the_next_one() {
    let stage = one_round(hooked().config(|c| c.trigger_cleanup = TriggerCleanup::OnNext));
    assert_eq!(stage.moderation(stage.channel()).len(), 1);
}

/// I17
#[test]
fn a_hosted_turn_costs_one_post_and_a_boundary_one_member_list() {
    let mut stage = hosted().stage();
    stage.chat();
    let before = stage.discord().calls();
    stage.say("Hello");
    stage.until_dormant();
    let calls = stage.discord().calls().since(&before);
    assert_eq!((calls.of(Call::Post), calls.of(Call::Members)), (3, 3));
    assert_eq!(calls.total(), 6, "no poll, no deletion");
}

/// I17
#[test]
fn a_triggered_turn_costs_a_post_and_a_deletion() {
    let mut stage = hooked().post_first().receipts().stage();
    stage.chat();
    let before = stage.discord().calls();
    stage.say("Hello");
    stage.until_dormant();
    let calls = stage.discord().calls().since(&before);
    let (turns, replies) = (6, 3);
    assert_eq!(stage.status().unwrap().turn.get(), turns);
    assert_eq!(calls.of(Call::Post), turns + replies);
    assert_eq!(calls.of(Call::Delete), turns);
    assert_eq!(calls.of(Call::History), 0, "F15: no poll after a receipt");
}

#[test]
fn a_direct_waker_costs_nothing_beside_the_reply_and_brings_what_was_missed() {
    let stage = one_round(hooked().direct());
    assert_eq!(stage.discord().calls().of(Call::Post), 3);
    let calls = stage.wake_calls();
    let missed: Vec<Vec<_>> =
        calls.iter().map(|call| call.missed.iter().map(|m| &*m.content).collect()).collect();
    assert_eq!(missed[..3], [vec!["Hello"], vec!["Hello", "a1"], vec!["b1"]]);
}

/// Calls nobody, and counts.
#[derive(Clone, Default)]
struct Late(Arc<AtomicUsize>);

#[dirigent::async_trait]
impl AgentWaker for Late {
    async fn wake(&self, _: WakeCall) -> Result<WakeOutcome, ApiError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(WakeOutcome::Delivered)
    }
}

/// N15
#[test]
fn a_waker_may_be_set_once_the_library_is_built_and_stays() {
    let mut stage = hooked().stage();
    stage.chat();
    let (late, second) = (Late::default(), Late::default());
    assert!(stage.dirigent().set_waker(late.clone()));
    assert!(!stage.dirigent().set_waker(second.clone()), "there is one");
    let before = stage.discord().calls();
    stage.say("Hello");
    stage.settle();
    assert_eq!(stage.discord().calls().since(&before).of(Call::Post), 0, "no trigger");
    let calls = [late, second].map(|waker| waker.0.load(Ordering::Relaxed));
    assert_eq!(calls, [1, 0]);
}

#[test]
fn missed_messages_come_in_order_and_without_the_agents_own() {
    let stage = one_round(hosted());
    let (a, b) = (stage.agent("a").turns(), stage.agent("b").turns());
    assert_eq!(a[0].missed, ["Hello"]);
    assert_eq!(b[0].missed, ["Hello", "a1"]);
    assert_eq!(a[1].missed, ["b1"]);
    assert_eq!(b[1].missed, ["a2"]);
}

/// Panics before there is a future.
struct Hasty;

impl dirigent::Agent for Hasty {
    fn speak<'a, 'b>(
        &'a self,
        _: dirigent::Turn,
    ) -> Pin<Box<dyn Future<Output = Spoken> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        panic!("it panics by script")
    }
}

type Spoken = Result<dirigent::Reply, dirigent::AgentError>;

#[test]
fn a_panic_in_the_call_itself_ends_its_turn_and_nothing_else() {
    let mut stage = hosted().stage();
    stage.chat();
    let account = Arc::new(stage.discord().account(stage.agent("a").user()));
    stage.dirigent().host("a", Hasty, account);
    stage.say("Hello");
    stage.until_dormant();
    assert_eq!(stage.words(), ["Hello", "b1"]);
}

#[test]
fn a_panic_in_an_agent_ends_its_turn_and_nothing_else() {
    let stage = one_round(
        Setup::new()
            .hosted("a", [Act::Panic.into(), "a1".into()])
            .hosted("b", ["b1".into()])
            .hosted("c", [Act::Fail.into()]),
    );
    assert_eq!(stage.words(), ["Hello", "b1", "a1"]);
}

#[test]
fn a_silent_agent_is_triggered_once_more_and_then_skipped() {
    let mut stage = hooked().without_pump().stage();
    stage.chat();
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).wake(None).await }).unwrap();
    stage.until_dormant();
    let to = Mentions::User(stage.agent("a").user());
    let posts = stage.discord().take_posts();
    let nonces: Vec<_> = posts.iter().filter(|p| p.mentions == to).map(|p| &p.nonce).collect();
    assert_eq!(nonces.len(), 2);
    assert_ne!(nonces[0], nonces[1], "the old one would be answered with the deleted message");
}

#[test]
fn a_long_reply_arrives_in_parts_and_in_order() {
    let long = long();
    let mut stage = Setup::new().hosted("a", [long.clone().into()]).hosted("b", []).stage();
    stage.chat();
    let before = stage.discord().calls();
    stage.say("Hello");
    stage.until_dormant();
    let words = stage.words();
    assert!(words.len() > 4);
    assert_eq!(words[1..].join(" "), long.trim());
    let since = stage.discord().calls().since(&before);
    assert_eq!(since.of(Call::History), 0, "its ids are known");
}

#[test]
fn nothing_of_a_long_reply_is_posted_after_a_stop() {
    let long = long();
    let pace = Pace { burst: 1, window: SECOND * 5 };
    let mut stage = Setup::new()
        .hosted("a", [long.into()])
        .hosted("b", ["b1".into()])
        .settings(|settings| settings.limits.pacing.channel = Some(pace))
        .stage();
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND * 7);
    assert_eq!(stage.words().len(), 3, "two parts");
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).stop().await }).unwrap();
    stage.advance(SECOND * 60);
    assert_eq!(stage.words().len(), 3);
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Dormant);
}

#[test]
fn a_channel_whose_post_hangs_does_not_hold_up_another() {
    let mut stage = hosted().rooms(2).stage();
    stage.chat();
    let rooms = stage.rooms().to_vec();
    stage.discord().next_post(Fault::SlowRequest { by: SECOND * 25 });
    stage.say_in(rooms[0], "Hello");
    stage.say_in(rooms[1], "Hello");
    let now = stage.clock().now();
    stage.settle();
    assert_eq!(stage.words_in(rooms[1]), ["Hello", "a1", "b1", "a2"]);
    assert_eq!(stage.words_in(rooms[0]), ["Hello"]);
    assert_eq!(stage.clock().now(), now, "without any time passing");
    stage.until_dormant();
    assert_eq!(stage.words_in(rooms[0]).len(), 4);
}

/// F04, F17
#[test]
fn a_stop_is_stored_and_returns_while_a_post_hangs() {
    let mut stage = hosted().stage();
    stage.chat();
    stage.discord().next_post(Fault::SlowRequest { by: SECOND * 25 });
    let before = stage.discord().calls();
    stage.say("Hello");
    let (channel, now) = (stage.channel(), stage.clock().now());
    stage.call(move |d| async move { d.channel(channel).stop().await }).unwrap();
    assert_eq!(stage.clock().now(), now, "nobody waited for the post");
    stage.advance(SECOND * 60);
    assert_eq!(stage.status().unwrap().rest, Some(dirigent::snapshot::Pause::Stopped));
    assert_eq!(stage.words(), ["Hello"], "what hung was given up");
    assert_eq!(stage.discord().calls().since(&before).of(Call::Post), 1, "and never repeated");
}

/// R120
#[test]
fn a_long_rate_limit_holds_for_the_next_trigger_of_the_channel_too() {
    let mut stage = hooked().stage();
    stage.chat();
    stage.discord().next_post(Fault::RateLimited { retry_after: SECOND * 100 });
    stage.say("Hello");
    stage.advance(SECOND * 5);
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).stop().await }).unwrap();
    stage.call(move |d| async move { d.channel(channel).resume().await }).unwrap();
    stage.call(move |d| async move { d.channel(channel).wake(None).await }).unwrap();
    stage.advance(SECOND * 94);
    assert_eq!(stage.discord().calls().too_early(), 0, "it was told how long to wait");
    stage.advance(SECOND * 2);
    stage.until_dormant();
    assert!(stage.words().contains(&"a1".to_owned()));
}
