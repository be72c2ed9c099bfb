//! I9: no agent speaks twice in a row across a shuffle.

use dirigent_core::view::Seat;
use dirigent_core::{AgentKey, Cause, Input, PhaseKind, Transition};

use super::observation::{begins_cycle, is_completion};
use super::{Glance, Invariant, Observation, Observer};

pub(super) const INVARIANT: Invariant = Invariant {
    id: "I9",
    promise: 2,
    requirements: "R083, D31, D32, rule 32",
    sentence: "after a reshuffle the agent that completed a turn last is neither first nor the first who can speak, if another can",
    observer: || Box::new(LastIsNotFirst::default()),
};

#[derive(Debug, Default)]
struct LastIsNotFirst {
    completer: Option<AgentKey>,
    /// A person addressed agents, and no cycle has begun since: they are put first after a shuffle (rule 62), also where
    /// a ceiling ends the cycle before its first grant tells so.
    addressed: bool,
}

impl Observer for LastIsNotFirst {
    fn observe(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        for (place, told) in seen.transitions().enumerate() {
            let posted = matches!(seen.input, Input::Undelivered { posted: true, .. })
                && told.cause == Cause::Undelivered;
            // Behind a reply that was given up, it is a skip in the cycle that follows.
            let goes_no_further = told.cause == Cause::AgentOffline
                && told.from == PhaseKind::Delivering
                && told.agent == seen.before.speaker
                && !matches!(seen.input, Input::Offline(_) | Input::Undelivered { .. });
            if is_completion(told.cause) || posted || goes_no_further {
                self.completer = told.agent;
            }
            if told.cause == Cause::OperatorChoice && self.completer == told.agent {
                self.completer = None; // its slot is ahead again
            }
            if told.cause == Cause::Reshuffled {
                // Whether an agent could speak then is known if the input did not change it since. New
                // rules change who is capped, and a list that is late is gone on without by the old ones.
                let unknown = seen.rules_changed()
                    || matches!(
                        seen.input,
                        Input::MemberLeft(_)
                            | Input::MemberJoined(_)
                            | Input::Mute(_)
                            | Input::MayNotWrite { .. }
                            | Input::Offline(_)
                    );
                // A mark that ends behind the shuffle was there when the order was made: by the input, or by
                // a time-out whose end comes behind the deadline of the list in one late step.
                let freed = |told: &&Transition| {
                    matches!(told.cause, Cause::AgentMayWrite | Cause::AgentUnmuted)
                };
                let freed = seen.transitions().skip(place + 1).filter(freed);
                let freed: Vec<_> = freed.filter_map(|told| told.agent).collect();
                let mut told_of = seen.transitions();
                // Who was chosen or addressed is put first after the shuffle.
                let chosen = told_of.any(|told| {
                    matches!(
                        told.cause,
                        Cause::OperatorChoice | Cause::MentionRound | Cause::HandedOver
                    )
                });
                // An agent that is assigned in the same step goes to the end of the new order.
                let moved = matches!(seen.input, Input::Online(_) | Input::Assign(_));
                if !chosen && !moved && !self.addressed && seen.before.chosen.is_none() {
                    self.check(seen.after, &freed, !unknown)?;
                }
            }
            let over = matches!(
                told.to,
                PhaseKind::Dormant | PhaseKind::Disabled | PhaseKind::Dead | PhaseKind::Archived
            );
            let empty_cycle = told.cause == Cause::CycleBoundary
                && matches!(told.from, PhaseKind::Dormant | PhaseKind::Refreshing);
            if begins_cycle(told) || empty_cycle || over {
                self.completer = None;
                self.addressed = false;
            }
        }
        self.addressed |= matches!(seen.input, Input::Addressed { .. }) && seen.human_spoke();
        Ok(())
    }

    fn restarted(&mut self, _: &Glance) {}
}

