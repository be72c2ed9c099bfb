//! One file with an agent of every kind: `dirigent run` lets each of them speak in turn.

use std::collections::BTreeMap;

use dirigent::UserId;
use dirigent_llm::script::{LoopbackLlm, ScriptedAnswer};
use dirigent_testkit::memory_discord::Event;
use serde_json::{Value, json};

use crate::stage::{ANY_PORT, BotStage, Program, SECRET, http, page_and_front, until};

/// One file. What stands in capitals is put in.
const FILE: &str = r#"
[discord]
token = { env = "TOKEN_OF_THIS_TEST" }
address = "http://ADDRESS"
[store]
sqlite = "state/dirigent.sqlite"
[rules.deadlines]
start = "60s"
[[agents]]
name = "optimist"
persona = { name = "Optimist" }
model = { url = "MODEL_1", name = "m" }
[[agents]]
name = "sceptic"
persona = { name = "Sceptic" }
model = { url = "MODEL_2", name = "m" }
[[agents]]
name = "poet"
token = { env = "POET_OF_THIS_TEST" }
model = { url = "MODEL_3", name = "m" }
[[agents]]
name = "clerk"
kind = "asks"
persona = { name = "Clerk" }
[[agents]]
name = "developer"
kind = "asks"
account = "DEVELOPER"
[[agents]]
name = "helper"
kind = "observed"
observed = { silent_after = "60s", pass_words = ["Nothing."] }
account = "HELPER"
[[channels]]
id = "CHANNEL"
"#;

/// What a model says once, and then passes.
async fn model(words: &str) -> LoopbackLlm {
    let model = LoopbackLlm::start().await.unwrap();
    model.script([ScriptedAnswer::text(words)]);
    model.cycle([ScriptedAnswer::text("NO_REPLY")]);
    model
}

/// A bot that knows nothing of Dirigent: it answers when it is mentioned, the first time with words.
fn unmodified_bot(stage: &BotStage, bot: UserId) {
    let (discord, channel, mention) = (stage.discord.clone(), stage.channel, format!("<@{bot}>"));
    let mut events = discord.events();
    let mut words = vec!["Nothing.", "I found a link."];
    tokio::spawn(async move {
        while let Some(event) = events.next().await {
            if let Event::MessageCreated(message) = event
                && message.author != bot
                && message.content.contains(&mention)
            {
                let answer = if words.len() > 1 { words.pop() } else { words.last().copied() };
                discord.say(channel, bot, answer.unwrap());
            }
        }
    });
}

/// Asks for an agent's turns: in the first it says something, and it passes in the others. Dirigent posts for it, if it has no bot.
async fn asks(stage: &BotStage, front: &str, agent: &str, words: &str, bot: Option<UserId>) {
    let secret = format!("desk.{SECRET}");
    let ask = async |request: &str, question: &Value| {
        let (status, answer) = http(front, request, &secret, &question.to_string()).await;
        assert_eq!(status, 200, "{request}: {answer}");
        serde_json::from_str::<Value>(&answer).unwrap()
    };
    let mut is_first = true;
    for number in 0_u64.. {
        // The same run would have the same answer.
        let mut run = json!({ "agent": agent, "channel": stage.channel.to_string(), "run": number.to_string() });
        if ask("POST /v1/begin", &run).await["allowed"] != true {
            let mut looks = 0;
            until("a moment", || std::mem::replace(&mut looks, 1) == 1).await;
            continue;
        }
        let request = match bot {
            None if is_first => "POST /v1/say",
            _ => {
                run["outcome"] = if is_first { "spoke" } else { "pass" }.into();
                "POST /v1/end"
            }
        };
        if is_first {
            run["text"] = words.into();
        }
        assert_eq!(ask(request, &run).await["accepted"], true, "{agent}: {request}");
        if let Some(bot) = bot.filter(|_| is_first) {
            stage.discord.say(stage.channel, bot, words);
        }
        is_first = false;
    }
}

/// Who was granted a turn, in order: `… channel=7 agent="poet" turn=3 was="dormant" is="granted"`.
fn granted(program: &Program) -> Vec<String> {
    let log = program.errors();
    let field = |line: &str, name: &str| {
        let rest = line.split_once(&format!(" {name}=")).map(|(_, rest)| rest.to_owned());
        rest.unwrap_or_default().split(' ').next().unwrap_or_default().trim_matches('"').to_owned()
    };
    let grants = log.lines().filter(|line| line.contains(" is=\"granted\""));
    let turns: BTreeMap<u64, String> =
        grants.map(|line| (field(line, "turn").parse().unwrap(), field(line, "agent"))).collect();
    turns.into_values().collect()
}

