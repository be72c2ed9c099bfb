//! An agent in a room: the driver, a Discord in memory, and a scripted model.

use std::sync::Arc;

use dirigent::host::Builder;
use dirigent::operate::{Cause, EventOrLag};
use dirigent::ports::{Attachment, GuildId};
use dirigent::prelude::*;
use dirigent::snapshot::PhaseKind;
use dirigent_llm::script::{LoopbackLlm, ScriptedAnswer};
use dirigent_llm::{ChatAgent, ChatError, DirigentTools, Toolbox as _};
use dirigent_testkit::memory_discord::{Call, Event, Fault, Faults, GatewayEvents};
use dirigent_testkit::{ManualClock, MemoryDiscord};
use serde_json::json;

use crate::fixture::{SECOND, endpoint, soon};

/// An agent that has nothing to say.
struct Quiet;

#[dirigent::async_trait]
impl Agent for Quiet {
    async fn speak(&self, _: Turn) -> Result<Reply, AgentError> {
        Ok(Reply::Pass)
    }
}

/// A room with a poet, who asks a model, and a critic, who is quiet.
pub(crate) struct Room {
    pub(crate) model: LoopbackLlm,
    pub(crate) discord: MemoryDiscord,
    pub(crate) guild: GuildId,
    pub(crate) channel: ChannelId,
    pub(crate) person: UserId,
    pub(crate) moderator: UserId,
    pub(crate) dirigent: Dirigent,
    pub(crate) clock: ManualClock,
    heard: dirigent::operate::Events,
    pushed: GatewayEvents,
}

impl Room {
    pub(crate) async fn new(
        config: Config,
        change: impl FnOnce(ChatAgent, GuildId) -> ChatAgent,
    ) -> Self {
        Self::built(config, change, |builder| builder).await
    }

    /// The same with a change of the library's builder.
    pub(crate) async fn built(
        config: Config,
        change: impl FnOnce(ChatAgent, GuildId) -> ChatAgent,
        build: impl FnOnce(Builder) -> Builder,
    ) -> Self {
        let (model, clock) = (LoopbackLlm::start().await.unwrap(), ManualClock::new());
        let discord = MemoryDiscord::new(Arc::new(clock.clone()));
        let [moderator, poet, critic] = [discord.add_bot(), discord.add_bot(), discord.add_bot()];
        let person = discord.add_human();
        let guild = discord.add_guild(person);
        discord.guild(guild).set_administrator(moderator, true);
        let channel = discord.add_channel(guild, "round-table", &[moderator, poet, critic, person]);
        let agent = ChatAgent::new(endpoint(&model)).clock(clock.clone());
        let agent = agent.limits(|limits| {
            (limits.first_byte, limits.between_bytes) = (SECOND * 3_600, SECOND * 3_600);
        });
        let builder = Dirigent::builder(discord.account(moderator))
            .clock(clock.clone())
            .config(config)
            .settings(Settings::default().with(|settings| settings.typing = true))
            .host("poet", change(agent, guild), discord.account(poet))
            .host("critic", Quiet, discord.account(critic));
        let (dirigent, driver) = build(builder).build().unwrap();
        tokio::spawn(driver.run());
        dirigent.channel(channel).set_mode(Mode::Chat).await.unwrap();
        let (heard, pushed) = (dirigent.events(), discord.events());
        Self { model, discord, guild, channel, person, moderator, dirigent, clock, heard, pushed }
    }

    /// A person says this, and the library hears it.
    pub(crate) async fn say(&mut self, text: &str) {
        self.discord.say(self.channel, self.person, text);
        self.forward().await;
    }

    async fn forward(&mut self) {
        while let Some(event) = self.pushed.try_next() {
            if let Event::MessageCreated(message) = event {
                self.dirigent.message_created(message).await.unwrap();
            }
        }
    }

    /// Goes on until this is heard, which must be before the room sleeps.
    pub(crate) async fn until(&mut self, cause: Cause) {
        loop {
            if let EventOrLag::Transition(change) = soon(self.heard.next()).await.unwrap() {
                let change = change.transition;
                if change.cause == cause {
                    break;
                }
                let is_quiet = change.cause == Cause::AllPassed;
                assert!(!is_quiet, "the room sleeps before {cause:?}");
            }
            self.forward().await;
        }
        self.forward().await;
    }

    async fn until_dormant(&mut self) {
        loop {
            if let EventOrLag::Transition(change) = soon(self.heard.next()).await.unwrap() {
                if change.transition.to == PhaseKind::Dormant
                    && change.transition.from != PhaseKind::Dormant
                {
                    break;
                }
            }
            self.forward().await;
        }
    }

    pub(crate) async fn until_failed(&mut self) -> ChatError {
        loop {
            if let EventOrLag::AgentFailed(failure) = soon(self.heard.next()).await.unwrap() {
                let dirigent::operate::AgentFault::Error(error) = failure.fault else {
                    panic!("a panic")
                };
                return error.downcast_ref::<ChatError>().unwrap().clone();
            }
            self.forward().await;
        }
    }

