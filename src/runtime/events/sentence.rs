//! Writes transitions as sentences for people.

use std::fmt;

use dirigent_core::{Cause, PhaseKind, Transition};

use super::ChannelEvent;

/// Writes what happened: which agent has the floor and why, or what became of its turn.
pub(super) fn write(event: &ChannelEvent, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Transition { from, to, cause, .. } = event.transition;
    let agent = event.agent.as_ref().map_or("an agent", |agent| agent.as_str());
    if to == PhaseKind::Granted && from != to {
        // A grant is told by its reason, because that is what people ask.
        if let Some(why) = words_of(cause, &WHY) {
            return write!(f, "{agent} has the floor: {why}");
        }
    }
    // A cause without words of its own still has its stable name.
    let words = words_of(cause, &WORDS).unwrap_or(cause.as_str());
    if let Some((before, after)) = words.split_once("{}") {
        return write!(f, "{before}{agent}{after}");
    }
    f.write_str(words)?;
    match &event.agent {
        Some(agent) if to == PhaseKind::Granted => write!(f, "; {agent} has the floor"),
        _ if to == PhaseKind::Refreshing && from != to => f.write_str(": the member list is read"),
        _ => Ok(()),
    }
}

/// The reasons why an agent has the floor.
const WHY: [(Cause, &str); 15] = [
    (Cause::HumanMessage, "a person wrote"),
    (Cause::AgentMessage, "another agent wrote"),
    (Cause::BotMessage, "a bot wrote"),
    (Cause::OperatorWake, "an operator woke the channel"),
    (Cause::GuidePosted, "the discussion was opened"),
    (Cause::ResultPosted, "the result of a discussion was posted"),
    (Cause::NextInList, "it is next in the list"),
    (Cause::NextCycle, "a new cycle begins"),
    (Cause::MentionRound, "a person mentioned it"),
    (Cause::HandedOver, "the agent before handed over to it"),
    (Cause::OperatorChoice, "it was chosen to speak next"),
    (Cause::Resumed, "the channel goes on"),
    (Cause::OrchestratorAnswered, "its turn goes on"),
    (Cause::OrchestratorFailed, "its turn goes on"),
    (Cause::OrchestratorLate, "its turn goes on"),
];

