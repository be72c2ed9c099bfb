//! What users of group chats with agents ask for again and again, at every point of a turn: that the
//! next one is always asked, that a late reply is late and never counted twice, that stop means stop,
//! that no word of a person is dropped, and that the order can be chosen.

use std::collections::BTreeSet;
use std::time::Duration;

use dirigent::Reply;
use dirigent::hooks::Signal;
use dirigent::host::{Consultation, Orchestrator};
use dirigent::operate::EventOrLag;
use dirigent::ports::Mentions;
use dirigent::settings::{CompletionPolicy, HumanInterrupt};
use dirigent::snapshot::PhaseKind;
use dirigent_testkit::memory_discord::{Call, Fault, PostRecord};
use dirigent_testkit::scripted_agent::{Line, ScriptedAgent};
use dirigent_verify::stage::{Setup, Stage};

const SECOND: Duration = Duration::from_secs(1);
/// From one point to the next.
const STEP: Duration = Duration::from_millis(250);
/// Beyond these the room has come to rest in every story.
const POINTS: u32 = 110;

/// Who runs the agents, and what a person's message does to a turn.
#[derive(Clone, Copy, Debug)]
struct Kind {
    hosted: bool,
    interrupt: HumanInterrupt,
}

fn kinds() -> impl Iterator<Item = Kind> {
    let modes = [HumanInterrupt::Inject, HumanInterrupt::Queue, HumanInterrupt::Interrupt];
    let of = |hosted| modes.map(|interrupt| Kind { hosted, interrupt });
    of(true).into_iter().chain(of(false))
}

/// Answers every other question, after a second.
struct Moody(dirigent_testkit::ManualClock, std::sync::atomic::AtomicU64);

#[async_trait::async_trait]
impl Orchestrator for Moody {
    async fn answer(&self, asked: Consultation) -> Result<Reply, dirigent::AgentError> {
        use dirigent::Clock as _;
        self.0.sleep_until(self.0.now() + SECOND).await;
        let number = self.1.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if number % 2 == 1 {
            return Err("not now".into());
        }
        let words: Vec<_> = asked.messages.iter().map(|m| &*m.content).collect();
        Ok(Reply::Say(format!("About {}: later.", words.join(", "))))
    }
}

/// Three agents that think, speak with signals, and whose posts and members take their time, so that
/// every phase lasts.
fn story(kind: Kind) -> Stage {
    let takes = SECOND * 2;
    let lines = |name: &'static str| {
        [format!("{name}1"), format!("{name}2 TURN_COMPLETE")]
            .map(|text| Line::from(text).taking(takes))
    };
    let mut setup = Setup::new();
    for name in ["a", "b", "c"] {
        setup = if kind.hosted {
            setup.hosted(name, lines(name))
        } else {
            setup.hooked(name, lines(name))
        };
    }
    let mut stage = setup
        .post_delay(SECOND)
        .settings(|settings| {
            settings.reading.completion = CompletionPolicy::Signal(Signal::default());
        })
        .config(move |config| {
            config.people.human_interrupt = kind.interrupt;
            config.members.list_fresh = Duration::ZERO;
        })
        .stage();
    let moody = Moody(stage.clock().clone(), 0.into());
    stage.dirigent().set_orchestrator(Some(std::sync::Arc::new(moody)));
    stage.discord().inject(|faults| {
        for _ in 0..40 {
            faults.next(Call::Members, Fault::SlowRequest { by: SECOND / 2 });
            faults.next(Call::Post, Fault::SlowRequest { by: SECOND / 2 });
        }
    });
    stage.chat();
    stage.say("Begin");
    stage
}

