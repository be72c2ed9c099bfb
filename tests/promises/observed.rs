//! A bot that answers when it is mentioned, and runs without asking, has turns like any agent.

use std::time::Duration;

use dirigent::ports::{Mentions, Timestamp};
use dirigent::settings::ObservedBot;
use dirigent::snapshot::PhaseKind;
use dirigent::{Clock as _, MessageId, UserId};
use dirigent_core::view::SeatTurn;
use dirigent_testkit::memory_discord::{Call, Fault, Outage, Permissions};
use dirigent_verify::stage::{Setup, Stage};

use super::kit::{MILLI, MINUTE, REMINDER, SECOND, open_discussion, reminders, resume};

const QUIET: Duration = Duration::from_millis(1_500);

fn two() -> Setup {
    two_like(ObservedBot::default())
}

fn two_like(bot: ObservedBot) -> Setup {
    Setup::new().observed("a", bot.clone()).observed("b", bot)
}

fn table(setup: Setup) -> Stage {
    let mut stage = setup.stage();
    stage.chat();
    stage
}

fn user(stage: &Stage, name: &str) -> UserId {
    stage.agent(name).user()
}

/// This bot writes.
fn says(stage: &mut Stage, name: &str, text: &str) -> MessageId {
    let id = stage.discord().say(stage.channel(), user(stage, name), text);
    stage.settle();
    id
}

fn types(stage: &mut Stage, name: &str) {
    stage.discord().begin_typing(stage.channel(), user(stage, name));
    stage.settle();
}

/// How often this bot was mentioned by a trigger that still stands in the channel.
fn triggers(stage: &Stage, name: &str) -> usize {
    let mention = format!("<@{}>", user(stage, name));
    let posted = stage.moderation(stage.channel());
    posted.iter().filter(|text| text.starts_with(&mention)).count()
}

/// How often it was mentioned by a trigger at all, since this was last asked.
fn posted_triggers(stage: &Stage, name: &str) -> usize {
    let mentions = Mentions::User(user(stage, name));
    stage.discord().take_posts().iter().filter(|post| post.mentions == mentions).count()
}

fn speaker(stage: &mut Stage) -> Option<String> {
    let status = stage.status().unwrap();
    status.speaker.map(|agent| agent.as_str().to_owned())
}

fn seat(stage: &mut Stage, name: &str) -> Option<SeatTurn> {
    let list = stage.status().unwrap().list;
    list.iter().find(|(agent, _)| agent.as_str() == name).map(|(_, seat)| seat.turn)
}

fn is(stage: &mut Stage, name: &str, phase: PhaseKind) -> bool {
    let status = stage.status().unwrap();
    status.speaker.is_some_and(|agent| agent.as_str() == name) && status.phase == phase
}

#[track_caller]
fn why(stage: &mut Stage, name: &'static str) -> String {
    let channel = stage.channel();
    stage
        .call(move |d| async move { d.channel(channel).explain(&name.into()).await })
        .unwrap()
        .to_string()
}

#[test]
fn bots_that_answer_when_they_are_mentioned_speak_one_after_the_other_and_come_to_rest() {
    let mut stage = table(two());
    stage.say("Hello");
    assert_eq!((triggers(&stage, "a"), triggers(&stage, "b")), (1, 0));
    assert!(
        stage.moderation(stage.channel())[0]
            .ends_with("If you have nothing to add, answer only [[pass]]")
    );
    stage.advance(SECOND);
    says(&mut stage, "a", "Good morning");
    assert!(is(&mut stage, "a", PhaseKind::Running));
    stage.advance(MILLI * 1_499);
    assert_eq!(speaker(&mut stage).as_deref(), Some("a"), "it may write on");
    stage.advance(MILLI);
    assert!(is(&mut stage, "b", PhaseKind::Granted));
    assert_eq!(triggers(&stage, "b"), 1);
    says(&mut stage, "b", "[[pass]]");
    stage.advance(QUIET);
    // An agent spoke, so there is another cycle.
    assert!(is(&mut stage, "a", PhaseKind::Granted));
    assert_eq!(posted_triggers(&stage, "a"), 2);
    says(&mut stage, "a", "[[pass]]");
    stage.advance(QUIET);
    assert!(is(&mut stage, "b", PhaseKind::Granted));
    says(&mut stage, "b", "[[pass]]");
    stage.advance(QUIET);
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Dormant);
    assert_eq!(stage.words(), ["Hello", "Good morning", "[[pass]]", "[[pass]]", "[[pass]]"]);
}

