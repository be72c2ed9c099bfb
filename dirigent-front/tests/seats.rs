//! An agent without a bot: Dirigent posts what it says.

use std::sync::Arc;

use dirigent::ports::ApiError;
use dirigent::snapshot::AgentKey;
use dirigent::store::{
    ChannelStore, Commit, CommitError, LoadError, MemoryChannels, Revision, StoredChannel,
};
use dirigent::{AgentId, ChannelId, Settings, async_trait};
use http::StatusCode;
use serde_json::json;
use tokio::sync::watch;

use crate::stage::{ASKER, FrontStage, SITTER};

const ME: (&str, &str) = ("sitter", SITTER);

/// The one that asks passes in this run.
async fn pass(stage: &FrontStage, run: &str) {
    stage.turn_of("asker").await;
    stage.ask("begin", ("asker", ASKER), json!({ "run": run })).await;
    stage.ask("end", ("asker", ASKER), json!({ "run": run, "outcome": "pass" })).await;
}

#[tokio::test]
async fn what_it_says_is_posted_once_by_its_account() {
    let stage = FrontStage::open().await;
    let early = stage.ask("begin", ME, json!({ "run": "1" })).await;
    assert_eq!((&early["allowed"], early["missed"].is_null()), (&false.into(), true), "{early}");
    stage.say("Who tests it?");
    pass(&stage, "0").await;
    stage.turn_of("sitter").await;
    let begun = stage.ask("begin", ME, json!({ "run": "1" })).await;
    assert_eq!((&begun["allowed"], &begun["wasRunning"]), (&true.into(), &false.into()), "{begun}");
    assert!(begun["missed"][0]["line"].as_str().unwrap().ends_with(": Who tests it?"), "{begun}");
    assert!(begun["briefing"].as_str().unwrap().contains("Sitter"));
    let again = stage.ask("begin", ME, json!({ "run": "1" })).await;
    assert_eq!((&again["wasRunning"], &again["missed"]), (&true.into(), &begun["missed"]));
    let refused = stage.ask("say", ME, json!({ "run": "2", "text": "Not me." })).await;
    assert_eq!(refused["accepted"], false, "another run");
    for is_duplicate in [false, true] {
        let said = stage.ask("say", ME, json!({ "run": "1", "text": "I do." })).await;
        assert_eq!((&said["accepted"], &said["duplicate"]), (&true.into(), &is_duplicate.into()));
    }
    stage.turn_of("asker").await;
    let said = stage.discord.messages(stage.channel);
    let own: Vec<_> = said.iter().filter(|it| it.author == stage.accounts[1]).collect();
    assert_eq!((own.len(), &*own[0].content), (1, "I do."));
}

#[tokio::test]
async fn it_passes_and_what_was_taken_away_is_not_accepted() {
    let stage = FrontStage::open().await;
    stage.say("Who tests it?");
    pass(&stage, "1").await;
    stage.turn_of("sitter").await;
    stage.ask("begin", ME, json!({ "run": "1" })).await;
    let ended = stage.ask("end", ME, json!({ "run": "1", "outcome": "pass" })).await;
    assert_eq!(ended["accepted"], true);
    stage.until(|floor| floor.is_none()).await;
    stage.say("And now?");
    pass(&stage, "2").await;
    stage.turn_of("sitter").await;
    stage.ask("begin", ME, json!({ "run": "2" })).await;
    stage.dirigent.channel(stage.channel).stop().await.unwrap();
    let late = stage.ask("say", ME, json!({ "run": "2", "text": "Too late." })).await;
    assert_eq!(late["accepted"], false, "{late}");
    assert_eq!(stage.words(), ["Who tests it?", "And now?"]);
}

/// Both ways in are told apart by a sentence, because a program that takes the wrong one would post twice, or never.
#[tokio::test]
async fn each_kind_of_agent_is_sent_to_its_own_request() {
    let stage = FrontStage::open().await;
    let channel = stage.channel.to_string();
    let say = json!({ "agent": "asker", "channel": channel, "run": "1", "text": "x" });
    let (status, problem) = stage.post("/v1/say", ASKER, &say).await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert!(problem["detail"].as_str().unwrap().contains("/v1/end"), "{problem}");
    let end = json!({ "agent": "sitter", "channel": channel, "run": "1", "outcome": "spoke", "text": "x" });
    let (status, problem) = stage.post("/v1/end", SITTER, &end).await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert!(problem["detail"].as_str().unwrap().contains("/v1/say"), "{problem}");
}

/// A store that commits only while its gate is open.
struct Gated(MemoryChannels, watch::Receiver<bool>);

#[async_trait]
impl ChannelStore for Gated {
    async fn channels(&self) -> Result<Vec<ChannelId>, ApiError> {
        self.0.channels().await
    }

    async fn load(&self, channel: ChannelId) -> Result<Option<StoredChannel>, LoadError> {
        self.0.load(channel).await
    }

    async fn commit(&self, commit: Commit) -> Result<Revision, CommitError> {
        let mut gate = self.1.clone();
        gate.wait_for(|is_open| *is_open).await.unwrap();
        self.0.commit(commit).await
    }

    async fn agents(&self) -> Result<Vec<AgentId>, ApiError> {
        self.0.agents().await
    }

    async fn add_agent(&self, agent: AgentId) -> Result<AgentKey, ApiError> {
        self.0.add_agent(agent).await
    }
}

/// A newcomer's program asked as soon as the stream told it of its turn: 8 of 35 times it was refused, because the turn was not stored
/// yet, and the channel stood still.
#[tokio::test]
async fn it_may_begin_as_soon_as_it_has_the_floor_however_slow_the_store_is() {
    let (gate, opened) = watch::channel(true);
    let store = Arc::new(Gated(MemoryChannels::default(), opened));
    let stage = FrontStage::open_with(Settings::default(), |library| library.channels(store)).await;
    stage.say("Who tests it?");
    stage.turn_of("asker").await;
    stage.ask("begin", ("asker", ASKER), json!({ "run": "0" })).await;
    gate.send_replace(false);
    let passes = stage.ask("end", ("asker", ASKER), json!({ "run": "0", "outcome": "pass" }));
    let begins = async {
        let floor = || stage.dirigent.channel(stage.channel).floor();
        while floor().is_none_or(|(agent, _)| agent.as_str() != "sitter") {
            tokio::task::yield_now().await;
        }
        let opens = async {
            tokio::task::yield_now().await;
            gate.send_replace(true);
        };
        tokio::join!(stage.ask("begin", ME, json!({ "run": "1" })), opens).0
    };
    let (_, begun) = tokio::join!(passes, begins);
    assert_eq!(begun["allowed"], true, "{begun}");
}
