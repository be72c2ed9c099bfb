//! One step, and what is looked at after it.

use std::time::Duration;

use dirigent_core::view::Seat;
use dirigent_core::{AgentKey, MessageId, PhaseKind, Timestamp};

use super::super::active::Active;
use super::super::record::Origin;
use super::super::reply::WithdrawnReply;
use super::books::{OpenReply, delivery};
use super::chat::Answers;
use super::flight::What;
use super::start::is_judged;
use super::world::{Plan, World, note};

impl World {
    pub(super) fn step(&mut self) {
        let drawn = self.dice.below(1_000);
        if self.ready && drawn < 800 {
            return self.serve();
        }
        match self.dice.below(1_000) {
            0..=329 => self.finish_one(),
            330..=549 => self.event(),
            550..=944 => self.advance(),
            945..=964 => self.person(),
            965..=972 => self.operator(),
            973..=978 => self.weather(),
            979 => self.store_weather(),
            980..=984 => {
                let agent = self.dice.below(u64::from(self.fixed.agents)) as u32;
                let agent = AgentKey::new(agent);
                if self.is_observed(agent) {
                    // Out of turn, and not mentioned.
                    let text = format!("o{}", self.now.as_millis());
                    self.perform_plan(Plan::Say { agent, text });
                } else if !self.is_hosted(agent) || self.dice.chance(200) {
                    self.ask(agent);
                }
            }
            985 => {
                self.kill_and_restore();
            }
            986..=988 => self.park(),
            989 if self.dice.chance(300) => self.set_back(),
            990..=995 => self.neighbour(),
            _ => self.advance(),
        }
    }

    fn kill_and_restore(&mut self) {
        if self.dice.chance(700) {
            self.downtime();
        }
        self.kill();
    }

    /// The clock is set back. What the world has in mind is as far ahead as before.
    fn set_back(&mut self) {
        let by = Duration::from_millis(self.dice.below(120_000));
        note!(self, "clock set back by {by:?}");
        // A room that has not looked at the clock for a while cannot tell by how much it was set back.
        self.room.tick(&self.fixed.context(), self.now);
        self.after();
        self.now = self.now.saturating_sub(by);
        let back = |at: &mut Timestamp| *at = at.saturating_sub(by);
        for flight in &mut self.flights {
            let moments = [&mut flight.ready_at, &mut flight.time_out, &mut flight.cancelled];
            moments.into_iter().flatten().for_each(back);
        }
        self.plans.iter_mut().for_each(|(at, _)| back(at));
        self.books.words.iter_mut().for_each(|word| back(&mut word.at));
        self.books.grant_waits = None;
        back(&mut self.books.reads_limited_until);
        self.chat.set_back(by);
        self.neighbours.set_back(by);
        back(&mut self.next_round);
        self.due = None;
        self.room.tick(&self.fixed.context(), self.now);
        self.after();
        self.move_lines();
    }

    /// The room leaves memory, if it rests, and comes back.
    fn park(&mut self) {
        if self.room.look().is_at_rest()
            && !self.ready
            && self.flights.is_empty()
            && self.asking.is_none()
        {
            if self.room.look().commit().stored().is_none() {
                return;
            }
            note!(self, "park");
            self.load(Origin::Parked);
        }
    }

    pub(super) fn finish_one(&mut self) {
        let now = self.now;
        let ready = self.flights.iter().filter(|flight| flight.is_ready(now)).count();
        if ready == 0 {
            return;
        }
        let chosen = self.dice.place(ready);
        let mut places = self.flights.iter().enumerate().filter(|(_, f)| f.is_ready(now));
        if let Some((at, _)) = places.nth(chosen) {
            self.finish(at);
        }
    }

    /// Time goes on, to the next moment at most, or sometimes well beyond it.
    pub(super) fn advance(&mut self) {
        // The driver is quick: in most steps it reports ended requests before time goes on.
        if !self.dice.chance(20) {
            for _ in 0..64 {
                if self.ready {
                    self.serve();
                }
                if !self.flights.iter().any(|flight| flight.is_ready(self.now)) {
                    break;
                }
                self.finish_one();
            }
        }
        if self.ready {
            self.serve();
        }
        self.move_lines();
        let next = self.next_moment();
        let ahead = next.map_or(60_000, |next| next.since(self.now).as_millis() as u64);
        // A driver that is late is late by two seconds at most.
        let is_late = self.flights.iter().any(|flight| flight.is_ready(self.now));
        let ahead = if is_late { ahead.min(2_000) } else { ahead };
        let by = match self.dice.below(200) {
            0 if !self.calm && self.dice.chance(300) => {
                // The machine sleeps. The turns of that time are over when it wakes.
                self.books.forget_words();
                self.books.grant_waits = None;
                self.dice.below(1_200_000)
            }
            1..=40 => self.dice.below(ahead + 1),
            _ => ahead,
        };
        self.now = self.now + Duration::from_millis(by);
        self.pass();
    }

