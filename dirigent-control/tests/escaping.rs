//! Names that mean harm, and names that need room.

use std::fmt::Write as _;

use axum::body::Body;
use dirigent::{ChannelId, IdentityStore};
use dirigent_control::{EgoFile, ScanReport};
use http::{Method, StatusCode, header};
use http_body_util::BodyExt;
use serde_json::{Value, json};

use crate::fixture::{Fixture, OPERATOR, VIEWER, request};

const EVIL: &str = "</title><script>alert(1)</script><img src=x onerror=alert(2)>\"'>";
const ASKED: &str = "%3C/title%3E%3Cscript%3Ealert(1)%3C/script%3E%22";

struct EvilScan;

#[dirigent::async_trait]
impl EgoFile for EvilScan {
    async fn is_there(&self) -> bool {
        true
    }

    async fn scan(&self) -> Result<ScanReport, String> {
        let lines = || vec![EVIL.to_owned()];
        Ok(ScanReport {
            added: lines(),
            skipped: lines(),
            conflicts: lines(),
            ..Default::default()
        })
    }
}

/// A fixture in which everything that others name is called `EVIL`; with a channel, and a discussion about it.
async fn evil_house() -> (Fixture, ChannelId, ChannelId) {
    let fixture = Fixture::open_with(|builder| builder.ego(EvilScan)).await;
    if let Some(guild) = fixture.discord.world().places.guilds.get_mut(&fixture.guild) {
        EVIL.clone_into(&mut guild.name);
    }
    let channel = fixture.chat(EVIL).await;
    if let Some(room) = fixture.discord.world().places.rooms.get_mut(&channel) {
        room.topic = Some(EVIL.to_owned());
    }
    let named = dirigent::ports::Identity {
        discord_user_id: fixture.accounts[0],
        agent_id: EVIL.into(),
        agent_name: EVIL.to_owned(),
    };
    fixture.identities.remove("poet".into()).await.unwrap();
    fixture.identities.add(named).unwrap();
    fixture.dirigent.identities_changed().await.unwrap();
    let talk = fixture.discussion(channel, EVIL).await;
    fixture.dirigent.channel(channel).progress(EVIL, EVIL);
    fixture.discord.say(channel, fixture.person, EVIL);
    (fixture, channel, talk)
}

/// R165, D95: names of channels, guilds and agents, topics, guides, what workers say, and what is looked for.
#[tokio::test]
async fn names_topics_and_guides_are_escaped_on_every_page() {
    let (fixture, channel, talk) = evil_house().await;
    for path in [
        "/dirigent".to_owned(),
        format!("/dirigent/channels/{channel}"),
        format!("/dirigent/channels/{talk}"),
        format!("/dirigent/channels/{channel}/replay"),
        "/dirigent/registry".to_owned(),
        format!("/dirigent/api/channels/{channel}/score.svg"),
        format!("/dirigent?find={ASKED}&mode={ASKED}&show={ASKED}"),
        format!("/dirigent/channels/{ASKED}"),
        format!("/dirigent/nowhere/{ASKED}"),
    ] {
        for token in [OPERATOR, VIEWER, ""] {
            let answer = fixture.page(&path, token).await;
            let is_harmless =
                !answer.text.contains("<script>alert") && !answer.text.contains("<img");
            assert!(is_harmless, "{path}: {}", answer.text);
            for value in answer.headers.values() {
                assert!(!value.to_str().unwrap().contains("alert"), "{path}: {value:?}");
            }
        }
    }
    let page = fixture.page(&format!("/dirigent/channels/{talk}"), VIEWER).await.text;
    let is_shown = page.contains("class=\"guide\"") && page.contains("&#60;script&#62;alert(1)");
    assert!(is_shown, "the guide is there, as a text: {page}");
    // Programs are told the names as they are, and no browser takes that for a page.
    let api = fixture.page("/dirigent/api/channels", VIEWER).await;
    assert_eq!(api.header(header::CONTENT_TYPE), "application/json");
    assert_eq!(api.header(header::X_CONTENT_TYPE_OPTIONS), "nosniff");
}

