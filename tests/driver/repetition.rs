//! Rooms that say nothing new: a reply that repeats what was said is not posted, and counts as nothing to add.

use dirigent::hooks::RunReport;
use dirigent::operate::{Cause, EventOrLag};
use dirigent::ports::{Attachment, AuthorKind, Embed, Shown, Timestamp};
use dirigent::{ChatMessage, MessageId, Permit, Reply, Settings, UserId};
use dirigent_testkit::memory_discord::Event;
use dirigent_testkit::scripted_agent::{Act, Line};
use dirigent_verify::stage::{Setup, Stage};

/// What the first conversation with a real model said until the ceiling ended it.
const RAIN: [&str; 6] = [
    "2. The best thing about rain.",
    "3. The best thing about rain.",
    "4. The best thing about rain.",
    "5. The best thing about rain.",
    "6. The best thing about rain.",
    "7. The best thing about rain.",
];

fn lines<const N: usize>(numbers: [usize; N]) -> [Line; N] {
    numbers.map(|number| Line::from(RAIN[number]))
}

fn causes(events: &mut dirigent::operate::Events) -> Vec<Cause> {
    let mut causes = Vec::new();
    while let Some(heard) = events.try_next() {
        if let EventOrLag::Transition(event) = heard {
            causes.push(event.transition.cause);
        }
    }
    causes
}

fn said(stage: &Stage) -> Vec<String> {
    stage.words()
}

/// F29
#[test]
fn agents_that_count_on_in_a_list_that_says_nothing_fall_asleep_and_are_told() {
    let mut stage =
        Setup::new().hosted("a", lines([0, 2, 4])).hosted("b", lines([1, 3, 5])).stage();
    stage.chat();
    let mut events = stage.dirigent().events();
    stage.say("What do you like about rain?");
    stage.until_dormant();
    assert_eq!(said(&stage), ["What do you like about rain?", RAIN[0], RAIN[1]]);
    let causes = causes(&mut events);
    // The other one spoke last, and is not even asked.
    assert!(causes.contains(&Cause::Repeated), "{causes:?}");
    assert_eq!(causes.last(), Some(&Cause::AllPassed), "{causes:?}");
    stage.say("And about snow?");
    stage.until_dormant();
    let told: Vec<_> = stage.agent("a").turns().iter().map(|turn| turn.repeated).collect();
    assert_eq!(told, [false, false, true, false], "with its next turn, once");
}

/// F29
#[test]
fn what_a_person_asks_for_again_is_said_again() {
    let mut stage = Setup::new().hosted("a", lines([0, 2])).hosted("b", []).stage();
    stage.chat();
    stage.say("What do you like about rain?");
    stage.until_dormant();
    stage.say("Say that again, please.");
    stage.until_dormant();
    let words = said(&stage);
    assert_eq!(words[1..], [RAIN[0], "Say that again, please.", RAIN[2]]);
}

/// F29
#[test]
fn agents_of_the_host_that_repeat_themselves_have_nothing_to_add_either() {
    let mut stage =
        Setup::new().hooked("a", lines([0, 2, 4])).hooked("b", lines([1, 3, 5])).stage();
    stage.chat();
    let mut events = stage.dirigent().events();
    stage.say("What do you like about rain?");
    stage.until_dormant();
    let causes = causes(&mut events);
    assert_eq!(causes.iter().filter(|cause| **cause == Cause::Repeated).count(), 2, "{causes:?}");
    // They post themselves: what was on its way arrives, and wakes nobody.
    assert_eq!(said(&stage)[1..], RAIN[..4]);
    assert_eq!(causes.last(), Some(&Cause::AllPassed), "{causes:?}");
}

/// F29
#[test]
fn repetitions_are_posted_where_the_host_wants_them() {
    let mut stage = Setup::new()
        .hosted("a", lines([0, 2]))
        .hosted("b", lines([1, 3]))
        .settings(|settings| settings.reading.skip_repetitions = false)
        .stage();
    stage.chat();
    stage.say("What do you like about rain?");
    stage.until_dormant();
    assert_eq!(said(&stage)[1..], RAIN[..4]);
    assert!(!Settings::seed_literal().reading.skip_repetitions);
}