    /// What the time that has passed brings.
    pub(super) fn pass(&mut self) {
        self.land_late();
        if self.now >= self.chat.until && self.chat.until.as_millis() > 0 && !self.calm {
            self.weather();
        }
        if self.store.answers != Answers::Up && self.now >= self.store.until {
            self.store.answers = Answers::Up;
        }
        if self.now >= self.next_round {
            self.next_round = self.now + Duration::from_secs(300);
            self.room.backfill();
            self.after();
        }
        self.keep_time();
        self.neighbours_go_on();
        while self.plans.iter().any(|(at, _)| *at <= self.now) {
            self.carry_out();
        }
        let (now, books) = (self.now, &mut self.books);
        for flight in &self.flights {
            if let Some(at) = flight.cancelled {
                books.cancelled(flight.id, at, now);
            }
        }
    }

    fn next_moment(&self) -> Option<Timestamp> {
        let now = self.now;
        let flights = self.flights.iter().filter_map(|flight| flight.ready_at);
        let plans = self.plans.iter().map(|(at, _)| *at);
        let late = self.chat.late.iter().map(|(at, ..)| *at);
        let neighbours = self.neighbours.next_moment();
        let others = [self.due, self.admission.next_deadline(), neighbours, Some(self.next_round)];
        let weather = [self.chat.until, self.store.until].into_iter().filter(|_| !self.calm);
        let all =
            flights.chain(plans).chain(late).chain(others.into_iter().flatten()).chain(weather);
        all.filter(|at| *at > now).min()
    }

    /// What must hold after every event.
    pub(super) fn watch(&mut self) {
        if self.room.look().commit().is_taken_over() {
            self.books.fail("the room says that another process has it".to_owned());
        }
        let active = self.room.active.as_ref();
        let reply = active.and_then(|active| active.reply.as_ref()).map(|reply| {
            let stored = reply.stored();
            OpenReply {
                agent: stored.agent,
                name: delivery(&stored.parts),
                parts: stored.parts.len(),
            }
        });
        if reply != self.books.reply {
            let is_kept = |agent| {
                active.is_some_and(|active| {
                    let withdrawn = active.withdrawn.as_deref().map(WithdrawnReply::agent);
                    active.inbox.has_late(agent) || withdrawn == Some(agent)
                })
            };
            self.books.replies(reply, is_kept);
        }
        self.watch_grant();
        self.watch_explanations();
        let waits = !self.ready
            && self.due.is_none()
            && self.flights.is_empty()
            && !self.neighbours.is_busy()
            && self.admission.next_deadline().is_none();
        if waits && !self.is_paused() && !self.room.look().is_at_rest() {
            let phase = self.room.look().machine().view().phase();
            let active = self.room.active.as_ref();
            let busy = (
                self.room.look().machine().pending(),
                active.map(|active| active.requests.under_way()),
            );
            let told = format!("the room waits without a deadline: {phase:?} {busy:?}");
            self.books.fail(told);
        }
    }

    /// Whatever hangs, the turn of an agent that the library calls begins soon after its grant is stored.
    fn watch_grant(&mut self) {
        let view = self.room.look().machine().view();
        let granted = view.phase() == PhaseKind::Granted
            && view.speaker().is_some_and(|agent| self.is_hosted(agent));
        let is_waiting = |active: &Active| active.calls.waiting().is_some();
        let called = self.room.active.as_deref().is_some_and(is_waiting);
        let called = called && !self.room.look().waits_for_call();
        let stored = self.room.look().commit().is_clean();
        // While the chat is away the lane waits in order, and start deadlines stand still. While nothing is heard a call
        // waits for what is read for it, as long as the chat wants nothing to be read (P18).
        let excused = self.room.active.as_ref().is_some_and(|active| {
            let is_deaf = active.chat.deaf_since().is_some();
            active.chat.failing().is_some() || is_deaf && self.now < self.books.reads_limited_until
        });
        if !(granted || called) || view.pause().is_some() || !stored || excused {
            self.books.grant_waits = None;
            return;
        }
        let since = *self.books.grant_waits.get_or_insert(self.now);
        // A post of before takes 10 s, a gap holds for 5 s, the context is read for 10 s, and so is what
        // people said meanwhile.
        if self.now.since(since) > Duration::from_secs(36) {
            self.books
                .fail(format!("a grant waits since {since:?}: granted {granted}, call {called}"));
        }
    }

