//! Rules that are tried on a recording, in a form that needs no script.

use std::sync::Mutex;
use std::sync::mpsc;
use std::time::Duration;

use axum::body::Body;
use dirigent::AgentId;
use dirigent::replay::RecordedChannel;
use dirigent::snapshot::{AgentKey, Snapshot};
use dirigent_control::drawing::{WhatIf, WhatIfAsked, WhatIfEvening, WhatIfFigure};
use dirigent_control::{ControlBuilder, RecordingFile};
use http::{Method, StatusCode, header};

use crate::fixture::{Answer, Fixture, OPERATOR, VIEWER, request};

/// Stands for the laboratory: tells what it was given.
fn play(
    recorded: &RecordedChannel,
    name: &dyn Fn(AgentKey) -> Option<AgentId>,
    asked: &WhatIfAsked,
) -> Result<WhatIf, String> {
    if asked.set.contains("mentoins") {
        return Err("people.mentoins: unknown field <mentions>".to_owned());
    }
    let evening = |name: &str, ways: &[&str]| WhatIfEvening {
        name: name.to_owned(),
        score: "<svg></svg>".to_owned(),
        ways: ways.iter().map(ToString::to_string).collect(),
    };
    let agent = name(AgentKey::new(0)).map(String::from).unwrap_or_default();
    let figure = |name: &str, value: &str| WhatIfFigure {
        name: name.to_owned(),
        values: vec![value.to_owned(), asked.assume.clone()],
    };
    Ok(WhatIf {
        evenings: vec![
            evening("as recorded", &[]),
            evening(&asked.set, &["after 1s it is <assumed> to pass"]),
        ],
        figures: vec![
            figure("inputs", &recorded.inputs.len().to_string()),
            figure("first agent", &agent),
        ],
        notes: vec!["Note: the recording is short.".to_owned()],
    })
}

/// Reads a file whose first line is the name of an agent.
fn read(text: &str) -> Result<RecordingFile, String> {
    let agent = text.lines().next().filter(|line| !line.is_empty());
    let agent = agent.ok_or_else(|| "this is no recording".to_owned())?;
    let recorded = RecordedChannel::new(std::sync::Arc::default(), Snapshot::default());
    Ok(RecordingFile { agents: vec![agent.into()], recorded })
}

fn with_player(builder: ControlBuilder) -> ControlBuilder {
    builder.what_if(play).recordings(read)
}

/// Sends a file and rules as a browser does without a script.
async fn send_file(fixture: &Fixture, token: &str, file: &str, set: &str) -> Answer {
    let field = |name: &str, more: &str, value: &str| {
        format!(
            "--edge\r\nContent-Disposition: form-data; name=\"{name}\"{more}\r\n\r\n{value}\r\n"
        )
    };
    let body = [
        field("recording", "; filename=\"evening.jsonl\"", file),
        field("set", "", set),
        field("assume", "", "next"),
        "--edge--\r\n".to_owned(),
    ];
    let mut asked = request(Method::POST, "/dirigent/replay", token, Body::from(body.concat()));
    let kind = "multipart/form-data; boundary=edge".parse().unwrap();
    asked.headers_mut().insert(header::CONTENT_TYPE, kind);
    asked.headers_mut().insert(header::ACCEPT, "text/html".parse().unwrap());
    fixture.ask(asked).await
}

/// The texts in the cells of the table.
fn cells(html: &str) -> Vec<&str> {
    html.split("<td>").skip(1).map(|rest| rest.split("</td>").next().unwrap()).collect()
}

#[tokio::test]
async fn a_viewer_tries_rules_on_the_rooms_recording() {
    let fixture = Fixture::open_with(with_player).await;
    let channel = fixture.chat("den").await;
    fixture.wake(channel).await;
    let path = format!("/dirigent/channels/{channel}/replay");
    let plain = fixture.page(&path, VIEWER).await.text;
    assert!(
        plain.contains("<form class=\"filter\" method=\"get\"")
            && !plain.contains("what-if\">\n<section>")
    );
    let asked = format!("{path}?set=order.skip_passed%3Dtrue%2C%3Cb%3E&assume=next");
    let answer = fixture.page(&asked, VIEWER).await;
    assert_eq!(answer.status, StatusCode::OK);
    let [recorded, other] = ["as recorded", "order.skip_passed=true,&lt;b&gt;"]
        .map(|name| answer.text.find(&format!("<h2>{name}</h2>\n<div class=\"sheet\"")).unwrap());
    assert!(recorded < other, "the scores stand above each other");
    assert!(answer.text.contains("<li>after 1s it is &lt;assumed&gt; to pass</li>"));
    assert!(answer.text.contains("<li>Note: the recording is short.</li>"));
    assert!(!answer.text.contains("<b>"), "rules are escaped");
    let cells = cells(&answer.text);
    assert!(cells[0].parse::<usize>().unwrap() > 3, "it is the room's recording: {cells:?}");
    assert!(["Poet", "Critic"].contains(&cells[2]), "agents have their names: {cells:?}");
    assert_eq!((cells[1], cells[3]), ("next", "next"));
    // What was typed stays in the form.
    assert!(answer.text.contains("<option value=\"next\" selected>"));
    let api = format!("/dirigent/api/channels/{channel}/what-if?set=order.skip_passed%3Dtrue");
    let json = fixture.get(&api, VIEWER).await.json();
    assert_eq!(json["evenings"][1]["name"], "order.skip_passed=true");
}

