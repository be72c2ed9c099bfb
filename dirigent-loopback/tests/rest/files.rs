//! Files: posted as forms, listed with messages, and read at their addresses.

use dirigent_testkit::memory_discord::Permissions;

use super::*;

const BOUNDARY: &str = "the-end-of-a-part";

/// A form with a body and files.
fn form(body: &Value, files: &[(&str, &str, &[u8])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let head =
        "Content-Disposition: form-data; name=\"payload_json\"\r\nContent-Type: application/json";
    bytes.extend(format!("--{BOUNDARY}\r\n{head}\r\n\r\n{body}\r\n").bytes());
    for (field, filename, content) in files {
        let head =
            format!("Content-Disposition: form-data; name=\"{field}\"; filename=\"{filename}\"");
        bytes.extend(format!("--{BOUNDARY}\r\n{head}\r\n\r\n").bytes());
        bytes.extend(*content);
        bytes.extend(b"\r\n");
    }
    bytes.extend(format!("--{BOUNDARY}--\r\n").bytes());
    bytes
}

async fn send(stage: &RestStage, method: &str, path: &str, form: &[u8]) -> Answer {
    let token = format!("Bot {}", stage.loopback.token(stage.bot));
    let kind = format!("multipart/form-data; boundary={BOUNDARY}");
    let headers =
        [("Authorization", token.as_str()), ("User-Agent", AGENT), ("Content-Type", kind.as_str())];
    let path = format!("/api/v10/{path}");
    answer::exchange(stage.loopback.address(), method, &path, &headers, form).await.unwrap()
}

/// Reads a file as a browser does, with no token.
async fn fetch(stage: &RestStage, address: &Value) -> Answer {
    let address = address.as_str().unwrap();
    let path = address.strip_prefix(&format!("http://{}", stage.loopback.address())).unwrap();
    answer::exchange(stage.loopback.address(), "GET", path, &[], &[]).await.unwrap()
}

fn messages(stage: &RestStage) -> String {
    format!("channels/{}/messages", stage.channel)
}

#[tokio::test(flavor = "current_thread")]
async fn a_file_is_posted_and_read_back_at_its_address() {
    let stage = RestStage::new().await;
    let body = json!({
        "content": "the minutes",
        "attachments": [{ "id": 0, "filename": "minutes.txt", "description": "what was said" }],
        "embeds": [{ "title": "a picture", "image": { "url": "attachment://dot.png" } }],
    });
    let files =
        [("files[0]", "draft.txt", &b"Nothing was decided."[..]), ("files[1]", "dot.png", b"PNG")];
    let posted = send(&stage, "POST", &messages(&stage), &form(&body, &files)).await;
    assert_eq!(posted.status, 200, "{}", posted.text);
    let posted = posted.json();
    let minutes = &posted["attachments"][0];
    assert_eq!((&minutes["filename"], &minutes["size"]), (&json!("minutes.txt"), &json!(20)));
    assert_eq!(minutes["description"], "what was said");
    let read = fetch(&stage, &minutes["url"]).await;
    assert_eq!((read.status, read.text.as_str()), (200, "Nothing was decided."));
    assert_eq!(read.header("content-type"), Some("text/plain; charset=utf-8"));
    let picture = &posted["attachments"][1];
    assert_eq!(
        (&picture["filename"], &picture["content_type"]),
        (&json!("dot.png"), &json!("image/png"))
    );
    assert_eq!(posted["embeds"][0]["image"]["url"], picture["url"]);
    let listed = stage.get(&messages(&stage)).await.json();
    assert_eq!(listed[0]["attachments"], posted["attachments"]);
    assert_eq!(&*stage.discord.messages(stage.channel)[0].attachments[1].name, "dot.png");

    let message = format!("{}/{}", messages(&stage), posted["id"].as_str().unwrap());
    assert_eq!(stage.ask(stage.bot, "DELETE", &message, Value::Null).await.status, 204);
    assert_eq!(fetch(&stage, &minutes["url"]).await.status, 404, "a file goes with its message");
}

#[tokio::test(flavor = "current_thread")]
async fn a_change_keeps_the_files_that_it_lists_and_adds_those_that_it_brings() {
    let stage = RestStage::new().await;
    let files = [("files[0]", "one.txt", &b"1"[..]), ("files[1]", "two.txt", b"2")];
    let posted = send(&stage, "POST", &messages(&stage), &form(&json!({}), &files)).await.json();
    let message = format!("{}/{}", messages(&stage), posted["id"].as_str().unwrap());
    let names = |message: &Value| -> Vec<String> {
        let files = message["attachments"].as_array().unwrap().iter();
        files.map(|file| file["filename"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(
        names(&posted),
        ["one.txt", "two.txt"],
        "what is not listed is attached all the same"
    );
    let changed =
        stage.ask(stage.bot, "PATCH", &message, json!({ "content": "look" })).await.json();
    assert_eq!(names(&changed), ["one.txt", "two.txt"]);
    let kept = json!({ "attachments": [{ "id": posted["attachments"][1]["id"] }, { "id": 0 }] });
    let body = form(&kept, &[("files[0]", "three.txt", b"3")]);
    let changed = send(&stage, "PATCH", &message, &body).await.json();
    assert_eq!(names(&changed), ["two.txt", "three.txt"]);
    let foreign = json!({ "attachments": [{ "id": "77" }] });
    assert_eq!(stage.ask(stage.bot, "PATCH", &message, foreign).await.refusal(), (400, 50035));
    let none = stage.ask(stage.bot, "PATCH", &message, json!({ "attachments": [] })).await.json();
    assert_eq!(names(&none), [""; 0]);
}

#[tokio::test(flavor = "current_thread")]
async fn files_have_limits_and_take_a_right() {
    let stage = RestStage::new().await;
    let numbers: Vec<String> = (0..11).map(|number| format!("files[{number}]")).collect();
    let many: Vec<_> = numbers.iter().map(|field| (field.as_str(), "a.txt", &b"a"[..])).collect();
    let refused = send(&stage, "POST", &messages(&stage), &form(&json!({}), &many)).await;
    assert_eq!(refused.refusal(), (400, 50035), "ten files are the most");
    let allowed = send(&stage, "POST", &messages(&stage), &form(&json!({}), &many[..10])).await;
    assert_eq!(allowed.status, 200);
    let large = vec![b'x'; (10 << 20) + 1];
    let large = form(&json!({}), &[("files[0]", "large.bin", &large)]);
    let refused = send(&stage, "POST", &messages(&stage), &large).await;
    assert_eq!(refused.refusal(), (413, 40005), "10 MiB are the most");
    let refused = send(&stage, "POST", &messages(&stage), b"no form at all").await;
    assert_eq!(refused.refusal(), (400, 50035));
    let elsewhere = format!("channels/{}/typing", stage.channel);
    let file = form(&json!({}), &[("files[0]", "a.txt", b"a")]);
    assert_eq!(send(&stage, "POST", &elsewhere, &file).await.status, 501);
    let channel = stage.discord.channel(stage.channel);
    channel.set_member_overwrite(stage.bot, Permissions::TALK, Permissions::ATTACH_FILES);
    assert_eq!(send(&stage, "POST", &messages(&stage), &file).await.refusal(), (403, 50013));
}

/// py-cord answers commands so where there are no files.
#[tokio::test(flavor = "current_thread")]
async fn a_form_of_names_and_values_is_read_too() {
    let stage = RestStage::new().await;
    let token = format!("Bot {}", stage.loopback.token(stage.bot));
    let headers = [
        ("Authorization", token.as_str()),
        ("User-Agent", AGENT),
        ("Content-Type", "application/x-www-form-urlencoded"),
    ];
    let path = format!("/api/v10/channels/{}/messages", stage.channel);
    for (body, said) in [
        ("payload_json=%7B%22content%22%3A%22one+%26+two%22%7D", "one & two"),
        ("content=three+four", "three four"),
        ("payload_json=%7B%22flags%22%3A4%7D&content=five", "five"),
    ] {
        let address = stage.loopback.address();
        let sent = answer::exchange(address, "POST", &path, &headers, body.as_bytes()).await;
        assert_eq!(sent.unwrap().json()["content"], said, "{body}");
    }
    let address = stage.loopback.address();
    let broken = answer::exchange(address, "POST", &path, &headers, b"payload_json=%7B").await;
    assert_eq!(broken.unwrap().refusal(), (400, 50109));
}