/// Comes to each point of the story, and tries something there.
fn at_every_point(mut attempt: impl FnMut(Kind, &mut Stage, &str)) {
    let mut phases = BTreeSet::new();
    for kind in kinds() {
        for point in 0..POINTS {
            let mut stage = story(kind);
            stage.advance(STEP * point);
            let phase = stage.status().unwrap().phase;
            phases.insert(phase.as_str());
            let place = format!("{kind:?}, {} ms, {}", 250 * point, phase.as_str());
            attempt(kind, &mut stage, &place);
            assert_eq!(stage.points().breaches(), [""; 0], "{place}");
        }
    }
    for phase in [
        PhaseKind::Refreshing,
        PhaseKind::Granted,
        PhaseKind::Running,
        PhaseKind::Delivering,
        PhaseKind::Confirming,
        PhaseKind::Continuing,
        PhaseKind::Dormant,
    ] {
        assert!(phases.contains(phase.as_str()), "no point lies in {}: {phases:?}", phase.as_str());
    }
}

/// What agents said, in order.
fn said(stage: &Stage) -> Vec<String> {
    let is_agents = |text: &String| {
        text.len() <= "a2 TURN_COMPLETE".len() && text.as_bytes()[1].is_ascii_digit()
    };
    stage.words().into_iter().filter(is_agents).collect()
}

fn heard(stage: &Stage) -> BTreeSet<String> {
    let turns = stage.agents().flat_map(ScriptedAgent::turns);
    turns.flat_map(|turn| turn.missed.into_iter().chain(turn.injected)).collect()
}

/// Nobody said anything twice, and everything was said that was to be said.
fn assert_whole(stage: &Stage, place: &str) {
    let said = said(stage);
    let different: BTreeSet<_> = said.iter().collect();
    assert_eq!(different.len(), said.len(), "{place}: said twice: {said:?}");
    for name in ["a", "b", "c"] {
        let is_done = said.iter().any(|text| text.starts_with(&format!("{name}2")));
        assert!(is_done, "{place}: {name} was not asked to the end: {said:?}");
    }
}

/// D6: a person's word is never dropped, whenever it comes.
#[test]
fn a_persons_word_at_any_point_reaches_an_agent_or_the_orchestrator() {
    at_every_point(|kind, stage, place| {
        let id = stage.say("A question");
        stage.until_dormant();
        stage.advance(SECOND * 60);
        assert_whole(stage, place);
        let answered =
            stage.moderation(stage.channel()).iter().any(|text| text.contains("A question"));
        if kind.hosted {
            let is_heard = answered || heard(stage).contains("A question");
            assert!(is_heard, "{place}: dropped");
        } else {
            // It stands in the channel, and an agent is asked after it: by a trigger that is removed again.
            let posts = stage.discord().take_posts();
            let moderator = stage.moderator();
            let is_trigger = |post: &PostRecord| {
                post.author == moderator && matches!(post.mentions, Mentions::User(_))
            };
            let later = posts.iter().any(|post| post.message > Some(id) && is_trigger(post));
            assert!(
                answered || later || kind.interrupt != HumanInterrupt::Inject,
                "{place}: dropped"
            );
            let turns: usize = stage.agents().map(|agent| agent.turns().len()).sum();
            assert!(turns >= 3, "{place}");
        }
    });
}

/// D5: stop means stop, at once, and a resume lets them go on.
#[test]
fn a_stop_at_any_point_silences_everybody_at_once() {
    at_every_point(|kind, stage, place| {
        let runs = |stage: &Stage| stage.agents().map(|agent| agent.turns().len()).sum::<usize>();
        stage.say("stop");
        // What was on its way to the chat when the word came may still arrive.
        stage.advance(SECOND / 2);
        let before = (runs(stage), stage.words());
        stage.advance(SECOND * 120);
        assert_eq!(runs(stage), before.0, "{place}: nobody is called");
        if kind.hosted {
            assert_eq!(stage.words(), before.1, "{place}: what runs is not posted");
        }
        stage.say("resume");
        stage.say("Go on");
        stage.until_dormant();
        stage.advance(SECOND * 60);
        if kind.hosted {
            assert_whole(stage, place);
        }
    });
}