/// R165, D95: what changes by itself, and what a scan reports.
#[tokio::test]
async fn streams_and_reports_are_escaped() {
    let (fixture, channel, _) = evil_house().await;
    let report = fixture.form("/dirigent/registry", OPERATOR, "do=scan").await;
    assert!(report.text.contains("Passed over") && !report.text.contains("<script>alert"));
    for path in ["/dirigent/live".to_owned(), format!("/dirigent/live/channels/{channel}")] {
        let asked = request(Method::GET, &path, OPERATOR, Body::empty());
        let mut stream = fixture.send(asked).await.into_body();
        let first = stream.frame().await.unwrap().unwrap().into_data().unwrap();
        let first = String::from_utf8(first.to_vec()).unwrap();
        assert!(first.contains("alert(1)") && !first.contains("<script>alert"), "{first}");
    }
}

/// The longest and rarest names that the chat takes.
#[tokio::test]
async fn long_and_rare_names_of_channels_are_shown_whole_and_apart_from_what_is_near() {
    let fixture = Fixture::open().await;
    let names = [
        "x".repeat(100),
        "غرفة التصميم والمراجعة".to_owned(),
        "plain\u{202e}desrever".to_owned(),
        "👩‍👩‍👧‍👦".repeat(10),
        "a\u{301}\u{323}".repeat(30),
        "..".to_owned(),
    ];
    let mut ids = Vec::new();
    for name in &names {
        let id = fixture.chat(name).await;
        if let Some(room) = fixture.discord.world().places.rooms.get_mut(&id) {
            room.topic = Some(name.repeat(1_024 / name.len()));
        }
        ids.push(id);
    }
    let overview = fixture.page("/dirigent", OPERATOR).await.text;
    for (name, id) in names.iter().zip(&ids) {
        assert!(overview.contains(&format!("<bdi>{name}</bdi>")), "{name}");
        let page = fixture.page(&format!("/dirigent/channels/{id}"), VIEWER).await;
        assert_eq!(page.status, StatusCode::OK);
        assert!(page.text.contains(&format!("<h1><bdi>{name}</bdi>")), "{name}");
    }
}

/// R015: the longest and rarest ids that the registry takes, and those that it does not.
#[tokio::test]
async fn rare_ids_of_agents_are_addressed_by_programs_and_hidden_ones_refused() {
    let fixture = Fixture::open().await;
    let spare = fixture.discord.add_bot();
    fixture.discord.guild(fixture.guild).add_member(spare);
    let body = json!({ "discordUserId": spare.to_string() });
    let escaped = |text: &str| {
        text.bytes().fold(String::new(), |mut path, byte| {
            let _ = write!(path, "%{byte:02X}");
            path
        })
    };
    for agent in ["a/b?c#d%e f", "дирижёр", &"y".repeat(100), "...", "👩‍🚀"] {
        let path = format!("/dirigent/api/identities/{}", escaped(agent));
        let put = fixture.send_json(Method::PUT, &path, OPERATOR, &body).await;
        assert_eq!(put.status, StatusCode::OK, "{agent}: {}", put.text);
        assert_eq!(put.json()["agentId"], agent);
        let gone = fixture.send_json(Method::DELETE, &path, OPERATOR, &Value::Null).await;
        assert_eq!(gone.status, StatusCode::OK, "{agent}");
    }
    for agent in ["\n", " ", ".", "..", "\u{202e}", "\u{3164}", &"z".repeat(101)] {
        let path = format!("/dirigent/api/identities/{}", escaped(agent));
        let put = fixture.send_json(Method::PUT, &path, OPERATOR, &body).await;
        assert_eq!(put.status, StatusCode::UNPROCESSABLE_ENTITY, "{agent:?}: {}", put.text);
    }
}
