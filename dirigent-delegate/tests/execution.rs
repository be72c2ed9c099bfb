//! How delegations run: at the same time or not, how many, how long, and what is left of them.

use std::future::{Future, pending, ready};
use std::sync::{Arc, OnceLock};

use dirigent::Clock as _;
use dirigent_delegate::config::OrchestratorConfig;
use dirigent_delegate::model::ModelMessage;
use dirigent_delegate::{
    AgentResult, Delegate, DelegationStatus, Response, Router, RouterEventKind, Task, TaskOutcome,
    UserRequest, delegate_fn,
};
use dirigent_testkit::ManualClock;
use tokio::sync::Notify;

use crate::fixture::{
    Line, OPENCODE, RESEARCH, SECOND, Script, Watch, ask, calls, enabled, in_time, instant, says,
    seconds_since, settle, texts,
};

/// A router whose coding agent takes as many seconds as it is told.
struct Workshop {
    clock: ManualClock,
    watch: Watch,
    script: Script,
    router: Router,
}

impl Workshop {
    fn new(change: impl FnOnce(&mut OrchestratorConfig)) -> Self {
        let (clock, watch, script) = (ManualClock::new(), Watch::default(), Script::default());
        let builder = Router::builder(script.clone()).config(enabled(change)).clock(clock.clone());
        let builder = builder.open_code(watch.agent(&clock)).research(instant("found"));
        let router = builder.limits(|limits| limits.queue = 4).build().unwrap();
        Self { clock, watch, script, router }
    }

    /// One message that is delegated as these tasks.
    async fn delegate(&self, tasks: &[&str]) -> Response {
        let tasks: Vec<(&str, &str)> = tasks.iter().map(|task| (OPENCODE, *task)).collect();
        self.script.add([calls(&tasks)]);
        in_time(&self.clock, ask(&self.router, "Go")).await
    }
}

fn outputs(response: &Response) -> Vec<&str> {
    outputs_of(&response.agent_results)
}

fn outputs_of(results: &[AgentResult]) -> Vec<&str> {
    results.iter().map(|result| &*result.output).collect()
}

fn statuses(results: &[AgentResult]) -> Vec<DelegationStatus> {
    results.iter().map(|result| result.status).collect()
}

/// R298, R301, R314
#[tokio::test]
async fn delegations_run_at_the_same_time_and_their_results_keep_the_order_of_the_calls() {
    let workshop = Workshop::new(|_| ());
    let began = workshop.clock.now();
    let response = workshop.delegate(&["3", "1", "2"]).await;
    assert_eq!(outputs(&response), ["3 s", "1 s", "2 s"]);
    assert_eq!((workshop.watch.most(), seconds_since(&workshop.clock, began)), (3, 3));
    assert_eq!((response.meta.duration_ms, response.meta.wall_ms), (3_000, 3_000));
}

/// R299
#[tokio::test]
async fn never_more_run_than_may_and_the_others_wait_in_order() {
    let workshop = Workshop::new(|config| config.max_parallel_agents = 2.try_into().unwrap());
    let began = workshop.clock.now();
    let response = workshop.delegate(&["2a", "2b", "1c", "1d", "1e"]).await;
    assert_eq!(workshop.watch.most(), 2);
    assert_eq!(*workshop.watch.begun.lock().unwrap(), ["2a", "2b", "1c", "1d", "1e"]);
    assert_eq!(seconds_since(&workshop.clock, began), 4);
    let took: Vec<u64> = response.agent_results.iter().map(|result| result.duration_ms).collect();
    assert_eq!(took, [2_000, 2_000, 1_000, 1_000, 1_000], "waiting is not counted");
}

/// R299
#[tokio::test]
async fn the_most_that_run_are_counted_over_all_messages() {
    let workshop = Workshop::new(|config| config.max_parallel_agents = 2.try_into().unwrap());
    workshop
        .script
        .add((0..3).map(|at| calls(&[(OPENCODE, &format!("{}a", at + 1)), (OPENCODE, "1b")])));
    let ask = || ask(&workshop.router, "Go");
    let all = async { tokio::join!(ask(), ask(), ask()) };
    let (one, two, three) = Box::pin(in_time(&workshop.clock, all)).await;
    assert_eq!(workshop.watch.most(), 2);
    for response in [one, two, three] {
        assert_eq!(statuses(&response.agent_results), [DelegationStatus::Success; 2]);
    }
}

