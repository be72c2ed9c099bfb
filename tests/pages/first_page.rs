//! Keeps what a newcomer reads first true.

use std::fs;

use super::source;

/// N18: what is hidden in the documentation is shown on the page of the repository.
#[test]
fn the_code_of_the_readme_stands_as_it_compiles() {
    let readme = fs::read_to_string(source::root().join("README.md")).unwrap();
    let mut blocks = readme.split("```rust").skip(1).filter_map(|rest| rest.split("```").next());
    let bot = blocks.next().expect("the page has a bot");
    assert!(bot.contains("fn main()") && bot.contains("use dirigent::prelude::*;"), "{bot}");
    for block in std::iter::once(bot).chain(blocks) {
        let hidden = block.lines().find(|line| line.starts_with("# ") || *line == "#");
        assert_eq!(hidden, None);
    }
}

/// EZ3: what is shown is what is run.
#[test]
fn the_code_for_the_bot_you_have_is_that_of_programs_that_run() {
    let page = fs::read_to_string(source::root().join("examples/your-bot.md")).unwrap();
    let sections: Vec<_> = page.split("\n## ").collect();
    for (heading, program) in [
        ("serenity", "serenity-bot/src/main.rs"),
        ("poise", "poise-bot/src/own.rs"),
        ("twilight", "quickstart/src/main.rs"),
    ] {
        let section = sections.iter().find(|it| it.starts_with(heading)).unwrap();
        let file = source::root().join("examples").join(program);
        // Parts of a function stand on the page without its indentation.
        let bare = |text: &str| text.lines().map(str::trim).collect::<Vec<_>>().join("\n");
        let (program, block) = (
            bare(&fs::read_to_string(file).unwrap()),
            section.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap(),
        );
        assert!(block.lines().count() > 10, "{heading}");
        assert!(program.contains(&bare(block.trim_end())), "{heading} differs");
    }
}

/// EZ3
#[test]
fn what_a_bot_needs_for_dirigent_is_sixty_lines() {
    for program in ["quickstart", "serenity-bot", "poise-bot"] {
        let file = source::root().join("examples").join(program).join("src/main.rs");
        let text = fs::read_to_string(file).unwrap();
        let is_code = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with("//");
        let lines = text.lines().filter(is_code).count();
        assert!(lines <= 60, "{program} has {lines}");
    }
}

/// N16
#[test]
fn what_blocks_the_drivers_task_is_documented_where_agents_are_written() {
    let agents = fs::read_to_string(source::root().join("src/ports/agent.rs")).unwrap();
    let speak = agents.find("-> Result<Reply, AgentError>;").expect("agents speak");
    let docs = agents[..speak].rsplit("\n\n").next().unwrap().replace("\n    /// ", " ");
    for word in ["blocks the thread", "spawn_blocking"] {
        assert!(docs.contains(word), "{word}: {docs}");
    }
}
