//! The programs of the examples, and that they show what they promise.
//!
//! `cargo test` builds them before it runs this; `cargo test --test all` does not.

use std::path::{Path, PathBuf};

/// Where an example's program is.
pub(crate) fn program(name: &str) -> PathBuf {
    let me = std::env::current_exe().unwrap();
    let target = me.ancestors().nth(2).unwrap_or(Path::new(""));
    let path = target.join("examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(path.exists(), "{} is missing: run `cargo build --examples`", path.display());
    path
}

mod delegate {
    use std::process::Output;

    use dirigent_llm::script::{LoopbackLlm, ScriptedAnswer};
    use tokio::process::Command;

    use super::program;

    async fn run(arguments: &[&str]) -> Output {
        let mut example = Command::new(program("delegate"));
        example.args(arguments).env("PATH", "").output().await.unwrap()
    }

    #[track_caller]
    fn said(output: &Output) -> String {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(output.status.success(), "{} {}", text(&output.stdout), text(&output.stderr));
        text(&output.stdout)
    }

    /// R285, R310
    #[tokio::test]
    async fn without_a_model_it_shows_the_decision_and_what_the_agents_say() {
        let both = "Research React best practices and create a component";
        let said = said(&run(&[both]).await);
        let lines: Vec<&str> = said.lines().collect();
        assert!(lines[0].starts_with("decision: delegated to research, opencode (by "), "{said}");
        let expected = [
            "**Research:**".to_owned(),
            format!("Found, on the question \"{both}\""),
            String::new(),
            "**OpenCode:**".to_owned(),
            format!("Written, as asked: \"{both}\""),
        ];
        assert_eq!(lines[2..], expected);
    }

    #[tokio::test]
    async fn each_example_of_the_prompt_is_decided_as_the_prompt_has_it() {
        let table = [
            ("Write a Python script to parse JSON", "delegated to opencode"),
            ("What's the weather in Tokyo?", "delegated to research"),
            ("Send a message to John saying hello", "delegated to embedded"),
            ("Hello!", "answered directly"),
        ];
        for (message, decision) in table {
            let said = said(&run(&[message]).await);
            assert!(said.starts_with(&format!("decision: {decision} (by ")), "{message}: {said}");
        }
    }

    /// R297, R305
    #[tokio::test]
    async fn with_a_model_the_model_decides() {
        let model = LoopbackLlm::start().await.unwrap();
        let url = model.url();
        let message = serde_json::json!({ "message": "Tokyo" });
        model.script([
            ScriptedAnswer::call("delegate_to_research", &message),
            ScriptedAnswer::text("It rains."),
            ScriptedAnswer::call("delegate_to_opencode", &message),
        ]);
        let found = said(&run(&["--url", &url, "--model", "small", "Weather?"]).await);
        assert!(found.contains("decision: delegated to research (by \"example/small\""), "{found}");
        assert!(found.ends_with("\n\nIt rains.\n"), "{found}");
        let failed = run(&["--url", &url, "--model", "small", "Write"]).await;
        assert_eq!(failed.status.code(), Some(1), "opencode is not in the PATH");
        let text = String::from_utf8(failed.stdout).unwrap();
        assert!(
            text.contains("**OpenCode Error:**\nThe program opencode cannot be started"),
            "{text}"
        );
    }

    #[tokio::test]
    async fn help_is_output_and_what_is_wrong_is_refused() {
        assert!(said(&run(&["--help"]).await).contains("Usage: "));
        for wrong in [&[][..], &["--no-such-flag", "x"][..]] {
            assert_eq!(run(wrong).await.status.code(), Some(2), "{wrong:?}");
        }
    }
}