/// R299, R317
#[tokio::test]
async fn what_is_called_beyond_the_queue_fails_and_the_others_go_on() {
    let workshop = Workshop::new(|config| config.max_parallel_agents = 1.try_into().unwrap());
    let response = workshop.delegate(&["1a", "1b", "1c", "1d", "1e", "1f", "1g"]).await;
    let (good, bad) = response.agent_results.split_at(5);
    assert_eq!(statuses(good), [DelegationStatus::Success; 5]);
    assert_eq!(statuses(bad), [DelegationStatus::Error; 2]);
    assert_eq!(bad[0].error_message.as_deref(), Some("Too many delegations wait already."));
}

/// R299, R301
///
/// What waits beyond the queue fails, in its place; what ran is kept, in its place.
#[tokio::test]
async fn of_a_thousand_parts_each_has_its_result_in_its_place() {
    let parts: Vec<String> = (0..1_000).map(|at| format!("part {at}")).collect();
    let called: Vec<(&str, &str)> = parts.iter().map(|part| (OPENCODE, part.as_str())).collect();
    for (parallel, expected) in [(true, 3 + 64), (false, 1_000)] {
        let script = Script::new([calls(&called)]);
        let config = enabled(|config| config.parallel_execution = parallel);
        let router = Router::builder(script).config(config).open_code(instant("code"));
        let router = router.limits(|limits| limits.calls = 1_000);
        let response = ask(&router.build().unwrap(), "Go").await;
        assert_eq!(response.agent_results.len(), 1_000);
        let (good, bad) = response.agent_results.split_at(expected);
        for (result, part) in good.iter().zip(&parts) {
            assert_eq!(
                (result.status, &result.output),
                (DelegationStatus::Success, &format!("code: {part}"))
            );
        }
        assert!(bad.iter().all(|result| result.status == DelegationStatus::Error));
    }
}

/// DG3
#[tokio::test]
async fn one_message_has_a_limit_over_all_of_its_rounds() {
    for (rounds, lines) in [(1, vec![20]), (3, vec![9, 9, 2])] {
        let script = Script::default();
        let mut parts = (0..20).map(|at| format!("part {at}"));
        for count in lines {
            let parts: Vec<String> = parts.by_ref().take(count).collect();
            let called: Vec<(&str, &str)> =
                parts.iter().map(|part| (RESEARCH, part.as_str())).collect();
            script.add([calls(&called)]);
        }
        let builder = Router::builder(script).config(enabled(|_| ())).research(instant("found"));
        let router = builder.limits(|limits| limits.rounds = rounds).build().unwrap();
        let results = ask(&router, "Go").await.agent_results;
        let (good, bad) = results.split_at(16);
        assert_eq!(statuses(good), [DelegationStatus::Success; 16]);
        assert_eq!(statuses(bad), [DelegationStatus::Error; 4]);
        let expected = "The message has 16 delegations, the most it may.";
        assert!(bad.iter().all(|result| result.error_message.as_deref() == Some(expected)));
    }
}

/// DG3: the task of another channel waits for one or two of the first, not for all of them.
#[tokio::test]
async fn channels_share_the_places_and_the_queue() {
    let workshop = Workshop::new(|config| config.max_parallel_agents = 1.try_into().unwrap());
    let much: Vec<(&str, &str)> =
        ["1a", "1b", "1c", "1d", "1e"].into_iter().map(|task| (OPENCODE, task)).collect();
    workshop.script.add([calls(&much), calls(&[(OPENCODE, "1x")]), calls(&[(OPENCODE, "1y")])]);
    let of = |session: &str| workshop.router.answer(UserRequest::new(session, "Go"));
    let all = async { tokio::join!(of("one"), of("two"), of("three")) };
    let (one, two, three) = Box::pin(in_time(&workshop.clock, all)).await;
    let begun = workshop.watch.begun.lock().unwrap().clone();
    assert_eq!(begun, ["1a", "1b", "1x", "1y", "1c"], "in turn");
    let (two, three) = (two.unwrap(), three.unwrap());
    assert_eq!([outputs(&two), outputs(&three)], [["1x s"], ["1y s"]]);
    let one = one.unwrap().agent_results;
    assert_eq!(outputs_of(&one[..3]), ["1a s", "1b s", "1c s"]);
    assert_eq!(statuses(&one[3..]), [DelegationStatus::Error; 2], "they made room in the queue");
    let expected = Some("Too many delegations wait already.");
    assert!(one[3..].iter().all(|result| result.error_message.as_deref() == expected));
}

