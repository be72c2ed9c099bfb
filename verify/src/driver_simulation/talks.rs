//! Discussions in the hostile world: opened with a guide, concluded, archived or forgotten, with
//! callback channels that come and go. One seed in three has them.

use dirigent::operate::Summary;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use dirigent::operate::{CreatedChannel, Opening, ResultPost};
use dirigent::ports::Timestamp;
use dirigent::replay::Recorder;
use dirigent::store::Discussion;
use dirigent::{ChannelId, Config, Mode, UserId};
use dirigent_core::{Input, Snapshot, WakeCause};
use dirigent_testkit::Random;
use dirigent_testkit::memory_discord::{Call, Fault, Faults};

use super::{DriverWorld, SECOND};
use crate::stage::{Setup, Stage};

/// How many discussions a run opens at most.
const TALKS_MAX: usize = 4;
/// How long an outbox message waits at most when nothing fails any more.
const LETTERS_WITHIN: std::time::Duration = std::time::Duration::from_secs(1_300);

/// Discussions of a run, and the channels that have no mode.
pub(super) struct Talks {
    dice: Random,
    opened: Vec<Talk>,
    /// Callback channels in which no turns are kept.
    plain: Vec<ChannelId>,
    deleted: Vec<ChannelId>,
    /// What was found wrong on the way.
    wrong: Option<String>,
    wakes: Wakes,
    /// Whether the chat may say that a channel is gone although it is not.
    lies: bool,
}

/// A discussion that was opened, or perhaps not: the call was answered with doubt.
struct Talk {
    channel: ChannelId,
    callback: ChannelId,
    guide: String,
}

/// Counts what results woke.
#[derive(Clone, Default)]
pub(super) struct Wakes(Arc<Mutex<BTreeMap<ChannelId, usize>>>);

impl Recorder for Wakes {
    fn began(&self, _: ChannelId, _: &Arc<Config>, _: Snapshot) {}

    fn recorded(&self, channel: ChannelId, _: Timestamp, input: &Input) {
        if matches!(input, Input::Wake { cause: WakeCause::Result, .. }) {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(channel).or_default() += 1;
        }
    }
}

impl Wakes {
    fn of(&self, channel: ChannelId) -> usize {
        let wakes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        wakes.get(&channel).copied().unwrap_or(0)
    }
}

impl Talks {
    /// Whether this seed has discussions; the others run as they did before there were any.
    pub(super) const fn are_in(seed: u64) -> bool {
        seed % 3 == 0
    }

    pub(super) fn new(seed: u64) -> Self {
        let mut dice = Random::new(seed ^ 0x7a1c);
        let lies = dice.one_in(4);
        let (opened, plain, deleted) = (Vec::new(), Vec::new(), Vec::new());
        Self { dice, opened, plain, deleted, wrong: None, wakes: Wakes::default(), lies }
    }

    fn delete(&mut self, stage: &Stage, channel: ChannelId) {
        stage.discord().channel(channel).delete();
        self.plain.retain(|plain| *plain != channel);
        self.deleted.push(channel);
    }

    pub(super) fn set_up(&mut self, setup: Setup) -> Setup {
        let is_overdue = self.dice.one_in(2);
        setup.recorder(self.wakes.clone()).config(|config| {
            if is_overdue {
                config.ceilings.discussion_time = Some(SECOND * 1_200);
                config.discussion.overdue_archive_after = Some(SECOND * 300);
            }
        })
    }

    pub(super) fn faults(&self, faults: Faults) -> Faults {
        let faults = faults.with_call_rate(Call::Post, Fault::Forbidden, 20);
        if self.lies { faults.with_call_rate(Call::Post, Fault::Gone, 20) } else { faults }
    }
}

impl DriverWorld {
    /// Something happens to a discussion, now and then; `false` when nothing did.
    pub(super) fn talk(&mut self) -> bool {
        let Some(mut talks) = self.talks.take() else {
            return false;
        };
        let happens = talks.dice.one_in(6);
        if happens {
            self.talk_of(&mut talks);
        }
        self.talks = Some(talks);
        happens
    }

    fn talk_of(&mut self, talks: &mut Talks) {
        let open = talks.opened.len();
        let at = talks.dice.place(open);
        let Some(talk) = talks.opened.get(at) else {
            return self.open_talk(talks);
        };
        let (channel, callback) = (talk.channel, talk.callback);
        match talks.dice.below(20) {
            0..4 if open < TALKS_MAX => self.open_talk(talks),
            0..7 if !talks.deleted.contains(&channel) => {
                self.said += 1;
                let text = format!("human {}", self.said);
                self.stage.say_in(channel, &text);
            }
            7..10 => self.conclude_talk(at, talks),
            10 => drop(self.stage.try_call(|d| async move { d.channel(channel).archive().await })),
            11 => drop(self.stage.try_call(|d| async move { d.channel(channel).hold().await })),
            12 | 13 => {
                drop(self.stage.try_call(|d| async move { d.channel(channel).resume().await }));
            }
            14 => {
                let bob = self.stage.agent("bob").user();
                self.stage.discord().leave(channel, bob);
                self.stage.settle();
            }
            15 => self.change_rights(talks.dice.one_in(2), callback, true),
            16 => self.change_rights(talks.dice.one_in(2), channel, true),
            17 | 18 => {
                self.give_rights_back(callback);
            }
            _ => self.disturb(talks, channel, callback),
        }
    }

