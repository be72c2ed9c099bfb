//! One story told to every store: they answer alike.

use std::sync::Arc;

use dirigent::hooks::{RunId, TurnId};
use dirigent::operate::{Cause, Transition};
use dirigent::ports::{AllowedMentions, Embed, Extras, Identity, Nonce, RegisterError, Timestamp};
use dirigent::snapshot::{AgentKey, PhaseKind};
use dirigent::store::{
    ChannelRecord, ChannelStore, Commit, CommitError, Durability, GapFrom, Outgoing, OutgoingPart,
    ReplyEnd, Revision, Writer,
};
use dirigent::{AgentId, ChannelId, IdentityStore, MemoryIdentities, MessageId, UserId};
use dirigent_core::snapshot::Slot;
use dirigent_testkit::Random;

use crate::shared::commits::marked;

/// How many transitions each store keeps that keeps any.
pub(crate) const HISTORY_MAX: usize = 7;

/// What a store may be asked.
#[derive(Clone, Debug)]
enum Step {
    Commit(Box<Commit>),
    Load(ChannelId),
    Channels,
    AddAgent(AgentId),
    Agents,
    History(ChannelId),
    Reopen,
}

/// What it may say to that.
#[derive(Clone, Debug, PartialEq)]
enum Said {
    Made(Revision),
    Conflict(Revision),
    Record(Option<Box<(Revision, ChannelRecord)>>),
    Channels(Vec<ChannelId>),
    Key(AgentKey),
    Agents(Vec<AgentId>),
    History(Vec<Transition>),
    Nothing,
}

pub(crate) fn transition(number: u32) -> Transition {
    Transition {
        at: Timestamp::from_millis(number.into()),
        from: PhaseKind::Dormant,
        to: PhaseKind::Granted,
        agent: (!number.is_multiple_of(3)).then(|| AgentKey::new(number % 5)),
        turn: TurnId::new(number.into()),
        cause: *Cause::ALL.iter().cycle().nth(number as usize).unwrap(),
    }
}

fn pick(random: &mut Random, count: u32) -> u32 {
    u32::try_from(random.draw() % u64::from(count)).unwrap()
}

fn one_of<T: Clone>(random: &mut Random, choices: &[T]) -> T {
    let at = random.draw() % choices.len() as u64;
    choices[usize::try_from(at).unwrap()].clone()
}

fn channel(random: &mut Random) -> ChannelId {
    // The highest ids are beyond what a database's integers hold as they are.
    ChannelId::new(one_of(random, &[0, 1, 7, 1 << 62, 1 << 63, u64::MAX]))
}

fn record(random: &mut Random) -> ChannelRecord {
    let mut record = marked(random.draw());
    let agents = (0..pick(random, 5)).map(|key| Slot::new(AgentKey::new(key)));
    record.snapshot.state.roster.list.slots = agents.collect();
    if pick(random, 3) == 0 {
        let part = |number| OutgoingPart {
            content: format!("part {number} \u{0} \"quoted\" 'single' 東京\n").repeat(40).into(),
            nonce: Nonce::from_parts(1, 2, number),
            posted: None,
        };
        record.outgoing = Some(Arc::new(Outgoing {
            agent: AgentKey::new(1),
            turn: TurnId::new(3),
            run: RunId::new(u64::MAX),
            end: ReplyEnd::Unfinished,
            parts: vec![part(0), part(1)],
            after: (pick(random, 2) == 0).then(|| MessageId::new(random.draw())),
            composed_at: (pick(random, 2) == 0).then(|| Timestamp::from_millis(random.draw())),
            doubt_since: (pick(random, 2) == 0).then(|| Timestamp::from_millis(random.draw())),
            waiting_since: (pick(random, 2) == 0).then(|| Timestamp::from_millis(random.draw())),
            extras: (pick(random, 2) == 0).then(|| {
                let mentions = AllowedMentions::new().user(UserId::new(random.draw()));
                let embed = Embed::new().title("\u{0} \"quoted\"").field("'", "東京\n", true);
                let reply_to = Some(MessageId::new(random.draw()));
                Arc::new(Extras { embeds: vec![embed; 3], reply_to, mentions, ..Extras::default() })
            }),
        }));
    }
    if pick(random, 4) == 0 {
        record.discussion = None;
    }
    record.heard = (pick(random, 2) == 0).then(|| MessageId::new(random.draw()));
    record.verified = record.heard.filter(|_| pick(random, 2) == 0);
    record.gap_from =
        one_of(random, &[None, Some(GapFrom::Start), record.heard.map(GapFrom::After)]);
    record.commanded_at = (pick(random, 2) == 0).then(|| Timestamp::from_millis(random.draw()));
    let (process, count) = (random.draw(), random.draw());
    record.writer = (pick(random, 2) == 0).then_some(Writer { process, count });
    record
}

/// What is known of the channels while the story is invented.
#[derive(Default)]
struct Plot {
    revisions: std::collections::HashMap<ChannelId, u64>,
}

impl Plot {
    fn commit(&mut self, random: &mut Random) -> Step {
        let channel = channel(random);
        let found = self.revisions.entry(channel).or_default();
        let expected = match pick(random, 5) {
            0 => found.wrapping_add(pick(random, 5).into()).wrapping_sub(2),
            _ => *found,
        };
        if expected == *found {
            *found += 1;
        }
        let durability = one_of(random, &[Durability::Fact, Durability::Turn]);
        let changes = pick(random, 4);
        Step::Commit(Box::new(Commit {
            channel,
            expected: Revision::new(expected),
            record: record(random).into(),
            durability,
            transitions: Arc::new((0..changes).map(|_| transition(pick(random, 1_000))).collect()),
            replaces_damaged: pick(random, 2) == 0,
        }))
    }

