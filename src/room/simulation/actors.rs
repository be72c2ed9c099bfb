//! People, operators, agents of the host's, and the weather.

use crate::values::summary::Summary;
use std::time::Duration;

use dirigent_core::{AgentKey, Input, Outcome, Reason, RunId, Tail, Verdict, WakeCause};

use super::chat::{Answers, PERSON, user_of};
use super::start::later;
use super::world::{Plan, World, note};
use crate::ports::discord::{Mentions, Post};
use crate::room::connection::Gateway;
use crate::values::deferral_key::DeferralKey;
use crate::values::message::AuthorKind;

impl World {
    /// A person writes.
    pub(super) fn person(&mut self) {
        self.number += 1;
        let text = match self.dice.below(20) {
            0 => "stop".to_owned(),
            1 | 2 => "resume".to_owned(),
            _ => format!("w{}", self.number),
        };
        let lost = self.dice.chance(20);
        let text = match self.number % 5 {
            2 if self.fixed.directory.has_observed() && text.starts_with('w') => {
                let agent = self.number / 5 % u64::from(self.fixed.agents);
                format!("{text} <@{}>", user_of(agent as u32))
            }
            _ => text,
        };
        let (text, kind) = match self.number % 9 {
            // So Discord shows a message to a bot without the message-content intent.
            4 if self.sends_forms => (String::new(), AuthorKind::Human),
            7 if self.sends_forms => (text, AuthorKind::Bridged),
            _ => (text, AuthorKind::Human),
        };
        let is_word = text.starts_with('w');
        note!(self, "person {text:?} {kind:?} lost {lost}");
        let mentioned = self.observed_in(&text);
        let id = self.chat.say(self.now, (PERSON, kind), text, lost);
        if let Some(agent) = mentioned.filter(|_| self.dice.chance(700)) {
            self.react(agent);
        }
        if is_word && self.keeps() {
            self.books.spoken(id, self.now);
            self.ledger.spoken(id);
        }
        // People who write much write it at once: more than fits into a turn.
        if is_word && self.dice.chance(150) {
            for _ in 0..2 + self.dice.below(5) {
                self.number += 1;
                let (text, lost) = (format!("w{}", self.number), self.dice.chance(20));
                let id = self.chat.say(self.now, (PERSON, AuthorKind::Human), text, lost);
                if self.keeps() {
                    self.books.spoken(id, self.now);
                    self.ledger.spoken(id);
                }
            }
        }
    }

    pub(super) fn keeps(&self) -> bool {
        let view = self.room.look().machine().view();
        view.mode().keeps_turns() && view.phase() != dirigent_core::PhaseKind::Archived
    }

    pub(super) fn operator(&mut self) {
        let agent = AgentKey::new(self.dice.below(u64::from(self.fixed.agents)) as u32);
        let wake = Input::Wake { first: None, cause: WakeCause::Operator };
        let (input, for_good) = match self.dice.below(40) {
            0 | 1 => (Input::Stop, true),
            2 | 3 => (Input::Hold, true),
            4..=13 => (Input::Resume, true),
            14 => (Input::Finish, true),
            15 => (Input::Mute(agent), true),
            16..=18 => (Input::Unmute(agent), true),
            19 => {
                let until = self.now + Duration::from_secs(self.dice.below(600));
                let until = self.dice.chance(700).then_some(until);
                (Input::MayNotWrite { agent, until }, false)
            }
            33 | 34 => (Input::MayWrite(agent), false),
            20 => (Input::SpeakNext(agent), true),
            21 => (Input::Offline(agent), false),
            22..=24 => (Input::Online(agent), false),
            25 if self.dice.chance(200) => (Input::Archive, true),
            26 if !self.fixed.is_discussion => (Input::SetMode(dirigent_core::Mode::None), true),
            27..=30 if !self.fixed.is_discussion => {
                (Input::SetMode(dirigent_core::Mode::Chat), true)
            }
            31 if self.fixed.is_discussion && self.dice.chance(300) => {
                note!(self, "conclude");
                let by = AgentKey::new(0);
                let _ = self.room.conclude(
                    &self.fixed.context(),
                    self.now,
                    by,
                    Some(&Summary::Path("done".to_owned())),
                );
                return self.after();
            }
            32 | 35 => return self.comes_or_goes(agent),
            _ => (wake, false),
        };
        let accepted = self.input(&input, for_good).is_some();
        let ends = matches!(
            input,
            Input::Stop | Input::Hold | Input::Finish | Input::Archive | Input::SetMode(_)
        );
        if accepted && ends {
            self.books.forget_words();
        }
    }