#[test]
fn a_bot_that_gives_no_sign_passes_once_the_history_was_read() {
    let mut stage = table(two());
    stage.say("Hello");
    stage.advance(MILLI * 14_999);
    assert_eq!(speaker(&mut stage).as_deref(), Some("a"));
    stage.advance(MILLI * 2);
    assert_eq!(speaker(&mut stage).as_deref(), Some("b"));
    stage.advance(SECOND * 15 + MILLI);
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Dormant);
    assert_eq!(stage.words(), ["Hello"]);
}

#[test]
fn a_message_whose_event_was_lost_is_found_before_its_author_passes() {
    let mut stage = table(two());
    stage.say("Hello");
    stage.cut_gateway(true);
    says(&mut stage, "a", "Nobody hears this");
    stage.cut_gateway(false);
    stage.advance(SECOND * 15 + MILLI);
    assert!(is(&mut stage, "a", PhaseKind::Running), "{:?}", stage.status());
    stage.advance(QUIET);
    assert_eq!(speaker(&mut stage).as_deref(), Some("b"));
    assert_eq!(seat(&mut stage, "a"), Some(SeatTurn::Spoke));
}

#[test]
fn its_silence_is_proven_only_by_a_read_that_began_after_it() {
    let bot = ObservedBot::default().with(|bot| bot.silent_after = SECOND * 5);
    let mut stage = table(two_like(bot));
    let channel = stage.channel();
    stage.say("Hello");
    let slow = Outage::failing(Fault::SlowAnswer { by: SECOND * 8 }).only(Call::History);
    stage.discord().begin_outage(slow);
    stage.advance(SECOND * 5 + MILLI);
    // The history is being read. Then it is known what the agent does, and it falls silent.
    let preview = says(&mut stage, "a", "Let me see…");
    assert!(stage.discord().delete_message(channel, preview));
    stage.settle();
    stage.advance(SECOND);
    stage.cut_gateway(true);
    says(&mut stage, "a", "Nobody hears this");
    stage.cut_gateway(false);
    // The first read ends after 13 s, and the one that counts after 21 s.
    stage.advance(SECOND * 13);
    assert_eq!(speaker(&mut stage).as_deref(), Some("a"), "{:?}", stage.status());
    stage.advance(SECOND * 5);
    assert_eq!(speaker(&mut stage).as_deref(), Some("b"), "{:?}", stage.status());
}

#[test]
fn while_the_history_cannot_be_read_its_silence_is_no_pass() {
    let mut stage = table(two());
    stage.say("Hello");
    let failing = Outage::failing(Fault::ServerErrorNotApplied).only(Call::History);
    stage.discord().begin_outage(failing);
    stage.advance(SECOND * 30);
    assert_eq!(speaker(&mut stage).as_deref(), Some("a"));
    stage.discord().end_outages();
    stage.advance(SECOND * 10);
    assert_eq!(speaker(&mut stage).as_deref(), Some("b"));
}

#[test]
fn what_it_said_late_while_the_process_was_down_is_not_taken_for_out_of_turn() {
    let mut stage = table(two());
    stage.say("Hello");
    says(&mut stage, "a", "One");
    stage.advance(QUIET);
    stage.crash();
    says_while_down(&stage, "a", "and two");
    stage.clock().advance(SECOND);
    stage.restart();
    stage.advance(MINUTE);
    assert!(!why(&mut stage, "a").contains("outside of its turn"));
}

