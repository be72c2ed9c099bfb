//! Slash commands that reach a process which does not act for their channel.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::command::{CommandAnswer, Invoker, SlashCommand};
use dirigent::operate::{Explanation, Reason};
use dirigent::ports::{Carried, ChannelRequest, OtherProcesses};
use dirigent::{ChannelId, Dirigent, async_trait};
use dirigent_cluster::Forwarding;
use dirigent_relay::{CarryError, Client, HostId, InProcess, Keyring, ProcessRole, Relay};

use super::fleet::{Fleet, Process, SECOND, host, secret};

/// Loses questions or answers where the test says so.
#[derive(Clone)]
struct Way {
    inner: InProcess,
    fault: Arc<Mutex<Fault>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    Silent,
    Lost,
}

#[async_trait]
impl Relay for Way {
    async fn carry(&self, to: &HostId, rule: &str, bytes: Vec<u8>) -> Result<Vec<u8>, CarryError> {
        let fault = *self.fault.lock().unwrap();
        if fault == Fault::Silent {
            return std::future::pending().await;
        }
        let answer = self.inner.carry(to, rule, bytes).await;
        if fault == Fault::Lost { Err(CarryError::no_answer("lost")) } else { answer }
    }
}

/// Two processes; the channel is the first one's, and a person has spoken.
async fn pair() -> (Fleet, Process, Process, Way) {
    let mut fleet = Fleet::new().await;
    let keys = Fleet::keys("a").with(host("slave"), secret(9), ProcessRole::slave(["poet"]));
    let a = fleet.start_with("a", keys, Arc::new(fleet.relay.clone()), Vec::new());
    let way = Way { inner: fleet.relay.clone(), fault: Arc::new(Mutex::new(Fault::None)) };
    let b = fleet.start_with("b", Fleet::keys("b"), Arc::new(way.clone()), Vec::new());
    fleet.chat(&a).await;
    fleet.say(&a, "Hello").await;
    (fleet, a, b, way)
}

fn writer(fleet: &Fleet) -> Invoker {
    let permissions = SlashCommand::Stop.default_permissions();
    Invoker { guild: Some(fleet.guild), permissions, host_word: None }
}

async fn give(
    fleet: &Fleet,
    to: &Process,
    command: SlashCommand,
    invoker: Invoker,
    input: &str,
) -> CommandAnswer {
    let channel = to.dirigent.channel(fleet.channel);
    channel.command(command, invoker, input, SlashCommand::ANSWER_WITHIN).await
}

fn asked(
    dirigent: &Dirigent,
    channel: ChannelId,
    invoker: Invoker,
) -> tokio::task::JoinHandle<CommandAnswer> {
    let dirigent = dirigent.clone();
    tokio::spawn(async move {
        let channel = dirigent.channel(channel);
        // As the adapter waits for it.
        channel.command(SlashCommand::Stop, invoker, "", SECOND * 60).await
    })
}

async fn is_stopped(process: &Process, channel: ChannelId) -> bool {
    process.dirigent.channel(channel).status().await.unwrap().unwrap().rest.is_some()
}

