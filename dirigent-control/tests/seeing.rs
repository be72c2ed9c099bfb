//! What is shown of a channel besides its turns: what was said, since when it is as it is, and what failed.

use dirigent_testkit::memory_discord::{Call, Fault};
use http::StatusCode;

use crate::fixture::{Fixture, OPERATOR, VIEWER, now};
use crate::live::Stream;

const SECRET: &str = "the-secret-of-the-channel";

/// PG11: what was said is read when the page is opened, the newest first, escaped, with the names of agents, and a link that opens
/// Discord there. Nothing of it is kept: a stream, a drawing and the next page have what the chat has then.
#[tokio::test]
async fn what_was_said_is_shown_as_the_chat_has_it_and_not_kept() {
    let fixture = Fixture::open().await;
    let channel = fixture.room("den");
    let poet = fixture.accounts[0];
    fixture.discord.say(channel, fixture.person, format!("first {SECRET}"));
    let text = format!("<@{poet}> <script>alert(1)</script> {}", "é".repeat(500));
    let second = fixture.discord.say(channel, fixture.person, text);
    let path = format!("/dirigent/channels/{channel}");
    let page = fixture.page(&path, VIEWER).await;
    let text = &page.text;
    let messages = text.split("class=\"messages\"").nth(1).unwrap().split("</ol>").next().unwrap();
    assert!(
        messages.contains("@Poet &#60;script&#62;alert(1)") && !text.contains("<script>alert"),
        "{text}"
    );
    assert!(messages.contains('…') && !messages.contains(&"é".repeat(400)), "{messages}");
    let (newest, oldest) = (messages.find("alert(1)").unwrap(), messages.find(SECRET).unwrap());
    assert!(newest < oldest, "the newest first");
    let link = format!("https://discord.com/channels/{}/{channel}/{}", fixture.guild, second.get());
    assert!(messages.contains(&format!("href=\"{link}\"")), "{messages}");
    assert_eq!(page.headers.get("cache-control").unwrap(), "no-store");

    let api =
        fixture.get(&format!("/dirigent/api/channels/{channel}/messages"), VIEWER).await.json();
    assert_eq!(
        (&api["messages"][0]["kind"], &api["messages"][0]["link"]),
        (&"person".into(), &link.into())
    );
    let look = fixture.get(&format!("/dirigent/api/channels/{channel}"), VIEWER).await.text;
    let mut stream =
        Stream::open(&fixture, &format!("/dirigent/live/channels/{channel}"), None).await;
    let first = stream.next().await.unwrap().1.to_string();
    assert!(
        !look.contains(SECRET) && !first.contains(SECRET),
        "only who opens the page reads them"
    );
    let first = fixture.discord.messages(channel)[0].id;
    assert!(fixture.discord.delete_message(channel, first));
    let page = fixture.page(&path, VIEWER).await.text;
    assert!(page.contains("alert(1)") && !page.contains(SECRET), "what was deleted is gone");
}

/// PG11: a chat that does not tell what was said keeps no page waiting, and the page says so. Of channels that the page does not show
/// nothing is read.
#[tokio::test]
async fn a_chat_that_does_not_tell_what_was_said_keeps_no_page_waiting() {
    let fixture = Fixture::open().await;
    let (channel, hall) = (fixture.room("den"), fixture.room("hall"));
    fixture.discord.say(channel, fixture.person, SECRET);
    let path = format!("/dirigent/channels/{channel}");
    for (fault, told) in [
        (Fault::Forbidden, "The chat does not tell them: "),
        (
            Fault::SlowAnswer { by: std::time::Duration::from_secs(3_600) },
            "The chat has not told them in time.",
        ),
    ] {
        fixture.discord.inject(|faults| faults.next_by(fixture.moderator, Call::History, fault));
        let page = fixture.page(&path, VIEWER).await;
        assert!(page.status == StatusCode::OK && page.text.contains(told), "{}", page.text);
        assert!(!page.text.contains(SECRET));
    }
    let empty = fixture.page(&format!("/dirigent/channels/{hall}"), VIEWER).await.text;
    assert!(
        empty.contains("or the bot may not read this channel’s history"),
        "unknown is not empty"
    );

    let open = fixture.discord.add_open_channel(fixture.guild, "plaza");
    fixture.discord.say(open, fixture.person, SECRET);
    let before = fixture.discord.calls().of(Call::History);
    for path in
        [format!("/dirigent/channels/{open}"), format!("/dirigent/api/channels/{open}/messages")]
    {
        let answer = fixture.page(&path, OPERATOR).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{}", answer.text);
    }
    assert_eq!(fixture.discord.calls().of(Call::History), before, "nothing was read");
}