/// A router, which agents are made of that know it already.
type Cell = Arc<OnceLock<Router>>;

/// An agent that asks a router that is built later, and hands back its answer.
fn asks(cell: &Cell) -> impl Delegate + use<> {
    let cell = Arc::clone(cell);
    delegate_fn(move |task: Task| {
        let router = cell.get().unwrap().clone();
        async move {
            let asked = UserRequest::new("session", task.message());
            TaskOutcome::success(router.answer(asked).await.unwrap().text())
        }
    })
}

/// DG3: without the refusal each waits for a place that it holds itself, until its deadline.
#[tokio::test]
async fn a_router_that_is_asked_by_its_own_agent_says_so_at_once() {
    let clock = ManualClock::new();
    let refused = "**Orchestrator Error:**\nThe router was asked by one of its own agents.";
    let built = |lines: Vec<Line>, agent: Cell, is_on: bool| {
        let config = enabled(|config| {
            config.enabled = is_on;
            config.max_parallel_agents = 1.try_into().unwrap();
        });
        let builder = Router::builder(Script::new(lines)).config(config).clock(clock.clone());
        builder.research(asks(&agent)).embedded(asks(&agent)).build().unwrap()
    };
    let line = || calls(&[(RESEARCH, "go")]);
    // Itself, switched on and off.
    for is_on in [true, false] {
        let own = Cell::default();
        own.set(built(vec![line()], Arc::clone(&own), is_on)).unwrap();
        assert_eq!(texts(&ask(own.get().unwrap(), "Go").await), [refused]);
    }
    // In a circle through another one.
    let (one, two) = (Cell::default(), Cell::default());
    one.set(built(vec![line()], Arc::clone(&two), true)).unwrap();
    two.set(built(vec![line(), line()], Arc::clone(&one), true)).unwrap();
    assert_eq!(texts(&ask(one.get().unwrap(), "Go").await), [refused]);
    // A router may ask another, and one that was asked before.
    let other = Cell::default();
    other.set(built(vec![says("Hello!"), says("Hello!")], Cell::default(), true)).unwrap();
    let front = built(vec![calls(&[(RESEARCH, "a"), (RESEARCH, "b")])], other, true);
    let expected = ["**Research:**\nHello!"; 2];
    assert_eq!(texts(&ask(&front, "Go").await), expected);
}

/// R300, R314
#[tokio::test]
async fn with_parallel_execution_off_they_run_one_after_the_other() {
    let workshop = Workshop::new(|config| config.parallel_execution = false);
    let began = workshop.clock.now();
    let response = workshop.delegate(&["2a", "1b", "3c"]).await;
    assert_eq!((workshop.watch.most(), seconds_since(&workshop.clock, began)), (1, 6));
    assert_eq!(*workshop.watch.begun.lock().unwrap(), ["2a", "1b", "3c"]);
    assert_eq!((response.meta.duration_ms, response.meta.wall_ms), (6_000, 6_000));
    assert_eq!(outputs(&response), ["2a s", "1b s", "3c s"]);
}

/// R312, R317
#[tokio::test]
async fn an_agent_that_is_late_is_dropped_and_the_others_are_kept() {
    let workshop =
        Workshop::new(|config| config.agents.opencode.timeout_ms = 5_000.try_into().unwrap());
    let began = workshop.clock.now();
    workshop.script.add([calls(&[(OPENCODE, "60"), (RESEARCH, "React"), (OPENCODE, "2")])]);
    let response = in_time(&workshop.clock, ask(&workshop.router, "Go")).await;
    assert_eq!(
        statuses(&response.agent_results),
        [DelegationStatus::Timeout, DelegationStatus::Success, DelegationStatus::Success]
    );
    assert_eq!(
        response.agent_results[0].error_message.as_deref(),
        Some("It did not end within 5 s.")
    );
    assert_eq!(texts(&response)[0], "**OpenCode Error:**\nIt did not end within 5 s.");
    assert_eq!(
        (workshop.watch.running(), seconds_since(&workshop.clock, began)),
        (0, 6),
        "a second more than its time"
    );
}

