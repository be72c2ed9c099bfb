//! Notices: in which words the library says that a turn took too long, and how it names the agent.

use std::time::Duration;

use dirigent::IdentityStore as _;
use dirigent::ports::{Identity, Mentions};
use dirigent::settings::profiles::FlowConfig;
use dirigent_testkit::scripted_agent::Act;
use dirigent_verify::stage::{Setup, Stage};

const SECOND: Duration = Duration::from_secs(1);

/// R258, R260, R261
#[test]
fn a_turn_that_takes_too_long_is_announced_in_the_configured_words() {
    for (json, notices) in [
        ("{}", vec!["⏱️ slow turn timed out, moving to next agent"]),
        (r#"{"turnBehavior":{"timeoutMessage":"{agent}!"},"other":1}"#, vec!["slow!"]),
        (r#"{"turnBehavior":{"announceTimeouts":false}}"#, vec![]),
    ] {
        let flow: FlowConfig = serde_json::from_str(json).unwrap();
        let (config, settings) = flow.rules().unwrap();
        let mut stage = Setup::new()
            .hosted("slow", [Act::Hang.into()])
            .hosted("dev", ["d1 TURN_COMPLETE".into()])
            .config(|known| *known = config)
            .settings(|known| {
                let pacing = known.limits.pacing;
                *known = settings;
                known.limits.pacing = pacing;
            })
            .stage();
        stage.chat();
        let began = dirigent::Clock::now(stage.clock());
        stage.say("Build it");
        stage.until("dev spoke", |stage| stage.words().len() == 2);
        assert_eq!(dirigent::Clock::now(stage.clock()).since(began), SECOND * 60);
        stage.until_dormant();
        stage.advance(SECOND);
        assert_eq!(stage.moderation(stage.channel()), notices, "{json}");
        assert!(stage.agent("slow").turns()[0].cancelled);
    }
}

/// R260
#[test]
fn the_notice_names_the_agent_as_people_know_it_and_as_text() {
    let names = [
        ("Poet", "Poet"),
        ("", "slow"),
        ("@everyone [x](https://evil.example)", r"\@everyone \[x\](https\://evil.example)"),
        ("*Po*\n# et\u{E0041}", r"\*Po\* \# et"),
    ];
    for (name, shown) in names {
        let mut stage = Setup::new()
            .hosted("slow", [Act::Hang.into()])
            .hosted("dev", ["d1".into()])
            .config(|config| {
                config.deadlines.turn = Some(SECOND * 60);
                config.announce_timeouts = true;
            })
            .stage();
        call_agent(&mut stage, "slow", name);
        stage.chat();
        stage.say("Build it");
        stage.until("dev spoke", |stage| stage.words().len() == 2);
        let notice = format!("⏱️ {shown} turn timed out, moving to next agent");
        assert_eq!(stage.moderation(stage.channel()), [notice]);
        let posts = stage.discord().take_posts();
        let of_moderator = posts.iter().filter(|post| post.author == stage.moderator());
        assert!(of_moderator.map(|post| &post.mentions).eq([&Mentions::None]));
    }
}

/// R260
#[test]
fn an_agents_id_of_a_hosts_choice_is_text_in_a_notice() {
    let id = "<@&7> **x**";
    let mut stage = Setup::new()
        .hosted(id, [Act::Hang.into()])
        .hosted("dev", ["d1".into()])
        .config(|config| {
            config.deadlines.turn = Some(SECOND * 60);
            config.announce_timeouts = true;
        })
        .stage();
    call_agent(&mut stage, id, " ");
    stage.chat();
    stage.say("Build it");
    stage.until("dev spoke", |stage| stage.words().len() == 2);
    let notice = r"⏱️ \<\@&7\> \*\*x\*\* turn timed out, moving to next agent";
    assert_eq!(stage.moderation(stage.channel()), [notice]);
}

/// Gives an agent this name for people.
fn call_agent(stage: &mut Stage, agent: &str, name: &str) {
    let identity = Identity {
        discord_user_id: stage.agent(agent).user(),
        agent_id: agent.into(),
        agent_name: name.to_owned(),
    };
    let identities = stage.identities().clone();
    stage.call(move |dirigent| async move {
        identities.register(identity).await.unwrap();
        dirigent.identities_changed().await.unwrap();
    });
}
