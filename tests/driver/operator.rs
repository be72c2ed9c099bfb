//! The operator's controls: finishing, choosing who speaks, mentions, budgets, caps, and saying why.

use std::time::Duration;

use dirigent::operate::{Reason, Refusal};
use dirigent::snapshot::{Pause, PhaseKind};
use dirigent::{CallError, Mode};
use dirigent_testkit::ScriptedAgent;
use dirigent_testkit::scripted_agent::Line;
use dirigent_verify::stage::{Setup, Stage};

const SECOND: Duration = Duration::from_secs(1);

fn three() -> Setup {
    let lines = |name: &'static str| (0..9).map(move |n| Line::from(format!("{name}{n}")));
    Setup::new()
        .hosted("a", lines("a").map(|line| line.taking(SECOND * 5)))
        .hosted("b", lines("b").map(|line| line.taking(SECOND * 5)))
        .hosted("c", lines("c").map(|line| line.taking(SECOND * 5)))
        .config(|config| config.ceilings.chat.turns = Some(9))
}

fn why(stage: &mut Stage, agent: &'static str) -> dirigent::operate::Explanation {
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).explain(&agent.into()).await }).unwrap()
}

/// Who spoke, in order, by the first letter of what was said.
fn order(stage: &Stage) -> String {
    let words = stage.words();
    words.iter().filter(|text| text.len() == 2).map(|text| &text[..1]).collect()
}

/// R278
#[test]
fn a_finished_channel_has_nobody_active_until_it_is_resumed() {
    let mut stage = three().stage();
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND * 6);
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).finish().await }).unwrap();
    stage.advance(SECOND * 60);
    let status = stage.status().unwrap();
    assert_eq!((status.phase, status.rest), (PhaseKind::Dormant, Some(Pause::Finished)));
    assert_eq!(status.speaker, None);
    assert_eq!(order(&stage), "a", "what ran was cancelled");
    let why = why(&mut stage, "a");
    assert_eq!(why.reason, Reason::Finished);
    let said = "a may not speak: the work in this channel is finished. A person can resume it with /resume.";
    assert_eq!(why.to_string(), said);
    stage.crash();
    stage.restart();
    stage.say("One more thing");
    stage.advance(SECOND * 60);
    assert_eq!(order(&stage), "a", "over a restart, too");
    let again = stage.call(move |d| async move { d.channel(channel).wake(None).await });
    assert!(matches!(again, Err(CallError::Refused(Refusal::Finished))), "{again:?}");
    stage.say("resume");
    stage.until_dormant();
    assert!(
        order(&stage).len() > 1,
        "a person's word lets them go on, with what was said meanwhile"
    );
}

/// F06, D12
#[test]
fn an_operator_chooses_who_speaks_next_and_the_order_returns() {
    let mut stage = three().stage();
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND * 2);
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).speak_next(&"c".into()).await }).unwrap();
    let twice =
        stage.call(move |d| async move { d.channel(channel).speak_next(&"a".into()).await });
    assert!(matches!(twice, Err(CallError::Refused(Refusal::HasTheFloor))), "{twice:?}");
    stage.advance(SECOND * 14);
    assert_eq!(&order(&stage)[..3], "acb");
}

/// F06, D12
#[test]
fn a_mention_lets_only_those_speak_for_a_round() {
    let mut stage = three()
        .config(|config| {
            config.people.mentions = dirigent::settings::MentionRule::Only;
            config.ceilings.chat.turns = None;
            config.ceilings.chat.cycles = Some(2);
        })
        .stage();
    stage.chat();
    let of = |stage: &Stage, name: &str| stage.agent(name).user();
    let (b, c) = (of(&stage, "b"), of(&stage, "c"));
    stage.say(&format!("<@{c}> and <@!{b}>, please; not `<@{}>`", of(&stage, "a")));
    stage.until_dormant();
    let said = order(&stage);
    assert_eq!(&said[..2], "bc", "in list order");
    assert_eq!(said.len(), 2 + 3, "then everybody again, until the ceiling: {said}");
    let asked: Vec<_> = stage.agents().map(ScriptedAgent::turns).collect();
    assert!(asked[0].iter().all(|turn| turn.turn.get() > 2), "a was not asked in that round");
}

/// F06
#[test]
fn a_reply_that_pings_is_no_mention_and_without_the_option_nothing_is() {
    let mut stage = three()
        .config(|config| config.people.mentions = dirigent::settings::MentionRule::Ignored)
        .stage();
    stage.chat();
    let c = stage.agent("c").user();
    stage.say(&format!("<@{c}> please"));
    stage.advance(SECOND * 16);
    assert_eq!(&order(&stage)[..3], "abc");
}