/// R178
#[tokio::test]
async fn a_command_is_answered_by_the_process_that_acts_for_the_channel() {
    let (fleet, a, b, _) = pair().await;
    let person = writer(&fleet);
    for (command, input) in [
        (SlashCommand::Status, ""),
        (SlashCommand::Why, ""),
        (SlashCommand::Why, "critic"),
        (SlashCommand::Why, "nobody"),
        (SlashCommand::SetChannelMode, "chat"),
    ] {
        let (here, there) = (
            give(&fleet, &a, command, person, input).await,
            give(&fleet, &b, command, person, input).await,
        );
        assert_eq!(here, there, "/{} {input}", command.name());
    }
    let why = give(&fleet, &b, SlashCommand::Why, person, "critic").await;
    assert!(why.text.contains("poet has the floor"), "{}", why.text);
    let next = give(&fleet, &b, SlashCommand::Next, person, "clerk").await;
    assert_eq!((next.text.as_str(), next.changed), ("clerk speaks next.", true));
    let status = a.dirigent.channel(fleet.channel).status().await.unwrap().unwrap();
    assert_eq!(status.chosen, Some("clerk".into()));
    assert!(give(&fleet, &b, SlashCommand::Stop, person, "").await.changed);
    assert!(is_stopped(&a, fleet.channel).await);
    // What a person may do is judged by what the chat said of them where the command was used.
    let reader = Invoker { permissions: 0, ..person };
    for (command, invoker) in [
        (SlashCommand::Resume, reader),
        (SlashCommand::Resume, Invoker { guild: None, ..person }),
        (SlashCommand::Resume, Invoker { host_word: Some(false), ..person }),
        (SlashCommand::SetChannelMode, person),
    ] {
        assert!(!give(&fleet, &b, command, invoker, "none").await.changed);
    }
    assert!(is_stopped(&a, fleet.channel).await);
    let admitted = Invoker { host_word: Some(true), ..reader };
    assert!(give(&fleet, &b, SlashCommand::Resume, admitted, "").await.changed);
    assert!(!is_stopped(&a, fleet.channel).await);
}

#[tokio::test]
async fn a_person_reads_within_two_seconds_that_the_owner_does_not_answer() {
    let (fleet, a, b, way) = pair().await;
    // Both know each other.
    give(&fleet, &b, SlashCommand::Status, writer(&fleet), "").await;
    // A process that stands still.
    *way.fault.lock().unwrap() = Fault::Silent;
    let answer = asked(&b.dirigent, fleet.channel, writer(&fleet));
    fleet.pass(Duration::from_millis(1_999)).await;
    assert!(!answer.is_finished());
    fleet.pass(Duration::from_millis(1)).await;
    let answer = answer.await.unwrap();
    assert!(answer.text.contains("does not answer") && answer.text.contains("may have been"));
    assert!(!answer.changed && !is_stopped(&a, fleet.channel).await);
    // An answer that is lost: the command was carried out, and is not given again.
    *way.fault.lock().unwrap() = Fault::Lost;
    let answer = asked(&b.dirigent, fleet.channel, writer(&fleet)).await.unwrap();
    assert!(answer.text.contains("may have been carried out"), "{}", answer.text);
    assert!(is_stopped(&a, fleet.channel).await);
    // One that is reached again in time.
    *way.fault.lock().unwrap() = Fault::None;
    fleet.relay.disconnect(&a.host);
    let answer = asked(&b.dirigent, fleet.channel, writer(&fleet));
    fleet.pass(SECOND).await;
    fleet.relay.connect(Arc::clone(&a.server));
    fleet.pass(SECOND).await;
    assert_eq!(answer.await.unwrap().text, "This channel is stopped already.");
    // One that cannot be reached.
    *way.fault.lock().unwrap() = Fault::None;
    fleet.relay.disconnect(&a.host);
    let answer = asked(&b.dirigent, fleet.channel, writer(&fleet));
    fleet.pass(SECOND * 2).await;
    let answer = answer.await.unwrap();
    assert!(answer.text.contains("Nothing was changed"), "{}", answer.text);
    // None acts for it.
    fleet.table.give(fleet.channel, None);
    let answer = asked(&b.dirigent, fleet.channel, writer(&fleet));
    fleet.pass(SECOND * 2).await;
    let answer = answer.await.unwrap();
    assert!(answer.text.starts_with("No process of this bot acts"), "{}", answer.text);
}

#[tokio::test]
async fn a_command_follows_a_channel_that_changes_hands() {
    let (mut fleet, _a, b, _) = pair().await;
    let c = fleet.start("c");
    // To another process, and to the one that was asked.
    for next in [&b, &c] {
        fleet.table.give(fleet.channel, None);
        let answer = asked(&c.dirigent, fleet.channel, writer(&fleet));
        fleet.pass(SECOND).await;
        assert!(!answer.is_finished(), "no process acts for it");
        fleet.table.give(fleet.channel, Some(&next.host));
        fleet.pass(SECOND).await;
        let answer = answer.await.unwrap();
        assert!(answer.text.contains("topped"), "{}", answer.text);
        assert!(is_stopped(next, fleet.channel).await);
    }
}

