//! What people send, and whom they address: as a person hears it.

use dirigent::Config;
use dirigent::hooks::TurnId;
use dirigent::operate::AddressedBy;
use dirigent::ports::{AuthorKind, ChatKind, Embed, Quoted, Shown};
use dirigent::snapshot::{Pause, PhaseKind};
use dirigent::{ChatMessage, MessageId, Reply, UserId};
use dirigent_testkit::memory_discord::{Call, Fault, Outage};
use dirigent_testkit::scripted_agent::{Act, Line};
use dirigent_verify::stage::{Setup, Stage};

use super::kit::{MINUTE, RETURN, SECOND};

const NAMES: [&str; 3] = ["a", "b", "c"];

/// A room of "a", "b" and "c", who have nothing to say unless they are told what.
fn room() -> Stage {
    let mut stage = Setup::new().hosted("a", []).hosted("b", []).hosted("c", []).stage();
    stage.chat();
    stage
}

/// Who took turns after this one, in order.
fn asked_since(stage: &Stage, turn: TurnId) -> Vec<&'static str> {
    let turns = |name: &'static str| {
        let turns = stage.agent(name).turns().into_iter();
        turns.filter(move |seen| seen.turn > turn).map(move |seen| (seen.turn, name))
    };
    let mut asked: Vec<_> = NAMES.into_iter().flat_map(turns).collect();
    asked.sort_unstable();
    asked.into_iter().map(|(_, name)| name).collect()
}

/// Who was asked after something was said, in order.
fn asked_by(stage: &mut Stage, say: impl FnOnce(&mut Stage)) -> Vec<&'static str> {
    let before = stage.status().unwrap().turn;
    say(stage);
    stage.until_dormant();
    asked_since(stage, before)
}

/// The line with which "a" was told of the newest message.
fn line_for_a(stage: &Stage) -> String {
    let turns = stage.agent("a").turns();
    turns.last().and_then(|seen| seen.lines.last().cloned()).unwrap_or_default()
}

/// What each message of this agent's account is.
fn last_of(stage: &Stage, name: &str) -> MessageId {
    let user = stage.agent(name).user();
    let messages = stage.discord().messages(stage.channel()).into_iter();
    messages.filter(|message| message.author == user).last().unwrap().id
}

fn answering(stage: &mut Stage, answered: MessageId, text: &str) {
    stage.say_with(text, |message| ChatMessage {
        kind: ChatKind::Reply,
        reply_to: Some(answered),
        ..message
    });
}

/// HR1, HR2: who answers an agent's message asks that agent first, and the line says what is answered.
#[test]
fn a_reply_to_an_agents_message_addresses_that_agent() {
    for name in NAMES {
        let mut stage = room();
        stage.agent(name).then("Where is the proof?");
        stage.say("hello");
        stage.until_dormant();
        let answered = last_of(&stage, name);
        let asked = asked_by(&mut stage, |stage| answering(stage, answered, "Here it is."));
        assert_eq!(asked.first(), Some(&name));
        let line = line_for_a(&stage);
        let shown = if name == "a" { "a" } else { name };
        assert!(
            line.contains(&format!("(answering {shown}: \"Where is the proof?\"): Here it is.")),
            "{line}"
        );
    }
}

/// HR1: also after a restart, since the message tells whom it answers.
#[test]
fn a_reply_addresses_after_a_restart() {
    let mut stage = room();
    stage.agent("c").then("Where is the proof?");
    stage.say("hello");
    stage.until_dormant();
    stage.crash();
    stage.restart();
    let answered = last_of(&stage, "c");
    let asked = asked_by(&mut stage, |stage| answering(stage, answered, "Here it is."));
    assert_eq!(asked.first(), Some(&"c"));
}

