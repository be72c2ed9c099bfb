//! Recordings: evenings of `verify/evenings`, held again in a Discord in memory with the agents' own words.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::Clock;
use dirigent::prelude::*;
use dirigent::replay::{RecordedChannel, Recording};
use dirigent_store::ChannelRecording;
use dirigent_testkit::{ManualClock, MemoryDiscord};

/// What was said: by an agent, or by a person.
pub(crate) struct Text {
    pub(crate) agents: Vec<String>,
    pub(crate) said: Vec<(Option<usize>, String)>,
}

pub(crate) fn read(name: &str) -> Text {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../verify/evenings");
    let text = fs::read_to_string(folder.join(name)).unwrap();
    let (head, body) = text.split_once("\n\n").unwrap();
    let agents = head.lines().next().unwrap().strip_prefix("agents: ").unwrap();
    let agents: Vec<String> = agents.split(", ").map(str::to_owned).collect();
    let mut said: Vec<(Option<usize>, String)> = Vec::new();
    for line in body.lines() {
        if let Some(more) = line.strip_prefix("  ") {
            let (_, text) = said.last_mut().unwrap();
            text.push('\n');
            text.push_str(more);
        } else {
            let (who, text) = line.split_once(':').unwrap();
            let at = agents.iter().position(|agent| agent == who);
            said.push((at, text.trim_start().to_owned()));
        }
    }
    Text { agents, said }
}

/// What an agent has to say after each word of a person.
type Lines = Arc<Mutex<VecDeque<VecDeque<String>>>>;

/// The words of people, and what each agent says after each of them.
fn parts(text: &Text) -> (Vec<String>, Vec<Lines>) {
    let mut words = Vec::new();
    let mut lines: Vec<VecDeque<VecDeque<String>>> = vec![VecDeque::new(); text.agents.len()];
    for (who, said) in &text.said {
        let Some(agent) = who else {
            words.push(said.clone());
            for lines in &mut lines {
                lines.push_back(VecDeque::new());
            }
            continue;
        };
        if let Some(lines) = lines[*agent].back_mut() {
            lines.push_back(said.clone());
        }
    }
    (words, lines.into_iter().map(|lines| Arc::new(Mutex::new(lines))).collect())
}

/// Holds an evening: each agent says, when it is asked, the next of its lines after the newest word, and thinks for a time of its own. A
/// person speaks when the agents have nothing more to say; every third word comes while they talk.
pub(crate) async fn hold(name: &str, config: Config) -> ChannelRecording {
    let text = read(name);
    let clock = ManualClock::new();
    let discord = MemoryDiscord::new(Arc::new(clock.clone()));
    let moderator = discord.add_bot();
    let bots: Vec<_> = text.agents.iter().map(|_| discord.add_bot()).collect();
    let person = discord.add_human();
    let guild = discord.add_guild(person);
    let accounts: Vec<_> = [moderator].into_iter().chain(bots.iter().copied()).collect();
    let table = discord.add_channel(guild, "table", &accounts);

    let (words, lines) = parts(&text);
    let recording = Recording::default();
    let mut builder = Dirigent::builder(discord.account(moderator))
        .clock(clock.clone())
        .config(config)
        .recorder(recording.clone());
    let mut settings = Settings::default();
    settings.reading.skip_repetitions = false;
    builder = builder.settings(settings);
    for (at, bot) in bots.iter().enumerate() {
        let (lines, clock) = (Arc::clone(&lines[at]), clock.clone());
        let thinks = Duration::from_millis(700 + 400 * u64::try_from(at).unwrap());
        let agent = agent_fn(move |_: Turn| {
            let (lines, clock) = (Arc::clone(&lines), clock.clone());
            async move {
                clock.sleep_until(clock.now() + thinks).await;
                let said = lines.lock().unwrap().front_mut().and_then(VecDeque::pop_front);
                Ok(said.map_or(Reply::Pass, |said| said.as_str().into()))
            }
        });
        builder = builder.host(text.agents[at].as_str(), agent, discord.account(*bot));
    }
    let (dirigent, driver) = builder.build().unwrap();
    let driver = tokio::spawn(driver.run());
    dirigent.channel(table).set_mode(Mode::Chat).await.unwrap();
    let pump = tokio::spawn(discord.events().pump(dirigent.clone()));
    let channel = dirigent.channel(table);
    let turn = async || channel.status().await.ok().flatten().map_or(0, |status| status.turn.get());
    for (at, word) in words.iter().enumerate() {
        if at > 0 {
            for lines in &lines {
                lines.lock().unwrap().pop_front();
            }
        }
        let before = turn().await;
        discord.say(table, person, word.as_str());
        let goes_on = async || {
            let status = channel.status().await.ok().flatten();
            let is_asleep = status.is_some_and(|status| status.phase == PhaseKind::Dormant);
            let turns = turn().await - before;
            turns > 0 && (is_asleep || at % 3 == 1 && turns > 3)
        };
        clock.run_until(goes_on).await;
    }
    let is_asleep = async || {
        let status = channel.status().await.ok().flatten();
        status.is_some_and(|status| status.phase == PhaseKind::Dormant)
    };
    clock.run_until(is_asleep).await;
    drop((driver, pump));
    let recorded = recording.channel(table).unwrap();
    let agents = text.agents.iter().map(|name| name.as_str().into()).collect();
    ChannelRecording::new(table, agents, recorded)
}

/// The recording that the examples keep.
pub(crate) fn hello() -> RecordedChannel {
    ChannelRecording::parse(include_str!("../../examples/pm_and_dev/hello.jsonl")).unwrap().recorded
}

/// Evenings of models' corpus, by their files.
pub(crate) fn some(count: usize) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../verify/evenings/labelled");
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name());
    let names: BTreeSet<String> = files.map(|name| name.into_string().unwrap()).collect();
    let texts =
        names.into_iter().filter(|name| Path::new(name).extension().is_some_and(|it| it == "txt"));
    texts.take(count).map(|name| format!("labelled/{name}")).collect()
}
