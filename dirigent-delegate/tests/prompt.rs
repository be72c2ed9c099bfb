//! What the routing model is told, and which agent each of the examples reaches.

use dirigent_delegate::config::OrchestratorConfig;
use dirigent_delegate::{AgentCard, Router, system_prompt};

use crate::fixture::{
    MOLTBOT, OPENCODE, RESEARCH, Script, ask, calls, enabled, instant, router, says, standard,
    texts,
};

/// The whole prompt, with all three agents.
const PROMPT: &str = include_str!("prompt.txt");

/// R294, R295
#[test]
fn the_prompt_is_the_specified_one_word_for_word() {
    let all = [AgentCard::open_code(), AgentCard::research(), AgentCard::embedded("Moltbot")];
    assert_eq!(system_prompt("Moltbot", &all), PROMPT.trim_end());
    assert_eq!(router(&Script::default()).system_prompt(), PROMPT.trim_end());
}

/// R294, R296
#[tokio::test]
async fn the_prompt_and_the_tools_have_exactly_the_agents_that_are_switched_on() {
    let kinds = ["opencode", "research", "moltbot"];
    for mask in 0..8_u8 {
        let is_on = |at: u8| mask & (1 << at) != 0;
        let script = Script::new([says("Hello!")]);
        let config = enabled(|config| {
            config.agents.opencode.enabled = is_on(0);
            config.agents.research.enabled = is_on(1);
            config.agents.embedded.enabled = is_on(2);
        });
        let router = standard(Router::builder(script.clone()).config(config)).build().unwrap();
        ask(&router, "Hello!").await;
        let expected: Vec<String> = (0..3_u8)
            .filter(|at| is_on(*at))
            .map(|at| format!("delegate_to_{}", kinds[usize::from(at)]))
            .collect();
        let (_, question) = script.questions().remove(0);
        let offered: Vec<&str> = question.tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(offered, expected);
        let prompt = router.system_prompt();
        let lines = prompt.lines().filter_map(|line| line.split_once("(tool: "));
        let listed: Vec<&str> = lines.map(|(_, tool)| tool.trim_end_matches(')')).collect();
        assert_eq!(listed, expected);
        for tool in question.tools.iter() {
            assert_eq!(tool.parameters["required"], serde_json::json!(["message"]));
            assert!(tool.description.contains("Use for: "), "{}", tool.description);
        }
    }
}

#[test]
fn an_agent_that_the_host_did_not_register_is_not_offered() {
    let router =
        Router::builder(Script::default()).config(enabled(|_| ())).research(instant("found"));
    let router = router.build().unwrap();
    let tools: Vec<String> = router.agents().iter().map(|card| card.tool().to_owned()).collect();
    assert_eq!(tools, [RESEARCH]);
    assert!(!router.system_prompt().contains("OpenCode Agent"));
}

/// R318
#[tokio::test]
async fn an_agent_of_the_hosts_own_is_listed_last_and_reached() {
    let script = Script::new([calls(&[("delegate_to_translator", "Guten Tag")])]);
    let card = AgentCard::new("translator", "Translator")
        .uses("translations")
        .capabilities("Any two languages")
        .when("User asks for a translation");
    let builder = Router::builder(script.clone()).config(enabled(|_| ()));
    let router = standard(builder.agent(card, instant("translated"))).build().unwrap();
    let lines = "\n**Translator Agent** (tool: delegate_to_translator)\n- Use for: translations\n- Capabilities: Any two languages\n- When to use: User asks for a translation\n";
    let prompt = router.system_prompt();
    assert!(prompt.contains(lines) && prompt.find("Translator") > prompt.find("Moltbot Agent"));
    let response = ask(&router, "Translate this").await;
    assert_eq!(texts(&response), ["translated: Guten Tag"]);
    let result = &response.agent_results[0];
    assert_eq!((&*result.agent_name, result.agent_type.as_str()), ("Translator", "translator"));
}

#[test]
fn the_product_has_its_own_name_and_tool() {
    let router =
        standard(Router::builder(Script::default()).product("Robo").config(enabled(|_| ())));
    let prompt = router.build().unwrap().system_prompt();
    assert!(prompt.starts_with("You are Robo's Orchestrator."));
    assert!(prompt.contains("**Robo Agent** (tool: delegate_to_robo)"));
    assert!(prompt.contains("Action: delegate_to_robo\n") && !prompt.contains("oltbot"));
}

#[test]
fn two_agents_with_one_kind_or_one_tool_are_refused() {
    let twice = |first: &str, second: &str| {
        let builder = Router::builder(Script::default()).config(OrchestratorConfig::default());
        let builder = builder.agent(AgentCard::new(first, "One"), instant("one"));
        builder.agent(AgentCard::new(second, "Two"), instant("two")).build().is_err()
    };
    assert!(twice("planner", "planner"));
    assert!(twice("a b", "a_b"), "their tools have one name");
    assert!(twice("planner", "orchestrator"), "the routing model's own");
    assert!(!twice("planner", "critic"));
    let builder = standard(Router::builder(Script::default()));
    assert!(builder.agent(AgentCard::new("research", "Other"), instant("other")).build().is_err());
}

/// What a person says, what the model calls, and what is shown.
type Example = (&'static str, &'static [(&'static str, &'static str)], &'static [&'static str]);

/// The five examples: what the person says, what the model does, and who answers.
///
/// R285, R295, R296
#[tokio::test]
async fn each_example_reaches_the_agents_that_the_prompt_names() {
    let table: [Example; 5] = [
        ("Write a Python script to parse JSON", &[(OPENCODE, "A script")], &["code: A script"]),
        ("What's the weather in Tokyo?", &[(RESEARCH, "Tokyo")], &["found: Tokyo"]),
        ("Send a message to John saying hello", &[(MOLTBOT, "To John")], &["own: To John"]),
        (
            "Research React best practices and create a component",
            &[(RESEARCH, "React"), (OPENCODE, "A component")],
            &["**Research:**\nfound: React", "**OpenCode:**\ncode: A component"],
        ),
        ("Hello!", &[], &["Hello there!"]),
    ];
    for (message, called, expected) in table {
        let line = if called.is_empty() { says("Hello there!") } else { calls(called) };
        let script = Script::new([line]);
        let router = router(&script);
        let response = ask(&router, message).await;
        assert_eq!(texts(&response), expected, "{message}");
        let (_, question) = script.questions().remove(0);
        assert_eq!(question.user_message(), message);
        let action: Vec<&str> = called.iter().map(|(tool, _)| *tool).collect();
        let action = match action.as_slice() {
            [] => "Respond directly with a greeting".to_owned(),
            [one] => (*one).to_owned(),
            several => format!("{} (parallel)", several.join(" AND ")),
        };
        let example = format!("User: \"{message}\"\nAction: {action}");
        assert!(PROMPT.contains(&example), "{example}");
    }
}
