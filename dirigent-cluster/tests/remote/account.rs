//! An account that is used from another process is an account.

use std::sync::Arc;

use dirigent::ports::{Certainty, ErrorKind, GuildId};
use dirigent::{ChannelId, Clock as _, DiscordApi, MessageId, Reply, UserId, async_trait};
use dirigent_cluster::Guests;
use dirigent_testkit::memory_discord::Fault;
use dirigent_testkit::{ManualClock, MemoryDiscord, contract};

use super::fixture::{Hall, named};
use crate::fleet::SECOND;

struct GuestStage {
    clock: ManualClock,
    discord: MemoryDiscord,
    guests: Guests,
    guild: GuildId,
    person: UserId,
    bots: [UserId; 2],
}

#[async_trait]
impl contract::DiscordHarness for GuestStage {
    fn account(&self) -> Arc<dyn DiscordApi> {
        Arc::new(self.guests.account("poet"))
    }

    fn colleague(&self) -> Arc<dyn DiscordApi> {
        Arc::new(self.guests.account("critic"))
    }

    fn person(&self) -> UserId {
        self.person
    }

    fn stranger(&self) -> Option<Arc<dyn DiscordApi>> {
        Some(Arc::new(self.guests.account("clerk")))
    }

    async fn fresh_channel(&self) -> ChannelId {
        let [one, two] = self.bots;
        self.discord.add_channel(self.guild, "contract", &[one, two, self.person])
    }

    async fn person_says(&self, channel: ChannelId, text: &str) -> MessageId {
        self.discord.say(channel, self.person, text)
    }

    fn now(&self) -> dirigent::ports::Timestamp {
        self.clock.now()
    }

    fn can_break_posts(&self) -> bool {
        true
    }

    fn break_next_post(&self, fault: Fault) {
        self.discord.next_post(fault);
    }
}

async fn hall() -> (Hall, GuestStage) {
    let mut hall = Hall::new().await;
    let a = hall.owner("a");
    let quiet = |name: &str| hall.speaker(name, |_turn| async { Ok(Reply::Pass) });
    let agents = ["poet", "critic", "clerk"].map(quiet);
    let _home = hall.home("one", &agents);
    hall.fleet.pass(SECOND).await;
    let fleet = &hall.fleet;
    let stage = GuestStage {
        clock: fleet.clock.clone(),
        discord: fleet.discord.clone(),
        guests: a.guests.clone(),
        guild: fleet.guild,
        person: fleet.person,
        bots: [hall.user("poet"), hall.user("critic")],
    };
    (hall, stage)
}

#[tokio::test]
async fn an_account_in_another_process_chats_as_a_discord_must() {
    let (_hall, stage) = hall().await;
    let report = contract::discord_api(&stage).await.unwrap();
    assert_eq!(report.left_out(), [""; 0]);
    assert!(report.passed().len() >= 27);
}

#[tokio::test]
async fn while_the_process_is_away_surely_nothing_is_done() {
    let (hall, stage) = hall().await;
    let account = stage.guests.account("poet");
    hall.fleet.relay.disconnect(&named("one"));
    let error = account.me().await.unwrap_err();
    assert_eq!((error.kind(), error.certainty()), (ErrorKind::Unavailable, Certainty::NotDone));
    let error = stage.guests.account("stranger").me().await.unwrap_err();
    assert_eq!((error.kind(), error.certainty()), (ErrorKind::Unavailable, Certainty::NotDone));
}