/// HR1: what is typed counts before what is answered, and only a message of an agent addresses by being answered.
#[test]
fn what_is_typed_counts_before_what_is_answered() {
    let mut stage = room();
    stage.agent("c").then("Where is the proof?");
    let hello = stage.say("hello");
    stage.until_dormant();
    let answered = last_of(&stage, "c");
    let mention = format!("<@{}> what does c mean?", stage.agent("b").user());
    let asked = asked_by(&mut stage, |stage| answering(stage, answered, &mention));
    assert_eq!(asked.first(), Some(&"b"));
    answering(&mut stage, hello, "to myself");
    stage.until_dormant();
    let channel = stage.channel();
    let why = stage.call(move |d| async move { d.channel(channel).explain(&"a".into()).await });
    assert_eq!(why.unwrap().addressed_by, None);
}

/// HR11: `@Name` at the start, longest name first, as a client sends it that knew no account of this name.
#[test]
fn a_name_at_the_start_addresses() {
    for (text, first) in [("@c please", "c"), ("@B, what now?", "b"), ("  @a: go on", "a")] {
        let asked = asked_by(&mut room(), |stage| _ = stage.say(text));
        assert_eq!(asked.first(), Some(&first), "{text}");
    }
}

/// `/why` says by what a person's message addressed an agent, until it has had its turn.
#[test]
fn why_says_by_what_an_agent_is_addressed() {
    let mut stage = room();
    stage.agent("b").then(Act::Hang);
    stage.say("@b hello");
    let (channel, agent) = (stage.channel(), "b".into());
    let explain =
        move |d: dirigent::Dirigent| async move { d.channel(channel).explain(&agent).await };
    let why = stage.call(explain).unwrap();
    assert_eq!(why.addressed_by, Some(AddressedBy::Name));
    assert_eq!(why.to_string(), "b may speak: it has the floor. A person called it by name.");
    let agent = "a".into();
    let explain =
        move |d: dirigent::Dirigent| async move { d.channel(channel).explain(&agent).await };
    assert_eq!(stage.call(explain).unwrap().addressed_by, None);
}

/// HR5: a forward's text reaches agents, marked; it stops nothing and mentions nobody.
#[test]
fn a_forward_is_told_and_does_nothing() {
    for forwarded in ["stop", "resume"] {
        let mut stage = room();
        let b = stage.agent("b").user();
        let forward = Quoted::forwarded(forwarded).with(Vec::new(), vec![Shown::sticker("cat")]);
        let mention = Quoted::forwarded(&format!("<@{b}> hi"));
        let asked = asked_by(&mut stage, |stage| {
            stage
                .say_with("", |message| ChatMessage { quoted: Some(Box::new(forward)), ..message });
        });
        assert_eq!(asked.len(), 3, "{forwarded}: it wakes");
        let line = line_for_a(&stage);
        assert!(line.ends_with(&format!(" (forwarding): {forwarded} [sticker: cat]")), "{line}");
        stage.say_with("", |message| ChatMessage { quoted: Some(Box::new(mention)), ..message });
        let channel = stage.channel();
        let why = stage.call(move |d| async move { d.channel(channel).explain(&"b".into()).await });
        assert_eq!(why.unwrap().addressed_by, None);
    }
}

/// HR6: an embed of a hosted agent's reply reaches the next agent as text.
#[test]
fn an_embed_of_an_agent_reaches_the_next_one_as_text() {
    let mut stage = room();
    let embed = Embed::new().title("Build 214").description("All tests passed.");
    stage.agent("b").then(Act::Reply(Reply::text("").embed(embed)));
    stage.say("hello");
    stage.until_dormant();
    let turns = stage.agent("c").turns();
    assert!(
        turns
            .iter()
            .flat_map(|seen| &seen.lines)
            .any(|line| line == "b: [embed: Build 214 | All tests passed.]"),
        "{turns:?}"
    );
}

/// HR7: stickers and polls are told.
#[test]
fn stickers_and_polls_are_told() {
    let mut stage = room();
    stage.say_with("", |message| ChatMessage {
        shown: vec![Shown::sticker("cat"), Shown::poll("Tabs or spaces?", ["Tabs", "Spaces"])],
        ..message
    });
    stage.until_dormant();
    let line = line_for_a(&stage);
    assert!(line.ends_with(": [sticker: cat] [poll: Tabs or spaces? Tabs / Spaces]"), "{line}");
}

