//! What people, operators, bots and confused agents do at any time.

use std::sync::Arc;

use dirigent_core::{
    Author, Creation, Input, MessageKind, Mode, PhaseKind, Settlement, Ticket, Timestamp, WakeCause,
};

use super::agenda::Happening;
use super::texts::Text;
use super::world::World;
use crate::invariants::Violation;

impl World {
    /// Something happens that the machine did not ask for.
    pub(super) fn background_events(&mut self) -> Result<(), Violation> {
        if self.fault(self.faults.replay) {
            let all: Vec<_> = self.room.after(None, usize::MAX).collect();
            for id in all {
                self.agenda.add(self.time, Happening::Deliver(id));
            }
        }
        match self.dice.below(1_000) {
            0..=339 => self.write(Author::Human, MessageKind::Conversation),
            340..=409 => self.write_as_agent(MessageKind::Conversation),
            410..=439 => self.write_as_agent(MessageKind::Unasked),
            440..=449 => self.write_as_agent(MessageKind::OutOfTurn),
            450..=489 => self.write(Author::Bot, MessageKind::Conversation),
            490..=509 => self.write_oddly(),
            510..=539 => self.edit_something(),
            540..=619 => self.come_or_go(),
            620..=669 => self.ask_out_of_turn(),
            670..=679 => self.write(Author::Human, MessageKind::StopWord),
            680..=709 => self.write(Author::Human, MessageKind::ResumeWord),
            710..=899 => self.operate(),
            900..=919 => self.settle_nothing(),
            920..=939 => self.change_rules(),
            940..=949 => self.conclude(),
            950..=989 => self.steer(),
            990..=993 => self.feed(&Input::Chat { away: true }).map(drop),
            994 => self.feed(&Input::TriggerAgain).map(drop),
            995..=998 => self.feed(&Input::Chat { away: false }).map(drop),
            _ => self.feed(&Input::Tick).map(drop),
        }
    }

    /// A message is written, and Discord pushes it.
    fn write(&mut self, author: Author, kind: MessageKind) -> Result<(), Violation> {
        let text = Text::whole(self.dice.draw());
        let id = self.room.post(author, kind, text);
        if author == Author::Human && self.dice.hits(200_000) {
            let places = self.dice.draw() & self.dice.draw();
            self.room.mention(places);
        }
        if self.dice.hits(500_000) {
            self.push(id, self.time);
            return Ok(());
        }
        self.occur(Happening::Deliver(id))
    }

    fn write_as_agent(&mut self, kind: MessageKind) -> Result<(), Violation> {
        let keys: Vec<_> = self.cast.iter().map(|agent| agent.key).collect();
        match self.dice.pick(&keys) {
            Some(agent) => self.write(Author::Agent(agent), kind),
            None => Ok(()),
        }
    }

    /// System messages, the moderator's own, stop words of those who may not stop.
    fn write_oddly(&mut self) -> Result<(), Violation> {
        match self.dice.below(5) {
            0 => self.write(Author::Human, MessageKind::System),
            1 => self.write(Author::Moderator, MessageKind::Conversation),
            2 => self.write(Author::Bot, MessageKind::StopWord),
            3 => self.write_as_agent(MessageKind::StopWord),
            _ => self.write_as_agent(MessageKind::System),
        }
    }

    fn edit_something(&mut self) -> Result<(), Violation> {
        let message = self.some_message();
        let text = Text::whole(self.dice.draw());
        match self.room.edit(message, text) {
            Some(_) => self.occur(Happening::DeliverEdit(message)),
            None => Ok(()),
        }
    }

    fn come_or_go(&mut self) -> Result<(), Violation> {
        let present = self.cast.iter().filter(|agent| agent.present).count();
        let count = u64::try_from(self.cast.len()).unwrap_or(0);
        let at = usize::try_from(self.dice.below(count)).unwrap_or(0);
        let Some(agent) = self.cast.get_mut(at) else {
            return Ok(());
        };
        agent.present = !agent.present || (present <= 2 && self.dice.hits(700_000));
        let (key, present) = (agent.key, agent.present);
        if self.fault(self.faults.message_lost) {
            return Ok(());
        }
        let input = if present { Input::MemberJoined(key) } else { Input::MemberLeft(key) };
        self.feed(&input).map(drop)
    }

