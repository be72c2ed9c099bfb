//! How results become an answer.

use dirigent_delegate::{AgentKind, AgentResult, DelegationStatus, Response, Schedule, TokenUsage};
use serde_json::json;

fn result(name: &str, kind: &str, status: DelegationStatus) -> AgentResult {
    AgentResult::new(name, AgentKind::from(kind), status)
}

fn shown(results: Vec<AgentResult>) -> Vec<(String, bool)> {
    let response = Response::aggregate(results, Schedule::Parallel);
    response.payloads.into_iter().map(|payload| (payload.text, payload.is_error)).collect()
}

fn payload(text: &str, is_error: bool) -> (String, bool) {
    (text.to_owned(), is_error)
}

/// R302
#[test]
fn a_result_has_the_given_fields_and_one_of_four_statuses() {
    let mut full = result("OpenCode", "opencode", DelegationStatus::Error)
        .with_output("half")
        .with_error("no disk");
    full.artifacts = vec![json!({ "path": "a.py" })];
    (full.duration_ms, full.model) = (1_500, Some("anthropic/claude-sonnet-4".to_owned()));
    full.token_usage = Some(TokenUsage { input: 3, output: 4 });
    let written = json!({
        "agentName": "OpenCode", "agentType": "opencode", "status": "error", "output": "half",
        "artifacts": [{ "path": "a.py" }], "errorMessage": "no disk", "durationMs": 1_500,
        "model": "anthropic/claude-sonnet-4", "tokenUsage": { "input": 3, "output": 4 },
    });
    assert_eq!(serde_json::to_value(&full).unwrap(), written);
    assert_eq!(serde_json::from_value::<AgentResult>(written).unwrap(), full);
    let bare = result("Translator", "translator", DelegationStatus::Success);
    let written = json!({
        "agentName": "Translator", "agentType": "translator", "status": "success", "output": "", "durationMs": 0,
    });
    assert_eq!(serde_json::to_value(bare).unwrap(), written);
    let statuses = [
        DelegationStatus::Success,
        DelegationStatus::Error,
        DelegationStatus::Partial,
        DelegationStatus::Timeout,
    ];
    assert_eq!(json!(statuses), json!(["success", "error", "partial", "timeout"]));
    let kinds = ["opencode", "research", "embedded", "orchestrator", "translator"];
    assert_eq!(json!(kinds.map(AgentKind::from)), json!(kinds));
}

/// R309
#[test]
fn one_success_is_shown_as_it_is() {
    let one = result("OpenCode", "opencode", DelegationStatus::Success).with_output("print(1)");
    assert_eq!(shown(vec![one]), [payload("print(1)", false)]);
}

/// R310, R317
#[test]
fn several_results_are_headed_by_their_agents() {
    let results = vec![
        result("Research", "research", DelegationStatus::Success).with_output("Hooks."),
        result("OpenCode", "opencode", DelegationStatus::Success).with_output("Done."),
        result("Moltbot", "embedded", DelegationStatus::Error).with_error("offline"),
    ];
    let expected = [
        payload("**Research:**\nHooks.", false),
        payload("**OpenCode:**\nDone.", false),
        payload("**Moltbot Error:**\noffline", true),
    ];
    assert_eq!(shown(results), expected);
}

/// R311
#[test]
fn an_error_shows_its_message_or_else_the_output() {
    let failed = result("OpenCode", "opencode", DelegationStatus::Error).with_output("half");
    assert_eq!(shown(vec![failed.clone()]), [payload("**OpenCode Error:**\nhalf", true)]);
    let empty = failed.clone().with_error("");
    assert_eq!(shown(vec![empty]), [payload("**OpenCode Error:**\nhalf", true)]);
    assert_eq!(
        shown(vec![failed.with_error("no disk")]),
        [payload("**OpenCode Error:**\nno disk\n*Written until then:*\nhalf", true)]
    );
}

/// DG4
#[test]
fn what_an_agent_wrote_that_failed_or_was_late_is_shown_and_marked() {
    let done = result("Research", "research", DelegationStatus::Success).with_output("Hooks.");
    for status in [DelegationStatus::Error, DelegationStatus::Timeout] {
        let half =
            result("OpenCode", "opencode", status).with_error("why").with_output("a.py:\n\tx");
        let marked = payload("**OpenCode Error:**\nwhy\n*Written until then:*\na.py:\n\tx", true);
        assert_eq!(shown(vec![half.clone()])[0], marked);
        assert_eq!(shown(vec![done.clone(), half.clone()])[1], marked);
        assert_eq!(
            shown(vec![half.with_output(" \n")]),
            [payload("**OpenCode Error:**\nwhy", true)],
            "nothing was written"
        );
    }
}