/// HR8: what cannot be seen wakes nobody, and where one would look it is said why.
#[test]
fn what_cannot_be_seen_wakes_nobody_and_it_is_told() {
    let mut stage = room();
    // So Discord shows a message to a bot without the message-content intent.
    let hidden = |stage: &mut Stage| _ = stage.say_with("", |message| message);
    assert_eq!(asked_by(&mut stage, hidden), [""; 0]);
    assert!(stage.status().unwrap().sees_no_content);
    let channel = stage.channel();
    let why = stage.call(move |d| async move { d.channel(channel).explain(&"a".into()).await });
    assert!(why.unwrap().to_string().contains("Message Content Intent"));
    let mention = format!("<@{}> hello", stage.moderator());
    assert_eq!(asked_by(&mut stage, |stage| _ = stage.say(&mention)).len(), 3);
    assert!(stage.status().unwrap().sees_no_content, "a mention of the bot is shown all the same");
    assert_eq!(asked_by(&mut stage, |stage| _ = stage.say("hello")).len(), 3);
    assert!(!stage.status().unwrap().sees_no_content);
}

/// HR4: what a person pastes is read once, and is in the line of each agent.
#[test]
fn a_paste_is_read_once_for_all() {
    let mut stage = room();
    let file = stage.discord().add_file("message.txt", "first\nsecond");
    stage.say_with("", |message| ChatMessage { attachments: vec![file], ..message });
    stage.until_dormant();
    for name in NAMES {
        let turns = stage.agent(name).turns();
        let line = turns.first().and_then(|seen| seen.lines.first()).unwrap();
        assert!(line.ends_with(": [file: message.txt, which says:]\n  first\n  second"), "{line}");
    }
    assert_eq!(stage.discord().calls().of(Call::File), 1);
}

/// HR4: a paste that cannot be read stays a file, nothing waits for ever, and no other file is asked for.
#[test]
fn a_paste_that_cannot_be_read_stays_a_file() {
    for fault in [Fault::ServerErrorNotApplied, Fault::NotDelivered] {
        let mut stage = room();
        stage.discord().inject(|faults| (0..9).for_each(|_| faults.next(Call::File, fault)));
        let file = stage.discord().add_file("message.txt", "first");
        stage.say_with("", |message| ChatMessage { attachments: vec![file], ..message });
        stage.until_dormant();
        assert!(line_for_a(&stage).ends_with(": [file: message.txt]"), "{fault:?}");
    }
    let mut stage = room();
    let picture = stage.discord().add_file("cat.png", "png");
    stage.say_with("look", |message| ChatMessage { attachments: vec![picture], ..message });
    stage.until_dormant();
    assert!(line_for_a(&stage).ends_with(": look [file: cat.png]"));
    assert_eq!(stage.discord().calls().of(Call::File), 0);
}

/// HR21: a reply that waited for minutes shows what it answers; one that waited for seconds does not.
#[test]
fn a_reply_that_waited_long_is_posted_in_answer_to_what_it_followed() {
    for (outage, answers) in [(SECOND * 15, false), (MINUTE * 10, true)] {
        let mut stage = Setup::new().hosted("a", ["a1".into()]).hosted("b", []).stage();
        stage.chat();
        stage.discord().begin_outage(Outage::refused().only(Call::Post));
        let question = stage.say("Hello");
        stage.advance(outage);
        stage.say("Never mind, it was the cable.");
        stage.discord().end_outages();
        stage.advance(RETURN);
        let a = stage.agent("a").user();
        let messages = stage.discord().messages(stage.channel());
        let said = messages.into_iter().find(|message| message.author == a).unwrap();
        assert_eq!(said.reply_to, answers.then_some(question), "{outage:?}");
    }
}

