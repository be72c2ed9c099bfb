//! Agents that speak the Agent Client Protocol: real processes, by a small agent of the tests' own.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::{Clock as _, SystemClock};
use dirigent_delegate::{
    AcpDelegate, CliDelegate, Delegate as _, DelegationStatus, Image, PermissionReply, Task,
    TaskOutcome, UserRequest,
};

use crate::cli::Register;
use crate::examples::program;

fn process() -> CliDelegate {
    CliDelegate::new(program("delegate_acp"))
}

fn agent() -> AcpDelegate {
    AcpDelegate::new(process())
}

/// A sentence that names the agent's program.
fn agent_says(what: &str) -> String {
    format!("The program {} {what}", program("delegate_acp").display())
}

async fn run(order: &str) -> TaskOutcome {
    agent().run(Task::new(order)).await
}

fn shown(outcome: &TaskOutcome) -> (DelegationStatus, &str, Option<&str>) {
    (outcome.status, &outcome.output, outcome.error_message.as_deref())
}

/// R318
#[tokio::test]
async fn a_task_is_a_prompt_and_what_the_agent_says_is_its_result() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let telling = Arc::clone(&told);
    let task = Task::new("say Hello");
    let task = task.on_progress(move |text| telling.lock().unwrap().push(text.to_owned()));
    assert_eq!(shown(&agent().run(task).await), (DelegationStatus::Success, "Hello", None));
    assert_eq!(*told.lock().unwrap(), ["H", "Hello"], "neither its thoughts nor other sessions");
}

