//! How the driver learns that a reply arrived: pushed, receipted, edited or polled.

use std::time::Duration;

use dirigent::hooks::{RunId, RunReport};
use dirigent::ports::{Attachment, AuthorKind};
use dirigent::replay::{Input, Recording};
use dirigent::snapshot::PhaseKind;
use dirigent::{ChatMessage, Clock, MessageId};
use dirigent_testkit::memory_discord::{Call, Fault};
use dirigent_verify::stage::{Setup, Stage};

const SECOND: Duration = Duration::from_secs(1);

/// A room in which the agent "a" has just said, in a run of its own, that its reply is under way.
fn confirming(reply: &'static str) -> Stage {
    let mut stage = Setup::new().hooked("a", []).hooked("b", []).without_pump().stage();
    stage.chat();
    let channel = stage.channel();
    stage.call(move |d| async move {
        d.channel(channel).wake(None).await.unwrap();
        let permit = d.channel(channel).may_speak(&"a".into(), Some(RunId::new(1))).await.unwrap();
        permit.end(RunReport::Text(reply)).unwrap();
    });
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Confirming);
    stage
}

fn message(stage: &Stage, id: MessageId, content: &str) -> ChatMessage {
    ChatMessage {
        author_kind: AuthorKind::Bot,
        ..ChatMessage::new(id, stage.channel(), stage.agent("a").user(), content)
    }
}

fn speaker(stage: &mut Stage) -> Option<String> {
    stage.status().unwrap().speaker.map(|agent| agent.as_str().to_owned())
}

/// How often the history was read since the channel has its mode: before that it was looked whether there is such a channel.
fn polls(stage: &Stage) -> u64 {
    stage.discord().calls().of(Call::History) - 1
}

/// F15
#[test]
fn a_pushed_message_confirms_without_a_poll() {
    let mut stage = confirming("the whole reply");
    let (channel, user) = (stage.channel(), stage.agent("a").user());
    let id = stage.discord().say(channel, user, "the whole reply");
    let pushed = message(&stage, id, "the whole reply");
    stage.call(move |d| async move { d.message_created(pushed).await }).unwrap();
    assert_eq!(speaker(&mut stage).as_deref(), Some("b"));
    assert_eq!(polls(&stage), 0);
}

#[test]
fn the_reply_under_another_account_or_from_a_webhook_confirms_nothing() {
    let strangers: [fn(&Stage, &mut ChatMessage); 4] = [
        |_, message| message.author_kind = AuthorKind::Webhook,
        |stage, message| message.author = stage.discord().add_bot(),
        |stage, message| message.author = stage.agent("b").user(),
        |stage, message| {
            (message.author, message.author_kind) = (stage.person(), AuthorKind::Human);
        },
    ];
    for (number, stranger) in strangers.into_iter().enumerate() {
        let mut stage = confirming("the whole reply");
        let (channel, user) = (stage.channel(), stage.agent("a").user());
        let id = stage.discord().say(channel, user, "something else");
        let mut forged = message(&stage, id, "the whole reply");
        stranger(&stage, &mut forged);
        let turn = stage.status().unwrap().turn;
        stage.call(move |d| async move { d.message_created(forged).await }).unwrap();
        // Another agent and a person interrupt, which begins with the first again.
        assert_eq!(speaker(&mut stage).as_deref(), Some("a"), "{number}");
        let interrupts = number > 1;
        assert_eq!(stage.status().unwrap().turn > turn, interrupts, "{number}");
    }
}

/// F15
#[test]
fn a_receipt_confirms_without_a_poll() {
    let mut stage = confirming("the whole reply");
    let (channel, user) = (stage.channel(), stage.agent("a").user());
    let id = stage.discord().say(channel, user, "the whole reply");
    stage
        .call(move |d| async move {
            d.channel(channel).delivered(&"a".into(), Some(RunId::new(1)), vec![id]).await
        })
        .unwrap();
    assert_eq!(speaker(&mut stage).as_deref(), Some("b"));
    assert_eq!(polls(&stage), 0);
}

/// F16
#[test]
fn an_edit_of_the_speakers_message_confirms() {
    let mut stage = confirming("a draft that grew");
    let (channel, user) = (stage.channel(), stage.agent("a").user());
    let id = stage.discord().say(channel, user, "a draft");
    let draft = message(&stage, id, "a draft");
    stage.call(move |d| async move { d.message_created(draft).await }).unwrap();
    assert_eq!(speaker(&mut stage).as_deref(), Some("a"));
    let whole = message(&stage, id, "a draft that grew");
    stage.call(move |d| async move { d.message_updated(whole).await }).unwrap();
    assert_eq!(speaker(&mut stage).as_deref(), Some("b"));
}

/// P17
#[test]
fn a_reply_that_became_a_picture_with_a_short_text_confirms_when_its_author_is_quiet() {
    for has_attachments in [true, false] {
        let mut stage = confirming("a table of all that was said, with a row for each of us");
        let (channel, user) = (stage.channel(), stage.agent("a").user());
        let id = stage.discord().say(channel, user, "a table");
        let mut picture = message(&stage, id, "a table");
        if has_attachments {
            picture.attachments.push(Attachment::new("table.png", "https://cdn.example/1", 4_096));
        }
        stage.call(move |d| async move { d.message_created(picture).await }).unwrap();
        stage.advance(SECOND * 3);
        let next = if has_attachments { "b" } else { "a" };
        assert_eq!(speaker(&mut stage).as_deref(), Some(next), "{has_attachments}");
    }
}