/// HR16: people behind a bridge wake and stop as others do; a bridge that loops comes to rest, and a stop word in it still acts.
#[test]
fn people_behind_a_bridge_are_heard_and_a_bridge_that_loops_is_not() {
    let mut stage = room();
    let bridged = |text: &'static str| {
        move |stage: &mut Stage| {
            _ = stage.say_with(text, |message| ChatMessage {
                author_kind: AuthorKind::Bridged,
                ..message
            });
        }
    };
    assert_eq!(asked_by(&mut stage, bridged("hello")).len(), 3);
    assert_eq!(asked_by(&mut stage, bridged("@b hello")).first(), Some(&"b"));
    let mut woken = 2;
    for _ in 0..100 {
        woken += usize::from(!asked_by(&mut stage, bridged("again")).is_empty());
    }
    assert_eq!(woken, 60);
    assert_eq!(asked_by(&mut stage, |stage| _ = stage.say("a person here")).len(), 3);
    bridged("stop")(&mut stage);
    assert_eq!(stage.status().unwrap().rest, Some(Pause::Stopped));
    bridged("resume")(&mut stage);
    stage.advance(MINUTE * 61);
    bridged("resume")(&mut stage);
    assert_eq!(stage.status().unwrap().rest, None);
    assert_eq!(asked_by(&mut stage, bridged("an hour later")).len(), 3);
}

/// HR13: what people say to each other wakes nobody, if the host wants that, and is heard with the next question.
#[test]
fn what_is_for_another_person_wakes_nobody() {
    for skips in [false, true] {
        let setup = Setup::new().hosted("a", []).hosted("b", []).hosted("c", []);
        let setup = setup.settings(|settings| settings.reading.skip_talk_of_people = skips);
        let mut stage = setup.stage();
        stage.chat();
        let (bob, channel) = (UserId::new(4_000), stage.channel());
        stage.discord().add_account(bob, AuthorKind::Human);
        stage.discord().join(channel, bob);
        let by_bob = stage.discord().say(channel, bob, "I am here");
        stage.until_dormant();
        let mention = format!("<@{bob}> lunch?");
        let for_bob = [
            asked_by(&mut stage, |stage| _ = stage.say(&mention)),
            asked_by(&mut stage, |stage| answering(stage, by_bob, "so am I")),
        ];
        assert_eq!(for_bob.iter().all(Vec::is_empty), skips, "{for_bob:?}");
        // Who mentions an agent, too, asks that agent; and a word that is for nobody is for all.
        let both = format!("<@{bob}> let us ask <@{}>", stage.agent("c").user());
        assert_eq!(asked_by(&mut stage, |stage| _ = stage.say(&both)).first(), Some(&"c"));
        assert!(
            stage
                .agent("c")
                .turns()
                .last()
                .unwrap()
                .lines
                .iter()
                .any(|line| line.contains("lunch?"))
                == skips
        );
        assert_eq!(asked_by(&mut stage, |stage| _ = stage.say("and all of you?")).len(), 3);
        let bot = stage.discord().add_bot();
        let poll = asked_by(&mut stage, |stage| _ = stage.say(&format!("<@{bot}> poll: lunch?")));
        assert_eq!(poll.len(), 3, "another bot is no person");
        let mine = stage.say("one");
        stage.until_dormant();
        let own = asked_by(&mut stage, |stage| answering(stage, mine, "and two"));
        assert_eq!(own.len(), 3, "who answers itself goes on");
        answering(&mut stage, by_bob, "stop");
        stage.until_dormant();
        assert_eq!(stage.status().unwrap().rest, Some(Pause::Stopped));
    }
}

/// HR20: an agent that takes part in many channels is called so often at once, and each channel has its turn.
#[test]
fn an_agent_is_called_so_often_at_once() {
    for max in [None, Some(2)] {
        let slow = Line::from("a1").taking(SECOND * 5);
        let setup = Setup::new().rooms(6).hosted("a", [slow]).hosted("b", []);
        let mut stage = setup.settings(|it| it.limits.agent_calls_max = max).stage();
        stage.chat();
        for room in stage.rooms().to_vec() {
            stage.say_in(room, "hello");
        }
        assert_eq!(stage.agent("a").running_max(), max.unwrap_or(6));
        stage.advance(MINUTE);
        assert_eq!(stage.agent("a").running_max(), max.unwrap_or(6));
        for room in stage.rooms().to_vec() {
            assert!(stage.words_in(room).contains(&"a1".to_owned()), "{room}");
        }
    }
}

