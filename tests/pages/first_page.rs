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

/// N16
#[test]
fn what_blocks_the_drivers_task_is_documented_where_agents_are_written() {
    let agents = fs::read_to_string(source::root().join("src/ports/agent.rs")).unwrap();
    let speak = agents.find("-> Result<Reply, AgentError>;").expect("agents speak");
    let docs = agents[..speak].rsplit("\n\n").next().unwrap();
    for word in ["blocks the thread", "spawn_blocking"] {
        assert!(docs.contains(word), "{word}: {docs}");
    }
}
