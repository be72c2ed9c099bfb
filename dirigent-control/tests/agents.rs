//! One agent in all channels.

use std::collections::BTreeMap;

use dirigent_control::{PageAnswer, PageQuestion};
use http::StatusCode;
use serde_json::{Value, json};

use crate::fixture::{Fixture, VIEWER};
use crate::seeing::Broken;

async fn report(fixture: &Fixture, agent: &str) -> Value {
    fixture.get(&format!("/dirigent/api/agents/{agent}"), VIEWER).await.json()
}

/// The only day of which something is known.
fn day(days: &Value) -> Value {
    let days: BTreeMap<String, Value> = serde_json::from_value(days.clone()).unwrap();
    assert!(days.len() == 1, "{days:?}");
    let (day, counted) = days.into_iter().next().unwrap();
    assert!(day.len() == 10 && day.starts_with("20"), "{day}");
    counted
}

/// PG11: an agent has a page of its own: its channels, turns and costs by day, and failures; and nothing that is not known.
#[tokio::test]
async fn an_agents_page_tells_its_channels_turns_costs_and_failures() {
    let fixture = Fixture::open().await;
    let (den, hall) = (fixture.chat("den").await, fixture.chat("hall").await);
    fixture.chat("empty").await;
    let before = report(&fixture, "poet").await;
    assert_eq!((before["channels"].as_array().unwrap().len(), &before["days"]), (3, &json!({})));
    assert_eq!(before["account"], fixture.accounts[0].to_string());

    // In one channel it has the floor, and what it costs is its own; in the other one it fails.
    let chosen = fixture.dirigent.channel(den).wake(Some(&"poet".into())).await;
    chosen.unwrap();
    fixture.until(den, |status| (status.phase.as_str() == "running").then_some(())).await;
    fixture.dirigent.channel(den).report_cost(7).await.unwrap();
    fixture.discord.say(den, fixture.person, "Stop");
    fixture
        .until(den, |status| (status.rest.is_some() || status.speaker.is_none()).then_some(()))
        .await;
    fixture.dirigent.channel(den).report_cost(20).await.unwrap();
    fixture.dirigent.host("poet", Broken, fixture.discord.account(fixture.accounts[0]));
    fixture.discord.say(hall, fixture.person, "Speak now");
    fixture
        .until(hall, |status| {
            (!status.failing.is_empty() && status.speaker.is_none()).then_some(())
        })
        .await;

    let told = report(&fixture, "poet").await;
    let counted = day(&told["days"]);
    assert_eq!(counted["cost"], 7, "not what was reported while no agent had the floor: {told}");
    assert!(counted["failed"].as_u64() >= Some(1) && counted["spoke"] == 0, "{counted}");
    let critic = day(&report(&fixture, "critic").await["days"]);
    assert!(
        critic["spoke"].as_u64() >= Some(1) && critic["failed"] == 0 && critic["cost"] == 0,
        "{critic}"
    );
    let page = fixture.page("/dirigent/agents/poet", VIEWER).await;
    assert_eq!(page.status, StatusCode::OK);
    for part in [
        "<bdi>den</bdi>",
        "<bdi>hall</bdi>",
        "<bdi>empty</bdi>",
        "failed: the endpoint cannot be reached.",
        "<span class=\"tag\">the endpoint cannot be reached</span>",
        "data-is=\"Cost\">7</td>",
    ] {
        assert!(page.text.contains(part), "{part}: {}", page.text);
    }
    assert!(!page.text.contains("a secret"));
    let channel = fixture.page(&format!("/dirigent/channels/{den}"), VIEWER).await.text;
    assert!(channel.contains("href=\"/dirigent/agents/poet\""), "its page is a click away");
    assert_eq!(fixture.page("/dirigent/agents/nobody", VIEWER).await.status, StatusCode::NOT_FOUND);
}

/// PG11: in a channel that is closed, or that keeps no turns, no turn of an agent is to come.
#[tokio::test]
async fn no_turn_is_to_come_where_none_is_kept() {
    let fixture = Fixture::open().await;
    let (closed, reports) = (fixture.chat("closed").await, fixture.chat("reports").await);
    let is_to_come =
        async |path: &str| fixture.page(path, VIEWER).await.text.matches(">to come<").count();
    let channel = |id: dirigent::ChannelId| format!("/dirigent/channels/{id}");
    assert_eq!(is_to_come("/dirigent/agents/poet").await, 2);
    // Both agents, in the list and in the ring.
    assert_eq!(is_to_come(&channel(closed)).await, 4);
    fixture.dirigent.channel(closed).archive().await.unwrap();
    fixture.dirigent.channel(reports).set_mode(dirigent::Mode::Report).await.unwrap();
    for path in ["/dirigent/agents/poet", &channel(closed), &channel(reports)] {
        assert_eq!(is_to_come(path).await, 0, "{path}");
    }
}

/// PG11: an id with signs of its own leads to its agent, and is escaped.
#[tokio::test]
async fn an_agents_page_is_found_whatever_its_id_is() {
    let fixture = Fixture::open().await;
    let account = fixture.discord.add_bot();
    fixture.discord.guild(fixture.guild).add_member(account);
    let agent_id = "a/b?c +\"<img src=x>";
    let agent_name = "<b>Odd</b>".to_owned();
    let odd = dirigent::ports::Identity {
        discord_user_id: account,
        agent_id: agent_id.into(),
        agent_name,
    };
    fixture.identities.add(odd).unwrap();
    fixture.dirigent.identities_changed().await.unwrap();
    let registry = fixture.page("/dirigent/registry", VIEWER).await.text;
    let link =
        registry.split("href=\"").find(|part| part.starts_with("/dirigent/agents/a")).unwrap();
    let page = fixture.page(link.split('"').next().unwrap(), VIEWER).await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.text);
    assert!(
        page.text.contains("&#60;b&#62;Odd")
            && page.text.contains("not recorded") != page.text.contains("No turn of it")
    );
    assert!(!page.text.contains("<img") && !page.text.contains("<b>Odd"));
}

/// PG11: a process tells another one of the agent in its own channels; a cost is told only of what is recorded.
#[tokio::test]
async fn a_process_tells_another_one_of_the_agent_in_its_channels() {
    let fixture = Fixture::open().await;
    let den = fixture.chat("den").await;
    fixture.wake(den).await;
    let control = dirigent_control::Control::builder(
        fixture.dirigent.clone(),
        std::sync::Arc::new(fixture.discord.account(fixture.moderator)),
        fixture.identities.clone(),
    );
    let control = control.operator_token("a token of sixteen").build().unwrap();
    let speaker = fixture.until(den, |status| status.speaker.clone()).await;
    fixture.dirigent.channel(den).report_cost(7).await.unwrap();
    let PageAnswer::Agent { channels, more } =
        control.answer(&PageQuestion::Agent { agent: speaker }).await
    else {
        panic!("another answer");
    };
    assert_eq!((channels.len(), more, channels[0].channel.name.as_str()), (1, 0, "den"));
    assert_eq!(channels[0].agent.turn, "has the floor");
    assert!(channels[0].days.values().all(|day| day.cost.is_none()), "it is not recorded here");
}