    fn step(&mut self, random: &mut Random) -> Step {
        match pick(random, 100) {
            0..50 => self.commit(random),
            50..68 => Step::Load(channel(random)),
            68..74 => Step::Channels,
            74..82 => {
                let names = ["zoe", "adam", "line\nbreak \"q\"", "東京", "nul \u{0}", "Zoe"];
                Step::AddAgent(one_of(random, &names).into())
            }
            82..88 => Step::Agents,
            88..94 => Step::History(channel(random)),
            _ => Step::Reopen,
        }
    }
}

/// A store that hears the story.
pub(crate) struct Listener<S: ?Sized> {
    name: &'static str,
    store: Arc<S>,
    /// Opens it from where it is kept, after it was closed.
    open: Box<dyn Fn() -> Arc<S> + Send + Sync>,
}

impl<S: ?Sized> Listener<S> {
    pub(crate) fn new(
        name: &'static str,
        open: impl Fn() -> Arc<S> + Send + Sync + 'static,
    ) -> Self {
        Self { name, store: open(), open: Box::new(open) }
    }

    /// Drops the last handle before it opens it again.
    fn reopen(self) -> Self {
        let Self { name, store, open } = self;
        assert_eq!(Arc::strong_count(&store), 1);
        drop(store);
        Self { name, store: open(), open }
    }
}

async fn say(store: &dyn ChannelStore, step: &Step) -> Said {
    match step {
        Step::Commit(commit) => match store.commit((**commit).clone()).await {
            Ok(revision) => Said::Made(revision),
            Err(CommitError::Conflict { found }) => Said::Conflict(found),
            Err(error) => panic!("{error}"),
        },
        Step::Load(channel) => {
            let found = store.load(*channel).await.unwrap();
            Said::Record(found.map(|found| Box::new((found.revision, found.record))))
        }
        Step::Channels => Said::Channels(store.channels().await.unwrap()),
        Step::AddAgent(agent) => Said::Key(store.add_agent(agent.clone()).await.unwrap()),
        Step::Agents => Said::Agents(store.agents().await.unwrap()),
        Step::History(channel) => Said::History(store.history(*channel).await.unwrap()),
        Step::Reopen => Said::Nothing,
    }
}

/// Tells the story to all of these stores, of which the first is asked for no history: it keeps none.
pub(crate) async fn tell_channels(seed: u64, mut listeners: Vec<Listener<dyn ChannelStore>>) {
    let (mut random, mut plot) = (Random::new(seed), Plot::default());
    for number in 0..300 {
        let step = plot.step(&mut random);
        let mut said = Vec::new();
        for listener in &listeners {
            // A store in memory keeps no history.
            let is_asked = !matches!(step, Step::History(_)) || listener.name != "memory";
            if is_asked {
                said.push((listener.name, say(&*listener.store, &step).await));
            }
        }
        for (name, answer) in &said {
            let (first, expected) = &said[0];
            assert_eq!(answer, expected, "seed {seed}, step {number}: {name}, not {first}");
        }
        if matches!(step, Step::Reopen) {
            listeners = listeners.into_iter().map(Listener::reopen).collect();
        }
    }
}

/// What a registry may be asked.
#[derive(Clone, Debug)]
enum Entry {
    Register(Identity),
    Remove(AgentId),
    All,
    Reopen,
}

#[derive(Clone, Debug, PartialEq)]
enum Answer {
    Registered,
    Taken(AgentId),
    Removed(bool),
    All(Vec<Identity>),
    Nothing,
}

fn entry(random: &mut Random) -> Entry {
    let agents = ["zoe", "adam", "mia", "東京", "Zoe"];
    let names = ["", "Zoë", "line\nbreak", "nul \u{0}", "\u{202e}rtl"];
    let agent = AgentId::from(one_of(random, &agents));
    match pick(random, 20) {
        0..11 => Entry::Register(Identity {
            discord_user_id: UserId::new(u64::MAX - u64::from(pick(random, 6)) * (1 << 61)),
            agent_id: agent,
            agent_name: one_of(random, &names).to_owned(),
        }),
        11..15 => Entry::Remove(agent),
        15..19 => Entry::All,
        _ => Entry::Reopen,
    }
}

async fn answer(store: &dyn IdentityStore, entry: &Entry) -> Answer {
    match entry {
        Entry::Register(identity) => match store.register(identity.clone()).await {
            Ok(()) => Answer::Registered,
            Err(RegisterError::AccountTaken { owner }) => Answer::Taken(owner),
            Err(error) => panic!("{error}"),
        },
        Entry::Remove(agent) => Answer::Removed(store.remove(agent.clone()).await.unwrap()),
        Entry::All => Answer::All(store.all().await.unwrap()),
        Entry::Reopen => Answer::Nothing,
    }
}

/// Tells the story to all of these registries.
pub(crate) async fn tell_registries(seed: u64, mut listeners: Vec<Listener<dyn IdentityStore>>) {
    let memory = Arc::new(MemoryIdentities::new());
    let mut random = Random::new(seed);
    for number in 0..300 {
        let entry = entry(&mut random);
        let expected = answer(&*memory, &entry).await;
        for listener in &listeners {
            let found = answer(&*listener.store, &entry).await;
            assert_eq!(found, expected, "seed {seed}, entry {number}: {}", listener.name);
        }
        if matches!(entry, Entry::Reopen) {
            listeners = listeners.into_iter().map(Listener::reopen).collect();
        }
    }
}
