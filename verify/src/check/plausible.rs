//! What fits the moment.

use std::time::Duration;

use dirigent_core::{
    AgentKey, Author, Effect, Input, Message, MessageId, MessageKind, PhaseKind, RunId, Settlement,
    Tail, Ticket,
};

use super::step::{Act, EndOutcome, late_message, message};
use super::walk::Walk;

/// Runs that no input names by itself begin here.
const FRESH_RUNS: u64 = 1_000_000;

impl Walk {
    /// The input that an act means now.
    pub(super) fn input_of(&mut self, act: &Act) -> Input {
        let view = self.machine.view();
        let speaker = view.speaker().or(view.permit());
        let (agent, run) = self.allowed.unwrap_or((AgentKey::new(1), None));
        let author = Author::Agent(speaker.unwrap_or(agent));
        let newest = view.newest().map_or(0, MessageId::get);
        let talk = MessageKind::Conversation;
        match act {
            Act::Proceed { choice, .. } if view.chat_away_since().is_some() && choice % 4 == 0 => {
                Input::Chat { away: false }
            }
            Act::Proceed { choice, ahead, tail, agents } => {
                self.input_of(&self.way_on(*choice, *ahead, tail, agents))
            }
            Act::Gate { run } => gate(speaker, *run),
            Act::GateAnew => {
                self.fresh_runs += 1;
                gate(speaker, Some(RunId::new(FRESH_RUNS + self.fresh_runs)))
            }
            Act::GateAgain => gate(Some(agent), run),
            Act::End { outcome } => Input::RunEnded { agent, run, outcome: outcome.outcome() },
            Act::Reply { next } => Input::Replied { agent, run, next: *next },
            Act::GiveUp { posted } => Input::Undelivered { agent, run, posted: *posted },
            Act::SayLate { back, author, tail } => {
                late_message(newest.saturating_sub(u64::from(*back)), *author, talk, tail)
            }
            Act::Receipt { count } => Input::Receipt {
                agent,
                run,
                messages: (1..=u64::from(*count)).map(|i| MessageId::new(newest + i)).collect(),
            },
            Act::SpeakerSays { ahead, tail } => {
                message(newest.saturating_add_signed(i64::from(*ahead)), author, talk, tail)
            }
            Act::Say { author, kind, tail } => message(newest + 1, *author, *kind, tail),
            Act::Edit { back, tail } => Input::MessageEdited {
                id: MessageId::new(newest.saturating_sub(u64::from(*back))),
                author,
                tail: **tail,
            },
            Act::Delete { back } => {
                Input::Deleted(MessageId::new(newest.saturating_sub(u64::from(*back))))
            }
            Act::Members { agents } => Input::Members {
                ticket: self.pending(|effect| matches!(effect, Effect::FetchMembers { .. }), 0),
                agents: agents.clone(),
            },
            Act::Address { agents } => {
                Input::Addressed { message: human_message(newest + 1), agents: agents.clone() }
            }
            Act::Choose { place } => Input::SpeakNext(self.seat(*place)),
            Act::Crash { place: Some(place) } => Input::Offline(self.seat(*place)),
            Act::Crash { place: None } => Input::Offline(speaker.unwrap_or(agent)),
            Act::Forbid { place, millis } => Input::MayNotWrite {
                agent: place.map_or(speaker.unwrap_or(agent), |place| self.seat(place)),
                until: millis.map(|millis| self.now + Duration::from_millis(millis.into())),
            },
            Act::Return { assigned: true, agent } => Input::Assign(*agent),
            Act::Return { assigned: false, agent } => Input::Online(*agent),
            Act::Answer { settlement } => Input::Settled {
                ticket: self.pending(|effect| matches!(effect, Effect::Consult { .. }), 0),
                settlement: *settlement,
            },
            Act::Settle { nth, settlement } => Input::Settled {
                ticket: self.pending(|_| true, usize::from(*nth)),
                settlement: *settlement,
            },
        }
    }

    /// The ticket of a pending effect, counted back from the newest; one never given, if there is none.
    fn pending(&self, fits: impl Fn(&Effect) -> bool, nth: usize) -> Ticket {
        let pending = self.machine.pending().iter().rev();
        let mut fitting = pending.filter(|effect| fits(&effect.effect));
        let effect = fitting.nth(nth).and_then(|effect| effect.effect.ticket());
        effect.unwrap_or(Ticket::new(u64::MAX))
    }