#[test]
fn what_is_typed_edited_or_posted_anew_keeps_the_turn() {
    let mut stage = table(two());
    stage.say("Hello");
    stage.advance(SECOND * 14);
    types(&mut stage, "a");
    assert!(is(&mut stage, "a", PhaseKind::Running));
    for _ in 0..3 {
        stage.advance(SECOND * 8);
        types(&mut stage, "a");
    }
    let preview = says(&mut stage, "a", "Let me…");
    let channel = stage.channel();
    for text in ["Let me see…", "Let me see: seven…", "Let me see: seven."] {
        stage.advance(SECOND + MILLI * 200);
        assert!(stage.discord().edit(channel, preview, text));
        stage.settle();
    }
    stage.advance(SECOND);
    assert!(stage.discord().delete_message(channel, preview));
    stage.settle();
    stage.advance(SECOND * 2);
    assert_eq!(speaker(&mut stage).as_deref(), Some("a"), "nothing of its reply stands");
    says(&mut stage, "a", "Seven.");
    stage.advance(QUIET);
    assert_eq!(speaker(&mut stage).as_deref(), Some("b"));
    assert_eq!(stage.words(), ["Hello", "Seven."]);
}

#[test]
fn who_types_on_after_a_message_keeps_the_turn_until_the_next_one() {
    let mut stage = table(two());
    stage.say("Hello");
    says(&mut stage, "a", "One");
    stage.advance(SECOND);
    types(&mut stage, "a");
    stage.advance(SECOND * 9);
    assert_eq!(speaker(&mut stage).as_deref(), Some("a"), "it still types");
    says(&mut stage, "a", "Two");
    stage.advance(QUIET);
    assert_eq!(speaker(&mut stage).as_deref(), Some("b"), "a message ends the typing");
    assert_eq!(stage.words(), ["Hello", "One", "Two"]);
}

#[test]
fn what_a_bot_writes_outside_of_its_turn_moves_none_and_is_told_with_what_to_set() {
    let mut stage = table(two());
    stage.say("Hello");
    says(&mut stage, "b", "I know!");
    says(&mut stage, "b", "Really!");
    assert!(is(&mut stage, "a", PhaseKind::Granted));
    let told = why(&mut stage, "b");
    let expected = "It wrote 2 messages outside of its turn. Let this bot answer only the mentions of the moderator's account.";
    assert!(told.contains(expected), "{told}");
    says(&mut stage, "a", "[[pass]]");
    stage.advance(QUIET);
    assert!(is(&mut stage, "b", PhaseKind::Granted));
    says(&mut stage, "b", "[[pass]]");
    stage.advance(QUIET);
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Dormant, "it asked for no cycle");
    says(&mut stage, "a", "By the way");
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Dormant, "and wakes nobody");
}

#[test]
fn what_a_bot_wrote_outside_of_its_turn_is_told_although_its_event_was_lost() {
    let lost = |stage: &mut Stage, text: &str| {
        stage.cut_gateway(true);
        says(stage, "b", text);
        stage.cut_gateway(false);
    };
    let once = "It wrote a message outside of its turn.";
    // It is read while another agent has the floor, which is silent.
    let mut stage = table(two());
    stage.say("Hello");
    lost(&mut stage, "I know!");
    stage.advance(SECOND * 15 + MILLI);
    assert_eq!(speaker(&mut stage).as_deref(), Some("b"));
    assert!(why(&mut stage, "b").contains(once));

    // A pass word is no part of the conversation.
    let mut stage = table(two());
    stage.say("Hello");
    lost(&mut stage, "[[pass]]");
    stage.advance(SECOND * 15 + MILLI);
    assert!(!why(&mut stage, "b").contains(once));

    // It is read in the turn of its author, and is no part of it.
    let mut stage = table(two());
    stage.say("Hello");
    lost(&mut stage, "I know!");
    stage.advance(SECOND * 8);
    says(&mut stage, "a", "a word");
    stage.advance(QUIET);
    assert!(is(&mut stage, "b", PhaseKind::Granted));
    assert!(!why(&mut stage, "b").contains(once), "nobody knows of it yet");
    stage.advance(SECOND * 15 + MILLI);
    assert!(is(&mut stage, "a", PhaseKind::Granted), "b was silent in its turn");
    assert!(why(&mut stage, "b").contains(once));

    // It is read when its author has spoken in its turn.
    let mut stage = table(two());
    stage.say("Hello");
    lost(&mut stage, "I know!");
    stage.advance(SECOND * 8);
    says(&mut stage, "a", "a word");
    stage.advance(QUIET);
    says(&mut stage, "b", "a word, too");
    stage.advance(QUIET);
    assert_eq!(speaker(&mut stage).as_deref(), Some("a"));
    stage.advance(SECOND * 15 + MILLI);
    assert!(why(&mut stage, "b").contains(once));
}

