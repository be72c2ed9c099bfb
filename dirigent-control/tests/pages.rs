//! What people see.

use dirigent::{Mode, agent_fn};
use http::{StatusCode, header};

use crate::fixture::{Fixture, OPERATOR, VIEWER};

/// R161, R162
#[tokio::test]
async fn the_mode_control_offers_none_chat_and_report_and_is_absent_where_the_mode_is_locked() {
    let fixture = Fixture::open().await;
    fixture.chat("den").await;
    let desk = fixture.room("desk");
    let made = dirigent::operate::CreatedChannel {
        mode: Mode::Work,
        members: vec!["poet".into()],
        opening: None,
    };
    fixture.dirigent.channel(desk).register(made).await.unwrap();
    let page = fixture.page("/dirigent", OPERATOR).await.text;
    assert_eq!(page.matches("name=\"mode\" id=\"mode-").count(), 1, "only the chat has one");
    let options = page.split("id=\"mode-").nth(1).unwrap().split("</select>").next().unwrap();
    let offered: Vec<_> = options.matches("<option").collect();
    assert_eq!(offered.len(), 3);
    for mode in ["none", "chat", "report"] {
        assert!(options.contains(&format!(">{mode}</option>")), "{options}");
    }
    assert!(page.contains("<span class=\"badge\">work</span>"));
}

/// PG1: the script closes a page's stream while nobody sees the page and while it sends an order, counts the streams of visible
/// windows, and bounds how long an order waits. That orders get through, six and ten windows of a real browser show (`.ci/browser`).
#[tokio::test]
async fn a_page_keeps_no_connection_that_an_order_needs() {
    let script = include_str!("../assets/control.js");
    let fixture = Fixture::open().await;
    let served = fixture.get("/dirigent/assets/control.js", VIEWER).await.text;
    assert_eq!(served, script);
    let parts = [
        "addEventListener(\"visibilitychange\", follow)",
        "navigator.locks",
        "AbortSignal.timeout(ORDER_WAIT)",
        "priority: \"high\"",
        "No answer within",
    ];
    for part in parts {
        assert!(script.contains(part), "{part}");
    }
    let order = script.split("const send = async").nth(1).unwrap();
    let (closes, sends) = (order.find("closeStream()"), order.find("fetch("));
    assert!(closes.unwrap() < sends.unwrap(), "the order has the stream's connection");
    let begins = script.matches("new EventSource(").count();
    assert_eq!(begins, 2, "one that stays, and one that looks once");
}

/// A press that comes late, a double click and Enter in the reason gave the order that had come to that place: Wake, for example.
#[tokio::test]
async fn an_order_keeps_its_place_and_the_reason_gives_none() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    let places = async || {
        let page = fixture.page(&format!("/dirigent/channels/{channel}"), OPERATOR).await.text;
        let orders =
            page.split("id=\"orders\"").nth(1).unwrap().split("id=\"ring\"").next().unwrap();
        let forms: Vec<String> =
            orders.split("<form").skip(1).take(2).map(ToOwned::to_owned).collect();
        let first = forms[0].split("<button").nth(1).unwrap();
        assert!(first.starts_with(" disabled hidden>"), "{first}");
        assert!(forms[0].contains("name=\"reason\"") && !forms[1].contains("<input"), "{orders}");
        let button = |it: &str| {
            let id = it.split("id=\"order-").nth(1).and_then(|it| it.split('"').next());
            (id.unwrap_or_default().to_owned(), it.split('>').next().unwrap().contains("disabled"))
        };
        forms.iter().flat_map(|form| form.split("<button").skip(1).map(button)).collect::<Vec<_>>()
    };
    let quiet = places().await;
    fixture.wake(channel).await;
    let running = places().await;
    fixture.dirigent.channel(channel).hold().await.unwrap();
    let held = places().await;
    let names = |of: &[(String, bool)]| of.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(
        names(&quiet),
        ["", "stop", "hold", "finish", "resume", "wake", "reset-budget", "archive"]
    );
    assert!(
        names(&running) == names(&quiet) && names(&held) == names(&quiet),
        "{running:?} {held:?}"
    );
    let is_given =
        |of: &[(String, bool)], name: &str| of.iter().any(|it| *it == (name.to_owned(), false));
    assert!(is_given(&quiet, "wake") && !is_given(&running, "wake"));
    assert!(is_given(&running, "hold") && !is_given(&held, "hold") && is_given(&held, "resume"));
}

