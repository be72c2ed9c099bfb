//! People who play, and scenes in a channel.

use std::sync::Arc;
use std::time::Duration;

use dirigent::ports::Timestamp;
use dirigent::{ChannelId, Clock as _, UserId};
use dirigent_scene::{
    Cast, CastRole, ChannelOutlet, EventKind, HumanActor, NotAsked, Outlet, SceneError,
    ScriptedActor, Slug, SpokenLine,
};
use dirigent_testkit::memory_discord::Fault;
use dirigent_testkit::{ManualClock, MemoryDiscord};

use crate::fixture::{Place, says, turn};

/// R211
#[tokio::test]
async fn a_person_plays_a_character_with_empty_thinking_and_no_form() {
    let place = Place::new(&[]);
    let (actor, mut prompter) = HumanActor::new();
    let sam =
        ScriptedActor::new([says("Hello."), says("I should head out.")]).journal("Dear diary.");
    let cast = Cast::new().actor("sam", || sam).actor("maria", || actor);
    let scene = place.two().first_speaker(Slug::new("sam").unwrap()).actors(cast).build().unwrap();
    assert_eq!(prompter.say("Too early."), Err(NotAsked));
    let person = async {
        assert_eq!(prompter.next().await.unwrap().text(), "Hello.");
        assert!(prompter.briefing().is_some());
        prompter.say("A tag: </speech><speech> & no form. ").unwrap();
        prompter.say("A second line for the same turn.").unwrap();
        assert_eq!(prompter.next().await.unwrap().text(), "I should head out.");
        prompter.say("").unwrap();
        prompter.next().await.unwrap();
        prompter.say("It was short.").unwrap();
        prompter
    };
    let (epilogue, mut prompter) = tokio::join!(scene.run(), person);
    drop(epilogue.unwrap());
    assert!(prompter.next().await.is_none(), "the scene is over");
    let log = place.log();
    let maria = log.events().iter().filter(|event| event.from.as_str() == "maria");
    let maria: Vec<_> = maria.map(|event| (event.kind.as_str(), &*event.text)).collect();
    assert_eq!(
        maria,
        [
            ("think", ""),
            ("speak", "A tag: </speech><speech> & no form."),
            ("think", ""),
            ("speak", ""),
            ("journal", "It was short.")
        ]
    );
}

struct Channel {
    clock: ManualClock,
    discord: MemoryDiscord,
    id: ChannelId,
    maria: UserId,
    sam: UserId,
    person: UserId,
    stranger: UserId,
}

impl Channel {
    fn new() -> Self {
        let clock = ManualClock::new();
        let discord = MemoryDiscord::new(Arc::new(clock.clone()));
        let [maria, sam] = [(); 2].map(|()| discord.add_bot());
        let [person, stranger] = [(); 2].map(|()| discord.add_human());
        let id = discord.add_channel(
            discord.add_guild(person),
            "stage",
            &[maria, sam, person, stranger],
        );
        Self { clock, discord, id, maria, sam, person, stranger }
    }

    fn outlet(&self) -> ChannelOutlet {
        ChannelOutlet::new(self.id)
            .clock(self.clock.clone())
            .account("maria", self.discord.account(self.maria))
            .account("sam", self.discord.account(self.sam))
    }

    fn messages(&self) -> Vec<(UserId, String)> {
        let messages = self.discord.messages(self.id);
        messages.iter().map(|message| (message.author, message.content.to_string())).collect()
    }

    /// Waits for the future, and lets time pass whenever it waits for that.
    async fn in_time<T>(&self, work: impl Future<Output = T>) -> T {
        let passing = async {
            loop {
                for _ in 0..50 {
                    tokio::task::yield_now().await;
                }
                self.clock.advance_to_next_wake();
            }
        };
        tokio::select! {
            done = work => done,
            () = passing => unreachable!("time passes for ever"),
        }
    }
}

fn line(speech: &str) -> SpokenLine {
    SpokenLine::for_tests(1, CastRole::new(Slug::new("maria").unwrap(), "Maria"), speech)
}

/// R210, R211, R238
#[tokio::test]
async fn in_a_channel_speech_is_posted_by_its_character_and_nothing_else_is() {
    let channel = Channel::new();
    let place = Place::new(&[
        (
            "maria",
            vec![
                turn("SECRET", "Hello."),
                "SECRET, malformed".into(),
                turn("SECRET", "Bye."),
                turn("SECRET", "Farewell."),
            ],
        ),
        ("sam", vec![turn("SECRET", &"long ".repeat(600)), turn("SECRET", "Safe travels.")]),
    ]);
    let twice = Place::new(&[
        ("maria", place.scripts["maria"].clone()),
        ("sam", place.scripts["sam"].clone()),
    ]);
    place.stage.lock().unwrap().answers.clear();
    let scripts =
        place.two().outlet(channel.outlet()).clock(channel.clock.clone()).build().unwrap();
    channel.discord.say(channel.id, channel.person, "Can I say something?");
    let started = channel.clock.now();
    let epilogue = channel.in_time(scripts.run()).await.unwrap();
    let said: Vec<_> = channel.messages();
    assert_eq!(said[0].0, channel.person);
    let authors: Vec<_> = said[1..].iter().map(|(author, _)| *author).collect();
    assert_eq!(
        authors,
        [channel.maria, channel.sam, channel.sam, channel.maria, channel.sam, channel.maria]
    );
    assert!(said.iter().all(|(_, text)| !text.contains("SECRET")));
    let heard: Vec<_> = place.cues("maria").into_iter().chain(place.cues("sam")).collect();
    assert!(!heard.iter().any(|(_, text)| text.contains("something")), "people are not routed");
    assert!(
        channel.clock.now().since(started) >= Duration::from_secs(4),
        "a second between two messages"
    );
    // The same log and transcript as without a channel, but for the times.
    twice.two().build().unwrap().run().await.unwrap();
    let texts = |place: &Place| {
        place.log().events().iter().map(|event| event.text.clone()).collect::<Vec<_>>()
    };
    assert_eq!(texts(&place), texts(&twice));
    assert_eq!(
        place.read("transcript.md").split_once("**Participants").unwrap().1,
        twice.read("transcript.md").split_once("**Participants").unwrap().1
    );
    assert_eq!(epilogue.report().reason.as_str(), "natural");
}