#[test]
fn a_late_piece_whose_event_was_lost_is_of_its_turn() {
    let mut stage = table(two());
    stage.say("Hello");
    says(&mut stage, "a", "One");
    stage.advance(QUIET);
    assert_eq!(speaker(&mut stage).as_deref(), Some("b"));
    stage.cut_gateway(true);
    says(&mut stage, "a", "and two");
    stage.cut_gateway(false);
    stage.advance(MINUTE);
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Dormant);
    assert!(!why(&mut stage, "a").contains("outside of its turn"));
}

#[test]
fn a_reminded_initiator_that_is_observed_runs_once_and_its_words_wake_the_discussion() {
    let bot = ObservedBot::default();
    let mut stage = Setup::new()
        .rooms(2)
        .observed("a", bot.clone())
        .observed("b", bot)
        .settings(|settings| REMINDER.clone_into(&mut settings.texts.idle_reminder))
        .stage();
    open_discussion(&mut stage, "Which plan?", &["a", "b"]);
    stage.advance(MINUTE);
    assert_eq!((reminders(&stage), stage.status().unwrap().phase), (1, PhaseKind::Dormant));
    // It keeps its permit for as long as it wants.
    stage.advance(MINUTE * 5);
    says(&mut stage, "a", "One more thing");
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Dormant, "it may write on");
    stage.advance(QUIET);
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Granted);
    assert!(!why(&mut stage, "a").contains("outside of its turn"));
    // If it passes, it is reminded again.
    stage.advance(MINUTE * 15);
    let reminded = reminders(&stage);
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Dormant);
    says(&mut stage, "a", "[[pass]]");
    stage.advance(MINUTE * 11);
    assert_eq!(reminders(&stage), reminded + 1);
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Dormant);
}

#[test]
fn a_reply_that_is_found_below_a_later_word_is_of_the_turn() {
    let mut stage = table(two());
    stage.say("Hello");
    stage.cut_gateway(true);
    says(&mut stage, "a", "Nobody hears this");
    stage.cut_gateway(false);
    // Its id is below this one, and the run begins only once it is found.
    stage.say("Anybody here?");
    stage.advance(SECOND * 18);
    assert_eq!(speaker(&mut stage).as_deref(), Some("b"), "{:?}", stage.status());
    assert_eq!(seat(&mut stage, "a"), Some(SeatTurn::Spoke), "{:?}", stage.status());
    assert!(!why(&mut stage, "a").contains("outside of its turn"));
}

#[test]
fn an_initiator_runs_only_once_its_reminder_was_posted() {
    let bot = ObservedBot::default();
    let mut stage = Setup::new()
        .rooms(2)
        .observed("a", bot.clone())
        .observed("b", bot)
        .settings(|settings| REMINDER.clone_into(&mut settings.texts.idle_reminder))
        .stage();
    open_discussion(&mut stage, "Which plan?", &["a", "b"]);
    stage.advance(SECOND * 17);
    assert!(is(&mut stage, "b", PhaseKind::Granted), "{:?}", stage.status());
    let later = Fault::RateLimited { retry_after: MINUTE };
    stage.discord().begin_outage(Outage::failing(later).only(Call::Post));
    stage.advance(SECOND * 30);
    assert_eq!((reminders(&stage), stage.status().unwrap().phase), (0, PhaseKind::Dormant));
    says(&mut stage, "a", "One more thing");
    let told = why(&mut stage, "a");
    assert!(told.contains("outside of its turn"), "{told}");
}

#[test]
fn after_a_hold_a_bot_has_its_whole_time_to_begin() {
    let mut stage = table(two());
    let channel = stage.channel();
    stage.say("Hello");
    stage.advance(SECOND);
    stage.call(move |d| async move { d.channel(channel).hold().await }).unwrap();
    stage.advance(MINUTE * 2);
    resume(&mut stage);
    stage.advance(SECOND * 10);
    assert_eq!(speaker(&mut stage).as_deref(), Some("a"), "{:?}", stage.status());
    stage.advance(SECOND * 6);
    assert_eq!(speaker(&mut stage).as_deref(), Some("b"), "{:?}", stage.status());
}