    /// An event of the gateway arrives, or is lost.
    pub(super) fn event(&mut self) {
        let Some(message) = self.chat.events.pop_front() else {
            return;
        };
        let id = message.id;
        self.push(message.clone());
        if self.dice.chance(10) {
            note!(self, "pushed again {}", id.get());
            self.room.pushed(&self.fixed.context(), self.now, message);
            self.after();
        }
        if self.room.look().machine().view().pause().is_some() {
            self.books.forget_words();
        }
    }

    pub(super) fn push(&mut self, message: crate::ChatMessage) {
        note!(self, "pushed {} {:.12}", message.id.get(), message.content);
        let id = message.id;
        self.room.pushed(&self.fixed.context(), self.now, message);
        if self.keeps() {
            self.books.heard(id);
            self.ledger.tell(id);
            self.excuse_strangers();
        }
        self.after();
    }

    /// An agent of the host's sees a trigger.
    pub(super) fn heed(&mut self, post: &Post) {
        let Mentions::User(user) = post.mentions else {
            return;
        };
        let agent = (0..self.fixed.agents).find(|agent| user_of(*agent) == user);
        let Some(agent) = agent.map(AgentKey::new).filter(|agent| !self.is_hosted(*agent)) else {
            return;
        };
        if self.is_observed(agent) {
            self.react(agent);
        } else if self.is_exact {
            self.plans.push((self.now, Plan::Ask(agent)));
        } else if self.calm || self.dice.chance(850) {
            let at = self.soon(6_000);
            self.plans.push((at, Plan::Ask(agent)));
        }
    }

    /// The observed agent that a person's words mention.
    fn observed_in(&self, text: &str) -> Option<AgentKey> {
        let mut agents = (0..self.fixed.agents).map(AgentKey::new);
        let is_it = |agent: &AgentKey| {
            self.is_observed(*agent) && text.contains(&format!("<@{}>", user_of(agent.get())))
        };
        agents.find(is_it)
    }

    /// An observed agent was mentioned: it answers at once, late, piece by piece, with a preview, with a pass word, or not at
    /// all.
    fn react(&mut self, agent: AgentKey) {
        let drawn = self.dice.below(20);
        if drawn == 0 || self.calm && drawn < 10 {
            return;
        }
        self.number += 1;
        let number = self.number;
        let says = |text: String| Plan::Say { agent, text };
        let begins = self.soon(if self.calm { 3_000 } else { 20_000 });
        let then = |millis| later(begins, millis);
        let reply = then(1 + self.dice.below(9_000));
        match drawn {
            _ if self.calm => self.plans.push((begins, says("[[pass]]".to_owned()))),
            1..=4 => self.plans.push((begins, says("[[pass]]".to_owned()))),
            5..=8 => {
                self.plans.push((begins, Plan::Type(agent)));
                self.plans.push((reply, says(format!("o{number}"))));
            }
            9 => self.plans.push((begins, Plan::Type(agent))),
            10 | 11 => {
                self.plans.push((begins, says(format!("o{number}…"))));
                for edit in 1..4 {
                    let text = format!("o{number}{}", ".".repeat(edit as usize));
                    self.plans.push((then(edit * 1_200), Plan::Edit { agent, text }));
                }
                self.plans.push((then(4_800), Plan::Unsay(agent)));
                self.plans.push((then(5_000), says(format!("o{number}"))));
            }
            12..=14 => {
                self.plans.push((begins, says(format!("o{number}a"))));
                self.plans.push((reply, says(format!("o{number}b"))));
            }
            _ => self.plans.push((begins, says(format!("o{number}")))),
        }
    }

    /// The newest message of this agent that says something.
    fn newest_of(&self, agent: AgentKey) -> Option<dirigent_core::MessageId> {
        let user = user_of(agent.get());
        let mut said = self.chat.said.iter().rev();
        let says = |text: &str| text.starts_with('o');
        said.find(|it| it.author == user && says(&it.content)).map(|message| message.id)
    }