/// WY17
#[test]
fn a_reply_that_became_an_embed_or_a_small_table_drawn_anew_confirms_when_its_author_is_quiet() {
    let table = "| Name | Age |\n|------|-----|\n| Ann  | 31  |\n| Bob  | 5   |";
    let other = "| Name | Age |\n|------|-----|\n| Ann  | 31  |";
    for (content, embeds, confirms) in [
        ("", 1, true),
        // A preview of a link is no reply.
        ("See", 1, false),
        ("**Ann**\n• Age: 31\n\n**Bob**\n• Age: 5", 0, true),
        ("Ann (Name), 31 (Age); Bob, 5", 0, true),
        ("```\nName   Age\nAnn    31\nBob    5\n```", 0, true),
        (other, 0, false),
    ] {
        let mut stage = confirming(table);
        let (channel, user) = (stage.channel(), stage.agent("a").user());
        let id = stage.discord().say(channel, user, "what arrives");
        let shown = ChatMessage { embeds, ..message(&stage, id, content) };
        stage.call(move |d| async move { d.message_created(shown).await }).unwrap();
        stage.advance(SECOND * 2);
        let next = if confirms { "b" } else { "a" };
        assert_eq!(speaker(&mut stage).as_deref(), Some(next), "{content}");
    }
}

/// R106
#[test]
fn polls_read_the_newest_20_one_at_a_time_until_the_reply_is_there() {
    let mut stage = confirming("the whole reply");
    stage.advance(SECOND * 3);
    let polls = polls(&stage);
    assert!((2..=4).contains(&polls), "{polls} polls in 3 s");
    let (channel, user) = (stage.channel(), stage.agent("a").user());
    stage.discord().say(channel, user, "the whole reply");
    stage.advance(SECOND * 3);
    assert_eq!(speaker(&mut stage).as_deref(), Some("b"));
}

/// R106
#[test]
fn a_slow_poll_is_not_followed_by_another() {
    let mut stage = confirming("the whole reply");
    stage
        .discord()
        .inject(|faults| faults.next(Call::History, Fault::SlowRequest { by: SECOND * 8 }));
    stage.advance(SECOND * 7);
    assert_eq!(polls(&stage), 1);
}

/// R120
#[test]
fn a_rate_limited_poll_waits_as_told_and_goes_on() {
    let mut stage = confirming("the whole reply");
    stage.discord().inject(|faults| {
        faults.next(Call::History, Fault::RateLimited { retry_after: SECOND * 6 });
        faults.next(Call::History, Fault::ServerErrorNotApplied);
    });
    stage.advance(SECOND * 6);
    assert_eq!(polls(&stage), 1);
    let (channel, user) = (stage.channel(), stage.agent("a").user());
    stage.discord().say(channel, user, "the whole reply");
    stage.advance(SECOND * 5);
    assert_eq!(stage.discord().calls().too_early(), 0);
    assert_eq!(speaker(&mut stage).as_deref(), Some("b"));
}

#[test]
fn a_turn_without_a_trace_of_its_reply_ends_after_fifteen_seconds() {
    let mut stage = confirming("a reply that never arrives");
    let began = stage.clock().now();
    stage.until("the next has the floor", |stage| speaker(stage).as_deref() == Some("b"));
    let took = stage.clock().now().since(began);
    assert!(took <= SECOND * 16, "{took:?}");
}

/// I1
#[test]
fn a_repetition_that_slept_with_the_machine_is_not_carried_out_when_it_wakes() {
    let mut stage = Setup::new().hosted("a", ["a1".into()]).hosted("b", []).stage();
    stage.chat();
    stage.discord().next_post(Fault::LostAnswer);
    stage.discord().next_post(Fault::SlowRequest { by: SECOND * 3 });
    stage.say("Hello");
    stage.advance(SECOND);
    stage.clock().advance(SECOND * 3_600 * 7);
    stage.settle();
    stage.until_dormant();
    assert_eq!(stage.words(), ["Hello", "a1"], "its nonce is long forgotten");
}

/// I1
#[test]
fn a_post_in_doubt_is_not_repeated_when_its_nonce_may_be_forgotten() {
    let mut stage = Setup::new().hosted("a", ["a1".into()]).hosted("b", []).stage();
    let _ = stage.discord().clone().with_nonce_window(SECOND * 120);
    stage.chat();
    stage.discord().next_post(Fault::LostAnswer);
    stage.discord().next_post(Fault::RateLimited { retry_after: SECOND * 180 });
    stage.say("Hello");
    stage.until_dormant();
    assert_eq!(stage.words(), ["Hello", "a1"], "the history tells");
}

#[test]
fn the_receipt_of_a_reply_names_its_own_messages_and_no_earlier_ones() {
    let recording = Recording::default();
    let long = "word ".repeat(700);
    let lines = [long.as_str().into(), "a2".into(), "a3".into()];
    let setup = Setup::new().hosted("a", lines).hosted("b", ["b1".into(), "b2".into()]);
    let mut stage = setup.recorder(recording.clone()).stage();
    stage.chat();
    stage.say("Hello");
    stage.until_dormant();
    let inputs = recording.channel(stage.channel()).unwrap().inputs;
    let messages = |input: &Input| {
        if let Input::Receipt { messages, .. } = input { Some(messages.len()) } else { None }
    };
    let receipts: Vec<usize> = inputs.iter().filter_map(|(_, input)| messages(input)).collect();
    assert_eq!(receipts, [2, 1, 1, 1, 1]);
}
