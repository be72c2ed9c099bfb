//! A chat that does not answer (rules 70 and 71).

use std::time::Duration;

use dirigent_core::{Cause, Timestamp};

use super::Model;
use super::state::{ChatAway, Phase, TurnProgress};

impl Model {
    /// `Chat`.
    pub(super) fn on_chat(&mut self, away: bool) {
        if away == self.chat_away.is_some() {
            return;
        }
        if away {
            self.chat_away = Some(ChatAway { since: self.now, patience_from: self.now });
            self.causes.push(Cause::ChatAway);
        } else {
            self.chat_away = None;
            self.causes.push(Cause::ChatBack);
        }
        let fresh = self.fresh_start();
        if let Some(turn) = self.phase.turn_mut() {
            if let TurnProgress::Granted { due, .. } | TurnProgress::Continuing { due } =
                &mut turn.stage
            {
                *due = fresh;
            }
        }
        if !away {
            self.wake_if_kept_in_mind();
        }
    }

    /// A start deadline from now on, unless there is none: by the rules, on hold, without the chat.
    pub(super) fn fresh_start(&self) -> Option<Timestamp> {
        let waits = !self.is_held() && self.chat_away.is_none();
        self.config.deadlines.start.filter(|_| waits).map(|time| self.now + time)
    }

    /// Rule 75: `TriggerAgain`.
    pub(super) fn on_trigger_again(&mut self) {
        let fresh = self.fresh_start();
        if self.rest.is_some() || self.chat_away.is_some() {
            return;
        }
        let Some(turn) = self.phase.turn_mut() else {
            return;
        };
        let attempt = match &mut turn.stage {
            TurnProgress::Granted { due, attempt } => {
                *due = fresh;
                *attempt
            }
            TurnProgress::Continuing { due } => {
                *due = fresh;
                0
            }
            TurnProgress::Running { .. }
            | TurnProgress::Delivering
            | TurnProgress::Confirming(_)
            | TurnProgress::Waiting(_) => return,
        };
        let agent = turn.agent;
        self.causes.push(Cause::Retriggered);
        self.emit_trigger(agent, attempt, None);
    }

    /// Rule 70: what waits for the chat keeps its distance while time passes without it.
    pub(super) fn stand_still(&mut self, by: Duration) {
        if self.chat_away.is_none() {
            return;
        }
        if let Some(refresh) = &mut self.refresh {
            refresh.due = refresh.due + by;
        }
        let Some(turn) = self.phase.turn_mut() else {
            return;
        };
        for moment in [&mut turn.end, &mut turn.last_piece] {
            *moment = moment.map(|at| at + by);
        }
        if let TurnProgress::Confirming(confirming) = &mut turn.stage {
            confirming.ended = confirming.ended + by;
        }
    }

    /// Rule 71: until when the chat is waited for, whatever the phase; never on hold.
    fn patience_end(&self) -> Option<Timestamp> {
        let away = self.chat_away.filter(|_| self.rest.is_none())?;
        Some(away.patience_from + self.config.deadlines.outage_max)
    }

    /// Rule 71: whether no agent is granted any more.
    pub(super) fn is_patience_over(&self) -> bool {
        self.patience_end().is_some_and(|end| self.now >= end)
    }

    /// Rule 71: the deadline, in the phases that wait for the chat.
    pub(super) fn outage_due(&self) -> Option<Timestamp> {
        let waits = match &self.phase {
            Phase::Refreshing(_) => true,
            Phase::Turn(turn) => matches!(
                turn.stage,
                TurnProgress::Granted { .. }
                    | TurnProgress::Continuing { .. }
                    | TurnProgress::Confirming(_)
            ),
            Phase::Dormant
            | Phase::Disabled
            | Phase::Dead
            | Phase::Archived
            | Phase::Unknown { .. } => false,
        };
        self.patience_end().filter(|_| waits)
    }

    /// Rule 71: the deadline is due.
    pub(super) fn on_outage_due(&mut self) {
        self.note_cut();
        self.cancel_floor();
        self.forget_refresh();
        self.sleep_without_chat();
    }

    /// Rule 71: dormant until the chat is back; no reminder.
    pub(super) fn sleep_without_chat(&mut self) {
        self.causes.push(Cause::ChatAway);
        self.kept_in_mind = true;
        self.fall_asleep();
    }

    /// Rule 70: whether a wake has to wait for the chat.
    pub(super) fn sleeps_without_chat(&self) -> bool {
        self.phase == Phase::Dormant && self.chat_away.is_some()
    }
}
