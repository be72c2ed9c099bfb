//! `/status`, `/why` and `/next`.

use super::*;

fn ask(stage: &mut Stage, command: SlashCommand, input: &str) -> String {
    let (channel, invoker, input) = (stage.channel(), writer(stage), input.to_owned());
    let answer = stage.call(move |d| async move {
        d.channel(channel).command(command, invoker, &input, SlashCommand::ANSWER_WITHIN).await
    });
    assert_eq!(answer.changed, answer.text.ends_with("speaks next."), "{}", answer.text);
    answer.text
}

/// N14
#[test]
fn people_are_told_whose_turn_it_is_and_why_another_agent_may_not_speak() {
    let mut stage = Setup::new().hosted("a", [Act::Hang.into()]).hosted("b", []).stage();
    for command in [SlashCommand::Status, SlashCommand::Why] {
        let answer = ask(&mut stage, command, "");
        assert!(
            answer.contains("answer freely") && answer.contains("/set-channel-mode"),
            "{answer}"
        );
    }
    stage.chat();
    stage.say("Hello");
    stage.settle();
    let status = ask(&mut stage, SlashCommand::Status, "");
    for part in ["Mode: chat.", "a has the floor.", "Order: a, b.", "person last spoke: 1."] {
        assert!(status.contains(part), "{part}: {status}");
    }
    let all = ask(&mut stage, SlashCommand::Why, "");
    assert!(all.contains("a may speak: ") && all.contains("b may not speak: "), "{all}");
    let account = stage.agent("b").user();
    for name in ["b", "B", &account.to_string(), &format!("<@{account}>")] {
        let one = ask(&mut stage, SlashCommand::Why, name);
        assert!(one.starts_with("b may not speak: a has the floor."), "{name}: {one}");
        assert_eq!(one.lines().count(), 1);
    }
    let unknown = ask(&mut stage, SlashCommand::Why, "someone\nelse");
    assert_eq!(unknown, "There is no agent someone else.");
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).stop().await }).unwrap();
    assert!(ask(&mut stage, SlashCommand::Status, "").contains("Stopped"));
}

/// N14
#[test]
fn a_person_chooses_who_speaks_next() {
    let mut stage = Setup::new()
        .hosted("a", [Act::Hang.into()])
        .hosted("b", [Act::Hang.into()])
        .hosted("c", [Act::Hang.into()])
        .stage();
    stage.chat();
    stage.say("Hello");
    stage.settle();
    assert_eq!(ask(&mut stage, SlashCommand::Next, "c"), "c speaks next.");
    let refused = ask(&mut stage, SlashCommand::Next, "a");
    assert!(refused.starts_with("Nothing was changed: "), "{refused}");
    assert_eq!(ask(&mut stage, SlashCommand::Next, "z"), "There is no agent z.");
    stage.advance(SECOND * 3_600);
    assert!(!stage.agent("c").turns().is_empty());
    let (b, c) = (stage.agent("b").turns(), stage.agent("c").turns());
    assert!(b.is_empty() || c[0].turn < b[0].turn, "{b:?} {c:?}");
}

/// N14
#[test]
fn who_may_not_write_is_told_so_and_an_answer_comes_in_time_and_fits_into_a_message() {
    let names: Vec<_> = (0..40).map(|number| format!("{}{number}", "x".repeat(90))).collect();
    let mut setup = Setup::new();
    for name in &names {
        setup = setup.hosted(name, []);
    }
    let mut stage = setup.stage();
    stage.chat();
    stage.settle();
    assert_eq!(ask(&mut stage, SlashCommand::Status, "").chars().count(), 2_000);
    let why = ask(&mut stage, SlashCommand::Why, "");
    let told = why.lines().count() - 1;
    assert!(why.chars().count() <= 2_000 && told > 5, "{why}");
    assert!(
        why.ends_with(&format!("And {} more: /why with an agent tells of one.", 40 - told)),
        "{why}"
    );
    let channel = stage.channel();
    let reader = Invoker { permissions: 1 << 10, ..writer(&stage) };
    for command in [SlashCommand::Status, SlashCommand::Why, SlashCommand::Next] {
        let answer = use_it(&mut stage, command, channel, reader);
        assert!(answer.text.contains("able to write"), "{}", answer.text);
        let direct = Invoker { guild: None, ..reader };
        let answer = use_it(&mut stage, command, channel, direct);
        assert!(answer.text.contains("direct message"), "{}", answer.text);
    }
    stage.store().with_rate(StoreFault::Hangs, 1_000, 1);
    let before = stage.clock().now();
    let answer = ask(&mut stage, SlashCommand::Next, &names[3]);
    assert!(stage.clock().now().since(before) <= SlashCommand::ANSWER_WITHIN, "{answer}");
    assert!(answer.contains("could not be stored in time"), "{answer}");
}