/// Three agents, of whom "a" says this first, with these rules.
fn room_by(config: impl FnOnce(&mut Config)) -> Stage {
    let setup = Setup::new().hosted("a", []).hosted("b", []).hosted("c", []);
    let mut stage = setup.config(config).stage();
    stage.chat();
    stage
}

/// HR15: an agent chooses who speaks next; the others follow.
#[test]
fn an_agent_hands_over_to_another() {
    let mut stage = room();
    stage.agent("a").then(Act::Reply(Reply::text("Over to you").then("c")));
    assert_eq!(asked_by(&mut stage, |stage| _ = stage.say("hello")), ["a", "c", "b"]);
    // Of nobody's choice, and of one that takes no turns, nothing follows.
    for next in ["a", "nobody"] {
        let mut stage = room();
        stage.agent("a").then(Act::Reply(Reply::text("Over to you").then(next)));
        let asked = asked_by(&mut stage, |stage| _ = stage.say("hello"));
        assert_eq!(asked[..3], NAMES, "{next}");
    }
    let mut stage = room();
    stage.agent("a").then(Act::Reply(Reply::text("Over to you").then("b")));
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).mute(&"b".into()).await }).unwrap();
    let asked = asked_by(&mut stage, |stage| _ = stage.say("hello"));
    assert_eq!(asked[..2], ["a", "c"]);
}

/// HR15: two that hand over to each other for ever come to the ceiling, and a person's word goes first.
#[test]
fn who_hands_over_keeps_within_every_ceiling() {
    let mut stage = room_by(|config| config.ceilings.chat.cycles = Some(5));
    for _ in 0..20 {
        stage.agent("a").then(Act::Reply(Reply::text("Your turn").then("b")));
        stage.agent("b").then(Act::Reply(Reply::text("No, yours").then("a")));
    }
    let asked = asked_by(&mut stage, |stage| _ = stage.say("hello"));
    assert_eq!(asked, ["a", "b", "a", "b", "a"]);
    let mut stage = room();
    let mention = format!("<@{}> you first", stage.agent("b").user());
    let slow = Line::from(Act::Reply(Reply::text("Over to you").then("c"))).taking(SECOND * 5);
    stage.agent("a").then(slow);
    let asked = asked_by(&mut stage, |stage| {
        stage.say("hello");
        stage.advance(SECOND);
        stage.say(&mention);
    });
    assert_eq!(asked[..2], ["a", "b"]);
}

/// HR15: a reply that is posted after a crash hands over, too.
#[test]
fn a_reply_hands_over_after_a_crash() {
    let mut stage = room();
    stage.agent("a").then(Act::Reply(Reply::text("Over to you").then("c")));
    let user = stage.agent("a").user();
    stage.discord().begin_outage(Outage::refused().of(user));
    stage.say("hello");
    stage.advance(SECOND);
    stage.crash();
    stage.discord().end_outages();
    stage.restart();
    stage.until_dormant();
    assert_eq!(asked_since(&stage, TurnId::new(0)), ["a", "c", "b"]);
}

/// HR14: several short messages are read as one, and a stop word acts at once.
#[test]
fn a_wake_waits_until_people_are_quiet() {
    let mut stage = room_by(|config| config.people.settle = SECOND * 2);
    stage.say("Hey");
    for words in ["are you there?", "I have a question."] {
        stage.advance(SECOND);
        assert!(asked_since(&stage, TurnId::new(0)).is_empty(), "before {words}");
        stage.say(words);
    }
    stage.advance(SECOND);
    assert!(asked_since(&stage, TurnId::new(0)).is_empty());
    stage.advance(SECOND);
    stage.until_dormant();
    assert_eq!(asked_since(&stage, TurnId::new(0)), ["a", "b", "c"]);
    assert_eq!(stage.agent("a").turns().last().unwrap().missed.len(), 3);
    // Who talks on and on is answered after five seconds.
    let before = stage.status().unwrap().turn;
    for _ in 0..5 {
        assert!(asked_since(&stage, before).is_empty());
        stage.say("and");
        stage.advance(SECOND);
    }
    assert!(!asked_since(&stage, before).is_empty());
    stage.until_dormant();
    let before = stage.status().unwrap().turn;
    stage.say("well");
    stage.say("stop");
    stage.settle();
    assert_eq!(stage.status().unwrap().rest, Some(Pause::Stopped));
    stage.advance(MINUTE);
    assert!(asked_since(&stage, before).is_empty());
    stage.say("resume");
    stage.settle();
    assert!(!asked_since(&stage, before).is_empty(), "what was said before the stop, at once");
}