    /// A channel is deleted, or enough messages come at once for a history of several pages.
    fn disturb(&mut self, talks: &mut Talks, channel: ChannelId, callback: ChannelId) {
        let is_plain = talks.plain.contains(&callback);
        match talks.dice.below(3) {
            0 if is_plain => {
                let discord = self.stage.discord().clone();
                let stranger = discord.add_webhook();
                for _ in 0..talks.dice.between(1, 800) {
                    discord.say(callback, stranger, "beep");
                }
            }
            1 if is_plain => talks.delete(&self.stage, callback),
            2 if talks.dice.one_in(3) => talks.delete(&self.stage, channel),
            _ => return,
        }
        self.stage.settle();
    }

    /// What the initiator is told must be so.
    fn conclude_talk(&mut self, at: usize, talks: &mut Talks) {
        let Some(talk) = talks.opened.get(at) else {
            return;
        };
        let (channel, ann) = (talk.channel, self.stage.agent("ann").name().clone());
        let told = self.stage.try_call(|d| async move {
            d.channel(channel).conclude(&ann, Some(Summary::Path("plan.md".into()))).await
        });
        let is_posted = matches!(told, Some(Ok(ResultPost::Posted)));
        if is_posted && self.results_of(talk) != 1 && !talks.deleted.contains(&talk.callback) {
            talks.wrong = Some(format!("the result of {channel} is said to be posted and is not"));
        }
    }

    /// The moderator may not post there, or not read the history. A history is hidden only where
    /// there is something in it: a hidden one cannot be told from an empty one.
    fn change_rights(&self, posting: bool, channel: ChannelId, is_taken: bool) {
        let (discord, moderator) = (self.stage.discord(), self.stage.moderator());
        if posting {
            discord.channel(channel).set_read_only(moderator, is_taken);
        } else if !is_taken || !discord.messages(channel).is_empty() {
            discord.channel(channel).set_history_hidden(moderator, is_taken);
        }
    }

    fn give_rights_back(&self, channel: ChannelId) {
        self.change_rights(true, channel, false);
        self.change_rights(false, channel, false);
    }

    fn open_talk(&mut self, talks: &mut Talks) {
        let number = talks.opened.len();
        let members = self.everybody();
        let (discord, guild) = (self.stage.discord().clone(), self.stage.guild());
        let channel = discord.add_channel(guild, &format!("talk-{number}"), &members);
        let callback = match talks.dice.below(8) {
            0..4 => self.room(),
            4 => channel,
            5 => talks.opened.first().map_or(channel, |talk| talk.channel),
            _ => {
                let plain = discord.add_channel(guild, &format!("plain-{number}"), &members);
                talks.plain.push(plain);
                plain
            }
        };
        if talks.dice.one_in(4) {
            // The guide will have to wait.
            self.change_rights(true, channel, true);
        }
        let words = 1 + talks.dice.below(700);
        let guide: Vec<_> = (0..words).map(|word| format!("g{number}w{word}")).collect();
        let guide = guide.join(" ");
        talks.opened.push(Talk { channel, callback, guide: guide.clone() });
        let terms = Discussion { callback, callback_guild: Some(guild), guide };
        let members = ["ann", "bob", "cis"].map(Into::into).to_vec();
        let opening = Some(Opening { initiator: "ann".into(), terms: Some(terms) });
        let made = CreatedChannel { mode: Mode::Discussion, members, opening };
        let _ = self.stage.try_call(|d| async move { d.channel(channel).register(made).await });
    }

    fn everybody(&self) -> Vec<UserId> {
        let agents = self.stage.agents().map(dirigent_testkit::ScriptedAgent::user);
        agents.chain([self.stage.moderator(), self.stage.person()]).collect()
    }