/// Enter in a text field presses the first button of its form. In the overview that was Stop, for whatever was chosen.
#[tokio::test]
async fn enter_in_the_form_of_the_overview_gives_no_order() {
    let fixture = Fixture::open().await;
    fixture.chat("den").await;
    let page = fixture.page("/dirigent", OPERATOR).await.text;
    let form = page.split("<form id=\"many\"").nth(1).unwrap().split("</form>").next().unwrap();
    assert!(form.contains("name=\"reason\""), "{form}");
    let first = form.split("<button").nth(1).unwrap();
    assert!(first.starts_with(" disabled hidden>"), "{first}");
    let other = page.split("form=\"many\"").skip(1).map(|part| part.split('>').next().unwrap());
    assert!(other.into_iter().all(|it| it.contains("checkbox") || it.contains("name=\"channel\"")));
}

/// At three at night one looks for who asked, and that what the page posts does not answer it.
#[tokio::test]
async fn a_channel_that_waits_for_a_person_says_who_asked() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    fixture.discord.say(channel, fixture.person, "You decide!");
    let asker = fixture
        .until(channel, |status| {
            let awaits = status.silence == Some(dirigent::operate::Reason::AwaitingHuman);
            awaits
                .then(|| status.list.iter().map(|(agent, _)| agent.to_string()).collect::<Vec<_>>())
        })
        .await;
    assert_eq!(asker.len(), 2);
    let said = fixture.discord.messages(channel);
    let wrote = said.iter().find(|it| fixture.accounts.contains(&it.author)).unwrap().author;
    let name = if wrote == fixture.accounts[0] { "Poet" } else { "Critic" };
    let page = fixture.page(&format!("/dirigent/channels/{channel}"), OPERATOR).await.text;
    assert!(page.contains(&format!("{name} asked for a person.")), "{page}");
    assert!(page.contains("wakes no agent: to answer agents, write in Discord"), "{page}");
}

#[tokio::test]
async fn channels_on_hold_are_marked_and_can_be_listed_alone() {
    let fixture = Fixture::open().await;
    let (den, zoo) = (fixture.chat("den").await, fixture.chat("zoo").await);
    fixture.dirigent.channel(zoo).hold().await.unwrap();
    let page = fixture.page("/dirigent?show=paused", VIEWER).await.text;
    let row = page.split(&format!("id=\"c-{zoo}\"")).nth(1).unwrap().split("</tr>").next().unwrap();
    assert!(row.contains("<span class=\"badge\">on hold</span>"), "{row}");
    assert!(!page.contains(&format!("id=\"c-{den}\"")), "{page}");
}

#[tokio::test]
async fn a_channel_whose_budget_is_spent_says_which_order_helps() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    let path = format!("/dirigent/channels/{channel}");
    let main = async || {
        let page = fixture.page(&path, OPERATOR).await.text;
        let main = page.split("class=\"main\">").nth(1).unwrap_or_default();
        main.split('<').next().unwrap_or_default().to_owned()
    };
    fixture.dirigent.channel(channel).report_cost(1_000).await.unwrap();
    fixture.discord.say(channel, fixture.person, "Go on");
    fixture
        .until(channel, |status| {
            status.silence.filter(|reason| *reason == dirigent::operate::Reason::BudgetSpent)
        })
        .await;
    assert_eq!(main().await, "Reset the budget");
    fixture.dirigent.channel(channel).reset_budget().await.unwrap();
}

#[tokio::test]
async fn a_quiet_channel_says_how_it_came_to_that_and_which_order_helps() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    let path = format!("/dirigent/channels/{channel}");
    let main = async || {
        let page = fixture.page(&path, OPERATOR).await.text;
        let main = page.split("class=\"main\">").nth(1).unwrap_or_default();
        main.split('<').next().unwrap_or_default().to_owned()
    };
    let look =
        async || fixture.get(&format!("/dirigent/api/channels/{channel}"), VIEWER).await.json();
    fixture.discord.say(channel, fixture.person, "Speak now");
    fixture.until(channel, |status| (status.turn.get() >= 3).then_some(())).await;
    assert_eq!(main().await, "", "an agent has the floor: nothing has to be done");
    fixture.dirigent.channel(channel).hold().await.unwrap();
    assert_eq!(
        (main().await.as_str(), look().await["advice"].as_str()),
        ("Resume", Some("Resume lets the agents go on."))
    );
    fixture.dirigent.channel(channel).resume().await.unwrap();
    // A stop would leave the conversation to go on where it was cut.
    fixture.dirigent.channel(channel).set_mode(Mode::None).await.unwrap();
    fixture.dirigent.channel(channel).set_mode(Mode::Chat).await.unwrap();
    assert_eq!(main().await, "Wake");
    let look = look().await;
    assert_eq!(look["channel"]["why"], "Quiet until a person writes.");
    assert!(look["because"].is_string(), "{look}");
    assert!(look["changes"][0]["sentence"].as_str().unwrap().ends_with('.'));
}