#[test]
fn whom_a_person_mentions_begins_by_itself_and_is_not_triggered() {
    let mut stage = table(two());
    let mention = format!("<@{}> what is the time?", user(&stage, "b"));
    stage.say(&mention);
    assert_eq!(triggers(&stage, "b"), 0);
    stage.advance(SECOND * 2);
    says(&mut stage, "b", "Noon");
    assert!(is(&mut stage, "b", PhaseKind::Running));
    stage.advance(QUIET);
    assert_eq!(speaker(&mut stage).as_deref(), Some("a"), "its turn is over");
    assert_eq!(posted_triggers(&stage, "b"), 0);
}

#[test]
fn whom_a_person_mentions_is_triggered_if_it_does_not_begin_by_itself() {
    let mut stage = table(two());
    let mention = format!("<@{}> what is the time?", user(&stage, "b"));
    stage.say(&mention);
    stage.advance(MILLI * 4_999);
    assert_eq!(triggers(&stage, "b"), 0);
    stage.advance(MILLI * 2);
    assert_eq!(triggers(&stage, "b"), 1);
    // One that answers only the moderator is triggered at once.
    let mut stage = table(two_like(ObservedBot::open_claw()));
    let mention = format!("<@{}> what is the time?", user(&stage, "b"));
    stage.say(&mention);
    assert_eq!(triggers(&stage, "b"), 1);
}

#[test]
fn a_trigger_stays_so_that_a_bot_can_react_to_it() {
    let mut stage = table(two());
    stage.say("Hello");
    says(&mut stage, "a", "Good morning");
    stage.advance(SECOND * 4);
    assert_eq!(triggers(&stage, "a"), 1);
    stage.advance(SECOND * 2);
    assert_eq!(triggers(&stage, "a"), 0);
}

#[test]
fn a_pass_word_is_removed_only_where_the_host_asks_for_it_and_only_in_the_turn() {
    let bot = ObservedBot::default().with(|bot| bot.removes = true);
    let mut stage = table(two_like(bot));
    let (channel, moderator) = (stage.channel(), stage.moderator());
    let rights = stage.discord().channel(channel).permissions(moderator);
    let rights = rights | Permissions::MANAGE_MESSAGES;
    stage.discord().channel(channel).set_member_overwrite(moderator, rights, Permissions::NONE);
    stage.say("Hello");
    says(&mut stage, "b", "[[pass]]");
    says(&mut stage, "a", " [[Pass]] ");
    stage.advance(SECOND);
    assert_eq!(stage.words(), ["Hello", "[[pass]]"]);
    stage.advance(SECOND);
    assert_eq!(speaker(&mut stage).as_deref(), Some("b"));
    let history = stage.status().unwrap();
    assert_eq!(history.phase, PhaseKind::Granted);
}

/// Found with three bots on discord.py: `/why` said that their host reports another text than it posts.
#[test]
fn how_its_turns_end_is_no_fault_of_its_host() {
    let mut stage = table(two());
    for word in ["One", "Two", "Three", "Four"] {
        stage.say(word);
        says(&mut stage, "a", &format!("{word} again"));
        stage.advance(QUIET);
        says(&mut stage, "b", "[[pass]]");
        stage.advance(MINUTE);
    }
    let told = why(&mut stage, "a");
    assert!(!told.contains("not recognised"), "{told}");
}

#[test]
fn a_notice_of_a_failed_run_counts_as_one() {
    let mut stage = table(two_like(ObservedBot::open_claw()));
    stage.say("Hello");
    says(&mut stage, "a", "⚠️ Agent couldn't generate a response. Please try again.");
    stage.advance(QUIET);
    assert_eq!(speaker(&mut stage).as_deref(), Some("b"));
    assert!(stage.status().unwrap().has_word, "the person's word was not taken");
}