    /// The faults have ended: every guide and every result is there once, and no outbox message is left.
    /// Says how many there were.
    pub(super) fn check_talks(&mut self) -> Result<u64, String> {
        let Some(talks) = self.talks.take() else {
            return Ok(0);
        };
        for talk in &talks.opened {
            self.give_rights_back(talk.callback);
            let is_there = !talks.deleted.contains(&talk.callback);
            if is_there && self.stage.discord().messages(talk.callback).is_empty() {
                // An empty history may be a hidden one: a result in doubt waits until something shows.
                self.stage.say_in(talk.callback, "Is it over?");
            }
        }
        if talks.lies {
            // What the chat said to be gone is tried once a start.
            self.stage.restart();
        }
        self.stage.advance(LETTERS_WITHIN);
        for talk in &talks.opened {
            // Whatever became of its guide.
            self.check_result(&talks, talk)?;
            self.give_rights_back(talk.channel);
        }
        self.stage.advance(LETTERS_WITHIN);
        for talk in &talks.opened {
            self.check_talk(&talks, talk)?;
        }
        if let Some(wrong) = &talks.wrong {
            return Err(wrong.clone());
        }
        for talk in &talks.opened {
            let channel = talk.channel;
            let _ = self.stage.try_call(|d| async move { d.channel(channel).archive().await });
        }
        self.stage.advance(LETTERS_WITHIN);
        for talk in &talks.opened {
            self.check_talk(&talks, talk)?;
        }
        talks.check_wakes(self)?;
        Ok(talks.opened.len() as u64)
    }

    fn check_talk(&self, talks: &Talks, talk: &Talk) -> Result<(), String> {
        let Talk { channel, guide, .. } = talk;
        let stored = self.stage.store().stored(*channel).filter(|s| s.record.discussion.is_some());
        let said = self.guide_of(talk);
        let Some(stored) = stored else {
            let nothing = said.is_empty() && self.results_of(talk) == 0;
            return nothing.then_some(()).ok_or_else(|| "posted without a record".to_owned());
        };
        let is_gone = talks.deleted.contains(channel);
        if !is_gone && !guide.split(' ').eq(said.iter().map(String::as_str)) {
            let words = said.len();
            return Err(format!("the guide of {channel} came wrong: {words} of its words"));
        }
        let mut left = stored.record.outbox.iter();
        if let Some(message) = left.find(|message| !talks.deleted.contains(&message.to)) {
            return Err(format!("an outbox message of {channel} never arrived: {message:?}"));
        }
        self.check_result(talks, talk)?;
        self.check_order(talk)
    }

    /// The result is in the callback channel, once, if the discussion is over.
    fn check_result(&self, talks: &Talks, talk: &Talk) -> Result<(), String> {
        let stored = self.stage.store().stored(talk.channel);
        let is_over =
            stored.as_ref().is_some_and(|s| s.record.snapshot.state.standing.archived.is_some());
        let results = self.results_of(talk);
        if results == usize::from(is_over) || talks.deleted.contains(&talk.callback) {
            return Ok(());
        }
        let messages = stored.map(|stored| stored.record.outbox);
        Err(format!("{results} results of {}, over: {is_over}, left: {messages:?}", talk.channel))
    }

    /// What stands of the guide in its channel, word by word.
    fn guide_of(&self, talk: &Talk) -> Vec<String> {
        let first = talk.guide.split('w').next().unwrap_or_default();
        let posted = self.stage.moderation(talk.channel);
        let parts = posted.iter().filter(|text| text.starts_with(&format!("{first}w")));
        parts.flat_map(|text| text.split(' ')).map(str::to_owned).collect()
    }

    fn results_of(&self, talk: &Talk) -> usize {
        let begins = format!("Discussion <#{}>", talk.channel);
        let posted = self.stage.moderation(talk.callback);
        posted.iter().filter(|text| text.starts_with(&begins)).count()
    }

    /// No agent is given a turn before the guide, except by a person's word or another's result.
    fn check_order(&self, talk: &Talk) -> Result<(), String> {
        let last = talk.guide.split(' ').next_back().unwrap_or_default();
        for message in self.stage.discord().messages(talk.channel) {
            let by_moderator = message.author == self.stage.moderator();
            let begins = message.author == self.stage.person()
                || (by_moderator && message.content.split(' ').any(|word| word == last))
                || (by_moderator && message.content.starts_with("Discussion <#"));
            if begins {
                return Ok(());
            }
            if !by_moderator {
                return Err(format!("{message:?} was said before the guide of {}", talk.channel));
            }
        }
        Ok(())
    }
}

impl Talks {
    /// Every result has woken its channel at least once, if turns are kept there.
    fn check_wakes(&self, play: &DriverWorld) -> Result<(), String> {
        for room in play.stage.rooms() {
            let to_it = self.opened.iter().filter(|talk| talk.callback == *room);
            let results: usize = to_it.map(|talk| play.results_of(talk)).sum();
            let wakes = self.wakes.of(*room);
            if wakes < results {
                return Err(format!("{results} results woke {room} {wakes} times"));
            }
        }
        Ok(())
    }
}
