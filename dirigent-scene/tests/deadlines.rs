//! Actors, judges and outlets that never answer.

use std::time::Duration;

use dirigent_scene::{
    Actor, ActorError, ActorFactory, Briefing, Cast, CastRole, Character, CoordinatorRole, Cue,
    CueKind, Doing, HumanActor, InterviewError, Isolation, Judge, JudgeError, Judgement, NotAsked,
    Outlet, Output, Restored, ResumeError, Scene, SceneBuildError, SceneBuilder, SceneDeadlines,
    SceneError, ScriptedActor, ShowError, SpokenLine, async_trait,
};

use crate::fixture::{Place, files, says};

/// Never ends.
async fn never<T>() -> T {
    std::future::pending().await
}

/// Where an actor falls silent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Silent {
    Spawn,
    Brief,
    Asked(CueKind),
    Restore,
    Nowhere,
}

/// Creates actors of which Sam's falls silent.
struct Actors(Silent);

struct OneActor(Silent, ScriptedActor);

#[async_trait]
impl ActorFactory for Actors {
    async fn spawn(&mut self, role: &CastRole) -> Result<Box<dyn Actor>, ActorError> {
        let is_sam = role.slug().as_str() == "sam";
        match self.0 {
            Silent::Spawn if is_sam => never().await,
            silent => {
                let script = if is_sam && silent == Silent::Asked(CueKind::Correction) {
                    vec!["no form".to_owned()]
                } else {
                    vec![says("Hello."), says("I should head out."), says("Bye.")]
                };
                let silent = if is_sam { silent } else { Silent::Nowhere };
                Ok(Box::new(OneActor(silent, ScriptedActor::new(script))))
            }
        }
    }

    async fn restore(&mut self, _: &CastRole) -> Result<Option<Restored>, ActorError> {
        if self.0 == Silent::Restore { never().await } else { Ok(None) }
    }
}

#[async_trait]
impl Actor for OneActor {
    async fn brief(&mut self, briefing: Briefing) -> Result<(), ActorError> {
        if self.0 == Silent::Brief { never().await } else { self.1.brief(briefing).await }
    }

    async fn respond(&mut self, cue: Cue) -> Result<Output, ActorError> {
        if self.0 == Silent::Asked(cue.kind()) { never().await } else { self.1.respond(cue).await }
    }
}

/// Shows nothing, ever.
struct DarkScreen;

#[async_trait]
impl Outlet for DarkScreen {
    async fn show(&mut self, _: &SpokenLine, _: bool) -> Result<(), ShowError> {
        never().await
    }
}

/// Says nothing after the first speech, and that the scene has ended after the fourth.
struct Absent;

#[async_trait]
impl Judge for Absent {
    async fn has_ended(&mut self, line: &SpokenLine) -> Result<Judgement, JudgeError> {
        match line.number {
            1 => never().await,
            2 => Err(JudgeError::new("offline")),
            number => Ok(if number == 4 { Judgement::Ended } else { Judgement::GoesOn }),
        }
    }
}

/// Changes deadlines.
type Change = fn(&mut SceneDeadlines);

const SECOND: Duration = Duration::from_secs(1);

/// Plays a scene that must be waiting a second before this time is over, and ended then.
async fn ends_after(
    place: &Place,
    scene: SceneBuilder,
    time: Duration,
) -> Result<dirigent_scene::Epilogue, SceneError> {
    let running = scene.build().unwrap().run();
    let mut running = std::pin::pin!(running);
    let early = async {
        place.clock.run_for(time.checked_sub(SECOND).unwrap()).await;
    };
    tokio::select! {
        biased;
        _ = &mut running => panic!("it has not waited"),
        () = early => {}
    }
    tokio::select! {
        biased;
        ended = running => ended,
        () = place.clock.run_for(SECOND) => panic!("it still waits"),
    }
}

fn place() -> Place {
    Place::new(&[])
}