    /// An agent of the host's does what it had in mind.
    pub(super) fn carry_out(&mut self) {
        let now = self.now;
        let Some(at) = self.plans.iter().position(|(at, _)| *at <= now) else {
            return;
        };
        let (_, plan) = self.plans.swap_remove(at);
        self.perform_plan(plan);
    }

    pub(super) fn perform_plan(&mut self, plan: Plan) {
        match plan {
            Plan::Ask(agent) => self.ask(agent),
            Plan::Say { agent, text } => {
                note!(self, "{agent:?} says {text:?}");
                let author = (user_of(agent.get()), AuthorKind::Bot);
                let lost = self.is_observed(agent) && self.dice.chance(50);
                self.chat.say(self.now, author, text, lost);
            }
            Plan::Type(agent) => {
                note!(self, "{agent:?} types");
                if self.chat.gateway {
                    self.room.typing(&self.fixed.context(), self.now, agent);
                    self.after();
                }
            }
            Plan::Edit { agent, text } => {
                let Some(id) = self.newest_of(agent) else {
                    return;
                };
                note!(self, "{agent:?} edits {} into {text:?}", id.get());
                let message = self.chat.said.iter_mut().find(|message| message.id == id);
                let Some(message) = message else {
                    return;
                };
                message.content = text.into();
                let message = message.clone();
                if self.chat.gateway {
                    let _ = self.room.edited(&self.fixed.context(), self.now, message);
                    self.after();
                }
            }
            Plan::Unsay(agent) => {
                let Some(id) = self.newest_of(agent) else {
                    return;
                };
                note!(self, "{agent:?} deletes {}", id.get());
                self.chat.delete(id);
                if self.chat.gateway {
                    self.room.deleted(&self.fixed.context(), self.now, id);
                    self.after();
                }
            }
            Plan::End { agent, run, outcome } => {
                let run = Some(run);
                self.input(&Input::RunEnded { agent, run, outcome }, false);
            }
        }
    }

    /// An agent of the host's asks whether it may speak.
    pub(super) fn ask(&mut self, agent: AgentKey) {
        self.next_run += 1;
        let run = RunId::new(self.next_run);
        if !self.is_exact && self.dice.chance(100) {
            let key = DeferralKey::new(self.next_run);
            let deferred = self.room.defer(&self.fixed.context(), self.now, agent, key);
            note!(self, "{agent:?} defers: {deferred:?}");
            self.after();
            if deferred.is_some() {
                return;
            }
        }
        let gate = Input::Gate { agent: Some(agent), run: Some(run), latest: None };
        note!(self, "gate {agent:?} {run:?}");
        let (answer, stamp) = self.room.input(&self.fixed.context(), self.now, &gate, false);
        note!(self, "  {answer:?}");
        let verdict = answer.ok().and_then(dirigent_core::Answer::verdict);
        self.after();
        if let Some(Verdict::Allow { reason, .. }) = verdict {
            self.check_allowed(agent, run, reason);
            if matches!(reason, Reason::YourTurn | Reason::InitiatorPermit) {
                self.asking = Some((stamp, agent, run));
            }
        }
    }

    fn check_allowed(&mut self, agent: AgentKey, run: RunId, reason: Reason) {
        if !matches!(reason, Reason::YourTurn | Reason::InitiatorPermit) {
            let is_alone = reason == Reason::TooFewAgents;
            if self.keeps() && !is_alone {
                self.books.fail(format!("{agent:?} is allowed with {reason:?}"));
            }
            return;
        }
        let runs = self.flights.iter().any(|flight| flight.is_call() && flight.cancelled.is_none());
        let delivers = self.room.active.as_ref().is_some_and(|active| active.reply.is_some());
        let current = self.room.look().machine().view().run();
        if runs || delivers || current != Some(run) {
            self.books.fail(format!(
                "{agent:?} is allowed beside {current:?}, call {runs}, reply {delivers}"
            ));
        }
    }

