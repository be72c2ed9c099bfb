//! What happens on the stage: agents ask, run, post and end; answers arrive.

use std::time::Duration;

use dirigent_core::config::AGENTS_MAX;
use dirigent_core::{
    AgentKey, Answer, Author, Input, MessageKind, Outcome, RunId, Settlement, Ticket,
};

use super::agenda::{Ending, Happening, How};
use super::cast::Agent;
use super::texts::Text;
use super::world::World;
use crate::invariants::Violation;

impl World {
    /// Lets something of the agenda happen. What belonged to a process that died does not.
    pub(super) fn occur(&mut self, happening: Happening) -> Result<(), Violation> {
        let epoch = self.epoch;
        match happening {
            Happening::Deliver(id) => match self.room.get(id).copied() {
                Some(record) => {
                    let input = self.told(&record);
                    self.feed(&input)?;
                    if self.is_quiet && record.author == Author::Human && id.get() % 4 == 0 {
                        // Its author takes it back, at once or a moment later.
                        let at = self.time + id.get() / 4 % 3 * 150;
                        self.agenda.add(at, Happening::Delete(id));
                    }
                    Ok(())
                }
                None => Ok(()),
            },
            Happening::Delete(id) => self.feed(&Input::Deleted(id)).map(drop),
            Happening::DeliverEdit(id) => match self.room.get(id).copied() {
                Some(record) => {
                    let (author, tail) = (record.author, record.text.tail());
                    self.feed(&Input::MessageEdited { id, author, tail }).map(drop)
                }
                None => Ok(()),
            },
            Happening::Post { agent, text, draft } => {
                self.post_as(agent, text, draft);
                Ok(())
            }
            Happening::Finish { message, text } => {
                self.room.edit(message, text);
                if !self.fault(self.faults.message_lost) {
                    self.agenda.add(self.time + 40, Happening::DeliverEdit(message));
                }
                Ok(())
            }
            Happening::Ask { agent, run, epoch: of } if of == epoch => self.ask(agent, run),
            Happening::End { agent, run, ending, epoch: of } if of == epoch => {
                self.end(agent, run, ending)
            }
            Happening::Receive { agent, run, after, epoch: of } if of == epoch => {
                self.receive(agent, run, after)
            }
            Happening::LoseRuns { rerun, epoch: of } if of == epoch => {
                self.cast.iter_mut().for_each(|agent| agent.run = None);
                self.feed(&Input::RunsLost { rerun }).map(drop)
            }
            Happening::Back { agent, assigned } => self.come_back(agent, assigned),
            Happening::Members { ticket, epoch: of } if of == epoch => self.answer_members(ticket),
            Happening::Settle { ticket, how, epoch: of } if of == epoch => self.settle(ticket, how),
            Happening::Ask { .. }
            | Happening::End { .. }
            | Happening::Receive { .. }
            | Happening::LoseRuns { .. }
            | Happening::Members { .. }
            | Happening::Settle { .. } => Ok(()),
        }
    }

    /// The agent at this place of the cast.
    pub(super) fn agent(&self, place: u8) -> Option<Agent> {
        self.cast.get(usize::from(place)).copied()
    }

    fn set_run(&mut self, place: u8, run: Option<(RunId, bool)>) {
        if let Some(agent) = self.cast.get_mut(usize::from(place)) {
            agent.run = run;
        }
    }

    fn post_as(&mut self, place: u8, text: Text, draft: bool) {
        let Some(agent) = self.agent(place) else {
            return;
        };
        let author = Author::Agent(agent.key);
        let shown = if draft { text.draft() } else { text };
        let message = self.room.post(author, MessageKind::Conversation, shown);
        self.push(message, self.time);
        if draft {
            let at = self.time + self.dice.between(200, 3_000);
            self.agenda.add(at, Happening::Finish { message, text });
        }
    }

    /// An agent asks whether it may run, and runs if it may.
    pub(super) fn ask(&mut self, place: u8, run: RunId) -> Result<(), Violation> {
        let Some(agent) = self.agent(place) else {
            return Ok(());
        };
        if agent.offline && !self.dice.hits(50_000) {
            return Ok(());
        }
        let named = self.name(&agent, run);
        let known = if self.dice.hits(2_000) { None } else { Some(agent.key) };
        let latest = if self.dice.hits(300_000) { self.room.newest() } else { None };
        let answer = self.feed(&Input::Gate { agent: known, run: named, latest })?;
        let Some(Answer::Verdict(verdict)) = answer else {
            return Ok(());
        };
        if verdict.is_allowed() {
            let turn = Self::gives_turn(verdict.reason());
            self.tally.runs += u64::from(turn);
            self.set_run(place, Some((run, turn)));
            self.check_runs()?;
            self.begin_run(place, run, &agent);
        } else if self.dice.hits(agent.character.stubborn) {
            let at = self.time + self.dice.between(500, 30_000);
            let epoch = self.epoch;
            self.agenda.add(at, Happening::Ask { agent: place, run, epoch });
        }
        Ok(())
    }