/// N14
#[test]
fn who_cannot_speak_next_is_not_chosen_and_the_answer_says_why() {
    let mut stage = Setup::new()
        .hosted("a", [Act::Hang.into()])
        .hosted("b", [])
        .hosted("c", [])
        .hosted("d", [])
        .stage();
    stage.chat();
    stage.say("Hello");
    stage.settle();
    let (channel, gone) = (stage.channel(), stage.agent("d").user());
    stage.call(move |d| async move {
        d.channel(channel).mute(&"b".into()).await.unwrap();
        d.agent_offline(&"c".into()).await.unwrap();
        d.member_left(channel, gone).await.unwrap();
    });
    for (name, why) in [("a", "floor"), ("b", "muted"), ("c", "offline"), ("d", "list")] {
        let refused = ask(&mut stage, SlashCommand::Next, name);
        assert!(refused.starts_with("Nothing was changed: "), "{name}: {refused}");
        assert!(refused.contains(why), "{name}: {refused}");
    }
    let all = ask(&mut stage, SlashCommand::Why, "");
    let order: Vec<_> = all.lines().filter_map(|line| line.split(' ').next()).collect();
    let status = ask(&mut stage, SlashCommand::Status, "");
    assert!(status.contains(&format!("Order: {}.", order.join(", "))), "{status} {all}");
}

/// N14
#[test]
fn all_of_a_resting_channel_are_explained_with_few_reads_of_its_record() {
    let mut setup = Setup::new();
    for number in 0..64 {
        setup = setup.hosted(&format!("agent-{number}"), []);
    }
    let mut stage = setup.stage();
    stage.chat();
    stage.advance(SECOND * 3_600 * 24 * 30);
    let before = stage.store().loads();
    let all = ask(&mut stage, SlashCommand::Why, "");
    assert!(all.starts_with("agent-") && all.ends_with("tells of one."), "{all}");
    assert!((1..=2).contains(&(stage.store().loads() - before)), "the channel was at rest");
}

/// N14
#[test]
fn a_name_that_two_agents_have_names_neither() {
    let mut stage = Setup::new().hosted("a", []).hosted("b", []).stage();
    stage.chat();
    for agent in ["a", "b"] {
        let identity = Identity {
            discord_user_id: stage.agent(agent).user(),
            agent_id: agent.into(),
            agent_name: "Poet".to_owned(),
        };
        let registry = stage.identities().clone();
        stage.call(move |d| async move {
            registry.register(identity).await.unwrap();
            d.identities_changed().await.unwrap();
        });
        let answer = ask(&mut stage, SlashCommand::Why, "poet");
        let expected = if agent == "a" { "Poet may not speak" } else { "There is no agent poet." };
        assert!(answer.starts_with(expected), "{answer}");
    }
}

/// N14
#[test]
fn the_status_says_that_a_dormant_channel_waits_for_a_person_and_that_the_chat_is_away() {
    let mut stage = Setup::new().hosted("a", []).hosted("b", []).stage();
    stage.chat();
    stage.say("Hello");
    stage.until_dormant();
    let status = ask(&mut stage, SlashCommand::Status, "");
    assert!(status.contains("a person's message begins a cycle"), "{status}");
    stage.cut_gateway(true);
    stage.dirigent().disconnected(0, |_| true);
    stage.advance(SECOND * 60);
    let status = ask(&mut stage, SlashCommand::Status, "");
    assert!(status.contains("The chat does not answer"), "{status}");
}