/// R306
#[tokio::test]
async fn the_smaller_of_the_agents_time_and_the_messages_time_counts() {
    let clock = ManualClock::new();
    for (agent, message, left) in [(5_000, 60, 5), (60_000, 4, 4)] {
        let began = clock.now();
        let told = delegate_fn(move |task: Task| async move {
            TaskOutcome::success(task.deadline().since(began).as_secs().to_string())
        });
        let config =
            enabled(|config| config.agents.opencode.timeout_ms = agent.try_into().unwrap());
        let builder = Router::builder(Script::new([calls(&[(OPENCODE, "go")])])).config(config);
        let router = builder.open_code(told).clock(clock.clone()).build().unwrap();
        let mut request = UserRequest::new("session", "Go");
        request.timeout = Some(SECOND * message);
        let response = router.answer(request).await.unwrap();
        assert_eq!(texts(&response), [left.to_string()]);
    }
}

#[tokio::test]
async fn when_the_messages_time_is_over_what_succeeded_is_kept() {
    let workshop = Workshop::new(|config| config.max_parallel_agents = 2.try_into().unwrap());
    workshop.script.add([calls(&[
        (OPENCODE, "1"),
        (OPENCODE, "60"),
        (OPENCODE, "70"),
        (OPENCODE, "2"),
    ])]);
    let mut request = UserRequest::new("session", "Go");
    request.timeout = Some(SECOND * 10);
    let began = workshop.clock.now();
    let response = in_time(&workshop.clock, workshop.router.answer(request)).await.unwrap();
    let expected = [
        DelegationStatus::Success,
        DelegationStatus::Timeout,
        DelegationStatus::Timeout,
        DelegationStatus::Timeout,
    ];
    assert_eq!(statuses(&response.agent_results), expected);
    let last = response.agent_results[3].error_message.as_deref();
    assert_eq!(last, Some("The message's time was over before it could begin."));
    assert_eq!((workshop.watch.running(), seconds_since(&workshop.clock, began)), (0, 11));
}

#[tokio::test]
async fn when_the_time_is_over_before_a_model_answered_there_is_one_timeout() {
    let clock = ManualClock::new();
    let builder = Router::builder(Script::new([Line::Hang])).config(enabled(|_| ()));
    let router = builder.embedded(instant("own")).clock(clock.clone()).build().unwrap();
    let mut request = UserRequest::new("session", "Go");
    request.timeout = Some(SECOND * 10);
    let response = in_time(&clock, router.answer(request)).await.unwrap();
    assert_eq!(statuses(&response.agent_results), [DelegationStatus::Timeout]);
    assert_eq!(texts(&response), ["**Orchestrator Error:**\nNo routing model answered in time."]);
}

#[tokio::test]
async fn the_last_progress_is_the_output_of_an_agent_that_is_late() {
    let clock = ManualClock::new();
    let agent = delegate_fn(|task: Task| async move {
        task.progress("one");
        task.progress("one, two");
        pending().await
    });
    let builder =
        Router::builder(Script::new([calls(&[(RESEARCH, "go")])])).config(enabled(|_| ()));
    let router = builder.research(agent).clock(clock.clone()).build().unwrap();
    let response = in_time(&clock, ask(&router, "Go")).await;
    let result = &response.agent_results[0];
    assert_eq!((result.status, &*result.output), (DelegationStatus::Timeout, "one, two"));
}

#[tokio::test]
async fn a_late_agent_has_a_second_to_hand_over_what_it_has() {
    let clock = ManualClock::new();
    let time = clock.clone();
    let agent = delegate_fn(move |task: Task| {
        let clock = time.clone();
        async move {
            clock.sleep_until(task.deadline()).await;
            TaskOutcome::timeout("half", "I was too slow.")
        }
    });
    let builder =
        Router::builder(Script::new([calls(&[(RESEARCH, "go")])])).config(enabled(|_| ()));
    let router = builder.research(agent).clock(clock.clone()).build().unwrap();
    let response = in_time(&clock, ask(&router, "Go")).await;
    let expected = "**Research Error:**\nI was too slow.\n*Written until then:*\nhalf";
    assert_eq!(texts(&response), [expected]);
    assert_eq!(response.agent_results[0].output, "half");
}