    /// The run's name, where the agent's host has names.
    fn name(&mut self, agent: &Agent, run: RunId) -> Option<RunId> {
        self.dice.hits(agent.character.names).then_some(run)
    }

    /// Plans the whole run: its tools, its end, and the arrival of its reply.
    fn begin_run(&mut self, place: u8, run: RunId, agent: &Agent) {
        let character = agent.character;
        let (time, epoch) = (self.time, self.epoch);
        let after = self.room.newest();
        let ends_at = time + self.dice.between(50, character.thinks_ms);
        if self.dice.hits(character.tools) {
            let text = Text::whole(self.dice.draw());
            let at = self.dice.between(time, ends_at);
            self.agenda.add(at, Happening::Post { agent: place, text, draft: false });
        }
        if self.dice.hits(character.dies) {
            let at = self.dice.between(time, ends_at);
            return self.agenda.add(at, Happening::Back { agent: place, assigned: false });
        }
        if !self.dice.hits(character.ends) {
            return;
        }
        let ending = if self.dice.hits(character.crashes) {
            Ending::Failed
        } else if self.dice.hits(character.speaks) {
            let text = Text::whole(self.dice.draw());
            if self.dice.hits(character.forgets) {
                Ending::Unfinished(text)
            } else if self.dice.hits(character.asks) {
                Ending::AwaitsHuman(text)
            } else {
                Ending::Spoke(text)
            }
        } else if self.dice.hits(250_000) {
            Ending::Repeated
        } else {
            Ending::Pass
        };
        self.agenda.add(ends_at, Happening::End { agent: place, run, ending, epoch });
        if let Ending::Spoke(text) | Ending::Unfinished(text) | Ending::AwaitsHuman(text) = ending {
            let early = self.dice.hits(250_000);
            let delay = self.dice.below(character.posts_ms + 1);
            let from =
                if early { ends_at.saturating_sub(delay).max(time) } else { ends_at + delay };
            let draft = self.dice.hits(character.edits);
            let last = self.plan_posts(place, text, draft, from);
            if self.dice.hits(character.receipts) {
                let early_receipt = self.dice.hits(300_000);
                let at = if early_receipt { ends_at.saturating_sub(1) } else { last + 50 };
                self.agenda.add(at, Happening::Receive { agent: place, run, after, epoch });
            }
        }
    }

    /// The reply arrives in its pieces; returns when the last one does.
    fn plan_posts(&mut self, agent: u8, text: Text, draft: bool, from: u64) -> u64 {
        let mut at = from;
        if draft {
            self.agenda.add(at, Happening::Post { agent, text, draft });
            return at + 3_000;
        }
        for piece in 0..text.pieces() {
            let text = text.piece(piece);
            self.agenda.add(at, Happening::Post { agent, text, draft });
            at += self.dice.between(20, 900);
        }
        at
    }

    /// A run ends, or an end of long ago is told again.
    fn end(&mut self, place: u8, run: RunId, ending: Ending) -> Result<(), Violation> {
        let Some(agent) = self.agent(place) else {
            return Ok(());
        };
        let current = agent.run.is_some_and(|(known, _)| known == run);
        if self.is_delivered(&agent) {
            return self.end_delivery(place, &agent, ending);
        }
        if current && self.dice.hits(150_000) {
            return self.begin_delivery(place, &agent, run, ending);
        }
        if !current && !self.dice.hits(300_000) {
            return Ok(());
        }
        if current {
            if self.fault(self.faults.run_end_lost) {
                self.set_run(place, None);
                return Ok(());
            }
            if self.fault(self.faults.run_event_repeated) {
                let at = self.time + self.dice.below(60_000);
                let epoch = self.epoch;
                self.agenda.add(at, Happening::End { agent: place, run, ending, epoch });
            }
        }
        let outcome = match ending {
            Ending::Pass => Outcome::Pass,
            Ending::Repeated => Outcome::Repeated,
            Ending::Failed => Outcome::Failed,
            Ending::Spoke(text) => Outcome::Spoke { tail: text.tail() },
            Ending::Unfinished(text) => Outcome::Unfinished { tail: text.tail() },
            Ending::AwaitsHuman(text) => Outcome::AwaitsHuman { tail: text.tail() },
        };
        // The host has forgotten the run before the channel hears of its end.
        let named = self.name(&agent, run);
        if current {
            self.set_run(place, None);
        }
        let answer = self.feed(&Input::RunEnded { agent: agent.key, run: named, outcome })?;
        if self.dice.hits(agent.character.stubborn) {
            self.ask_again(agent.key, run);
        }
        if matches!(ending, Ending::Unfinished(_)) && self.dice.hits(200_000) {
            self.wake(agent.key); // it goes on before it is asked
        }
        self.report_cost()?;
        if answer.is_some() {
            // A nameless end counts for whatever run is under way.
            self.set_run(place, None);
        }
        Ok(())
    }