#[test]
fn a_run_goes_on_over_a_restart() {
    let mut stage = table(two());
    stage.say("Hello");
    types(&mut stage, "a");
    stage.crash();
    says_while_down(&stage, "a", "While you were away");
    stage.clock().advance(SECOND);
    stage.restart();
    stage.advance(SECOND * 3);
    assert_eq!(speaker(&mut stage).as_deref(), Some("b"), "{:?}", stage.status());
    assert_eq!(stage.words(), ["Hello", "While you were away"]);
    assert_eq!(posted_triggers(&stage, "a"), 1);
}

#[test]
fn an_answer_that_came_while_the_process_was_down_is_of_the_turn() {
    // After 45 s an agent that has not begun is triggered once more.
    for down in [SECOND * 20, MINUTE] {
        let mut stage = table(two());
        stage.say("Hello");
        stage.advance(SECOND);
        stage.crash();
        says_while_down(&stage, "a", "While you were away");
        stage.clock().advance(down);
        stage.restart();
        stage.advance(SECOND * 4);
        assert_eq!(speaker(&mut stage).as_deref(), Some("b"), "{down:?}: {:?}", stage.status());
        assert_eq!(seat(&mut stage, "a"), Some(SeatTurn::Spoke), "{down:?}");
        assert_eq!(posted_triggers(&stage, "a"), 1, "{down:?}");
        assert!(!why(&mut stage, "a").contains("outside of its turn"), "{down:?}");
    }
}

fn says_while_down(stage: &Stage, name: &str, text: &str) {
    stage.discord().say(stage.channel(), user(stage, name), text);
}

#[test]
fn a_table_of_observed_and_hosted_agents_keeps_one_speaker_and_comes_to_rest() {
    let bot = ObservedBot::default();
    let hosted = Setup::new().observed("a", bot).hosted("c", ["c1".into(), "c2".into()]);
    let mut stage = table(hosted);
    stage.say("Hello");
    says(&mut stage, "a", "a1");
    stage.advance(QUIET);
    stage.advance(MINUTE);
    stage.until_dormant();
    assert_eq!(stage.words()[..3], ["Hello", "a1", "c1"]);
}

/// Two bots that answer each trigger after a second: the first time with a word, then with a pass word.
#[derive(Default)]
struct Bots {
    seen: Vec<MessageId>,
    due: Vec<(Timestamp, UserId)>,
    spoke: Vec<UserId>,
}

impl Bots {
    fn react(&mut self, stage: &mut Stage) {
        let (channel, now) = (stage.channel(), stage.clock().now());
        for name in ["a", "b"] {
            let user = user(stage, name);
            for message in stage.discord().messages(channel) {
                let is_trigger = message.author == stage.moderator()
                    && message.content.starts_with(&format!("<@{user}>"));
                if is_trigger && !self.seen.contains(&message.id) {
                    self.seen.push(message.id);
                    self.due.push((now + SECOND, user));
                }
            }
        }
        while let Some(at) = self.due.iter().position(|(at, _)| *at <= now) {
            let (_, user) = self.due.swap_remove(at);
            let text = if self.spoke.contains(&user) { "[[pass]]" } else { "a word" };
            self.spoke.push(user);
            stage.discord().say(channel, user, text);
            stage.settle();
        }
    }
}

#[test]
fn wherever_the_process_dies_each_bot_is_asked_once_and_heard() {
    let evening = |strike: Option<u64>| {
        let mut stage = table(two());
        stage.say("Hello");
        if let Some(points) = strike {
            stage.points().strike_in(points);
        }
        let mut bots = Bots::default();
        for _ in 0..240 {
            stage.advance(MILLI * 250);
            bots.react(&mut stage);
        }
        let died = stage.points().deaths().last().copied().unwrap_or("nowhere");
        assert_eq!(stage.status().unwrap().phase, PhaseKind::Dormant, "dies {died}");
        for name in ["a", "b"] {
            let told = why(&mut stage, name);
            assert!(!told.contains("outside of its turn"), "dies {died}: {told}");
        }
        let words = stage.words();
        let spoken = words.iter().filter(|text| *text == "a word").count();
        assert_eq!(spoken, 2, "dies {died}: {words:?}");
        // Four turns, each with one trigger.
        assert_eq!(bots.seen.len(), 4, "dies {died}: {words:?}");
        stage.points().passed()
    };
    let points = evening(None);
    for strike in 1..points {
        evening(Some(strike));
    }
}
