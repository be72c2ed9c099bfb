//! What listeners hear of a message.

use std::time::Duration;

use dirigent_delegate::model::ModelErrorKind;
use dirigent_delegate::{
    AgentKind, DelegationStatus, Router, RouterEventKind, Task, TaskOutcome, delegate_fn,
};

use crate::fixture::{Line, OPENCODE, RESEARCH, Script, ask, calls, enabled, instant, says};

#[tokio::test]
async fn a_listener_hears_of_models_agents_progress_and_the_end() {
    let script = Script::new([
        Line::Fail(ModelErrorKind::RateLimited),
        calls(&[(OPENCODE, "a"), (RESEARCH, "b")]),
    ]);
    let coder = delegate_fn(|task: Task| async move {
        task.progress("half");
        TaskOutcome::success("all")
    });
    let config = enabled(|config| {
        config.fallbacks = vec!["b/two".to_owned()];
        config.max_parallel_agents = 1.try_into().unwrap();
    });
    let builder =
        Router::builder(script).config(config).open_code(coder).research(instant("found"));
    let router = builder.build().unwrap();
    let mut events = router.events();
    ask(&router, "Go").await;
    let mut heard = Vec::new();
    while let Some(event) = events.try_next() {
        assert_eq!((event.message, &*event.session_id), (0, "session"));
        heard.push(match event.kind {
            RouterEventKind::Finished { agent, status, .. } => {
                RouterEventKind::Finished { agent, status, took: Duration::ZERO }
            }
            RouterEventKind::Answered { .. } => RouterEventKind::Answered { took: Duration::ZERO },
            kind => kind,
        });
    }
    let (coder, finder) = (|| AgentKind::OpenCode, || AgentKind::Research);
    let finished = |agent| RouterEventKind::Finished {
        agent,
        status: DelegationStatus::Success,
        took: Duration::ZERO,
    };
    let expected = [
        RouterEventKind::Asked { model: "fast/one".into() },
        RouterEventKind::ModelFailed {
            model: "fast/one".into(),
            error: ModelErrorKind::RateLimited,
        },
        RouterEventKind::Asked { model: "b/two".into() },
        RouterEventKind::Waiting { agent: finder() },
        RouterEventKind::Started { agent: coder() },
        RouterEventKind::Progress { agent: coder(), so_far: "half".into() },
        finished(coder()),
        RouterEventKind::Started { agent: finder() },
        finished(finder()),
        RouterEventKind::Answered { took: Duration::ZERO },
    ];
    assert_eq!(heard, expected);
}

#[tokio::test]
async fn a_listener_that_is_too_slow_is_told_how_much_it_missed() {
    let script = Script::default();
    let builder = Router::builder(script.clone()).config(enabled(|_| ())).embedded(instant("own"));
    let router = builder.build().unwrap();
    let mut events = router.events();
    for _ in 0..600 {
        script.add([says("Hello!")]);
        ask(&router, "Hello").await;
    }
    let first = events.try_next().unwrap();
    assert_eq!(first.kind, RouterEventKind::Missed(1_200 - 1_024));
    assert_eq!(events.next().await.unwrap().message, 88);
    drop(router);
    while events.next().await.is_some() {}
}