#[tokio::test]
async fn a_fault_of_the_rules_stands_beside_them_and_they_stay_in_the_form() {
    let fixture = Fixture::open_with(with_player).await;
    let channel = fixture.chat("den").await;
    let set = "people.mentoins%3Donly";
    let path = format!("/dirigent/channels/{channel}/replay?set={set}");
    let answer = fixture.page(&path, OPERATOR).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    let wrong = "role=\"alert\">people.mentoins: unknown field &#60;mentions&#62;</span>";
    assert!(answer.text.contains(wrong), "{}", answer.text);
    assert!(answer.text.contains(">people.mentoins=only</textarea>"));
    let long = format!("/dirigent/channels/{channel}/replay?set={}", "a".repeat(4_001));
    let answer = fixture.page(&long, OPERATOR).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(answer.text.contains("the rules have more than 4000 bytes"));
}

#[tokio::test]
async fn rules_are_tried_on_a_file_by_a_plain_form() {
    let fixture = Fixture::open_with(with_player).await;
    let page = fixture.page("/dirigent/replay", VIEWER).await.text;
    assert!(page.contains("enctype=\"multipart/form-data\" action=\"/dirigent/replay#what-if\""));
    // A recording is larger than other forms may be.
    let file = format!("poet\n{}", "line\n".repeat(40_000));
    let answer = send_file(&fixture, VIEWER, &file, "order.skip_passed=true").await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    assert_eq!(cells(&answer.text), ["0", "next", "poet", "next"]);
    let answer = send_file(&fixture, VIEWER, "", "order.skip_passed=true").await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(answer.text.contains("this is no recording"));
    let large = "a".repeat(8 * 1024 * 1024);
    let answer = send_file(&fixture, VIEWER, &large, "order.skip_passed=true").await;
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
    let path = "/dirigent/api/what-if?set=order.skip_passed%3Dtrue";
    let mut asked = request(Method::POST, path, VIEWER, Body::from("poet\n"));
    asked.headers_mut().insert(header::CONTENT_TYPE, "text/plain".parse().unwrap());
    assert_eq!(fixture.ask(asked).await.json()["figures"][1]["values"][0], "poet");
}

#[tokio::test]
async fn without_a_player_no_page_offers_it() {
    let fixture = Fixture::open_with(|builder| builder.recordings(read)).await;
    let channel = fixture.chat("den").await;
    for path in [format!("/dirigent/channels/{channel}/replay"), "/dirigent/replay".to_owned()] {
        let page = fixture.page(&path, OPERATOR).await;
        assert_eq!(page.status, StatusCode::OK);
        assert!(!page.text.contains("name=\"set\""), "{path}");
    }
    let asked = format!("/dirigent/api/channels/{channel}/what-if?set=order.skip_passed%3Dtrue");
    assert_eq!(fixture.get(&asked, OPERATOR).await.status, StatusCode::NOT_FOUND);
}

/// The test has one thread, and the player keeps the thread that it gets.
#[tokio::test]
async fn while_an_evening_is_played_the_bot_goes_on() {
    let (begun, has_begun) = mpsc::channel();
    let (end, ends) = mpsc::channel::<()>();
    let ends = Mutex::new(ends);
    let player = move |recorded: &RecordedChannel,
                       name: &dyn Fn(AgentKey) -> Option<AgentId>,
                       asked: &WhatIfAsked| {
        begun.send(()).unwrap();
        let ended = ends.lock().unwrap().recv_timeout(Duration::from_secs(60));
        ended.map_err(|_| "the bot stood still".to_owned())?;
        play(recorded, name, asked)
    };
    let fixture = Fixture::open_with(|builder| builder.what_if(player)).await;
    let channel = fixture.chat("den").await;
    let path = format!("/dirigent/api/channels/{channel}/what-if?set=order.skip_passed%3Dtrue");
    let asked = fixture.get(&path, OPERATOR);
    let meanwhile = async {
        while has_begun.try_recv().is_err() {
            tokio::task::yield_now().await;
        }
        fixture.wake(channel).await;
        end.send(()).unwrap();
    };
    let (answer, ()) = tokio::join!(asked, meanwhile);
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
}
