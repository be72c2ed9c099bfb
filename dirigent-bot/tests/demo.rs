//! `dirigent demo`, with a person who types.

use dirigent_llm::script::{LoopbackLlm, ScriptedAnswer};

use crate::stage::{PROGRAM, Program, http};

fn demo(arguments: &[&str]) -> Program {
    let mut command = tokio::process::Command::new(PROGRAM);
    command.arg("demo").args(arguments).kill_on_drop(true);
    Program::start(command)
}

#[tokio::test]
async fn the_demo_talks_and_ends_with_its_input() {
    let mut demo = demo(&[]);
    demo.says("dormant: no agent had anything to add").await;
    demo.types("What about a teapot?\n").await;
    let (code, said, errors) = demo.end().await;
    assert_eq!((code, errors.as_str()), (Some(0), ""), "{said}");
    let mut rest = said.as_str();
    for words in [
        "        You: Should we build the new search?",
        " speaks (a person wrote)",
        " speaks (next in the list)",
        "new cycle",
        "        You: What about a teapot?",
        "teapot",
        "dormant: no agent had anything to add",
    ] {
        rest =
            rest.split_once(words).unwrap_or_else(|| panic!("{words:?} is missing in\n{said}")).1;
    }
    for words in
        ["Optimist: Let us build it.", "Sceptic: A week for whom?", "Historian: We said \"a week\""]
    {
        assert_eq!(said.matches(words).count(), 1, "{words:?}\n{said}");
    }
}

#[tokio::test]
async fn commands_are_answered_and_quit_ends_with_code_0() {
    let mut demo = demo(&[]);
    demo.says("dormant: no agent had anything to add").await;
    demo.types("/status\n").await;
    demo.says("Mode: chat").await;
    demo.types("/no-such-command\n").await;
    demo.says("/no-such-command: ").await;
    demo.types("stop\n").await;
    demo.says("stopped: no agent may speak").await;
    demo.types("/quit\n").await;
    let still_open = demo.child.stdin.take();
    let (code, said, _) = demo.end().await;
    assert_eq!(code, Some(0), "{said}");
    drop(still_open);
}

#[tokio::test]
async fn ctrl_c_ends_with_code_0_and_page_and_front_take_the_printed_secrets() {
    let demo = demo(&[]);
    let page = demo.after("control page  http://").await.replace("/dirigent", "");
    let token = demo.after("sign in as  ").await;
    let (status, shown) = http(&page, "GET /dirigent/api/channels", &token, "").await;
    assert!(status == 200 && shown.contains("round-table"), "{status} {shown}");
    assert_eq!(http(&page, "GET /dirigent/api/channels", "a-wrong-token-of-it", "").await.0, 401);
    let secret = demo.after("authorization: Bearer ").await.replace('\'', "");
    let front = demo.after("' 'http://").await.replace('\'', "");
    let (front, path) = front.split_once('/').unwrap();
    let (status, state) = http(front, &format!("GET /{path}"), &secret, "").await;
    assert!(status == 200 && state.contains("\"mode\":\"chat\""), "{status} {state}");
    demo.signal("-INT");
    let (code, said, _) = demo.end().await;
    assert_eq!(code, Some(0), "{said}");
}

#[tokio::test]
async fn a_model_speaks_at_the_demo_table() {
    let model = LoopbackLlm::start().await.unwrap();
    model.script(["As a model I agree.", "As a model I doubt it."].map(ScriptedAnswer::text));
    model.cycle([ScriptedAnswer::text("NO_REPLY")]);
    let demo = demo(&["--model", &model.url(), "--ask", "Tea or coffee?"]);
    let (code, said, _) = demo.end().await;
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("You: Tea or coffee?"), "{said}");
    for words in ["As a model I agree.", "As a model I doubt it."] {
        assert_eq!(said.matches(words).count(), 1, "{said}");
    }
    assert!(model.requests()[0].said_by("system")[0].contains("at a round table"));
}