    pub(crate) fn words(&self) -> Vec<String> {
        self.discord
            .messages(self.channel)
            .iter()
            .map(|message| message.content.to_string())
            .collect()
    }
}

#[tokio::test]
async fn an_agent_speaks_and_passes_in_its_room() {
    let mut room = Room::new(Config::default(), |agent, _| agent).await;
    room.model.script([
        ScriptedAnswer::text("<think>Hm.</think>poet: The sea."),
        ScriptedAnswer::text("**NO_REPLY**"),
    ]);
    room.say("A line, please.").await;
    room.until_dormant().await;
    room.say("Another?").await;
    room.until_dormant().await;
    assert_eq!(room.words(), ["A line, please.", "The sea.", "Another?"]);
    let prompt = room.model.requests()[1].body["messages"].clone();
    let told: Vec<_> = prompt.as_array().unwrap().iter().skip(1).collect();
    assert_eq!(told[1]["content"], "The sea.", "its own words are the assistant's");
    assert_eq!(told[1]["role"], "assistant");
    assert!(told[0]["content"].as_str().unwrap().ends_with(": A line, please."), "{prompt}");
}

/// HR15: whom a reply means by `@Name` is mentioned, if the library calls that agent.
#[tokio::test]
async fn a_name_behind_an_at_is_a_mention_of_a_hosted_agent() {
    let mut room = Room::new(Config::default(), |agent, _| agent).await;
    room.model
        .script([ScriptedAnswer::text("@Critic, over to you; not `@critic`, @poet or @everyone.")]);
    room.say("A line, please.").await;
    room.until(Cause::ReceiptGiven).await;
    let critic = room.dirigent.agent_accounts()[1];
    let said = format!("<@{critic}>, over to you; not `@critic`, @poet or @everyone.");
    assert_eq!(room.words()[1], said);
}

/// HR12: a model that looks at pictures is shown as many as it may be, the newest; otherwise none is read.
#[tokio::test]
async fn pictures_are_shown_to_a_model_that_may_see_them() {
    const PNG: &[u8] = b"\x89PNG\r\n\x1a\npicture";
    let with = |count: usize, bytes: usize| {
        move |agent: ChatAgent, _| {
            agent.limits(move |limits| {
                (limits.pictures, limits.picture_bytes) = (count, bytes);
                limits.prompt_tokens = 100_000;
            })
        }
    };
    // Of three pictures the newest two fit; the last file is none, whatever it is called.
    for (count, bytes, shown) in
        [(0, 9_999, 0), (1, 9_999, 1), (9, 9_999, 3), (9, 2 * PNG.len(), 2)]
    {
        let mut room = Room::new(Config::default(), with(count, bytes)).await;
        room.model.script((0..3).map(|_| ScriptedAnswer::text("NO_REPLY")));
        let picture = |name: &str, bytes: &[u8]| Attachment {
            content_type: Some("image/png".into()),
            ..room.discord.add_file(name, bytes)
        };
        let files = [picture("a.png", PNG), picture("b.png", PNG), picture("c.png", PNG)];
        let fake = picture("fake.png", b"<svg>");
        room.discord.say_with(room.channel, room.person, "these", |message| ChatMessage {
            attachments: files.into_iter().chain([fake]).collect(),
            ..message
        });
        room.say("What is it?").await;
        room.until_dormant().await;
        let requests = room.model.requests();
        let body = &requests.last().unwrap().body;
        assert_eq!(
            body.to_string().matches("data:image/png;base64,").count(),
            shown,
            "{count} {bytes}"
        );
        let reads = room.discord.calls().of(Call::File);
        assert_eq!(reads > 0, count > 0, "{reads}");
        let text = body.to_string();
        assert!(
            text.contains("these [file: a.png] [file: b.png] [file: c.png] [file: fake.png]"),
            "{text}"
        );
    }
}

#[tokio::test]
async fn an_agent_whose_channel_cannot_be_read_is_told_what_it_missed() {
    let mut room = Room::new(Config::default(), |agent, _| agent).await;
    room.discord.inject(|faults| {
        *faults = Faults::new(1).with_call_rate(Call::History, Fault::Forbidden, 1_000);
    });
    room.model.script([ScriptedAnswer::text("The sea."), ScriptedAnswer::text("NO_REPLY")]);
    room.say("A line, please.").await;
    room.until(Cause::ReceiptGiven).await;
    let told = room.model.requests()[0].said_by("user");
    assert!(told[0].ends_with("A line, please."), "{told:?}");
}

#[tokio::test]
async fn a_turn_that_is_taken_away_ends_the_request() {
    let mut room = Room::new(Config::default(), |agent, _| agent).await;
    room.model
        .script([ScriptedAnswer { stalls_after: Some(2), ..ScriptedAnswer::text("The sea is") }]);
    room.say("A line, please.").await;
    soon(room.model.requested(1)).await;
    room.dirigent.channel(room.channel).stop().await.unwrap();
    soon(room.model.given_up(1)).await;
    assert_eq!(room.words()[0], "A line, please.");
    assert!(!room.words().iter().any(|words| words.contains("sea")), "{:?}", room.words());
}