/// F01
#[test]
fn a_budget_ends_the_talk_until_an_operator_resets_it() {
    let mut stage = three().config(|config| config.budget.cost = Some(100)).stage();
    stage.chat();
    stage.say("Hello");
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).report_cost(60).await }).unwrap();
    stage.advance(SECOND * 6);
    stage.call(move |d| async move { d.channel(channel).report_cost(60).await }).unwrap();
    stage.advance(SECOND * 60);
    assert_eq!(order(&stage), "ab", "b had the floor already");
    let notice = "The budget of this channel is spent. An operator can reset it.";
    assert_eq!(stage.moderation(channel), [notice]);
    assert_eq!(why(&mut stage, "c").reason, Reason::BudgetSpent);
    stage.say("Is anybody there?");
    stage.advance(SECOND * 60);
    assert_eq!(order(&stage), "ab");
    assert_eq!(stage.moderation(channel).len(), 1, "announced once");
    stage.call(move |d| async move { d.channel(channel).reset_budget().await }).unwrap();
    stage.until_dormant();
    assert!(order(&stage).len() > 2, "what was said meanwhile is answered");
}

/// F09
#[test]
fn an_agent_that_has_had_its_turns_for_this_hour_is_passed_over_and_told_why() {
    let mut stage = three()
        .config(|config| {
            config.budget.agent_turns_per_hour = Some(1);
            config.ceilings.chat.turns = None;
        })
        .stage();
    stage.chat();
    stage.say("Hello");
    stage.until_dormant();
    let mut said: Vec<_> = order(&stage).chars().collect();
    said.sort_unstable();
    assert_eq!(said, ['a', 'b', 'c']);
    stage.say("Again");
    stage.advance(SECOND * 3_500);
    assert_eq!(order(&stage).len(), 3);
    stage.advance(SECOND * 200);
    assert!(order(&stage).len() > 3, "an hour later the question is answered");
}

/// A channel without turns waits for nothing but for leaving memory: that is not when it goes on.
#[test]
fn a_channel_without_turns_does_not_say_that_it_goes_on() {
    for mode in [Mode::None, Mode::Report] {
        let mut stage = three().stage();
        let channel = stage.channel();
        stage.call(move |d| async move { d.channel(channel).set_mode(mode).await }).unwrap();
        stage.say("Hello");
        stage.advance(SECOND);
        let why = why(&mut stage, "a");
        assert_eq!(why.within, None, "{mode}: {why}");
    }
}

/// F10
#[test]
fn everybody_can_be_told_in_words_why_they_may_not_speak() {
    let mut stage = three().stage();
    let unmanaged = why(&mut stage, "a");
    assert!(
        unmanaged.to_string().starts_with(
            "a may speak: turns are not kept in this channel. But the library calls no"
        ),
        "{unmanaged}"
    );
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND);
    let granted = why(&mut stage, "a");
    assert_eq!(granted.to_string(), "a may speak: it has the floor.");
    let waits = why(&mut stage, "b");
    assert_eq!(waits.speaker.clone(), Some("a".into()));
    assert_eq!(
        waits.to_string(),
        "b may not speak: a has the floor. The channel goes on in at most 10 minutes. Its turn comes \
         when the list comes to it."
    );
    assert_eq!(why(&mut stage, "nobody").reason, Reason::NotRegistered);
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).mute(&"c".into()).await }).unwrap();
    assert_eq!(
        why(&mut stage, "c").to_string(),
        "c may not speak: it is muted in this channel. \
         The channel goes on in at most 10 minutes. An operator can unmute it."
    );
}

/// R183, R184, R185
#[test]
fn the_first_seeds_wake_rules_can_be_chosen() {
    let mut stage = three()
        .config(|config| {
            config.order.wake_rule = dirigent::settings::WakeRule::NextAfterSender;
            config.ceilings.chat.turns = Some(1);
        })
        .stage();
    stage.chat();
    stage.say("Hello");
    stage.until_dormant();
    assert_eq!(order(&stage), "a", "a person's word wakes the first");
    // b speaks out of turn, once its grace is over: whoever comes after it is woken.
    stage.advance(SECOND * 60);
    let (channel, b) = (stage.channel(), stage.agent("b").user());
    let config = {
        let mut config = dirigent::Config::default();
        config.order.wake_rule = dirigent::settings::WakeRule::NextAfterSender;
        config.ceilings.chat.turns = Some(3);
        config
    };
    stage.call(move |d| async move { d.reconfigure(config).await }).unwrap();
    stage.discord().say(channel, b, "By the way");
    stage.advance(SECOND * 6);
    assert_eq!(order(&stage), "ac");
}

#[test]
fn an_archived_channel_is_not_said_to_go_on() {
    let mut stage = Setup::new().hosted("a", []).hosted("b", []).stage();
    stage.chat();
    stage.say("Hello");
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).archive().await }).unwrap();
    let text = why(&mut stage, "a").to_string();
    assert_eq!(text, "a may not speak: the channel is archived. That is for good.");
}

#[test]
fn a_stop_and_a_resume_word_are_no_question_to_an_agent() {
    let mut stage = Setup::new().hosted("a", []).hosted("b", []).stage();
    stage.chat();
    for words in ["Hello", "stop", "resume", "Who is there?"] {
        stage.say(words);
        stage.until_dormant();
    }
    let turns = stage.agent("a").turns();
    let handed = turns.iter().flat_map(|turn| &turn.missed);
    assert_eq!(handed.collect::<Vec<_>>(), ["Hello", "Who is there?"]);
}
