//! Whether a reply has arrived (rules 16 to 20).

use std::time::Duration;

use dirigent_core::view::SeatTurn;
use dirigent_core::{AgentKey, Author, Cause, MessageId, Tail, Timestamp};

use super::Model;
use super::run::joined;
use super::state::{Confirming, Phase, Poll, Turn, TurnProgress};

/// Pieces kept apart at most.
const PIECES_MAX: usize = 6;

impl Model {
    /// Rule 16: a message of the speaker was seen. Whether it belongs to the reply.
    pub(super) fn take_piece(&mut self, author: AgentKey, id: MessageId, tail: &Tail) {
        let now = self.now;
        let Phase::Turn(turn) = &mut self.phase else {
            return;
        };
        let listens = turn.listens() || matches!(turn.stage, TurnProgress::Confirming(_));
        let is_later = turn.anchor.is_none_or(|anchor| id > anchor);
        if turn.agent != author || !listens || !is_later {
            return;
        }
        match turn.pieces.get(&id) {
            None => {
                turn.pieces.insert(id, *tail);
                turn.arrivals.push(now);
            }
            Some(before) => {
                let attached = before.has_attachment() || tail.has_attachment();
                let edited = if attached { tail.with_attachment() } else { *tail };
                turn.pieces.insert(id, edited);
            }
        }
        turn.last_piece = Some(now);
        self.memory.reply_kept = true; // rule 41
        while turn.pieces.len() > PIECES_MAX {
            let lowest = turn.pieces.pop_first();
            let second = turn.pieces.first_entry();
            if let (Some((_, mut whole)), Some(mut second)) = (lowest, second) {
                whole.join(second.get());
                second.insert(whole);
            }
        }
        if let TurnProgress::Confirming(confirming) = &mut turn.stage {
            if let Poll::Next(planned) = confirming.poll {
                let later = now + confirming.interval;
                confirming.poll = Poll::Next(if later > planned { later } else { planned }); // rule 19
            }
        }
        self.confirm_if_tail_matches();
    }

    /// Rule 21: an edit does nothing but rule 16.
    pub(super) fn on_edit(&mut self, id: MessageId, author: Author, tail: &Tail) {
        if let Author::Agent(agent) = author {
            self.take_piece(agent, id, tail);
        }
    }

    /// Rule 16: confirms when the joined tail ends with the fingerprint.
    pub(super) fn confirm_if_tail_matches(&mut self) {
        let Some((turn, confirming)) = self.awaited() else {
            return;
        };
        let (fingerprint, arrived) = (&confirming.fingerprint, joined(&turn.pieces));
        if fingerprint.is_empty() || !arrived.ends_with(fingerprint) {
            return;
        }
        let lengths = (arrived.length(), fingerprint.length());
        if let (Some(arrived), Some(reply)) = lengths {
            self.mark_whole(arrived >= reply); // rule 23
        }
        self.confirm(Cause::TailMatched);
    }

    /// Rule 23: whether the whole reply of the turn is known to have arrived.
    pub(super) fn mark_whole(&mut self, whole: bool) {
        if let Some(turn) = self.phase.turn_mut() {
            turn.whole = whole;
        }
    }

    /// The turn whose reply is awaited.
    fn awaited(&self) -> Option<(&Turn, &Confirming)> {
        let turn = self.phase.turn()?;
        Some((turn, turn.confirming()?))
    }

    /// Rules 14 and 17: when quiet after a message confirms.
    pub(super) fn quiet_due(&self) -> Option<Timestamp> {
        let (turn, confirming) = self.awaited().filter(|_| self.chat_away.is_none())?; // rule 70
        let last_piece = turn.last_piece?;
        let (quiet, half) =
            (self.config.confirmation.quiet_period, self.config.confirmation.delivery_timeout / 2);
        if confirming.fingerprint.is_empty() {
            return Some(last_piece + quiet); // rule 14
        }
        if !self.config.confirmation.any_message_fallback {
            return None;
        }
        let last = last_piece.max(confirming.ended);
        let fifth_last = turn.arrivals.iter().rev().nth(4);
        let free = fifth_last.map_or(last, |at| last.max(*at + Duration::from_secs(5)));
        let whole = joined(&turn.pieces);
        if whole.has_attachment() {
            return Some(free + quiet);
        }
        match (whole.length(), confirming.fingerprint.length()) {
            (Some(seen), Some(reply)) => {
                let (seen, reply) = (f64::from(seen), f64::from(reply));
                if seen >= reply {
                    Some(free + quiet)
                } else if seen / reply >= 0.75 {
                    Some((free + quiet).max(last + half))
                } else {
                    None
                }
            }
            _ => Some((last_piece + quiet).max(confirming.ended + half)),
        }
    }

    /// Rule 18: when the wait for the reply ends.
    pub(super) fn delivery_due(&self) -> Option<Timestamp> {
        let (_, confirming) = self.awaited().filter(|_| self.chat_away.is_none())?; // rule 70
        Some(confirming.ended + self.config.confirmation.delivery_timeout)
    }

    /// Rule 19: when the next poll is made.
    pub(super) fn poll_due(&self) -> Option<Timestamp> {
        let (_, confirming) = self.awaited()?;
        match confirming.poll {
            Poll::Next(at) => Some(at),
            Poll::InFlight(_) => None,
        }
    }

    /// Rule 19: makes the poll that is due.
    pub(super) fn on_poll_due(&mut self) {
        let ticket = self.emit_poll(self.phase.turn().and_then(|turn| turn.anchor));
        if let Some(confirming) = self.phase.turn_mut().and_then(Turn::confirming_mut) {
            confirming.poll = Poll::InFlight(ticket);
        }
    }

    /// Rule 20: the turn is real.
    pub(super) fn confirm(&mut self, cause: Cause) {
        let awaits = self.awaits_a_person();
        self.end_turn(SeatTurn::Spoke, cause);
        if awaits { self.await_a_person() } else { self.advance() }
    }

    /// Rule 14, last case: an empty turn.
    pub(super) fn end_empty(&mut self, cause: Cause) {
        self.end_turn(SeatTurn::Passed, cause);
        self.advance();
    }
}