/// PG11: the overview says since when a channel is as it is, and for how long an agent has been thinking; a pause counts, and a change
/// that is heard counts without a look at the store.
#[tokio::test]
async fn each_row_says_since_when_it_is_so() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    let since = async || {
        let list = fixture.get("/dirigent/api/channels", VIEWER).await.json();
        list["channels"][0]["since"].as_u64()
    };
    let before = now();
    fixture.wake(channel).await;
    let thinking = since().await.unwrap();
    assert!(thinking >= before && thinking <= now(), "{thinking}");
    let page = fixture.page("/dirigent", VIEWER).await.text;
    assert!(page.contains(&format!("data-since=\"{thinking}\">since 20")), "{page}");
    let page = fixture.page(&format!("/dirigent/channels/{channel}"), VIEWER).await.text;
    let agents = page.split("class=\"agents\"").nth(1).unwrap().split("</ol>").next().unwrap();
    assert!(agents.contains(&format!("data-since=\"{thinking}\"")), "beside who thinks: {agents}");
    let before = now();
    fixture.dirigent.channel(channel).hold().await.unwrap();
    let held = since().await.unwrap();
    assert!(held >= before, "a pause changes no phase");
    fixture.dirigent.channel(channel).resume().await.unwrap();
    fixture.dirigent.channel(channel).hold().await.unwrap();
    assert!(since().await.unwrap() >= held, "the newest pause");
}

/// PG11: rows are sorted as is asked for, also on the pages that follow and in the stream; a row then tells its guild.
#[tokio::test]
async fn rows_are_sorted_as_is_asked_for() {
    let fixture = Fixture::open().await;
    for name in ["beta", "Zeta", "gamma"] {
        let channel = fixture.chat(name).await;
        fixture.discord.say(channel, fixture.person, "Hello");
        fixture.until(channel, |status| status.speaker.clone()).await;
    }
    let names = async |sort: &str| {
        let list = fixture.get(&format!("/dirigent/api/channels?sort={sort}"), VIEWER).await.json();
        let rows = list["channels"].as_array().unwrap().clone();
        rows.iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let (beta, gamma, zeta) = ("beta".to_owned(), "gamma".to_owned(), "Zeta".to_owned());
    assert_eq!(names("name").await, [beta, gamma, zeta], "whatever their case");
    let list = fixture.get("/dirigent/api/channels?sort=since", VIEWER).await.json();
    let since: Vec<_> = list["channels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["since"].as_u64().unwrap())
        .collect();
    assert!(since.is_sorted() && since.len() == 3, "{since:?}");
    let mut longest = names("since").await;
    longest.reverse();
    if since[0] < since[1] && since[1] < since[2] {
        assert_eq!(names("changed").await, longest);
    }
    let page = fixture.page("/dirigent?sort=name", VIEWER).await.text;
    assert!(
        page.contains("<bdi>By name</bdi>") && page.contains("<option value=\"name\" selected>"),
        "{page}"
    );
    assert!(page.contains("sort=name&#38;page=1&#38;had="), "the stream is sorted, too: {page}");
    let row = page.split("<bdi>Zeta</bdi>").nth(1).unwrap().split("</td>").next().unwrap();
    assert!(row.contains("class=\"owner\"><bdi>"), "its guild: {row}");
}

pub(crate) struct Broken;

#[dirigent::async_trait]
impl dirigent::Agent for Broken {
    async fn speak(&self, _: dirigent::Turn) -> Result<dirigent::Reply, dirigent::AgentError> {
        Err("a secret".into())
    }

    fn failure_class(&self, _: &dirigent::AgentError) -> Option<String> {
        Some("the endpoint cannot be reached".to_owned())
    }
}

/// PG11: an agent whose calls fail is told in red, with the class of the failure.
#[tokio::test]
async fn an_agent_that_fails_stands_out_with_the_class_of_its_failure() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    fixture.dirigent.host("poet", Broken, fixture.discord.account(fixture.accounts[0]));
    fixture.discord.say(channel, fixture.person, "Speak now");
    fixture.until(channel, |status| (!status.failing.is_empty()).then_some(())).await;
    let page = fixture.page(&format!("/dirigent/channels/{channel}"), VIEWER).await.text;
    let told = page.split("<span class=\"failed\">Its last ").nth(1).unwrap().split('<').next();
    assert!(told.unwrap().ends_with("failed: the endpoint cannot be reached."), "{page}");
    assert!(!page.contains("a secret"));
}

/// PG11: filters count at once, rows are denser for who wants that, and keys are listed by `?`. In a real browser: `.ci/browser`.
#[tokio::test]
async fn filters_keys_and_dense_rows_are_there_for_who_wants_them() {
    let fixture = Fixture::open().await;
    let page = fixture.page("/dirigent", VIEWER).await.text;
    for part in ["id=\"dense\"", "<dt>j, k</dt>", "<dt>d</dt>", "id=\"keys-off\"", "name=\"sort\""]
    {
        assert!(page.contains(part), "{part}");
    }
    let script = include_str!("../assets/control.js");
    let filters = script.split("const refilter = async").nth(1).unwrap();
    for part in [
        "replaceWith(page.getElementById(id))",
        "live = page.body.dataset.live",
        "history.replaceState",
    ] {
        assert!(filters.contains(part), "{part}");
    }
}