/// What an agent that was delegated to has done so far is on the page of its channel, and changes without a reload.
#[tokio::test]
async fn work_under_way_for_a_channel_is_shown_with_its_newest_words() {
    let fixture = Fixture::open().await;
    let (channel, other) = (fixture.chat("den").await, fixture.chat("other").await);
    fixture.dirigent.channel(channel).progress("research", "works");
    fixture
        .dirigent
        .channel(channel)
        .progress("research", format!("{} the end", "page\n".repeat(300)));
    fixture.dirigent.channel(channel).progress("opencode", "ended: success");
    let look = async |id| fixture.get(&format!("/dirigent/api/channels/{id}"), VIEWER).await.json();
    let workers = look(channel).await["workers"].clone();
    assert_eq!(
        (&workers[0]["worker"], &workers[0]["soFar"]),
        (&"opencode".into(), &"ended: success".into())
    );
    let so_far = workers[1]["soFar"].as_str().unwrap();
    assert!(so_far.starts_with('…') && so_far.ends_with("page the end"), "{so_far}");
    assert_eq!(so_far.chars().count(), 200);
    assert_eq!(look(other).await["workers"], serde_json::json!([]));
    let page = fixture.page(&format!("/dirigent/channels/{channel}"), VIEWER).await.text;
    assert!(page.contains("At work for this channel") && page.contains("page the end"));
}

#[tokio::test]
async fn no_page_has_a_script_or_a_style_of_its_own() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    fixture.wake(channel).await;
    for path in [
        "/dirigent".to_owned(),
        format!("/dirigent/channels/{channel}"),
        "/dirigent/registry".to_owned(),
    ] {
        let page = fixture.page(&path, OPERATOR).await;
        let policy = page.header(header::CONTENT_SECURITY_POLICY);
        assert!(policy.contains("script-src 'self'") && !policy.contains("unsafe"), "{policy}");
        for inline in [" style=", " onclick=", "<style", "<script>", "javascript:"] {
            assert!(!page.text.contains(inline), "{path} has {inline}");
        }
    }
}

#[tokio::test]
async fn a_form_works_without_a_script_and_comes_back_to_its_page() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    let path = format!("/dirigent/channels/{channel}");
    let send = |form, accept| fixture.send_form(&path, OPERATOR, form, accept);
    let answer = send("order=set-mode&mode=report", "text/html").await;
    let to = format!("{path}?done=set-mode");
    assert_eq!(
        (answer.status, answer.header(header::LOCATION)),
        (StatusCode::SEE_OTHER, to.as_str())
    );
    let page = fixture.page(&to, OPERATOR).await.text;
    assert!(page.contains("role=\"status\">set-mode: done."), "its success is confirmed");
    let other = fixture.page(&format!("{path}?done=%3Cb%3E"), OPERATOR).await.text;
    assert!(!other.contains(": done."), "only of what there is");
    assert_eq!(
        fixture.dirigent.channel(channel).status().await.unwrap().unwrap().mode,
        Mode::Report
    );
    assert_eq!(
        send("order=set-mode&mode=chat&sure=yes", "application/json").await.status,
        StatusCode::NO_CONTENT
    );
    let refused = send("order=resume", "text/html").await;
    assert_eq!(refused.status, StatusCode::CONFLICT);
    assert!(
        refused.text.contains("<h1>Conflict</h1>")
            && refused.text.contains("neither stopped nor on hold")
    );
    assert!(send("order=resume", "application/json").await.json()["detail"].is_string());
}