/// F29
#[test]
fn a_room_that_slept_remembers_nothing_that_was_said() {
    let mut stage = Setup::new().hosted("a", lines([0, 2])).hosted("b", []).stage();
    stage.chat();
    stage.say("What do you like about rain?");
    stage.until_dormant();
    let channel = stage.channel();
    let mut events = stage.dirigent().events();
    stage.call(move |d| async move { d.channel(channel).wake(None).await }).unwrap();
    stage.until_dormant();
    let causes = causes(&mut events);
    assert_eq!(said(&stage)[1..], [RAIN[0], RAIN[2]], "{causes:?}");
}

/// How many replies of "a" are posted that shows these, one after the other; "b" shows the same thing each time.
fn posted(replies: [Reply; 2]) -> usize {
    let same = Reply::text("").embed(Embed::new().title("Sun").colour(7));
    let lines = replies.into_iter().cycle().take(24).map(|reply| Line::from(Act::Reply(reply)));
    let others = std::iter::repeat_n(Line::from(Act::Reply(same)), 24);
    let mut stage = Setup::new().hosted("a", lines).hosted("b", others).stage();
    stage.chat();
    stage.say("What do you like about rain?");
    stage.until_dormant();
    let messages = stage.discord().messages(stage.channel());
    let is_other = |shown: &Shown| matches!(shown, Shown::Embed(text) if &**text == "Sun");
    let of_other = messages.iter().filter(|message| message.shown.iter().any(is_other)).count();
    assert_eq!(of_other, 1, "what was shown once is not shown again");
    messages.len() - 1 - of_other
}

/// F29, WY16
#[test]
fn what_shows_the_same_embed_or_file_again_is_not_posted_again() {
    let rain = || Embed::new().title("Rain").image("https://example.org/1.png");
    let embed = |words: &str, embed: Embed| Reply::text(words).embed(embed);
    let file = |name: &str, bytes: &[u8]| Reply::text("").file(name, bytes);
    let moment = Timestamp::from_millis(1_700_000_000_000);
    for (first, second) in [
        (embed("", rain()), embed("", rain())),
        (embed("", rain().colour(1)), embed("", rain().colour(2).timestamp(moment))),
        (embed(RAIN[0], rain()), embed(RAIN[2], rain())),
        (file("rain.png", b"drops"), file("rain.png", b"drops")),
    ] {
        assert_eq!(posted([first.clone(), second.clone()]), 1, "{first:?} {second:?}");
    }
    let fields = |value: &str| Embed::new().title("Rain").field("Today", value, true);
    let long = "The best thing about rain is the smell of it.";
    for (first, second) in [
        (embed("", rain()), embed("", rain().image("https://example.org/2.png"))),
        (embed(long, rain()), embed(long, rain().url("https://example.org"))),
        (embed("", fields("4 mm")), embed("", fields("5 mm"))),
        (embed("", rain()), embed("", Embed::new().title("Snow"))),
        (embed(long, rain()), Reply::text(long)),
        (file("1.png", b"drops"), file("2.png", b"drops")),
        (file("rain.png", b"drops"), file("rain.png", b"many drops")),
        (file("rain.png", b"drops"), file("rain.png", b"flood")),
    ] {
        assert_eq!(posted([first.clone(), second.clone()]), 2, "{first:?} {second:?}");
    }
}

/// WY16
#[test]
fn another_agent_may_show_the_same_with_few_words_and_not_with_many() {
    let shown = |words: &str| {
        let reply = Reply::text(words).embed(Embed::new().title("Rain"));
        Line::from(Act::Reply(reply))
    };
    for (words, posts) in [("Yes.", 2), ("The best thing about rain is the smell of it.", 1)] {
        let mut stage =
            Setup::new().hosted("a", [shown(words)]).hosted("b", [shown(words)]).stage();
        stage.chat();
        stage.say("What do you like about rain?");
        stage.until_dormant();
        assert_eq!(said(&stage)[1..], vec![words; posts]);
    }
}

/// A room of agents with gateways of their own, whose host tells of them what `Turns` does.
struct Own(Stage);

impl Own {
    fn new() -> Self {
        Self::of(Setup::new())
    }

