//! Messages as people write them with a client: in the event, in the history, and through twilight's models.

use dirigent_loopback::Said;

use super::*;

impl Scene {
    /// The newest messages of the channel over REST, newest first.
    async fn history(&self) -> Value {
        self.ask("GET", &format!("channels/{}/messages", self.channel), &Value::Null).await.json()
    }
}

#[tokio::test]
async fn a_reply_comes_with_the_message_that_it_answers() {
    let scene = Scene::new().await;
    let (mut client, _) = scene.session(INTENTS).await;
    let claim = scene.discord.say(scene.channel, scene.bot, "It was the cable.");
    client.event("MESSAGE_CREATE").await;
    scene
        .server
        .say(scene.channel, scene.person, Said::new("Are you sure?").reply_to(claim))
        .unwrap();
    let told = client.event("MESSAGE_CREATE").await;
    assert_eq!((&told["type"], &told["content"]), (&json!(19), &json!("Are you sure?")));
    let reference = json!({
        "type": 0, "message_id": claim.get().to_string(),
        "channel_id": scene.channel.to_string(), "guild_id": scene.guild.to_string(),
    });
    assert_eq!(told["message_reference"], reference);
    let answered = &told["referenced_message"];
    assert_eq!(answered["content"], "It was the cable.");
    assert_eq!(answered["author"]["id"], scene.bot.to_string());
    assert_eq!(told["mentions"][0]["id"], scene.bot.to_string(), "a reply pings");
    assert_eq!(scene.history().await[0]["referenced_message"], *answered);

    let quiet = Said::new("I doubt it").reply_to(claim).without_ping();
    scene.server.say(scene.channel, scene.person, quiet).unwrap();
    let told = client.event("MESSAGE_CREATE").await;
    assert_eq!((&told["mentions"], &told["type"]), (&json!([]), &json!(19)));

    // Who answers what is gone by now still answers something.
    scene.discord.delete_message(scene.channel, claim);
    client.event("MESSAGE_DELETE").await;
    scene.server.say(scene.channel, scene.person, Said::new("What?").reply_to(claim)).unwrap();
    let told = client.event("MESSAGE_CREATE").await;
    assert_eq!(told["message_reference"], reference);
    assert_eq!(told.get("referenced_message"), Some(&Value::Null));
    for message in scene.history().await.as_array().unwrap() {
        assert_eq!(message.get("referenced_message"), Some(&Value::Null), "{message}");
    }
}

#[tokio::test]
async fn who_may_not_write_says_nothing() {
    use dirigent::ports::ErrorKind;

    let scene = Scene::new().await;
    let say = |user, text: &str| {
        let said = scene.server.say(scene.channel, user, text);
        said.map(|_| ()).map_err(|error| error.kind())
    };
    assert_eq!(say(scene.person, "hello"), Ok(()));
    assert_eq!(say(scene.person, " \n "), Err(ErrorKind::Invalid));
    assert_eq!(say(scene.discord.add_human(), "hello"), Err(ErrorKind::Forbidden));
    let gone = scene.discord.add_channel(scene.guild, "annex", &[]);
    scene.discord.channel(gone).delete();
    assert_eq!(scene.server.say(gone, scene.person, "hello").unwrap_err().kind(), ErrorKind::Gone);
}

/// The answer of the file host to a bot that asks as any client does.
async fn fetch(scene: &Scene, file: &Value) -> Option<Answer> {
    let url = file["url"].as_str().unwrap();
    let path = url.strip_prefix(&scene.server.file_host()).expect("a file of the file host");
    answer::exchange(scene.server.address(), "GET", path, &[], &[]).await
}