/// DG1: escapes of terminals go, as from what other programs write, and white space stays.
#[tokio::test]
async fn what_an_agent_says_keeps_its_white_space_and_loses_escapes() {
    let told = Arc::new(Mutex::new(String::new()));
    let telling = Arc::clone(&told);
    let task = Task::new(r#"raw "all:\n\t\u001b[32mcc\u001b[0m\r\nok""#);
    let task = task.on_progress(move |text| text.clone_into(&mut telling.lock().unwrap()));
    assert_eq!(
        shown(&agent().run(task).await),
        (DelegationStatus::Success, "all:\n\tcc\r\nok", None)
    );
    assert_eq!(*told.lock().unwrap(), "all:\n\tcc\r\nok");
}

#[tokio::test]
async fn how_the_agent_stopped_is_the_status() {
    for (stop, status, expected) in [
        ("max_tokens", DelegationStatus::Partial, "had its model cut off."),
        ("max_turn_requests", DelegationStatus::Partial, "asked its model as often as it may."),
        ("refusal", DelegationStatus::Error, "refused the task."),
        ("new_reason", DelegationStatus::Error, "stopped, and did not say why."),
    ] {
        let outcome = run(&format!("say so stop {stop}")).await;
        assert_eq!(shown(&outcome), (status, "so", Some(&*agent_says(expected))));
    }
    let refused = (DelegationStatus::Error, "so", Some("sign in first"));
    assert_eq!(shown(&run("say so fail").await), refused);
    let silent = agent_says("ended well and said nothing.");
    assert_eq!(shown(&run("nothing").await), (DelegationStatus::Partial, "", Some(&*silent)));
}

#[tokio::test]
async fn permissions_are_answered_by_the_hosts_policy() {
    assert_eq!(run("ask edit").await.output, "reject_once");
    for (reply, expected) in [
        (PermissionReply::Once, "allow_once"),
        (PermissionReply::Always, "allow_always"),
        (PermissionReply::Reject, "reject_once"),
    ] {
        let agent = agent().permissions(move |wanted| {
            assert_eq!((&*wanted.permission, &*wanted.patterns[0]), ("edit", "a.py"));
            reply
        });
        assert_eq!(agent.run(Task::new("ask edit")).await.output, expected);
    }
}

#[tokio::test]
async fn nothing_of_the_hosts_is_offered_and_what_is_no_message_is_left_aside() {
    assert_eq!(run("read").await.output, "-32601");
    assert_eq!(shown(&run("garbage say on").await), (DelegationStatus::Success, "on", None));
}

/// R319
#[tokio::test]
async fn images_are_in_the_prompt_where_the_agent_takes_them() {
    let mut request = UserRequest::new("channel-7", "Look");
    request.images = vec![Image::new("image/png", "AAAA"), Image::new("image/png", "BBBB")];
    let task = Task::new("images").with_request(request);
    assert_eq!(agent().run(task.clone()).await.output, "2");
    assert_eq!(AcpDelegate::new(process().option("--blind")).run(task).await.output, "0");
}

/// R305
#[tokio::test]
async fn an_agent_that_cannot_be_used_is_an_error_result() {
    let outcome =
        AcpDelegate::new(CliDelegate::new("no-such-program-anywhere")).run(Task::new("Go")).await;
    let expected = "The program no-such-program-anywhere cannot be started: ";
    assert!(outcome.error_message.unwrap().starts_with(expected));
    let old = AcpDelegate::new(process().option("--version")).run(Task::new("Go")).await;
    assert_eq!(old.error_message, Some(agent_says("speaks another version of the protocol.")));
    assert_eq!(run("die").await.error_message.as_deref(), Some("no key"));
    let other =
        AcpDelegate::new(CliDelegate::new(program("delegate_echo"))).run(Task::new("Go")).await;
    assert_eq!(
        other.error_message,
        Some(format!(
            "The program {} ended before it answered (exit status: 0).",
            program("delegate_echo").display()
        ))
    );
}

#[tokio::test]
async fn an_agent_that_says_too_much_is_cut() {
    let agent = AcpDelegate::new(process().limits(|limits| limits.output = 1_000));
    let flood = agent.run(Task::new("say so flood")).await;
    let expected = agent_says("wrote a message that is too long, and was killed.");
    assert_eq!(shown(&flood), (DelegationStatus::Partial, "so", Some(&*expected)));
    let much = agent.run(Task::new("say abc ".repeat(400))).await;
    assert_eq!((much.status, much.output.len()), (DelegationStatus::Partial, 1_000));
}

/// DG7: an agent that goes on and on is not waited for until its deadline. It has none here.
#[tokio::test]
async fn an_agent_that_floods_the_host_is_killed() {
    let agent = AcpDelegate::new(process().limits(|limits| limits.output = 1_000));
    let talk = agent.run(Task::new("talk")).await;
    let expected = agent_says("said more than 1000 bytes, and was killed.");
    assert_eq!(
        (talk.status, talk.error_message.as_deref()),
        (DelegationStatus::Partial, Some(&*expected))
    );
    assert!((900..=1_000).contains(&talk.output.len()));
    let expected =
        agent_says(&format!("wrote more than {} bytes, and was killed.", 64 * 64 * 1_024));
    for flood in ["think", "beg", "babble"] {
        let outcome = agent.run(Task::new(format!("say so {flood}"))).await;
        assert_eq!(shown(&outcome), (DelegationStatus::Partial, "so", Some(&*expected)), "{flood}");
    }
}

/// DG4, DG7
#[tokio::test]
async fn what_an_agent_said_and_complained_about_before_its_end_is_told() {
    let died = run("say half die").await;
    assert_eq!(shown(&died), (DelegationStatus::Error, "half", Some("no key")));
    let soon = SystemClock::new().now() + Duration::from_millis(700);
    let late = agent().run(Task::new("say half moan wait").with_deadline(soon)).await;
    let expected = agent_says("did not end in time, and was killed. It complained:\nno key");
    assert_eq!(shown(&late), (DelegationStatus::Timeout, "half", Some(&*expected)));
}

/// R306
#[tokio::test]
async fn an_agent_that_is_late_silent_or_deaf_is_killed() {
    let (register, clock) = (Register::new(), SystemClock::new());
    let order = format!("say half note {} wait", register.path().display());
    let soon = clock.now() + Duration::from_millis(700);
    let late = agent().run(Task::new(order.clone()).with_deadline(soon)).await;
    let expected = agent_says("did not end in time, and was killed.");
    assert_eq!(shown(&late), (DelegationStatus::Timeout, "half", Some(&*expected)));
    register.empty().await;
    let silent =
        AcpDelegate::new(process().limits(|limits| limits.idle = Duration::from_millis(700)));
    let silent = silent.run(Task::new(order)).await;
    assert_eq!((silent.status, &*silent.output), (DelegationStatus::Timeout, "half"));
    register.empty().await;
    let soon = clock.now() + Duration::from_millis(300);
    let long = "x".repeat(1_000_000);
    let deaf =
        AcpDelegate::new(process().option("--deaf")).run(Task::new(long).with_deadline(soon)).await;
    assert_eq!(deaf.status, DelegationStatus::Timeout);
}

/// R306
#[tokio::test]
async fn an_agent_whose_future_is_dropped_is_gone() {
    let register = Register::new();
    let agent = agent();
    let order = format!("note {} wait", register.path().display());
    tokio::select! {
        outcome = agent.run(Task::new(order)) => panic!("it ended: {outcome:?}"),
        () = register.fill(1) => {}
    }
    register.empty().await;
}

#[test]
fn neither_options_nor_variables_are_shown() {
    let agent =
        AcpDelegate::new(process().option("--password=hidden-word").env("TOKEN", "hidden-word"));
    assert!(!format!("{agent:?} {agent:#?}").contains("hidden-word"));
}