#[tokio::test]
async fn a_thousand_channels_are_paged_and_those_that_need_a_person_come_first() {
    let fixture = Fixture::open().await;
    for at in 0..120 {
        fixture.room(&format!("room-{at:03}"));
    }
    let channel = fixture.chat("zoo").await;
    fixture.dirigent.channel(channel).report_cost(1_000).await.unwrap();
    fixture.discord.say(channel, fixture.person, "Hello");
    fixture
        .until(channel, |status| {
            (status.silence == Some(dirigent::operate::Reason::BudgetSpent)).then_some(())
        })
        .await;
    let first = fixture.page("/dirigent", VIEWER).await.text;
    let at = |text: &str| first.find(text).unwrap_or(usize::MAX);
    assert!(at(">zoo<") < at(">room-000<"), "it needs a person");
    assert!(first.contains("A budget is spent"));
    assert!(first.contains("Page 1 of 4 · 121 channels") && !first.contains(">room-060<"));
    // PG11: from any page to the ends, and not one by one.
    let far = |text: &str| {
        let links =
            text.split("To page").nth(1).unwrap_or_default().split("</span>").next().unwrap();
        let pages = links.split("page=").skip(1).map(|link| link.split('"').next().unwrap());
        pages.map(|page| page.parse::<usize>().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(far(&first), [4]);
    let last = fixture.page("/dirigent?page=4", VIEWER).await.text;
    assert!(last.contains("Page 4 of 4") && far(&last) == [1], "{last}");
    let second = fixture.page("/dirigent?page=2", VIEWER).await.text;
    assert_eq!(far(&second), [4]);
    assert!(second.contains(">room-060<") && !second.contains(">room-000<"));
    let found = fixture.page("/dirigent?find=ROOM-07&show=", VIEWER).await.text;
    assert!(found.contains(">room-070<") && !found.contains(">room-060<"));
    let needs = fixture.page("/dirigent?show=needs", VIEWER).await.text;
    assert!(needs.contains(">zoo<") && !needs.contains(">room-000<"));
}

#[tokio::test]
async fn a_recording_of_the_room_is_replayed_with_who_was_denied() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    fixture.wake(channel).await;
    let other = fixture.dirigent.channel(channel).may_speak(&"unknown".into(), None).await;
    assert!(other.is_err());
    let replay =
        fixture.get(&format!("/dirigent/api/channels/{channel}/replay"), VIEWER).await.json();
    let frames = replay["frames"].as_array().unwrap();
    assert!(frames.len() > 3);
    let last = frames.last().unwrap()["state"].as_u64().unwrap();
    let state = &replay["states"][usize::try_from(last).unwrap()];
    assert_eq!(state["phase"], "running");
    assert!(state["speaker"] == "Poet" || state["speaker"] == "Critic");
    assert!(replay["score"].as_str().unwrap().starts_with("<svg "));
}

#[tokio::test]
async fn a_long_recording_is_shortened_and_still_ends_in_the_rooms_state() {
    use dirigent::replay::Recorder;
    use dirigent_core::{Input, Timestamp, TurnMachine};
    let recorder = dirigent_control::MemoryRecorder::new(10);
    let id = dirigent::ChannelId::new(7);
    let config = std::sync::Arc::<dirigent::Config>::default();
    let mut machine = TurnMachine::new(config.clone(), 1);
    recorder.began(id, &config, machine.snapshot().clone());
    for at in 1..=205_u64 {
        let mode = if at % 2 == 0 { Mode::Chat } else { Mode::Report };
        let (at, input) = (Timestamp::from_millis(at), Input::SetMode(mode));
        machine.handle(at, &input, &mut Vec::new()).unwrap();
        recorder.recorded(id, at, &input);
    }
    let kept = recorder.channel(id).unwrap();
    assert!((10..20).contains(&kept.inputs.len()), "{}", kept.inputs.len());
    let mut again = TurnMachine::restore(kept.config.clone(), &kept.start).unwrap();
    for (at, input) in &kept.inputs {
        again.handle(*at, input, &mut Vec::new()).unwrap();
    }
    assert_eq!(again.snapshot(), machine.snapshot());
}

/// An order from a form, as a browser without a script sends it, or as the script does.
async fn form(fixture: &Fixture, path: &str, form: &str, accept: &str) -> crate::fixture::Answer {
    match accept {
        "text/html" => fixture.form(path, OPERATOR, form).await,
        accept => fixture.send_form(path, OPERATOR, form, accept).await,
    }
}

/// A browser's Back and reload send a form again whose answer is a page: so each answer has an address of its own.
#[tokio::test]
async fn back_and_reload_send_no_form_again() {
    let fixture = Fixture::open_with(|builder| builder.operator("anna", "the token of anna")).await;
    let channel = fixture.chat("den").await;
    let order = format!("order=hold&channel={channel}");
    let send = async |path: &str, form: &str| {
        let answer = fixture.send_form(path, OPERATOR, form, "text/html").await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{form}: {}", answer.text);
        answer.header(header::LOCATION).to_owned()
    };
    let question = send("/dirigent/orders", &order).await;
    let done = send("/dirigent/orders", &format!("{order}&sure=yes")).await;
    let archive = send(&format!("/dirigent/channels/{channel}"), "order=archive").await;
    let delete = send("/dirigent/registry", "do=remove&agent=poet").await;
    for (at, part) in [
        (&question, "Hold den?"),
        (&done, "One channel has carried it out."),
        (&archive, "Archive den?"),
        (&delete, "Delete poet?"),
    ] {
        for _ in 0..2 {
            let page = fixture.page(at, OPERATOR).await;
            assert!(page.status == StatusCode::OK && page.text.contains(part), "{}", page.text);
        }
        let other = fixture.page(at, "the token of anna").await;
        assert_eq!(other.status, StatusCode::NOT_FOUND, "it is for who sent the form");
        assert!(!other.text.contains(part), "{}", other.text);
    }
    let stands = fixture.dirigent.channel(channel).status().await.unwrap().unwrap().rest;
    assert_eq!(stands, Some(dirigent::snapshot::Pause::Held));
    assert_eq!(fixture.page("/dirigent/answers/1", OPERATOR).await.status, StatusCode::NOT_FOUND);
}

/// The help is about the orders of this moment, and is not there if none of them has words.
#[tokio::test]
async fn the_help_tells_of_the_orders_that_can_be_given() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    let told = async |channel: dirigent::ChannelId| {
        let page = fixture.page(&format!("/dirigent/channels/{channel}"), OPERATOR).await.text;
        let help =
            page.split("id=\"help\"").nth(1).map(|it| it.split("</details>").next().unwrap());
        let words = help.unwrap_or_default().split("<dt>").skip(1);
        words.map(|it| it.split("</dt>").next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let rest = ["Reset the budget", "Archive"];
    let quiet = ["Wake", "Stop", "Hold", "Finish", rest[0], rest[1], "Speak next", "Mute"];
    assert_eq!(told(channel).await, quiet);
    fixture.dirigent.channel(channel).stop().await.unwrap();
    assert_eq!(told(channel).await, ["Resume", rest[0], rest[1], "Mute"]);
    fixture.dirigent.channel(channel).archive().await.unwrap();
    assert_eq!(told(channel).await, [""; 0]);
}

/// A page without a stream says that it shows the past.
#[tokio::test]
async fn a_page_that_is_not_live_says_so() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    for path in ["/orders", "/registry", "/agents/poet"] {
        let page = fixture.page(&format!("/dirigent{path}"), VIEWER).await.text;
        assert!(page.contains("As it was when this page was opened."), "{path}: {page}");
        assert!(!page.contains("data-live"), "{path}");
    }
    for path in [String::new(), format!("/channels/{channel}")] {
        let page = fixture.page(&format!("/dirigent{path}"), VIEWER).await.text;
        assert!(page.contains("data-live") && !page.contains("As it was when"), "{path}");
    }
}

/// Times are the visitor's own if a script runs, and UTC otherwise: each page says which.
#[tokio::test]
async fn a_page_says_in_which_zone_its_times_are() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    for path in ["", "/orders", "/registry", "/agents/poet", &format!("/channels/{channel}")] {
        let page = fixture.page(&format!("/dirigent{path}"), VIEWER).await.text;
        assert!(page.contains("Times are in <span id=\"zone\">UTC</span>."), "{path}");
    }
    let script = include_str!("../assets/control.js");
    assert!(script.contains("zone.textContent = clock.resolvedOptions().timeZone"));
}

