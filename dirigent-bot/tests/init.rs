//! `dirigent init`, by flags and by answers.

use crate::stage::{BotStage, Program};

#[tokio::test]
async fn flags_write_a_file_that_check_understands_and_no_file_is_overwritten() {
    let stage = BotStage::new().await;
    let channel = stage.channel.to_string();
    let flags = [
        "init",
        "--channel",
        &channel,
        "--agents",
        "Ada, Bo",
        "--model",
        "http://127.0.0.1:1/v1",
        "--name",
        "m",
    ];
    let (code, said, log) = stage.start(&flags).end().await;
    assert_eq!((code, log.as_str()), (Some(0), ""), "{said}");
    assert!(said.contains("dirigent check && dirigent run"), "{said}");
    let written = std::fs::read_to_string(stage.file()).unwrap();
    for line in [
        format!("id = \"{channel}\"\n"),
        "name = \"ada\"\npersona = { name = \"Ada\" }\n".to_owned(),
    ] {
        assert!(written.contains(&line), "{written}");
    }
    let token = std::fs::read_to_string(stage.folder.path().join("operator.token")).unwrap();
    assert!(token.len() == 32 && !said.contains(&token), "{said}");
    let mut check = stage.command(&["check"]);
    check.env("DISCORD_TOKEN", "x y");
    let (_, said, _) = Program::start(check).end().await;
    assert!(said.contains("ok  configuration: dirigent.toml is understood"), "{said}");

    let (code, _, refused) = stage.start(&flags).end().await;
    assert_eq!(
        (code, refused.as_str()),
        (Some(1), "dirigent.toml exists: name another one with --config\n")
    );
    assert_eq!(std::fs::read_to_string(stage.file()).unwrap(), written);
}

#[tokio::test]
async fn what_no_flag_says_is_asked_and_a_wrong_answer_writes_nothing() {
    let stage = BotStage::new().await;
    let mut init = stage.start(&["init"]);
    init.types("12\n\nhttp://127.0.0.1:1/v1\nm\n").await;
    let (code, said, _) = init.end().await;
    assert_eq!(code, Some(0), "{said}");
    let written = std::fs::read_to_string(stage.file()).unwrap();
    assert!(written.contains("id = \"12\"") && written.contains("name = \"sceptic\""), "{written}");

    std::fs::remove_file(stage.file()).unwrap();
    for (answers, words) in [("general\n\n\n\n", "\"general\" is no id"), ("12\n", "give --agents")]
    {
        let mut init = stage.start(&["init"]);
        init.types(answers).await;
        let (code, _, log) = init.end().await;
        assert!(code == Some(1) && log.contains(words), "{log}");
        assert!(!stage.file().exists());
    }
}