/// SC1
#[tokio::test]
async fn an_actor_that_never_answers_ends_the_scene_with_a_reason_of_its_own() {
    let SceneDeadlines { ready, answer, .. } = SceneDeadlines::default();
    for (silent, doing, limit) in [
        (Silent::Spawn, Doing::Spawn, ready),
        (Silent::Brief, Doing::Brief, ready),
        (Silent::Asked(CueKind::Turn), Doing::Respond, answer),
        (Silent::Asked(CueKind::Correction), Doing::Respond, answer),
    ] {
        let place = place();
        let limit = limit.unwrap();
        let scene = place.two().actors(Actors(silent));
        let error = ends_after(&place, scene, limit).await.unwrap_err();
        let SceneError::TimedOut { slug, doing: was, after } = &error else { panic!("{error}") };
        assert_eq!((slug.as_str(), *was, *after), ("sam", doing, limit));
        let log = place.log();
        let close = log.events().last().unwrap();
        assert_eq!(
            (log.reason().unwrap().as_str(), &*close.text),
            ("timed-out", "Scene ended: timed-out")
        );
        assert_eq!(close.at, if silent == Silent::Spawn { close.at } else { limit });
        assert!(place.read("transcript.md").contains("Close reason: timed-out"));
        assert_eq!(files(&place.folder()), ["events.json", "notes.md", "transcript.md"]);
        assert_eq!(
            error.to_string(),
            format!("sam: no answer within {} s while {}", limit.as_secs(), doing.as_str())
        );
    }
}

/// SC1
#[tokio::test]
async fn a_speech_that_is_never_shown_ends_the_scene() {
    let place = place();
    let scene = place.two().actors(Actors(Silent::Nowhere)).outlet(DarkScreen);
    let error = ends_after(&place, scene, Duration::from_secs(600)).await.unwrap_err();
    assert!(matches!(error, SceneError::TimedOut { doing: Doing::Show, .. }), "{error}");
    assert_eq!(place.log().reason().unwrap().as_str(), "timed-out");
    assert!(place.read("transcript.md").contains("**MARIA:** Hello."), "what was said stays");
}

/// SC1, C27
#[tokio::test]
async fn a_journal_that_is_never_written_is_missing_and_the_others_are_not() {
    let place = place();
    let scene = place.two().actors(Actors(Silent::Asked(CueKind::Journal)));
    let epilogue = ends_after(&place, scene, Duration::from_secs(600)).await.unwrap();
    let report = epilogue.report();
    assert_eq!(report.reason.as_str(), "natural");
    let [(slug, why)] = report.missing_entries.as_slice() else { panic!("{report:?}") };
    assert_eq!(slug.as_str(), "sam");
    assert!(why.as_deref().unwrap().contains("no answer within 600 s"), "{why:?}");
    assert!(place.read("maria/journal.md").contains("It is over."));
}

/// SC1, C3
#[tokio::test]
async fn a_judge_that_never_answers_lets_the_scene_go_on_and_the_report_says_why() {
    let place = place();
    let script = || ScriptedActor::new((0..9).map(|number| says(&number.to_string())));
    let scene = Scene::builder(Isolation::SubAgents, CoordinatorRole::Parent)
        .character(Character::new("Maria"))
        .character(Character::new("Sam"))
        .actors(Cast::new().actor("maria", script).actor("sam", script))
        .judge(Absent)
        .clock(std::sync::Arc::clone(&place.clock))
        .folder(place.folder());
    let epilogue = ends_after(&place, scene, Duration::from_secs(60)).await.unwrap();
    let report = epilogue.report();
    assert_eq!((report.reason.as_str(), report.summary.turns()), ("natural", 5));
    let why = |text: &str| format!("the judge did not answer: {text}");
    assert_eq!(report.unjudged, [(1, why("nothing within 60 s")), (2, why("offline"))]);
}

