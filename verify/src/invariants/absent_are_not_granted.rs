//! N1: who may not speak is not asked.

use std::collections::{BTreeMap, BTreeSet};

use dirigent_core::{AgentKey, Answer, Cause, Input, Reason, Timestamp, Transition, Verdict};

use super::observation::is_reply;
use super::{Glance, Invariant, Observation, Observer};

pub(super) const INVARIANT: Invariant = Invariant {
    id: "N1",
    promise: 1,
    requirements: "R186, R270, R271, R274, R275, F06, F08, F09, M14, M16, M17, rules 29, 56, 59, 62, 64, 81",
    sentence: "an agent that is away, muted or may not write is never granted or allowed, one that is capped or not addressed only when chosen, and only who passed is passed over",
    observer: || Box::new(AbsentAreNotGranted::default()),
};

/// The book of who was reported away or muted, and of who passed.
#[derive(Debug, Default)]
struct AbsentAreNotGranted {
    away: BTreeSet<AgentKey>,
    muted: BTreeSet<AgentKey>,
    /// Those who may not write, each with its end.
    forbidden: BTreeMap<AgentKey, Option<Timestamp>>,
    passed: BTreeSet<AgentKey>,
}

impl Observer for AbsentAreNotGranted {
    fn observe(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        // What became due came before the input, so a mark that goes now still held for it.
        let before = (!seen.undisturbed).then(|| self.barred());
        self.follow(seen);
        let was_barred = |book: &Self, agent: AgentKey| match &before {
            Some(before) => before.contains(&agent),
            None => book.is_barred(agent),
        };
        for told in seen.transitions() {
            self.follow_passing(told)?;
        }
        for grant in seen.grants() {
            let agent = grant.agent.unwrap_or_default();
            if was_barred(self, agent) && self.is_barred(agent) {
                return Err(format!("{agent} was granted and is away, muted or may not write"));
            }
            expect_in_turn(seen, grant, agent)?;
        }
        let Ok(Answer::Verdict(Verdict::Allow { reason, .. })) = seen.answer else {
            return Ok(());
        };
        let Input::Gate { agent: Some(agent), .. } = seen.input else {
            return Ok(());
        };
        let turn = matches!(reason, Reason::YourTurn | Reason::InitiatorPermit);
        if turn && was_barred(self, *agent) {
            return Err(format!("{agent} was allowed and is away, muted or may not write"));
        }
        Ok(())
    }

    fn restarted(&mut self, now: &Glance) {
        // A report that was not stored was not taken in.
        self.away = now.away.iter().map(|(agent, _)| *agent).collect();
        let muted = now.seats.iter().filter(|seat| seat.muted);
        self.muted.retain(|agent| now.seat(*agent).is_none());
        self.muted.extend(muted.map(|seat| seat.agent));
        self.forbidden = now.may_not_write.iter().copied().collect();
    }
}

impl AbsentAreNotGranted {
    fn barred(&self) -> Vec<AgentKey> {
        self.away.iter().chain(&self.muted).chain(self.forbidden.keys()).copied().collect()
    }

    fn is_barred(&self, agent: AgentKey) -> bool {
        self.away.contains(&agent)
            || self.muted.contains(&agent)
            || self.forbidden.contains_key(&agent)
    }

    fn follow(&mut self, seen: &Observation<'_>) {
        // Ends pass before an input, and a clock that goes back takes them along.
        let ends = seen.after.may_not_write.iter().copied();
        self.forbidden.retain(|agent, until| {
            let known = ends.clone().find(|(one, _)| one == agent);
            match known {
                Some((_, known)) => {
                    *until = known;
                    true
                }
                None => until.is_none_or(|until| until > seen.now),
            }
        });
        if seen.answer.is_err() {
            return;
        }
        if let Input::Offline(agent) = seen.input {
            self.away.insert(*agent);
        }
        if let Input::Assign(agent) | Input::Online(agent) = seen.input {
            // One that is back is away still, unless it is assigned, or requeued at once.
            let requeued = seen.rules.order.auto_requeue || matches!(seen.input, Input::Assign(_));
            if requeued && !seen.after.away.iter().any(|(one, _)| one == agent) {
                self.away.remove(agent);
            }
        }
        if let Input::MayNotWrite { agent, until } = seen.input {
            if until.is_none_or(|until| until > seen.now) {
                self.forbidden.insert(*agent, *until);
            } else {
                self.forbidden.remove(agent);
            }
        }
        if let Input::MayWrite(agent) = seen.input {
            self.forbidden.remove(agent);
        }
        if let Input::Mute(agent) = seen.input {
            self.muted.insert(*agent);
        }
        if let Input::Unmute(agent) = seen.input {
            self.muted.remove(agent);
        }
    }

    fn follow_passing(&mut self, told: &Transition) -> Result<(), String> {
        if matches!(told.cause, Cause::Passed | Cause::Repeated | Cause::RunFailed) {
            self.passed.extend(told.agent);
        } else if is_reply(told.cause) {
            self.passed.clear();
        } else if told.cause == Cause::AgentPassed {
            let known = told.agent.is_some_and(|agent| self.passed.contains(&agent));
            if !known {
                return Err(format!("{:?} was passed over and never passed", told.agent));
            }
        }
        Ok(())
    }
}