/// What was said, and by whom; without what the moderator wrote, whose triggers stay for some seconds, and without passes.
fn said(stage: &BotStage) -> Vec<(String, String)> {
    let messages = stage.discord.messages(stage.channel);
    let words =
        messages.iter().filter(|it| &*it.content != "Nothing." && it.author != stage.moderator);
    words
        .map(|it| {
            let name = it.author_name.as_deref().unwrap_or_default();
            (name.to_lowercase(), it.content.to_string())
        })
        .collect()
}

#[tokio::test]
async fn an_agent_of_every_kind_stands_in_one_file_and_each_speaks_in_turn() {
    let stage = BotStage::new().await;
    let [poet, developer, helper] = ["poet", "developer", "helper"].map(|name| {
        let bot = stage.discord.add_bot();
        stage.discord.account(bot).set_name(name);
        assert!(stage.discord.join(stage.channel, bot));
        bot
    });
    let models =
        [model("I would build it.").await, model("For whom?").await, model("A line.").await];
    let mut config = FILE.replace("ADDRESS", &stage.server.address().to_string());
    for (place, id) in [("DEVELOPER", developer), ("HELPER", helper)] {
        config = config.replace(place, &id.to_string());
    }
    for (number, model) in (1..).zip(&models) {
        config = config.replace(&format!("MODEL_{number}"), &model.url());
    }
    config += &page_and_front(ANY_PORT, "{ file = \"ada.token\" }", &["clerk", "developer"]);
    stage.write(&config.replace("CHANNEL", &stage.channel.to_string()));
    std::fs::write(stage.folder.path().join("ada.token"), format!("{SECRET}ada\n")).unwrap();
    unmodified_bot(&stage, helper);
    let mut command = stage.command(&["run", "--verbose"]);
    command.env("POET_OF_THIS_TEST", stage.server.token(poet));
    let program = Program::start(command);
    let front = program.after("the front is at http://").await;
    let page = program.after("the page is at http://").await.replace("/dirigent", "");
    program.says("take turns here.").await;

    stage.discord.say(stage.channel, stage.person, "Should we build it?");
    tokio::select! {
        () = asks(&stage, &front, "clerk", "Noted.", None) => {}
        () = asks(&stage, &front, "developer", "It compiles.", Some(developer)) => {}
        () = program.says_within(std::time::Duration::from_secs(300), "no agent has anything to add") => {}
    }

    let said = said(&stage);
    let log = program.errors();
    assert_eq!(said.len(), 7, "the question, and each agent once: {said:?}\n{log}");
    let mut words: Vec<_> = said.iter().map(|(name, words)| format!("{name}: {words}")).collect();
    words.sort_unstable();
    let expected = [
        "clerk: Noted.",
        "developer: It compiles.",
        "helper: I found a link.",
        "optimist: I would build it.",
        "person-2: Should we build it?",
        "poet: A line.",
        "sceptic: For whom?",
    ];
    assert_eq!(words, expected);
    let spoke: Vec<_> = said.iter().skip(1).map(|(name, _)| name.clone()).collect();
    assert_eq!(granted(&program)[..6], spoke, "in the order of their turns\n{log}");

    let (status, shown) =
        http(&page, "GET /dirigent/api/channels", &format!("{SECRET}ada"), "").await;
    assert!(status == 200 && shown.contains(&stage.channel.to_string()), "{status} {shown}");
    let asked =
        format!("GET /dirigent/channels/{}/replay?set=ceilings.chat.turns%3D1", stage.channel);
    let (status, tried) = http(&page, &asked, &format!("{SECRET}ada"), "").await;
    assert_eq!(status, 200, "{tried}");
    for part in ["<h2>as recorded</h2>", "<h2>ceilings.chat.turns=1</h2>", "<td>6</td><td>1</td>"] {
        assert!(tried.contains(part), "{part:?} is not in\n{tried}");
    }
    program.signal("-TERM");
    let (code, _, log) = program.end().await;
    assert_eq!(code, Some(0), "{log}");
    assert!(!log.contains(SECRET) && !log.contains(&stage.server.token(stage.moderator)), "{log}");
}