/// SC1
#[tokio::test]
async fn for_a_person_a_scene_waits_a_day_and_then_takes_nothing_more() {
    let place = place();
    let (actor, prompter) = HumanActor::new();
    let maria = || ScriptedActor::new([says("Hello."), says("Bye.")]);
    let scene = place.two().actors(Cast::new().actor("maria", maria).actor("sam", move || actor));
    let error = ends_after(&place, scene, Duration::from_secs(86_400)).await.unwrap_err();
    assert!(matches!(error, SceneError::TimedOut { doing: Doing::Respond, .. }), "{error}");
    assert_eq!(prompter.say("Too late."), Err(NotAsked));

    // A journal that the person does not write leaves the actor there, and not its turn.
    let (actor, mut prompter) = HumanActor::new();
    let maria = || ScriptedActor::new([says("Safe travels.")]);
    std::fs::remove_dir_all(place.folder()).unwrap();
    let scene = place.two().actors(Cast::new().actor("maria", maria).actor("sam", move || actor));
    let person = async {
        prompter.next().await.unwrap();
        prompter.say("You, too.").unwrap();
    };
    let ((), epilogue) =
        tokio::join!(person, ends_after(&place, scene, Duration::from_secs(86_400)));
    let epilogue = epilogue.unwrap();
    assert_eq!(epilogue.report().missing_entries.len(), 1);
    assert_eq!(prompter.say("Dear diary."), Err(NotAsked));
    epilogue.close();
}

/// SC1
#[tokio::test]
async fn without_a_deadline_a_scene_waits_and_each_is_the_hosts() {
    let place = place();
    let scene = place.two().actors(Actors(Silent::Asked(CueKind::Turn)));
    let scene = scene.deadlines(|deadlines| deadlines.answer = None).build().unwrap();
    let mut running = Box::pin(scene.run());
    tokio::select! {
        biased;
        _ = &mut running => panic!("it waits without end"),
        () = place.clock.run_for(Duration::from_secs(1_000_000)) => {}
    }
    drop(running);
    std::fs::remove_dir_all(place.folder()).unwrap();
    let scene = place.two().actors(Actors(Silent::Asked(CueKind::Turn)));
    let scene = scene.deadlines(|deadlines| deadlines.answer = Some(SECOND * 5));
    ends_after(&place, scene, SECOND * 5).await.unwrap_err();
    let set: [(&str, Change); 5] = [
        ("ready", |it| it.ready = Some(Duration::ZERO)),
        ("answer", |it| it.answer = Some(Duration::ZERO)),
        ("person", |it| it.person = Some(Duration::ZERO)),
        ("judge", |it| it.judge = Some(Duration::ZERO)),
        ("show", |it| it.show = Some(Duration::ZERO)),
    ];
    for (field, change) in set {
        let refused = place.two().deadlines(change).build().map(drop);
        assert_eq!(refused, Err(SceneBuildError::NoTime { field }));
    }
}

/// SC1
#[tokio::test]
async fn an_interview_and_a_restored_actor_have_deadlines_too() {
    let place = place();
    let scene = place.two().actors(Actors(Silent::Asked(CueKind::Interview)));
    let mut epilogue = scene.build().unwrap().run().await.unwrap();
    for _ in 0..2 {
        let time = place.clock.run_for(Duration::from_secs(600));
        let (answer, ()) = tokio::join!(epilogue.interview("sam", "Well?"), time);
        let error = answer.unwrap_err();
        assert!(matches!(error, InterviewError::TimedOut { .. }), "{error}");
    }
    assert_eq!(
        &*epilogue.interview("maria", "Well?").await.unwrap(),
        "I have said what I have to say."
    );

    std::fs::remove_dir_all(place.folder()).unwrap();
    let scene = place.two().actors(Actors(Silent::Asked(CueKind::Turn))).build().unwrap();
    {
        let mut killed = Box::pin(scene.run());
        tokio::select! {
            biased;
            _ = &mut killed => panic!("it waits for Sam"),
            () = place.clock.run_for(SECOND) => {}
        }
    }
    let before = place.read("events.jsonl");
    let scene = place.two().actors(Actors(Silent::Restore)).build().unwrap();
    let (resumed, ()) = tokio::join!(scene.resume(), place.clock.run_for(Duration::from_secs(300)));
    let error = resumed.unwrap_err();
    assert!(matches!(error, SceneError::Resume(ResumeError::Actor { .. })), "{error}");
    assert!(error.to_string().contains("nothing within 300 s"), "{error}");
    assert_eq!(place.read("events.jsonl"), before);
}