/// Whether the agent is one of those whose turn this is.
fn expect_in_turn(
    seen: &Observation<'_>,
    grant: &Transition,
    agent: AgentKey,
) -> Result<(), String> {
    let after = seen.after;
    let chosen = grant.cause == Cause::OperatorChoice
        || seen.before.chosen == Some(agent)
        || matches!(seen.input, Input::SpeakNext(chosen) if *chosen == agent);
    let is_last = after.turn == grant.turn && after.speaker == Some(agent);
    if chosen || !is_last {
        return Ok(());
    }
    if after.capped.contains(&agent) && !seen.rules_changed() {
        return Err(format!("{agent} was granted and has had its turns"));
    }
    if !after.round.is_empty() && !after.round.contains(&agent) {
        return Err(format!("{agent} was granted and was not addressed"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use dirigent_core::PhaseKind;

    use super::super::forged::{A, B, Forged, fresh};
    use super::*;

    fn granting(agent: AgentKey, cause: Cause) -> Forged {
        let told = [(PhaseKind::Dormant, PhaseKind::Granted, agent, cause)];
        let mut step = Forged::default().telling(&told);
        step.after.speaker = Some(agent);
        step
    }

    #[test]
    fn a_grant_of_an_agent_that_crashed_is_caught() {
        let mut observer = fresh(&INVARIANT);
        granting(A, Cause::HumanMessage).accepted(observer.as_mut());
        let offline = Forged { input: Input::Offline(A), ..Forged::default() };
        offline.accepted(observer.as_mut());
        granting(B, Cause::HumanMessage).accepted(observer.as_mut());
        granting(A, Cause::HumanMessage).rejected(observer.as_mut(), "away, muted");
        let assigned = Forged { input: Input::Assign(A), ..Forged::default() };
        assigned.accepted(observer.as_mut());
        granting(A, Cause::HumanMessage).accepted(observer.as_mut());
    }

    #[test]
    fn a_grant_of_an_agent_that_may_not_write_is_caught_until_its_time_out_is_over() {
        let mut observer = fresh(&INVARIANT);
        let now = Forged::default().now;
        let until = Some(Timestamp::from_millis(now + 5_000));
        let input = Input::MayNotWrite { agent: A, until };
        let mut refused = Forged { input, ..Forged::default() };
        refused.after.may_not_write = vec![(A, until)];
        refused.accepted(observer.as_mut());
        let mut granted = granting(A, Cause::NextInList);
        granted.after.may_not_write = vec![(A, until)];
        granted.rejected(observer.as_mut(), "may not write");
        let mut later = granting(A, Cause::NextInList);
        later.now = now + 5_000;
        later.accepted(observer.as_mut());
        Forged { input: Input::MayNotWrite { agent: A, until: None }, ..Forged::default() }
            .accepted(observer.as_mut());
        granting(A, Cause::NextInList).rejected(observer.as_mut(), "may not write");
        Forged { input: Input::MayWrite(A), ..Forged::default() }.accepted(observer.as_mut());
        granting(A, Cause::NextInList).accepted(observer.as_mut());
    }

    #[test]
    fn a_permission_of_a_muted_agent_is_caught() {
        let mut observer = fresh(&INVARIANT);
        Forged { input: Input::Mute(A), ..Forged::default() }.accepted(observer.as_mut());
        let (reason, turn) = (Reason::YourTurn, None);
        let gate = Forged {
            input: Input::Gate { agent: Some(A), run: None, latest: None },
            answer: Ok(Answer::Verdict(Verdict::Allow { reason, turn, anchor: None })),
            ..Forged::default()
        };
        gate.rejected(observer.as_mut(), "was allowed");
    }

    #[test]
    fn a_grant_of_an_agent_that_has_had_its_turns_is_caught() {
        let mut capped = granting(A, Cause::HumanMessage);
        capped.after.capped.push(A);
        capped.rejected(fresh(&INVARIANT).as_mut(), "had its turns");
        let mut chosen = granting(A, Cause::OperatorChoice);
        chosen.after.capped.push(A);
        chosen.accepted(fresh(&INVARIANT).as_mut());
    }

    #[test]
    fn a_grant_of_an_agent_that_was_not_addressed_is_caught() {
        let mut step = granting(A, Cause::NextInList);
        step.after.round.push(B);
        step.rejected(fresh(&INVARIANT).as_mut(), "not addressed");
    }

    #[test]
    fn passing_over_an_agent_that_did_not_pass_is_caught() {
        let told = [(PhaseKind::Running, PhaseKind::Running, B, Cause::AgentPassed)];
        let step = Forged::default().telling(&told);
        step.rejected(fresh(&INVARIANT).as_mut(), "never passed");
        let mut observer = fresh(&INVARIANT);
        let passes = [(PhaseKind::Running, PhaseKind::Running, B, Cause::Passed)];
        Forged::default().telling(&passes).accepted(observer.as_mut());
        step.accepted(observer.as_mut());
    }
}