impl LastIsNotFirst {
    /// `freed` are agents that could not speak at the shuffle, and can now.
    fn check(&self, after: &Glance, freed: &[AgentKey], marks_known: bool) -> Result<(), String> {
        let seats = &after.seats;
        let Some(last) = self.completer.filter(|_| seats.len() >= 2) else {
            return Ok(());
        };
        if seats.first().is_some_and(|seat| seat.agent == last) {
            return Err(format!("{last} was last and is first again"));
        }
        let able = |seat: &&Seat| {
            let is_kept = after.capped.contains(&seat.agent) || freed.contains(&seat.agent);
            seat.is_available() && !is_kept
        };
        let mut speakers = seats.iter().filter(able);
        let repeats = speakers.next().is_some_and(|seat| seat.agent == last);
        if marks_known && repeats && speakers.next().is_some() {
            return Err(format!("{last} was last and speaks first again"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::forged::{A, B, Forged, fresh, seat};
    use super::*;
    use dirigent_core::Config;
    use dirigent_core::view::SeatTurn;

    #[test]
    fn the_last_put_first_is_caught_across_steps_and_restarts() {
        let mut observer = fresh(&INVARIANT);
        let told = [(PhaseKind::Confirming, PhaseKind::Refreshing, B, Cause::TailMatched)];
        Forged::default().telling(&told).accepted(observer.as_mut());
        observer.restarted(&Glance::default());
        let told = [
            (PhaseKind::Refreshing, PhaseKind::Refreshing, A, Cause::Reshuffled),
            (PhaseKind::Refreshing, PhaseKind::Granted, B, Cause::NextCycle),
        ];
        let mut step = Forged::default().telling(&told);
        step.after.seats = vec![seat(B, SeatTurn::Ahead), seat(A, SeatTurn::Ahead)];
        step.rejected(observer.as_mut(), "is first again");
    }

    #[test]
    fn the_last_behind_the_muted_is_caught() {
        let mut observer = fresh(&INVARIANT);
        let told = [
            (PhaseKind::Confirming, PhaseKind::Refreshing, B, Cause::TailMatched),
            (PhaseKind::Refreshing, PhaseKind::Refreshing, A, Cause::Reshuffled),
        ];
        let mut step = Forged::default().telling(&told);
        let silent = Seat { muted: true, ..seat(A, SeatTurn::Ahead) };
        let other = seat(AgentKey::new(3), SeatTurn::Ahead);
        step.after.seats = vec![silent, seat(B, SeatTurn::Ahead), other];
        step.rejected(observer.as_mut(), "speaks first again");
    }

    /// The list is late: the next cycle begins by the rules of before, which cap the last. Then the
    /// input of that step changes the rules.
    #[test]
    fn the_last_may_be_the_first_who_can_speak_only_by_rules_that_are_newer_than_the_order() {
        let told = [
            (PhaseKind::Confirming, PhaseKind::Refreshing, B, Cause::QuietAfterMessage),
            (PhaseKind::Refreshing, PhaseKind::Refreshing, A, Cause::Reshuffled),
        ];
        let step = |rules_before| {
            let mut step = Forged { rules_before, ..Forged::default() }.telling(&told);
            let silent = Seat { muted: true, ..seat(A, SeatTurn::Skipped) };
            let third = seat(AgentKey::new(3), SeatTurn::Ahead);
            step.after.seats = vec![silent, seat(B, SeatTurn::Skipped), third];
            step
        };
        let mut caps = Config::default();
        caps.budget.agent_turns_per_hour = Some(1);
        step(Some(caps)).accepted(fresh(&INVARIANT).as_mut());
        step(None).rejected(fresh(&INVARIANT).as_mut(), "speaks first again");
    }

    /// WD13. The list is late, another agent has left, and the time-out of the third ends in the same late step.
    #[test]
    fn the_last_may_be_the_first_who_can_speak_if_the_others_time_out_ends_behind_the_order() {
        let may_write = (PhaseKind::Granted, PhaseKind::Granted, A, Cause::AgentMayWrite);
        let step = |before: &[_], behind: &[_]| {
            let shuffled = (PhaseKind::Refreshing, PhaseKind::Refreshing, A, Cause::Reshuffled);
            let spoke = (PhaseKind::Confirming, PhaseKind::Refreshing, B, Cause::TailMatched);
            let told = [&[spoke], before, &[shuffled], behind].concat();
            let mut step = Forged::default().telling(&told);
            let gone = Seat { left: true, ..seat(AgentKey::new(3), SeatTurn::Skipped) };
            step.after.seats = vec![gone, seat(B, SeatTurn::Ahead), seat(A, SeatTurn::Ahead)];
            step
        };
        step(&[], &[may_write]).accepted(fresh(&INVARIANT).as_mut());
        let unmuted = (PhaseKind::Granted, PhaseKind::Granted, A, Cause::AgentUnmuted);
        step(&[], &[unmuted]).accepted(fresh(&INVARIANT).as_mut());
        // A mark that ended before the shuffle kept nobody from the front, and what ends for another is no reason.
        step(&[may_write], &[]).rejected(fresh(&INVARIANT).as_mut(), "speaks first again");
        let other =
            (PhaseKind::Granted, PhaseKind::Granted, AgentKey::new(3), Cause::AgentMayWrite);
        step(&[], &[other]).rejected(fresh(&INVARIANT).as_mut(), "speaks first again");
    }

    /// WD13
    #[test]
    fn an_agent_that_was_skipped_after_its_reply_was_given_up_may_be_first() {
        let told = [
            (PhaseKind::Delivering, PhaseKind::Delivering, B, Cause::Undelivered),
            (PhaseKind::Delivering, PhaseKind::Refreshing, B, Cause::AgentOffline),
            (PhaseKind::Refreshing, PhaseKind::Refreshing, A, Cause::Reshuffled),
        ];
        let step = |input| {
            let mut step = Forged { input, ..Forged::default() }.telling(&told);
            step.before.speaker = Some(B);
            step.after.seats = vec![seat(B, SeatTurn::Ahead), seat(A, SeatTurn::Ahead)];
            step
        };
        step(Input::Undelivered { agent: B, run: None, posted: false })
            .accepted(fresh(&INVARIANT).as_mut());
        step(Input::Tick).rejected(fresh(&INVARIANT).as_mut(), "is first again");
    }

    #[test]
    fn another_first_is_accepted() {
        let mut observer = fresh(&INVARIANT);
        let told = [
            (PhaseKind::Confirming, PhaseKind::Refreshing, B, Cause::TailMatched),
            (PhaseKind::Refreshing, PhaseKind::Refreshing, A, Cause::Reshuffled),
        ];
        Forged::default().telling(&told).accepted(observer.as_mut());
    }
}