/// The sentences of the other transitions. `{}` is the agent.
const WORDS: [(Cause, &str); 78] = [
    (Cause::Created, "the channel was created"),
    (Cause::ModeChanged, "the mode was changed"),
    (Cause::HumanMessage, "a person wrote"),
    (Cause::AgentMessage, "an agent wrote"),
    (Cause::BotMessage, "a bot wrote"),
    (Cause::OperatorWake, "an operator woke the channel"),
    (Cause::GuidePosted, "the discussion was opened"),
    (Cause::ResultPosted, "the result of a discussion was posted"),
    (Cause::CycleBoundary, "the cycle is over"),
    (Cause::NextCycle, "a new cycle begins"),
    (Cause::Reshuffled, "the order was shuffled"),
    (Cause::MembersFailed, "the member list could not be read: the old one is used"),
    (Cause::MembersLate, "reading the member list took too long: the old one is used"),
    (Cause::NextInList, "{} is next in the list"),
    (Cause::RunStarted, "{} starts"),
    (Cause::RunReplaced, "a newer run of {} replaced the one before"),
    (Cause::Passed, "{} passes"),
    (Cause::Repeated, "{} repeats what was said: that counts as passing"),
    (Cause::Spoke, "{} has spoken, and its reply is on its way"),
    (Cause::RunFailed, "{} failed: that counts as passing"),
    (Cause::Replied, "{} has its reply, and it is being posted"),
    (Cause::Undelivered, "the reply of {} could not be posted"),
    (Cause::TailMatched, "the reply of {} is in the channel"),
    (Cause::ReceiptGiven, "the reply of {} is in the channel"),
    (Cause::QuietAfterMessage, "the reply of {} is in the channel, as far as can be told"),
    (Cause::DeliveryTimedOut, "the reply of {} was not seen: its turn is over"),
    (Cause::Interrupted, "the wait for the reply of {} was interrupted by a message"),
    (Cause::Retriggered, "{} has not started, and is called once more"),
    (Cause::StartTimedOut, "{} did not start in time, and is skipped"),
    (Cause::RunTimedOut, "{} took too long, and is skipped"),
    (Cause::RunLost, "the run of {} was lost with its process"),
    (Cause::RunSlow, "{} takes longer than usual"),
    (Cause::Unfinished, "{} has spoken, and keeps the floor"),
    (Cause::SignalMissing, "{} did not end its turn: it is over"),
    (Cause::HumanInterrupted, "a person spoke during the turn of {}: it waits"),
    (Cause::OrchestratorAnswered, "the orchestrator answered the person: the turn of {} goes on"),
    (Cause::OrchestratorFailed, "no orchestrator answered the person: the turn of {} goes on"),
    (Cause::OrchestratorLate, "the orchestrator took too long: the turn of {} goes on"),
    (Cause::AgentPassed, "{} passed, and is not asked until something is said"),
    (Cause::NothingNew, "{} spoke last, and is not asked until something is said"),
    (Cause::NotMentioned, "{} was not mentioned, and is skipped"),
    (Cause::AgentCapped, "{} has had its turns for this hour"),
    (Cause::MentionRound, "a person mentioned agents"),
    (Cause::HandedOver, "an agent handed over to another"),
    (Cause::OperatorChoice, "{} was chosen to speak next"),
    (Cause::PermitUsed, "{} has had its one run after the reminder"),
    (Cause::AgentLeft, "{} has left"),
    (Cause::AgentMuted, "{} is muted"),
    (Cause::AgentUnmuted, "{} may speak again"),
    (Cause::AgentMayNotWrite, "{} may not write in this channel: it has no turns until it may"),
    (Cause::AgentMayWrite, "{} may write in this channel again"),
    (Cause::AgentOffline, "{} is offline"),
    (Cause::AgentOnline, "{} is back, and waits to be assigned"),
    (Cause::AgentAssigned, "{} takes turns again"),
    (Cause::AllPassed, "no agent has anything to add: the channel is dormant"),
    (Cause::Unanswered, "no agent answered: the channel is dormant"),
    (Cause::NoOtherAgent, "no other agent could answer: the channel is dormant"),
    (Cause::AwaitingHuman, "an agent asked for a person: the channel is dormant until one writes"),
    (Cause::CeilingReached, "the agents have talked as long as they may without a person"),
    (Cause::CeilingReset, "a person lets the agents talk on"),
    (Cause::Withdrawn, "the question was deleted before an agent was told of it"),
    (Cause::Unpermitted, "{} wrote outside of its turn"),
    (
        Cause::MessageRemoved,
        "a message of {} was removed, since it only said that it has nothing to say",
    ),
    (Cause::BudgetSpent, "a budget is spent: no agent speaks until an operator resets it"),
    (Cause::BudgetReset, "an operator reset the budgets"),
    (Cause::TooFewAgents, "fewer than two agents are here: turns are not kept"),
    (Cause::EnoughAgents, "enough agents are here: turns are kept"),
    (Cause::MembersUnknown, "the member list was never read: no agent may speak"),
    (Cause::ChatAway, "nothing can be said here at the moment"),
    (Cause::ChatBack, "messages can be posted here again"),
    (Cause::InitiatorReminded, "{} is asked to conclude the discussion"),
    (Cause::Stopped, "the channel was stopped"),
    (Cause::Held, "the channel is on hold"),
    (Cause::Resumed, "the channel goes on"),
    (Cause::Finished, "an operator said that the work is done"),
    (Cause::Concluded, "{} concluded the discussion"),
    (Cause::Archived, "the channel was archived"),
    (Cause::Overdue, "the discussion was archived, since it lay idle for too long"),
];

fn words_of(cause: Cause, table: &[(Cause, &'static str)]) -> Option<&'static str> {
    table.iter().find(|(known, _)| *known == cause).map(|(_, words)| *words)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use dirigent_core::{Timestamp, TurnId};

    use super::*;
    use crate::ChannelId;

    fn told(from: PhaseKind, to: PhaseKind, cause: Cause) -> String {
        let (at, turn) = (Timestamp::from_millis(1), TurnId::new(1));
        let transition = Transition { at, from, to, agent: None, turn, cause };
        let agent = Some("poet".into());
        ChannelEvent { channel: ChannelId::new(1), agent, transition }.to_string()
    }

    /// N15
    #[test]
    fn each_cause_has_a_sentence_of_its_own() {
        let mut seen = HashSet::new();
        for cause in Cause::ALL {
            let words = told(PhaseKind::Dormant, PhaseKind::Dormant, *cause);
            assert_ne!(words, cause.as_str());
            assert!(!words.contains(['{', '}', '-']), "{words}");
            // However a reply was recognised, it is there.
            assert!(seen.insert(words) || *cause == Cause::ReceiptGiven, "{cause}");
        }
    }

    /// N15
    #[test]
    fn a_grant_says_who_has_the_floor_and_why_whatever_gave_it() {
        for cause in Cause::ALL {
            let words = told(PhaseKind::Refreshing, PhaseKind::Granted, *cause);
            assert!(words.contains("poet"), "{cause}: {words}");
        }
        let granted = told(PhaseKind::Dormant, PhaseKind::Granted, Cause::HumanMessage);
        assert_eq!(granted, "poet has the floor: a person wrote");
        let again = told(PhaseKind::Granted, PhaseKind::Granted, Cause::Retriggered);
        assert_eq!(again, "poet has not started, and is called once more");
        let over = told(PhaseKind::Confirming, PhaseKind::Refreshing, Cause::CycleBoundary);
        assert_eq!(over, "the cycle is over: the member list is read");
    }
}