    /// The permission is stored: the agent of the host's runs.
    pub(super) fn run_begins(&mut self, agent: AgentKey, run: RunId) {
        self.books.all_seen();
        if self.is_exact {
            return self.run_exactly(agent, run);
        }
        let took = if self.calm { 500 } else { 15_000 };
        let end_at = self.soon(took);
        let end = |outcome| (end_at, Plan::End { agent, run, outcome });
        if self.calm {
            return self.plans.push(end(Outcome::Pass));
        }
        match self.dice.below(20) {
            0..=3 => self.plans.push(end(Outcome::Pass)),
            4 => self.plans.push(end(Outcome::Failed)),
            5 if run.get() % 2 == 0 => self.plans.push(end(Outcome::Repeated)),
            5 => {}
            _ => {
                self.number += 1;
                let pieces = 1 + self.dice.below(3);
                let mut whole = String::new();
                for piece in 0..pieces {
                    let text = format!("h{}{}", self.number, (b'a' + piece as u8) as char);
                    whole.push_str(&text);
                    let at = later(end_at, self.dice.below(4_000) + piece * 100);
                    let at = if self.dice.chance(300) { self.soon(took) } else { at };
                    self.plans.push((at, Plan::Say { agent, text }));
                }
                let tail = Tail::of(&whole);
                self.plans.push(end(Outcome::Spoke { tail }));
            }
        }
    }

    /// An agent loses sight of the channel, or sees it again. The event may be lost.
    fn comes_or_goes(&mut self, agent: AgentKey) {
        let input = match self.absent.iter().position(|known| *known == agent) {
            Some(at) => {
                self.absent.swap_remove(at);
                Input::MemberJoined(agent)
            }
            None => {
                self.absent.push(agent);
                Input::MemberLeft(agent)
            }
        };
        note!(self, "{input:?}");
        if self.chat.gateway {
            self.input(&input, false);
        }
    }

    /// The store fails, or hangs, for a while.
    pub(super) fn store_weather(&mut self) {
        let length = self.weather_length();
        self.store.until = later(self.now, length);
        self.store.answers =
            if self.dice.chance(500) { Answers::Refused } else { Answers::Hanging };
        note!(self, "store {:?}", self.store.answers);
    }

    /// From a second to an hour.
    fn weather_length(&mut self) -> u64 {
        let most = match self.dice.below(10) {
            0 => 3_600_000,
            1..=3 => 300_000,
            _ => 30_000,
        };
        1_000 + self.dice.below(most)
    }

    /// The state of the chat changes.
    pub(super) fn weather(&mut self) {
        let length = self.weather_length();
        self.chat.until = later(self.now, length);
        let was = self.chat.gateway;
        (self.chat.answers, self.chat.reads_hang, self.chat.gateway) = match self.dice.below(16) {
            0 => (Answers::Refused, false, true),
            1 => (Answers::Hanging, false, true),
            2 => (Answers::Up, false, false),
            3 => (Answers::Refused, false, false),
            4 => (Answers::Hanging, false, false),
            5 => (Answers::Up, true, true),
            _ => (Answers::Up, false, true),
        };
        note!(
            self,
            "weather {:?} reads hang {} gateway {}",
            self.chat.answers,
            self.chat.reads_hang,
            self.chat.gateway
        );
        if was && !self.chat.gateway && self.dice.chance(800) {
            self.room.gateway(&self.fixed.context(), self.now, Gateway::Lost(self.now));
            self.after();
        }
        if self.chat.gateway && !was {
            if self.dice.chance(500) {
                self.room.gateway(&self.fixed.context(), self.now, Gateway::Reconnected);
            } else {
                let news = Gateway::AwaitNewest { stands: true };
                self.room.gateway(&self.fixed.context(), self.now, news);
            }
            self.after();
            if self.dice.chance(500) {
                let newest = self.chat.said.last().map(|message| message.id);
                if let Some(newest) = newest {
                    self.room.gateway(&self.fixed.context(), self.now, Gateway::Newest(newest));
                    self.after();
                }
            }
        }
    }

    /// The process is away for a while; people go on.
    pub(super) fn downtime(&mut self) {
        let length = if self.dice.chance(200) { 1_200_000 } else { 20_000 };
        let length = self.dice.below(length);
        self.now = self.now + Duration::from_millis(length);
        if self.dice.chance(300) {
            self.person();
        }
    }
}