    /// Whether the library delivers a reply of this agent.
    fn is_delivered(&self, agent: &Agent) -> bool {
        self.watched.glance().reply.is_some_and(|reply| reply.agent == agent.key)
    }

    /// The library has the whole reply, and posts it within a while.
    fn begin_delivery(
        &mut self,
        place: u8,
        agent: &Agent,
        run: RunId,
        ending: Ending,
    ) -> Result<(), Violation> {
        let named = self.name(agent, run);
        let next = self.is_quiet.then(|| self.agent(u8::try_from(run.get() % 7).unwrap_or(0)));
        let next = next.flatten().map(|next| next.key);
        self.feed(&Input::Replied { agent: agent.key, run: named, next })?;
        let at = self.time + self.dice.between(50, 60_000);
        let epoch = self.epoch;
        self.agenda.add(at, Happening::End { agent: place, run, ending, epoch });
        Ok(())
    }

    /// The reply is in the channel, or is given up; a reply never just disappears.
    fn end_delivery(&mut self, place: u8, agent: &Agent, ending: Ending) -> Result<(), Violation> {
        let Some(reply) = self.watched.glance().reply else {
            return Ok(());
        };
        let (key, run) = (agent.key, reply.run);
        if reply.waits {
            let at = self.time + self.dice.between(1_000, 60_000);
            let (run, epoch) = (run.unwrap_or_default(), self.epoch);
            self.agenda.add(at, Happening::End { agent: place, run, ending, epoch });
            return Ok(());
        }
        self.set_run(place, None);
        if self.dice.hits(200_000) {
            let posted = self.dice.hits(500_000);
            return self.feed(&Input::Undelivered { agent: key, run, posted }).map(drop);
        }
        let messages: Vec<_> = self.room.newest().into_iter().collect();
        if self.dice.hits(700_000) && !messages.is_empty() {
            self.feed(&Input::Receipt { agent: key, run, messages })?;
        }
        let outcome = match ending {
            Ending::Pass => Outcome::Pass,
            Ending::Repeated => Outcome::Repeated,
            Ending::Failed => Outcome::Failed,
            Ending::Spoke(text) => Outcome::Spoke { tail: text.tail() },
            Ending::Unfinished(text) => Outcome::Unfinished { tail: text.tail() },
            Ending::AwaitsHuman(text) => Outcome::AwaitsHuman { tail: text.tail() },
        };
        self.feed(&Input::RunEnded { agent: key, run, outcome }).map(drop)
    }

    fn receive(
        &mut self,
        place: u8,
        run: RunId,
        after: Option<dirigent_core::MessageId>,
    ) -> Result<(), Violation> {
        let Some(agent) = self.agent(place) else {
            return Ok(());
        };
        let own = |id: &dirigent_core::MessageId| {
            self.room.get(*id).is_some_and(|record| record.author == Author::Agent(agent.key))
        };
        let messages: Vec<_> = self.room.after(after, 16).filter(own).collect();
        let named = self.name(&agent, run);
        self.feed(&Input::Receipt { agent: agent.key, run: named, messages }).map(drop)
    }

    /// Who is there, in ascending order; now and then nonsense.
    fn answer_members(&mut self, ticket: Ticket) -> Result<(), Violation> {
        let present = self.cast.iter().filter(|agent| agent.present).map(|agent| agent.key);
        let mut agents: Vec<AgentKey> = present.collect();
        if self.dice.hits(5_000) {
            agents.extend(agents.clone());
        }
        if self.dice.hits(500) {
            let many = u32::try_from(AGENTS_MAX + 1).unwrap_or(0);
            agents = (0..many).map(AgentKey::new).collect();
        }
        self.feed(&Input::Members { ticket, agents }).map(drop)
    }

    fn settle(&mut self, ticket: Ticket, how: How) -> Result<(), Violation> {
        let settlement = match how {
            How::Done(message) => Settlement::Done { message },
            How::Doubtful => Settlement::Doubtful,
            How::Dropped => Settlement::Dropped,
            How::Failed { retry_ms: 0 } => Settlement::Failed { retry_at: None },
            How::Failed { retry_ms } => {
                let retry_at = Some(self.now() + Duration::from_millis(retry_ms));
                Settlement::Failed { retry_at }
            }
        };
        self.feed(&Input::Settled { ticket, settlement }).map(drop)
    }
}