#[tokio::test]
async fn a_slave_gives_no_commands() {
    let (fleet, a, _b, _) = pair().await;
    let keys = Keyring::new(host("slave"), secret(9));
    let clock = Arc::new(fleet.clock.clone());
    let client = Client::new(keys, Arc::new(fleet.relay.clone()), clock);
    let (forwarding, _link) = Forwarding::new(client, Arc::clone(&fleet.table) as _);
    let (command, input) = (SlashCommand::Stop, String::new());
    let request = ChannelRequest::Command { command, invoker: writer(&fleet), input };
    let asked = forwarding.request(fleet.channel, &request, SECOND).await;
    assert_eq!(asked, Carried::NotCarried);
    assert!(!is_stopped(&a, fleet.channel).await);
}

/// A process that does not act for the channel says which one does.
#[tokio::test]
async fn an_explanation_names_the_owner() {
    let (fleet, a, b, _) = pair().await;
    let why: Explanation = b.dirigent.channel(fleet.channel).explain(&"poet".into()).await.unwrap();
    assert_eq!((why.reason, why.owner.as_deref()), (Reason::Elsewhere, Some("a")));
    assert_eq!(
        why.to_string(),
        "poet may not speak: a acts for this channel. That process can answer."
    );
    let why = a.dirigent.channel(fleet.channel).explain(&"poet".into()).await.unwrap();
    assert_eq!(why.owner, None);
}

/// A process without a lease, or whose channel goes while the command is being stored: the next one may know nothing of it.
#[tokio::test]
async fn a_person_reads_that_a_command_may_have_no_effect_where_another_process_may_act() {
    for command in [SlashCommand::Stop, SlashCommand::Resume, SlashCommand::Next] {
        for has_lapsed in [true, false] {
            let (fleet, a, b, _) = pair().await;
            if command == SlashCommand::Resume {
                give(&fleet, &a, SlashCommand::Stop, writer(&fleet), "").await;
            }
            fleet.hold_commits(true);
            if has_lapsed {
                fleet.table.lapse(fleet.channel);
            }
            let (dirigent, channel, person) = (a.dirigent.clone(), fleet.channel, writer(&fleet));
            let answer = tokio::spawn(async move {
                let channel = dirigent.channel(channel);
                channel.command(command, person, "clerk", SlashCommand::ANSWER_WITHIN).await
            });
            fleet.settle().await;
            if !has_lapsed {
                fleet.table.give(fleet.channel, Some(&b.host));
            }
            fleet.pass(SECOND * 3).await;
            let CommandAnswer { text, changed } = answer.await.unwrap();
            assert!(!changed && text.contains(" may "), "/{} {text}", command.name());
            let claims = ["Nothing was changed", "Stopped:", "Resumed:", "speaks next."];
            let claimed = claims.iter().find(|claim| text.contains(*claim));
            assert_eq!(claimed, None, "/{} {text}", command.name());
            fleet.hold_commits(false);
        }
    }
}

/// The owner's store is slow: the owner says so in time, and the person does not read of a process that does not answer.
#[tokio::test]
async fn the_way_leaves_the_owner_time_to_answer() {
    let (fleet, _a, b, _) = pair().await;
    fleet.hold_commits(true);
    let stop = asked(&b.dirigent, fleet.channel, writer(&fleet));
    fleet.pass(SECOND * 2).await;
    let text = stop.await.unwrap().text;
    assert!(text.contains("could not be stored yet"), "{text}");
    let (dirigent, channel) = (b.dirigent.clone(), fleet.channel);
    let manager = Invoker { host_word: Some(true), ..writer(&fleet) };
    let mode = tokio::spawn(async move {
        let channel = dirigent.channel(channel);
        channel.command(SlashCommand::SetChannelMode, manager, "none", SECOND * 60).await
    });
    fleet.pass(Duration::from_millis(1_700)).await;
    assert!(mode.is_finished(), "the answer has time for its way");
    let text = mode.await.unwrap().text;
    assert!(text.contains("could not be stored yet"), "{text}");
    fleet.hold_commits(false);
    fleet.pass(SECOND * 60).await;
}