/// PG6, PG11: what costs money, cuts a turn or is for good is asked for first, with a script and without one.
#[tokio::test]
async fn what_costs_money_cuts_a_turn_or_is_for_good_is_asked_for_first() {
    let fixture = Fixture::open().await;
    let channel = fixture.room("den");
    let path = format!("/dirigent/channels/{channel}");
    let mode = async || {
        fixture.dirigent.channel(channel).status().await.unwrap().map(|status| status.mode)
    };
    let asks = async |order: &str, part: &str| {
        let before = mode().await;
        let script = form(&fixture, &path, order, "application/json").await;
        assert_eq!(script.status, StatusCode::PRECONDITION_REQUIRED, "{order}");
        assert!(script.json()["detail"].as_str().unwrap().contains(part), "{}", script.text);
        let page = form(&fixture, &path, order, "text/html").await;
        assert_eq!(page.status, StatusCode::OK);
        assert!(page.text.contains("Are you sure?") && page.text.contains(part), "{}", page.text);
        assert_eq!(mode().await, before, "nothing was done yet");
        // The page's own form carries the order on.
        let fields: Vec<_> = page.text.split("<input type=\"hidden\" name=\"").skip(1).collect();
        let fields = fields.iter().map(|field| {
            let (name, rest) = field.split_once("\" value=\"").unwrap();
            format!("{name}={}", rest.split('"').next().unwrap())
        });
        let again = fields.collect::<Vec<_>>().join("&");
        let done = form(&fixture, &path, &again, "text/html").await;
        assert_eq!(done.status, StatusCode::SEE_OTHER, "{again}: {}", done.text);
    };
    asks("order=set-mode&mode=chat", "costs money").await;
    assert_eq!(mode().await, Some(Mode::Chat));
    fixture.wake(channel).await;
    asks("order=set-mode&mode=report", "its turn is cut").await;
    assert_eq!(mode().await, Some(Mode::Report));
    for harmless in
        ["order=set-mode&mode=none", "order=set-mode&mode=report", "order=set-mode&mode=report"]
    {
        let done = form(&fixture, &path, harmless, "application/json").await;
        assert_eq!(done.status, StatusCode::NO_CONTENT, "{harmless}");
    }
    asks("order=archive", "for good").await;
}