/// A refusal that asks to be left alone for so many seconds.
fn limited(seconds: u32) -> ScriptedAnswer {
    let headers = vec![("retry-after".to_owned(), seconds.to_string())];
    ScriptedAnswer { headers, ..ScriptedAnswer::refusal(429) }
}

#[tokio::test]
async fn nothing_is_repeated_beyond_the_turns_deadline() {
    let config = Config::default().with(|config| config.deadlines.run = Some(SECOND * 60));
    for wait in [60, 61] {
        let mut room = Room::new(config.clone(), |agent, _| agent).await;
        room.model.script([limited(wait)]);
        room.say("A line, please.").await;
        let failed = room.until_failed().await;
        assert_eq!(failed, ChatError::RateLimited { retry_after: Some(SECOND * wait) });
        assert_eq!(room.model.requests().len(), 1);
    }
}

#[tokio::test]
async fn another_model_is_asked_rather_than_waiting_long_within_the_turns_deadline() {
    let second = LoopbackLlm::start().await.unwrap();
    second.script([ScriptedAnswer::text("The sea.")]);
    let other = endpoint(&second);
    let mut room = Room::new(Config::default(), |agent, _| agent.fall_back_on(other)).await;
    room.model.script([limited(21)]);
    let began = room.clock.now();
    room.say("A line, please.").await;
    room.until(Cause::ReceiptGiven).await;
    assert_eq!(room.words(), ["A line, please.", "The sea."]);
    assert_eq!(room.clock.now(), began, "nothing was waited for");
}

#[tokio::test]
async fn a_repetition_within_the_turns_deadline_is_waited_for() {
    let config = Config::default().with(|config| config.deadlines.run = Some(SECOND * 60));
    let mut room = Room::new(config, |agent, _| agent).await;
    room.model.script([limited(40), ScriptedAnswer::text("The sea.")]);
    room.say("A line, please.").await;
    soon(room.model.requested(1)).await;
    let began = room.clock.now();
    while room.model.requests().len() < 2 {
        crate::fixture::pause().await;
        // Not up to the deadline: how long loopback takes is no matter of this clock.
        if room.clock.now().since(began) < SECOND * 55 {
            room.clock.advance(SECOND);
        }
    }
    room.until(Cause::ReceiptGiven).await;
    assert_eq!(room.words(), ["A line, please.", "The sea."]);
}

#[tokio::test]
async fn the_librarys_own_tools_act_once_they_are_connected() {
    let mut made = None;
    let mut room = Room::new(Config::default(), |agent, guild| {
        let tools = DirigentTools::new(guild).only(["create-chat-channel"]);
        made = Some(tools.clone());
        agent.tools(tools)
    })
    .await;
    room.model.script([ScriptedAnswer::text("Not yet.")]);
    room.say("Open a channel.").await;
    room.until(Cause::ReceiptGiven).await;
    assert!(room.model.requests()[0].body.get("tools").is_none(), "none is offered before");
    let moderator = Arc::new(room.discord.account(room.moderator));
    let tools = made.unwrap();
    tools.connect(dirigent::tools::Tools::new(room.dirigent.clone(), moderator));
    room.model.script([
        ScriptedAnswer::call("create-chat-channel", &json!({})),
        ScriptedAnswer::call("create-chat-channel", &json!({ "name": "harbour" })),
        ScriptedAnswer::text("It is open."),
        ScriptedAnswer::text("NO_REPLY"),
    ]);
    room.until_dormant().await;
    room.say("And now?").await;
    room.until(Cause::ReceiptGiven).await;
    let requests = room.model.requests();
    let answers = requests[3].said_by("tool");
    assert!(answers[0].contains("missing-argument"), "{answers:?}");
    assert!(
        room.discord.guild(room.guild).channel_names().iter().any(|(_, name)| name == "harbour"),
        "{answers:?}"
    );
    tools.disconnect();
    assert!(tools.tools().is_empty());
}

#[tokio::test]
async fn an_agent_types_while_its_model_thinks() {
    let mut room = Room::new(Config::default(), |agent, _| agent).await;
    room.model.script([ScriptedAnswer { is_mute: true, ..ScriptedAnswer::default() }]);
    room.say("A line, please.").await;
    soon(room.model.requested(1)).await;
    let calls = room.discord.calls();
    assert!(calls.of(Call::Typing) >= 1);
}

#[tokio::test]
async fn an_agent_that_fails_gives_the_floor_to_the_next() {
    let mut room =
        Room::new(Config::default(), |agent, _| agent.limits(|limits| limits.retries = 0)).await;
    room.model.script([ScriptedAnswer::refusal(500), ScriptedAnswer::text("Here I am.")]);
    room.say("A line, please.").await;
    room.until_failed().await;
    room.until_dormant().await;
    room.say("Are you there?").await;
    room.until(Cause::ReceiptGiven).await;
    assert_eq!(room.words().last().unwrap(), "Here I am.");
}
