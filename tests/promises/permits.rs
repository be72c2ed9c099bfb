//! A permission that was taken away before its host heard of it lets no agent run.

use dirigent::command::{Invoker, SlashCommand};
use dirigent::hooks::{RunId, RunReport};
use dirigent::snapshot::PhaseKind;
use dirigent::{Denial, MessageId, Mode, Permit};
use dirigent_testkit::scripted_agent::{Act, Line};
use dirigent_verify::stage::{Begun, Setup, Stage, StoreFault};

use super::kit::{Halt, MINUTE, SECOND, runs};

/// What takes the turn away from "a".
#[derive(Clone, Copy, Debug)]
enum Taking {
    Halt(Halt),
    Mute,
    Offline,
    Leave,
}

impl Taking {
    fn all() -> impl Iterator<Item = Self> {
        // A hold lets go on what runs, and this run has begun as far as the channel knows.
        let halts = Halt::ALL.into_iter().filter(|halt| *halt != Halt::Hold).map(Self::Halt);
        halts.chain([Self::Mute, Self::Offline, Self::Leave])
    }

    /// It may take a while until this is stored.
    fn begin(self, stage: &mut Stage) {
        let (channel, user) = (stage.channel(), stage.agent("a").user());
        if let Self::Halt(Halt::StopWord) = self {
            let said = stage.say("stop");
            let said = stage.discord().message(channel, said).unwrap();
            return drop(stage.begin(move |d| async move { d.message_created(said).await }));
        }
        drop(stage.begin(move |d| async move {
            match self {
                Self::Halt(Halt::Stop) => d.channel(channel).stop().await,
                Self::Halt(Halt::Finish) => d.channel(channel).finish().await,
                Self::Halt(Halt::Archive) => d.channel(channel).archive().await,
                Self::Halt(_) => d.channel(channel).set_mode(Mode::Report).await.map(drop),
                Self::Mute => d.channel(channel).mute(&"a".into()).await,
                Self::Offline => d.agent_offline(&"a".into()).await,
                Self::Leave => d.member_left(channel, user).await,
            }
        }));
    }
}

type Asked = Begun<Result<Permit, Denial>>;

/// "a" has the turn and asks whether it may run; the store keeps the answer back.
fn asking(setup: Setup, run: Option<RunId>, faults: &[StoreFault]) -> (Stage, Asked) {
    let mut stage = setup.without_pump().stage();
    stage.chat();
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).wake(Some(&"a".into())).await }).unwrap();
    stage.advance(SECOND);
    for fault in faults {
        stage.store().next_commit(*fault);
    }
    let asked =
        stage.begin(move |d| async move { d.channel(channel).may_speak(&"a".into(), run).await });
    stage.settle();
    assert!(asked.take().is_none(), "the answer waits until the run is stored");
    (stage, asked)
}

fn asking_with_a_name(faults: &[StoreFault]) -> (Stage, Asked) {
    let setup = Setup::new().hooked("a", []).hosted("b", [Act::Hang.into()]);
    asking(setup, Some(RunId::new(1)), faults)
}

/// One agent at a time: what is answered holds when it is answered.
#[test]
fn no_run_is_permitted_whose_turn_was_taken_away_before_the_answer() {
    let slow = [StoreFault::TakesSoLong(SECOND * 8)];
    for faults in [&slow[..], &[StoreFault::Fails; 3]] {
        for taking in Taking::all() {
            let (mut stage, asked) = asking_with_a_name(faults);
            taking.begin(&mut stage);
            stage.advance(SECOND * 20);
            let answer = asked.take().expect("it is answered");
            assert!(answer.is_err(), "{taking:?}, {faults:?}");
        }
    }
}