/// HR14: whom the first of several messages addresses goes first; what an operator does acts at once; a restart in between
/// loses nothing.
#[test]
fn what_waits_for_quiet_is_neither_lost_nor_in_the_way() {
    let mut stage = room_by(|config| config.people.settle = SECOND * 2);
    let mention = format!("<@{}>", stage.agent("c").user());
    let asked = asked_by(&mut stage, |stage| {
        stage.say(&mention);
        stage.advance(SECOND);
        stage.say("what do you think?");
        stage.crash();
        stage.restart();
        stage.advance(SECOND * 2);
    });
    assert_eq!(asked, ["c", "a", "b"]);
    let before = stage.status().unwrap().turn;
    let channel = stage.channel();
    stage.say("hm");
    stage.call(move |d| async move { d.channel(channel).wake(Some(&"b".into())).await }).unwrap();
    stage.settle();
    assert_eq!(asked_since(&stage, before).first(), Some(&"b"));
}

/// HR22: a question that is deleted before an agent was told of it costs nothing, if the host wants that.
#[test]
fn a_deleted_question_asks_for_nothing() {
    for withdraws in [false, true] {
        let mut stage = room_by(|config| {
            config.people.withdraw_deleted = withdraws;
            config.people.settle = SECOND * 2;
        });
        let channel = stage.channel();
        let asked = asked_by(&mut stage, |stage| {
            let question = stage.say("what is 2 + 2?");
            stage.advance(SECOND);
            stage.discord().delete_message(channel, question);
            stage.advance(SECOND * 2);
        });
        assert_eq!(asked.is_empty(), withdraws);
        // What another one waits for is answered.
        let asked = asked_by(&mut stage, |stage| {
            stage.say("what is 2 + 3?");
            let second = stage.say("no, wait");
            stage.discord().delete_message(channel, second);
            stage.advance(SECOND * 2);
        });
        assert_eq!(asked, NAMES);
        let asked = asked_by(&mut stage, |stage| {
            let question = stage.say("what is 2 + 4?");
            stage.advance(SECOND * 3);
            stage.discord().delete_message(channel, question);
        });
        assert_eq!(asked, NAMES, "too late");
    }
}

/// HR22: a question is taken back also while its agent waits for a free place, and costs no call.
#[test]
fn a_question_is_taken_back_while_its_agent_waits_to_be_called() {
    let slow = Line::from("a1").taking(SECOND * 5);
    let setup = Setup::new().rooms(2).hosted("a", [slow]).hosted("b", []);
    let setup = setup.config(|config| config.people.withdraw_deleted = true);
    let mut stage = setup.settings(|settings| settings.limits.calls_max = 1).stage();
    stage.chat();
    let [busy, other] = [stage.rooms()[0], stage.rooms()[1]];
    stage.say_in(busy, "hello");
    let question = stage.say_in(other, "what is 2 + 2?");
    stage.advance(SECOND);
    assert!(stage.status_of(other).unwrap().speaker.is_some());
    stage.discord().delete_message(other, question);
    stage.settle();
    assert_eq!(stage.status_of(other).unwrap().phase, PhaseKind::Dormant);
    stage.advance(MINUTE);
    for name in ["a", "b"] {
        let turns = stage.agent(name).turns();
        assert!(turns.iter().all(|turn| turn.channel != Some(other)), "{name}");
    }
    stage.say_in(other, "what is 2 + 3?");
    stage.advance(MINUTE);
    assert!(stage.agent("a").turns().iter().any(|turn| turn.channel == Some(other)));
}

