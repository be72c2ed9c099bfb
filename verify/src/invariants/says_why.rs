//! W1: every verdict has the reason that the rules give it.

use dirigent_core::view::Pause;
use dirigent_core::{AgentKey, Answer, Config, Input, Mode, PhaseKind, Reason, Timestamp, Verdict};

use super::{Glance, Invariant, Observation, Observer};

pub(super) const INVARIANT: Invariant = Invariant {
    id: "W1",
    promise: 5,
    requirements: "F10, rule 7",
    sentence: "every verdict's reason is the one that explain and the rules give",
    observer: || Box::new(SaysWhy),
};

#[derive(Debug)]
struct SaysWhy;

impl Observer for SaysWhy {
    fn observe(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        let Input::Gate { agent, .. } = seen.input else {
            return match seen.answer {
                Ok(Answer::Verdict(_)) => Err("a verdict without a question".to_owned()),
                _ => Ok(()),
            };
        };
        let Ok(Answer::Verdict(verdict)) = seen.answer else {
            return Err("a gate call without a verdict".to_owned());
        };
        let reason = verdict.reason();
        if verdict.is_allowed() != reason.allows() {
            return Err(format!("{reason:?} does not go with {verdict:?}"));
        }
        if let Verdict::Allow { reason: Reason::YourTurn, turn, anchor } = verdict {
            if turn != Some(seen.after.turn) || anchor != seen.after.anchor {
                return Err(format!("{verdict:?} is not for the turn under way"));
            }
        }
        if matches!(reason, Reason::RunAlreadyDenied | Reason::RunAlreadyEnded) {
            return Ok(());
        }
        if reason == Reason::Muted && agent.is_some_and(|agent| seen.after.seat(agent).is_none()) {
            // A view does not show the mark of an agent that is not listed.
            return explained_alike(seen, *agent, reason);
        }
        if reason == Reason::YourTurn && seen.after.phase == PhaseKind::Waiting {
            // Its run was under way before the turn came to rest (rule 55).
            return Ok(());
        }
        let expected = derive(seen.after, seen.rules, seen.now, *agent);
        if reason != expected {
            return Err(format!("{agent:?} was told {reason:?}, the rules say {expected:?}"));
        }
        explained_alike(seen, *agent, reason)
    }
}

fn explained_alike(
    seen: &Observation<'_>,
    agent: Option<AgentKey>,
    reason: Reason,
) -> Result<(), String> {
    match (agent, seen.explained) {
        (Some(agent), Some(explained)) if explained != reason => {
            Err(format!("{agent} was told {reason:?}, explain says {explained:?}"))
        }
        _ => Ok(()),
    }
}

/// The order of rule 7, read from what a view shows.
fn derive(glance: &Glance, rules: &Config, now: Timestamp, agent: Option<AgentKey>) -> Reason {
    if glance.phase == PhaseKind::Archived {
        return Reason::Archived;
    }
    match glance.rest {
        Some(Pause::Stopped) => return Reason::Stopped,
        Some(Pause::Finished) => return Reason::Finished,
        Some(Pause::Held | _) | None => {}
    }
    match (glance.mode, glance.phase, glance.rest, agent) {
        (Mode::None | Mode::Work, ..) => Reason::Unmanaged,
        (Mode::Report, ..) => Reason::Dead,
        (_, PhaseKind::Disabled, ..) => Reason::TooFewAgents,
        (_, PhaseKind::Unknown, ..) => Reason::MembersUnknown,
        (_, _, Some(Pause::Held), _) => Reason::Held,
        (.., None) => Reason::NotRegistered,
        (.., Some(agent)) => derive_for(glance, rules, now, agent),
    }
}