#[tokio::test]
async fn a_paste_becomes_a_file_of_the_file_host() {
    let scene = Scene::new().await;
    let (mut client, _) = scene.session(INTENTS).await;
    let paste = "line of a log, with é\n".repeat(100);
    scene.server.say(scene.channel, scene.person, paste.as_str()).unwrap();
    let told = client.event("MESSAGE_CREATE").await;
    assert_eq!(told["content"], "");
    let file = &told["attachments"][0];
    assert_eq!(
        (&file["filename"], &file["content_type"], &file["size"]),
        (&json!("message.txt"), &json!("text/plain; charset=utf-8"), &json!(paste.len()))
    );
    assert_eq!(scene.history().await[0]["attachments"], told["attachments"]);
    let read = fetch(&scene, file).await.unwrap();
    assert_eq!((read.status, &read.text), (200, &paste));
    assert_eq!(read.header("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!(read.header("content-length"), Some(paste.len().to_string().as_str()));

    let longest = "x".repeat(2_000);
    scene.server.say(scene.channel, scene.person, longest.as_str()).unwrap();
    let told = client.event("MESSAGE_CREATE").await;
    assert_eq!((&told["content"], &told["attachments"]), (&json!(longest), &json!([])));
}

#[tokio::test]
async fn a_picture_has_its_size_and_files_take_a_right() {
    use dirigent::ports::ErrorKind;
    use dirigent_testkit::memory_discord::Permissions;

    let scene = Scene::new().await;
    let (mut client, _) = scene.session(INTENTS).await;
    let picture =
        [&b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"[..], &[0, 0, 2, 128, 0, 0, 1, 224, 8]].concat();
    let said = Said::default().file("shot.png", picture).file("notes.bin", *b"\xff\xfe");
    scene.server.say(scene.channel, scene.person, said).unwrap();
    let told = client.event("MESSAGE_CREATE").await;
    let (picture, notes) = (&told["attachments"][0], &told["attachments"][1]);
    assert_eq!((&picture["width"], &picture["height"]), (&json!(640), &json!(480)));
    assert_eq!(picture["content_type"], "image/png");
    assert_eq!((notes.get("width"), &notes["size"]), (None, &json!(2)));

    let member = scene.discord.add_human();
    scene.discord.join(scene.channel, member);
    let say = |said| scene.server.say(scene.channel, member, said).map_err(|error| error.kind());
    let large = Said::new("look").file("large.bin", vec![0; (10 << 20) + 1]);
    assert_eq!(say(large), Err(ErrorKind::Invalid));
    let many = (0..11).fold(Said::default(), |said, _| said.file("a.txt", *b"a"));
    assert_eq!(say(many), Err(ErrorKind::Invalid));
    let channel = scene.discord.channel(scene.channel);
    channel.set_member_overwrite(member, Permissions::TALK, Permissions::ATTACH_FILES);
    assert_eq!(say(Said::new("x".repeat(2_001))), Err(ErrorKind::Forbidden));
}

#[tokio::test]
async fn the_file_host_misbehaves_as_a_test_wants() {
    let scene = Scene::new().await;
    scene.server.alter().files(|file| match file.path.rsplit('/').next() {
        Some("away.txt") => {
            file.status = 302;
            file.headers.insert("location".to_owned(), "http://127.0.0.1:9/".to_owned());
        }
        Some("short.txt") => {
            file.headers.insert("content-length".to_owned(), "1000".to_owned());
        }
        Some("large.txt") => file.bytes = b"x".repeat(70_000),
        Some("slow.txt") => file.delay = Duration::from_secs(60),
        _ => file.status = 500,
    });
    let names = ["away.txt", "short.txt", "large.txt", "slow.txt", "other.txt"];
    let said = names.iter().fold(Said::default(), |said, name| said.file(*name, *b"four"));
    scene.server.say(scene.channel, scene.person, said).unwrap();
    let files = scene.history().await[0]["attachments"].clone();
    let away = fetch(&scene, &files[0]).await.unwrap();
    assert_eq!((away.status, away.header("location")), (302, Some("http://127.0.0.1:9/")));
    let short = fetch(&scene, &files[1]).await.unwrap();
    assert_eq!((short.header("content-length"), short.text.as_str()), (Some("1000"), "four"));
    let large = fetch(&scene, &files[2]).await.unwrap();
    assert_eq!((large.text.len(), &files[2]["size"]), (70_000, &json!(4)), "more than was said");
    assert_eq!(fetch(&scene, &files[4]).await.unwrap().status, 500);
    let meanwhile = async {
        while scene.clock.waiting() == 0 {
            tokio::task::yield_now().await;
        }
        scene.clock.advance(Duration::from_secs(60));
    };
    let (slow, ()) = tokio::join!(fetch(&scene, &files[3]), meanwhile);
    assert_eq!(slow.unwrap().text, "four", "it comes when the clock says so");
}

#[tokio::test]
async fn a_forward_shows_the_message_as_it_was_without_its_author() {
    use dirigent::ports::ErrorKind;

    let scene = Scene::new().await;
    let (mut client, _) = scene.session(INTENTS).await;
    let elsewhere = scene.discord.add_channel(scene.guild, "elsewhere", &[]);
    client.event("CHANNEL_CREATE").await;
    let said = Said::new("Ship it").file("plan.txt", *b"1. ship");
    let original = scene.server.say(elsewhere, scene.person, said).unwrap();
    let forward = Said::forward(elsewhere, original);
    let forwarded = scene.server.say(scene.channel, scene.person, forward).unwrap();
    let told = client.event("MESSAGE_CREATE").await;
    assert_eq!(
        (&told["type"], &told["content"], &told["attachments"]),
        (&json!(0), &json!(""), &json!([]))
    );
    assert_eq!((&told["flags"], told.get("referenced_message")), (&json!(1 << 14), None));
    let reference = json!({
        "type": 1, "message_id": original.get().to_string(),
        "channel_id": elsewhere.to_string(), "guild_id": scene.guild.to_string(),
    });
    assert_eq!(told["message_reference"], reference);
    let snapshot = &told["message_snapshots"][0]["message"];
    assert_eq!((&snapshot["content"], snapshot.get("author")), (&json!("Ship it"), None));
    let file = &snapshot["attachments"][0];
    assert_eq!(file["filename"], "plan.txt");
    assert_eq!(fetch(&scene, file).await.unwrap().text, "1. ship");
    scene.discord.edit(elsewhere, original, "Do not ship it");
    assert_eq!(scene.history().await[0]["message_snapshots"], told["message_snapshots"]);

    // A forward of a forward shows the first message.
    scene.server.say(scene.channel, scene.person, Said::forward(scene.channel, forwarded)).unwrap();
    let again = client.event("MESSAGE_CREATE").await;
    assert_eq!(again["message_snapshots"], told["message_snapshots"]);
    assert_eq!(again["message_reference"]["message_id"], forwarded.get().to_string());

    let say =
        |user, said| scene.server.say(scene.channel, user, said).map_err(|error| error.kind());
    let member = scene.discord.add_human();
    scene.discord.join(scene.channel, member);
    assert_eq!(say(member, Said::forward(elsewhere, original)), Err(ErrorKind::Forbidden));
    scene.discord.delete_message(elsewhere, original);
    assert_eq!(say(scene.person, Said::forward(elsewhere, original)), Err(ErrorKind::Gone));
    let joined = scene.discord.system_message(scene.channel, member, "");
    assert_eq!(say(scene.person, Said::forward(scene.channel, joined)), Err(ErrorKind::Invalid));
}

#[tokio::test]
async fn a_forward_says_nothing_without_the_intent() {
    let scene = Scene::new().await;
    let (mut client, _) = scene.session(INTENTS & !(1 << 15)).await;
    let said = Said::new("Ship it").file("plan.txt", *b"1. ship");
    let original = scene.server.say(scene.channel, scene.person, said).unwrap();
    scene.server.say(scene.channel, scene.person, Said::forward(scene.channel, original)).unwrap();
    client.event("MESSAGE_CREATE").await;
    let told = client.event("MESSAGE_CREATE").await;
    let snapshot = &told["message_snapshots"][0]["message"];
    assert_eq!((&snapshot["content"], &snapshot["attachments"]), (&json!(""), &json!([])));
    assert_eq!(told["message_reference"]["type"], 1);
}

#[tokio::test]
async fn stickers_and_polls_stand_beside_an_empty_text() {
    use dirigent::ports::ErrorKind;

    let scene = Scene::new().await;
    let (mut client, _) = scene.session(INTENTS).await;
    let (mut blind, _) = scene.session(INTENTS & !(1 << 15)).await;
    let cat = scene.server.add_sticker("cat");
    scene.server.say(scene.channel, scene.person, Said::default().sticker(cat)).unwrap();
    let told = client.event("MESSAGE_CREATE").await;
    let items = json!([{ "id": cat.to_string(), "name": "cat", "format_type": 1 }]);
    assert_eq!((&told["content"], &told["sticker_items"]), (&json!(""), &items));
    assert_eq!(blind.event("MESSAGE_CREATE").await["sticker_items"], items);

    let poll = Said::poll("Tabs or spaces?", ["Tabs", "Spaces"]);
    let asked = scene.server.say(scene.channel, scene.person, poll).unwrap();
    let told = client.event("MESSAGE_CREATE").await;
    assert_eq!(
        (&told["content"], &told["poll"]["question"]["text"]),
        (&json!(""), &json!("Tabs or spaces?"))
    );
    assert_eq!(told["poll"]["answers"][0]["poll_media"]["text"], "Tabs");
    assert_eq!(blind.event("MESSAGE_CREATE").await.get("poll"), None, "the intent guards it");
    assert_eq!(scene.history().await[0]["poll"], told["poll"]);

    let say = |said| {
        let said = scene.server.say(scene.channel, scene.person, said);
        said.map(|_| ()).map_err(|error| error.kind())
    };
    let four = (0..4).fold(Said::new("look"), |said, _| said.sticker(cat));
    assert_eq!(say(four), Err(ErrorKind::Invalid));
    assert_eq!(say(Said::default().sticker(7)), Err(ErrorKind::Invalid));
    assert_eq!(say(Said::poll("Why?", [""; 0])), Err(ErrorKind::Invalid));
    assert_eq!(say(Said::forward(scene.channel, asked)), Err(ErrorKind::Invalid));
}

#[tokio::test]
async fn a_thread_that_a_person_makes_of_a_message_begins_with_it() {
    use dirigent::ports::ErrorKind;

    let scene = Scene::new().await;
    let said = scene.discord.say(scene.channel, scene.person, "a topic");
    let (mut client, _) = scene.session(INTENTS).await;
    let start = |user, message, name: &str| {
        let started = scene.server.start_thread(scene.channel, user, message, name);
        started.map_err(|error| error.kind())
    };
    let thread = start(scene.person, said, "topic").unwrap();
    assert_eq!(thread.get(), said.get());
    let created = client.event("THREAD_CREATE").await;
    assert_eq!(created["id"], thread.to_string());
    assert_eq!(created["owner_id"], scene.person.to_string());
    let marked = client.event("MESSAGE_UPDATE").await;
    assert_eq!(
        (&marked["thread"]["id"], &marked["flags"]),
        (&json!(thread.to_string()), &json!(1 << 5))
    );
    let starter = client.event("MESSAGE_CREATE").await;
    assert_eq!((&starter["type"], &starter["content"]), (&json!(21), &json!("")));
    assert_eq!(starter["author"]["bot"], false);
    assert_eq!(starter["channel_id"], thread.to_string());
    assert_eq!(starter["referenced_message"]["content"], "a topic");
    assert_eq!(starter["message_reference"]["channel_id"], scene.channel.to_string());

    assert_eq!(start(scene.person, said, "again"), Err(ErrorKind::Invalid));
    let second = scene.discord.say(scene.channel, scene.person, "another");
    assert_eq!(start(scene.person, second, ""), Err(ErrorKind::Invalid));
    assert_eq!(start(scene.discord.add_human(), second, "mine"), Err(ErrorKind::Forbidden));
    scene.discord.delete_message(scene.channel, second);
    assert_eq!(start(scene.person, second, "late"), Err(ErrorKind::Gone));
}

#[tokio::test]
async fn flags_are_told_with_the_message() {
    let scene = Scene::new().await;
    let (mut client, _) = scene.session(INTENTS).await;
    let silent = Said::new("psst").flags(1 << 12);
    let id = scene.server.say(scene.channel, scene.person, silent).unwrap();
    assert_eq!(client.event("MESSAGE_CREATE").await["flags"], 1 << 12);
    let forward = Said::forward(scene.channel, id).flags(1 << 1);
    scene.server.say(scene.channel, scene.person, forward).unwrap();
    let told = client.event("MESSAGE_CREATE").await;
    assert_eq!(told["flags"], 1 << 14 | 1 << 1);
    assert_eq!(told["message_snapshots"][0]["message"]["flags"], 1 << 12);
    assert_eq!(scene.history().await[0]["flags"], told["flags"]);
}

/// Discord reads the page after it has told the message, and the author has changed nothing.
#[tokio::test]
async fn the_preview_of_a_page_comes_after_the_message() {
    let scene = Scene::new().await;
    let (mut client, _) = scene.session(INTENTS).await;
    let url = "https://example.invalid/";
    let linked = Said::new(format!("see {url}")).preview(url, "An example");
    let id = scene.server.say(scene.channel, scene.person, linked).unwrap();
    assert_eq!(client.event("MESSAGE_CREATE").await["embeds"], json!([]));
    let told = client.event("MESSAGE_UPDATE").await;
    assert_eq!(
        (&told["id"], &told["content"]),
        (&json!(id.get().to_string()), &json!(format!("see {url}")))
    );
    assert_eq!(told["embeds"], json!([{ "type": "link", "url": url, "title": "An example" }]));
    assert_eq!(told["edited_timestamp"], Value::Null);
}