    pub(super) fn is_paused(&self) -> bool {
        let view = self.room.look().machine().view();
        view.pause().is_some() || !view.mode().keeps_turns() || view.phase() == PhaseKind::Archived
    }

    /// What is to be done now, or else the next moment.
    pub(super) fn step_calmly(&mut self) {
        self.move_lines();
        if self.ready {
            self.serve();
        } else if !self.chat.events.is_empty() {
            self.event();
        } else if self.flights.iter().any(|flight| flight.is_ready(self.now)) {
            self.finish_one();
        } else {
            self.advance();
        }
    }

    /// After all faults: everything is delivered, and the room rests.
    pub(super) fn end(&mut self) {
        self.calm_down();
        // The initiator of a discussion is reminded three times, and it is archived after that.
        let is_discussion = self.room.look().machine().view().initiator().is_some();
        let reminders = self.fixed.config.discussion.reminder_interval * 4;
        let quiet = if is_discussion { reminders } else { Duration::ZERO };
        let began = self.now;
        let until = began + Duration::from_secs(2_400) + quiet;
        for _ in 0..20_000 {
            if self.books.broken.is_some() || self.now >= until {
                break;
            }
            self.step_calmly();
        }
        if self.books.broken.is_none() && self.now < until {
            let passed = self.now.since(began);
            self.books
                .fail(format!("20,000 steps without faults, and only {passed:?} have passed"));
        }
        if self.books.broken.is_none() {
            self.check_end(began);
        }
    }

    /// What an agent was handed by the room's own account, some turn of it brought.
    fn check_ledger(&mut self) {
        let Some(inbox) = self.room.active.as_ref().map(|active| &active.inbox) else {
            return;
        };
        let agents = (0..self.fixed.agents).map(AgentKey::new);
        let lost = agents.filter(|agent| self.is_hosted(*agent)).find_map(|agent| {
            let is_lost = |word: &MessageId| {
                is_judged(*word)
                    && self.room.marks.is_known(*word)
                    && inbox.was_handed(agent, *word)
                    && !self.ledger.is_settled(agent, *word)
            };
            self.ledger.words().find(is_lost).map(|word| (agent, word))
        });
        if let Some((agent, word)) = lost {
            self.books.fail(format!("{agent:?} counts as handed {word:?}, and was not"));
        }
    }

    fn check_end(&mut self, began: Timestamp) {
        if let Some(claim) = self.neighbours.waits_in_vain() {
            return self.books.fail(format!("after 40 quiet minutes a neighbour waits: {claim:?}"));
        }
        if self.is_paused() {
            return;
        }
        self.check_ledger();
        let view = self.room.look().machine().view();
        let phase = view.phase();
        let calls = self.flights.iter().any(|flight| matches!(flight.what, What::Call { .. }));
        let active = self.room.active.as_ref();
        let busy = active.is_some_and(|active| {
            active.reply.is_some() || active.calls.current().is_some() || !active.voice.is_empty()
        });
        let rests = matches!(phase, PhaseKind::Dormant | PhaseKind::Disabled | PhaseKind::Dead);
        if !rests || busy || calls || !self.room.look().commit().is_clean() {
            let told = format!("after 40 quiet minutes the room is busy: {phase:?}, busy {busy}");
            return self.books.fail(told);
        }
        let old = Duration::from_secs(840);
        // One that is known and does not count as heard was too old to wake when it was read.
        let is_unread = |word: &super::books::Word| {
            began.since(word.at) < old && !self.room.marks.is_known(word.id)
        };
        let is_due = |word: &&super::books::Word| word.heard || is_unread(word);
        let mut lost = self.books.words.iter().filter(is_due);
        if let Some(word) = lost.next() {
            let kept = view.is_wake_pending();
            let available: Vec<_> = view.list().filter(Seat::is_available).collect();
            // Where each agent fails with the first part of a long backlog, the rest comes with the next word, too: the channel
            // does not call agents that fail again and again by itself.
            let inbox = active.map(|active| &active.inbox);
            let fails = |agent| inbox.is_some_and(|inbox| inbox.is_failing(agent, word.id));
            let all_fail = available.iter().all(|seat| fails(seat.agent));
            let available = available.len();
            // One that is alone is not handed what was read after its own reply of an earlier process.
            // Where an agent awaits a person, or a ceiling is reached, the rest of a long backlog comes with the next word.
            let wakes_for = inbox.and_then(|inbox| inbox.wakes_for(true));
            let awaits = view.awaits_human() && wakes_for <= self.rest_up_to;
            let waits = awaits || view.is_at_ceiling() || all_fail;
            if available > 1 && !waits {
                let told =
                    format!("{word:?} is handed to no agent: kept {kept}, {available} agents");
                self.books.fail(told);
            }
        }
    }
}