    fn of(setup: Setup) -> Self {
        let mut stage = setup.hooked("a", []).hooked("b", []).without_pump().stage();
        stage.chat();
        let person = stage.person();
        let mut own = Self(stage);
        own.posts(person, AuthorKind::Human, "What do you like about rain?");
        own
    }

    fn posts(&mut self, author: UserId, author_kind: AuthorKind, text: &str) -> MessageId {
        self.posts_with(author, author_kind, text, Vec::new())
    }

    fn posts_with(
        &mut self,
        author: UserId,
        author_kind: AuthorKind,
        text: &str,
        attachments: Vec<Attachment>,
    ) -> MessageId {
        let channel = self.0.channel();
        let id = self.0.discord().say(channel, author, text);
        let message = ChatMessage::new(id, channel, author, text);
        let message = ChatMessage { author_kind, attachments, ..message };
        self.0.call(move |d| async move { d.message_created(message).await }).unwrap();
        id
    }

    /// The agent posts this with a picture.
    fn shows(&mut self, agent: &str, text: &str) {
        let user = self.0.agent(agent).user();
        let picture = Attachment::new("rain.png", "https://example.org/rain.png", 5);
        self.posts_with(user, AuthorKind::Bot, text, vec![picture]);
    }

    fn says(&mut self, agent: &str, text: &str) -> MessageId {
        let user = self.0.agent(agent).user();
        self.posts(user, AuthorKind::Bot, text)
    }

    fn has_floor(&mut self, agent: &'static str) {
        self.0.until("the agent has the floor", |stage| {
            stage.status().unwrap().speaker.is_some_and(|speaker| speaker.as_str() == agent)
        });
    }

    /// The agent has the floor, and may speak.
    fn permitted(&mut self, agent: &'static str) -> Permit {
        let channel = self.0.channel();
        self.has_floor(agent);
        self.0.call(move |d| async move {
            d.channel(channel).may_speak(&agent.into(), None).await.unwrap()
        })
    }

    /// The agent has the floor, and posts this.
    fn begins(&mut self, agent: &'static str, text: &str) -> (Permit, MessageId) {
        (self.permitted(agent), self.says(agent, text))
    }

    /// The agent has the floor, posts this, and its host says afterwards that the run ended so.
    fn turn(&mut self, agent: &'static str, text: &str, receipt: bool, ending: RunReport<'static>) {
        let (channel, (permit, id)) = (self.0.channel(), self.begins(agent, text));
        self.0.call(move |d| async move {
            if receipt {
                d.channel(channel).delivered(&agent.into(), None, vec![id]).await.unwrap();
            }
            permit.end(ending).unwrap();
        });
    }
}

/// F29
#[test]
fn an_agent_of_another_gateway_is_held_to_its_messages_where_its_host_reports_no_text() {
    let ends = [(false, RunReport::Pass), (false, RunReport::Failed), (true, RunReport::Pass)];
    for (receipt, ending) in ends {
        let mut own = Own::new();
        let mut events = own.0.dirigent().events();
        own.turn("a", RAIN[0], receipt, ending);
        own.turn("b", "I like its smell, and that people stay at home.", receipt, ending);
        own.turn("a", RAIN[2], receipt, ending);
        own.0.settle();
        let causes = causes(&mut events);
        let repeated = causes.iter().filter(|cause| **cause == Cause::Repeated).count();
        assert_eq!(repeated, 1, "{receipt} {ending:?}: {causes:?}");
    }
}

/// F29
#[test]
fn what_a_person_asks_for_again_in_the_midst_of_a_talk_is_said_again() {
    let mut own = Own::new();
    let (mut events, person) = (own.0.dirigent().events(), own.0.person());
    own.turn("a", RAIN[0], false, RunReport::Text(RAIN[0]));
    own.has_floor("b");
    own.posts(person, AuthorKind::Human, "Say that again, please.");
    own.turn("b", "I like its smell, and that people stay at home.", false, RunReport::Pass);
    own.turn("a", RAIN[2], false, RunReport::Text(RAIN[2]));
    own.0.settle();
    let causes = causes(&mut events);
    assert!(!causes.contains(&Cause::Repeated), "{causes:?}");
}