/// HR22, HR14: who speaks through a bot that deletes the message and posts it anew is answered, once.
#[test]
fn the_copy_of_a_deleted_question_takes_its_place() {
    for (settle, withdraws, copy_first) in [
        (0, true, false),
        (0, false, false),
        (2, true, false),
        (2, false, false),
        (2, true, true),
        (2, false, true),
    ] {
        let told = format!("settle {settle}, withdraws {withdraws}, copy first {copy_first}");
        let mut stage = room_by(|config| {
            config.people.withdraw_deleted = withdraws;
            config.people.settle = SECOND * settle;
        });
        let channel = stage.channel();
        let webhook = stage.discord().add_webhook();
        let copy = |stage: &Stage| {
            let by_people = |message| ChatMessage { author_kind: AuthorKind::Bridged, ..message };
            stage.discord().say_with(channel, webhook, "what is 2 + 2?", by_people)
        };
        stage.agent("a").then(Line::from("4").taking(SECOND * 5));
        let asked = asked_by(&mut stage, |stage| {
            let question = stage.say("what is 2 + 2?");
            stage.advance(SECOND / 2);
            if copy_first {
                copy(stage);
            }
            stage.advance(SECOND / 10);
            stage.discord().delete_message(channel, question);
            stage.advance(SECOND / 10);
            if !copy_first {
                copy(stage);
            }
            stage.advance(SECOND * 2);
        });
        let is_once = withdraws || settle > 0;
        let again = if is_once { 2 } else { 3 };
        assert!(asked.starts_with(&NAMES), "{told}: {asked:?}");
        assert_eq!(asked.len() - NAMES.len(), again, "{told}: {asked:?}");
        let all: Vec<_> =
            stage.agent("b").turns().iter().flat_map(|it| it.missed.clone()).collect();
        assert_eq!(all.iter().filter(|it| it.contains("2 + 2")).count(), 1, "{told}");
    }
}

/// HR22: no agent answers the question, which is taken back, so its copy asks anew.
#[test]
fn the_copy_of_a_question_with_which_all_failed_is_a_question() {
    let mut stage = room_by(|config| config.people.withdraw_deleted = true);
    let (channel, webhook) = (stage.channel(), stage.discord().add_webhook());
    for name in NAMES {
        stage.agent(name).then(Act::Fail);
    }
    let before = stage.status().unwrap().turn;
    let question = stage.say("what is 2 + 2?");
    stage.until_dormant();
    assert_eq!(asked_since(&stage, before), NAMES);
    stage.discord().delete_message(channel, question);
    stage.settle();
    let asked = asked_by(&mut stage, |stage| {
        let by = |message| ChatMessage { author_kind: AuthorKind::Bridged, ..message };
        stage.discord().say_with(channel, webhook, "what is 2 + 2?", by);
    });
    assert_eq!(asked, NAMES);
}

/// HR22: what is said again later, or by a webhook that is not listed, is a question of its own or a bot's word.
#[test]
fn only_a_copy_that_comes_at_once_and_from_people_takes_its_place() {
    for (kind, after, is_asked) in [
        (AuthorKind::Bridged, SECOND * 9, false),
        (AuthorKind::Bridged, SECOND * 11, true),
        (AuthorKind::Webhook, SECOND, false),
    ] {
        let mut stage = room_by(|config| config.people.withdraw_deleted = true);
        let (channel, webhook) = (stage.channel(), stage.discord().add_webhook());
        let question = stage.say("what is 2 + 2?");
        stage.until_dormant();
        let before = stage.status().unwrap().turn;
        stage.discord().delete_message(channel, question);
        stage.advance(after);
        let by = |message| ChatMessage { author_kind: kind, ..message };
        stage.discord().say_with(channel, webhook, "what is 2 + 2?", by);
        stage.until_dormant();
        assert_eq!(!asked_since(&stage, before).is_empty(), is_asked, "{kind:?} after {after:?}");
    }
}