    fn ask_out_of_turn(&mut self) -> Result<(), Violation> {
        let count = u64::try_from(self.cast.len()).unwrap_or(0);
        let place = u8::try_from(self.dice.below(count)).unwrap_or(0);
        let busy = self.agent(place).is_none_or(|agent| agent.run.is_some());
        if busy && self.dice.hits(800_000) {
            return Ok(());
        }
        let run = self.name_run();
        self.ask(place, run)
    }

    fn operate(&mut self) -> Result<(), Violation> {
        let keys: Vec<_> = self.cast.iter().map(|agent| agent.key).collect();
        let someone = self.dice.pick(&keys).unwrap_or_default();
        let resting = self.watched.glance().rest.is_some();
        let input = match self.dice.below(100) {
            0..=4 => Input::Stop,
            5 => Input::EditedToStop(self.some_message()),
            6..=13 => Input::Hold,
            14..=45 if resting => Input::Resume,
            14..=15 => Input::Resume,
            16..=22 => return self.mute_or_unmute(),
            23..=30 => {
                let until = self.time + self.dice.between(1, 120_000);
                let until = self.dice.hits(600_000).then_some(Timestamp::from_millis(until));
                let refused = Input::MayNotWrite { agent: someone, until };
                if self.dice.hits(500_000) { refused } else { Input::MayWrite(someone) }
            }
            31..=60 => {
                let first = self.dice.hits(500_000).then_some(someone);
                let own = [WakeCause::Guide, WakeCause::Result, WakeCause::Unheard];
                let causes = [WakeCause::Operator, own[0], own[1], own[2]];
                let cause = self.dice.pick(&causes).unwrap_or(WakeCause::Operator);
                Input::Wake { first, cause }
            }
            61..=75 => Input::SetMode(self.some_mode()),
            76 if self.dice.hits(300_000) => Input::Archive,
            77..=78 => Input::Create(Creation {
                mode: Mode::Discussion,
                members: keys,
                initiator: Some(someone),
            }),
            79..=81 => Input::Removed(someone),
            _ => Input::Tick,
        };
        self.feed(&input).map(drop)
    }

    /// Mostly chat, so that something goes on.
    fn some_mode(&mut self) -> Mode {
        if self.watched.glance().phase != PhaseKind::Dead && self.dice.hits(500_000) {
            self.dice.pick(&Mode::ALL).unwrap_or_default()
        } else {
            Mode::Chat
        }
    }

    fn mute_or_unmute(&mut self) -> Result<(), Violation> {
        let count = u64::try_from(self.cast.len()).unwrap_or(0);
        let at = usize::try_from(self.dice.below(count)).unwrap_or(0);
        let Some(agent) = self.cast.get_mut(at) else {
            return Ok(());
        };
        agent.muted = !agent.muted && self.dice.hits(500_000);
        let input = if agent.muted { Input::Mute(agent.key) } else { Input::Unmute(agent.key) };
        self.feed(&input).map(drop)
    }

    /// Answers to questions that were not asked.
    fn settle_nothing(&mut self) -> Result<(), Violation> {
        let ticket = Ticket::new(self.dice.below(1_000_000));
        let input = if self.dice.hits(500_000) {
            Input::Settled { ticket, settlement: Settlement::Doubtful }
        } else {
            Input::Members { ticket, agents: Vec::new() }
        };
        self.feed(&input).map(drop)
    }

    fn change_rules(&mut self) -> Result<(), Violation> {
        let present = Arc::clone(self.watched.channel().config());
        let next = std::mem::replace(&mut self.other_rules, present);
        self.feed(&Input::Reconfigure(next)).map(drop)
    }

    /// Rarely the right one, so that discussions live for a while.
    fn conclude(&mut self) -> Result<(), Violation> {
        let initiator = self.watched.glance().initiator;
        let keys: Vec<_> = self.cast.iter().map(|agent| agent.key).collect();
        let by = self.dice.pick(&keys).unwrap_or_default();
        if initiator == Some(by) && !self.dice.hits(400_000) {
            return Ok(());
        }
        self.feed(&Input::Conclude { by }).map(drop)
    }
}