/// F29
#[test]
fn who_repeats_itself_without_the_floor_keeps_no_room_awake() {
    let mut own = Own::new();
    let mut events = own.0.dirigent().events();
    own.turn("a", RAIN[0], false, RunReport::Text(RAIN[0]));
    own.turn("b", "NO_REPLY", false, RunReport::Pass);
    own.turn("a", "NO_REPLY", false, RunReport::Pass);
    drop(causes(&mut events));
    // The other one has the floor, and this is no late piece any more.
    own.0.advance(std::time::Duration::from_secs(60));
    own.says("a", RAIN[2]);
    own.0.until_dormant();
    let causes = causes(&mut events);
    assert!(!causes.contains(&Cause::AgentMessage), "{causes:?}");
}

/// F29
#[test]
fn an_agent_of_another_gateway_is_told_that_it_repeated_itself_until_it_says_something_new() {
    let mut own = Own::new();
    let mut pushed = own.0.discord().events();
    own.turn("a", RAIN[0], false, RunReport::Text(RAIN[0]));
    own.turn("b", "I like its smell, and that people stay at home.", false, RunReport::Pass);
    own.turn("a", RAIN[2], false, RunReport::Text(RAIN[2]));
    own.turn("b", "And it is good for the garden, of course.", false, RunReport::Pass);
    own.turn("a", "It also makes no noise on a roof of straw.", false, RunReport::Pass);
    own.turn("b", "That depends on how thick the straw is.", false, RunReport::Pass);
    own.has_floor("a");
    own.0.settle();
    let (moderator, user) = (own.0.moderator(), own.0.agent("a").user());
    let mut told = Vec::new();
    while let Some(event) = pushed.try_next() {
        if let Event::MessageCreated(said) = event {
            if said.author == moderator && said.content.contains(&format!("<@{user}>")) {
                told.push(said.content.ends_with(dirigent::settings::Texts::REPETITION_HINT));
            }
        }
    }
    // Its first trigger was posted before anything was listened to.
    assert_eq!(told, [false, true, false]);
}

/// F29
#[test]
fn a_host_that_is_called_for_its_agent_is_told_that_it_repeated_itself() {
    let mut own = Own::of(Setup::new().direct());
    own.turn("a", RAIN[0], false, RunReport::Text(RAIN[0]));
    own.turn("b", "I like its smell, and that people stay at home.", false, RunReport::Pass);
    own.turn("a", RAIN[2], false, RunReport::Text(RAIN[2]));
    own.turn("b", "And it is good for the garden, of course.", false, RunReport::Pass);
    own.turn("a", "It also makes no noise on a roof of straw.", false, RunReport::Pass);
    own.turn("b", "That depends on how thick the straw is.", false, RunReport::Pass);
    own.has_floor("a");
    own.0.settle();
    let calls = own.0.wake_calls();
    let told = |agent: &str| -> Vec<bool> {
        let of_agent = calls.iter().filter(|call| call.agent.as_str() == agent);
        of_agent.map(|call| call.repeated).collect()
    };
    assert_eq!(told("a"), [false, false, true, false], "until it says something new");
    assert_eq!(told("b"), [false; 3]);
}

/// F29
#[test]
fn what_a_run_posted_that_its_deadline_ends_is_not_compared_and_leaves_nothing_to_compare_with() {
    let mut own = Own::new();
    own.turn("a", RAIN[0], false, RunReport::Text(RAIN[0]));
    own.turn("b", "I like its smell, and that people stay at home.", false, RunReport::Pass);
    let mut events = own.0.dirigent().events();
    let unended = own.begins("a", RAIN[2]);
    own.0.advance(std::time::Duration::from_secs(600));
    own.has_floor("b");
    let ended = causes(&mut events);
    assert!(ended.contains(&Cause::RunTimedOut), "{ended:?}");
    assert!(!ended.contains(&Cause::Repeated), "{ended:?}");
    drop(unended);
    let straw = "It also makes no noise on a roof of straw.";
    let unended = own.begins("b", straw);
    own.0.advance(std::time::Duration::from_secs(600));
    own.turn("a", "NO_REPLY", false, RunReport::Pass);
    drop(unended);
    own.turn("b", straw, false, RunReport::Text(straw));
    own.0.settle();
    let ended = causes(&mut events);
    assert!(!ended.contains(&Cause::Repeated), "{ended:?}");
}