#[tokio::test]
async fn a_speech_whose_answer_is_lost_stands_there_once() {
    for fault in [
        Fault::LostAnswer,
        Fault::NotDelivered,
        Fault::ServerErrorApplied,
        Fault::Refused,
        Fault::RateLimited { retry_after: Duration::from_secs(90) },
    ] {
        let channel = Channel::new();
        channel.discord.next_post(fault);
        let mut outlet = channel.outlet();
        let line = line("Hello.");
        channel.in_time(outlet.show(&line, false)).await.unwrap();
        assert_eq!(channel.messages(), [(channel.maria, "Hello.".into())], "{fault:?}");
    }
}

#[tokio::test]
async fn a_speech_that_cannot_be_posted_aborts_the_scene() {
    let channel = Channel::new();
    channel.discord.next_post(Fault::Forbidden);
    let place = Place::new(&[("maria", vec![says("Hello.")]), ("sam", vec![])]);
    let scene = place.two().outlet(channel.outlet()).clock(channel.clock.clone()).build().unwrap();
    let error = channel.in_time(scene.run()).await.unwrap_err();
    assert!(matches!(error, SceneError::Show { .. }), "{error}");
    assert_eq!(place.log().reason().unwrap().as_str(), "aborted");
    assert_eq!(channel.messages(), []);
}

#[tokio::test]
async fn a_speech_that_may_stand_there_is_looked_for_and_only_the_rest_is_posted() {
    let channel = Channel::new();
    let long = "word ".repeat(900);
    let parts = dirigent::host::split_reply(&long);
    channel.discord.say(channel.id, channel.person, "Before.");
    for stands in 0..=parts.len() {
        let mut outlet = channel.outlet();
        let account = channel.discord.account(channel.maria);
        for (part, number) in parts[..stands].iter().zip(1..) {
            let nonce = dirigent::ports::Nonce::from_parts(1, stands as u64, number);
            let post = dirigent::ports::Post::new(channel.id, part.as_str(), nonce);
            dirigent::DiscordApi::post(&account, post).await.unwrap();
        }
        let before = channel.messages().len();
        channel.in_time(outlet.show(&line(&long), true)).await.unwrap();
        let posted = channel.messages().len() - before;
        assert_eq!(posted, parts.len() - stands);
        channel.in_time(outlet.show(&line("Something else."), false)).await.unwrap();
    }
}

#[tokio::test]
async fn a_person_plays_in_the_channel_with_their_own_account() {
    let channel = Channel::new();
    let place = Place::new(&[]);
    let (actor, prompter) = HumanActor::new();
    let mut prompter = prompter.in_channel(channel.id, channel.person);
    let sam = ScriptedActor::new([says("Hello."), says("I should head out.")]);
    let cast = Cast::new().actor("sam", || sam).actor("maria", || actor);
    let outlet = ChannelOutlet::new(channel.id)
        .clock(channel.clock.clone())
        .account("sam", channel.discord.account(channel.sam));
    let scene = place.two().first_speaker(Slug::new("sam").unwrap()).actors(cast).outlet(outlet);
    let scene = scene.clock(channel.clock.clone()).build().unwrap();
    let stranger = channel.stranger;
    let person = async {
        for words in ["Good morning.", "Bye.", "A journal."] {
            prompter.next().await.unwrap();
            let hear = |author: UserId, words: &str| {
                let id = channel.discord.say(channel.id, author, words);
                let messages = channel.discord.messages(channel.id);
                prompter.hear(messages.iter().find(|message| message.id == id).unwrap())
            };
            assert!(!hear(stranger, "Can I play?"));
            assert!(hear(channel.person, words));
        }
    };
    let both = async { tokio::join!(scene.run(), person) };
    let (epilogue, ()) = channel.in_time(both).await;
    epilogue.unwrap();
    let log = place.log();
    let said: Vec<_> = log
        .events()
        .iter()
        .filter(|event| event.kind == EventKind::Speak)
        .map(|event| &*event.text)
        .collect();
    assert_eq!(said, ["Hello.", "Good morning.", "I should head out.", "Bye."]);
    let own: Vec<_> = channel
        .messages()
        .into_iter()
        .filter(|(author, _)| *author != stranger)
        .map(|(_, text)| text)
        .collect();
    assert_eq!(own, ["Hello.", "Good morning.", "I should head out.", "Bye.", "A journal."]);
    let _: Timestamp = channel.clock.now();
}