fn derive_for(glance: &Glance, rules: &Config, now: Timestamp, agent: AgentKey) -> Reason {
    let seat = glance.seat(agent);
    let away = glance.away.iter().find(|(one, _)| *one == agent).map(|(_, offline)| *offline);
    let replied = glance.reply.is_some_and(|reply| reply.agent == agent);
    match glance.speaker {
        _ if replied => Reason::TurnAlreadyUsed,
        Some(speaker) if speaker == agent && glance.phase == PhaseKind::Confirming => {
            Reason::TurnAlreadyUsed
        }
        Some(speaker) if speaker == agent && glance.phase == PhaseKind::Waiting => Reason::Waiting,
        Some(speaker) if speaker == agent => Reason::YourTurn,
        _ if glance.permit == Some(agent) => Reason::InitiatorPermit,
        _ if seat.is_some_and(|seat| seat.muted) => Reason::Muted,
        _ if glance.may_not_write.iter().any(|(one, _)| *one == agent) => Reason::MayNotWrite,
        _ if away == Some(true) => Reason::Offline,
        _ if away == Some(false) => Reason::Unassigned,
        None if glance.phase == PhaseKind::Refreshing => Reason::Refreshing,
        None if glance.budget_spent => Reason::BudgetSpent,
        None if glance.is_at_ceiling(rules, now) => Reason::CeilingReached,
        None if glance.awaits_human => Reason::AwaitingHuman,
        None => Reason::Dormant,
        Some(_) if seat.is_none_or(|seat| seat.left) => Reason::NotListed,
        Some(_) if glance.capped.contains(&agent) => Reason::Capped,
        Some(_) if seat.is_some_and(|seat| seat.nothing_new) => Reason::NothingNew,
        Some(speaker) => Reason::NotYourTurn { speaker },
    }
}

#[cfg(test)]
mod tests {
    use super::super::forged::{A, B, Forged, fresh};
    use super::*;

    fn denied(reason: Reason) -> Forged {
        Forged {
            input: Input::Gate { agent: Some(A), run: None, latest: None },
            answer: Ok(Answer::Verdict(Verdict::Deny { reason })),
            ..Forged::default()
        }
    }

    #[test]
    fn a_wrong_reason_is_caught() {
        denied(Reason::Dormant).accepted(fresh(&INVARIANT).as_mut());
        denied(Reason::Refreshing).rejected(fresh(&INVARIANT).as_mut(), "the rules say");
        let mut other = denied(Reason::Dormant);
        other.after.phase = PhaseKind::Running;
        other.after.speaker = Some(B);
        other.rejected(fresh(&INVARIANT).as_mut(), "the rules say");
    }

    #[test]
    fn a_reason_that_forgets_absence_caps_and_budgets_is_caught() {
        let dormant = |change: fn(&mut Glance)| {
            let mut step = denied(Reason::Dormant);
            change(&mut step.after);
            step.rejected(fresh(&INVARIANT).as_mut(), "the rules say");
        };
        dormant(|after| after.away.push((A, true)));
        dormant(|after| after.may_not_write.push((A, None)));
        dormant(|after| after.away.push((A, false)));
        dormant(|after| after.budget_spent = true);
        dormant(|after| after.awaits_human = true);
        dormant(|after| after.rest = Some(Pause::Finished));
        let mut capped = denied(Reason::NotYourTurn { speaker: B });
        (capped.after.phase, capped.after.speaker) = (PhaseKind::Running, Some(B));
        capped.accepted(fresh(&INVARIANT).as_mut());
        capped.after.capped.push(A);
        capped.rejected(fresh(&INVARIANT).as_mut(), "the rules say");
        let mut waiting = denied(Reason::TurnAlreadyUsed);
        (waiting.after.phase, waiting.after.speaker) = (PhaseKind::Waiting, Some(A));
        waiting.rejected(fresh(&INVARIANT).as_mut(), "the rules say");
    }

    #[test]
    fn an_explanation_that_differs_is_caught() {
        let mut step = denied(Reason::Dormant);
        step.explained = Some(Reason::Held);
        step.rejected(fresh(&INVARIANT).as_mut(), "explain says");
    }

    #[test]
    fn a_reason_that_does_not_fit_its_verdict_is_caught() {
        denied(Reason::YourTurn).rejected(fresh(&INVARIANT).as_mut(), "does not go with");
    }

    #[test]
    fn a_gate_call_without_an_answer_is_caught() {
        let mut step = denied(Reason::Dormant);
        step.answer = Ok(Answer::Accepted);
        step.rejected(fresh(&INVARIANT).as_mut(), "without a verdict");
    }
}