/// F29
#[test]
fn an_agent_that_passes_then_is_told_once() {
    let lines = [RAIN[0].into(), RAIN[2].into(), "NO_REPLY".into(), "Snow is quiet.".into()];
    let mut stage = Setup::new().hosted("a", lines).hosted("b", [RAIN[1].into()]).stage();
    stage.chat();
    for question in ["What do you like about rain?", "And about snow?", "And about fog?"] {
        stage.say(question);
        stage.until_dormant();
    }
    let told: Vec<_> = stage.agent("a").turns().iter().map(|turn| turn.repeated).collect();
    assert_eq!(told, [false, false, true, false]);
}

/// F29
#[test]
fn repetitions_of_agents_of_the_host_count_where_it_wants_them() {
    let mut own =
        Own::of(Setup::new().settings(|settings| settings.reading.skip_repetitions = false));
    let mut events = own.0.dirigent().events();
    own.turn("a", RAIN[0], false, RunReport::Text(RAIN[0]));
    own.turn("b", "I like its smell, and that people stay at home.", false, RunReport::Pass);
    own.turn("a", RAIN[2], false, RunReport::Text(RAIN[2]));
    own.0.settle();
    let causes = causes(&mut events);
    assert!(!causes.contains(&Cause::Repeated), "{causes:?}");
}

/// F29
#[test]
fn what_is_posted_with_a_file_is_not_compared() {
    let mut own = Own::new();
    let mut events = own.0.dirigent().events();
    own.turn("a", RAIN[0], false, RunReport::Text(RAIN[0]));
    own.turn("b", "I like its smell, and that people stay at home.", false, RunReport::Pass);
    let permit = own.permitted("a");
    own.shows("a", RAIN[2]);
    permit.end(RunReport::Pass).unwrap();
    own.has_floor("b");
    let causes = causes(&mut events);
    assert!(!causes.contains(&Cause::Repeated), "{causes:?}");
}

/// F29
#[test]
fn an_agent_that_fails_then_was_told_and_is_not_told_again() {
    let lines = [RAIN[0].into(), RAIN[2].into(), Line::from(Act::Fail), "Snow is quiet.".into()];
    let mut stage = Setup::new().hosted("a", lines).hosted("b", [RAIN[1].into()]).stage();
    stage.chat();
    for question in ["What do you like about rain?", "And about snow?", "And about fog?"] {
        stage.say(question);
        stage.until_dormant();
    }
    let told: Vec<_> = stage.agent("a").turns().iter().map(|turn| turn.repeated).collect();
    assert_eq!(told[..4], [false, false, true, false]);
}

/// F29
#[test]
fn an_agent_that_posts_again_without_the_floor_what_was_said_is_not_told() {
    let mut own = Own::of(Setup::new().direct());
    let person = own.0.person();
    own.turn("a", RAIN[0], false, RunReport::Text(RAIN[0]));
    own.turn("b", "NO_REPLY", false, RunReport::Pass);
    own.turn("a", "NO_REPLY", false, RunReport::Pass);
    own.0.advance(std::time::Duration::from_secs(60));
    own.says("a", RAIN[2]);
    own.0.until_dormant();
    own.posts(person, AuthorKind::Human, "And about snow?");
    own.has_floor("a");
    own.0.settle();
    assert!(own.0.wake_calls().iter().all(|call| !call.repeated));
}

/// F29
#[test]
fn what_a_run_said_whose_turn_is_over_is_not_compared() {
    let mut own = Own::of(Setup::new().direct());
    own.turn("a", RAIN[0], false, RunReport::Text(RAIN[0]));
    own.turn("b", "I like its smell, and that people stay at home.", false, RunReport::Pass);
    let late = own.permitted("a");
    own.0.advance(std::time::Duration::from_secs(600));
    own.has_floor("b");
    assert!(late.end(RunReport::Text(RAIN[2])).is_err(), "the turn is over");
    own.turn("b", "And it is good for the garden, of course.", false, RunReport::Pass);
    own.has_floor("a");
    own.0.settle();
    assert!(own.0.wake_calls().iter().all(|call| !call.repeated));
}