/// R312
#[test]
fn a_timeout_is_an_error_with_its_message() {
    let late = result("OpenCode", "opencode", DelegationStatus::Timeout)
        .with_output("half")
        .with_error("too late");
    let marked = payload("**OpenCode Error:**\ntoo late\n*Written until then:*\nhalf", true);
    assert_eq!(shown(vec![late.clone()])[0], marked);
    let other = result("Research", "research", DelegationStatus::Success).with_output("Hooks.");
    let both = [marked, payload("**Research:**\nHooks.", false)];
    assert_eq!(shown(vec![late, other]), both);
}

#[test]
fn a_partial_result_is_shown_with_a_line_that_says_so() {
    let cut = result("OpenCode", "opencode", DelegationStatus::Partial).with_output("half");
    let told = cut.clone().with_error("the output was cut");
    assert_eq!(
        shown(vec![cut.clone()]),
        [payload("half\n*Partial: the result is not complete*", false)]
    );
    assert_eq!(shown(vec![told]), [payload("half\n*Partial: the output was cut*", false)]);
    let silent =
        result("OpenCode", "opencode", DelegationStatus::Partial).with_error("it wrote nothing");
    assert_eq!(shown(vec![silent.clone()]), [payload("*Partial: it wrote nothing*", false)]);
    let two = shown(vec![silent, cut]);
    assert_eq!(two[0], payload("**OpenCode:**\n*Partial: it wrote nothing*", false));
}

/// R313
#[test]
fn no_results_are_no_payloads_and_no_time() {
    for schedule in [Schedule::Parallel, Schedule::Sequential] {
        let response = Response::aggregate(Vec::new(), schedule);
        assert!(response.payloads.is_empty() && response.agent_results.is_empty());
        assert_eq!((response.meta.duration_ms, response.meta.delegated_agents.len()), (0, 0));
    }
}

/// R314
#[test]
fn durations_are_the_longest_in_parallel_and_the_sum_in_sequence() {
    let of = |millis: u64| {
        let mut result = result("OpenCode", "opencode", DelegationStatus::Success);
        result.duration_ms = millis;
        result
    };
    let duration = |millis: &[u64], schedule| {
        let results = millis.iter().map(|millis| of(*millis)).collect();
        Response::aggregate(results, schedule).meta.duration_ms
    };
    assert_eq!(duration(&[300, 700, 500], Schedule::Parallel), 700);
    assert_eq!(duration(&[300, 700, 500], Schedule::Sequential), 1_500);
    assert_eq!(duration(&[u64::MAX, 1], Schedule::Sequential), u64::MAX);
}

/// R315
#[test]
fn delegated_agents_are_the_kinds_of_the_results_in_their_order() {
    let results = vec![
        result("Research", "research", DelegationStatus::Success),
        result("Translator", "translator", DelegationStatus::Error),
        result("Orchestrator", "orchestrator", DelegationStatus::Success),
    ];
    let response = Response::aggregate(results, Schedule::Parallel);
    assert_eq!(json!(response.meta.delegated_agents), json!(["research", "translator"]));
}

#[test]
fn a_response_is_written_with_the_given_names() {
    let ok = result("OpenCode", "opencode", DelegationStatus::Success).with_output("Done.");
    let bad = result("Research", "research", DelegationStatus::Error).with_error("offline");
    let mut response = Response::aggregate(vec![ok, bad], Schedule::Parallel);
    response.meta.orchestrator_model = "fast/one".to_owned();
    let written = serde_json::to_value(&response).unwrap();
    let payloads = json!([
        { "text": "**OpenCode:**\nDone." }, { "text": "**Research Error:**\noffline", "isError": true },
    ]);
    assert_eq!(written["payloads"], payloads);
    let meta = json!({
        "durationMs": 0, "wallMs": 0, "orchestratorModel": "fast/one", "delegatedAgents": ["opencode", "research"],
    });
    assert_eq!(written["meta"], meta);
    assert_eq!(written["agentResults"][1]["errorMessage"], "offline");
    assert_eq!(response.text(), "**OpenCode:**\nDone.\n\n**Research Error:**\noffline");
}