/// PG6: an arrow key in a list of modes only chooses: no script sends a form because of it, and each has a button.
#[tokio::test]
async fn a_mode_is_sent_by_a_button_alone() {
    let script = include_str!("../assets/control.js");
    assert!(
        !script.contains("requestSubmit") && !script.contains(".submit()"),
        "no form is sent by itself"
    );
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    for path in ["/dirigent".to_owned(), format!("/dirigent/channels/{channel}")] {
        let page = fixture.page(&path, OPERATOR).await.text;
        let form =
            page.split("value=\"set-mode\"").nth(1).unwrap().split("</form>").next().unwrap();
        assert!(form.contains("<button class=\"set\""), "{path}: {form}");
    }
}

/// PG6: the focus goes with the agent: its buttons are known by it, and not by their place.
#[tokio::test]
async fn buttons_are_known_by_their_agent() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    fixture.wake(channel).await;
    let ids = async || {
        let page = fixture.page(&format!("/dirigent/channels/{channel}"), OPERATOR).await.text;
        page.contains("id=\"mute-poet\"") && page.contains("id=\"mute-critic\"")
    };
    assert!(ids().await);
    fixture
        .order(channel, OPERATOR, &serde_json::json!({ "order": "mute", "agent": "poet" }))
        .await;
    assert!(ids().await, "also when it has another meaning");
}

/// PG11: without a script times are times.
#[tokio::test]
async fn times_are_times_without_a_script() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    fixture.wake(channel).await;
    fixture.dirigent.channel(channel).progress("research", "reads");
    fixture
        .order(channel, OPERATOR, &serde_json::json!({ "order": "mute", "agent": "poet" }))
        .await;
    for path in [
        format!("/dirigent/channels/{channel}"),
        "/dirigent".to_owned(),
        "/dirigent/orders".to_owned(),
    ] {
        let page = fixture.page(&path, OPERATOR).await.text;
        let times: Vec<_> = page.split("<time").skip(1).collect();
        assert!(!times.is_empty(), "{path}");
        for time in times {
            let shown = time.split_once('>').unwrap().1.split('<').next().unwrap();
            assert!(shown.ends_with(" UTC") && shown.contains(':'), "{path}: {shown:?}");
        }
    }
}