/// D3, D4: an agent that is gone at any point is passed over, once, and what it says late counts for
/// nothing.
#[test]
fn a_crash_of_the_speaker_at_any_point_lets_the_next_one_speak() {
    at_every_point(|_, stage, place| {
        let speaker = stage.status().unwrap().speaker;
        let Some(gone) = speaker else { return };
        let name = gone.clone();
        let delivers = stage.status().unwrap().phase == PhaseKind::Delivering;
        stage.call(move |d| async move { d.agent_offline(&name).await }).unwrap();
        let keeps_the_floor = stage.status().unwrap().speaker.as_ref() == Some(&gone);
        assert_eq!(keeps_the_floor, delivers, "{place}: a reply that is made still goes out");
        stage.until_dormant();
        stage.advance(SECOND * 60);
        let said = said(stage);
        let different: BTreeSet<_> = said.iter().collect();
        assert_eq!(different.len(), said.len(), "{place}: said twice: {said:?}");
        for name in ["a", "b", "c"].into_iter().filter(|name| *name != gone.as_str()) {
            let is_done = said.iter().any(|text| text.starts_with(&format!("{name}2")));
            assert!(is_done, "{place}: {name} was not asked to the end: {said:?}");
        }
    });
}

/// D3, D4: a turn that times out at any point is followed by the next one, and its late reply by
/// nothing.
#[test]
fn a_late_reply_at_any_point_moves_nothing_twice() {
    for hosted in [true, false] {
        for late in 0..40_u32 {
            let kind = Kind { hosted, interrupt: HumanInterrupt::Inject };
            let mut stage = story(kind);
            // A host that runs an agent twice at once would say a line twice by itself.
            stage.agents().for_each(ScriptedAgent::say_once);
            // The turn may last less long than the agent takes, or a little more.
            let channel = stage.channel();
            let mut config = dirigent::Config::default();
            config.deadlines.turn = Some(STEP * (late + 1));
            config.deadlines.retriggers = 0;
            config.ceilings.chat.turns = Some(12);
            stage.call(move |d| async move { d.reconfigure(config).await }).unwrap();
            stage.until_dormant();
            stage.advance(SECOND * 120);
            let said = said(&stage);
            let different: BTreeSet<_> = said.iter().collect();
            assert_eq!(different.len(), said.len(), "{hosted} {late}: said twice: {said:?}");
            let history = stage.status_of(channel).unwrap();
            assert!(history.turn.get() <= 13, "{hosted} {late}: {history:?}");
            assert!(history.turn.get() >= 3, "{hosted} {late}: everybody was asked: {history:?}");
        }
    }
}

/// D12: an operator's choice at any point is who speaks next.
#[test]
fn a_choice_at_any_point_is_who_speaks_next() {
    at_every_point(|_, stage, place| {
        let before = stage.status().unwrap();
        if before.list.is_empty() {
            // Nobody knows yet who is here.
            return;
        }
        let chosen =
            ["c", "b"].into_iter().find(|name| before.speaker != Some((*name).into())).unwrap();
        let channel = stage.channel();
        let mut changes = stage.dirigent().events();
        stage
            .call(move |d| async move { d.channel(channel).speak_next(&chosen.into()).await })
            .unwrap();
        stage.until_dormant();
        let mut granted = None;
        while let (None, Some(heard)) = (&granted, changes.try_next()) {
            let EventOrLag::Transition(event) = heard else { panic!("{place}: too slow") };
            let new = event.transition.turn > before.turn;
            granted = event.agent.filter(|_| new && event.transition.to == PhaseKind::Granted);
        }
        assert_eq!(granted, Some(chosen.into()), "{place}");
        stage.advance(SECOND * 60);
        assert_whole(stage, place);
    });
}

/// D3, R279: the process dies at any point, and everybody is asked to the end.
#[test]
fn a_restart_at_any_point_goes_on_where_it_was() {
    at_every_point(|kind, stage, place| {
        let before = stage.status().unwrap();
        stage.crash();
        stage.restart();
        let after = stage.status().unwrap();
        let order = |status: &dirigent::operate::Status| -> Vec<_> {
            status.list.iter().map(|(agent, _)| agent.clone()).collect()
        };
        assert_eq!(order(&after), order(&before), "{place}");
        stage.until_dormant();
        stage.say("Go on");
        stage.until_dormant();
        stage.advance(SECOND * 60);
        if kind.hosted {
            assert_whole(stage, place);
        }
    });
}