#[tokio::test]
async fn a_cancelled_message_ends_at_once_with_what_it_has() {
    let workshop = Workshop::new(|_| ());
    workshop.script.add([calls(&[(RESEARCH, "React"), (OPENCODE, "60")])]);
    let cancel = Arc::new(Notify::new());
    let answer = workshop.router.answer_until(UserRequest::new("session", "Go"), cancel.notified());
    let (response, ()) = tokio::join!(answer, async {
        settle().await;
        assert_eq!(workshop.watch.running(), 1);
        cancel.notify_one();
    });
    let response = response.unwrap();
    assert_eq!(
        statuses(&response.agent_results),
        [DelegationStatus::Success, DelegationStatus::Error]
    );
    assert_eq!(response.agent_results[1].error_message.as_deref(), Some("It was cancelled."));
    assert_eq!(workshop.watch.running(), 0);
    let early =
        workshop.router.answer_until(UserRequest::new("session", "Go"), ready(())).await.unwrap();
    assert_eq!(texts(&early), ["**Orchestrator Error:**\nThe message was cancelled."]);
}

/// An agent that tells what it has, coloured, and then does this.
fn tells<F, R>(then: F) -> Box<dyn Delegate>
where
    F: Fn() -> R + Send + Sync + 'static,
    R: Future<Output = TaskOutcome> + Send + 'static,
{
    Box::new(delegate_fn(move |task: Task| {
        task.progress("\u{1b}[32ma\u{1b}[0m:\r\n\tb");
        then()
    }))
}

/// DG4, DG6: however an agent ends before it hands over, what it has told is in the answer, marked, and without escapes.
#[tokio::test]
async fn what_an_agent_told_is_in_the_answer_however_it_ends() {
    let clock = ManualClock::new();
    let answer = async |agent: Box<dyn Delegate>, cancelled: bool| {
        let script = Script::new([calls(&[(RESEARCH, "go")])]);
        let builder = Router::builder(script).config(enabled(|_| ())).clock(clock.clone());
        let router = builder.research(Arc::<dyn Delegate>::from(agent)).build().unwrap();
        let mut events = router.events();
        let asked = UserRequest::new("session", "Go");
        let response = if cancelled {
            router.answer_until(asked, settle()).await.unwrap()
        } else {
            in_time(&clock, router.answer(asked)).await.unwrap()
        };
        while let Some(event) = events.try_next() {
            if let RouterEventKind::Progress { so_far, .. } = event.kind {
                assert_eq!(&*so_far, "a:\r\n\tb", "and so it is in the events");
            }
        }
        texts(&response).concat()
    };
    let shown = |why: &str| format!("**Research Error:**\n{why}\n*Written until then:*\na:\r\n\tb");
    let hangs = || tells(pending);
    assert_eq!(answer(hangs(), true).await, shown("It was cancelled."));
    assert_eq!(answer(hangs(), false).await, shown("It did not end within 300 s."));
    let panics = tells(|| async { panic!("by script") });
    assert_eq!(answer(panics, false).await, shown("The agent panicked."));
    let fails = tells(|| async { TaskOutcome::error("no \u{1b}[1mdisk\u{1b}[0m") });
    assert_eq!(answer(fails, false).await, shown("no disk"));
    let done = tells(|| async { TaskOutcome::success("\u{1b}[2Kall:\r\n\tcc") });
    assert_eq!(answer(done, false).await, "all:\r\n\tcc");
    let silent = tells(|| async { TaskOutcome::partial("", "it wrote nothing") });
    assert_eq!(answer(silent, false).await, "*Partial: it wrote nothing*");
}

/// DG4: what failed agents wrote is told to the routing model, and to the next agent in a chain.
#[tokio::test]
async fn what_a_failed_agent_wrote_is_told_to_other_models() {
    let fails = || {
        delegate_fn(|_: Task| async {
            let mut outcome = TaskOutcome::error("no disk");
            outcome.output = "half".to_owned();
            outcome
        })
    };
    let script = Script::new([calls(&[(OPENCODE, "go")]), says("So.")]);
    let builder = Router::builder(script.clone()).config(enabled(|_| ())).open_code(fails());
    let router = builder.limits(|limits| limits.rounds = 2).build().unwrap();
    ask(&router, "Go").await;
    let (_, question) = script.questions().pop().unwrap();
    let told = question.messages.iter().any(
        |message| matches!(message, ModelMessage::Tool { text, .. } if text == "half\n(failed: no disk)"),
    );
    assert!(told);
    let asked = delegate_fn(|task: Task| async move { TaskOutcome::success(task.prompt()) });
    let script = Script::new([calls(&[(OPENCODE, "go"), (RESEARCH, "on")])]);
    let builder = Router::builder(script).config(enabled(|_| ())).open_code(fails());
    let response = ask(&builder.research(asked).chain().build().unwrap(), "Go").await;
    let expected =
        "on\n\nWhat other agents found before:\n\n**OpenCode:**\nhalf\n(failed: no disk)";
    assert_eq!(outputs(&response)[1], expected);
}