/// PG7: what the registry refuses stands beside the field that was filled, for a person, with what was typed; success is confirmed.
#[tokio::test]
async fn what_the_registry_refuses_stands_beside_its_field_with_what_was_typed() {
    let fixture = Fixture::open().await;
    let [poet, critic] = fixture.accounts;
    let spare = fixture.discord.add_bot();
    fixture.discord.guild(fixture.guild).add_member(spare);
    let send = async |text: &str| form(&fixture, "/dirigent/registry", text, "text/html").await;
    for (account, words) in [
        ("12".to_owned(), "15 to 20 decimal digits"),
        (critic.to_string(), "This account belongs to critic already."),
        (fixture.person.to_string(), "the account of a person"),
        (fixture.moderator.to_string(), "the moderator’s bot"),
        ("123456789012345678".to_owned(), "in no guild in which the moderator"),
    ] {
        let new =
            send(&format!("do=put&new=yes&agent=editor&account={account}&name=The+%22Editor"))
                .await;
        let own = send(&format!(
            "do=put&agent=poet&was_account={poet}&was_name=Poet&account={account}&name=Bard"
        ))
        .await;
        for (answer, field, name) in
            [(new, "Account of the new agent", "The &#34;Editor"), (own, "Account of poet", "Bard")]
        {
            assert!(answer.status.is_client_error(), "{}", answer.status);
            let input = answer.text.split(&format!("aria-label=\"{field}\"")).nth(1).unwrap();
            let cell = input.split("</td>").next().unwrap();
            assert!(cell.contains("aria-invalid=\"true\"") && cell.contains(words), "{cell}");
            assert!(!cell.contains("your own"), "these words are for an agent: {cell}");
            assert!(answer.text.contains(&format!("value=\"{account}\"")), "{account}");
            assert!(answer.text.contains(&format!("value=\"{name}\"")), "{name}");
        }
    }
    for dots in [".", ".."] {
        let refused = send(&format!("do=put&new=yes&agent={dots}&account={spare}&name=Dots")).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", refused.text);
        assert!(refused.text.contains("neither . nor .."), "{}", refused.text);
    }
    let added = send(&format!("do=put&new=yes&agent=editor&account={spare}&name=Editor")).await;
    assert_eq!(added.header(header::LOCATION), "/dirigent/registry?saved=editor");
    let page = fixture.page("/dirigent/registry?saved=editor", OPERATOR).await.text;
    assert!(page.contains("role=\"status\">editor is saved."), "{page}");
    let remove = format!("do=remove&agent=editor&was_account={spare}&was_name=Editor");
    assert!(send(&remove).await.text.contains("Delete editor?"), "it asks without a script");
    let gone = send(&format!("{remove}&sure=yes")).await;
    assert_eq!(gone.header(header::LOCATION), "/dirigent/registry?deleted=editor");
    let page = fixture.page("/dirigent/registry?deleted=editor", OPERATOR).await.text;
    assert!(page.contains("editor is deleted."));
    let page = fixture.page("/dirigent/registry?deleted=poet&saved=nobody", OPERATOR).await.text;
    assert!(!page.contains(" is deleted.") && !page.contains(" is saved."), "only what is so");
}

/// PG7: a form that was made from what is not so any more moves no agent and brings none back.
#[tokio::test]
async fn a_stale_form_of_the_registry_is_refused_with_what_changed() {
    let fixture = Fixture::open().await;
    let [poet, critic] = fixture.accounts;
    let spare = fixture.discord.add_bot();
    fixture.discord.guild(fixture.guild).add_member(spare);
    let all = async || {
        let mut all = dirigent::IdentityStore::all(&fixture.identities).await.unwrap();
        all.sort_by_key(|own| own.agent_id.clone());
        all.into_iter()
            .map(|own| (own.agent_id.to_string(), own.discord_user_id))
            .collect::<Vec<_>>()
    };
    let before = all().await;
    let refused = async |text: String, part: &str| {
        let answer = form(&fixture, "/dirigent/registry", &text, "text/html").await;
        assert_eq!(answer.status, StatusCode::CONFLICT, "{text}");
        assert!(answer.text.contains(part), "{part}: {}", answer.text);
        answer.text
    };
    let page = refused(
        format!("do=put&new=yes&agent=poet&account={spare}&name=x"),
        "There is an agent poet already",
    )
    .await;
    assert!(page.contains(&poet.to_string()) && page.contains(&format!("value=\"{spare}\"")));
    refused(format!("do=put&agent=poet&account={spare}&name=x"), "was changed meanwhile").await;
    let stale =
        format!("do=put&agent=poet&was_account={spare}&was_name=Poet&account={spare}&name=x");
    let page = refused(stale, &format!("its account is {poet}, and its name Poet")).await;
    assert!(
        page.contains(&format!("name=\"was_account\" value=\"{poet}\"")),
        "the next one is from now"
    );
    refused(
        format!("do=remove&agent=critic&was_account={critic}&was_name=Old&sure=yes"),
        "was changed meanwhile",
    )
    .await;
    assert_eq!(all().await, before);
    let gone = format!("do=put&agent=ghost&was_account={spare}&was_name=G&account={spare}&name=G");
    refused(gone, "ghost was deleted meanwhile").await;
    assert_eq!(all().await, before, "it is not brought back");
}