    /// The agent at this place of the list, or the next one if that has the floor.
    fn seat(&self, place: u8) -> AgentKey {
        let view = self.machine.view();
        let seats: Vec<_> = view.list().map(|seat| seat.agent).collect();
        let at = usize::from(place) % seats.len().max(1);
        let mut from_there = seats.iter().cycle().skip(at).take(seats.len());
        let other = from_there.find(|agent| view.speaker() != Some(**agent));
        other.copied().unwrap_or(AgentKey::new(1))
    }

    /// The end of everything that the speaker wrote in its turn.
    fn said_so_far(&self) -> Tail {
        self.said.values().fold(Tail::EMPTY, |mut whole, piece| {
            whole.join(piece);
            whole
        })
    }

    /// What leads on from here.
    fn way_on(&self, choice: u8, ahead: i8, tail: &Tail, agents: &[AgentKey]) -> Act {
        let view = self.machine.view();
        let says = || Act::SpeakerSays {
            ahead,
            tail: Box::new(if choice < 160 { self.promised } else { *tail }),
        };
        let running = view.permit().is_some() && self.allowed.is_some();
        if view.pause().is_some() && choice % 3 == 0 {
            return Act::Say {
                author: Author::Human,
                kind: MessageKind::ResumeWord,
                tail: Box::new(*tail),
            };
        }
        match view.phase() {
            PhaseKind::Granted => Act::GateAnew,
            PhaseKind::Continuing => match choice % 4 {
                0 => says(),
                _ => Act::GateAnew,
            },
            PhaseKind::Waiting => match choice % 8 {
                0 => Act::End { outcome: EndOutcome::Pass },
                1 => Act::End { outcome: EndOutcome::Spoke(Box::new(self.said_so_far())) },
                2 if choice >= 128 => {
                    Act::Reply { next: agents.first().copied().filter(|_| choice % 2 == 0) }
                }
                2 => says(),
                3 => Act::Answer { settlement: Settlement::Failed { retry_at: None } },
                _ => Act::Answer { settlement: Settlement::Done { message: None } },
            },
            PhaseKind::Running => match choice % 8 {
                0..=2 => says(),
                3 | 7 => Act::End { outcome: EndOutcome::Pass },
                4 => Act::End { outcome: EndOutcome::Spoke(Box::new(self.said_so_far())) },
                5 if choice >= 192 => {
                    Act::End { outcome: EndOutcome::AwaitsHuman(Box::new(*tail)) }
                }
                5 => Act::End { outcome: EndOutcome::Unfinished(Box::new(*tail)) },
                6 if choice >= 96 => {
                    Act::Reply { next: agents.first().copied().filter(|_| choice % 2 == 0) }
                }
                _ => Act::End { outcome: EndOutcome::Spoke(Box::new(*tail)) },
            },
            PhaseKind::Delivering => match choice % 8 {
                0 | 1 => Act::Receipt { count: 1 },
                2 => Act::GiveUp { posted: choice >= 128 },
                3 => says(),
                4 => Act::End { outcome: EndOutcome::Pass },
                5 => Act::End { outcome: EndOutcome::Unfinished(Box::new(*tail)) },
                _ => Act::End { outcome: EndOutcome::Spoke(Box::new(self.said_so_far())) },
            },
            PhaseKind::Confirming => says(),
            PhaseKind::Refreshing | PhaseKind::Disabled | PhaseKind::Unknown => {
                Act::Members { agents: agents.to_vec() }
            }
            PhaseKind::Dormant if view.permit().is_some() => match choice % 4 {
                0 if running => Act::End { outcome: EndOutcome::Pass },
                1 if running => says(),
                2 if view.pending_reply().is_some() => Act::GiveUp { posted: choice >= 128 },
                2 if running => {
                    Act::Reply { next: agents.first().copied().filter(|_| choice % 2 == 0) }
                }
                _ => Act::GateAnew,
            },
            PhaseKind::Archived if choice % 2 == 0 => says(),
            PhaseKind::Dormant | PhaseKind::Dead | PhaseKind::Archived | _ => Act::Say {
                author: Author::Human,
                kind: MessageKind::Conversation,
                tail: Box::new(*tail),
            },
        }
    }
}

/// What a human says.
fn human_message(id: u64) -> Message {
    let (id, author) = (MessageId::new(id), Author::Human);
    Message {
        id,
        author,
        kind: MessageKind::Conversation,
        tail: Tail::of("you there"),
        backfilled: false,
    }
}

/// A gate call.
fn gate(agent: Option<AgentKey>, run: Option<RunId>) -> Input {
    Input::Gate { agent, run, latest: None }
}