/// The acknowledgement of `/stop` does not wait for the store.
#[test]
fn no_run_is_permitted_after_slash_stop_was_answered() {
    let (mut stage, asked) = asking_with_a_name(&[StoreFault::TakesSoLong(SECOND * 8)]);
    stage.advance(SECOND);
    let (channel, guild) = (stage.channel(), Some(stage.guild()));
    let invoker = Invoker { guild, permissions: 0x800, host_word: None };
    let answer = stage.call(move |d| async move {
        d.channel(channel).command(SlashCommand::Stop, invoker, "", SECOND).await
    });
    assert!(answer.text.starts_with("Stopped"), "{}", answer.text);
    stage.advance(SECOND * 20);
    let answer = asked.take().expect("it is answered");
    assert!(answer.is_err());
}

/// A run that nothing took away is permitted, however long the store takes.
#[test]
fn a_run_is_permitted_once_the_store_has_it() {
    let (mut stage, asked) = asking_with_a_name(&[StoreFault::Fails; 3]);
    stage.advance(SECOND * 20);
    let answer = asked.take().expect("it is answered");
    assert!(answer.is_ok(), "{answer:?}");
}

/// What waits for a place among the calls of all channels was not called yet.
#[test]
fn an_agent_whose_call_waits_for_a_place_is_not_called_after_a_stop_or_a_hold() {
    for halt in Halt::ALL {
        let mut stage = Setup::new()
            .rooms(2)
            .hosted("a", [Line::from("a1").taking(SECOND * 20)])
            .hosted("b", [])
            .settings(|settings| settings.limits.calls_max = 1)
            .stage();
        stage.chat();
        let (first, second) = (stage.rooms()[0], stage.rooms()[1]);
        stage.say_in(second, "Good morning");
        stage.advance(SECOND);
        stage.say_in(first, "Hello");
        stage.advance(SECOND);
        assert_eq!(runs(&stage), 1, "one place for both");
        halt.act(&mut stage);
        stage.advance(MINUTE * 3);
        let turns = stage.agents().flat_map(dirigent_testkit::ScriptedAgent::turns);
        assert_eq!(turns.filter(|turn| turn.channel == Some(first)).count(), 0, "{halt:?}");
    }
}

/// Where hosts give their runs no names, only the turn tells them apart.
#[test]
fn of_two_runs_without_names_only_that_of_the_agent_with_the_floor_is_permitted() {
    let slow = [StoreFault::TakesSoLong(SECOND * 8)];
    let (mut stage, a) = asking(Setup::new().hooked("a", []).hooked("b", []), None, &slow);
    let channel = stage.channel();
    drop(stage.begin(move |d| async move { d.channel(channel).mute(&"a".into()).await }));
    stage.settle();
    let b =
        stage.begin(move |d| async move { d.channel(channel).may_speak(&"b".into(), None).await });
    stage.advance(SECOND * 30);
    let [a, b] = [a, b].map(|asked| asked.take().expect("it is answered"));
    assert!(a.is_err());
    assert!(b.is_ok(), "{b:?}");
}

/// B22
#[test]
fn a_second_run_in_a_turn_whose_host_drops_its_permit_fails_although_the_first_was_kept() {
    let mut stage = Setup::new().hooked("a", []).hooked("b", []).without_pump().stage();
    stage.chat();
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).wake(Some(&"a".into())).await }).unwrap();
    stage.advance(SECOND);
    let first =
        stage.call(move |d| async move { d.channel(channel).may_speak(&"a".into(), None).await });
    first.unwrap().keep();
    let posted = MessageId::new(u64::MAX >> 20);
    stage.call(move |d| async move {
        let a = "a".into();
        d.channel(channel).delivered(&a, None, vec![posted]).await.unwrap();
        d.channel(channel)
            .turn_ended(&a, None, RunReport::Unfinished("The first half"))
            .await
            .unwrap();
        let second = d.channel(channel).may_speak(&a, None).await;
        assert!(second.is_ok(), "{second:?}");
        drop(second);
    });
    let status = stage.status().unwrap();
    assert_ne!((status.speaker, status.phase), (Some("a".into()), PhaseKind::Running));
}