/// PG10, R159: a guild is listed although it has no private channel.
#[tokio::test]
async fn a_guild_without_private_channels_is_listed() {
    let fixture = Fixture::open().await;
    fixture.chat("den").await;
    let guild = fixture.discord.add_guild(fixture.person);
    fixture.discord.guild(guild).add_member(fixture.moderator);
    let strange = fixture.discord.add_guild(fixture.person);
    fixture.discord.guild(strange).add_member(fixture.moderator);
    for (id, name) in [(guild, "The Empty House"), (strange, "Not Ours")] {
        fixture.discord.world().places.guilds.get_mut(&id).unwrap().name = name.to_owned();
    }
    fixture.discord.guild(guild).set_administrator(fixture.moderator, true);
    fixture.discord.add_open_channel(guild, "lobby");
    let page = fixture.page("/dirigent", VIEWER).await.text;
    assert!(page.contains("<bdi>The Empty House</bdi>") && !page.contains("Not Ours"), "{page}");
    let listed = fixture.get("/dirigent/api/channels", VIEWER).await.json();
    assert_eq!(listed["guildsWithout"], serde_json::json!(["The Empty House"]));
}

/// PG11: what failed stands out with its class, and the page says since when it is as it is.
#[tokio::test]
async fn failures_stand_out_and_the_page_says_since_when() {
    let broken = agent_fn(async |_: dirigent::Turn| Err("no model".into()));
    let fixture = Fixture::open().await;
    for agent in ["poet", "critic"] {
        let account = fixture.discord.account(fixture.accounts[usize::from(agent == "critic")]);
        fixture.dirigent.unhost(&agent.into());
        fixture.dirigent.host(agent, broken, account);
    }
    let channel = fixture.chat("den").await;
    fixture.discord.say(channel, fixture.person, "Hello");
    fixture
        .until(channel, |status| (status.turn.get() >= 1 && status.speaker.is_none()).then_some(()))
        .await;
    let path = format!("/dirigent/channels/{channel}");
    let page = fixture.page(&path, VIEWER).await.text;
    assert!(
        page.contains("class=\"failed\"") && page.contains("<span class=\"tag\">run failed</span>"),
        "{page}"
    );
    let look = fixture.get(&format!("/dirigent/api/channels/{channel}"), VIEWER).await.json();
    assert!(
        look["channel"]["since"].as_u64().is_some_and(|since| since > 1_700_000_000_000),
        "{look}"
    );
    assert!(page.contains("data-since="));
    let before = crate::fixture::now();
    fixture.dirigent.channel(channel).hold().await.unwrap();
    let look = fixture.get(&format!("/dirigent/api/channels/{channel}"), VIEWER).await.json();
    assert!(look["channel"]["since"].as_u64() >= Some(before), "a pause changes no phase: {look}");
}

/// WY8
#[tokio::test]
async fn an_agent_that_fails_needs_a_person() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    let account = fixture.discord.account(fixture.accounts[0]);
    let fails = agent_fn(|_: dirigent::Turn| async { Err("a secret".into()) });
    fixture.dirigent.host("poet", fails, account);
    fixture.discord.say(channel, fixture.person, "Speak now");
    fixture.until(channel, |status| (!status.failing.is_empty()).then_some(())).await;
    let list = fixture.page("/dirigent?show=needs", VIEWER).await.text;
    assert!(list.contains("Poet fails") && !list.contains("a secret"), "{list}");
    let page = fixture.page(&format!("/dirigent/channels/{channel}"), VIEWER).await.text;
    let is_told = page.contains("Its last call failed.") || page.contains(" calls failed.");
    assert!(is_told && !page.contains("a secret"), "{page}");
}