#[tokio::test]
async fn a_dropped_message_drops_its_agents_and_gives_their_places_back() {
    let workshop = Workshop::new(|config| config.max_parallel_agents = 2.try_into().unwrap());
    for _ in 0..3 {
        workshop.script.add([calls(&[(OPENCODE, "60a"), (OPENCODE, "60b"), (OPENCODE, "60c")])]);
        let answer = Box::pin(ask(&workshop.router, "Go"));
        tokio::select! {
            biased;
            _ = answer => unreachable!("it takes a minute"),
            () = settle() => {}
        }
        assert_eq!((workshop.watch.running(), workshop.watch.most()), (0, 2));
    }
    assert_eq!(outputs(&workshop.delegate(&["1a", "1b"]).await), ["1a s", "1b s"]);
}

/// R317
#[tokio::test]
async fn an_agent_that_panics_or_fails_changes_no_other_result() {
    let agent = delegate_fn(|task: Task| async move {
        match task.message() {
            "panic" => panic!("by script"),
            "fail" => TaskOutcome::error("no disk"),
            other => TaskOutcome::success(other),
        }
    });
    let line =
        calls(&[(OPENCODE, "panic"), (OPENCODE, "one"), (OPENCODE, "fail"), (OPENCODE, "two")]);
    let builder = Router::builder(Script::new([line])).config(enabled(|_| ()));
    let router = builder.open_code(agent).build().unwrap();
    let response = ask(&router, "Go").await;
    let shown = [
        "**OpenCode Error:**\nThe agent panicked.",
        "**OpenCode:**\none",
        "**OpenCode Error:**\nno disk",
        "**OpenCode:**\ntwo",
    ];
    assert_eq!(texts(&response), shown);
}

#[tokio::test]
async fn chained_agents_are_given_what_those_before_them_found() {
    let clock = ManualClock::new();
    let agent = |name: &'static str| {
        delegate_fn(move |task: Task| async move {
            let kinds: Vec<&str> =
                task.previous().iter().map(|result| &*result.agent_name).collect();
            TaskOutcome::success(format!("{name} after {kinds:?}: {}", task.prompt()))
        })
    };
    let line = calls(&[(RESEARCH, "React"), (OPENCODE, "A form")]);
    let builder = Router::builder(Script::new([line])).config(enabled(|_| ())).chain().clock(clock);
    let router = builder.research(agent("research")).open_code(agent("code")).build().unwrap();
    let response = ask(&router, "Go").await;
    assert_eq!(response.agent_results[0].output, "research after []: React");
    let second = "code after [\"Research\"]: A form\n\nWhat other agents found before:\n\n**Research:**\nresearch after []: React";
    assert_eq!(response.agent_results[1].output, second);
}

#[tokio::test]
async fn a_greater_number_of_places_counts_at_once() {
    let workshop = Workshop::new(|config| config.max_parallel_agents = 1.try_into().unwrap());
    workshop.script.add([calls(&[(OPENCODE, "3a"), (OPENCODE, "3b")]), says("Hello!")]);
    let change = async {
        // Fewer than it takes the time to pass.
        for _ in 0..5 {
            tokio::task::yield_now().await;
        }
        assert_eq!(workshop.watch.running(), 1);
        let config =
            OrchestratorConfig::new(|config| config.max_parallel_agents = 2.try_into().unwrap());
        workshop.router.configure(config).unwrap();
    };
    let began = workshop.clock.now();
    let both = async { tokio::join!(ask(&workshop.router, "Go"), change) };
    in_time(&workshop.clock, both).await;
    assert_eq!((workshop.watch.most(), seconds_since(&workshop.clock, began)), (2, 3));
}

/// R318
#[tokio::test]
async fn a_delegate_can_be_shared() {
    let shared: Arc<dyn Delegate> = Arc::new(instant("shared"));
    let builder =
        Router::builder(Arc::new(Script::new([calls(&[(OPENCODE, "a"), (RESEARCH, "b")])])));
    let builder = builder.config(enabled(|_| ()));
    let router = builder.open_code(Arc::clone(&shared)).research(shared).build().unwrap();
    assert_eq!(outputs(&ask(&router, "Go").await), ["shared: a", "shared: b"]);
}
